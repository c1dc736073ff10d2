//! How often a comparison is right, beside what it is to reach and what others would have said of the same runs
//! (docs/differences.md). All in virtual time. `scripts/prove differences [--quick] [-- --pairs N --seed S]`; exit code 1
//! where a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_fleet::differences::{Figures, NOISY, Plan, QUIET, Target, differences, rows};
use flashscope_testkit::{Targets, may_be_chance};
use std::error::Error;
use std::io::{self, Stdout};
use std::process::ExitCode;

/// Blocks that a campaign may take.
const MOST_BLOCKS: u32 = 30;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let after = |name: &str| words.iter().skip_while(|word| *word != name).nth(1);
    let quick = words.iter().any(|word| word == "--quick");
    let pairs = after("--pairs").map_or(Ok(if quick { 120 } else { 3000 }), |text| text.parse())?;
    let seed: u64 = after("--seed").map_or(Ok(14_001), |text| text.parse())?;
    let mut targets = Targets::begin(io::stdout())?;
    for (number, scatter) in (0..).zip([QUIET, NOISY]) {
        let outcomes = differences(Plan { first: 0, pairs, seed: seed + number, scatter, most_blocks: MOST_BLOCKS })?;
        judge(&mut targets, &Figures::of(&outcomes), scatter, quick)?;
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn judge(targets: &mut Targets<Stdout>, figures: &Figures, scatter: f64, quick: bool) -> io::Result<()> {
    for row in rows(figures, scatter, MOST_BLOCKS) {
        let what = format!("scatter {scatter}: {}", row.what);
        let Some(met) = row.is_met() else {
            match row.target {
                Target::Beside => println!("{what} | | {} | beside", row.found()),
                _ => targets.left_out(&what, &row.found())?,
            }
            continue;
        };
        let met = match (row.target, row.share) {
            _ if !quick => met,
            (Target::AtMost(most), Some(share)) => may_be_chance(share.count, share.all, most),
            (Target::AtLeast(least), Some(share)) => may_be_chance(share.all - share.count, share.all, 1.0 - least),
            // Few pairs say nothing of a narrow range, nor of a mean.
            _ => {
                targets.left_out(&what, "too few pairs")?;
                continue;
            }
        };
        targets.row(&what, &row.wanted(), &row.found(), met)?;
    }
    Ok(())
}
