//! What was concluded.

use super::{Direction, NoteKind, Order, Severity};
use flashscope_model::finding;
use flashscope_units::{ByteRate, Bytes, Contrast, Iops, Nanos};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Access time plus size over throughput: the line through minimum read times.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct TransferLine {
    /// Time at size zero; negative where the line says so.
    pub access_ns: f64,
    /// Slope as a rate.
    pub rate_bytes_per_s: f64,
    /// The sizes and how far each lies off the line.
    pub residuals: Vec<TransferResidual>,
}

/// One size of a transfer line.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct TransferResidual {
    /// Size of one read.
    pub size_bytes: u64,
    /// Shortest service time.
    pub service_time_ns_min: u64,
    /// That time less the line; may be negative.
    pub residual_ns: f64,
}

/// One cell of the performance table.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
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
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Advice {
    /// What it is about.
    pub topic: String,
    /// The command or the instruction.
    pub text: String,
    /// The finding that it rests on.
    pub because: String,
}

/// A remark on the run.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Note {
    /// What it is about.
    pub code: NoteKind,
    /// How grave; follows from what it is about.
    pub severity: Severity,
    /// The remark.
    pub text: String,
    /// What to do about it; null where there is nothing to do.
    pub hint: Option<String>,
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
        Note {
            code: note.kind.into(),
            severity: note.kind.severity().into(),
            text: note.text.clone(),
            hint: note.hint.clone(),
        }
    }

    pub(crate) fn into_model(self) -> finding::Note {
        finding::Note { kind: self.code.into(), text: self.text, hint: self.hint }
    }
}
