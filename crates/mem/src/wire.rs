//! What is said between `flashscope mem` and the program that measures: one [`Order`] on its stdin, and [`Line`]s of JSON on its
//! stdout. Once its stdin is closed it stops, says what it has, and ends.

use flashscope_model::memory::Kernel;
use serde::{Deserialize, Serialize};

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// In this order.
    pub tests: Vec<Test>,
    /// Within which limits.
    pub limits: Limits,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// How fast long arrays are read and written.
    Bandwidth(BandwidthTest),
    /// Whether memory holds what is written to it, while all of it is in use.
    Stress(StressTest),
    /// How long dependent loads take, by the size of what they visit.
    Latency(SizeTest),
    /// How long they take while other threads read.
    Loaded(SizeTest),
    /// Latencies, and what follows from them for caches.
    Inspect(SizeTest),
}

/// Memory under stress; the limit of time is for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StressTest {
    /// Bytes that are tested; a share of what is available where it is not given.
    pub memory: Option<u64>,
    /// That share, 0…1.
    pub share: f64,
    /// What all patterns follow from.
    pub seed: u64,
    /// Flips that are planted.
    pub plant: Option<Planted>,
}

/// Flips that are planted on purpose, to show that they are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planted {
    /// Where.
    pub kind: PlantKind,
    /// How many.
    pub count: u64,
}

/// Where a flip is planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlantKind {
    /// A cell that is stuck.
    Cell,
    /// A bit on its way from memory to the processor.
    Path,
    /// A bit of what stands in memory.
    Buffer,
    /// A bit of a copy, as it is made.
    Copy,
}

impl PlantKind {
    /// All of them.
    pub const ALL: [PlantKind; 4] = [PlantKind::Cell, PlantKind::Path, PlantKind::Buffer, PlantKind::Copy];

    /// Its word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            PlantKind::Cell => "cell",
            PlantKind::Path => "path",
            PlantKind::Buffer => "buffer",
            PlantKind::Copy => "copy",
        }
    }
}

/// A test over a stretch of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SizeTest {
    /// Its largest size in bytes; by the last cache where it is not given.
    pub most: Option<u64>,
}

/// How fast long arrays are read and written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BandwidthTest {
    /// Loops by their words; none stands for all.
    pub kernels: Vec<String>,
    /// Length of each array in bytes; by the last cache where it is not given.
    pub array: Option<u64>,
}

impl BandwidthTest {
    /// Loops that are meant, in the order of reports; words that are none are left out.
    pub fn loops(&self) -> Vec<Kernel> {
        let wanted = |kernel: &Kernel| self.kernels.is_empty() || self.kernels.iter().any(|word| word == kernel.word());
        Kernel::ALL.into_iter().filter(wanted).collect()
    }
}

/// Limits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Time that each test takes, in nanoseconds.
    pub time: u64,
    /// Threads; all processors where it is not given.
    pub threads: Option<u32>,
    /// Whether huge pages are asked for.
    pub huge: bool,
    /// Bytes that may be used at most; by what is available where it is not given.
    pub memory: Option<u64>,
}

/// One line of the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// What is being done, and how much of all is, of a thousand.
    Progress(String, u64),
    /// The part of the record, as far as it goes: whatever happens, so much is kept.
    SoFar(String),
    /// The whole part of the record; comes last.
    Done(String),
    /// Why it cannot go on; comes last.
    Error(String),
}
