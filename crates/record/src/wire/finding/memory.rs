//! What was concluded of the memory between link and flash, and of stalls. Records of the first versions do not have
//! these fields: what is absent there is unknown.

use crate::RecordError;
use crate::wire::{
    CollectionEstimate, FlagEstimate, ReadAheadEstimate, SizeEstimate, TimeEstimate, WriteBufferEstimate,
};
use flashscope_model::finding;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Buffers, read-ahead and stalls.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// What the device takes before a write has to wait for the flash.
    #[serde(default)]
    pub write_buffer: WriteBufferEstimate,
    /// Whether a power cut loses what the write buffer holds.
    #[serde(default)]
    pub write_buffer_volatile: FlagEstimate,
    /// Whether a read makes the device write its buffer out first.
    #[serde(default)]
    pub write_buffer_flushed_by_read: FlagEstimate,
    /// How long the device must be left alone until it writes its buffer out by itself.
    #[serde(default)]
    pub write_buffer_flush_window: TimeEstimate,
    /// Bytes read last that are answered without the flash.
    #[serde(default)]
    pub read_buffer: SizeEstimate,
    /// What the device reads before it is asked.
    #[serde(default)]
    pub read_ahead: ReadAheadEstimate,
    /// Stalls in which the device does work of its own while a write waits.
    #[serde(default)]
    pub collection: CollectionEstimate,
}

impl Memory {
    pub(crate) fn from_model(memory: &finding::Memory) -> Memory {
        Memory {
            write_buffer: WriteBufferEstimate::from_model(&memory.write_buffer),
            write_buffer_volatile: FlagEstimate::from_model(&memory.write_buffer_volatile),
            write_buffer_flushed_by_read: FlagEstimate::from_model(&memory.write_buffer_flushed_by_read),
            write_buffer_flush_window: TimeEstimate::from_model(&memory.write_buffer_flush_window),
            read_buffer: SizeEstimate::from_model(&memory.read_buffer),
            read_ahead: ReadAheadEstimate::from_model(&memory.read_ahead),
            collection: CollectionEstimate::from_model(&memory.collection),
        }
    }

    pub(crate) fn into_model(self) -> Result<finding::Memory, RecordError> {
        Ok(finding::Memory {
            write_buffer: self.write_buffer.into_model("geometry.write_buffer")?,
            write_buffer_volatile: self.write_buffer_volatile.into_model("geometry.write_buffer_volatile")?,
            write_buffer_flushed_by_read: self
                .write_buffer_flushed_by_read
                .into_model("geometry.write_buffer_flushed_by_read")?,
            write_buffer_flush_window: self
                .write_buffer_flush_window
                .into_model("geometry.write_buffer_flush_window")?,
            read_buffer: self.read_buffer.into_model("geometry.read_buffer")?,
            read_ahead: self.read_ahead.into_model("geometry.read_ahead")?,
            collection: self.collection.into_model("geometry.collection")?,
        })
    }
}
