//! How often a qualification is right, beside what it is to reach and what others would have said of the same runs
//! (docs/qualify.md). All in virtual time. `scripts/prove qualify [--quick] [-- --pairs N --seed S]`; exit code 1 where
//! a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "judge/mod.rs"]
mod judge;

use flashscope_fleet::qualify::{Figures, Plan, SETTINGS, qualified, rows};
use flashscope_testkit::Targets;
use judge::Asked;
use std::error::Error;
use std::io;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let Asked { quick, cases: pairs, seed } = Asked::read("--pairs", 32, 2000, 19_104)?;
    let mut targets = Targets::begin(io::stdout())?;
    for (number, setting) in (0..).zip(SETTINGS) {
        let outcomes = qualified(Plan { first: 0, pairs, seed: seed + number, setting })?;
        let of = setting.words();
        judge::print(&mut targets, &of, &rows(&Figures::of(&outcomes), setting.most_blocks), quick)?;
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
