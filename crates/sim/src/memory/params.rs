//! `[write_buffer]`, `[read_buffer]` and `[read_ahead]` of a model file. A section that is left out: there is none.

use crate::model::{Mapping, Model};
use crate::range::{BLOCK, BLOCK_OR_NONE, PAUSE, ranges};
use crate::text;
use flashscope_units::{Bytes, Nanos};
use serde::Deserialize;

/// Memory that takes writes before the flash does.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteBufferParams {
    /// Bytes that it holds. A longer write goes past it.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) size: Bytes,
    /// Writes that it holds, however short; 0: as many as there are bytes for.
    pub(crate) entries: u32,
    /// When it is written out.
    pub(crate) flush: FlushPolicy,
    /// Time behind the last write after which it is written out whole; 0 s: it is not. Nothing where it is written out steadily.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) window: Nanos,
    /// Whether a read has to wait until it is written out.
    pub(crate) flushed_by_read: bool,
    /// Whether a power cut loses it: durable writes go past it, and a flush writes it out.
    pub(crate) volatile: bool,
}

ranges!(WriteBufferParams { size: BLOCK, entries: 0..=1 << 20, flush, window: PAUSE, flushed_by_read, volatile });

/// When a write buffer is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FlushPolicy {
    /// All of it, when a write finds no room.
    Whole,
    /// The oldest first, as soon as the flash is free.
    Steady,
}

/// Memory that keeps what was read last.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadBufferParams {
    /// Bytes that it holds.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) size: Bytes,
    /// What comes in and leaves as one: a page where it is the register of the flash.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) line: Bytes,
}

ranges!(ReadBufferParams { size: BLOCK, line: BLOCK });

/// Reading what was not asked for yet.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadAheadParams {
    /// Bytes behind the last read that are fetched.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) window: Bytes,
    /// Reads in a row, the first one included, before it begins.
    pub(crate) trigger: u32,
    /// Fetched in steps of this size, each there as soon as it is done.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) step: Bytes,
}

ranges!(ReadAheadParams { window: BLOCK_OR_NONE, trigger: 1..=1 << 20, step: BLOCK });

/// Says what does not fit together.
pub(crate) fn validate(model: &Model) -> Result<(), String> {
    if let Some(buffer) = &model.write_buffer {
        if matches!(model.mapping, Mapping::PageMap(_)) {
            return Err(
                "write_buffer.size: a page-mapped drive has a buffer of its own, mapping.buffer.size".to_owned()
            );
        }
        if buffer.size < model.device.logical_block {
            return Err(format!("write_buffer.size ({}) must hold a logical block", buffer.size));
        }
    }
    if let Some(buffer) = &model.read_buffer
        && !buffer.size.is_multiple_of(buffer.line)
    {
        return Err(format!(
            "read_buffer.size ({}) must be a multiple of read_buffer.line ({})",
            buffer.size, buffer.line
        ));
    }
    if let Some(ahead) = &model.read_ahead
        && !ahead.window.is_multiple_of(ahead.step)
    {
        return Err(format!(
            "read_ahead.window ({}) must be a multiple of read_ahead.step ({})",
            ahead.window, ahead.step
        ));
    }
    Ok(())
}
