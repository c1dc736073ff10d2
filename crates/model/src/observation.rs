//! What was observed: samples, or what a log left of them. No conclusions.
//!
//! Every [`Run`] of an experiment is self-contained: its [`Data`] says what was done where and in
//! which order, as far as that is known (a pasted log may not say), and holds every sample. Live
//! probes fill in the `Samples`/`Places`/`Times` variants; logs the `Printed` ones. Inference
//! serves both.

mod memory;

pub use memory::{Ahead, BufferData, BurstTimes, ReadCacheData, Reread};
mod drive;

pub use drive::{
    CellsData, FanTimes, MapReachData, OverwriteData, ParallelData, RangeTimes, SlcCacheData, StretchTimes,
};

use crate::{Data, Direction, Order, plan::Purpose};
use flashscope_units::{ByteRate, Bytes, Contrast, Instant, Nanos};

/// Everything that was observed on one device, in the order in which it was done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observations {
    /// Size of the device, where it is known or a log says so.
    pub capacity: Option<Bytes>,
    /// The runs of experiments.
    pub runs: Vec<Run>,
}

/// One run of one experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Where the figures come from.
    pub source: Source,
    /// What state the touched area was in, as far as the experiment established it.
    pub state: AreaState,
    /// Whether it ran to its end.
    pub complete: bool,
    /// What it moved and how long it took.
    pub spent: Spent,
    /// Requests that failed: outcomes, not errors.
    pub failures: Vec<IoFailure>,
    /// The figures.
    pub data: Data,
}

/// Where figures come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Our own probe, started at this time of the target's clock.
    Probe {
        /// Start on the target's clock.
        started: Instant,
    },
    /// A log.
    Log {
        /// First line of the table, counted from 1.
        first_line: u32,
        /// Last line of the table.
        last_line: u32,
    },
}

/// State of the area that an experiment touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AreaState {
    /// Nobody knows.
    Unknown,
    /// Never written, or discarded.
    Blank,
    /// Written once in rising order.
    FilledInOrder,
    /// Written at random.
    Scattered,
}

/// What an experiment moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Bytes read from the target.
    pub read: Bytes,
    /// Bytes written to the target.
    pub written: Bytes,
    /// Time on the target's clock.
    pub time: Nanos,
}

/// One request that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoFailure {
    /// Read or write.
    pub direction: Direction,
    /// Where.
    pub offset: Bytes,
    /// How much was asked for.
    pub length: Bytes,
    /// What the device or kernel said.
    pub reason: String,
}

/// A figure that a log printed: what is left of samples that are gone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Printed<T> {
    /// The figure.
    pub value: T,
    /// Half of this either way is lost to rounding: the last printed digit.
    pub quantum: T,
    /// What the figure is a statistic of.
    pub statistic: Statistic,
    /// Over how many places, where known.
    pub places: Option<u32>,
    /// Over how many tries per place, where known.
    pub tries: Option<u32>,
}

/// What a printed figure summarises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Statistic {
    /// The mean over places of the minimum over tries.
    MeanOfMinima,
    /// The mean.
    Mean,
    /// The smallest.
    Minimum,
    /// The largest.
    Maximum,
    /// Bytes over time of a whole region.
    Throughput,
}

/// A throughput: every request's service time in the order of issue, or a printed figure.
#[derive(Clone, Debug, PartialEq)]
pub enum RateEvidence {
    /// Service time of each request, in the order of issue; each moved one block.
    Times(Vec<Nanos>),
    /// What a log printed.
    Printed(Printed<ByteRate>),
}

/// A block read again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct FloorData {
    /// Block size.
    pub block: Bytes,
    /// Where it lies.
    pub at: Bytes,
    /// Service times.
    pub times: Vec<Nanos>,
}

/// Reads at random places.
#[derive(Clone, Debug, PartialEq)]
pub struct SurveyData {
    /// Size of each read.
    pub block: Bytes,
    /// The places.
    pub places: Vec<SurveyPlace>,
}

