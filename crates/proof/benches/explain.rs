//! How often `explain` names the right cause: pairs of drawn devices that differ in one group of parameters, in two, in
//! nothing, or in what the workload does not touch; known as models, and without `--quick` by their records alone. All in
//! virtual time. `scripts/prove explain [--quick] [-- --pairs N --seed S]`; exit code 1 where a target is missed.
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

use flashscope_explain::{Answer, ExplainError, Workload};
use flashscope_proof::explain::{
    Kind, Named, Pair, draw, first_exchanged, largest_parameter, named, of_models, of_records, of_twins, workload,
};
use flashscope_testkit::Targets;
use rayon::prelude::*;
use std::io::{self, Stdout};
use std::process::ExitCode;

/// Seed of the devices of docs/explain.md; nobody has tuned with it.
const SEED: u64 = 61_803;
/// Draws that are looked at for each pair that is wanted: not every two devices make one.
const DRAWS: u32 = 6;

type Way = fn(&Pair, &Workload) -> Result<Answer, ExplainError>;

fn main() -> io::Result<ExitCode> {
    let words: Vec<String> = std::env::args().collect();
    let after = |name: &str| words.iter().skip_while(|word| *word != name).nth(1)?.parse::<u32>().ok();
    let quick = words.iter().any(|word| word == "--quick");
    let pairs = after("--pairs").unwrap_or(if quick { 24 } else { 300 });
    let seed = after("--seed").map_or(SEED, u64::from);
    let mut targets = Targets::begin(io::stdout())?;
    if words.iter().any(|word| word == "--only-twins") {
        one_group(&mut targets, ("twins of records for a twin", of_twins), pairs, seed)?;
        return Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    judged(&mut targets, "models", of_models, pairs, seed)?;
    match quick {
        true => targets.left_out("devices known by their records", "takes minutes")?,
        false => judged(&mut targets, "records", of_records, pairs, seed)?,
    }
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Pairs that differ in one group alone, for whoever has no hours.
fn one_group(targets: &mut Targets<Stdout>, (of, way): (&str, Way), pairs: u32, seed: u64) -> io::Result<()> {
    let answers = answered(Kind::One, way, pairs, seed);
    for (pair, answer) in answers.iter().filter(|(pair, answer)| !named(answer).is(pair.causes[0])) {
        eprintln!("{of}: {:?} is named {:?}", pair.causes, named(answer));
    }
    let right = answers.iter().filter(|(pair, answer)| named(answer).is(pair.causes[0])).count();
    let share = 100.0 * right as f64 / answers.len().max(1) as f64;
    targets.at_least(&format!("{of}, one group: named, of {} pairs", answers.len()), 95.0, share, "%")
}

/// The pairs of a kind, with what `explain` says of each.
fn answered(kind: Kind, way: Way, pairs: u32, seed: u64) -> Vec<(Pair, Answer)> {
    let all = (0..pairs * DRAWS).into_par_iter().with_max_len(1);
    let drawn: Vec<(Pair, Workload)> = all
        .filter_map(|number| {
            let work = workload(seed ^ u64::from(number));
            Some((draw(kind, seed, number, &work)?, work))
        })
        .collect();
    let some: Vec<(Pair, Workload)> = drawn.into_iter().take(pairs as usize).collect();
    some.into_par_iter()
        .with_max_len(1)
        .filter_map(|(pair, work)| match way(&pair, &work) {
            Ok(answer) => Some((pair, answer)),
            Err(error) => {
                eprintln!("no answer for a pair of {:?}: {error}", pair.causes);
                None
            }
        })
        .collect()
}

fn judged(targets: &mut Targets<Stdout>, of: &str, way: Way, pairs: u32, seed: u64) -> io::Result<()> {
    let share = |count: usize, all: usize| 100.0 * count as f64 / all.max(1) as f64;
    for (kind, what, least) in [(Kind::One, "one group", 95.0), (Kind::Two, "two groups, the larger first", 85.0)] {
        let answers = answered(kind, way, pairs, seed);
        let right = |reader: fn(&Answer) -> Named| {
            answers.iter().filter(|(pair, answer)| reader(answer).is(pair.causes[0])).count()
        };
        for (pair, answer) in answers.iter().filter(|(pair, answer)| !named(answer).is(pair.causes[0])) {
            let shares = answer.shares.iter().take(3).map(|share| {
                let gap = share.gap;
                format!("{} {:.3e} ({:.3e} to {:.3e})", share.groups[0].name, gap.time_ns, gap.low_ns, gap.high_ns)
            });
            let shares: Vec<String> = shares.collect();
            eprintln!("{of}: {:?} is named {:?}; {}", pair.causes, named(answer), shares.join(", "));
        }
        let all = answers.len();
        let nothing = answers.iter().filter(|(_, answer)| named(answer) == Named::Nothing).count();
        targets.at_least(&format!("{of}, {what}: named, of {all} pairs"), least, share(right(named), all), "%")?;
        println!("{of}, {what}: cannot tell | | {:.1} % | beside", share(nothing, all));
        let naive = share(right(largest_parameter), all);
        println!("{of}, {what}: largest change of a parameter | | {naive:.1} % | beside");
        let naive = share(right(first_exchanged), all);
        println!("{of}, {what}: first exchange that changes 5 % | | {naive:.1} % | beside");
    }
    for (kind, what) in [(Kind::Nothing, "identical"), (Kind::Untouched, "untouched by the workload")] {
        let answers = answered(kind, way, pairs.div_ceil(2), seed);
        let invented = |reader: fn(&Answer) -> Named| {
            answers.iter().filter(|(_, answer)| reader(answer) != Named::Nothing).count()
        };
        for (pair, answer) in answers.iter().filter(|(_, answer)| named(answer) != Named::Nothing) {
            eprintln!("{of}, {what}: {:?} is named {:?}", pair.causes, named(answer));
        }
        let all = answers.len();
        let most = share(invented(named), all);
        targets.at_most(&format!("{of}, {what}: a cause invented, of {all} pairs"), 5.0, most, "%")?;
        let naive = share(invented(largest_parameter), all);
        println!("{of}, {what}: largest change of a parameter | | {naive:.1} % | beside");
        let naive = share(invented(first_exchanged), all);
        println!("{of}, {what}: first exchange that changes 5 % | | {naive:.1} % | beside");
    }
    Ok(())
}
