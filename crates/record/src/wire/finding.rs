//! What was concluded.

mod memory;

pub use memory::Memory;

use super::{
    AreaEstimate, AreaPartsEstimate, CountEstimate, Direction, DriveFindings, Order, PenaltyEstimate, RatioEstimate,
    Severity, SizeEstimate, UpToEstimate,
};
use crate::RecordError;
use flashscope_model::{self as model, finding};
use flashscope_units::{ByteRate, Bytes, Contrast, Iops, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a device is built.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Geometry {
    /// What the controller erases, maps and collects as one.
    pub allocation_unit: SizeEstimate,
    /// Where the first unit begins: 0 where units are multiples of their size. Unknown in records that did not ask.
    #[serde(default)]
    pub boundary_offset: SizeEstimate,
    /// Effective page: read or programmed at once.
    pub page: SizeEstimate,
    /// A page level inside the effective page, where one shows.
    pub page_inner: SizeEstimate,
    /// Units that can be half-written at once when each is written in order.
    pub open_units_linear: CountEstimate,
    /// The same when each is written at random.
    pub open_units_random: CountEstimate,
    /// In-order rate over random rate within one unit.
    pub random_order_penalty: PenaltyEstimate,
    /// Writes up to this size take another way through the controller.
    pub small_write_path: UpToEstimate,
    /// Units at the start that behave differently.
    pub fast_area: AreaEstimate,
    /// The stretches of such an area that are built or handled alike. Unknown in records that did not ask.
    #[serde(default)]
    pub fast_area_parts: AreaPartsEstimate,
    /// Share of the device that answers without touching the flash.
    pub never_written: RatioEstimate,
    /// Buffers, read-ahead and stalls.
    #[serde(flatten)]
    pub memory: Memory,
    /// The inside of the controller beyond units and pages.
    #[serde(flatten)]
    pub drive: DriveFindings,
}

/// Access time plus size over throughput: the line through minimum read times.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TransferLine {
    /// Time at size zero; negative where the line says so.
    pub access_ns: f64,
    /// Slope as a rate.
    pub rate_bytes_per_s: f64,
    /// The sizes and how far each lies off the line.
    pub residuals: Vec<TransferResidual>,
}

/// One size of a transfer line.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TransferResidual {
    /// Size of one read.
    pub size_bytes: u64,
    /// Shortest service time.
    pub service_time_ns_min: u64,
    /// That time less the line; may be negative.
    pub residual_ns: f64,
}

/// One cell of the performance table.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PerformanceCell {
    /// Reads or writes.
    pub direction: Direction,
    /// In order or at random.
    pub order: Order,
    /// Block size.
    pub block_bytes: u64,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Requests measured.
    pub requests: u32,
    /// Median service time.
    pub service_time_ns_p50: u64,
    /// Lower end of its 95 % interval.
    pub service_time_ns_p50_low: u64,
    /// Upper end of its 95 % interval.
    pub service_time_ns_p50_high: u64,
    /// 99th percentile; null where there are too few requests to tell.
    pub service_time_ns_p99: Option<u64>,
    /// Longest service time.
    pub service_time_ns_max: u64,
    /// All bytes over all the time.
    pub rate_bytes_per_s_mean: f64,
    /// Requests per second over all the time.
    pub iops_mean: f64,
}

/// Something to type, and why.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// What it is about.
    pub topic: String,
    /// The command or the instruction.
    pub text: String,
    /// The finding that it rests on.
    pub because: String,
}

/// A remark on the run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// How grave.
    pub severity: Severity,
    /// The remark.
    pub text: String,
    /// What to do about it; null where there is nothing to do.
    pub hint: Option<String>,
}

impl Geometry {
    pub(crate) fn from_model(geometry: &model::Geometry) -> Geometry {
        Geometry {
            allocation_unit: SizeEstimate::from_model(&geometry.allocation_unit),
            boundary_offset: SizeEstimate::from_model(&geometry.boundary_offset),
            page: SizeEstimate::from_model(&geometry.page),
            page_inner: SizeEstimate::from_model(&geometry.page_inner),
            open_units_linear: CountEstimate::from_model(&geometry.open_units_linear),
            open_units_random: CountEstimate::from_model(&geometry.open_units_random),
            random_order_penalty: PenaltyEstimate::from_model(&geometry.random_order_penalty),
            small_write_path: UpToEstimate::from_model(&geometry.small_write_path),
            fast_area: AreaEstimate::from_model(&geometry.fast_area),
            fast_area_parts: AreaPartsEstimate::from_model(&geometry.fast_area_parts),
            never_written: RatioEstimate::from_model(&geometry.never_written),
            memory: Memory::from_model(&geometry.memory),
            drive: DriveFindings::from_model(&geometry.drive),
        }
    }

