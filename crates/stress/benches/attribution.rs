//! Whose error it is, on journeys through worlds whose faults are known, beside a reader who takes every mismatch for the storage's
//! (docs/memory-stress.md). `scripts/prove stress [--quick] [-- --worlds N --seed S]`; `--count` prints the table of probabilities instead.
//! Exit code 1 where a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_model::stress::Cause;
use flashscope_stats::rng::{mix, stream};
use flashscope_stress::world::{Outcome, Plant, naive, run};
use flashscope_stress::{Answer, attributed};
use flashscope_testkit::Targets;
use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::process::ExitCode;

/// Journeys through worlds without a fault; the issue asks for as many.
const CLEAN: u64 = 1000;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let after = |name: &str| words.iter().skip_while(|word| *word != name).nth(1);
    let has = |name: &str| words.iter().any(|word| word == name);
    let worlds: u64 = after("--worlds").map_or(Ok(if has("--quick") { 400 } else { 16_000 }), |text| text.parse())?;
    let seed: u64 = after("--seed").map_or(Ok(82_417), |text| text.parse())?;
    if has("--count") {
        count(worlds, seed);
        return Ok(ExitCode::SUCCESS);
    }
    let mut targets = Targets::begin(io::stdout())?;
    for faults in [1, 2] {
        judged(&mut targets, faults, worlds, stream(seed, faults))?;
    }
    let clean = (0..CLEAN).filter(|number| !run(&[], stream(seed, 3) ^ number).seen.is_empty()).count();
    targets.at_most("clean journeys: accused", 0.0, clean as f64, "")?;
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The faults of a world: as many, each kind as often as any other.
fn plants(faults: u64, number: u64, seed: u64) -> Vec<Plant> {
    let all = Plant::ALL.len() as u64;
    let first = number % all;
    // The second one is of another kind: two of one kind are one fault to whoever has to name it.
    let second = (first + 1 + mix(seed ^ number) % (all - 1)) % all;
    [first, second][..faults as usize].iter().map(|index| Plant::ALL[*index as usize]).collect()
}

/// What came of many worlds.
#[derive(Default)]
struct Score {
    errors: u32,
    answered: u32,
    /// Shares of errors that were answered, one of each world: a fault that shows a hundred times counts once.
    shares: Vec<f64>,
    right: u32,
    /// Probabilities that were claimed, added up.
    claimed: f64,
    shown: u32,
    found: u32,
    naive: (u32, u32),
}

impl Score {
    fn take(&mut self, outcome: &Outcome) {
        let before = (self.errors, self.answered);
        self.shown += outcome.planted.len() as u32;
        self.found += outcome.planted.iter().filter(|(_, found)| *found).count() as u32;
        for (seen, truth) in &outcome.seen {
            self.errors += 1;
            let told = attributed(seen, &outcome.plan);
            if told.cause != Cause::CannotTell {
                self.answered += 1;
                self.right += u32::from(*truth == Some(told.cause));
                self.claimed += told.probability.unwrap_or(0.0);
            }
        }
        if self.errors > before.0 {
            self.shares.push(f64::from(self.answered - before.1) / f64::from(self.errors - before.0));
        }
    }
}

fn judged(targets: &mut Targets<io::Stdout>, faults: u64, worlds: u64, seed: u64) -> Result<(), Box<dyn Error>> {
    let mut score = Score::default();
    let mut by_plant: BTreeMap<&str, Score> = BTreeMap::new();
    for number in 0..worlds {
        let plants = plants(faults, number, seed);
        let outcome = run(&plants, seed ^ number);
        score.take(&outcome);
        if faults == 1 {
            by_plant.entry(plants[0].words()).or_default().take(&outcome);
        }
        let accused = naive(&plants, seed ^ number);
        score.naive.0 += accused.len() as u32;
        score.naive.1 +=
            accused.iter().filter(|truth| matches!(truth, Some(Cause::MemoryCell | Cause::MemoryPath))).count() as u32;
    }
    let of = if faults == 1 { "one fault" } else { "two faults" };
    let percent = |part: u32, all: u32| 100.0 * f64::from(part) / f64::from(all);
    // Of two faults one may strike nothing but readings that looked into the other.
    let most = if faults == 1 { 100.0 } else { 99.0 };
    targets.at_least(
        &format!("{of}: planted faults that showed, found"),
        most,
        percent(score.found, score.shown),
        "%",
    )?;
    targets.at_least(
        &format!("{of}: right, of {} answers", score.answered),
        99.0,
        percent(score.right, score.answered),
        "%",
    )?;
    let answered = 100.0 * score.shares.iter().sum::<f64>() / score.shares.len() as f64;
    targets.at_least(&format!("{of}: answered, each of {} worlds alike", score.shares.len()), 90.0, answered, "%")?;
    let off = (score.claimed / f64::from(score.answered) - f64::from(score.right) / f64::from(score.answered)).abs();
    targets.at_most(&format!("{of}: claimed probability beside how often it was right"), 0.01, off, "")?;
    println!(
        "  a reader who takes every mismatch for the storage's: {} of {} are memory's ({:.0} %)",
        score.naive.1,
        score.naive.0,
        percent(score.naive.1, score.naive.0)
    );
    for (plant, score) in &by_plant {
        println!(
            "  {plant:<44} {:>5} of {:>5} found, {:>6} errors, {:>5.1} % answered, {:>5.1} % right",
            score.found,
            score.shown,
            score.errors,
            percent(score.answered, score.errors),
            percent(score.right, score.answered)
        );
    }
    Ok(())
}

/// Prints how often each cause was true where a rule was met, as `src/table.csv` has it.
fn count(worlds: u64, seed: u64) {
    let mut counts: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for faults in [1, 2] {
        for number in 0..worlds {
            let seed = stream(seed, 10 + faults);
            for (seen, truth) in run(&plants(faults, number, seed), seed ^ number).seen {
                let Some(truth) = truth.filter(|_| matches!(seen.rule().answer(), Answer::Is(_))) else { continue };
                *counts.entry((seen.rule().word(), truth.word())).or_default() += 1;
            }
        }
    }
    println!(
        "# How often each cause was true where a rule was met: question, rule, score up to, cause, cases. Made by"
    );
    println!("# cargo bench -p flashscope-stress --bench attribution -- --count --worlds {worlds} --seed {seed}");
    println!("# from as many worlds with one fault and with two (docs/memory-stress.md).");
    for ((rule, cause), count) in counts {
        println!("cause,{rule},1,{cause},{count}");
    }
}
