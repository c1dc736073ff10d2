//! How near the steady rate of random writes is foretold from the first quarter of the bytes that it takes until SNIA's rule calls it
//! steady, on page-mapped drives of the wide fleet, beside what the last rounds alone would say. In virtual time.
//! `scripts/prove states [-- --drives N --seed S --develop]`; exit code 1 where a target is missed. `--develop` prints the errors that
//! the interval of `flashscope_infer::steady` allows for, of drives that no target is measured on.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_device::Target;
use flashscope_fleet::{Generator, draw};
use flashscope_infer::steady::{SteadyRate, predict};
use flashscope_proof::steady::{Course, course};
use flashscope_testkit::Targets;
use flashscope_units::Bytes;
use std::error::Error;
use std::io;
use std::process::ExitCode;

/// Of all bytes until steady.
const SHARE: f64 = 0.25;
const NEAR: f64 = 0.05;
/// Larger ones take minutes each.
const LARGEST: Bytes = Bytes(14 << 30);
const SEED: u64 = 15_001;
const DEVELOPMENT_SEED: u64 = 77;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let after = |name: &str| words.iter().skip_while(|word| *word != name).nth(1);
    let develop = words.iter().any(|word| word == "--develop");
    let drives: usize = after("--drives").map_or(Ok(40), |text| text.parse())?;
    let usual = if develop { DEVELOPMENT_SEED } else { SEED };
    let seed: u64 = after("--seed").map_or(Ok(usual), |text| text.parse())?;

    let mut found = Vec::new();
    for index in 0.. {
        let drawn = draw(Generator::Wide, seed, index, None)?;
        let mut target = flashscope_sim::open_with("drawn.toml", drawn.seed, |_| Ok(drawn.text.clone()))?;
        // What lies about its size has no steady rate of its own.
        let is_drive = drawn.title.starts_with("page-mapped") && !drawn.title.contains("fake");
        if !is_drive || target.facts().capacity > LARGEST {
            continue;
        }
        if let Ok(Course { capacity, slices, steady: Some(steady) }) = course(&mut target) {
            let one = Foretold::of(capacity, &slices, steady);
            println!("{}: {one}", drawn.title);
            found.push(one);
        }
        if found.len() >= drives {
            break;
        }
    }
    if develop {
        let mut errors: Vec<f64> = found.iter().filter_map(Foretold::error).collect();
        errors.sort_by(f64::total_cmp);
        let middle = errors[errors.len() / 2];
        errors.iter_mut().for_each(|error| *error = error.abs());
        errors.sort_by(f64::total_cmp);
        let within = 100.0 * errors[errors.len() * 95 / 100];
        println!("the median error is {:+.1} %, 95 of 100 are within {within:.1} %", 100.0 * middle);
        return Ok(ExitCode::SUCCESS);
    }
    say(&found)
}

fn say(found: &[Foretold]) -> Result<ExitCode, Box<dyn Error>> {
    let mut targets = Targets::begin(io::stdout())?;
    let share = |count: usize| 100.0 * count as f64 / found.len() as f64;
    let near = |error: Option<f64>| error.is_some_and(|error| error.abs() <= NEAR);
    let count = |is: &dyn Fn(&Foretold) -> bool| found.iter().filter(|one| is(one)).count();
    targets.at_least(
        "steady rate foretold within 5 % after a quarter of the bytes",
        90.0,
        share(count(&|one| near(one.error()))),
        "%",
    )?;
    let answered = count(&|one| one.seen.is_some());
    let held = count(&|one| one.seen.is_some_and(|seen| seen.low <= one.steady && one.steady <= seen.high));
    targets.at_least("95 % intervals that hold it", 90.0, 100.0 * held as f64 / answered.max(1) as f64, "%")?;
    let beside = |value: usize| format!("{:.1} % of {}", share(value), found.len());
    targets.row("answered", "", &beside(answered), true)?;
    targets.row(
        "the last round alone: within 5 %",
        "beside",
        &beside(count(&|one| near(Some(one.last / one.steady - 1.0)))),
        true,
    )?;
    targets.row(
        "the mean so far: within 5 %",
        "beside",
        &beside(count(&|one| near(Some(one.mean / one.steady - 1.0)))),
        true,
    )?;
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What was said of one drive, and what came; bytes per second.
struct Foretold {
    seen: Option<SteadyRate>,
    steady: f64,
    last: f64,
    mean: f64,
}

impl Foretold {
    fn of(capacity: Bytes, slices: &[(f64, f64)], steady: f64) -> Foretold {
        let all: f64 = slices.iter().map(|(bytes, _)| bytes).sum();
        let mut sum = 0.0;
        let early: Vec<(f64, f64)> = slices
            .iter()
            .take_while(|(bytes, _)| {
                sum += bytes;
                sum <= SHARE * all
            })
            .copied()
            .collect();
        let rate = |slices: &[(f64, f64)]| {
            slices.iter().map(|slice| slice.0).sum::<f64>() / slices.iter().map(|slice| slice.1).sum::<f64>()
        };
        let last = rate(&early[early.len().saturating_sub(8)..]);
        Foretold { seen: predict(&early, capacity), steady, last, mean: rate(&early) }
    }

    fn error(&self) -> Option<f64> {
        Some(self.seen?.rate / self.steady - 1.0)
    }
}

impl std::fmt::Display for Foretold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = |rate: f64| format!("{:+.1} %", 100.0 * (rate / self.steady - 1.0));
        let seen = self.seen.map_or("cannot tell".to_owned(), |seen| {
            format!("{} ({} to {})", percent(seen.rate), percent(seen.low), percent(seen.high))
        });
        write!(f, "{seen}; the last round {}, the mean so far {}", percent(self.last), percent(self.mean))
    }
}
