//! Experiments on what a controller does beyond units and pages.

use super::Span;
use flashscope_units::{Bytes, Nanos};

/// Parameters of [`crate::Experiment::SlcCache`](crate::Experiment::SlcCache).
#[derive(Clone, Debug, PartialEq)]
pub struct SlcCache {
    /// Size of each write.
    pub block: Bytes,
    /// Bursts of sequential writes, one after the other.
    pub bursts: Vec<Stretch>,
}

/// Sequential writes after a rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// How long the device is left alone before.
    pub idle: Nanos,
    /// What is written.
    pub span: Span,
}

/// Parameters of [`crate::Experiment::Parallel`](crate::Experiment::Parallel).
#[derive(Clone, Debug, PartialEq)]
pub struct Parallel {
    /// Size of each read.
    pub block: Bytes,
    /// Sets of reads that are handed over at once.
    pub fans: Vec<Fan>,
    /// Rounds, each with every fan once at a random place, in a random order.
    pub rounds: u32,
    /// Part of the device that is read; all of it where `None`.
    pub within: Option<Span>,
}

/// Reads at evenly spaced places, handed over at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fan {
    /// How many.
    pub reads: u32,
    /// Distance of neighbours.
    pub stride: Bytes,
    /// The first one is at a random multiple of this.
    pub align: Bytes,
}

/// Parameters of [`crate::Experiment::MapReach`](crate::Experiment::MapReach).
#[derive(Clone, Debug, PartialEq)]
pub struct MapReach {
    /// Size of each read.
    pub block: Bytes,
    /// Start of all ranges.
    pub start: Bytes,
    /// Lengths of the ranges, in the order in which they are read.
    pub ranges: Vec<Bytes>,
    /// Each range is read once with this step before it counts, so that what can be in memory is.
    pub warm_step: Bytes,
    /// Random reads of each range that count.
    pub requests: u32,
}

/// Parameters of [`crate::Experiment::Overwrite`](crate::Experiment::Overwrite): writes that need not be durable, so that the
/// device is kept as busy as one request at a time can.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overwrite {
    /// Size of each write; places are multiples of it from the start of the span.
    pub block: Bytes,
    /// What is overwritten.
    pub span: Span,
    /// Number of sequential writes first, from the start of the span on; as many as the span holds write all of it.
    pub in_order: u64,
    /// Random writes behind them, each place drawn anew.
    pub random: u64,
    /// Writes whose times are kept as one sum.
    pub window: u32,
}

/// Parameters of [`crate::Experiment::Cells`](crate::Experiment::Cells).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cells {
    /// Size of each read.
    pub block: Bytes,
    /// The first place.
    pub start: Bytes,
    /// Distance of neighbouring places.
    pub step: Bytes,
    /// Number of places, read from the last to the first.
    pub places: u32,
    /// Passes over them.
    pub repeats: u32,
}