/// One place of a survey.
#[derive(Clone, Debug, PartialEq)]
pub struct SurveyPlace {
    /// Where.
    pub at: Bytes,
    /// The byte that fills the whole block, where one does (0x00 and 0xff are what erased areas answer).
    pub uniform: Option<u8>,
    /// Service times.
    pub times: Vec<Nanos>,
}

/// Accesses ending at, straddling and starting at boundaries, by alignment.
#[derive(Clone, Debug, PartialEq)]
pub struct AlignData {
    /// Reads, or the writes of write-align.
    pub direction: Direction,
    /// Block size, where known (a log may show no command: then twice this is at most the smallest alignment).
    pub block: Option<Bytes>,
    /// Size of one access as a multiple of the block.
    pub access: u32,
    /// The rows, largest alignment first as measured.
    pub rows: Vec<AlignRow>,
}

/// One alignment.
#[derive(Clone, Debug, PartialEq)]
pub struct AlignRow {
    /// The alignment.
    pub align: Bytes,
    /// The evidence.
    pub evidence: AlignEvidence,
}

/// The times of one alignment.
#[derive(Clone, Debug, PartialEq)]
pub enum AlignEvidence {
    /// Every sample.
    Places(Vec<Straddle>),
    /// What a log printed. A cut-off field is absent; `diff` is in nanoseconds like the others.
    Printed {
        /// Ending at the boundary.
        pre: Option<Printed<Contrast>>,
        /// Straddling it by half.
        on: Option<Printed<Contrast>>,
        /// Starting at it.
        post: Option<Printed<Contrast>>,
        /// `on − (pre + post)/2` as printed.
        diff: Option<Printed<Contrast>>,
    },
}

/// Accesses around one boundary, each several times.
#[derive(Clone, Debug, PartialEq)]
pub struct Straddle {
    /// The boundary.
    pub at: Bytes,
    /// Times of accesses that end at it.
    pub pre: Vec<Nanos>,
    /// Times of accesses that straddle it by half.
    pub on: Vec<Nanos>,
    /// Times of accesses that start at it.
    pub post: Vec<Nanos>,
}

/// Contrasts at random multiples of candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundariesData {
    /// Size of each read.
    pub block: Bytes,
    /// Shift of the grid.
    pub offset: Bytes,
    /// How long the device was left alone before each read.
    pub rest: Nanos,
    /// The candidates, smallest first.
    pub candidates: Vec<CandidateData>,
}

/// One candidate size.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateData {
    /// The size.
    pub size: Bytes,
    /// Larger sizes of which no place is a multiple.
    pub excluded: Vec<Bytes>,
    /// The boundaries.
    pub places: Vec<Straddle>,
}

/// Writes to several units in turn.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenUnitsData {
    /// Order of the offsets within each unit.
    pub order: Order,
    /// Number of units, where known.
    pub count: Option<u32>,
    /// Assumed unit, where known.
    pub unit: Option<Bytes>,
    /// Where the units start, where known.
    pub units: Vec<Bytes>,
    /// One entry per block size, in the order measured.
    pub rows: Vec<OpenUnitsRow>,
}

/// One block size of [`OpenUnitsData`].
#[derive(Clone, Debug, PartialEq)]
pub struct OpenUnitsRow {
    /// Block size.
    pub block: Bytes,
    /// Times in the order of issue, `count` of them per round; or the printed throughput.
    pub rate: RateEvidence,
}

/// Throughput of each of the first units.
#[derive(Clone, Debug, PartialEq)]
pub struct FatData {
    /// Order of the offsets within each unit, where known.
    pub order: Option<Order>,
    /// Assumed unit, where known (else the largest block is it).
    pub unit: Option<Bytes>,
    /// Where unit 0 starts, where known.
    pub offset: Option<Bytes>,
    /// One entry per block size.
    pub rows: Vec<FatRow>,
}

