//! What was asked of the device since it last came back, and what it acknowledged.
//!
//! What came before what is told by *turns*, counted by whoever issues: each request and each acknowledgement has its own. Stamps
//! of a clock may be equal where turns are not.

use flashscope_units::{Bytes, Instant};

/// Writes and flushes, each in order of issue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journal {
    /// The writes.
    pub writes: Vec<Write>,
    /// The flushes.
    pub flushes: Vec<Flush>,
}

/// A write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Where.
    pub at: Bytes,
    /// How much.
    pub length: Bytes,
    /// What it carries: no two writes of a run carry the same.
    pub generation: u32,
    /// The turn in which it was issued.
    pub turn: u32,
    /// When it was acknowledged as done; `None` where it never was.
    pub done: Option<Done>,
    /// Whether it was to be durable by itself.
    pub durable: bool,
}

/// A flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flush {
    /// The turn in which it was issued.
    pub turn: u32,
    /// When it was acknowledged as done; `None` where it never was.
    pub done: Option<Done>,
    /// Bytes of the writes that it covers and none before it did.
    pub covers: Bytes,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Done {
    /// The turn in which it was seen.
    pub turn: u32,
    /// When, on the device's clock.
    pub at: Instant,
}

impl Write {
    /// The end of its range.
    pub fn end(&self) -> Bytes {
        self.at + self.length
    }

    pub(crate) fn covers(&self, from: Bytes, to: Bytes) -> bool {
        self.at <= from && to <= self.end()
    }
}

impl Journal {
    /// From when on each write is covered: by the first flush that was issued after it was acknowledged, or by itself.
    pub(crate) fn covered(&self) -> Vec<Option<Done>> {
        let by_flush = |write: &Write| {
            let done = write.done?;
            self.flushes.iter().filter(|flush| flush.turn > done.turn).filter_map(|flush| flush.done).min()
        };
        let of = |write: &Write| if write.durable && write.done.is_some() { write.done } else { by_flush(write) };
        self.writes.iter().map(of).collect()
    }
}
