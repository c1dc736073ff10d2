//! What is drawn of a run of load.

use crate::axis;
use crate::time::Bin;
use flashscope_model::bench::{BenchPhase, BenchRecord, JobRun, Moved, SeriesPeriod, TimeSeries, Times, WrittenCurve};
use flashscope_model::preset::{Tracked, Unit};
use flashscope_units::{Bytes, Nanos};

/// Fewest requests of which a rate is drawn: of one large request per period a curve would be a block of ink.
const REQUESTS_PER_POINT: u64 = 10;
/// Points of a curve that are drawn at most, across and up.
const GRID: (usize, usize) = (260, 90);
/// Jobs that get plots of their own: of hundreds of cells nobody looks at every one.
const JOBS: usize = 16;
/// Runs that are drawn over each other at most.
const RUNS: usize = 6;
/// Fewest requests of which a distribution is worth drawing.
const REQUESTS_AT_LEAST: u64 = 24;
/// Fewest periods of which a course is.
const PERIODS_AT_LEAST: usize = 4;
/// Bins per factor of ten.
const BINS_PER_DECADE: f64 = 30.0;

/// All plots of a run; empty where nothing of the kind was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BenchView {
    /// Distributions of times, all runs of a job together.
    pub times: Vec<TimesView>,
    /// Rate by time.
    pub series: Vec<CurvesView>,
    /// Rate by bytes written.
    pub written: Vec<CurvesView>,
    /// Figures over the rounds of a preset.
    pub rounds: Vec<RoundsView>,
    /// How many jobs have no plot, as there are so many.
    pub left_out: usize,
}

/// How long the requests of one job took, in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct TimesView {
    /// Job and direction.
    pub title: String,
    /// What was timed: `latency (service time)` or `response time`.
    pub what: &'static str,
    /// How many requests.
    pub requests: u64,
    /// The median.
    pub median: Nanos,
    /// The longest.
    pub longest: Nanos,
    /// Bins on a logarithmic scale, shortest first.
    pub histogram: Vec<Bin>,
    /// Shortest and longest time of all plots of the run, which share an axis.
    pub span: (Nanos, Nanos),
    /// Share of requests that were over within a time: the number of nines of the share (1 is 90 %, 3 is 99.9 %), and
    /// the time in nanoseconds.
    pub percentiles: Vec<(f64, f64)>,
}

/// Rates of one job, a curve per run.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvesView {
    /// The job.
    pub title: String,
    /// Number of a run, counted from 1, and its course: (nanoseconds or bytes written, bytes per second).
    pub curves: Vec<(usize, Vec<(f64, f64)>)>,
    /// The largest rate and the end of the other axis among the plots that this one shares its axes with.
    pub ends: (f64, f64),
    /// Fewest requests in a point of a curve.
    pub requests: u64,
    /// Length of the longest gap between completions, and when it began, of the first run.
    pub stall: Option<(Nanos, Nanos)>,
}

/// One figure over the rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundsView {
    /// Its name.
    pub title: String,
    /// Its unit.
    pub unit: Unit,
    /// Round, counted from 1, and value.
    pub values: Vec<(f64, f64)>,
    /// Bytes written in all and value; empty where the job only reads.
    pub by_written: Vec<(f64, f64)>,
    /// First and last round of the steady window.
    pub window: Option<(u32, u32)>,
}

/// Rate within one period of a series.
pub fn period_rate(entry: &SeriesPeriod, period: Nanos) -> f64 {
    (entry.read + entry.written).as_f64() / period.as_secs_f64().max(1e-9)
}

/// The figures of all plots.
pub fn bench(record: &BenchRecord) -> BenchView {
    let mut view = BenchView { rounds: rounds(record), ..BenchView::default() };
    let mut jobs = 0;
    for (number, phase) in (1..).zip(&record.phases) {
        let count = phase.runs.first().map_or(0, |run| run.jobs.len());
        for at in 0..count {
            jobs += 1;
            if jobs > JOBS {
                view.left_out += 1;
                continue;
            }
            let runs: Vec<&JobRun> = phase.runs.iter().filter_map(|run| run.jobs.get(at)).collect();
            let Some(name) = runs.first().map(|job| distinct_name(record, number, &job.name)) else { continue };
            view.times.extend(all_times(&name, &runs));
            view.series.extend(series(&name, &runs));
            view.written.extend(written(&name, &runs));
        }
    }
    share_axes(&mut view);
    view
}

