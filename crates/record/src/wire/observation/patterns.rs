//! Requests as applications mix them.

use crate::wire::printed::{nanos, ns};
use crate::wire::{Direction, Order};
use flashscope_model::observation as seen;
use flashscope_model::plan;
use flashscope_units::{Bytes, Nanos};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests of several parts in turn, and flushes between them.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Pattern {
    /// Time that the device was left alone before it.
    pub rest_ns: u64,
    /// How often all parts were done, one after the other.
    pub rounds: u32,
    /// A flush followed each such number of rounds; 0: none.
    pub flush_every: u32,
    /// Whether each write had to be durable when it completed.
    pub durable: bool,
    /// What one round consisted of.
    pub parts: Vec<Part>,
    /// Service times of the flushes, in the order of issue.
    pub flush_service_time_ns: Vec<u64>,
}

/// Requests of one kind in one region.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Part {
    /// Reads or writes.
    pub direction: Direction,
    /// Sequential over and over, or at places drawn anew for each request.
    pub order: Order,
    /// Size of each request.
    pub block_bytes: u64,
    /// Start of the region.
    pub start_bytes: u64,
    /// Its length.
    pub length_bytes: u64,
    /// Requests in one round.
    pub requests: u32,
    /// Service times of all rounds, in the order of issue.
    pub service_time_ns: Vec<u64>,
}

impl Pattern {
    pub(super) fn from_model(times: &seen::PatternTimes) -> Pattern {
        let plan::Pattern { rest, rounds, flush_every, durable, parts } = &times.pattern;
        let part = |(part, times): (&plan::PatternPart, &Vec<Nanos>)| Part {
            direction: part.direction.into(),
            order: part.order.into(),
            block_bytes: part.block.get(),
            start_bytes: part.start.get(),
            length_bytes: part.length.get(),
            requests: part.requests,
            service_time_ns: ns(times),
        };
        Pattern {
            rest_ns: rest.get(),
            rounds: *rounds,
            flush_every: *flush_every,
            durable: *durable,
            parts: parts.iter().zip(&times.times).map(part).collect(),
            flush_service_time_ns: ns(&times.flushes),
        }
    }

    pub(super) fn into_model(self) -> seen::PatternTimes {
        let part = |part: &Part| plan::PatternPart {
            direction: part.direction.into(),
            order: part.order.into(),
            block: Bytes(part.block_bytes),
            start: Bytes(part.start_bytes),
            length: Bytes(part.length_bytes),
            requests: part.requests,
        };
        let pattern = plan::Pattern {
            rest: Nanos(self.rest_ns),
            rounds: self.rounds,
            flush_every: self.flush_every,
            durable: self.durable,
            parts: self.parts.iter().map(part).collect(),
        };
        let times = self.parts.into_iter().map(|part| nanos(part.service_time_ns)).collect();
        seen::PatternTimes { pattern, times, flushes: nanos(self.flush_service_time_ns) }
    }
}