/// One block size of [`FatData`].
#[derive(Clone, Debug, PartialEq)]
pub struct FatRow {
    /// Block size.
    pub block: Bytes,
    /// One entry per unit, unit 0 first.
    pub units: Vec<RateEvidence>,
}

/// Suspect units against controls.
#[derive(Clone, Debug, PartialEq)]
pub struct FastAreaData {
    /// Assumed unit.
    pub unit: Bytes,
    /// How much of each was used, from its start: less than a unit where the piece in front of the first whole one was
    /// under suspicion.
    pub reach: Bytes,
    /// Reads or writes.
    pub direction: Direction,
    /// Order within each unit.
    pub order: Order,
    /// Block size.
    pub block: Bytes,
    /// Units at the start.
    pub suspects: Vec<UnitTimes>,
    /// Units from elsewhere.
    pub controls: Vec<UnitTimes>,
}

/// Service times within one unit.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitTimes {
    /// Start of the unit.
    pub at: Bytes,
    /// Times in the order of issue.
    pub times: Vec<Nanos>,
}

/// Minimum read time by position.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterData {
    /// Bytes read at each position, where known.
    pub length: Option<Bytes>,
    /// Position and times; a log leaves one time, its minimum.
    pub places: Vec<ScatterPlace>,
}

/// Reads across every step of some stretches.
#[derive(Clone, Debug, PartialEq)]
pub struct SlideData {
    /// Size of each read; half of it lies before the place, half behind.
    pub block: Bytes,
    /// Distance of neighbouring places of one stretch.
    pub step: Bytes,
    /// Whether each round went from the last place of a stretch to its first; otherwise in a random order.
    pub descending: bool,
    /// The places in rising order, each with its times.
    pub places: Vec<ScatterPlace>,
}

/// One position of a scatter plot.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterPlace {
    /// Where.
    pub at: Bytes,
    /// Times, one per pass.
    pub times: Vec<Nanos>,
}

/// Read time by size.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalData {
    /// One entry per size.
    pub rows: Vec<IntervalRow>,
}

/// One size of [`IntervalData`].
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalRow {
    /// Size of one read.
    pub size: Bytes,
    /// Times, one per place.
    pub evidence: IntervalEvidence,
}

/// The times of one size.
#[derive(Clone, Debug, PartialEq)]
pub enum IntervalEvidence {
    /// Every sample, one per place.
    Times(Vec<Nanos>),
    /// What a log printed; each figure may be missing.
    Printed {
        /// Smallest.
        min: Option<Printed<Contrast>>,
        /// Mean.
        avg: Option<Printed<Contrast>>,
        /// Largest.
        max: Option<Printed<Contrast>>,
    },
}

/// Writes of different content, and reads, in order and at random.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramData {
    /// Start of the region, where known.
    pub offset: Option<Bytes>,
    /// Length of the region, where known.
    pub region: Option<Bytes>,
    /// One entry per block size.
    pub rows: Vec<ProgramRow>,
}

/// One block size of [`ProgramData`].
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramRow {
    /// Block size.
    pub block: Bytes,
    /// Zeros, ones, 0x5a, read, in order; then the same four at random.
    pub columns: Vec<RateEvidence>,
}

/// Requests over one region.
#[derive(Clone, Debug, PartialEq)]
pub struct ThroughputData {
    /// Reads or writes.
    pub direction: Direction,
    /// Order of the blocks.
    pub order: Order,
    /// Block size.
    pub block: Bytes,
    /// Start of the region.
    pub start: Bytes,
    /// Length of the region.
    pub length: Bytes,
    /// What the figure is for.
    pub purpose: Purpose,
    /// Service times in the order of issue.
    pub times: Vec<Nanos>,
}

impl Observations {
    /// All that the runs moved, added up.
    pub fn spent(&self) -> Spent {
        self.runs.iter().fold(Spent::default(), |sum, run| Spent {
            read: sum.read + run.spent.read,
            written: sum.written + run.spent.written,
            time: sum.time + run.spent.time,
        })
    }
}
