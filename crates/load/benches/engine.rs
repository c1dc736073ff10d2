//! What the load engine makes of a device whose every time is known, in virtual time: rates, percentiles and response times
//! against those worked out one request after another. `scripts/prove load [--quick]`, which without `--quick` also runs the
//! engine beside fio; exit code 1 where a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_device::{Foresight, Target};
use flashscope_load::job::{Arrivals, Job, Spacing};
use flashscope_load::plan::{Limits, resolve};
use flashscope_load::record::{Recorder, Trace, TraceEntry};
use flashscope_load::simulate::simulate;
use flashscope_load::worker::Worker;
use flashscope_testkit::{ScriptedTarget, Targets};
use flashscope_units::{Bytes, Instant, Nanos};
use std::io::{self, Stdout};
use std::process::ExitCode;

const CAPACITY: Bytes = Bytes::mib(64);
const REQUESTS: u64 = 200_000;
const SHARES: [(&str, f64); 3] = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)];
/// Requests per second of the open loop: 70 % of what the device can serve.
const RATE: f64 = 7000.0;

fn main() -> io::Result<ExitCode> {
    let mut targets = Targets::begin(io::stdout())?;
    closed(&mut targets)?;
    for spacing in [Spacing::Even, Spacing::Poisson] {
        open(&mut targets, spacing)?;
    }
    let again = || run(|job| job.queue_depth = 4, &mut varied());
    let (once, twice) = (again(), again());
    let differ = once.trace.entries().iter().zip(twice.trace.entries()).filter(|(a, b)| a != b).count();
    targets.at_most("the same seed again: requests that differ", 0.0, differ as f64, "")?;
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// As fast as the device allows: the rate, and the percentiles of the histogram beside those of the trace.
fn closed(targets: &mut Targets<Stdout>) -> io::Result<()> {
    let notes = run(|_| (), &mut varied());
    let entries = notes.trace.entries();
    let busy: u64 = (0..REQUESTS).map(takes).sum();
    let took = entries.last().map_or(0, |entry| entry.completed.since(Instant::ORIGIN).0);
    let off = 100.0 * (took as f64 / busy as f64 - 1.0).abs();
    targets.at_most("closed loop: time of all requests, off by", 0.001, off, "%")?;
    let times = sorted(entries.iter().map(|entry| entry.completed.since(entry.issued).0));
    for (name, of) in SHARES {
        let found = notes.read.service.percentile(of).map_or(f64::NAN, Nanos::as_f64);
        let target = format!("closed loop: service time at {name}, off by");
        targets.at_most(&target, 0.2, error(found, rank(&times, of)), "%")?;
    }
    Ok(())
}

/// A given rate on a device that stalls for 100 ms now and then: what users see, not what the device was busy with.
fn open(targets: &mut Targets<Stdout>, spacing: Spacing) -> io::Result<()> {
    let stalls = |index: u64| if index % 20_000 == 10_000 { 100_000_000 } else { 100_000 };
    let mut device = ScriptedTarget::new(CAPACITY, move |_, history| Nanos(stalls(history.served.len() as u64)));
    let notes = run(|job| job.arrivals = Arrivals::Rate { per_second: RATE, spacing }, &mut device);
    let entries = notes.trace.entries();
    let mut free = Instant::ORIGIN;
    let users = (0..).zip(entries).map(|(index, entry): (u64, &TraceEntry)| {
        free = free.max(entry.intended) + Nanos(stalls(index));
        free.since(entry.intended).0
    });
    let users = sorted(users);
    let name = match spacing {
        Spacing::Even => "evenly",
        Spacing::Poisson => "at random",
    };
    let seconds = entries.last().map_or(0.0, |entry| entry.intended.since(Instant::ORIGIN).as_secs_f64());
    targets.at_most(&format!("open loop, {name}: rate off by"), 1.0, error(REQUESTS as f64 / seconds, RATE), "%")?;
    for (share, of) in SHARES {
        let found = notes.read.open.as_ref().and_then(|open| open.response.percentile(of));
        let target = format!("open loop, {name}: response time at {share}, off by");
        targets.at_most(&target, 0.5, error(found.map_or(f64::NAN, Nanos::as_f64), rank(&users, of)), "%")?;
    }
    Ok(())
}

/// What the `index`-th request takes: 50 µs and a tail, in no order.
fn takes(index: u64) -> u64 {
    let place = (index * 7919 % REQUESTS + 1) as f64 / (REQUESTS + 1) as f64;
    50_000 + (20_000.0 * -place.ln()) as u64
}

fn varied() -> ScriptedTarget {
    ScriptedTarget::new(CAPACITY, |_, history| Nanos(takes(history.served.len() as u64)))
}

fn run<T: Target + Foresight>(change: impl FnOnce(&mut Job), target: &mut T) -> Recorder {
    let mut job = Job::new("proof");
    (job.trace, job.stop.requests) = (REQUESTS, Some(REQUESTS));
    change(&mut job);
    let plan = resolve(&job, Limits { capacity: CAPACITY, granularity: Bytes::SECTOR }).expect("a sound job");
    let worker = Worker::new(&plan, 0, None, true, Trace::new(REQUESTS, None)).expect("a worker");
    let mut workers = [worker];
    simulate(&mut workers, target, None, |_, _| false).expect("it runs");
    let [worker] = workers;
    worker.into_recorder()
}

fn sorted(times: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut times: Vec<u64> = times.collect();
    times.sort_unstable();
    times
}

fn rank(times: &[u64], of: f64) -> f64 {
    times[(times.len() as f64 * of).ceil() as usize - 1] as f64
}

/// In percent.
fn error(found: f64, expected: f64) -> f64 {
    100.0 * (found / expected - 1.0).abs()
}
