//! The wire format of a run of iozone's tests: `flashscope.iozone/1`.
//!
//! A format of its own beside `flashscope.bench/1`, as it is a matrix of passes and not a set of jobs. It is written only.

use crate::bench::Evidence;
use crate::layout;
use crate::wire::{Ended, Host, Path, Tool};
use flashscope_model::iozone as model;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;

/// Name and version of the format, as it stands in the `schema` field.
pub const IOZONE_SCHEMA: &str = "flashscope.iozone/1";

/// A run of iozone's tests as JSON, ending in a newline.
pub fn iozone_to_json(record: &model::IozoneRecord) -> String {
    let value = serde_json::to_value(Iozone::from_model(record)).expect("keys of a record are strings");
    let mut text = layout::pretty(&value);
    text.push('\n');
    text
}

/// The JSON Schema (draft 2020-12) of it, ending in a newline; a copy is kept in `docs/iozone.schema.json`.
pub fn iozone_schema() -> String {
    let schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Iozone>();
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

/// One run of iozone's tests.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "flashscope.iozone/1", extend("$id" = "urn:flashscope:iozone:1"))]
struct Iozone {
    /// Name and version of this format.
    #[schemars(extend("const" = "flashscope.iozone/1"))]
    schema: String,
    /// The program that wrote it.
    tool: Tool,
    /// What was typed after `bench`.
    command: String,
    /// The file, or the first of several.
    target: String,
    /// Where and when.
    host: Host,
    /// The way that passes took.
    path: Path,
    /// Seed of the random orders.
    seed: u64,
    /// What was to be measured, in order.
    figures: Vec<&'static str>,
    /// Record sizes of the tables' columns.
    record_sizes_bytes: Vec<u64>,
    /// Every pass of the matrix, in order; empty with several workers.
    passes: Vec<Pass>,
    /// What was found, one entry per figure that has passes.
    regions: Vec<Regions>,
    /// Passes of several workers at once.
    throughput: Vec<Throughput>,
    /// How it ended.
    ended: Ended,
}

/// One pass over a file.
#[derive(Serialize, JsonSchema)]
struct Pass {
    /// `write`, `rewrite`, `read` …
    figure: &'static str,
    /// Number of iozone's test.
    test: u8,
    /// Size of the file.
    file_bytes: u64,
    /// Size of a record.
    record_bytes: u64,
    /// Records that went well.
    record_count: u64,
    /// Bytes that they moved.
    moved_bytes: u64,
    /// How long they took, with flush and close where that was asked for.
    elapsed_ns: u64,
    /// The speed; null where the pass failed.
    rate_bytes_per_s: Option<f64>,
    /// Records that came back with other bytes than were written.
    mismatched_count: u64,
    /// Why it ended early; null where it did not.
    failure: Option<Failure>,
    /// Where its bytes went.
    evidence: Evidence,
}

/// Why a pass ended early.
#[derive(Serialize, JsonSchema)]
struct Failure {
    /// Where in the file.
    offset_bytes: u64,
    /// Why.
    reason: String,
}

/// What was found over the file sizes of one figure.
#[derive(Serialize, JsonSchema)]
struct Regions {
    /// The figure.
    figure: &'static str,
    /// Each file size, in ascending order.
    file_sizes: Vec<FileSize>,
    /// Falls of the speed, largest first.
    falls: Vec<Fall>,
    /// Where the file outgrows memory; null where that was not seen.
    cliff: Option<Cliff>,
    /// All of it as a sentence.
    sentence: String,
}

/// One file size.
#[derive(Serialize, JsonSchema)]
struct FileSize {
    /// The size.
    file_bytes: u64,
    /// Whose speed it shows, by the counters alone.
    whose: Whose,
    /// Its speed over that of the fastest size, records of different size made comparable; null where all passes failed.
    relative_speed_ratio: Option<f64>,
}

/// Whose speed it is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Whose {
    /// Memory served it.
    Memory,
    /// Partly memory, partly the device.
    Mixed,
    /// The device served it.
    Device,
    /// Nobody can tell.
    Unknown,
}

/// A fall of the speed.
#[derive(Serialize, JsonSchema)]
struct Fall {
    /// Largest file before it.
    above_bytes: u64,
    /// Smallest file after it.
    below_bytes: u64,
    /// Speed before over speed after.
    ratio: f64,
    /// Probability that there is a step here.
    probability: f64,
}

/// Where the file outgrows memory.
#[derive(Serialize, JsonSchema)]
struct Cliff {
    /// Largest file that was memory's.
    memory_up_to_bytes: u64,
    /// Smallest file that was the device's, in part at least.
    device_from_bytes: u64,
    /// Median speed of the sizes that were memory's.
    memory_rate_bytes_per_s: f64,
    /// Median speed of the others.
    device_rate_bytes_per_s: f64,
    /// Whether the speed falls at the same place.
    speed_falls: bool,
}

