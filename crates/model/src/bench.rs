//! One run of load: what was asked for, what was measured, and where its bytes went.

use crate::envelope::{ConditionList, Envelope, StopReason};
use crate::preset::PresetRun;
use crate::run::{Cost, PathTaken};
use flashscope_units::{Bytes, Nanos};

/// Everything about one run of `bench`.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchRecord {
    /// Who, when, where, on what, and how it ended.
    pub envelope: Envelope,
    /// The phases in order.
    pub phases: Vec<BenchPhase>,
    /// What it was for, where it followed a definition.
    pub preset: Option<PresetRun>,
}

/// Jobs that ran side by side, as often as was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchPhase {
    /// Each run of it, in order; none is left out.
    pub runs: Vec<PhaseRun>,
    /// Over the runs, where there are several.
    pub summary: Vec<Summary>,
}

/// One run of a phase, with what a comparison must know of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseRun {
    /// Its place among all runs of the record, in the order in which they were done, from 1.
    pub order: u32,
    /// When it began, from the start of the first one, preparations included; `None` where nobody noted it.
    pub started: Option<Nanos>,
    /// What was in force when it began.
    pub conditions: ConditionList,
    /// What it cost, warm-up and reading back included; `None` where nobody counted.
    pub cost: Option<Cost>,
    /// The jobs.
    pub jobs: Vec<JobRun>,
    /// Where the bytes went.
    pub evidence: Evidence,
}

impl PhaseRun {
    /// Of jobs that were done; what surrounded them is not noted yet.
    pub fn new(jobs: Vec<JobRun>, evidence: Evidence) -> PhaseRun {
        PhaseRun { order: 1, started: None, conditions: Vec::new(), cost: None, jobs, evidence }
    }
}

/// What one job did, its workers together.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRun {
    /// Its name.
    pub name: String,
    /// Every setting, in the words of a job file.
    pub settings: Vec<(String, String)>,
    /// The way that requests took.
    pub path: PathTaken,
    /// Workers.
    pub workers: u32,
    /// From the first worker's start, warm-up excluded, to the last completion.
    pub elapsed: Nanos,
    /// Reads; `None` where it does none.
    pub read: Option<Moved>,
    /// Writes.
    pub write: Option<Moved>,
    /// Times of flushes.
    pub flush: Option<Times>,
    /// Reads that only checked what was written; not timed.
    pub read_back: Option<(u64, Bytes)>,
    /// Requests that failed; they count in no rate.
    pub failed: u64,
    /// Reads that found other bytes than expected.
    pub mismatched: u64,
    /// The first of both.
    pub failures: Vec<RequestFailure>,
    /// The longest time that requests of one worker were outstanding and none ended.
    pub stall: Option<StallSeen>,
    /// By time.
    pub series: TimeSeries,
    /// By bytes written, of each worker that wrote.
    pub written: Vec<WrittenCurve>,
    /// What the workers cost; `None` on virtual time.
    pub cpu: Option<CpuCost>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What was seen of steadiness, where it was asked for.
    pub steady: Option<SteadySeen>,
    /// The rate in the long run; `None` of runs too short to tell, and in older records.
    pub long_run: Option<LongRun>,
}

/// The rate of one job, reads and writes together, once it no longer changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongRun {
    /// The rate in bytes per second.
    pub bytes_per_s: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// Whether it had settled at the end of the run.
    pub settled: bool,
    /// What went at another rate before, where it did.
    pub first: Option<FirstPart>,
}

/// The beginning of a run that goes on at another rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstPart {
    /// How long it took, from the start of the run.
    pub time: Nanos,
    /// Bytes that it moved.
    pub bytes: Bytes,
    /// Its rate in bytes per second.
    pub bytes_per_s: f64,
}

/// Requests of one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// How many ended well.
    pub requests: u64,
    /// Bytes that they moved.
    pub bytes: Bytes,
    /// Requests per second.
    pub requests_per_s: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Issue to completion.
    pub service: Times,
    /// Due to issue; `None` where requests are due when there is room.
    pub queue: Option<Times>,
    /// Due to completion.
    pub response: Option<Times>,
}

