//! The part of a run of iozone's tests: every pass, and where memory ends.

use super::Evidence;
use crate::RecordError;
use crate::mirror::{Mirror, mirror, mirror_tuple, part, words};
use flashscope_model::iozone as model;
use flashscope_units::{ByteRate, Bytes};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

part! {
    /// A run of iozone's tests.
    IozonePart of model::IozoneRecord as [Iozone] {
        /// The unit that tables were asked for in; figures here are always bytes and nanoseconds.
        table_unit: TableUnit = unit,
        /// Seed of the random orders.
        seed: u64 = seed,
        /// What was to be measured, in order.
        figures: Vec<String> = figures,
        /// Record sizes of the tables' columns.
        record_sizes_bytes: Vec<u64> = records,
        /// Every pass of the matrix, in order; empty with several workers.
        passes: Vec<Pass> = passes,
        /// What was found, one entry per figure that has passes.
        regions: Vec<Regions> = regions,
        /// Passes of several workers at once.
        throughput: Vec<Throughput> = throughput,
    }
}

words! {
    /// The unit of iozone's tables.
    TableUnit mirrors model::Unit {
        /// 1024 bytes per second.
        #[serde(rename = "kib_per_s")]
        KbPerSecond,
        /// Records per second.
        #[serde(rename = "records_per_s")]
        OpsPerSecond,
        /// Microseconds per record.
        #[serde(rename = "us_per_record")]
        MicrosPerOp,
    }
}

/// One pass over a file.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Pass {
    /// `write`, `rewrite`, `read` …
    pub figure: String,
    /// Number of iozone's test.
    pub test: u8,
    /// Size of the file.
    pub file_bytes: u64,
    /// Size of a record.
    pub record_bytes: u64,
    /// Records that went well.
    pub record_count: u64,
    /// Bytes that they moved.
    pub moved_bytes: u64,
    /// How long they took, with flush and close where that was asked for.
    pub elapsed_ns: u64,
    /// The speed; null where the pass failed.
    pub rate_bytes_per_s: Option<f64>,
    /// Records that came back with other bytes than were written.
    pub mismatched_count: u64,
    /// Why it ended early; null where it did not.
    pub failure: Option<PassFailure>,
    /// Where its bytes went.
    pub evidence: Evidence,
}

/// One figure of several workers.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Throughput {
    /// The figure.
    pub figure: String,
    /// Number of iozone's test.
    pub test: u8,
    /// Size of each file.
    pub file_bytes: u64,
    /// Size of a record.
    pub record_bytes: u64,
    /// The workers.
    pub workers: Vec<Worker>,
    /// From the moment at which all were let go to the end of the last.
    pub elapsed_ns: u64,
    /// Where the bytes went.
    pub evidence: Evidence,
}

/// What was found over the file sizes of one figure.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Regions {
    /// The figure.
    pub figure: String,
    /// Each file size, in ascending order.
    pub file_sizes: Vec<FileSize>,
    /// Falls of the speed, largest first.
    pub falls: Vec<Fall>,
    /// Where the file outgrows memory; null where that was not seen.
    pub cliff: Option<Cliff>,
    /// All of it as a sentence.
    pub sentence: String,
}

/// Where the file outgrows memory.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Cliff {
    /// Largest file that was memory's.
    pub memory_up_to_bytes: u64,
    /// Smallest file that was the device's, in part at least.
    pub device_from_bytes: u64,
    /// Median speed of the sizes that were memory's.
    pub memory_rate_bytes_per_s: f64,
    /// Median speed of the others.
    pub device_rate_bytes_per_s: f64,
    /// Whether the speed falls at the same place.
    pub speed_falls: bool,
}

mirror! {
    /// Why a pass ended early.
    PassFailure of model::PassFailure {
        /// Where in the file.
        offset_bytes: u64 = offset,
        /// Why.
        reason: String = reason,
    }

    /// A fall of the speed.
    Fall of model::Fall {
        /// Largest file before it.
        above_bytes: u64 = above,
        /// Smallest file after it.
        below_bytes: u64 = below,
        /// Speed before over speed after.
        ratio: f64 = ratio,
        /// Probability that there is a step here.
        probability: f64 = probability,
    }

    /// What one worker did.
    Worker of model::Child {
        /// Records that went well.
        record_count: u64 = records,
        /// Bytes that they moved.
        moved_bytes: u64 = moved,
        /// How long it took.
        elapsed_ns: u64 = elapsed,
        /// Records that came back with other bytes than were written.
        mismatched_count: u64 = mismatched,
        /// Why it ended early; null where it did not, or was stopped because another was done.
        failure: Option<PassFailure> = failure,
    }
}

