//! What was seen.

mod data;
mod memory;
mod patterns;
mod rows;

pub use data::Data;
pub use memory::{Ahead, BlockRun, Burst, Reread};
pub use rows::{
    AlignRow, Boundary, Candidate, FatRow, IntervalRow, OpenUnitsRow, ProgramRow, ScatterPlace, SurveyPlace, UnitTimes,
};

use super::capacity::Quick;
use super::{AreaState, Direction};
use crate::RecordError;
use crate::mirror::{Mirror, mirror};
use flashscope_model::observation as seen;
use flashscope_units::{Bytes, Instant};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything that was observed on one device, in the order in which it was done.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Observations {
    /// Size of the device; null where unknown.
    pub capacity_bytes: Option<u64>,
    /// The runs of experiments.
    pub runs: Vec<Run>,
    /// A test of the capacity; absent where none was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_test: Option<CapacityTest>,
}

/// One run of one experiment.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Run {
    /// Where the figures come from.
    pub source: Source,
    /// State of the touched area.
    pub state: AreaState,
    /// Whether it ran to its end.
    pub complete: bool,
    /// What it moved and how long it took.
    pub spent: Spent,
    /// Requests that failed.
    pub failures: Vec<Failure>,
    /// The figures.
    pub data: Data,
}

/// Where figures come from.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Source {
    /// An own probe.
    Probe {
        /// Start, on the target's clock.
        started_ns: u64,
    },
    /// A log.
    Log {
        /// First line of the table, counted from 1.
        first_line: u32,
        /// Last line of the table.
        last_line: u32,
    },
}

mirror! {
    /// A quick test of the capacity among other experiments.
    CapacityTest of seen::CapacityTest {
        /// What it saw.
        seen: Quick = seen,
        /// Whether it ran to its end.
        complete: bool = complete,
        /// What it moved and how long it took.
        spent: Spent = spent,
    }

    /// What an experiment moved.
    Spent of seen::Spent {
        /// Bytes read.
        read_bytes: u64 = read,
        /// Bytes written.
        written_bytes: u64 = written,
        /// Time on the target's clock.
        time_ns: u64 = time,
    }
}

/// One request that failed.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Failure {
    /// Read or write.
    pub direction: Direction,
    /// Where.
    pub offset_bytes: u64,
    /// How much was asked for.
    pub length_bytes: u64,
    /// What the device or kernel said.
    pub reason: String,
}

impl Observations {
    pub(crate) fn from_model(observations: &seen::Observations) -> Observations {
        Observations {
            capacity_bytes: observations.capacity.map(Bytes::get),
            runs: observations.runs.iter().map(Run::from_model).collect(),
            capacity_test: Mirror::from_model(&observations.capacity_test),
        }
    }

    pub(crate) fn into_model(self) -> Result<seen::Observations, RecordError> {
        let run = |(at, run): (usize, Run)| run.into_model(&format!("observations.runs[{at}]"));
        Ok(seen::Observations {
            capacity: self.capacity_bytes.map(Bytes),
            runs: self.runs.into_iter().enumerate().map(run).collect::<Result<_, _>>()?,
            capacity_test: self.capacity_test.into_model()?,
        })
    }
}

impl Run {
    fn from_model(run: &seen::Run) -> Run {
        let source = match run.source {
            seen::Source::Probe { started } => Source::Probe { started_ns: started.0 },
            seen::Source::Log { first_line, last_line } => Source::Log { first_line, last_line },
        };
        let failure = |failure: &seen::IoFailure| Failure {
            direction: failure.direction.into(),
            offset_bytes: failure.offset.get(),
            length_bytes: failure.length.get(),
            reason: failure.reason.clone(),
        };
        Run {
            source,
            state: run.state.into(),
            complete: run.complete,
            spent: Spent::from_model(&run.spent),
            failures: run.failures.iter().map(failure).collect(),
            data: Data::from_model(&run.data),
        }
    }

    fn into_model(self, field: &str) -> Result<seen::Run, RecordError> {
        let source = match self.source {
            Source::Probe { started_ns } => seen::Source::Probe { started: Instant(started_ns) },
            Source::Log { first_line, last_line } => seen::Source::Log { first_line, last_line },
        };
        let failure = |failure: Failure| seen::IoFailure {
            direction: failure.direction.into(),
            offset: Bytes(failure.offset_bytes),
            length: Bytes(failure.length_bytes),
            reason: failure.reason,
        };
        Ok(seen::Run {
            source,
            state: self.state.into(),
            complete: self.complete,
            spent: self.spent.into_model()?,
            failures: self.failures.into_iter().map(failure).collect(),
            data: self.data.into_model(&format!("{field}.data"))?,
        })
    }
}
