//! Runs of applications: what was played where, how long each operation took, and what that comes to.

use crate::envelope::Envelope;
use crate::trace::{ChunkClass, ClassFigures, TraceOp};
use flashscope_units::{ByteRate, Bytes, Nanos};

/// Everything about one run of `app`.
#[derive(Clone, Debug, PartialEq)]
pub struct AppRecord {
    /// Who, when, where, on what, and how it ended.
    pub envelope: Envelope,
    /// What was to be played.
    pub plan: AppPlan,
    /// Where.
    pub place: AppPlace,
    /// Every run of an app, in order.
    pub runs: Vec<AppRun>,
    /// What they come to, one entry per app and case.
    pub figures: Vec<AppFigures>,
}

impl AppRecord {
    /// Whether an operation failed, or a run ended early.
    pub fn has_failed(&self) -> bool {
        self.runs.iter().any(AppRun::has_failed)
    }
}

/// A suite's score is its total run time in seconds times this: by it the published eBench report's score, "868.783 ms", is
/// its total of 144.797 s. What the 6 stands for is not said there.
pub const SCORE_TIMES: f64 = 6.0;

/// What was to be played.
#[derive(Clone, Debug, PartialEq)]
pub struct AppPlan {
    /// The suite; `None` of a single app.
    pub suite: Option<String>,
    /// The cases, in order (`main`, `full`).
    pub sequence: Vec<String>,
    /// The apps with their rounds.
    pub apps: Vec<PlannedApp>,
    /// How often each app is played in a case.
    pub repeat: u32,
    /// All names, sizes and places follow from it.
    pub seed: u64,
    /// Idle time before each run.
    pub idle: Nanos,
    /// Share of the photos that a full case deletes when the file system is full.
    pub delete_share: Option<f64>,
    /// A journal mode of SQLite in the place of the apps' own.
    pub journal: Option<String>,
    /// A setting of `synchronous` in the place of the apps' own.
    pub synchronous: Option<String>,
}

/// An app of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedApp {
    /// Its name.
    pub name: String,
    /// What it is.
    pub title: String,
    /// Where its counts and sizes come from.
    pub source: String,
    /// How often its operations are performed.
    pub rounds: u64,
    /// Its definition as it was played.
    pub definition: String,
}

/// Where apps were played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppPlace {
    /// The directory; `None` where a file system was made for it.
    pub directory: Option<String>,
    /// Its file system (`ext4`).
    pub file_system: Option<String>,
    /// Options of the mount.
    pub options: Vec<String>,
    /// Size of the file system.
    pub capacity: Bytes,
    /// Of these free before the first run.
    pub free: Bytes,
    /// The block device below; `None` where there is none (a file system in memory).
    pub device: Option<String>,
    /// SQLite's version.
    pub sqlite: String,
    /// The system call by which this SQLite waits for the medium (`fsync`).
    pub sync_call: String,
    /// What must be known of it, in sentences.
    pub remarks: Vec<String>,
}

impl AppPlace {
    /// Which SQLite plays there, and how it waits for the medium, in words.
    pub fn database(&self) -> String {
        format!("SQLite {}, which waits for the medium by {}", self.sqlite, self.sync_call)
    }
}

/// An app, played once.
#[derive(Clone, Debug, PartialEq)]
pub struct AppRun {
    /// Which.
    pub app: String,
    /// In which case (`main`).
    pub case: String,
    /// Where the case stands in the sequence, counted from 1: a sequence may have the same case twice.
    pub place: u32,
    /// Counted from 1 within its case.
    pub number: u32,
    /// How long its preparation took.
    pub prepared: Nanos,
    /// From the first operation to the end of the last, the user's thinking included.
    pub elapsed: Nanos,
    /// Of these the user's thinking and waiting for the next period.
    pub thinking: Nanos,
    /// Of these flashscope's own.
    pub own: Nanos,
    /// What was left to be written when it ended took so long.
    pub settled: Nanos,
    /// What the device did meanwhile; `None` where nobody counts.
    pub device: Option<DeviceWork>,
    /// What the device was given meanwhile, request by request; `None` where nobody wrote that down.
    pub given: Option<Given>,
    /// Its operations, in the order of the definition.
    pub operations: Vec<OperationRun>,
    /// What failed: the first hundred.
    pub failures: Vec<ActFailure>,
    /// Why it ended before all was done; `None` where it did not.
    pub ended: Option<String>,
}

impl AppRun {
    /// Whether an operation failed, or it ended early.
    pub fn has_failed(&self) -> bool {
        self.ended.is_some() || !self.failures.is_empty()
    }

    /// What the user waited for: all but thinking and flashscope's own time.
    pub fn run_time(&self) -> Nanos {
        self.elapsed.saturating_sub(self.thinking).saturating_sub(self.own)
    }
}

/// What a device was given during a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// When the run began, since the first request of the trace.
    pub from: Nanos,
    /// When it ended: requests issued from the one to the other count.
    pub to: Nanos,
    /// Reads and writes by size.
    pub classes: Vec<ClassFigures>,
}