mirror_tuple! {
    /// One file size.
    FileSize of ((Bytes, model::Whose), Option<f64>) {
        /// The size, and whose speed it shows.
        #[serde(flatten)]
        whose: SizeWhose,
        /// Its speed over that of the fastest size, records of different size made comparable; null where all passes failed.
        relative_speed_ratio: Option<f64>,
    }

    /// A file size and whose speed it shows.
    SizeWhose of (Bytes, model::Whose) {
        /// The size.
        file_bytes: u64,
        /// Whose speed it shows, by the counters alone.
        whose: Whose,
    }
}

words! {
    /// Whose speed it is.
    Whose mirrors model::Whose {
        /// Memory served it.
        Memory,
        /// Partly memory, partly the device.
        Mixed,
        /// The device served it.
        Device,
        /// Nobody can tell.
        Unknown,
    }
}

impl Mirror<model::Figure> for String {
    fn from_model(figure: &model::Figure) -> Self {
        figure.word().to_owned()
    }

    fn into_model(self) -> Result<model::Figure, RecordError> {
        let found = model::Figure::ALL.into_iter().find(|figure| figure.word() == self);
        found.ok_or_else(|| RecordError::contradiction("figure", format!("iozone has no test '{self}'")))
    }
}

impl Mirror<model::Pass> for Pass {
    fn from_model(pass: &model::Pass) -> Self {
        Pass {
            figure: Mirror::from_model(&pass.figure),
            test: pass.figure.test(),
            file_bytes: pass.file.get(),
            record_bytes: pass.record.get(),
            record_count: pass.records,
            moved_bytes: pass.moved.get(),
            elapsed_ns: pass.elapsed.get(),
            rate_bytes_per_s: pass.rate().map(ByteRate::get),
            mismatched_count: pass.mismatched,
            failure: Mirror::from_model(&pass.failure),
            evidence: Mirror::from_model(&pass.evidence),
        }
    }

    fn into_model(self) -> Result<model::Pass, RecordError> {
        Ok(model::Pass {
            figure: self.figure.into_model()?,
            file: Bytes(self.file_bytes),
            record: Bytes(self.record_bytes),
            records: self.record_count,
            moved: Bytes(self.moved_bytes),
            elapsed: self.elapsed_ns.into_model()?,
            mismatched: self.mismatched_count,
            failure: self.failure.into_model()?,
            evidence: self.evidence.into_model()?,
        })
    }
}

impl Mirror<model::Throughput> for Throughput {
    fn from_model(run: &model::Throughput) -> Self {
        Throughput {
            figure: Mirror::from_model(&run.figure),
            test: run.figure.test(),
            file_bytes: run.file.get(),
            record_bytes: run.record.get(),
            workers: Mirror::from_model(&run.children),
            elapsed_ns: run.elapsed.get(),
            evidence: Mirror::from_model(&run.evidence),
        }
    }

    fn into_model(self) -> Result<model::Throughput, RecordError> {
        Ok(model::Throughput {
            figure: self.figure.into_model()?,
            file: Bytes(self.file_bytes),
            record: Bytes(self.record_bytes),
            children: self.workers.into_model()?,
            elapsed: self.elapsed_ns.into_model()?,
            evidence: self.evidence.into_model()?,
        })
    }
}

impl Mirror<model::Regions> for Regions {
    fn from_model(regions: &model::Regions) -> Self {
        let sizes = regions.sizes.iter().copied().zip(regions.relative.iter().copied());
        Regions {
            figure: Mirror::from_model(&regions.figure),
            file_sizes: sizes.map(|size| Mirror::from_model(&size)).collect(),
            falls: Mirror::from_model(&regions.falls),
            cliff: Mirror::from_model(&regions.cliff),
            sentence: regions.sentence.clone(),
        }
    }

    fn into_model(self) -> Result<model::Regions, RecordError> {
        let sizes: Vec<((Bytes, model::Whose), Option<f64>)> = self.file_sizes.into_model()?;
        let (sizes, relative) = sizes.into_iter().unzip();
        Ok(model::Regions {
            figure: self.figure.into_model()?,
            sizes,
            relative,
            falls: self.falls.into_model()?,
            cliff: self.cliff.into_model()?,
            sentence: self.sentence,
        })
    }
}

impl Mirror<model::Cliff> for Cliff {
    fn from_model(cliff: &model::Cliff) -> Self {
        Cliff {
            memory_up_to_bytes: cliff.memory_up_to.get(),
            device_from_bytes: cliff.device_from.get(),
            memory_rate_bytes_per_s: cliff.rates.0.get(),
            device_rate_bytes_per_s: cliff.rates.1.get(),
            speed_falls: cliff.speed_falls,
        }
    }

    fn into_model(self) -> Result<model::Cliff, RecordError> {
        Ok(model::Cliff {
            memory_up_to: Bytes(self.memory_up_to_bytes),
            device_from: Bytes(self.device_from_bytes),
            rates: (ByteRate(self.memory_rate_bytes_per_s), ByteRate(self.device_rate_bytes_per_s)),
            speed_falls: self.speed_falls,
        })
    }
}
