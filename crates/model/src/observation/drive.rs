//! What experiments on a controller saw.

use super::ScatterPlace;
use crate::plan::{Fan, Span, Stretch};
use flashscope_units::{Bytes, Nanos};

/// Long sequential writes in bursts.
#[derive(Clone, Debug, PartialEq)]
pub struct SlcCacheData {
    /// Size of each write.
    pub block: Bytes,
    /// The bursts, as far as they came.
    pub bursts: Vec<StretchTimes>,
}

/// One burst.
#[derive(Clone, Debug, PartialEq)]
pub struct StretchTimes {
    /// What was to be done.
    pub burst: Stretch,
    /// Service times in the order of issue.
    pub times: Vec<Nanos>,
}

/// Reads that were handed over together.
#[derive(Clone, Debug, PartialEq)]
pub struct ParallelData {
    /// Size of each read.
    pub block: Bytes,
    /// The fans.
    pub fans: Vec<FanTimes>,
}

/// One fan at several places.
#[derive(Clone, Debug, PartialEq)]
pub struct FanTimes {
    /// How its reads lie.
    pub fan: Fan,
    /// From the issue of the first read to the completion of the last, one per place.
    pub times: Vec<Nanos>,
}

/// Random reads within ranges of different length.
#[derive(Clone, Debug, PartialEq)]
pub struct MapReachData {
    /// Size of each read.
    pub block: Bytes,
    /// Start of all ranges.
    pub start: Bytes,
    /// The ranges in the order in which they were read.
    pub ranges: Vec<RangeTimes>,
}

/// One range.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeTimes {
    /// Its length.
    pub length: Bytes,
    /// Service times in the order of issue.
    pub times: Vec<Nanos>,
}

/// Sequential writes, then random writes over the same span.
#[derive(Clone, Debug, PartialEq)]
pub struct OverwriteData {
    /// Size of each write.
    pub block: Bytes,
    /// What was overwritten.
    pub span: Span,
    /// Writes of a window. One that was not complete, or in which a write failed, is left out.
    pub window: u32,
    /// Time of each window of the sequential writes.
    pub in_order: Vec<Nanos>,
    /// Time of each window of the random writes.
    pub random: Vec<Nanos>,
    /// Service times of the last random writes, one by one, in the order of issue.
    pub last: Vec<Nanos>,
}

/// Reads of evenly spaced pages.
#[derive(Clone, Debug, PartialEq)]
pub struct CellsData {
    /// Size of each read.
    pub block: Bytes,
    /// The places and their service times, one per pass.
    pub places: Vec<ScatterPlace>,
}
