//! Why no twin came out.

use crate::replay::ReplayError;
use std::fmt;

/// Why no twin came out. The hint stands on a line of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FitError {
    /// There are no figures at all.
    Nothing,
    /// There are figures, but too few to fit anything to.
    NotEnough {
        /// The tests that there are.
        has: String,
    },
    /// The figures are of more than one device.
    TwoDevices {
        /// What says so.
        why: String,
    },
    /// The operator wants to stop.
    Stopped,
    /// The model cannot be simulated: the fault is ours.
    Model(String),
}

impl FitError {
    pub(crate) fn model(why: impl fmt::Display) -> FitError {
        FitError::Model(why.to_string())
    }
}

impl From<ReplayError> for FitError {
    fn from(error: ReplayError) -> FitError {
        FitError::Model(error.to_string())
    }
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FitError::Nothing => write!(
                f,
                "there is nothing to fit a twin to: no flashbench table and no record of a run was found\n\
                 hint: at least one `flashbench -a -b 1024` table is needed, better with -O and -f; or the record of \
                 `flashscope inspect`"
            ),
            FitError::NotEnough { has } => write!(
                f,
                "too little to fit a twin to: only {has}\n\
                 hint: at least three whole rows of an align (-a), open-au (-O) or find-fat (-f) table are needed, or the \
                 record of `flashscope inspect`"
            ),
            FitError::TwoDevices { why } => {
                write!(f, "the figures are of more than one device: {why}\nhint: a twin is of one; name its files only")
            }
            FitError::Stopped => write!(f, "stopped before the twin was fitted"),
            FitError::Model(why) => write!(f, "the fitted model cannot be simulated: {why}"),
        }
    }
}

impl std::error::Error for FitError {}
