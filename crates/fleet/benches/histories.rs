//! How often a mark in a history is right, beside what it is to reach and what others would have marked
//! (docs/differences.md). `scripts/prove trend [--quick] [-- --histories N --seed S]`; exit code 1 where a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "judge/mod.rs"]
mod judge;

use flashscope_fleet::differences::{NOISY, QUIET};
use flashscope_fleet::histories::{Around, Figures, Plan, histories, rows};
use flashscope_testkit::Targets;
use judge::Asked;
use std::error::Error;
use std::io;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let Asked { quick, cases: count, seed } = Asked::read("--histories", 900, 18_000, 14_101)?;
    let mut targets = Targets::begin(io::stdout())?;
    for (number, scatter) in (0..).zip([QUIET, NOISY]) {
        let outcomes = histories(Plan { first: 0, histories: count, seed: seed + number, scatter });
        for around in Around::ALL {
            let rows = rows(&Figures::of(&outcomes, around), around);
            judge::print(&mut targets, &format!("scatter {scatter}, {}", around.word()), &rows, quick)?;
        }
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
