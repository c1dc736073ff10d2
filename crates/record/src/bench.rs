//! The wire format of a run of load: `flashscope.bench/1`.
//!
//! A format of its own beside the record, as it shares neither its plan nor its observations nor its findings; the rules
//! are the same (`docs/bench.md`).

mod preset;
mod read;

use crate::wire::{Device, Ended, Host, Path, Tool};
use crate::{RecordError, layout};
use flashscope_model::bench as model;
use flashscope_units::{Bytes, Nanos};
use preset::Preset;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};

/// Name and version of the format, as it stands in the `schema` field.
pub const BENCH_SCHEMA: &str = "flashscope.bench/1";

/// A run of load as JSON, ending in a newline; the same bytes for the same run.
pub fn bench_to_json(record: &model::BenchRecord) -> String {
    let value = serde_json::to_value(Bench::from_model(record)).expect("keys of a record are strings");
    let mut text = layout::pretty(&value);
    text.push('\n');
    text
}

/// Reads what [`bench_to_json`] wrote.
///
/// # Errors
/// Where the text is not JSON or ends early, is of another kind or version, or lacks or contradicts a field.
pub fn bench_from_json(text: &str) -> Result<model::BenchRecord, RecordError> {
    crate::check_header(text, BENCH_SCHEMA)?;
    crate::range::check(text)?;
    let bench: Bench = serde_json::from_str(text).map_err(|error| RecordError::from_parser(&error))?;
    bench.into_model()
}

/// The JSON Schema (draft 2020-12) of it, ending in a newline; a copy is kept in `docs/bench.schema.json`.
pub fn bench_schema() -> String {
    let schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Bench>();
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

/// One run of load.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(title = "flashscope.bench/1", extend("$id" = "urn:flashscope:bench:1"))]
struct Bench {
    /// Name and version of this format.
    #[schemars(extend("const" = "flashscope.bench/1"))]
    schema: String,
    /// The program that wrote it.
    tool: Tool,
    /// What was typed.
    command: String,
    /// What was measured, as typed.
    target: String,
    /// Where and when; null on virtual time, so that the same seed gives the same bytes.
    host: Option<Host>,
    /// The device or file; null where a job file names several.
    device: Option<Device>,
    /// Whether time was simulated.
    virtual_time: bool,
    /// The phases in order.
    phases: Vec<Phase>,
    /// What it was for; null where it followed no definition.
    #[serde(default)]
    preset: Option<Preset>,
    /// How it ended.
    ended: Ended,
}

/// Jobs that ran side by side, as often as was asked for.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Phase {
    /// Each run of it, in order; none is left out.
    runs: Vec<PhaseRun>,
    /// Over the runs; empty for a single one.
    summary: Vec<Summary>,
}

/// One run of a phase.
#[derive(Serialize, Deserialize, JsonSchema)]
struct PhaseRun {
    /// The jobs.
    jobs: Vec<JobRun>,
    /// Where the bytes went.
    evidence: Evidence,
}

/// What one job did, its workers together.
#[derive(Serialize, Deserialize, JsonSchema)]
struct JobRun {
    /// Its name.
    name: String,
    /// Every setting, in the words of a job file (values as TOML).
    settings: Vec<Setting>,
    /// The way that requests took.
    path: Path,
    /// Workers side by side.
    workers: u32,
    /// From the first worker's start, warm-up excluded, to the last completion.
    elapsed_ns: u64,
    /// Reads; null where it does none.
    read: Option<Moved>,
    /// Writes; null where it does none.
    write: Option<Moved>,
    /// Times of flushes; null where there were none.
    flush_time: Option<Times>,
    /// Reads that only checked what was written, in no rate; null where there were none.
    read_back: Option<ReadBack>,
    /// Requests that failed; they count in no rate.
    failed_count: u64,
    /// Reads that found other bytes than expected.
    mismatched_count: u64,
    /// The first of both, at most 64.
    failures: Vec<Failure>,
    /// The longest time that requests of one worker were outstanding and none ended.
    longest_stall: Option<Stall>,
    /// Counts by time of completion.
    series: Series,
    /// Of each worker that wrote: when how much was written.
    written: Vec<Written>,
    /// Processor time of the workers; null on virtual time.
    cpu: Option<Cpu>,
    /// How it ended: `complete`, `stopped`, `budget_spent`, `failing` or `device_lost`.
    ended: JobEnded,
    /// What was seen of steadiness; null where it was not asked for.
    steady: Option<Steady>,
}

