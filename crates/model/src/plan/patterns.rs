//! Requests as applications mix them.

use super::Plan;
use crate::{Direction, Order};
use flashscope_units::{Bytes, Nanos};

/// Parameters of [`crate::Experiment::Patterns`](crate::Experiment::Patterns): one pattern of requests after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Patterns {
    /// The patterns, in the order in which they are done.
    pub patterns: Vec<Pattern>,
}

/// Requests of several parts in turn, and flushes between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Time that the device is left alone before it.
    pub rest: Nanos,
    /// How often all parts are done, one after the other.
    pub rounds: u32,
    /// A flush follows each such number of rounds; 0: none.
    pub flush_every: u32,
    /// Whether each write must be durable when it completes.
    pub durable: bool,
    /// What one round consists of.
    pub parts: Vec<PatternPart>,
}

/// Requests of one kind in one region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatternPart {
    /// Reads or writes.
    pub direction: Direction,
    /// Sequential from the start of the region on, over and over; or at places that are drawn anew for each request.
    pub order: Order,
    /// Size of each request.
    pub block: Bytes,
    /// Start of the region.
    pub start: Bytes,
    /// Its length.
    pub length: Bytes,
    /// Requests in one round.
    pub requests: u32,
}

impl Pattern {
    /// Requests of this direction, all rounds together, and their bytes.
    pub fn moved(&self, direction: Direction) -> (u64, Bytes) {
        let parts = self.parts.iter().filter(|part| part.direction == direction);
        parts.fold((0, Bytes::ZERO), |(requests, bytes), part| {
            let more = u64::from(part.requests) * u64::from(self.rounds);
            (requests + more, bytes + part.block * more)
        })
    }

    /// Whether its parts are of several kinds; streams beside each other are one.
    pub fn is_mixed(&self) -> bool {
        let kind = |part: &PatternPart| (part.direction, part.order, part.block);
        self.parts.iter().any(|part| kind(part) != kind(&self.parts[0]))
    }

    /// Number of flushes.
    pub fn flushes(&self) -> u64 {
        self.rounds.checked_div(self.flush_every).map_or(0, u64::from)
    }
}

impl Plan for Patterns {
    fn describe(&self) -> String {
        let moved = |direction| {
            self.patterns
                .iter()
                .map(|pattern| pattern.moved(direction))
                .fold((0, Bytes::ZERO), |sum, more| (sum.0 + more.0, sum.1 + more.1))
        };
        let ((reads, read), (writes, written)) = (moved(Direction::Read), moved(Direction::Write));
        format!("{} patterns of {reads} reads ({read}) and {writes} writes ({written})", self.patterns.len())
    }

    fn bytes_written(&self) -> Bytes {
        self.patterns.iter().map(|pattern| pattern.moved(Direction::Write).1).sum()
    }
}
