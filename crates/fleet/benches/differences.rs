//! How often a comparison is right, beside what it is to reach and what others would have said of the same runs
//! (docs/differences.md). All in virtual time. `scripts/prove differences [--quick] [-- --pairs N --seed S]`; exit code 1
//! where a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_fleet::differences::{Figures, MARGINS, NOISY, Plan, QUIET, Share, differences};
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
        let outcomes = differences(Plan { pairs, seed: seed + number, scatter, most_blocks: MOST_BLOCKS })?;
        judge(&mut targets, &Figures::of(&outcomes), scatter, quick)?;
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn judge(targets: &mut Targets<Stdout>, figures: &Figures, scatter: f64, quick: bool) -> io::Result<()> {
    let name = |what: &str| format!("scatter {scatter}: {what}");
    at_most(targets, &name("true nulls called better or worse"), 0.05, figures.false_difference, quick)?;
    for (margin, share) in MARGINS.iter().zip(figures.false_equivalence) {
        let what = name(&format!("outside the margin of {:.0} %, called equivalent", 100.0 * (margin - 1.0)));
        at_most(targets, &what, 0.05, share, quick)?;
    }
    // What can be asked depends on the scatter: 5 % at 0.02, 10 % at 0.05.
    let size = usize::from(scatter > QUIET);
    let percent = [5, 10][size];
    let found = name(&format!("true {percent} % differences found within {MOST_BLOCKS} blocks"));
    at_least(targets, &found, 0.90, figures.found[size], quick)?;
    at_most(targets, &name("found with the wrong sign"), 0.05, figures.wrong_sign, quick)?;
    let same = name(&format!("true nulls called equivalent within {percent} %, within {MOST_BLOCKS} blocks"));
    at_least(targets, &same, 0.80, figures.nulls_equivalent[size], quick)?;
    if !quick {
        let share = figures.fixed_holds.value().unwrap_or(f64::NAN);
        let found = words(figures.fixed_holds);
        targets.row(&name("95 % intervals of 12 blocks hold"), "93 to 97 %", &found, (0.93..=0.97).contains(&share))?;
    }
    at_least(targets, &name("95 % intervals hold when stopped"), 0.95, figures.stopped_holds, quick)?;
    at_most(targets, &name("verdicts withheld by the control"), 0.02, figures.withheld, quick)?;
    if let Some(blocks) = figures.blocks.filter(|_| !quick && scatter > QUIET) {
        let at = format!("false alarms {:.1} %, found {:.1} %", 100.0 * blocks.alpha, 100.0 * blocks.power);
        let of = |fixed: Option<u32>| fixed.map_or(f64::from(MOST_BLOCKS), f64::from);
        let [four, two] = [blocks.fixed, blocks.fixed_pairs].map(of);
        let more = |fixed: Option<u32>| if fixed.is_none() { " or more" } else { "" };
        let ours = blocks.ours;
        let what = format!("blocks at 5 %, {ours:.1} against {four}{} of a fixed number ({at})", more(blocks.fixed));
        targets.at_most(&name(&what), 0.7, ours / four, "")?;
        let runs = format!("runs at 5 %, A/A counted, against {}{}", 2.0 * two, more(blocks.fixed_pairs));
        targets.at_most(&name(&runs), 1.0, 4.0 * ours / (2.0 * two), "")?;
    }
    for (reader, name) in ["best of three", "Welch over requests", "a band of 10 %"].iter().enumerate() {
        println!(
            "scatter {scatter}: {name} | | nulls called different {}, more than 5 % apart not found {}, called the same {} | beside",
            words(figures.readers_false[reader]),
            words(figures.readers_missed[reader]),
            words(figures.readers_same[reader]),
        );
    }
    Ok(())
}

fn at_most(targets: &mut Targets<Stdout>, target: &str, most: f64, share: Share, quick: bool) -> io::Result<()> {
    let Some(value) = share.value() else { return targets.left_out(target, "no such pair") };
    let met = if quick { may_be_chance(share.count, share.all, most) } else { value <= most };
    targets.row(target, &format!("≤ {:.1} %", 100.0 * most), &words(share), met)
}

fn at_least(targets: &mut Targets<Stdout>, target: &str, least: f64, share: Share, quick: bool) -> io::Result<()> {
    let Some(value) = share.value() else { return targets.left_out(target, "no such pair") };
    let amiss = share.all - share.count;
    let met = if quick { may_be_chance(amiss, share.all, 1.0 - least) } else { value >= least };
    targets.row(target, &format!("≥ {:.1} %", 100.0 * least), &words(share), met)
}

fn words(share: Share) -> String {
    let value = 100.0 * share.value().unwrap_or(f64::NAN);
    format!("{value:.1} % ({} of {})", share.count, share.all)
}
