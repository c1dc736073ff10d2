//! The part of a run of load: phases, their runs one by one, and what each job did.

use super::{Cost, Named, Path, Preset, Stop};
use crate::RecordError;
use crate::mirror::{Mirror, mirror, mirror_tuple, part, words};
use flashscope_model::bench as model;
use flashscope_units::{Bytes, Nanos};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

part! {
    /// A run of load.
    BenchPart of model::BenchRecord as [Bench] {
        /// The phases in order.
        phases: Vec<Phase> = phases,
        /// What it was for; null where it followed no definition.
        preset: Option<Preset> = preset,
    }
}

mirror! {
    /// Jobs that ran side by side, as often as was asked for.
    Phase of model::BenchPhase {
        /// Each run of it, in order; none is left out.
        runs: Vec<PhaseRun> = runs,
        /// Over the runs; empty for a single one.
        summary: Vec<Summary> = summary,
    }

    /// One run of a phase.
    PhaseRun of model::PhaseRun {
        /// Its place among all runs of the record, in the order in which they were done, from 1.
        order: u32 = order,
        /// When it began, from the start of the first one, preparations included; null where nobody noted it.
        started_ns: Option<u64> = started,
        /// What was in force when it began.
        conditions: Vec<Named> = conditions,
        /// What it cost, warm-up and reading back included; null where nobody counted.
        cost: Option<Cost> = cost,
        /// The jobs.
        jobs: Vec<JobRun> = jobs,
        /// Where the bytes went.
        evidence: Evidence = evidence,
    }

    /// What one job did, its workers together.
    JobRun of model::JobRun {
        /// Its name.
        name: String = name,
        /// Every setting, in the words of a job file (values as TOML).
        settings: Vec<Named> = settings,
        /// The way that requests took.
        path: Path = path,
        /// Workers side by side.
        workers: u32 = workers,
        /// From the first worker's start, warm-up excluded, to the last completion.
        elapsed_ns: u64 = elapsed,
        /// Reads; null where it does none.
        read: Option<Moved> = read,
        /// Writes; null where it does none.
        write: Option<Moved> = write,
        /// Times of flushes; null where there were none.
        flush_time: Option<Times> = flush,
        /// Reads that only checked what was written, in no rate; null where there were none.
        read_back: Option<ReadBack> = read_back,
        /// Requests that failed; they count in no rate.
        failed_count: u64 = failed,
        /// Reads that found other bytes than expected.
        mismatched_count: u64 = mismatched,
        /// The first of both, at most 64.
        failures: Vec<RequestFailure> = failures,
        /// The longest time that requests of one worker were outstanding and none ended.
        longest_stall: Option<Stall> = stall,
        /// Counts by time of completion.
        series: Series = series,
        /// Of each worker that wrote: when how much was written.
        written: Vec<Written> = written,
        /// Processor time of the workers; null on virtual time.
        cpu: Option<Cpu> = cpu,
        /// How it ended.
        ended: Stop = stop,
        /// What was seen of steadiness; null where it was not asked for.
        steady: Option<Steady> = steady,
        /// The rate in the long run, reads and writes together; null of runs too short to tell.
        long_run: Option<LongRun> = long_run,
    }

    /// A rate once it no longer changed.
    LongRun of model::LongRun {
        /// The rate.
        bytes_per_s: f64 = bytes_per_s,
        /// Lower end of its 95 % interval.
        bytes_per_s_low: f64 = low,
        /// Upper end of it.
        bytes_per_s_high: f64 = high,
        /// Whether it had settled at the end of the run.
        settled: bool = settled,
        /// What went at another rate before; null where nothing did.
        first: Option<FirstPart> = first,
    }

    /// The beginning of a run that goes on at another rate.
    FirstPart of model::FirstPart {
        /// How long it took, from the start of the run.
        time_ns: u64 = time,
        /// Bytes that it moved.
        bytes: u64 = bytes,
        /// Its rate.
        bytes_per_s: f64 = bytes_per_s,
    }

    /// Requests of one direction.
    Moved of model::Moved {
        /// How many ended well.
        count: u64 = requests,
        /// Bytes that they moved.
        bytes: u64 = bytes,
        /// Requests per second.
        requests_per_s: f64 = requests_per_s,
        /// Bytes per second.
        bytes_per_s: f64 = bytes_per_s,
        /// Issue to completion.
        service_time: Times = service,
        /// Due to issue; null where requests are due when there is room.
        queue_time: Option<Times> = queue,
        /// Due to completion; null likewise.
        response_time: Option<Times> = response,
    }

    /// A request that went wrong.
    RequestFailure of model::RequestFailure {
        /// When, from the start of the job.
        at_ns: u64 = at,
        /// `read`, `write`, `flush`, `read back`.
        kind: String = kind,
        /// Where.
        offset_bytes: u64 = offset,
        /// How much.
        length_bytes: u64 = length,
        /// Why.
        reason: String = reason,
        /// For a read that found other bytes than expected; null otherwise.
        mismatch: Option<Mismatch> = mismatch,
    }

    /// A stall.
    Stall of model::StallSeen {
        /// How long.
        time_ns: u64 = time,
        /// When it began, from the start of the job.
        from_ns: u64 = from,
    }

    /// When one worker had written so much.
    Written of model::WrittenCurve {
        /// Bytes from one entry to the next.
        step_bytes: u64 = step,
        /// Time from the start of the job at which one, two, three … steps were written.
        at_ns: Vec<u64> = times,
    }

    /// What was seen of steadiness.
    Steady of model::SteadySeen {
        /// Whether it became steady.
        reached: bool = steady,
        /// After how many rounds.
        rounds: u32 = rounds,
        /// What it was going to; null where it was steady, or its course does not tell.
        ahead: Option<SteadyAhead> = ahead,
    }

    /// A steady rate that was not reached yet.
    SteadyAhead of model::SteadyAhead {
        /// The rate.
        bytes_per_s: f64 = bytes_per_s,
        /// The lower end of its 95 % interval.
        low_bytes_per_s: f64 = low,
        /// The upper end.
        high_bytes_per_s: f64 = high,
        /// Rounds more that would show it.
        rounds: u32 = rounds,
    }

    /// Where the bytes of a phase went.
    Evidence of model::Evidence {
        /// The conclusion.
        verdict: Verdict = verdict,
        /// Share of the bytes that the device had moved when the clock stopped; null where nobody counts.
        device_share_ratio: Option<f64> = device_share,
        /// The conclusion in words.
        why: String = why,
        /// Counters before and after, the unit last in their names.
        counters: Vec<Counter> = counters,
    }

    /// One counter.
    Counter of model::Counter {
        /// Its name.
        name: String = name,
        /// Before the first request.
        before: u64 = before,
        /// When the clock stopped.
        after: u64 = after,
    }

    /// One figure over the runs of a phase.
    Summary of model::Summary {
        /// Name of the job.
        job: String = job,
        /// Name of the figure.
        figure: String = figure,
        /// The runs' values in order.
        values: Vec<f64> = values,
        /// Their median.
        median: f64 = median,
        /// Where the median of all such runs lies; null with too few runs.
        interval: Option<OrderInterval> = interval,
    }
}

