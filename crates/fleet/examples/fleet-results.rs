//! Runs a `wide` and an `adversarial` fleet with field noise and writes docs/fleet-results.md.
//!
//! `cargo run --release -p flashscope-fleet --example fleet-results -- docs/fleet-results.md` runs 1000 devices of each.
//! Other sizes and seeds: `--devices N`, `--wide SEED`, `--adversarial SEED` (a seed of 0 leaves the fleet out);
//! `--no-naive` leaves the by-hand procedure out, `--json DIR` keeps every device of both as well.

#![allow(clippy::print_stderr, reason = "a tool for the terminal")]

use flashscope_fleet::{Fleet, Generator, Limits, Noise, Plan, Sailed, Summary, Watch, json, markdown, sail};
use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

struct Arguments {
    devices: u32,
    seeds: [(Generator, u64); 2],
    by_hand: bool,
    json: Option<String>,
    page: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = arguments()?;
    let mut fleets: Vec<(Fleet, Summary, Duration)> = Vec::new();
    for (generator, seed) in arguments.seeds.into_iter().filter(|(_, seed)| *seed > 0) {
        let limits = Limits { max_write: None, max_time: None, by_hand: arguments.by_hand };
        let plan = Plan { devices: arguments.devices, seed, generator, noise: Some(Noise::Field), limits };
        let start = Instant::now();
        let fleet = sail(plan, &Count { done: AtomicU32::new(0), all: plan.devices, name: generator.name() })?;
        let took = start.elapsed();
        let summary = Summary::of(&fleet);
        if let Some(directory) = &arguments.json {
            std::fs::write(format!("{directory}/{}-{seed}.json", generator.name()), json(&fleet, &summary))?;
        }
        fleets.push((fleet, summary, took));
    }
    let cores = std::thread::available_parallelism()?.get();
    let sailed: Vec<Sailed<'_>> =
        fleets.iter().map(|(fleet, summary, took)| Sailed { fleet, summary, took: (*took, cores) }).collect();
    std::fs::write(&arguments.page, markdown(&arguments.command(), &sailed))?;
    Ok(())
}

/// Says on the terminal how far it is.
struct Count {
    done: AtomicU32,
    all: u32,
    name: &'static str,
}

impl Watch for Count {
    fn done(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(50) || done == self.all {
            eprintln!("{}: {done} of {}", self.name, self.all);
        }
    }

    fn stop(&self) -> bool {
        false
    }
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut found = Arguments {
        devices: 1000,
        seeds: [(Generator::Wide, 90_001), (Generator::Adversarial, 90_002)],
        by_hand: true,
        json: None,
        page: String::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--devices" => found.devices = value()?.parse()?,
            "--wide" => found.seeds[0].1 = value()?.parse()?,
            "--adversarial" => found.seeds[1].1 = value()?.parse()?,
            "--no-naive" => found.by_hand = false,
            "--json" => found.json = Some(value()?),
            _ if word.starts_with('-') => return Err(format!("there is no option {word}").into()),
            _ => found.page = word,
        }
    }
    if found.page.is_empty() {
        return Err("name the page to write, as in docs/fleet-results.md".into());
    }
    Ok(found)
}

impl Arguments {
    fn command(&self) -> String {
        let [(_, wide), (_, adversarial)] = self.seeds;
        let naive = if self.by_hand { "" } else { " --no-naive" };
        format!(
            "cargo run --release -p flashscope-fleet --example fleet-results -- --devices {} --wide {wide} --adversarial \
             {adversarial}{naive} {}",
            self.devices, self.page
        )
    }
}
