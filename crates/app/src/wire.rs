//! What is said between whoever wants apps played and the program that plays them: [`Order`]s on its stdin, one a line, and
//! [`Line`]s of JSON on its stdout. Once its stdin is closed it stops what it plays, says what that came to, removes what it made,
//! unmounts what it mounted, and ends.

use crate::definition::{Definition, Operation};
use flashscope_model::app::{ActFailure, AppRun, DeviceWork, OperationRun};
use flashscope_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// What is wanted. [`Order::Open`] comes first and once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// A place to play in; answered by [`Line::Open`].
    Open(Ground),
    /// An app, played once; answered by [`Line::Run`].
    Play(Play),
    /// The files of a run, by its name, are not needed any more; answered by [`Line::Done`].
    Remove(String),
    /// Room, at the cost of photos; answered by [`Line::Done`].
    MakeRoom(Room),
}

/// Where apps are played: in a directory of the player's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ground {
    /// What that lies in.
    pub above: Above,
    /// Leave the files where they are.
    pub keep: bool,
}

/// A directory, or a file system that nobody else sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Above {
    /// A directory that is there.
    Directory(String),
    /// The root of a file system, mounted for the player alone.
    Mount(Mount),
}

/// What is to be mounted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// The block device.
    pub device: String,
    /// As the kernel calls it (`ext4`).
    pub file_system: String,
    /// As after `mount -o`.
    pub options: String,
}

/// An app, played once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Play {
    /// The text of the definition.
    pub definition: String,
    /// Its files go to a new directory of this name.
    pub name: String,
    /// How often its operations are performed.
    pub rounds: u64,
    /// Names, sizes and places follow from it.
    pub seed: u64,
    /// A journal mode of SQLite in the place of the databases' own.
    pub journal: Option<String>,
    /// `synchronous` likewise.
    pub synchronous: Option<String>,
}

/// Room that is to be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Room {
    /// Bytes that are to be free.
    pub wanted: u64,
    /// Share of the photos that is deleted again and again until so much is free, or no photo is left.
    pub share: f64,
    /// The runs whose photos these are, by their names.
    pub albums: Vec<String>,
}

/// One line of the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// It is there; comes first.
    Open(Box<Opened>),
    /// So many performances of so many are done.
    Progress(u64, u64),
    /// What a run came to.
    Run(Box<Run>),
    /// It was done.
    Done,
    /// Why it cannot go on; comes last.
    Error(String),
}

/// What a place is like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// The version of SQLite.
    pub sqlite: String,
    /// The system call by which it waits for the medium.
    pub sync_call: String,
    /// The directory of the player's own.
    pub path: String,
    /// Directories that players left behind which were killed.
    pub left: Vec<String>,
    /// The file system (`ext4`); `None` before Linux 5.8.
    pub file_system: Option<String>,
    /// Options of the mount.
    pub options: Vec<String>,
    /// Size of the file system, in bytes.
    pub capacity: u64,
    /// Of these free for us.
    pub free: u64,
    /// The block device below (`/dev/loop0`); `None` where there is none.
    pub device: Option<String>,
}

/// A run as it was measured; times in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// How long the preparation took.
    pub prepared: u64,
    /// When the first operation began, on the kernel's monotonic clock.
    pub began: u64,
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
            given: None,
            operations: app.operations.iter().zip(self.operations).map(operation).collect(),
            failures: self.failures.into_iter().map(failure).collect(),
            ended: self.ended,
        }
    }
}
