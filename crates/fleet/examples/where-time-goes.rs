//! Where the device time of `inspect` goes on devices drawn at random, experiment by experiment, and how many answers are
//! right: `cargo run --release -p flashscope-fleet --example where-time-goes -- --devices 60 --seed 97001`.
//!
//! `--rows FILE` writes a line per experiment and per finding, so that two versions are compared device by device.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_device::{Target, WriteGrant};
use flashscope_fleet::{Generator, Judged, Noise, Verdict, draw, judge};
use flashscope_model::plan::{Budget, Purpose};
use flashscope_model::run::Step;
use flashscope_model::{Data, Run};
use flashscope_session::{Ahead, Options, SessionReport, SoFar, Watcher, inspect, usual_write_budget};
use flashscope_sim::truth;
use flashscope_units::Nanos;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;

/// One device: what was run, and what came of it.
struct Device {
    index: u32,
    report: SessionReport,
    judged: Vec<Judged>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let after = |name: &str| words.iter().skip_while(|word| *word != name).nth(1);
    let devices: u32 = after("--devices").map_or(Ok(60), |text| text.parse())?;
    let seed: u64 = after("--seed").map_or(Ok(97_001), |text| text.parse())?;
    let seconds: Option<u64> = after("--max-time").map(|text| text.parse()).transpose()?;
    let generator = match after("--generator").map(String::as_str) {
        Some("adversarial") => Generator::Adversarial,
        _ => Generator::Wide,
    };
    let one = |index: u32| one(generator, seed, index, seconds.map(Nanos::secs));
    let all: Result<Vec<Device>, String> = (0..devices).into_par_iter().with_max_len(1).map(one).collect();
    let all = all?;
    if let Some(path) = after("--rows") {
        std::fs::write(path, rows(&all))?;
    }
    print(&all);
    Ok(())
}

fn one(generator: Generator, seed: u64, index: u32, time: Option<Nanos>) -> Result<Device, String> {
    let drawn = draw(generator, seed, index, Some(Noise::Field)).map_err(|error| error.to_string())?;
    let open = |_: &str| Ok(drawn.text.clone());
    let truth = truth::of("drawn.toml", open).map_err(|error| error.to_string())?;
    let mut target = flashscope_sim::open_with("drawn.toml", drawn.seed, open).map_err(|error| error.to_string())?;
    let write = usual_write_budget(target.facts().capacity);
    let mut grant = WriteGrant::simulated(target.facts(), write).ok_or("no grant")?;
    let options = Options { seed: drawn.seed, budget: Budget { write, time } };
    let report = inspect(&mut target, Some(&mut grant), options, &mut Silent);
    let judged = judge(&truth, &report.findings.geometry);
    Ok(Device { index, report, judged })
}

/// What an experiment is called here: throughputs serve several questions.
fn key(run: &Run) -> String {
    let name = run.data.name().word();
    match &run.data {
        Data::Throughput(data) => {
            let purpose = match data.purpose {
                Purpose::Performance => "performance",
                Purpose::OneUnit => "one unit",
                Purpose::Fill => "fill",
                Purpose::Reference => "reference",
            };
            format!("{purpose} {:?} {:?} {}", data.direction, data.order, data.block)
        }
        Data::OpenUnits(data) => format!("{name} {:?}", data.order),
        Data::Boundaries(data) => format!("{name}{}", if data.rest > Nanos::ZERO { " rested" } else { "" }),
        _ => name.to_owned(),
    }
}

fn rows(all: &[Device]) -> String {
    let mut text = String::new();
    for device in all {
        let index = device.index;
        for (run, step) in device.report.observations.runs.iter().zip(&device.report.plan.steps) {
            let spent = run.spent;
            let (time, written, read) = (spent.time.get(), spent.written.get(), spent.read.get());
            let _ = writeln!(text, "T\t{index}\t{}\t{time}\t{written}\t{read}\t{}", key(run), step.why);
        }
        for one in &device.judged {
            let (field, verdict, declared) = (one.parameter.field(), one.verdict, one.declared);
            let sure = one.claim.map_or(0.0, |(sure, _)| sure);
            let _ = writeln!(
                text,
                "F\t{index}\t{field}\t{verdict:?}\t{declared}\t{sure:.4}\t{}\t{}\t{}",
                one.said, one.truth, one.because
            );
        }
    }
    text
}

fn print(all: &[Device]) {
    let mut by: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for device in all {
        let mut own: BTreeMap<String, f64> = BTreeMap::new();
        for run in &device.report.observations.runs {
            *own.entry(key(run)).or_default() += run.spent.time.as_secs_f64();
        }
        if let Some(test) = &device.report.observations.capacity_test {
            own.insert("capacity".to_owned(), test.spent.time.as_secs_f64());
        }
        own.insert("ALL".to_owned(), device.report.cost.time.as_secs_f64());
        for (key, time) in own {
            by.entry(key).or_default().push(time);
        }
    }
    println!("{:<44} {:>5} {:>9} {:>9} {:>9} {:>9}", "experiment", "n", "mean s", "p50 s", "p95 s", "max s");
    for (key, mut times) in by {
        let n = times.len();
        times.resize(all.len(), 0.0);
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        println!("{key:<44} {n:>5} {mean:>9.2} {:>9.2} {:>9.2} {:>9.2}", at(0.5), at(0.95), at(1.0));
    }
    println!("{:<28} {:>6} {:>8} {:>6} {:>6}", "finding", "exact", "one step", "wrong", "silent");
    let mut found: BTreeMap<&str, [u32; 4]> = BTreeMap::new();
    for one in all.iter().flat_map(|device| &device.judged) {
        let counts = found.entry(one.parameter.field()).or_default();
        match one.verdict {
            Verdict::Exact => counts[0] += 1,
            Verdict::OneStep => counts[1] += 1,
            Verdict::Wrong => counts[2] += 1,
            Verdict::Silent => counts[3] += 1,
            Verdict::Unscored => {}
        }
    }
    for (field, [exact, near, wrong, silent]) in found {
        println!("{field:<28} {exact:>6} {near:>8} {wrong:>6} {silent:>6}");
    }
    let written: u64 = all.iter().map(|device| device.report.cost.written.get()).sum();
    println!("written in all: {} MiB", written >> 20);
}

struct Silent;

impl Watcher for Silent {
    fn step(&mut self, _: u32, _: &Step, _: &dyn Fn() -> Ahead) {}

    fn progress(&mut self, _: u64, _: u64) {}

    fn measured(&mut self, _: &dyn SoFar) {}

    fn stop(&mut self) -> bool {
        false
    }
}