/// The name of a job; with the number of its phase where another phase has one of that name.
fn distinct_name(record: &BenchRecord, number: usize, name: &str) -> String {
    let has = |phase: &&BenchPhase| phase.runs.first().is_some_and(|run| run.jobs.iter().any(|job| job.name == name));
    match record.phases.iter().filter(has).count() {
        0 | 1 => name.to_owned(),
        _ => format!("{name}, phase {number}"),
    }
}

/// Plots of the same quantity get equal axes.
fn share_axes(view: &mut BenchView) {
    let shortest = view.times.iter().map(|times| times.span.0).min();
    let longest = view.times.iter().map(|times| times.span.1).max();
    if let Some(span) = shortest.zip(longest) {
        view.times.iter_mut().for_each(|times| times.span = span);
    }
    for views in [&mut view.series, &mut view.written] {
        let tops = axis::shared_tops(&views.iter().map(|view| view.ends.0).collect::<Vec<_>>());
        let rights = axis::shared_tops(&views.iter().map(|view| view.ends.1).collect::<Vec<_>>());
        for (view, ends) in views.iter_mut().zip(tops.into_iter().zip(rights)) {
            view.ends = ends;
        }
    }
}

fn all_times(name: &str, runs: &[&JobRun]) -> Vec<TimesView> {
    type Pick = fn(&JobRun) -> Option<&Moved>;
    let directions: [(&str, Pick); 2] = [("reads", |job| job.read.as_ref()), ("writes", |job| job.write.as_ref())];
    let mut found = Vec::new();
    for (word, pick) in directions {
        let moved: Vec<&Moved> = runs.iter().filter_map(|job| pick(job)).collect();
        let response: Vec<&Times> = moved.iter().filter_map(|moved| moved.response.as_ref()).collect();
        let service: Vec<&Times> = moved.iter().map(|moved| &moved.service).collect();
        for (times, what) in [(service, "latency (service time)"), (response, "response time")] {
            found.extend(distribution(format!("{name}, {word}"), what, &times));
        }
    }
    found
}

/// All runs together; `None` of too few requests.
fn distribution(title: String, what: &'static str, times: &[&Times]) -> Option<TimesView> {
    let mut buckets: Vec<(Nanos, Nanos, u64)> = times.iter().flat_map(|times| times.buckets.iter().copied()).collect();
    buckets.sort_unstable();
    let requests: u64 = buckets.iter().map(|(.., count)| count).sum();
    if requests < REQUESTS_AT_LEAST {
        return None;
    }
    let longest = times.iter().map(|times| times.max).max()?;
    let shortest = times.iter().map(|times| times.min).min()?;
    let (mut below, mut median, mut percentiles) = (0, None, Vec::new());
    for (low, high, count) in &buckets {
        below += count;
        let middle = (low.as_f64() + high.as_f64()) / 2.0;
        let middle = middle.clamp(shortest.as_f64(), longest.as_f64());
        if 2 * below >= requests && median.is_none() {
            median = Some(Nanos(middle as u64));
        }
        // The curve ends where fewer than ten lie beyond: what is above is chance.
        if requests - below >= 10 {
            percentiles.push((nines(below as f64 / requests as f64), middle));
        }
    }
    let percentiles = axis::thin(&percentiles, GRID);
    let histogram = bins(&buckets);
    let ends =
        histogram.first().zip(histogram.last()).map(|(first, last)| (Nanos(first.low as u64), Nanos(last.high as u64)));
    Some(TimesView { title, what, requests, median: median?, longest, histogram, span: ends?, percentiles })
}

/// 0.9 is 1, 0.99 is 2, and so on.
fn nines(share: f64) -> f64 {
    -(1.0 - share).log10()
}

/// Buckets of a recorder are finer than what can be drawn: gathers them into bins of equal width on a logarithmic scale.
fn bins(buckets: &[(Nanos, Nanos, u64)]) -> Vec<Bin> {
    let log = |time: Nanos| time.as_f64().max(1.0).log10();
    let (Some((first, ..)), Some((_, last, _))) = (buckets.first(), buckets.last()) else { return Vec::new() };
    let (low, high) = (log(*first), log(*last).max(log(*first) + 0.02));
    let count = (((high - low) * BINS_PER_DECADE).ceil() as usize).clamp(12, 240);
    let width = (high - low) / count as f64;
    let edge = |bin: usize| 10f64.powf(low + width * bin as f64);
    let mut bins: Vec<Bin> = (0..count).map(|bin| Bin { low: edge(bin), high: edge(bin + 1), count: 0 }).collect();
    for (from, to, number) in buckets {
        let middle = (log(*from) + log(*to)) / 2.0;
        let at = (((middle - low) / width) as usize).min(count - 1);
        bins[at].count += *number as usize;
    }
    bins
}

