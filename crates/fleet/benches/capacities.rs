//! How often a quick test of the capacity is right, beside what it is to reach and a prober of powers of two (docs/capacity.md).
//! All in virtual time. `scripts/prove capacity [--quick] [-- --devices N --seed S --html FILE]`; exit code 1 where a target is
//! missed.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "judge/mod.rs"]
mod judge;

use flashscope_fleet::capacities::{Figures, Plan, Which, calibration, rows, tested};
use flashscope_testkit::Targets;
use std::error::Error;
use std::io;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let after = |name: &str| words.iter().skip_while(|word| *word != name).nth(1);
    let quick = words.iter().any(|word| word == "--quick");
    let devices = after("--devices").map_or(Ok(if quick { 250 } else { 10_000 }), |text| text.parse())?;
    let seed: u64 = after("--seed").map_or(Ok(16_001), |text| text.parse())?;
    let mut targets = Targets::begin(io::stdout())?;
    let mut all = Vec::new();
    for (which, of) in [(Which::Genuine, "genuine devices"), (Which::Fakes, "fakes")] {
        let outcomes = tested(Plan { first: 0, devices, seed, which })?;
        judge::print(&mut targets, of, &rows(&Figures::of(&outcomes), which), quick)?;
        if words.iter().any(|word| word == "--cases") {
            let missed = outcomes.iter().enumerate().filter(|(_, outcome)| !outcome.is_right() && !outcome.is_hidden());
            missed.for_each(|(index, one)| {
                println!(
                    "{index}: {:?} said {} cache {} excluded {}: {:?}",
                    one.fake, one.claimed, one.cache, one.excluded_cache, one.verdict
                )
            });
        }
        all.extend(outcomes);
    }
    judge::print(&mut targets, "both", &calibration(&Figures::of(&all)), quick)?;
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
