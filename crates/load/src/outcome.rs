//! What workers wrote down, as the plain data of a record.

use crate::file::settings;
use crate::histogram::Histogram;
use crate::plan::Resolved;
use crate::record::{Failure, KEPT_FAILURES, Kind, Recorder, Tally};
use crate::steady::Verdict;
use flashscope_model::StopReason;
use flashscope_model::bench::{
    CpuCost, FirstPart, JobRun, LongRun, Moved, RequestFailure, SeriesPeriod, StallSeen, SteadySeen, Summary,
    TimeSeries, Times, WrittenCurve,
};
use flashscope_model::run::PathTaken;
use flashscope_stats::interval;
use flashscope_stats::location::median;
use flashscope_stats::sustained::sustained;
use flashscope_units::{Bytes, Instant, Nanos};

/// The shares of which percentiles are given, where there are enough values for them.
pub const PERCENTILES: [f64; 9] = [0.01, 0.10, 0.50, 0.90, 0.95, 0.99, 0.999, 0.9999, 0.99999];

/// Below this the kernel's timer, which ticks every 1 to 10 ms, has looked less than some fifty times at where a thread is.
const LEAST_SPLIT: Nanos = Nanos::millis(250);

/// Processor time of a job's workers, as the system counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// All of it, exactly.
    pub total: Nanos,
    /// In the program and in the kernel, as the timer's ticks divide it.
    pub user: Nanos,
    /// See `user`.
    pub system: Nanos,
}

impl CpuTimes {
    fn cost(self, requests: u64) -> CpuCost {
        let split = (self.total >= LEAST_SPLIT).then_some((self.user, self.system));
        CpuCost { total: self.total, split, requests }
    }
}

/// What the workers of one job did together.
///
/// # Panics
/// Never with at least one worker's notes, which a job always has.
pub fn job_run(
    plan: &Resolved,
    notes: &[Recorder],
    path: PathTaken,
    cpu: Option<CpuTimes>,
    stop: StopReason,
    steady: Option<Verdict>,
) -> JobRun {
    let from = notes.iter().map(|note| note.from).min().unwrap_or(Instant::ORIGIN);
    let until = notes.iter().map(|note| note.until).max().unwrap_or(from);
    let elapsed = until.since(from);
    let sum = |pick: fn(&Recorder) -> &Tally| {
        let (first, rest) = notes.split_first()?;
        let mut sum = pick(first).clone();
        rest.iter().for_each(|note| sum.add(pick(note)));
        Some(sum)
    };
    let moved = |tally: Option<Tally>, wanted: bool| tally.filter(|_| wanted).map(|tally| moved(&tally, elapsed));
    let mix = plan.job.mix;
    let read_back = sum(|note| &note.read_back).filter(|tally| tally.requests > 0);
    let mut failures: Vec<&Failure> = notes.iter().flat_map(|note| &note.failures).collect();
    failures.sort_by_key(|failure| failure.at);
    let stall =
        notes.iter().map(|note| note.stall).max_by_key(|stall| stall.time).filter(|stall| stall.time > Nanos::ZERO);
    let series = series(notes);
    JobRun {
        name: plan.job.name.clone(),
        settings: settings(&plan.job).into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        path,
        workers: plan.job.workers,
        elapsed,
        read: moved(sum(|note| &note.read), mix.has_reads()),
        write: moved(sum(|note| &note.write), mix.has_writes()),
        flush: sum(|note| &note.flush).and_then(|tally| times(&tally.service, tally.service_sum, tally.service_range)),
        read_back: read_back.map(|tally| (tally.requests, Bytes(tally.bytes))),
        failed: notes.iter().map(|note| note.failed).sum(),
        mismatched: notes.iter().map(|note| note.mismatched).sum(),
        failures: failures.into_iter().take(KEPT_FAILURES).map(|failure| request_failure(failure, from)).collect(),
        stall: stall.map(|stall| StallSeen { time: stall.time, from: stall.from.since(from) }),
        long_run: long_run(&series),
        series,
        written: notes.iter().filter_map(|note| written(note, from)).collect(),
        cpu: cpu.map(|cpu| cpu.cost(notes.iter().map(handled).sum())),
        stop,
        steady: steady.map(|verdict| match verdict {
            Verdict::Steady { rounds } => SteadySeen { steady: true, rounds, ahead: None },
            Verdict::NotSteady { rounds } => SteadySeen { steady: false, rounds, ahead: None },
        }),
    }
}

/// Bytes read and written by all means, warm-up and reading back included: what a device must have moved.
pub fn moved_in_all(notes: &[Recorder]) -> (Bytes, Bytes) {
    let read = notes.iter().map(|note| note.read.bytes + note.read_back.bytes + note.warm_up.1).sum();
    let written = notes.iter().map(|note| note.write.bytes + note.warm_up.2).sum();
    (Bytes(read), Bytes(written))
}

fn handled(note: &Recorder) -> u64 {
    note.read.requests
        + note.write.requests
        + note.flush.requests
        + note.read_back.requests
        + note.warm_up.0
        + note.failed
}

fn moved(tally: &Tally, elapsed: Nanos) -> Moved {
    let per_second = |count: u64| if elapsed == Nanos::ZERO { 0.0 } else { count as f64 / elapsed.as_secs_f64() };
    let open = tally.open.as_deref();
    Moved {
        requests: tally.requests,
        bytes: Bytes(tally.bytes),
        requests_per_s: per_second(tally.requests),
        bytes_per_s: per_second(tally.bytes),
        service: times(&tally.service, tally.service_sum, tally.service_range).unwrap_or_else(no_times),
        queue: open.and_then(|open| times(&open.queue, open.queue_sum, open.queue_range)),
        response: open.and_then(|open| times(&open.response, open.response_sum, open.response_range)),
    }
}

