//! What is drawn of a run of load.

use crate::axis;
use crate::time::Bin;
use flashscope_model::bench::{BenchRecord, JobRun, Moved, Times, WrittenCurve};
use flashscope_model::preset::{Tracked, Unit};
use flashscope_units::{Bytes, Nanos};

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
    /// Job, direction and what was timed.
    pub title: String,
    /// How many requests.
    pub requests: u64,
    /// The median.
    pub median: Nanos,
    /// The longest.
    pub longest: Nanos,
    /// Bins on a logarithmic scale, shortest first.
    pub histogram: Vec<Bin>,
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
    /// Length of the longest time without any end, and when it began, of the first run.
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

/// The figures of all plots.
pub fn bench(record: &BenchRecord) -> BenchView {
    let mut view = BenchView { rounds: rounds(record), ..BenchView::default() };
    let mut jobs = 0;
    for phase in &record.phases {
        let count = phase.runs.first().map_or(0, |run| run.jobs.len());
        for at in 0..count {
            jobs += 1;
            if jobs > JOBS {
                view.left_out += 1;
                continue;
            }
            let runs: Vec<&JobRun> = phase.runs.iter().filter_map(|run| run.jobs.get(at)).collect();
            view.times.extend(all_times(&runs));
            view.series.extend(series(&runs));
            view.written.extend(written(&runs));
        }
    }
    view
}

fn all_times(runs: &[&JobRun]) -> Vec<TimesView> {
    type Pick = fn(&JobRun) -> Option<&Moved>;
    let directions: [(&str, Pick); 2] = [("reads", |job| job.read.as_ref()), ("writes", |job| job.write.as_ref())];
    let mut found = Vec::new();
    for (word, pick) in directions {
        let moved: Vec<&Moved> = runs.iter().filter_map(|job| pick(job)).collect();
        let response: Vec<&Times> = moved.iter().filter_map(|moved| moved.response.as_ref()).collect();
        let service: Vec<&Times> = moved.iter().map(|moved| &moved.service).collect();
        let Some(first) = runs.first() else { continue };
        for (times, what) in [(service, "service time"), (response, "response time")] {
            found.extend(distribution(format!("{}, {word}: {what}", first.name), &times));
        }
    }
    found
}

/// All runs together; `None` of too few requests.
fn distribution(title: String, times: &[&Times]) -> Option<TimesView> {
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
    Some(TimesView { title, requests, median: median?, longest, histogram: bins(&buckets), percentiles })
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

fn series(runs: &[&JobRun]) -> Option<CurvesView> {
    let first = runs.first()?;
    let curve = |job: &&JobRun| {
        let period = job.series.period;
        // The last period is not full, and would show a fall that there is not.
        let whole = job.series.periods.len().saturating_sub(1);
        let points: Vec<(f64, f64)> = job.series.periods[..whole]
            .iter()
            .enumerate()
            .map(|(at, entry)| {
                let rate = (entry.read + entry.written).as_f64() / period.as_secs_f64().max(1e-9);
                ((at as f64 + 0.5) * period.as_f64(), rate)
            })
            .collect();
        gathered(&points)
    };
    let curves = chosen(runs, curve);
    let stall = first.stall.map(|stall| (stall.time, stall.from));
    (!curves.is_empty()).then(|| CurvesView { title: first.name.clone(), curves, stall })
}

fn written(runs: &[&JobRun]) -> Option<CurvesView> {
    let first = runs.first()?;
    let curve = |job: &&JobRun| match &job.written[..] {
        [one] => gathered(&rates(one)),
        _ => Vec::new(),
    };
    let curves = chosen(runs, curve);
    (!curves.is_empty()).then(|| CurvesView { title: first.name.clone(), curves, stall: None })
}

/// The curves of runs that are spread evenly from the first to the last, those that are too short left out.
fn chosen(runs: &[&JobRun], curve: impl Fn(&&JobRun) -> Vec<(f64, f64)>) -> Vec<(usize, Vec<(f64, f64)>)> {
    let count = runs.len().min(RUNS);
    let at = |index: usize| if count > 1 { index * (runs.len() - 1) / (count - 1) } else { 0 };
    let all = (0..count).map(|index| (at(index) + 1, curve(&runs[at(index)])));
    all.filter(|(_, curve)| curve.len() >= PERIODS_AT_LEAST).collect()
}

/// Rate of each step that was written.
fn rates(curve: &WrittenCurve) -> Vec<(f64, f64)> {
    let mut began = Nanos::ZERO;
    let mut points = Vec::new();
    for (at, end) in curve.times.iter().enumerate() {
        let time = end.saturating_sub(began);
        if time > Nanos::ZERO {
            let written: Bytes = curve.step * (at as u64 + 1);
            points.push((written.as_f64(), curve.step.as_f64() / time.as_secs_f64()));
        }
        began = *end;
    }
    points
}

/// Means of neighbours, so that no more than the width of a plot is left.
fn gathered(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let each = points.len().div_ceil(GRID.0).max(1);
    let mean = |part: &[(f64, f64)]| {
        let count = part.len() as f64;
        (part.iter().map(|point| point.0).sum::<f64>() / count, part.iter().map(|point| point.1).sum::<f64>() / count)
    };
    points.chunks(each).map(mean).collect()
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
