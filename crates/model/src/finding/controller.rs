//! What was concluded of a controller beyond units and pages: its buffers, its stalls, its cache of fast cells, its mapping.

use super::reason::words;
use flashscope_units::{ByteRate, Bytes, Nanos};

/// A write buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteBuffer {
    /// What it holds in writes of `block`.
    pub size: Bytes,
    /// What limits it.
    pub limit: BufferLimit,
    /// Size of the writes that it was filled with.
    pub block: Bytes,
    /// How many of them fit.
    pub writes: u32,
}

words! {
    /// What a write buffer runs out of.
    BufferLimit {
        /// Bytes: larger writes, fewer of them.
        Bytes = "bytes",
        /// Entries: a number of writes, whatever their size.
        Entries = "entries",
        /// Only one size was tried, so nobody knows.
        Unknown = "unknown",
    }
}

/// Reading ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadAhead {
    /// Bytes behind the last read that are there before they are asked for; zero: it does not read ahead.
    pub window: Bytes,
    /// Sequential reads, the first one included, after which it begins.
    pub trigger: u32,
}

/// Stalls of collection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collection {
    /// Median length of a stall, beyond what such a write takes else.
    pub stall: Nanos,
    /// Shortest stall seen.
    pub shortest: Nanos,
    /// Longest stall seen.
    pub longest: Nanos,
    /// Bytes written sequentially from one stall to the next, on average.
    pub spacing: Bytes,
}

words! {
    /// How addresses are mapped.
    MappingKind {
        /// Every page can lie anywhere: neither order nor the number of places written in turn matters.
        Page = "page",
        /// Units are mapped as wholes; an open one has a log that takes its writes in any order.
        UnitLog = "unit_log",
        /// Units are mapped as wholes; an open one takes sequential writes, and any other is merged at once.
        UnitInOrder = "unit_in_order",
        /// None of these fits what was seen.
        Other = "other",
    }
}

/// A part of the flash that is written with one bit per cell first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlcCache {
    /// Data that it takes before the rate falls. In a bound: there is no smaller one, or none at all.
    pub size: Bytes,
    /// Rate of long writes while it takes them.
    pub cached: ByteRate,
    /// Rate when it is full; in a bound the same as `cached`, as no fall was seen.
    pub after: ByteRate,
    /// Whether its size depends on how full the device is.
    pub kind: SlcKind,
}

words! {
    /// Whether the size of an SLC cache depends on how full the device is.
    SlcKind {
        /// Nobody tried at different fills.
        Untested = "untested",
        /// The same at every fill that was tried.
        Static = "static",
        /// Smaller on a fuller device.
        Dynamic = "dynamic",
    }
}
