//! What follows from latencies for caches, lines and address translation. Nothing that the machine tells decides anything here: it
//! is only put beside what was found.

mod shapes;
mod steps;
mod sure;

pub use sure::{Class, RANGES, REGIMES, range};

use crate::course::LINE;
use crate::inspect::DISTANCES;
use crate::plan::SPACING;
use flashscope_model::finding::Support;
use flashscope_model::memory::{Chase, MemoryFinding, Pages, Quantity, Route, ToldCache};
use flashscope_model::{Estimate, Reason};
use flashscope_stats::location::quantile;
use flashscope_units::Bytes;
use steps::{Fit, Point, Step};

/// What the machine tells of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    sizes: Vec<f64>,
    line: Option<f64>,
}

impl Told {
    /// By its caches, the first first.
    pub fn of(caches: &[ToldCache]) -> Told {
        let line = caches.first().and_then(|cache| cache.line).map(|line| line.as_f64());
        Told { sizes: caches.iter().map(|cache| cache.size.as_f64()).collect(), line }
    }
}

/// Levels of cache that are looked for.
const LEVELS: usize = 4;
/// A level is one where the next takes at least so many times as long: less is translation, or the memory's own rows.
const LEVEL_RATIO: f64 = 1.35;
/// Steps nearer than this are one that no shape fits.
const APART: f64 = 1.7;
/// The same in small pages: sets fill so unevenly there that one cache has a long slope.
const APART_SMALL: f64 = 3.2;
/// Other sizes that are no more than this factor away are the same figure.
pub const SAME_SIZE: f64 = 1.15;
/// Sizes with at least so much of the most probability around them are candidates for the answer.
const AS_GOOD: f64 = 0.97;
/// A translation step is one where loads take so many times as long afterwards.
const TLB_RATIO: f64 = 1.2;
/// Share of disturbed stretches that a point outlives: what disturbs only adds.
const QUIET: f64 = 0.25;

/// How likely a finding of a class with a score is right.
type Judge<'a> = &'a dyn Fn(Class, f64) -> f64;

/// All that follows.
pub fn findings(chases: &[Chase], page: Bytes, told: &Told) -> Vec<MemoryFinding> {
    let small = !in_huge_pages(chases);
    findings_by(&|class, score| sure::of(small, class, score), chases, page, told)
}

/// The same with scores in the place of probabilities: what probabilities are counted by.
pub fn scores(chases: &[Chase], page: Bytes) -> Vec<MemoryFinding> {
    findings_by(&|_, score| score, chases, page, &Told::default())
}

fn findings_by(judge: Judge<'_>, chases: &[Chase], page: Bytes, told: &Told) -> Vec<MemoryFinding> {
    let caches = caches(judge, chases, page, told);
    let mut all = caches.findings;
    let line = line(judge, chases, told);
    let bytes = line.estimate.value().map_or(LINE as f64, |bytes| bytes.max(LINE as f64));
    all.push(line);
    all.extend(translation(judge, chases, page, bytes));
    all.extend([caches.memory]);
    all
}

/// Points of the sweep of this kind, by size.
fn points(chases: &[Chase], route: Route, pages: Pages) -> Vec<Point> {
    let wanted = chases.iter().filter(|chase| chase.route == route && chase.pages == pages);
    // Where they were measured again with a place in each line, these.
    let spacing = wanted.clone().map(|chase| chase.spacing).max();
    let wanted = wanted.filter(|chase| Some(chase.spacing) == spacing);
    let mut points: Vec<Point> = wanted
        .filter_map(|chase| Some(Point { size: chase.span.as_f64(), time: quantile(&chase.times_ns, QUIET)? }))
        .collect();
    points.sort_by(|a, b| a.size.total_cmp(&b.size));
    points.dedup_by(|a, b| a.size == b.size);
    points
}

/// The sweep that caches are told from: huge pages where they were given, else small ones page by page.
fn sweep(chases: &[Chase]) -> Vec<Point> {
    match in_huge_pages(chases) {
        true => points(chases, Route::Random, Pages::Huge),
        false => points(chases, Route::ByPage, Pages::Small),
    }
}

/// Whether huge pages were given for the sweep.
fn in_huge_pages(chases: &[Chase]) -> bool {
    let given = chases.iter().filter(|chase| chase.route == Route::Random && chase.huge > 0.9);
    given.count() > 8
}

