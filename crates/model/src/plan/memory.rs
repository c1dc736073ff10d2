//! Experiments on the memory between the link and the flash: write buffer, read buffer, read-ahead.

use flashscope_units::{Bytes, Nanos};

/// Parameters of [`crate::Experiment::Buffer`](crate::Experiment::Buffer): bursts of writes that need not be durable, each
/// after a flush and a rest, so that it meets an empty buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Size of each write.
    pub block: Bytes,
    /// Start of the region that is written sequentially, over and over.
    pub start: Bytes,
    /// Its length.
    pub length: Bytes,
    /// Time that the device is left alone after the flush before each burst.
    pub rest: Nanos,
    /// The bursts, in the order in which they are done.
    pub bursts: Vec<Burst>,
    /// After this much device time no further burst is begun, but for the first three; all of them are done where `None`.
    pub most_time: Option<Nanos>,
}

/// One burst of writes, and what comes behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// Number of writes.
    pub writes: u32,
    /// Time between the last write and what comes behind it.
    pub pause: Nanos,
    /// What is timed behind the writes.
    pub then: Then,
}

/// What is timed behind a burst of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Then {
    /// A flush: how long the dirty data take to the flash.
    Flush,
    /// A read of one block at a random place outside the region.
    Read,
    /// One more write, as those before it.
    Write,
}

/// Parameters of [`crate::Experiment::ReadCache`](crate::Experiment::ReadCache). Parts whose lists are empty are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadCache {
    /// Block size.
    pub block: Bytes,
    /// Starts of the regions that are read, each of `region` bytes; taken in turn.
    pub regions: Vec<Bytes>,
    /// Length of a region.
    pub region: Bytes,
    /// Re-reading: this number of bytes is read in descending order, then the first block of them once more.
    pub spans: Vec<Bytes>,
    /// Read-ahead: number of sequential blocks after a jump, and as many in descending order as the control; 0: left out.
    pub run: u32,
    /// How far ahead: after `run` blocks in order and a rest, one block so far behind the last one.
    pub distances: Vec<Bytes>,
    /// Time that a read-ahead is given.
    pub rest: Nanos,
    /// How often everything is done.
    pub rounds: u32,
}