/// One setting.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Setting {
    /// Its name.
    name: String,
    /// Its value.
    value: String,
}

/// Requests of one direction.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Moved {
    /// How many ended well.
    count: u64,
    /// Bytes that they moved.
    bytes: u64,
    /// Requests per second.
    requests_per_s: f64,
    /// Bytes per second.
    bytes_per_s: f64,
    /// Issue to completion.
    service_time: Times,
    /// Due to issue; null where requests are due when there is room.
    queue_time: Option<Times>,
    /// Due to completion; null likewise.
    response_time: Option<Times>,
}

/// Many times. A percentile is null where fewer than ten values lie beyond it.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Times {
    /// How many.
    count: u64,
    /// The shortest.
    min_ns: u64,
    /// The mean.
    mean_ns: f64,
    /// The longest.
    max_ns: u64,
    /// 1 % are at most this.
    p1_ns: Option<u64>,
    /// 10 %.
    p10_ns: Option<u64>,
    /// The median.
    p50_ns: Option<u64>,
    /// 90 %.
    p90_ns: Option<u64>,
    /// 95 %.
    p95_ns: Option<u64>,
    /// 99 %.
    p99_ns: Option<u64>,
    /// 99.9 %.
    p99_9_ns: Option<u64>,
    /// 99.99 %.
    p99_99_ns: Option<u64>,
    /// 99.999 %.
    p99_999_ns: Option<u64>,
    /// The buckets of the histogram that are not empty.
    histogram: Histogram,
}

/// Buckets of equal index belong together.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Histogram {
    /// Smallest time of each bucket.
    low_ns: Vec<u64>,
    /// Largest time of each bucket.
    high_ns: Vec<u64>,
    /// How many there are.
    count: Vec<u64>,
}

/// Reads that only checked.
#[derive(Serialize, Deserialize, JsonSchema)]
struct ReadBack {
    /// How many were right.
    count: u64,
    /// Their bytes.
    bytes: u64,
}

/// A request that went wrong.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Failure {
    /// When, from the start of the job.
    at_ns: u64,
    /// `read`, `write`, `flush`, `read back`.
    kind: String,
    /// Where.
    offset_bytes: u64,
    /// How much.
    length_bytes: u64,
    /// Why.
    reason: String,
    /// For a read that found other bytes than expected; null otherwise.
    mismatch: Option<Mismatch>,
}

/// Other bytes than expected.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Mismatch {
    /// Position of the first wrong byte on the target.
    position_bytes: u64,
    /// What should have stood there.
    expected: String,
    /// What stood there.
    found: String,
}

/// A stall.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Stall {
    /// How long.
    time_ns: u64,
    /// When it began, from the start of the job.
    from_ns: u64,
}

/// Counts per period; entries of equal index belong together.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Series {
    /// Length of a period.
    period_ns: u64,
    /// Reads that ended.
    reads: Vec<u64>,
    /// Writes that ended.
    writes: Vec<u64>,
    /// Bytes read.
    read_bytes: Vec<u64>,
    /// Bytes written.
    written_bytes: Vec<u64>,
    /// Sum of service times.
    service_time_sum_ns: Vec<u64>,
    /// Longest service time.
    service_time_max_ns: Vec<u64>,
}

/// When one worker had written so much.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Written {
    /// Bytes from one entry to the next.
    step_bytes: u64,
    /// Time from the start of the job at which one, two, three … steps were written.
    at_ns: Vec<u64>,
}

/// Processor time.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Cpu {
    /// All of it, exactly.
    total_ns: u64,
    /// In the program, as far as the kernel's timer divides it; null where it took too little time for that.
    user_ns: Option<u64>,
    /// In the kernel; null with the one before.
    system_ns: Option<u64>,
    /// Requests in that time, warm-up and failures included.
    count: u64,
}

/// How a job ended.
#[derive(Serialize, Deserialize, JsonSchema)]
struct JobEnded {
    /// In which way.
    how: JobEndedHow,
    /// What happened to a device that was lost; null otherwise.
    reason: Option<String>,
}

/// The ways in which a job ends.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum JobEndedHow {
    /// It did all it set out to do.
    Complete,
    /// It was stopped.
    Stopped,
    /// What it may write was used up.
    BudgetSpent,
    /// So many requests in a row failed that it gave up.
    Failing,
    /// The device went away or did not answer.
    DeviceLost,
}