mirror_tuple! {
    /// An interval by order statistics.
    OrderInterval of (f64, f64, f64) {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Its confidence.
        confidence: f64,
    }

    /// Reads that only checked.
    ReadBack of (u64, Bytes) {
        /// How many were right.
        count: u64,
        /// Their bytes.
        bytes: u64,
    }

    /// Other bytes than expected.
    Mismatch of (Bytes, String, String) {
        /// Position of the first wrong byte on the target.
        position_bytes: u64,
        /// What should have stood there.
        expected: String,
        /// What stood there.
        found: String,
    }
}

words! {
    /// Whose result it is.
    Verdict mirrors model::CacheVerdict {
        /// The device's: at least 95 %.
        Device,
        /// Partly the page cache's.
        Mixed,
        /// The page cache's: the device did at most 5 %.
        Cache,
        /// Nobody can tell.
        Unknown,
    }
}

/// Many times. A percentile is null where fewer than ten values lie beyond it.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Times {
    /// How many.
    pub count: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The mean.
    pub mean_ns: f64,
    /// The longest.
    pub max_ns: u64,
    /// 1 % are at most this.
    pub p1_ns: Option<u64>,
    /// 10 %.
    pub p10_ns: Option<u64>,
    /// The median.
    pub p50_ns: Option<u64>,
    /// 90 %.
    pub p90_ns: Option<u64>,
    /// 95 %.
    pub p95_ns: Option<u64>,
    /// 99 %.
    pub p99_ns: Option<u64>,
    /// 99.9 %.
    pub p99_9_ns: Option<u64>,
    /// 99.99 %.
    pub p99_99_ns: Option<u64>,
    /// 99.999 %.
    pub p99_999_ns: Option<u64>,
    /// The buckets of the histogram that are not empty.
    pub histogram: Histogram,
}

