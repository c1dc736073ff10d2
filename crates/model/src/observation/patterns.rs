//! What requests took that were mixed as applications mix them.

use crate::plan::Pattern;
use flashscope_units::Nanos;

/// Patterns of requests, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternsData {
    /// The patterns, in the order in which they were done.
    pub patterns: Vec<PatternTimes>,
}

/// One pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternTimes {
    /// What was done.
    pub pattern: Pattern,
    /// Service times of each part, in the order of issue.
    pub times: Vec<Vec<Nanos>>,
    /// Service times of the flushes, in the order of issue.
    pub flushes: Vec<Nanos>,
}