/// What a device did during a run, by the kernel's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceWork {
    /// Time with a read or write outstanding.
    pub busy: Nanos,
    /// Reads that ended.
    pub reads: u64,
    /// Bytes read.
    pub read: Bytes,
    /// Writes that ended.
    pub writes: u64,
    /// Bytes written.
    pub written: Bytes,
    /// Flushes that ended; `None` before Linux 5.5.
    pub flushes: Option<u64>,
    /// Time of flushes, which is no part of `busy`; `None` before Linux 5.5.
    pub flushing: Option<Nanos>,
}

impl DeviceWork {
    /// Time with something outstanding; a flush beside a read or write counts twice.
    pub fn outstanding(&self) -> Nanos {
        self.busy + self.flushing.unwrap_or(Nanos::ZERO)
    }
}

/// All performances of one operation in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationRun {
    /// Its name.
    pub name: String,
    /// Its thread.
    pub thread: String,
    /// When each began, since the run did; of one with a period when it should have.
    pub starts: Vec<Nanos>,
    /// How long the user waited for each.
    pub times: Vec<Nanos>,
    /// Of one with a period: how long one may take before somebody notices.
    pub deadline: Option<Nanos>,
    /// Bytes that its calls read.
    pub read: Bytes,
    /// Bytes that its calls wrote, those of SQLite aside.
    pub written: Bytes,
}

/// Something that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActFailure {
    /// The operation.
    pub operation: String,
    /// Since the run began.
    pub at: Nanos,
    /// What was tried and what the system said.
    pub what: String,
}

/// What the runs of an app in one case come to.
#[derive(Clone, Debug, PartialEq)]
pub struct AppFigures {
    /// The app.
    pub app: String,
    /// The case.
    pub case: String,
    /// See [`AppRun::place`].
    pub place: u32,
    /// Runs that came to their end.
    pub runs: u32,
    /// Run time over these runs; `None` where none came to its end.
    pub run_time: Option<Spread>,
    /// Share of the run time in which the device had a read, write or flush outstanding; `None` where nobody counts.
    pub device_share: Option<f64>,
    /// flashscope's own time as a share of the run time.
    pub own_share: Option<f64>,
    /// What the device was given by size; empty where nobody wrote that down.
    pub chunks: Vec<Chunks>,
    /// Its operations.
    pub operations: Vec<OperationFigures>,
    /// The longest waits, the longest first.
    pub stalls: Vec<Stall>,
}

/// Reads or writes of one class of sizes over all runs of an app, those aside that ended early.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chunks {
    /// Which way: [`TraceOp::Read`] or [`TraceOp::Write`].
    pub op: TraceOp,
    /// Which sizes.
    pub class: ChunkClass,
    /// How many.
    pub requests: u64,
    /// What they moved.
    pub bytes: Bytes,
    /// How many per second of the run time.
    pub iops: f64,
    /// What they moved per second of the run time.
    pub rate: ByteRate,
}

/// Mean and spread of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// The mean.
    pub mean: Nanos,
    /// Standard deviation, divisor n − 1; `None` of one time.
    pub deviation: Option<Nanos>,
    /// Interval of the mean at 95 %, Student's t; `None` of one time, and where it would reach below zero.
    pub interval: Option<(Nanos, Nanos)>,
}

/// Response times of one operation over all runs of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationFigures {
    /// Its name.
    pub name: String,
    /// How often it was performed and did not fail.
    pub count: u64,
    /// Mean and spread.
    pub time: Spread,
    /// The shortest.
    pub min: Nanos,
    /// Half of them took no longer.
    pub median: Nanos,
    /// 90 % took no longer; `None` of fewer than 20.
    pub p90: Option<Nanos>,
    /// 99 % took no longer; `None` of fewer than 200.
    pub p99: Option<Nanos>,
    /// The longest.
    pub max: Nanos,
    /// How many a second, one after the other.
    pub per_second: Option<f64>,
    /// Of one with a period: those that took longer than their deadline.
    pub underruns: Option<Underruns>,
}

/// Deadlines that were missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Underruns {
    /// How many.
    pub count: u64,
    /// By how much the worst was late.
    pub longest: Nanos,
}

/// A long wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The operation.
    pub operation: String,
    /// The run.
    pub run: u32,
    /// Since the run began.
    pub at: Nanos,
    /// How long.
    pub time: Nanos,
    /// How many times the median of its operation, rounded down.
    pub times_median: u64,
}

impl Stall {
    /// A wait that is this many times the median of its operation is a stall.
    const TIMES: f64 = 10.0;
    /// No wait below this is one: nobody notices. The limit of "instantaneous" in Miller, *Response time in man-computer
    /// conversational transactions* (AFIPS 1968).
    const NOTICED: Nanos = Nanos::millis(100);

    /// How many times the median a wait is, if it is a stall. The median is of the waits of one operation, in ns.
    pub fn times_median(time: Nanos, median: f64) -> Option<f64> {
        let times = time.as_f64() / median;
        (median > 0.0 && times >= Stall::TIMES && time >= Stall::NOTICED).then_some(times)
    }
}
