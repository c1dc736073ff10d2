//! Discard: what is asked of a device, what it showed, and what that says.

use crate::finding::{Cell, Field, Figure, IntoCell, Kind, figure, word, words};
use crate::plan::Plan;
use flashscope_units::{Bytes, Nanos};

/// Discards of several sizes, each over data that was just written, and what reads find behind them; then random writes to
/// a span that was discarded beside others to one that was not.
#[derive(Clone, Debug, PartialEq)]
pub struct Discard {
    /// Size of each read.
    pub block: Bytes,
    /// Sizes to discard, rising; each is discarded from the start of a place on.
    pub sizes: Vec<Bytes>,
    /// How often each size is tried.
    pub repeats: u32,
    /// Where to try: multiples of whatever the device may go by. The last two are for the random writes.
    pub places: Vec<Bytes>,
    /// How much of those two is filled before.
    pub span: Bytes,
    /// Random writes to each of the two, …
    pub rewrites: u32,
    /// … each of this size: larger than what a separate path for small writes takes.
    pub rewrite_block: Bytes,
}

impl Plan for Discard {
    fn describe(&self) -> String {
        let largest = self.sizes.last().copied().unwrap_or_default();
        format!("{} sizes up to {largest}, {} times each, reads of {}", self.sizes.len(), self.repeats, self.block)
    }

    /// Each size with one block behind it, and two spans with their random writes.
    fn bytes_written(&self) -> Bytes {
        let tried: Bytes = self.sizes.iter().map(|size| *size + self.block).sum();
        tried * u64::from(self.repeats) + (self.span + self.rewrite_block * u64::from(self.rewrites)) * 2
    }
}

/// What discards showed.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscardData {
    /// Size of each read.
    pub block: Bytes,
    /// Size of each random write.
    pub rewrite_block: Bytes,
    /// Whether the device has discard; where not, nothing was tried.
    pub supported: bool,
    /// Each discard, in the order of issue.
    pub trials: Vec<DiscardTrial>,
    /// Service times of random writes to the span that was discarded, in the order of issue.
    pub behind: Vec<Nanos>,
    /// The same to the one that was not.
    pub control: Vec<Nanos>,
}

/// One discard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscardTrial {
    /// How much was discarded.
    pub size: Bytes,
    /// Service time of the command.
    pub time: Nanos,
    /// The byte that a logical block in the middle of it then held throughout, if it did; what was written before is no such
    /// byte.
    pub uniform: Option<u8>,
    /// What of it still held what was written, at its start and at its end, where that was looked for.
    pub kept: Option<(Bytes, Bytes)>,
    /// Service time of a read of the block in the middle.
    pub read: Nanos,
    /// Service time of a read of the block right behind, which was not discarded.
    pub read_behind: Nanos,
}

words! {
    /// What discarded places read as.
    DiscardReads {
        /// The device has no discard.
        Absent = "absent",
        /// What was there before: a discard of any size that was tried changes nothing.
        Kept = "kept",
        /// Zeros.
        Zeros = "zeros",
        /// Ones.
        Ones = "ones",
        /// Something else, or not the same each time.
        Other = "other",
    }
}

word!(DiscardReads);

/// What a discard does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscardFound {
    /// What discarded places read as.
    pub reads: DiscardReads,
    /// The smallest size that takes effect where it lies on the device's own grid; `None` where none did that was tried.
    pub granularity: Option<Bytes>,
    /// Time of the smallest discard that was tried.
    pub smallest: Option<Nanos>,
    /// The largest discard that was tried, …
    pub largest: Option<Bytes>,
    /// … and its time.
    pub largest_time: Option<Nanos>,
    /// How many times as fast random writes are behind a discard; `None` where that was not compared.
    pub rewrite_ratio: Option<f64>,
}

figure! {
    DiscardFound, "Discard" {
        reads: DiscardReads, "reads_as", "What discarded places read as.";
        granularity: Option<Bytes>, "granularity_bytes", "The smallest size that takes effect where it lies on the device's own grid; null where none did that was tried.";
        smallest: Option<Nanos>, "smallest_service_time_ns", "Median service time of the smallest discard; null where none was made.";
        largest: Option<Bytes>, "largest_bytes", "The largest discard; null where none was made.";
        largest_time: Option<Nanos>, "largest_service_time_ns", "Its median service time.";
        rewrite_ratio: Option<f64>, "rewrite_ratio", "How many times as fast random writes are behind a discard as without one; null where not compared.";
    }
}