/// What was seen of steadiness.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Steady {
    /// Whether it became steady.
    reached: bool,
    /// After how many rounds.
    rounds: u32,
}

/// Where the bytes of a phase went.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Evidence {
    /// The conclusion.
    verdict: Verdict,
    /// Share of the bytes that the device had moved when the clock stopped; null where nobody counts.
    device_share_ratio: Option<f64>,
    /// The conclusion in words.
    why: String,
    /// Counters before and after, the unit last in their names.
    counters: Vec<Counter>,
}

/// Whose result it is.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    /// The device's: at least 95 %.
    Device,
    /// Partly the page cache's.
    Mixed,
    /// The page cache's: the device did at most 5 %.
    Cache,
    /// Nobody can tell.
    Unknown,
}

/// One counter.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Counter {
    /// Its name.
    name: String,
    /// Before the first request.
    before: u64,
    /// When the clock stopped.
    after: u64,
}

/// One figure over the runs of a phase.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Summary {
    /// Name of the job.
    job: String,
    /// Name of the figure.
    figure: String,
    /// The runs' values in order.
    values: Vec<f64>,
    /// Their median.
    median: f64,
    /// Where the median of all such runs lies; null with too few runs.
    interval: Option<Interval>,
}

/// An interval by order statistics.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Interval {
    /// Lower end.
    low: f64,
    /// Upper end.
    high: f64,
    /// Its confidence.
    confidence: f64,
}

impl Bench {
    fn from_model(record: &model::BenchRecord) -> Bench {
        Bench {
            schema: BENCH_SCHEMA.to_owned(),
            tool: Tool { name: "flashscope".to_owned(), version: record.tool_version.clone() },
            command: record.command.clone(),
            target: record.target.clone(),
            host: record.host.as_ref().map(Host::from_model),
            device: record.device.as_ref().map(Device::from_model),
            virtual_time: record.virtual_time,
            phases: record.phases.iter().map(Phase::from_model).collect(),
            preset: record.preset.as_ref().map(Preset::from_model),
            ended: Ended::from_model(&record.ended),
        }
    }
}

impl Phase {
    fn from_model(phase: &model::BenchPhase) -> Phase {
        let run = |run: &model::PhaseRun| PhaseRun {
            jobs: run.jobs.iter().map(JobRun::from_model).collect(),
            evidence: Evidence::from_model(&run.evidence),
        };
        let summary = |summary: &model::Summary| Summary {
            job: summary.job.clone(),
            figure: summary.figure.clone(),
            values: summary.values.clone(),
            median: summary.median,
            interval: summary.interval.map(Interval::from_model),
        };
        Phase { runs: phase.runs.iter().map(run).collect(), summary: phase.summary.iter().map(summary).collect() }
    }
}

impl Interval {
    fn from_model((low, high, confidence): (f64, f64, f64)) -> Interval {
        Interval { low, high, confidence }
    }
}

impl JobRun {
    fn from_model(job: &model::JobRun) -> JobRun {
        let setting = |(name, value): &(String, String)| Setting { name: name.clone(), value: value.clone() };
        JobRun {
            name: job.name.clone(),
            settings: job.settings.iter().map(setting).collect(),
            path: Path::from_model(&job.path),
            workers: job.workers,
            elapsed_ns: job.elapsed.get(),
            read: job.read.as_ref().map(Moved::from_model),
            write: job.write.as_ref().map(Moved::from_model),
            flush_time: job.flush.as_ref().map(Times::from_model),
            read_back: job.read_back.map(|(count, bytes)| ReadBack { count, bytes: bytes.get() }),
            failed_count: job.failed,
            mismatched_count: job.mismatched,
            failures: job.failures.iter().map(Failure::from_model).collect(),
            longest_stall: job.stall.map(|stall| Stall { time_ns: stall.time.get(), from_ns: stall.from.get() }),
            series: Series::from_model(&job.series),
            written: job.written.iter().map(Written::from_model).collect(),
            cpu: job.cpu.map(|cpu| Cpu {
                total_ns: cpu.total.get(),
                user_ns: cpu.split.map(|(user, _)| user.get()),
                system_ns: cpu.split.map(|(_, system)| system.get()),
                count: cpu.requests,
            }),
            ended: JobEnded::from_model(&job.ended),
            steady: job.steady.map(|seen| Steady { reached: seen.steady, rounds: seen.rounds }),
        }
    }
}