fn no_times() -> Times {
    Times { count: 0, min: Nanos::ZERO, mean: 0.0, max: Nanos::ZERO, percentiles: Vec::new(), buckets: Vec::new() }
}

/// `None` where there are none.
fn times(histogram: &Histogram, sum: u64, (min, max): (Nanos, Nanos)) -> Option<Times> {
    let count = histogram.count();
    // The middle of a bucket may lie beyond what was ever measured; the longest time is known exactly.
    let percentile = |of: f64| Some((of, histogram.percentile(of)?.max(min).min(max)));
    (count > 0).then(|| Times {
        count,
        min,
        mean: sum as f64 / count as f64,
        max,
        percentiles: PERCENTILES.iter().filter_map(|of| percentile(*of)).collect(),
        buckets: histogram.buckets().map(|bucket| (bucket.low, bucket.high, bucket.count)).collect(),
    })
}

fn request_failure(failure: &Failure, from: Instant) -> RequestFailure {
    let kind = match failure.kind {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Flush => "flush",
        Kind::ReadBack => "read back",
    };
    let mismatch = failure.mismatch.as_ref();
    RequestFailure {
        at: failure.at.since(from),
        kind: kind.to_owned(),
        offset: Bytes(failure.offset),
        length: Bytes(u64::from(failure.length)),
        reason: failure.reason.clone(),
        mismatch: mismatch.map(|found| (Bytes(found.position), found.expected.clone(), found.found.clone())),
    }
}

fn series(notes: &[Recorder]) -> TimeSeries {
    let Some((first, rest)) = notes.split_first() else { return TimeSeries::default() };
    let mut sum = first.series.clone();
    // Workers start within microseconds of each other, far less than a period: their periods count as the same.
    rest.iter().for_each(|note| sum.add(&note.series));
    let periods = sum.periods().iter().map(|period| SeriesPeriod {
        reads: period.reads,
        writes: period.writes,
        read: Bytes(period.read_bytes),
        written: Bytes(period.written_bytes),
        service_sum: Nanos(period.service_sum),
        service_max: Nanos(period.service_max),
    });
    TimeSeries { period: sum.period(), periods: periods.collect() }
}

/// The rate once it no longer changed; `None` of too few periods.
fn long_run(series: &TimeSeries) -> Option<LongRun> {
    // The last period is not full.
    let whole = series.periods.len().saturating_sub(1);
    let bytes: Vec<f64> =
        series.periods[..whole].iter().map(|period| (period.read + period.written).as_f64()).collect();
    if bytes.len() < LEAST_PERIODS {
        return None;
    }
    let found = sustained(&bytes).ok()?;
    let rate = |bytes: f64| bytes / series.period.as_secs_f64();
    let periods = found.from as u64;
    let first = found.before.map(|before| FirstPart {
        time: series.period * periods,
        bytes: Bytes((before * periods as f64).round() as u64),
        bytes_per_s: rate(before),
    });
    Some(LongRun {
        bytes_per_s: rate(found.mean),
        low: rate(found.low),
        high: rate(found.high),
        settled: found.is_settled,
        first,
    })
}

/// Fewer periods show no course.
const LEAST_PERIODS: usize = 24;

fn written(note: &Recorder, from: Instant) -> Option<WrittenCurve> {
    let times: Vec<Nanos> = note.written.times().iter().map(|at| at.since(from)).collect();
    (!times.is_empty()).then(|| WrittenCurve { step: note.written.step(), times })
}

type Pick = fn(&JobRun) -> Option<f64>;

/// Median and interval of each job's rates and 99th percentiles over the runs of a phase; nothing for a single run.
pub fn summaries(runs: &[Vec<JobRun>]) -> Vec<Summary> {
    let Some(first) = runs.first().filter(|_| runs.len() > 1) else { return Vec::new() };
    let figures: [(&str, Pick); 6] = [
        ("read_requests_per_s", |job| Some(job.read.as_ref()?.requests_per_s)),
        ("read_bytes_per_s", |job| Some(job.read.as_ref()?.bytes_per_s)),
        ("read_service_time_ns_p99", |job| p99(&job.read.as_ref()?.service)),
        ("write_requests_per_s", |job| Some(job.write.as_ref()?.requests_per_s)),
        ("write_bytes_per_s", |job| Some(job.write.as_ref()?.bytes_per_s)),
        ("write_service_time_ns_p99", |job| p99(&job.write.as_ref()?.service)),
    ];
    let mut found = Vec::new();
    for (index, job) in first.iter().enumerate() {
        for (figure, pick) in figures {
            let values: Vec<f64> = runs.iter().filter_map(|jobs| pick(jobs.get(index)?)).collect();
            let Some(middle) = (values.len() > 1).then(|| median(&values)).flatten() else { continue };
            let interval = interval::median_interval(&values, 0.95).ok();
            let interval = interval.map(|interval| (interval.low, interval.high, interval.confidence));
            found.push(Summary { job: job.name.clone(), figure: figure.to_owned(), values, median: middle, interval });
        }
    }
    found
}

fn p99(times: &Times) -> Option<f64> {
    times.percentiles.iter().find(|(of, _)| *of == 0.99).map(|(_, time)| time.as_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_only_divided_where_ticks_can_tell() {
        let cost = |total| CpuTimes { total, user: Nanos::ZERO, system: total }.cost(7);
        // A run shorter than a tick is all one or the other by chance, or nothing at all.
        assert_eq!(cost(Nanos::millis(3)), CpuCost { total: Nanos::millis(3), split: None, requests: 7 });
        assert_eq!(cost(Nanos::secs(1)).split, Some((Nanos::ZERO, Nanos::secs(1))));
    }
}
