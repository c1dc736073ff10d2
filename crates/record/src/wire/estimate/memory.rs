//! Estimates of the memory between link and flash, and of stalls.

use super::{NOT_LOOKED_FOR, method, nothing};
use crate::RecordError;
use crate::wire::BufferLimit;
use flashscope_model::{Estimate, finding};
use flashscope_units::{Bytes, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

estimate! {
    /// Whether something is so.
    FlagEstimate, FlagAlternative of bool, bounds bool {
        /// Whether it is so.
        yes: bool,
    }
    split |yes| (yes,), join |(yes,)| yes, bound |yes| yes, unbound |yes| yes
}

estimate! {
    /// An estimated length of time.
    TimeEstimate, TimeAlternative of Nanos, bounds u64 {
        /// The time.
        ns: u64,
    }
    split |time| (time.get(),), join |(ns,)| Nanos(ns), bound Nanos::get, unbound Nanos
}

estimate! {
    /// A buffer that takes writes before the flash does. As `at_most`: none that holds more.
    WriteBufferEstimate, WriteBufferAlternative of finding::WriteBuffer, bounds WriteBufferFigure {
        /// What it holds in writes of `at_block_bytes`.
        bytes: u64,
        /// What limits it.
        limited_by: BufferLimit,
        /// Size of the writes that it was filled with.
        at_block_bytes: u64,
        /// So many of them fit.
        writes: u32,
    }
    split |buffer| (buffer.size.get(), buffer.limit.into(), buffer.block.get(), buffer.writes),
    join |(bytes, limit, block, writes)| finding::WriteBuffer {
        size: Bytes(bytes), limit: limit.into(), block: Bytes(block), writes,
    },
    bound WriteBufferFigure::from_model, unbound WriteBufferFigure::into_model
}

estimate! {
    /// What a device reads before it is asked. A window of 0 bytes: it does not.
    ReadAheadEstimate, ReadAheadAlternative of finding::ReadAhead, bounds ReadAheadFigure {
        /// Bytes behind the last read that are there before they are asked for.
        window_bytes: u64,
        /// Reads in a row after which it begins, the first one included.
        trigger_reads: u32,
    }
    split |ahead| (ahead.window.get(), ahead.trigger),
    join |(window, trigger)| finding::ReadAhead { window: Bytes(window), trigger },
    bound ReadAheadFigure::from_model, unbound ReadAheadFigure::into_model
}

estimate! {
    /// Stalls in which the device does work of its own while a write waits.
    CollectionEstimate, CollectionAlternative of finding::Collection, bounds CollectionFigure {
        /// Median length of a stall, beyond what such a write takes else.
        stall_ns_p50: u64,
        /// Shortest stall seen.
        stall_ns_min: u64,
        /// Longest stall seen.
        stall_ns_max: u64,
        /// Bytes written in order from one stall to the next, on average.
        spacing_bytes: u64,
    }
    split |found| (found.stall.get(), found.shortest.get(), found.longest.get(), found.spacing.get()),
    join |(stall, shortest, longest, spacing)| finding::Collection {
        stall: Nanos(stall), shortest: Nanos(shortest), longest: Nanos(longest), spacing: Bytes(spacing),
    },
    bound CollectionFigure::from_model, unbound CollectionFigure::into_model
}

/// A write buffer as a bound.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WriteBufferFigure {
    /// What it holds in writes of `at_block_bytes`.
    pub bytes: u64,
    /// What limits it.
    pub limited_by: BufferLimit,
    /// Size of the writes that it was filled with.
    pub at_block_bytes: u64,
    /// So many of them fit.
    pub writes: u32,
}

/// Reading ahead as a bound.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReadAheadFigure {
    /// Bytes behind the last read that are there before they are asked for.
    pub window_bytes: u64,
    /// Reads in a row after which it begins, the first one included.
    pub trigger_reads: u32,
}

/// Stalls as a bound.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CollectionFigure {
    /// Median length of a stall, beyond what such a write takes else.
    pub stall_ns_p50: u64,
    /// Shortest stall seen.
    pub stall_ns_min: u64,
    /// Longest stall seen.
    pub stall_ns_max: u64,
    /// Bytes written in order from one stall to the next, on average.
    pub spacing_bytes: u64,
}

impl WriteBufferFigure {
    fn from_model(buffer: finding::WriteBuffer) -> WriteBufferFigure {
        WriteBufferFigure {
            bytes: buffer.size.get(),
            limited_by: buffer.limit.into(),
            at_block_bytes: buffer.block.get(),
            writes: buffer.writes,
        }
    }

    fn into_model(self) -> finding::WriteBuffer {
        finding::WriteBuffer {
            size: Bytes(self.bytes),
            limit: self.limited_by.into(),
            block: Bytes(self.at_block_bytes),
            writes: self.writes,
        }
    }
}

impl ReadAheadFigure {
    fn from_model(ahead: finding::ReadAhead) -> ReadAheadFigure {
        ReadAheadFigure { window_bytes: ahead.window.get(), trigger_reads: ahead.trigger }
    }

    fn into_model(self) -> finding::ReadAhead {
        finding::ReadAhead { window: Bytes(self.window_bytes), trigger: self.trigger_reads }
    }
}

impl CollectionFigure {
    fn from_model(found: finding::Collection) -> CollectionFigure {
        CollectionFigure {
            stall_ns_p50: found.stall.get(),
            stall_ns_min: found.shortest.get(),
            stall_ns_max: found.longest.get(),
            spacing_bytes: found.spacing.get(),
        }
    }

    fn into_model(self) -> finding::Collection {
        finding::Collection {
            stall: Nanos(self.stall_ns_p50),
            shortest: Nanos(self.stall_ns_min),
            longest: Nanos(self.stall_ns_max),
            spacing: Bytes(self.spacing_bytes),
        }
    }
}
