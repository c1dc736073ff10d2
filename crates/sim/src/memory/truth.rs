//! What a perfect observer would report of the memory. Only scoring may read it.

use crate::model::{Mapping, Model};
use crate::truth::Fact;
use flashscope_units::{Bytes, Nanos};
use std::fmt;

/// What is true of the memory between link and flash.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryTruth {
    /// What is taken before a write has to wait; no value: there is none.
    pub write_buffer: Fact<BufferTruth>,
    /// Whether a power cut loses it.
    pub volatile: Fact<bool>,
    /// Whether a read waits until it is written out.
    pub flushed_by_read: Fact<bool>,
    /// Rest after which it is written out by itself; no value: never.
    pub flush_window: Fact<Nanos>,
    /// Bytes that were read last and are at hand; no value: there is no such buffer.
    pub read_buffer: Fact<Bytes>,
    /// Bytes fetched ahead, and the reads in a row that it takes; no value: none.
    pub read_ahead: Fact<AheadTruth>,
}

/// A write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferTruth {
    /// Bytes that fit.
    pub bytes: Bytes,
    /// Writes that fit, however short; absent where only bytes count.
    pub entries: Option<u32>,
}

/// Reading ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AheadTruth {
    /// How far.
    pub window: Bytes,
    /// Reads in a row, the first one included.
    pub trigger: u32,
}

/// Why a figure of a memory is hidden that is not there.
const NONE: &str = "there is none";

/// The truth of a model.
pub(crate) fn of(model: &Model) -> MemoryTruth {
    let known = |is: Option<bool>| is.map_or(Fact::hidden(None, NONE), Fact::known);
    let own = match &model.mapping {
        Mapping::PageMap(params) => Some(&params.buffer),
        Mapping::AuLog(_) => None,
    };
    let card = model.write_buffer.as_ref();
    let buffer =
        card.map(|buffer| BufferTruth { bytes: buffer.size, entries: (buffer.entries > 0).then_some(buffer.entries) });
    let buffer = buffer.or(own.map(|buffer| BufferTruth { bytes: buffer.size, entries: None }));
    MemoryTruth {
        write_buffer: buffer.map_or(Fact::known_none(), Fact::known),
        volatile: known(card.map(|buffer| buffer.volatile).or(own.map(|buffer| buffer.volatile))),
        flushed_by_read: known(card.map(|buffer| buffer.flushed_by_read).or(own.map(|_| false))),
        flush_window: match card.map(|buffer| buffer.window) {
            Some(window) if window > Nanos::ZERO => Fact::known(window),
            _ => Fact::hidden(None, NONE),
        },
        read_buffer: model.read_buffer.as_ref().map_or(Fact::known_none(), |buffer| Fact::known(buffer.size)),
        read_ahead: model.read_ahead.as_ref().map_or(Fact::known_none(), |ahead| {
            Fact::known(AheadTruth { window: ahead.window, trigger: ahead.trigger })
        }),
    }
}

impl fmt::Display for BufferTruth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.entries {
            Some(entries) => write!(f, "{entries} writes, at most {}", self.bytes),
            None => write!(f, "{}", self.bytes),
        }
    }
}

impl fmt::Display for AheadTruth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} behind {} reads in a row", self.window, self.trigger)
    }
}
