//! Runs a `wide` and an `adversarial` fleet with field noise and writes docs/fleet-results.md.

#![allow(clippy::print_stderr, clippy::print_stdout, reason = "a tool for the terminal")]

use flashscope_fleet::{
    DeviceRun, Fleet, Generator, Limits, MaxWrite, Noise, Plan, Sailed, Summary, Watch, markdown, record, sail,
};
use flashscope_host::load::usage::CpuTime;
use flashscope_model::envelope::{Envelope, Kind, Tool};
use flashscope_units::Nanos;
use std::error::Error;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const HELP: &str = "\
Runs a wide and an adversarial fleet with field noise and writes a page with targets beside what was reached.

Usage: cargo run --release -p flashscope-fleet --example fleet-results -- [OPTIONS] PAGE

  PAGE                 the page to write, as docs/fleet-results.md
  --devices N          devices of each fleet [default: 1000]
  --first INDEX        begin with this device of each fleet [default: 0]
  --wide SEED          seed of the wide fleet, 0 leaves it out [default: 90001]
  --adversarial SEED   seed of the adversarial fleet, 0 leaves it out [default: 90002]
  --no-naive           leave the by-hand procedure out
  --max-work SECONDS   give a device up after so much processor time; it is counted and named [default: 120]
  --json DIR           keep every device of both as DIR/wide-SEED.json and DIR/adversarial-SEED.json

Example: cargo run --release -p flashscope-fleet --example fleet-results -- --devices 60 --wide 7 --adversarial 8 /tmp/page.md
";

struct Arguments {
    devices: u32,
    first: u32,
    seeds: [(Generator, u64); 2],
    by_hand: bool,
    most_work: Nanos,
    json: Option<String>,
    page: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().skip(1).any(|word| word == "--help" || word == "-h") {
        print!("{HELP}");
        return Ok(());
    }
    let arguments = arguments()?;
    // What cannot be written is said before hours of work, not after.
    if let Some(directory) = &arguments.json {
        std::fs::create_dir_all(directory)?;
    }
    let mut fleets: Vec<(Fleet, Summary, Duration)> = Vec::new();
    for (generator, seed) in arguments.seeds.into_iter().filter(|(_, seed)| *seed > 0) {
        let limits = Limits {
            max_write: MaxWrite::Usual,
            max_time: None,
            by_hand: arguments.by_hand,
            most_work: arguments.most_work,
        };
        let plan = Plan {
            devices: arguments.devices,
            first: arguments.first,
            seed,
            generator,
            noise: Some(Noise::Field),
            limits,
        };
        let start = Instant::now();
        let fleet = sail(plan, &Count::new(plan.devices, generator.name()))?;
        let took = start.elapsed();
        let summary = Summary::of(&fleet);
        if let Some(directory) = &arguments.json {
            let tool = Tool { version: env!("CARGO_PKG_VERSION").to_owned(), ..Tool::default() };
            let envelope = Envelope::new(Kind::Fleet, tool, "fleet-results", format!("{} devices", plan.devices));
            std::fs::write(
                format!("{directory}/{}-{seed}.json", generator.name()),
                flashscope_record::to_json(&record(envelope, &fleet, &summary)),
            )?;
        }
        fleets.push((fleet, summary, took));
    }
    let cores = std::thread::available_parallelism()?.get();
    let sailed: Vec<Sailed<'_>> =
        fleets.iter().map(|(fleet, summary, took)| Sailed { fleet, summary, took: (*took, cores) }).collect();
    std::fs::write(&arguments.page, markdown(&arguments.command(), &sailed))?;
    Ok(())
}

/// Says on the terminal how far it is, every few seconds.
struct Count {
    all: u32,
    name: &'static str,
    start: Instant,
    state: Mutex<State>,
}

struct State {
    done: u32,
    said: Instant,
    slowest: (Nanos, u32),
}

const BETWEEN_LINES: Duration = Duration::from_secs(10);

impl Count {
    fn new(all: u32, name: &'static str) -> Count {
        let start = Instant::now();
        Count { all, name, start, state: Mutex::new(State { done: 0, said: start, slowest: (Nanos::ZERO, 0) }) }
    }
}

impl Watch for Count {
    fn clock(&self) -> Nanos {
        let spent = CpuTime::of_this_thread();
        spent.user + spent.system
    }

    fn done(&self, device: &DeviceRun) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += 1;
        state.slowest = state.slowest.max((device.work, device.index));
        if let Some(why) = &device.failure {
            eprintln!("{}: no result for device {}: {why}", self.name, device.index);
        }
        if state.said.elapsed() >= BETWEEN_LINES || state.done == self.all {
            state.said = Instant::now();
            let took = self.start.elapsed().as_secs_f64();
            let left = took * f64::from(self.all - state.done) / f64::from(state.done);
            let (work, index) = state.slowest;
            eprintln!(
                "{}: {} of {} after {took:.0} s, about {left:.0} s left; the slowest so far took {work} (device {index})",
                self.name, state.done, self.all
            );
        }
    }

    fn stop(&self) -> bool {
        false
    }
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut found = Arguments {
        devices: 1000,
        first: 0,
        seeds: [(Generator::Wide, 90_001), (Generator::Adversarial, 90_002)],
        by_hand: true,
        most_work: Limits::USUAL_WORK,
        json: None,
        page: String::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--devices" => found.devices = value()?.parse()?,
            "--first" => found.first = value()?.parse()?,
            "--wide" => found.seeds[0].1 = value()?.parse()?,
            "--adversarial" => found.seeds[1].1 = value()?.parse()?,
            "--no-naive" => found.by_hand = false,
            "--max-work" => found.most_work = Nanos::secs(value()?.parse()?),
            "--json" => found.json = Some(value()?),
            _ if word.starts_with('-') => return Err(format!("there is no option {word}; --help lists them").into()),
            _ => found.page = word,
        }
    }
    if found.page.is_empty() {
        return Err("name the page to write, as in docs/fleet-results.md; --help says more".into());
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
