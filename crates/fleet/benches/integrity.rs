//! How often `integrity` is right, beside what it is to reach and what simpler readers say (docs/integrity.md). All in virtual
//! time. `scripts/prove integrity [--quick] [-- --devices N --seed S]`; exit code 1 where a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "judge/mod.rs"]
mod judge;

use flashscope_fleet::integrity::{Figures, Kind, Plan, judged, rows};
use flashscope_testkit::Targets;
use judge::Asked;
use std::error::Error;
use std::io;
use std::process::ExitCode;
use std::time::Instant;

/// Power cuts of each device.
const CUTS: u32 = 40;
/// Power cuts of a device with faults, which happen at some of them only.
const CUTS_WITH_FAULTS: u32 = 60;
/// What ten thousand simulated cuts may take, in seconds.
const LONGEST: f64 = 60.0;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let Asked { quick, cases: devices, seed } = Asked::read("--devices", 132, 1320, 16_001)?;
    let mut targets = Targets::begin(io::stdout())?;
    for kind in Kind::ALL {
        let (devices, cuts) = match kind {
            // Ten thousand cuts, however many devices with faults there are.
            Kind::Honest => (devices.max(250), CUTS),
            _ => (devices, CUTS_WITH_FAULTS),
        };
        let begun = Instant::now();
        let outcomes = judged(Plan { first: 0, devices, seed, kind, cuts })?;
        let took = begun.elapsed().as_secs_f64();
        judge::print(&mut targets, kind.words(), &rows(&Figures::of(kind, &outcomes)), quick)?;
        if kind == Kind::Honest {
            let all = outcomes.iter().map(|outcome| outcome.verdict.cuts).sum::<u32>();
            let figure = took * 10_000.0 / f64::from(all.max(1));
            match quick {
                true => targets.left_out("10 000 simulated cuts", &format!("{figure:.1} s; a clock decides"))?,
                false => targets.at_most("10 000 simulated cuts", LONGEST, figure, "s")?,
            }
        }
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
