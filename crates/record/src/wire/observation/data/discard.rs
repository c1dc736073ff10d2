//! One discard.

use flashscope_model::discard;
use flashscope_units::{Bytes, Nanos};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One discard, and what was read behind it.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct DiscardTrial {
    /// How much was discarded.
    pub size_bytes: u64,
    /// Service time of the command.
    pub service_time_ns: u64,
    /// The byte that a logical block in the middle of it then held throughout; null where it held something else.
    pub uniform_byte: Option<u8>,
    /// How much of it still held what was written at its start, and at its end; null where that was not looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_bytes: Option<[u64; 2]>,
    /// Service time of a read of the block in the middle.
    pub read_service_time_ns: u64,
    /// Service time of a read of the block right behind, which was not discarded.
    pub read_behind_service_time_ns: u64,
}

impl DiscardTrial {
    pub(crate) fn from_model(trial: &discard::DiscardTrial) -> DiscardTrial {
        DiscardTrial {
            size_bytes: trial.size.get(),
            service_time_ns: trial.time.get(),
            uniform_byte: trial.uniform,
            kept_bytes: trial.kept.map(|(start, end)| [start.get(), end.get()]),
            read_service_time_ns: trial.read.get(),
            read_behind_service_time_ns: trial.read_behind.get(),
        }
    }

    pub(crate) fn into_model(self) -> discard::DiscardTrial {
        discard::DiscardTrial {
            size: Bytes(self.size_bytes),
            time: Nanos(self.service_time_ns),
            uniform: self.uniform_byte,
            kept: self.kept_bytes.map(|[start, end]| (Bytes(start), Bytes(end))),
            read: Nanos(self.read_service_time_ns),
            read_behind: Nanos(self.read_behind_service_time_ns),
        }
    }
}
