//! What the experiments on the inside of a controller saw.

use super::printed::{nanos, ns};
use flashscope_model::{observation as seen, plan};
use flashscope_units::{Bytes, Nanos};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Writes in order after a rest.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Stretch {
    /// Nothing was asked of the device for so long before.
    pub idle_ns: u64,
    /// Start of what was to be written.
    pub start_bytes: u64,
    /// How much was to be written.
    pub length_bytes: u64,
    /// Service times in the order of issue.
    pub service_time_ns: Vec<u64>,
}

/// Reads handed over together, at several places.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Fan {
    /// How many reads.
    pub reads: u32,
    /// Distance of neighbours.
    pub stride_bytes: u64,
    /// The first one is at a multiple of this.
    pub align_bytes: u64,
    /// From the issue of the first read to the completion of the last, one per place.
    pub response_time_ns: Vec<u64>,
}

/// Random reads within one range.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Range {
    /// Its length.
    pub length_bytes: u64,
    /// Service times in the order of issue.
    pub service_time_ns: Vec<u64>,
}

impl Stretch {
    pub(crate) fn from_model(burst: &seen::StretchTimes) -> Stretch {
        Stretch {
            idle_ns: burst.burst.idle.get(),
            start_bytes: burst.burst.span.start.get(),
            length_bytes: burst.burst.span.length.get(),
            service_time_ns: ns(&burst.times),
        }
    }

    pub(crate) fn into_model(self) -> seen::StretchTimes {
        let span = plan::Span { start: Bytes(self.start_bytes), length: Bytes(self.length_bytes) };
        let burst = plan::Stretch { idle: Nanos(self.idle_ns), span };
        seen::StretchTimes { burst, times: nanos(self.service_time_ns) }
    }
}

impl Fan {
    pub(crate) fn from_model(fan: &seen::FanTimes) -> Fan {
        Fan {
            reads: fan.fan.reads,
            stride_bytes: fan.fan.stride.get(),
            align_bytes: fan.fan.align.get(),
            response_time_ns: ns(&fan.times),
        }
    }

    pub(crate) fn into_model(self) -> seen::FanTimes {
        let fan = plan::Fan { reads: self.reads, stride: Bytes(self.stride_bytes), align: Bytes(self.align_bytes) };
        seen::FanTimes { fan, times: nanos(self.response_time_ns) }
    }
}

impl Range {
    pub(crate) fn from_model(range: &seen::RangeTimes) -> Range {
        Range { length_bytes: range.length.get(), service_time_ns: ns(&range.times) }
    }

    pub(crate) fn into_model(self) -> seen::RangeTimes {
        seen::RangeTimes { length: Bytes(self.length_bytes), times: nanos(self.service_time_ns) }
    }
}