struct Caches {
    findings: Vec<MemoryFinding>,
    memory: MemoryFinding,
}

/// A level of cache: its size, its time, and the step at its end.
struct Level {
    time: f64,
    step: Step,
}

fn finding(quantity: Quantity, level: Option<u32>, estimate: Estimate<f64>, told: Option<f64>) -> MemoryFinding {
    MemoryFinding { quantity, level, estimate, told }
}

fn known(value: f64, confidence: f64, evidence: String, alternatives: Vec<(f64, f64)>) -> Estimate<f64> {
    Estimate::Value(value, Support { confidence, alternatives, evidence, method: Vec::new(), doubts: Vec::new() })
}

fn caches(judge: Judge<'_>, chases: &[Chase], page: Bytes, told: &Told) -> Caches {
    let points = sweep(chases);
    let page = (!in_huge_pages(chases)).then_some(page.as_f64());
    let Some(fit) = steps::fit(&points, page) else {
        let none = || Estimate::unknown(Reason::TooFew, "latency was measured at too few sizes");
        return Caches {
            findings: vec![finding(Quantity::CacheLevels, None, none(), None)],
            memory: finding(Quantity::MemoryLatency, None, none(), None),
        };
    };
    let apart = if in_huge_pages(chases) { APART } else { APART_SMALL };
    let (levels, last) = levels(&fit, apart);
    let most = points.last().map_or(0.0, |point| point.size);
    let beyond = most / levels.last().map_or(1.0, |level| level.step.size);
    let mut findings = vec![count(judge, &levels, &fit, told)];
    for (at, level) in levels.iter().take(LEVELS).enumerate() {
        let next = levels.get(at + 1).map_or(last, |next| next.time);
        let number = Some(at as u32 + 1);
        findings.push(finding(
            Quantity::CacheSize,
            number,
            size(judge, at, level, next, &fit),
            told.sizes.get(at).copied(),
        ));
        let raw = clarity(&fit, next / level.time);
        let evidence = format!("loads take {:.2} ns from there on down, and {next:.2} ns beyond", level.time);
        let sure = judge(Class::Latency, raw);
        findings.push(finding(Quantity::CacheLatency, number, known(level.time, sure, evidence, Vec::new()), None));
    }
    let rising = tail_rises(&points);
    let evidence = format!("{last:.1} ns over {}", Bytes(most as u64));
    let memory = match levels.is_empty() || beyond < 2.0 || rising {
        true => Estimate::at_least(last, judge(Class::MemoryBound, 0.9), evidence + ", and not seen to end there", &[]),
        false => known(last, judge(Class::Memory, clarity(&fit, beyond)), evidence, Vec::new()),
    };
    Caches { findings, memory: finding(Quantity::MemoryLatency, None, memory, None) }
}

/// Steps that are ends of caches, steps that lie together taken as one, and the time beyond the last.
fn levels(fit: &Fit, apart: f64) -> (Vec<Level>, f64) {
    let mut merged: Vec<Step> = Vec::new();
    for step in &fit.steps {
        match merged.last_mut() {
            Some(before) if step.size / before.size < apart => {
                let rise = before.rise + step.rise;
                if step.rise > before.rise {
                    *before = step.clone();
                }
                before.rise = rise;
            }
            _ => merged.push(step.clone()),
        }
    }
    let mut time = fit.base;
    let mut levels: Vec<Level> = Vec::new();
    for step in merged {
        let after = time + step.rise;
        // What rises less belongs to the level that it is in.
        if after / levels.last().map_or(fit.base, |_| time) >= LEVEL_RATIO {
            levels.push(Level { time, step });
        }
        time = after;
    }
    (levels, time)
}

/// How clear a step is against what scatters: 0 to 1.
fn clarity(fit: &Fit, ratio: f64) -> f64 {
    let clear = (ratio.max(1.0)).ln() / (fit.scatter.max(0.005) * 8.0);
    (clear / (1.0 + clear)).clamp(0.0, 1.0)
}