fn series(name: &str, runs: &[&JobRun]) -> Option<CurvesView> {
    let curve = |job: &&JobRun| {
        let parts = periods(job, |entry| (entry.reads + entry.writes, entry.read + entry.written));
        gathered(&parts, |part| part.time.as_f64())
    };
    let curves = chosen(runs, curve);
    let stall = runs.first()?.stall.map(|stall| (stall.time, stall.from));
    curves_view(format!("{name}: rate over time"), curves, stall)
}

fn written(name: &str, runs: &[&JobRun]) -> Option<CurvesView> {
    let curve = |job: &&JobRun| match (&job.written[..], &job.write) {
        ([_, _, ..], _) | (_, None) => Vec::new(),
        (one, Some(moved)) => {
            let by_steps = one
                .first()
                .map(|one| gathered(&steps(one, (moved.requests, moved.bytes), job.elapsed), |part| part.bytes));
            let by_time = gathered(&periods(job, |entry| (entry.writes, entry.written)), |part| part.bytes);
            // Steps are long where little was written, periods where that was fast.
            by_steps.filter(|by_steps| by_steps.len() >= by_time.len()).unwrap_or(by_time)
        }
    };
    curves_view(format!("{name}: rate by bytes written"), chosen(runs, curve), None)
}

fn curves_view(
    title: String,
    curves: Vec<(usize, Vec<(f64, f64)>)>,
    stall: Option<(Nanos, Nanos)>,
) -> Option<CurvesView> {
    let points = || curves.iter().flat_map(|(_, curve)| curve);
    let ends = points().fold((0.0, 0.0), |ends: (f64, f64), point| (ends.0.max(point.1), ends.1.max(point.0)));
    let requests = REQUESTS_PER_POINT;
    let is_course = curves.iter().any(|(_, curve)| curve.len() >= PERIODS_AT_LEAST);
    is_course.then_some(CurvesView { title, curves, ends, requests, stall })
}

/// The curves of runs that are spread evenly from the first to the last.
fn chosen(runs: &[&JobRun], curve: impl Fn(&&JobRun) -> Vec<(f64, f64)>) -> Vec<(usize, Vec<(f64, f64)>)> {
    let count = runs.len().min(RUNS);
    let at = |index: usize| if count > 1 { index * (runs.len() - 1) / (count - 1) } else { 0 };
    let all = (0..count).map(|index| (at(index) + 1, curve(&runs[at(index)])));
    all.filter(|(_, curve)| !curve.is_empty()).collect()
}

/// Neighbouring parts together.
#[derive(Default)]
struct Pool {
    parts: usize,
    requests: u64,
    bytes: f64,
    time: Nanos,
    /// Along the axis.
    length: f64,
}

impl Pool {
    fn add(&mut self, part: &Part, length: f64) {
        self.join(&Pool { parts: 1, requests: part.requests, bytes: part.bytes, time: part.time, length });
    }

    fn join(&mut self, other: &Pool) {
        self.parts += other.parts;
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.time += other.time;
        self.length += other.length;
    }
}

/// A stretch of a run.
#[derive(Clone, Copy)]
struct Part {
    /// Requests that ended in it.
    requests: u64,
    /// Bytes that were moved.
    bytes: f64,
    /// How long it took.
    time: Nanos,
}

/// What was moved in each period, as `pick` counts it: requests and bytes.
fn periods(job: &JobRun, pick: impl Fn(&SeriesPeriod) -> (u64, Bytes)) -> Vec<Part> {
    let TimeSeries { period, periods } = &job.series;
    let part = |(number, entry): (u64, &SeriesPeriod)| {
        let (requests, bytes) = pick(entry);
        // The last period is as long as the run went on in it.
        let left = job.elapsed.saturating_sub(*period * number).min(*period);
        Part { requests, bytes: bytes.as_f64(), time: if left > Nanos::ZERO { left } else { *period } }
    };
    (0..).zip(periods).map(part).collect()
}

