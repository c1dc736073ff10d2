//! How often a quick and a full test of the capacity is right, beside what it is to reach and a prober of powers of two (docs/capacity.md).
//! All in virtual time. `scripts/prove capacity [--quick] [-- --devices N --seed S]`; exit code 1 where a target is
//! missed.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "judge/mod.rs"]
mod judge;

use flashscope_fleet::capacities::{Depth, Figures, Plan, Which, calibration, rows, tested};
use flashscope_testkit::Targets;
use judge::Asked;
use std::error::Error;
use std::io;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let Asked { quick, cases: devices, seed } = Asked::read("--devices", 250, 10_000, 16_001)?;
    let mut targets = Targets::begin(io::stdout())?;
    for (depth, of_depth, part) in [(Depth::Quick, "", 1), (Depth::Full, "full tests of ", FULL_PART)] {
        let (devices, mut all) = (devices / part, Vec::new());
        for (which, of) in [(Which::Genuine, "genuine devices"), (Which::Fakes, "fakes")] {
            let outcomes = tested(Plan { first: 0, devices, seed, which, depth })?;
            let rows = rows(&Figures::of(&outcomes), which, depth);
            judge::print(&mut targets, &format!("{of_depth}{of}"), &rows, quick)?;
            all.extend(outcomes);
        }
        judge::print(&mut targets, &format!("{of_depth}both"), &calibration(&Figures::of(&all)), quick)?;
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One device of so many is tested fully.
const FULL_PART: u32 = 5;