/// One figure of several workers.
#[derive(Serialize, JsonSchema)]
struct Throughput {
    /// The figure.
    figure: &'static str,
    /// Number of iozone's test.
    test: u8,
    /// Size of each file.
    file_bytes: u64,
    /// Size of a record.
    record_bytes: u64,
    /// The workers.
    workers: Vec<Worker>,
    /// From the moment at which all were let go to the end of the last.
    elapsed_ns: u64,
    /// Where the bytes went.
    evidence: Evidence,
}

/// What one worker did.
#[derive(Serialize, JsonSchema)]
struct Worker {
    /// Records that went well.
    record_count: u64,
    /// Bytes that they moved.
    moved_bytes: u64,
    /// How long it took.
    elapsed_ns: u64,
    /// Records that came back with other bytes than were written.
    mismatched_count: u64,
    /// Why it ended early; null where it did not, or was stopped because another was done.
    failure: Option<Failure>,
}

impl Iozone {
    fn from_model(record: &model::IozoneRecord) -> Iozone {
        Iozone {
            schema: IOZONE_SCHEMA.to_owned(),
            tool: Tool { name: "flashscope".to_owned(), version: record.tool_version.clone() },
            command: record.command.clone(),
            target: record.target.clone(),
            host: Host::from_model(&record.host),
            path: Path::from_model(&record.path),
            seed: record.seed,
            figures: record.figures.iter().map(|figure| figure.word()).collect(),
            record_sizes_bytes: record.records.iter().map(|size| size.get()).collect(),
            passes: record.passes.iter().map(Pass::from_model).collect(),
            regions: record.regions.iter().map(Regions::from_model).collect(),
            throughput: record.throughput.iter().map(Throughput::from_model).collect(),
            ended: Ended::from_model(&record.ended),
        }
    }
}

impl Pass {
    fn from_model(pass: &model::Pass) -> Pass {
        Pass {
            figure: pass.figure.word(),
            test: pass.figure.test(),
            file_bytes: pass.file.get(),
            record_bytes: pass.record.get(),
            record_count: pass.records,
            moved_bytes: pass.moved.get(),
            elapsed_ns: pass.elapsed.get(),
            rate_bytes_per_s: pass.rate().map(|rate| rate.get()),
            mismatched_count: pass.mismatched,
            failure: pass.failure.as_ref().map(Failure::from_model),
            evidence: Evidence::from_model(&pass.evidence),
        }
    }
}

impl Failure {
    fn from_model(failure: &model::PassFailure) -> Failure {
        Failure { offset_bytes: failure.offset.get(), reason: failure.reason.clone() }
    }
}

impl Regions {
    fn from_model(regions: &model::Regions) -> Regions {
        let size = |((file, whose), relative): (&(flashscope_units::Bytes, model::Whose), &Option<f64>)| FileSize {
            file_bytes: file.get(),
            whose: match whose {
                model::Whose::Memory => Whose::Memory,
                model::Whose::Mixed => Whose::Mixed,
                model::Whose::Device => Whose::Device,
                model::Whose::Unknown => Whose::Unknown,
            },
            relative_speed_ratio: *relative,
        };
        let fall = |fall: &model::Fall| Fall {
            above_bytes: fall.above.get(),
            below_bytes: fall.below.get(),
            ratio: fall.ratio,
            probability: fall.probability,
        };
        let cliff = |cliff: model::Cliff| Cliff {
            memory_up_to_bytes: cliff.memory_up_to.get(),
            device_from_bytes: cliff.device_from.get(),
            memory_rate_bytes_per_s: cliff.rates.0.get(),
            device_rate_bytes_per_s: cliff.rates.1.get(),
            speed_falls: cliff.speed_falls,
        };
        Regions {
            figure: regions.figure.word(),
            file_sizes: regions.sizes.iter().zip(&regions.relative).map(size).collect(),
            falls: regions.falls.iter().map(fall).collect(),
            cliff: regions.cliff.map(cliff),
            sentence: regions.sentence.clone(),
        }
    }
}

impl Throughput {
    fn from_model(run: &model::Throughput) -> Throughput {
        let worker = |child: &model::Child| Worker {
            record_count: child.records,
            moved_bytes: child.moved.get(),
            elapsed_ns: child.elapsed.get(),
            mismatched_count: child.mismatched,
            failure: child.failure.as_ref().map(Failure::from_model),
        };
        Throughput {
            figure: run.figure.word(),
            test: run.figure.test(),
            file_bytes: run.file.get(),
            record_bytes: run.record.get(),
            workers: run.children.iter().map(worker).collect(),
            elapsed_ns: run.elapsed.get(),
            evidence: Evidence::from_model(&run.evidence),
        }
    }
}
