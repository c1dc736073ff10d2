//! The inside of a controller beyond units and pages: what was concluded, and what the experiments on it saw.

use super::estimate::{CountEstimate, MappingEstimate, RatioEstimate, SizeEstimate, SlcCacheEstimate, TimeEstimate};
use super::printed::{nanos, ns};
use crate::RecordError;
use flashscope_model::{self as model, observation as seen, plan};
use flashscope_units::{Bytes, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The inside of a controller beyond units and pages. Unknown in records of versions that did not ask.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DriveFindings {
    /// How addresses are mapped.
    #[serde(default)]
    pub mapping: MappingEstimate,
    /// Data that one row over all parallel units holds.
    #[serde(default)]
    pub stripe: SizeEstimate,
    /// Units that read at the same time: channels times chips.
    #[serde(default)]
    pub parallel_units: CountEstimate,
    /// Channels that lead to these units.
    #[serde(default)]
    pub channels: CountEstimate,
    /// Part of the flash that is written with one bit per cell first.
    #[serde(default)]
    pub slc_cache: SlcCacheEstimate,
    /// Idleness after which a full SLC cache takes as much as before.
    #[serde(default)]
    pub slc_cache_recovery: TimeEstimate,
    /// How much of the device the part of the map in memory stands for.
    #[serde(default)]
    pub map_reach: SizeEstimate,
    /// Bits per cell.
    #[serde(default)]
    pub bits_per_cell: CountEstimate,
    /// Units written to the flash per unit that the host writes, under random overwriting of all of it.
    #[serde(default)]
    pub write_amplification: RatioEstimate,
    /// Physical over user capacity.
    #[serde(default)]
    pub physical_over_user: RatioEstimate,
}

/// Writes in order after a rest.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Range {
    /// Its length.
    pub length_bytes: u64,
    /// Service times in the order of issue.
    pub service_time_ns: Vec<u64>,
}

impl DriveFindings {
    pub(crate) fn from_model(drive: &model::DriveFindings) -> DriveFindings {
        DriveFindings {
            mapping: MappingEstimate::from_model(&drive.mapping),
            stripe: SizeEstimate::from_model(&drive.stripe),
            parallel_units: CountEstimate::from_model(&drive.parallel_units),
            channels: CountEstimate::from_model(&drive.channels),
            slc_cache: SlcCacheEstimate::from_model(&drive.slc_cache),
            slc_cache_recovery: TimeEstimate::from_model(&drive.slc_cache_recovery),
            map_reach: SizeEstimate::from_model(&drive.map_reach),
            bits_per_cell: CountEstimate::from_model(&drive.bits_per_cell),
            write_amplification: RatioEstimate::from_model(&drive.write_amplification),
            physical_over_user: RatioEstimate::from_model(&drive.physical_over_user),
        }
    }

    pub(crate) fn into_model(self) -> Result<model::DriveFindings, RecordError> {
        Ok(model::DriveFindings {
            mapping: self.mapping.into_model("geometry.mapping")?,
            stripe: self.stripe.into_model("geometry.stripe")?,
            parallel_units: self.parallel_units.into_model("geometry.parallel_units")?,
            channels: self.channels.into_model("geometry.channels")?,
            slc_cache: self.slc_cache.into_model("geometry.slc_cache")?,
            slc_cache_recovery: self.slc_cache_recovery.into_model("geometry.slc_cache_recovery")?,
            map_reach: self.map_reach.into_model("geometry.map_reach")?,
            bits_per_cell: self.bits_per_cell.into_model("geometry.bits_per_cell")?,
            write_amplification: self.write_amplification.into_model("geometry.write_amplification")?,
            physical_over_user: self.physical_over_user.into_model("geometry.physical_over_user")?,
        })
    }
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
