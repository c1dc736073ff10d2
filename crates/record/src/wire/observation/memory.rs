//! What was seen of the memory between link and flash.

use crate::wire::Then;
use crate::wire::printed::{nanos, ns};
use flashscope_model::observation as seen;
use flashscope_units::{Bytes, Nanos};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One burst of writes into an empty buffer.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Burst {
    /// Service times of the writes in the order of issue.
    pub service_time_ns: Vec<u64>,
    /// Time between the last write and what came behind it.
    pub pause_ns: u64,
    /// What came behind it.
    pub then: Then,
    /// Its service time; null where it failed.
    pub then_service_time_ns: Option<u64>,
}

/// A block read again.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Reread {
    /// Bytes read since and with the first read of the block.
    pub span_bytes: u64,
    /// Service times of the second read.
    pub again_service_time_ns: Vec<u64>,
    /// Service times of a block that was not read before.
    pub fresh_service_time_ns: Vec<u64>,
}

/// A run of blocks.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct BlockRun {
    /// Service times by index.
    pub service_time_ns: Vec<u64>,
}

/// A read behind the end of a run in order.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Ahead {
    /// From the end of the run to the start of the block.
    pub distance_bytes: u64,
    /// Service times.
    pub service_time_ns: Vec<u64>,
}

impl Burst {
    pub(crate) fn from_model(burst: &seen::BurstTimes) -> Burst {
        Burst {
            service_time_ns: ns(&burst.writes),
            pause_ns: burst.pause.get(),
            then: burst.then.into(),
            then_service_time_ns: burst.after.map(Nanos::get),
        }
    }

    pub(crate) fn into_model(self) -> seen::BurstTimes {
        seen::BurstTimes {
            writes: nanos(self.service_time_ns),
            pause: Nanos(self.pause_ns),
            then: self.then.into(),
            after: self.then_service_time_ns.map(Nanos),
        }
    }
}

impl Reread {
    pub(crate) fn from_model(reread: &seen::Reread) -> Reread {
        Reread {
            span_bytes: reread.span.get(),
            again_service_time_ns: ns(&reread.again),
            fresh_service_time_ns: ns(&reread.fresh),
        }
    }

    pub(crate) fn into_model(self) -> seen::Reread {
        seen::Reread {
            span: Bytes(self.span_bytes),
            again: nanos(self.again_service_time_ns),
            fresh: nanos(self.fresh_service_time_ns),
        }
    }
}

impl Ahead {
    pub(crate) fn from_model(ahead: &seen::Ahead) -> Ahead {
        Ahead { distance_bytes: ahead.distance.get(), service_time_ns: ns(&ahead.times) }
    }

    pub(crate) fn into_model(self) -> seen::Ahead {
        seen::Ahead { distance: Bytes(self.distance_bytes), times: nanos(self.service_time_ns) }
    }
}
