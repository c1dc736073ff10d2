//! What was concluded of the memory between the link and the flash, and of the stalls that collection makes.

use super::Estimate;
use flashscope_units::{Bytes, Nanos};

/// The memory of a device, and its stalls.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// What the device takes before a write has to wait for the flash. As an upper bound: none that holds more.
    pub write_buffer: Estimate<WriteBuffer>,
    /// Whether a power cut loses what the write buffer holds: durable writes and flushes wait for the flash.
    pub write_buffer_volatile: Estimate<bool>,
    /// Whether a read makes the device write its buffer out first.
    pub write_buffer_flushed_by_read: Estimate<bool>,
    /// How long the device must be left alone until it writes its buffer out by itself.
    pub write_buffer_flush_window: Estimate<Nanos>,
    /// Bytes read last that are answered without the flash. As an upper bound: none that holds more.
    pub read_buffer: Estimate<Bytes>,
    /// What the device reads before it is asked. With a window of nothing there is none.
    pub read_ahead: Estimate<ReadAhead>,
    /// Stalls in which the device does work of its own while a write waits.
    pub collection: Estimate<Collection>,
}

/// A write buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteBuffer {
    /// What it holds in writes of `block`.
    pub size: Bytes,
    /// What limits it.
    pub limit: BufferLimit,
    /// Size of the writes that it was filled with.
    pub block: Bytes,
    /// So many of them fit.
    pub writes: u32,
}

/// What a write buffer runs out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferLimit {
    /// Bytes: larger writes, fewer of them.
    Bytes,
    /// Entries: so many writes, whatever their size.
    Entries,
    /// Only one size was tried, so nobody knows.
    Unknown,
}

/// Reading ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadAhead {
    /// Bytes behind the last read that are there before they are asked for; zero: it does not read ahead.
    pub window: Bytes,
    /// Reads in a row, the first one included, after which it begins.
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
    /// Bytes written in order from one stall to the next, on average.
    pub spacing: Bytes,
}

impl Memory {
    /// Nothing is known, for one reason.
    pub fn unknown(reason: &str) -> Memory {
        Memory {
            write_buffer: Estimate::unknown(reason),
            write_buffer_volatile: Estimate::unknown(reason),
            write_buffer_flushed_by_read: Estimate::unknown(reason),
            write_buffer_flush_window: Estimate::unknown(reason),
            read_buffer: Estimate::unknown(reason),
            read_ahead: Estimate::unknown(reason),
            collection: Estimate::unknown(reason),
        }
    }
}