fn count(judge: Judge<'_>, levels: &[Level], fit: &Fit, told: &Told) -> MemoryFinding {
    let told = Some(told.sizes.len() as f64).filter(|count| *count > 0.0);
    let least = levels.windows(2).map(|pair| pair[1].time / pair[0].time).fold(f64::INFINITY, f64::min);
    let raw = clarity(fit, least.min(8.0));
    let sizes: Vec<String> = levels.iter().map(|level| Bytes(level.step.size as u64).to_string()).collect();
    let estimate = match levels.is_empty() {
        true => Estimate::unknown(Reason::NothingShows, "loads take the same time over all sizes"),
        false => {
            let evidence = format!("latency steps up at {}", sizes.join(", "));
            known(levels.len() as f64, judge(Class::Levels, raw), evidence, Vec::new())
        }
    };
    finding(Quantity::CacheLevels, None, estimate, told)
}

/// The size of a level: the likeliest, and others beside it.
fn size(judge: Judge<'_>, at: usize, level: &Level, next: f64, fit: &Fit) -> Estimate<f64> {
    let (raw, best, others) = likeliest(&level.step.places);
    let evidence = format!("from {} on, loads take {next:.2} ns instead of {:.2} ns", Bytes(best as u64), level.time);
    let class = Class::size(at);
    let sure = judge(class, raw * clarity(fit, next / level.time).sqrt());
    // What is left to others is shared out as it lies, so that all of it adds up to no more than one.
    let left = (1.0 - sure).max(0.0) / (1.0 - raw).max(1e-9);
    let alternatives = others.into_iter().map(|(size, share)| (size, (share * left).min(1.0 - sure))).collect();
    known(best, sure, evidence, alternatives)
}

/// The likeliest size with the probability of all that are as good as it, and others.
fn likeliest(places: &[(f64, f64)]) -> (f64, f64, Vec<(f64, f64)>) {
    let around = |centre: f64| -> f64 {
        let near = places.iter().filter(|(size, _)| (size / centre).max(centre / size) <= SAME_SIZE);
        near.map(|(_, share)| share).sum()
    };
    let most = places.iter().map(|(size, _)| around(*size)).fold(0.0, f64::max);
    // Of several that have as much around them, the one that is likely by itself.
    let as_good = places.iter().filter(|(size, _)| around(*size) >= AS_GOOD * most);
    let best = as_good.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0.0, |place| place.0);
    let mut others: Vec<(f64, f64)> = places
        .iter()
        .copied()
        .filter(|(size, share)| *share > 0.05 && (size / best).max(best / size) > SAME_SIZE)
        .collect();
    others.sort_by(|a, b| b.1.total_cmp(&a.1));
    others.truncate(3);
    (around(best), best, others)
}

/// Whether the last octave is still on its way up.
fn tail_rises(points: &[Point]) -> bool {
    let Some(most) = points.last().map(|point| point.size) else { return true };
    let mean = |low: f64, high: f64| {
        let inside: Vec<f64> =
            points.iter().filter(|point| point.size > low && point.size <= high).map(|point| point.time).collect();
        quantile(&inside, 0.5)
    };
    match (mean(most / 2.0, most), mean(most / 4.0, most / 2.0)) {
        (Some(last), Some(before)) => last / before > 1.15,
        _ => true,
    }
}

/// The line: the shortest distance from which on the second of a pair takes as long as the first.
fn line(judge: Judge<'_>, chases: &[Chase], told: &Told) -> MemoryFinding {
    let at = |distance: u64| {
        let mut of = chases.iter().filter(|chase| chase.route == Route::Pairs && chase.spacing.get() == distance);
        of.find_map(|chase| quantile(&chase.times_ns, QUIET))
    };
    let times: Option<Vec<f64>> = DISTANCES.iter().map(|distance| at(*distance)).collect();
    let estimate = match times {
        None => Estimate::unknown(Reason::NotMeasured, "pairs of loads were not measured"),
        Some(times) => line_of(judge, &times),
    };
    finding(Quantity::LineSize, None, estimate, told.line)
}

/// Rise of a pair's time below which no line shows: the first cache serves all, or none.
const LEAST_RISE: f64 = 0.15;

/// The line, where it is longer than places of a sweep are apart.
pub(crate) fn longer_line(chases: &[Chase]) -> Option<u64> {
    let line = line(&|_, score| score, chases, &Told::default()).estimate.value()? as u64;
    (line > SPACING).then_some(line)
}

