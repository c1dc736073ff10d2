//! How often a comparison is right, beside what it is to reach and what others would have said of the same runs
//! (docs/differences.md). All in virtual time. `scripts/prove differences [--quick] [-- --pairs N --seed S]`; exit code 1
//! where a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "judge/mod.rs"]
mod judge;

use flashscope_fleet::differences::{Figures, NOISY, Plan, QUIET, differences, rows};
use flashscope_testkit::Targets;
use judge::Asked;
use std::error::Error;
use std::io;
use std::process::ExitCode;

/// Blocks that a campaign may take.
const MOST_BLOCKS: u32 = 30;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let Asked { quick, cases: pairs, seed } = Asked::read("--pairs", 120, 3000, 14_001)?;
    let mut targets = Targets::begin(io::stdout())?;
    for (number, scatter) in (0..).zip([QUIET, NOISY]) {
        let outcomes = differences(Plan { first: 0, pairs, seed: seed + number, scatter, most_blocks: MOST_BLOCKS })?;
        let rows = rows(&Figures::of(&outcomes), scatter, MOST_BLOCKS);
        judge::print(&mut targets, &format!("scatter {scatter}"), &rows, quick)?;
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