    pub(crate) fn into_model(self) -> Result<model::Geometry, RecordError> {
        Ok(model::Geometry {
            allocation_unit: self.allocation_unit.into_model("geometry.allocation_unit")?,
            boundary_offset: self.boundary_offset.into_model("geometry.boundary_offset")?,
            page: self.page.into_model("geometry.page")?,
            page_inner: self.page_inner.into_model("geometry.page_inner")?,
            open_units_linear: self.open_units_linear.into_model("geometry.open_units_linear")?,
            open_units_random: self.open_units_random.into_model("geometry.open_units_random")?,
            random_order_penalty: self.random_order_penalty.into_model("geometry.random_order_penalty")?,
            small_write_path: self.small_write_path.into_model("geometry.small_write_path")?,
            fast_area: self.fast_area.into_model("geometry.fast_area")?,
            fast_area_parts: self.fast_area_parts.into_model("geometry.fast_area_parts")?,
            never_written: self.never_written.into_model("geometry.never_written")?,
            memory: self.memory.into_model()?,
            drive: self.drive.into_model()?,
        })
    }
}

impl TransferLine {
    pub(crate) fn from_model(line: &finding::TransferLine) -> TransferLine {
        let residual = |&(size, time, residual): &(Bytes, Nanos, Contrast)| TransferResidual {
            size_bytes: size.get(),
            service_time_ns_min: time.get(),
            residual_ns: residual.get(),
        };
        TransferLine {
            access_ns: line.access.get(),
            rate_bytes_per_s: line.rate.get(),
            residuals: line.residuals.iter().map(residual).collect(),
        }
    }

    pub(crate) fn into_model(self) -> finding::TransferLine {
        let residual =
            |row: TransferResidual| (Bytes(row.size_bytes), Nanos(row.service_time_ns_min), Contrast(row.residual_ns));
        finding::TransferLine {
            access: Contrast(self.access_ns),
            rate: ByteRate(self.rate_bytes_per_s),
            residuals: self.residuals.into_iter().map(residual).collect(),
        }
    }
}

impl PerformanceCell {
    pub(crate) fn from_model(cell: &finding::PerformanceCell) -> PerformanceCell {
        PerformanceCell {
            direction: cell.direction.into(),
            order: cell.order.into(),
            block_bytes: cell.block.get(),
            queue_depth: cell.queue_depth,
            requests: cell.requests,
            service_time_ns_p50: cell.service_time.value.get(),
            service_time_ns_p50_low: cell.service_time.low.get(),
            service_time_ns_p50_high: cell.service_time.high.get(),
            service_time_ns_p99: cell.service_time_p99.map(Nanos::get),
            service_time_ns_max: cell.service_time_max.get(),
            rate_bytes_per_s_mean: cell.mean_rate.get(),
            iops_mean: cell.iops.0,
        }
    }

    pub(crate) fn into_model(self) -> finding::PerformanceCell {
        finding::PerformanceCell {
            direction: self.direction.into(),
            order: self.order.into(),
            block: Bytes(self.block_bytes),
            queue_depth: self.queue_depth,
            requests: self.requests,
            service_time: finding::Interval {
                value: Nanos(self.service_time_ns_p50),
                low: Nanos(self.service_time_ns_p50_low),
                high: Nanos(self.service_time_ns_p50_high),
            },
            mean_rate: ByteRate(self.rate_bytes_per_s_mean),
            iops: Iops(self.iops_mean),
            service_time_p99: self.service_time_ns_p99.map(Nanos),
            service_time_max: Nanos(self.service_time_ns_max),
        }
    }
}

impl Advice {
    pub(crate) fn from_model(advice: &finding::Advice) -> Advice {
        Advice { topic: advice.topic.clone(), text: advice.text.clone(), because: advice.because.clone() }
    }

    pub(crate) fn into_model(self) -> finding::Advice {
        finding::Advice { topic: self.topic, text: self.text, because: self.because }
    }
}

impl Note {
    pub(crate) fn from_model(note: &finding::Note) -> Note {
        Note { severity: note.severity.into(), text: note.text.clone(), hint: note.hint.clone() }
    }

    pub(crate) fn into_model(self) -> finding::Note {
        finding::Note { severity: self.severity.into(), text: self.text, hint: self.hint }
    }
}