/// Buckets of equal index belong together.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Histogram {
    /// Smallest time of each bucket.
    pub low_ns: Vec<u64>,
    /// Largest time of each bucket.
    pub high_ns: Vec<u64>,
    /// How many there are.
    pub count: Vec<u64>,
}

/// Counts per period; entries of equal index belong together.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Series {
    /// Length of a period.
    pub period_ns: u64,
    /// Reads that ended.
    pub reads: Vec<u64>,
    /// Writes that ended.
    pub writes: Vec<u64>,
    /// Bytes read.
    pub read_bytes: Vec<u64>,
    /// Bytes written.
    pub written_bytes: Vec<u64>,
    /// Sum of service times.
    pub service_time_sum_ns: Vec<u64>,
    /// Longest service time.
    pub service_time_max_ns: Vec<u64>,
}

/// Processor time.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Cpu {
    /// All of it, exactly.
    pub total_ns: u64,
    /// In the program, as far as the kernel's timer divides it; null where it took too little time for that.
    pub user_ns: Option<u64>,
    /// In the kernel; null with the one before.
    pub system_ns: Option<u64>,
    /// Requests in that time, warm-up and failures included.
    pub count: u64,
}

impl Mirror<model::Times> for Times {
    fn from_model(times: &model::Times) -> Self {
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

    fn into_model(self) -> Result<model::Times, RecordError> {
        let percentiles = [
            (0.01, self.p1_ns),
            (0.10, self.p10_ns),
            (0.50, self.p50_ns),
            (0.90, self.p90_ns),
            (0.95, self.p95_ns),
            (0.99, self.p99_ns),
            (0.999, self.p99_9_ns),
            (0.9999, self.p99_99_ns),
            (0.99999, self.p99_999_ns),
        ];
        let Histogram { low_ns, high_ns, count } = self.histogram;
        if low_ns.len() != count.len() || high_ns.len() != count.len() {
            return Err(RecordError::contradiction("histogram", "its columns differ in length"));
        }
        if self.min_ns > self.max_ns {
            return Err(RecordError::contradiction("min_ns", "it is above max_ns"));
        }
        let edges = low_ns.into_iter().zip(high_ns);
        Ok(model::Times {
            count: self.count,
            min: Nanos(self.min_ns),
            mean: self.mean_ns,
            max: Nanos(self.max_ns),
            percentiles: percentiles.into_iter().filter_map(|(of, time)| Some((of, Nanos(time?)))).collect(),
            buckets: edges.zip(count).map(|((low, high), count)| (Nanos(low), Nanos(high), count)).collect(),
        })
    }
}

impl Mirror<model::TimeSeries> for Series {
    fn from_model(series: &model::TimeSeries) -> Self {
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

    fn into_model(self) -> Result<model::TimeSeries, RecordError> {
        let count = self.reads.len();
        let others =
            [&self.writes, &self.read_bytes, &self.written_bytes, &self.service_time_sum_ns, &self.service_time_max_ns];
        if others.iter().any(|column| column.len() != count) {
            return Err(RecordError::contradiction("series of a job", "its columns differ in length"));
        }
        let period = |at: usize| model::SeriesPeriod {
            reads: self.reads[at],
            writes: self.writes[at],
            read: Bytes(self.read_bytes[at]),
            written: Bytes(self.written_bytes[at]),
            service_sum: Nanos(self.service_time_sum_ns[at]),
            service_max: Nanos(self.service_time_max_ns[at]),
        };
        Ok(model::TimeSeries { period: Nanos(self.period_ns), periods: (0..count).map(period).collect() })
    }
}

impl Mirror<model::CpuCost> for Cpu {
    fn from_model(cpu: &model::CpuCost) -> Self {
        Cpu {
            total_ns: cpu.total.get(),
            user_ns: cpu.split.map(|(user, _)| user.get()),
            system_ns: cpu.split.map(|(_, system)| system.get()),
            count: cpu.requests,
        }
    }

    fn into_model(self) -> Result<model::CpuCost, RecordError> {
        Ok(model::CpuCost {
            total: Nanos(self.total_ns),
            split: self.user_ns.zip(self.system_ns).map(|(user, system)| (Nanos(user), Nanos(system))),
            requests: self.count,
        })
    }
}
