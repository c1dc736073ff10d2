//! What is said between whoever wants an app played and the program that plays it: one [`Order`] on its stdin, and [`Line`]s
//! of JSON on its stdout. It stops early, keeping what it has, as soon as its stdin is closed.

use crate::definition::{Definition, Operation};
use flashscope_model::app::{ActFailure, AppRun, DeviceWork, OperationRun};
use flashscope_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// What is to be played, once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The text of the definition.
    pub definition: String,
    /// A directory that is there and empty.
    pub directory: String,
    /// How often its operations are performed.
    pub rounds: u64,
    /// Names, sizes and places follow from it.
    pub seed: u64,
    /// A journal mode of SQLite in the place of the databases' own.
    pub journal: Option<String>,
    /// `synchronous` likewise.
    pub synchronous: Option<String>,
}

/// One line of the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The version of SQLite; comes first.
    Sqlite(String),
    /// So many performances of so many are done.
    Progress(u64, u64),
    /// What it came to; comes last.
    Run(Box<Run>),
    /// Why nothing could be played; comes last.
    Error(String),
}

/// A run as it was measured; times in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// How long the preparation took.
    pub prepared: u64,
    /// From the first operation to the end of the last.
    pub elapsed: u64,
    /// Of these thinking and waiting for the next period.
    pub thinking: u64,
    /// Of these spent outside of operations otherwise.
    pub own: u64,
    /// How long the rest took to reach the medium.
    pub settled: u64,
    /// What the device did; `None` where nobody counts.
    pub device: Option<Device>,
    /// One per operation of the definition.
    pub operations: Vec<Performed>,
    /// The operation, when, and what failed: the first hundred.
    pub failures: Vec<(u32, u64, String)>,
    /// Why it ended early.
    pub ended: Option<String>,
}

/// What a device did, by the kernel's counters; times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Device {
    pub busy: u64,
    pub reads: u64,
    pub read: u64,
    pub writes: u64,
    pub written: u64,
    pub flushes: Option<u64>,
    pub flushing: Option<u64>,
}

/// All performances of an operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Performed {
    /// When each began or should have.
    pub starts: Vec<u64>,
    /// How long each took from there.
    pub times: Vec<u64>,
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
}

impl Run {
    /// The run of this app as plain data.
    pub fn into_model(self, app: &Definition, case: &str, place: u32, number: u32) -> AppRun {
        let nanos = |times: Vec<u64>| times.into_iter().map(Nanos).collect();
        let operation = |(said, done): (&Operation, Performed)| OperationRun {
            name: said.name.clone(),
            thread: said.thread.clone(),
            starts: nanos(done.starts),
            times: nanos(done.times),
            deadline: said.period.map(|period| period + said.slack),
            read: Bytes(done.read),
            written: Bytes(done.written),
        };
        let failure = |(operation, at, what): (u32, u64, String)| ActFailure {
            operation: app.operations.get(operation as usize).map_or("preparation", |said| &said.name).to_owned(),
            at: Nanos(at),
            what,
        };
        AppRun {
            app: app.name.clone(),
            case: case.to_owned(),
            place,
            number,
            prepared: Nanos(self.prepared),
            elapsed: Nanos(self.elapsed),
            thinking: Nanos(self.thinking),
            own: Nanos(self.own),
            settled: Nanos(self.settled),
            device: self.device.map(|device| DeviceWork {
                busy: Nanos(device.busy),
                reads: device.reads,
                read: Bytes(device.read),
                writes: device.writes,
                written: Bytes(device.written),
                flushes: device.flushes,
                flushing: device.flushing.map(Nanos),
            }),
            operations: app.operations.iter().zip(self.operations).map(operation).collect(),
            failures: self.failures.into_iter().map(failure).collect(),
            ended: self.ended,
        }
    }
}
