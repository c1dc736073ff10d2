//! How often a diagnosis of the state is right, beside what it is to reach and what readers by one sign say (docs/states.md).
//! All in virtual time. `scripts/prove states [--quick] [-- --devices N --seed S]`; exit code 1 where a target is
//! missed.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "judge/mod.rs"]
mod judge;

use flashscope_fleet::states::{Figures, Plan, Question, diagnosed, rows};
use flashscope_testkit::Targets;
use judge::Asked;
use std::error::Error;
use std::io;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let Asked { quick, cases: devices, seed } = Asked::read("--devices", 60, 1000, 15_001)?;
    let mut targets = Targets::begin(io::stdout())?;
    for (writes, of) in [(true, "with up to 64 MiB of writes"), (false, "reading only")] {
        let outcomes = diagnosed(Plan { first: 0, devices, seed, writes })?;
        for question in Question::ALL {
            judge::print(&mut targets, of, &rows(&Figures::of(question, &outcomes)), quick)?;
        }
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
