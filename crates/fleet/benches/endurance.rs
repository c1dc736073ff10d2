//! How often the forecast of the first error is right, beside what it is to reach and a line through the first step of a register
//! (docs/endurance.md). All in virtual time. `scripts/prove endurance [--quick] [-- --devices N --seed S]`; exit code 1 where a
//! target is missed.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "judge/mod.rs"]
mod judge;

use flashscope_fleet::endurance::{Figures, Plan, rows, worn_out};
use flashscope_testkit::Targets;
use judge::Asked;
use std::error::Error;
use std::io;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let Asked { quick, cases: devices, seed } = Asked::read("--devices", 200, 3000, 16_001)?;
    let mut targets = Targets::begin(io::stdout())?;
    let said = worn_out(Plan { first: 0, devices, seed })?;
    judge::print(&mut targets, "devices that wear out", &rows(&Figures::of(&said)), quick)?;
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
