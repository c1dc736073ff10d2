//! Requests over one region: throughput and program.

use super::RateEvidence;
use crate::{Direction, Order, plan::Purpose};
use flashscope_units::{Bytes, Nanos};

/// Writes of different content, and reads, sequentially and randomly.
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

impl ThroughputData {
    /// How far into its region a single pass in order went: less than all of it where time or device ended it.
    pub fn reach(&self) -> Bytes {
        self.length.min(self.block * self.times.len() as u64)
    }
}
