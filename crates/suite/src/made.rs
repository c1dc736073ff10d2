//! Results made up for tests: only what definitions look at says anything.

use flashscope_model::bench::{
    BenchPhase, BenchRecord, CacheVerdict, Evidence, JobRun, Moved, PhaseRun, TimeSeries, Times,
};
use flashscope_model::certificate::Certificate;
use flashscope_model::envelope::{Envelope, Kind, State, StopReason, Tool};
use flashscope_model::run::PathTaken;
use flashscope_units::{Bytes, Nanos};

/// A phase of one job that wrote so many requests per second, run by run, each run a MiB.
pub(crate) fn phase(name: &str, rates: &[f64], verdict: CacheVerdict) -> BenchPhase {
    let evidence = Evidence { verdict, device_share: None, why: "made up".to_owned(), counters: Vec::new() };
    let run = |rate: &f64| PhaseRun::new(vec![job(name, *rate)], evidence.clone());
    BenchPhase { runs: rates.iter().map(run).collect(), summary: Vec::new() }
}

/// A record of these phases.
pub(crate) fn record(phases: Vec<BenchPhase>) -> BenchRecord {
    let envelope = Envelope { virtual_time: true, ..Envelope::new(Kind::Bench, Tool::default(), "", "") };
    BenchRecord { envelope, phases, preset: None }
}

/// A state that the device was brought into, or not.
pub(crate) fn state(name: &str, reached: bool) -> State {
    let made = Certificate {
        reached,
        why: "made up".to_owned(),
        purge: reached.then(|| "discard".to_owned()),
        ladder: Vec::new(),
        steps: Vec::new(),
        seed: 1,
        sessions: 1,
        life_share: None,
        life_source: String::new(),
        registers_before: Vec::new(),
        registers_after: Vec::new(),
        notes: Vec::new(),
    };
    State { name: name.to_owned(), certificate: None, made: Some(made) }
}

fn job(name: &str, rate: f64) -> JobRun {
    let time = Nanos::micros(100);
    let times = Times {
        count: 256,
        min: time,
        mean: time.as_f64(),
        max: time,
        percentiles: vec![(0.5, time)],
        buckets: vec![(time, time, 256)],
    };
    JobRun {
        name: name.to_owned(),
        settings: vec![("span".to_owned(), Bytes::mib(8).get().to_string())],
        path: PathTaken {
            engine: String::new(),
            flags: Vec::new(),
            queue_depth: 1,
            fallbacks: Vec::new(),
            in_use: Vec::new(),
        },
        workers: 1,
        elapsed: Nanos::secs(1),
        read: None,
        write: Some(Moved {
            requests: 256,
            bytes: Bytes::mib(1),
            requests_per_s: rate,
            bytes_per_s: rate * 4096.0,
            service: times,
            queue: None,
            response: None,
        }),
        flush: None,
        read_back: None,
        failed: 0,
        mismatched: 0,
        failures: Vec::new(),
        stall: None,
        series: TimeSeries::default(),
        written: Vec::new(),
        cpu: None,
        stop: StopReason::Complete,
        steady: None,
        long_run: None,
    }
}