/// Many times.
#[derive(Clone, Debug, PartialEq)]
pub struct Times {
    /// How many.
    pub count: u64,
    /// The shortest.
    pub min: Nanos,
    /// The mean.
    pub mean: f64,
    /// The longest.
    pub max: Nanos,
    /// Percentiles that this number of values supports, each a share and its time.
    pub percentiles: Vec<(f64, Nanos)>,
    /// The histogram: smallest and largest time of each bucket that is not empty, and its count.
    pub buckets: Vec<(Nanos, Nanos, u64)>,
}

/// A request that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFailure {
    /// When, from the start of the job.
    pub at: Nanos,
    /// `read`, `write`, `flush`, `read back`.
    pub kind: String,
    /// Where.
    pub offset: Bytes,
    /// How much.
    pub length: Bytes,
    /// Why.
    pub reason: String,
    /// For a read that found other bytes: position of the first, what was expected and what was found.
    pub mismatch: Option<(Bytes, String, String)>,
}

/// A stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallSeen {
    /// How long.
    pub time: Nanos,
    /// When it began, from the start of the job.
    pub from: Nanos,
}

/// Counts per period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeSeries {
    /// Length of a period.
    pub period: Nanos,
    /// The periods from the start of the job; the last one is not full.
    pub periods: Vec<SeriesPeriod>,
}

/// One period, by completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeriesPeriod {
    /// Reads that ended.
    pub reads: u64,
    /// Writes that ended.
    pub writes: u64,
    /// Bytes read.
    pub read: Bytes,
    /// Bytes written.
    pub written: Bytes,
    /// Sum of service times.
    pub service_sum: Nanos,
    /// Longest service time.
    pub service_max: Nanos,
}

/// When one worker had written an amount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenCurve {
    /// Bytes from one entry to the next.
    pub step: Bytes,
    /// Time from the start of the job at which one, two, three … steps were written.
    pub times: Vec<Nanos>,
}

/// Processor time of the workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuCost {
    /// All of it, exactly.
    pub total: Nanos,
    /// In this program, and in the kernel. The kernel divides the total by where its timer found the thread; `None` where it
    /// looked too seldom for that to mean anything.
    pub split: Option<(Nanos, Nanos)>,
    /// Requests in that time, those that were not counted included.
    pub requests: u64,
}

/// What was seen of steadiness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadySeen {
    /// Whether it became steady.
    pub steady: bool,
    /// After how many rounds.
    pub rounds: u32,
    /// What it was going to, where it was not steady and its course tells.
    pub ahead: Option<SteadyAhead>,
}

/// A steady rate that was not reached yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyAhead {
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Rounds more that would show it.
    pub rounds: u32,
}

/// Where the bytes of a phase went.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The conclusion.
    pub verdict: CacheVerdict,
    /// Share of the bytes that the device had moved when the clock stopped; above 1 where it moved more (read-ahead, its
    /// other users). `None` where nobody counts.
    pub device_share: Option<f64>,
    /// The conclusion in words.
    pub why: String,
    /// Counters before and after, each a name and both values in bytes (or in its own unit, as its name says).
    pub counters: Vec<Counter>,
}

/// Whether a result is the device's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheVerdict {
    /// The device did at least 95 % of it.
    Device,
    /// The page cache did part of it.
    Mixed,
    /// The device did at most 5 % of it.
    Cache,
    /// Nobody can tell.
    Unknown,
}

/// One counter around a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Its name, unit last (`device_written_bytes`).
    pub name: String,
    /// Before the first request.
    pub before: u64,
    /// When the clock stopped.
    pub after: u64,
}

/// One figure over the runs of a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Name of the job.
    pub job: String,
    /// Name of the figure (`read_requests_per_s`).
    pub figure: String,
    /// The runs' values in order.
    pub values: Vec<f64>,
    /// Their median.
    pub median: f64,
    /// An interval that holds the median of all such runs, and its confidence; `None` with too few runs.
    pub interval: Option<(f64, f64, f64)>,
}
