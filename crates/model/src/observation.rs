//! What was observed: samples, or what a log left of them. No conclusions.
//!
//! Every [`Run`] of an experiment is self-contained: its [`Data`] says what was done where and in
//! which order, as far as that is known (a pasted log may not say), and holds every sample. Live
//! probes fill in the `Samples`/`Places`/`Times` variants; logs the `Printed` ones. Inference
//! serves both.

mod boundaries;
mod drive;
mod memory;
mod patterns;
mod printed;
mod reads;
mod region;
mod units;

pub use boundaries::{AlignData, AlignEvidence, AlignRow, BoundariesData, CandidateData, Straddle};
pub use drive::{
    CellsData, FanTimes, MapReachData, OverwriteData, ParallelData, RangeTimes, SlcCacheData, StretchTimes,
};
pub use memory::{Ahead, BufferData, BurstTimes, ReadCacheData, Reread};
pub use patterns::{PatternTimes, PatternsData};
pub use printed::{Printed, RateEvidence, Statistic};
pub use reads::{
    FloorData, IntervalData, IntervalEvidence, IntervalRow, ScatterData, ScatterPlace, SlideData, SurveyData,
    SurveyPlace,
};
pub use region::{ProgramData, ProgramRow, ThroughputData};
pub use units::{FastAreaData, FatData, FatRow, OpenUnitsData, OpenUnitsRow, UnitTimes};

use crate::capacity::Quick;
use crate::{Data, Direction};
use flashscope_units::{Bytes, Instant, Nanos};

/// Everything that was observed on one device, in the order in which it was done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observations {
    /// Size of the device, where it is known or a log says so.
    pub capacity: Option<Bytes>,
    /// The runs of experiments.
    pub runs: Vec<Run>,
    /// A test of the capacity, where one was made. It writes all over the device, so that it comes last.
    pub capacity_test: Option<CapacityTest>,
}

/// A quick test of the capacity among other experiments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CapacityTest {
    /// What it saw.
    pub seen: Quick,
    /// Whether it ran to its end.
    pub complete: bool,
    /// What it moved and how long it took.
    pub spent: Spent,
}

impl Observations {
    /// All that the runs moved, added up.
    pub fn spent(&self) -> Spent {
        let all = self.runs.iter().map(|run| run.spent).chain(self.capacity_test.iter().map(|test| test.spent));
        all.fold(Spent::default(), |sum, spent| Spent {
            read: sum.read + spent.read,
            written: sum.written + spent.written,
            time: sum.time + spent.time,
        })
    }
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
