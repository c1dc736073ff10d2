//! Accesses around boundaries: align, write-align and boundaries.

use super::Printed;
use crate::Direction;
use flashscope_units::{Bytes, Contrast, Nanos};

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
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateData {
    /// The size.
    pub size: Bytes,
    /// Larger sizes of which no place is a multiple.
    pub excluded: Vec<Bytes>,
    /// The boundaries.
    pub places: Vec<Straddle>,
}
