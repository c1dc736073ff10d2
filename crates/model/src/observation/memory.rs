//! What was seen of the memory between the link and the flash.

use crate::plan::Then;
use flashscope_units::{Bytes, Nanos};

/// Bursts of writes into an empty buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferData {
    /// Size of each write.
    pub block: Bytes,
    /// Start of the region that was written.
    pub start: Bytes,
    /// Its length.
    pub length: Bytes,
    /// Rest before each burst.
    pub rest: Nanos,
    /// The bursts, in the order in which they were done.
    pub bursts: Vec<BurstTimes>,
}

/// One burst.
#[derive(Clone, Debug, PartialEq)]
pub struct BurstTimes {
    /// Service times of the writes in the order of issue.
    pub writes: Vec<Nanos>,
    /// Time between the last write and what came behind it.
    pub pause: Nanos,
    /// What came behind it.
    pub then: Then,
    /// Its service time; absent where it failed.
    pub after: Option<Nanos>,
}

/// Re-reads, and runs of blocks in both orders.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadCacheData {
    /// Block size.
    pub block: Bytes,
    /// Blocks read again after this number of other bytes.
    pub spans: Vec<Reread>,
    /// Service times of sequential runs by their index after the jump, one list per run.
    pub rising: Vec<Vec<Nanos>>,
    /// The same in descending order.
    pub falling: Vec<Vec<Nanos>>,
    /// Reads so far behind the end of a sequential run, after a rest.
    pub ahead: Vec<Ahead>,
}

/// A block read again after `span` bytes were read, itself included.
#[derive(Clone, Debug, PartialEq)]
pub struct Reread {
    /// Bytes read since and with the first read of the block.
    pub span: Bytes,
    /// Service times of the second read.
    pub again: Vec<Nanos>,
    /// Service times of a block of the same region that was not read before, right after.
    pub fresh: Vec<Nanos>,
}

/// A read behind the end of a sequential run.
#[derive(Clone, Debug, PartialEq)]
pub struct Ahead {
    /// From the end of the run to the start of the block.
    pub distance: Bytes,
    /// Service times.
    pub times: Vec<Nanos>,
}
