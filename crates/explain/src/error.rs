//! Why there is no explanation.

use flashscope_sim::SimError;
use flashscope_twin::FitError;
use std::fmt;

/// Why there is no explanation. The hint stands on a line of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExplainError {
    /// The trace holds no request.
    NoRequests,
    /// A device of the pair could not be made.
    Model {
        /// Which of the two.
        side: char,
        /// Why.
        why: SimError,
    },
    /// The workload could not be replayed on a device of the pair.
    Replay {
        /// Which of the two.
        side: char,
        /// Why.
        why: String,
    },
    /// No twin could be fitted to a record.
    Fit(FitError),
    /// The record is of a run that measured too little to stand for the device.
    Record(String),
    /// The operator wants to stop, or the time is over, before anything could be said.
    Stopped,
}

impl fmt::Display for ExplainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRequests => {
                write!(f, "the trace holds no request\nhint: `flashscope trace show` prints what it holds")
            }
            Self::Model { side, why } => write!(f, "{side}: {why}"),
            Self::Replay { side, why } => write!(f, "{side}: {why}"),
            Self::Fit(why) => write!(f, "{why}"),
            Self::Record(why) => write!(f, "{why}\nhint: name a record of `flashscope inspect`, or a model"),
            Self::Stopped => write!(
                f,
                "stopped before the workload was replayed often enough to say anything\nhint: a shorter trace takes less \
                 time: `flashscope trace cut --count N`"
            ),
        }
    }
}

impl std::error::Error for ExplainError {}

impl From<FitError> for ExplainError {
    fn from(why: FitError) -> ExplainError {
        match why {
            FitError::Stopped => ExplainError::Stopped,
            other => ExplainError::Fit(other),
        }
    }
}