fn line_of(judge: Judge<'_>, times: &[f64]) -> Estimate<f64> {
    let (low, high) = (times[0], times.iter().copied().fold(0.0, f64::max));
    if high < low * (1.0 + LEAST_RISE) {
        return Estimate::unknown(
            Reason::NothingShows,
            "the second load of a pair takes the same time at any distance",
        );
    }
    let middle = low + 0.5 * (high - low);
    let Some(first) = times.iter().position(|time| *time > middle) else {
        return Estimate::unknown(
            Reason::NothingShows,
            "the second load of a pair takes the same time at any distance",
        );
    };
    let before = times[..first].iter().copied().fold(0.0, f64::max);
    let after = times[first..].iter().copied().fold(f64::INFINITY, f64::min);
    let raw = ((after - before) / (high - low)).clamp(0.0, 1.0);
    let evidence = format!(
        "the second load of a pair is served with the first up to {} B apart ({before:.2} ns a load), and not from {} B on \
         ({after:.2} ns)",
        DISTANCES[first.saturating_sub(1)],
        DISTANCES[first]
    );
    known(DISTANCES[first] as f64, judge(Class::Line, raw), evidence, Vec::new())
}

/// What each level of translation reaches: where one place a page takes longer than the same number of lines close together.
fn translation(judge: Judge<'_>, chases: &[Chase], page: Bytes, line: f64) -> Vec<MemoryFinding> {
    let (apart, together) = (points(chases, Route::PerPage, Pages::Small), sweep(chases));
    let excess: Vec<Point> = apart.iter().filter_map(|point| alone(point, &together, page, line)).collect();
    let fit = steps::fit(&excess, None);
    let steps: Vec<(Step, f64)> = fit.iter().flat_map(tlb_steps).collect();
    let mut found = Vec::new();
    for level in 0..2usize {
        let number = Some(level as u32 + 1);
        let (reach, miss) = match (steps.get(level), &fit) {
            (Some((step, before)), Some(fit)) => {
                let (raw, best, others) = likeliest(&step.places);
                let sure = judge(Class::tlb(level), raw * clarity(fit, (before + step.rise) / before).sqrt());
                let pages = best / page.as_f64();
                let evidence = format!("with more than {pages:.0} pages a load takes {:.2} ns longer", step.rise);
                let left = (1.0 - sure).max(0.0) / (1.0 - raw).max(1e-9);
                let others = others.into_iter().map(|(size, share)| (size, (share * left).min(1.0 - sure))).collect();
                let miss = known(step.rise, judge(Class::TlbMiss, raw), evidence.clone(), Vec::new());
                (known(best, sure, evidence, others), miss)
            }
            _ => {
                let why = if apart.is_empty() { Reason::NotMeasured } else { Reason::NothingShows };
                let none =
                    || Estimate::unknown(why, "one place a page takes no longer than the same lines close together");
                (none(), none())
            }
        };
        found.push(finding(Quantity::TlbReach, number, reach, None));
        found.push(finding(Quantity::TlbMiss, number, miss, None));
    }
    found
}

/// The steps of translation, each with the time before it.
fn tlb_steps(fit: &Fit) -> Vec<(Step, f64)> {
    let mut time = fit.base;
    let mut found: Vec<(Step, f64)> = Vec::new();
    for step in &fit.steps {
        match found.last_mut() {
            Some((before, _)) if step.size / before.size < APART => {
                let rise = before.rise + step.rise;
                if step.rise > before.rise {
                    *before = step.clone();
                }
                before.rise = rise;
            }
            _ if (time + step.rise) / time >= TLB_RATIO => found.push((step.clone(), time)),
            _ => {}
        }
        time += step.rise;
    }
    found
}

/// A point without what its lines take in the caches, in the place of which the first level's time is put.
fn alone(point: &Point, together: &[Point], page: Bytes, line: f64) -> Option<Point> {
    let first = together.first()?;
    let size = point.size / page.as_f64() * line;
    let after = together.iter().position(|other| other.size >= size)?;
    let lines = match after {
        0 => first.time,
        after => {
            let (low, high) = (together[after - 1], together[after]);
            let part = (size / low.size).ln() / (high.size / low.size).ln();
            low.time + part * (high.time - low.time)
        }
    };
    Some(Point { size: point.size, time: (point.time - lines).max(0.0) + first.time })
}