/// The steps that one worker wrote, and what it wrote after the last whole one.
fn steps(curve: &WrittenCurve, (requests, bytes): (u64, Bytes), elapsed: Nanos) -> Vec<Part> {
    let block = bytes.get().checked_div(requests).unwrap_or(0).max(1);
    let part = |bytes: Bytes, time| Part { requests: bytes.get() / block, bytes: bytes.as_f64(), time };
    let began = std::iter::once(Nanos::ZERO).chain(curve.times.iter().copied());
    let whole = began.zip(&curve.times).map(|(began, end)| part(curve.step, end.saturating_sub(began)));
    let last = curve.times.last().copied().unwrap_or(Nanos::ZERO);
    let rest = part(bytes.saturating_sub(curve.step * curve.times.len() as u64), elapsed.saturating_sub(last));
    whole.chain((rest.bytes > 0.0).then_some(rest)).collect()
}

/// Rates of neighbouring parts together: of as many as it takes for [`REQUESTS_PER_POINT`], and for no more points than a plot
/// is wide. A point stands at the middle of what `along` counts. What is left over at the end belongs to the last point: it
/// may be where a device falls to a hundredth of its rate.
fn gathered(parts: &[Part], along: impl Fn(&Part) -> f64) -> Vec<(f64, f64)> {
    let each = parts.len().div_ceil(GRID.0).max(1);
    let mut bins: Vec<Pool> = Vec::new();
    let mut open = Pool::default();
    for part in parts {
        open.add(part, along(part));
        if open.requests >= REQUESTS_PER_POINT && open.parts >= each && open.time > Nanos::ZERO {
            bins.push(std::mem::take(&mut open));
        }
    }
    match bins.last_mut() {
        Some(last) if open.requests < REQUESTS_PER_POINT => last.join(&open),
        _ if open.requests > 0 && open.time > Nanos::ZERO => bins.push(open),
        _ => {}
    }
    let mut began = 0.0;
    let point = |bin: Pool| {
        let middle = began + bin.length / 2.0;
        began += bin.length;
        (middle, bin.bytes / bin.time.as_secs_f64())
    };
    bins.into_iter().map(point).collect()
}

fn rounds(record: &BenchRecord) -> Vec<RoundsView> {
    let Some(rounds) = record.preset.as_ref().and_then(|preset| preset.rounds.as_ref()) else { return Vec::new() };
    let of_one = |tracked: &Tracked| RoundsView {
        title: tracked.name.clone(),
        unit: tracked.unit,
        values: (1..).map(f64::from).zip(tracked.values.iter().copied()).collect(),
        by_written: tracked.written.iter().copied().zip(tracked.values.iter().copied()).collect(),
        window: rounds.steady_at.map(|end| (end.saturating_sub(4), end)),
    };
    rounds.tracked.iter().filter(|tracked| tracked.values.len() > 1).map(of_one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_that_of_ten_requests_and_more() {
        // One request of 1 MiB per period of 0.1 s, and a stall of 2 s in the middle.
        let part = |requests: u64| Part { requests, bytes: requests as f64 * 1048576.0, time: Nanos::millis(100) };
        let parts: Vec<Part> = (0..60).map(|at| part(if (20..40).contains(&at) { 0 } else { 1 })).collect();
        let points = gathered(&parts, |part| part.time.as_f64());
        let rates: Vec<u64> = points.iter().map(|point| (point.1 / 1e5).round() as u64).collect();
        assert_eq!(rates, [105, 105, 35, 105]);
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(points[0].0, 0.5e9);
    }

    #[test]
    fn what_is_left_over_belongs_to_the_last_point() {
        let part = |requests, millis| Part { requests, bytes: 4096.0 * requests as f64, time: Nanos::millis(millis) };
        // Two full points, then five requests that take a hundred times as long each.
        let points = gathered(&[part(10, 10), part(10, 10), part(5, 500)], |part| part.bytes);
        assert_eq!(points.len(), 2);
        assert!((points[1].1 - 15.0 * 4096.0 / 0.51).abs() < 1.0, "{points:?}");
        assert_eq!(points[1].0, 4096.0 * (10.0 + 7.5));
        // Fewer than a full point in all are one point, not none.
        assert_eq!(gathered(&[part(3, 10)], |part| part.bytes).len(), 1);
    }

    #[test]
    fn what_was_written_after_the_last_whole_step_is_drawn() {
        let curve = WrittenCurve { step: Bytes::mib(1), times: vec![Nanos::millis(100), Nanos::millis(200)] };
        let parts = steps(&curve, (640, Bytes::kib(4 * 640)), Nanos::secs(10));
        let seen: Vec<_> = parts.iter().map(|part| (part.requests, part.time)).collect();
        assert_eq!(seen, [(256, Nanos::millis(100)), (256, Nanos::millis(100)), (128, Nanos::millis(9800))]);
    }
}