impl Moved {
    fn from_model(moved: &model::Moved) -> Moved {
        Moved {
            count: moved.requests,
            bytes: moved.bytes.get(),
            requests_per_s: moved.requests_per_s,
            bytes_per_s: moved.bytes_per_s,
            service_time: Times::from_model(&moved.service),
            queue_time: moved.queue.as_ref().map(Times::from_model),
            response_time: moved.response.as_ref().map(Times::from_model),
        }
    }
}

impl Times {
    fn from_model(times: &model::Times) -> Times {
        let at = |of: f64| times.percentiles.iter().find(|(other, _)| *other == of).map(|(_, time)| time.get());
        let column = |pick: fn(&(Nanos, Nanos, u64)) -> u64| times.buckets.iter().map(pick).collect();
        Times {
            count: times.count,
            min_ns: times.min.get(),
            mean_ns: times.mean,
            max_ns: times.max.get(),
            p1_ns: at(0.01),
            p10_ns: at(0.10),
            p50_ns: at(0.50),
            p90_ns: at(0.90),
            p95_ns: at(0.95),
            p99_ns: at(0.99),
            p99_9_ns: at(0.999),
            p99_99_ns: at(0.9999),
            p99_999_ns: at(0.99999),
            histogram: Histogram {
                low_ns: column(|(low, _, _)| low.get()),
                high_ns: column(|(_, high, _)| high.get()),
                count: column(|(_, _, count)| *count),
            },
        }
    }
}

impl Failure {
    fn from_model(failure: &model::RequestFailure) -> Failure {
        let mismatch = |(position, expected, found): &(Bytes, String, String)| Mismatch {
            position_bytes: position.get(),
            expected: expected.clone(),
            found: found.clone(),
        };
        Failure {
            at_ns: failure.at.get(),
            kind: failure.kind.clone(),
            offset_bytes: failure.offset.get(),
            length_bytes: failure.length.get(),
            reason: failure.reason.clone(),
            mismatch: failure.mismatch.as_ref().map(mismatch),
        }
    }
}

impl Series {
    fn from_model(series: &model::TimeSeries) -> Series {
        let column = |pick: fn(&model::SeriesPeriod) -> u64| series.periods.iter().map(pick).collect();
        Series {
            period_ns: series.period.get(),
            reads: column(|period| period.reads),
            writes: column(|period| period.writes),
            read_bytes: column(|period| period.read.get()),
            written_bytes: column(|period| period.written.get()),
            service_time_sum_ns: column(|period| period.service_sum.get()),
            service_time_max_ns: column(|period| period.service_max.get()),
        }
    }
}

impl Written {
    fn from_model(curve: &model::WrittenCurve) -> Written {
        Written { step_bytes: curve.step.get(), at_ns: curve.times.iter().map(|time| time.get()).collect() }
    }
}

impl JobEnded {
    fn from_model(ended: &model::JobEnded) -> JobEnded {
        let (how, reason) = match ended {
            model::JobEnded::Complete => (JobEndedHow::Complete, None),
            model::JobEnded::Stopped => (JobEndedHow::Stopped, None),
            model::JobEnded::BudgetSpent => (JobEndedHow::BudgetSpent, None),
            model::JobEnded::Failing => (JobEndedHow::Failing, None),
            model::JobEnded::DeviceLost(reason) => (JobEndedHow::DeviceLost, Some(reason.clone())),
        };
        JobEnded { how, reason }
    }
}

impl Verdict {
    fn from_model(verdict: model::CacheVerdict) -> Verdict {
        match verdict {
            model::CacheVerdict::Device => Verdict::Device,
            model::CacheVerdict::Mixed => Verdict::Mixed,
            model::CacheVerdict::Cache => Verdict::Cache,
            model::CacheVerdict::Unknown => Verdict::Unknown,
        }
    }
}

impl Evidence {
    pub(crate) fn from_model(evidence: &model::Evidence) -> Evidence {
        let counter = |counter: &model::Counter| Counter {
            name: counter.name.clone(),
            before: counter.before,
            after: counter.after,
        };
        Evidence {
            verdict: Verdict::from_model(evidence.verdict),
            device_share_ratio: evidence.device_share,
            why: evidence.why.clone(),
            counters: evidence.counters.iter().map(counter).collect(),
        }
    }
}
