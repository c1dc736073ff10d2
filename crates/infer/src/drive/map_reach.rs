//! How much of the device the part of the mapping table in memory stands for: random reads in a longer range miss it, the more of them the
//! longer the range.
//!
//! Of a range of length X a share 1 − R/X misses a memory that reaches R, and each miss reads a page of the map first. So
//! the mean time is a constant up to R and rises along that curve behind it.
//!
//! That holds where what can be in memory is: each range is read with a step first, which fetches whole pages of the map. A
//! map that comes in smaller pieces (entry by entry, as in DFTL of Gupta, Kim and Urgaonkar, ASPLOS 2009) is fetched by few of
//! these reads, so that those that count miss in any range. Many reads in the shortest one tell: they get faster then.

use crate::Choice;
use crate::numbers::{SEEN, probability};
use crate::reading::readable;
use crate::situation::Situation;
use flashscope_model::observation::{MapReachData, RangeTimes};
use flashscope_model::plan::{MapReach, Span};
use flashscope_model::{Data, DeviceFacts, Estimate, Experiment, ExperimentName, Observations, Reason};
use flashscope_stats::line::weighted_least_squares;
use flashscope_stats::location::standard_deviation;
use flashscope_units::{Bytes, Contrast, Nanos};
use std::collections::BTreeMap;

/// Ranges below this say more of the changing of units than of a map.
const SHORTEST: Bytes = Bytes::mib(64);

/// One page of the map stands for several MiB in most controllers, and for no less than this.
const WARM_STEP: Bytes = Bytes::mib(2);

/// Reads of each visit of a range in an adaptive run.
const REQUESTS: u32 = 200;
/// Most of the device that an adaptive run reads through.
const LONGEST: Bytes = Bytes::gib(16);

/// Ranges that double up to the longest, and down again: what disturbs the host for a while then sets the two visits of a
/// range apart, which a map does not.
pub fn plan(block: Bytes, start: Bytes, longest: Bytes, requests: u32) -> MapReach {
    let doubled = std::iter::successors(Some(SHORTEST.min(longest)), |range| Some(*range * 2));
    let mut ranges: Vec<Bytes> = doubled.take_while(|range| *range < longest).collect();
    ranges.push(longest.align_down(block));
    ranges.extend(ranges.clone().into_iter().rev());
    MapReach { block, start, ranges, warm_step: WARM_STEP, requests }
}

/// Ranges up to the end of what can be read, or to what an adaptive run reads through.
pub(crate) fn choice(now: &Situation) -> Option<Choice> {
    let whole = Span { start: Bytes::ZERO, length: now.device.capacity };
    let span = readable(now).unwrap_or(whole);
    let longest = span.length.min(LONGEST);
    if longest < SHORTEST * 4 {
        return None;
    }
    let plan = plan(now.block(Bytes::kib(4)), span.start, longest, REQUESTS);
    let controls: Vec<_> = controls(now.observations).collect();
    let (at, why) = match controls[..] {
        [] => {
            let looks = runs(now.observations).count();
            let found = estimate(Some(now.device), now.observations);
            if looks == 0 || looks < LOOKS && found.reason() == Some(Reason::TooNoisy) {
                return Some(Choice {
                    experiment: Experiment::MapReach(plan),
                    why: "whether reads take longer in a range beyond the reach of the mapping table in memory".into(),
                });
            }
            if found.is_unknown() {
                return None;
            }
            let why =
                "whether many reads in one range get faster: then the map comes in pieces too small for a few to fetch";
            (span.start, why)
        }
        [only] if gets_faster(only).is_some() => {
            let elsewhere = span.start + (longest / 2).align_down(plan.block);
            (elsewhere, "whether reads get faster elsewhere, too: what only passed just then would not do it twice")
        }
        _ => return None,
    };
    let control = MapReach { start: at, ranges: vec![SHORTEST], requests: REQUESTS_OF_CONTROL, ..plan };
    Some(Choice { experiment: Experiment::MapReach(control), why: why.into() })
}

/// Runs over all ranges at most, while visits of one differ too much.
const LOOKS: usize = 3;

/// Reads in the shortest range that bring most of its map where an entry stands for 16 KiB, and a part that shows where it
/// stands for 4.
const REQUESTS_OF_CONTROL: u32 = 8192;

/// Reads at either end of these that are compared.
const ENDS: usize = 512;

/// What each run in one range alone read, as controls.
fn controls(observations: &Observations) -> impl Iterator<Item = &RangeTimes> {
    runs(observations).filter_map(|data| match &data.ranges[..] {
        [one] => Some(one),
        _ => None,
    })
}

fn runs(observations: &Observations) -> impl Iterator<Item = &MapReachData> {
    observations.runs.iter().filter_map(|run| match &run.data {
        Data::MapReach(data) => Some(data),
        _ => None,
    })
}

/// By how much reads of the control got faster, where that is more than chance makes.
fn gets_faster(control: &RangeTimes) -> Option<Contrast> {
    let ends = ENDS.min(control.times.len() / 4);
    let part = |times: &[Nanos]| visit(&RangeTimes { length: control.length, times: times.to_vec() });
    let (first, last) = part(&control.times[..ends]).zip(part(&control.times[control.times.len() - ends..]))?;
    let gain = first.mean - last.mean;
    let error = (first.variance + last.variance).sqrt();
    (gain > (SURE_OF_GAIN * error).max(LEAST_GAIN * first.mean)).then_some(Contrast(gain))
}

/// Standard errors that reads get faster by, to be believed.
const SURE_OF_GAIN: f64 = 5.0;
/// What reads get faster by at least, as a share of their time: a clock that drifts makes them so as well.
const LEAST_GAIN: f64 = 0.03;

/// Reaches that are tried, per doubling.
const PER_DOUBLING: i32 = 16;

/// A reach must be better than none by this much on the scale of −2 ln likelihood.
const SURELY_BETTER: f64 = 15.0;

/// Without a mean that is at least this sure, as a share of it, a map's misses would not show.
const TOO_UNSURE: f64 = 0.05;

/// A miss reads a page of the mapping table, which takes the fastest flash this long, in nanoseconds. A card that takes one
/// request at a time is no such controller, as far as anybody knows: there a shorter share of its reads is not looked for.
const LEAST_MISS: f64 = 25e3;
/// Shortest miss that is looked for on a card, as a share of the mean time of its reads.
const LEAST_SHARE_OF_CARDS: f64 = 0.1;
/// Standard errors by which a miss may be longer than it seems.
const SURE_OF_MISSES: f64 = 2.0;

/// A reach between this share of the longest range and all of it is not worth a longer one.
const NEARLY_ALL: f64 = 0.7;

/// This share of a mean is never explained.
const UNEXPLAINED: f64 = 0.006;

struct Point {
    length: f64,
    mean: f64,
    variance: f64,
}

/// The reach, or how far reads were tried without any.
pub(crate) fn estimate(device: Option<&DeviceFacts>, observations: &Observations) -> Estimate<Bytes> {
    let queued = device.is_some_and(|device| device.queue_depth.is_some_and(|depth| depth > 1));
    let looks: Vec<&MapReachData> = runs(observations).filter(|data| data.ranges.len() != 1).collect();
    if looks.is_empty() {
        return Estimate::not_measured();
    }
    let gains = controls(observations).map(|range| Some((range, gets_faster(range)?)));
    if let Some(&(range, gain)) = gains.collect::<Option<Vec<_>>>().as_ref().and_then(|gains| gains.last()) {
        return Estimate::unknown(
            Reason::Ambiguous,
            format!(
                "{} reads within {} get {gain} faster on their way: the map comes in pieces too small for the reads before, so \
                 that those that count miss in any range",
                range.times.len(),
                range.length
            ),
        );
    }
    let points = points(looks.iter().flat_map(|data| &data.ranges));
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Estimate::unknown(Reason::TooFew, "no range could be read");
    };
    if points.len() < 3 {
        return Estimate::unknown(Reason::TooFew, "too few ranges could be read");
    }
    let flat = flat(&points);
    let steps = ((last.length / first.length).log2() * f64::from(PER_DOUBLING)) as i32;
    let tried: Vec<Curve> = (0..=steps)
        .filter_map(|step| {
            let reach = first.length * 2f64.powf(f64::from(step) / f64::from(PER_DOUBLING));
            curve(&points, reach)
        })
        .collect();
    let rising = tried.iter().filter(|curve| curve.miss > 0.0);
    match rising.min_by(|a, b| a.bic.total_cmp(&b.bic)) {
        Some(&Curve { reach, bic, miss, .. }) if bic + SURELY_BETTER < flat => {
            let near = |other: f64| (other / reach).ln().abs() <= 1.2f64.ln();
            let weight = |curve: &&Curve| if curve.miss > 0.0 { (-(curve.bic - bic) / 2.0).exp() } else { 0.0 };
            let total: f64 = tried.iter().map(|curve| weight(&curve)).sum();
            let close: f64 = tried.iter().filter(|curve| near(curve.reach)).map(|curve| weight(&curve)).sum();
            // The shortest range must have had no misses, or it is another thing that grows with distance.
            if reach < first.length * 1.9 {
                return Estimate::unknown(
                    Reason::Ambiguous,
                    format!(
                        "reads take longer from the shortest range of {} on: changing the unit may cost as much as a map",
                        Bytes(first.length as u64)
                    ),
                );
            }
            let value = Bytes(reach as u64).align_down(Bytes::mib(1));
            let evidence = format!(
                "random reads take {} up to {value} and up to {} longer behind it, as a map of which so much is in memory",
                Nanos(points[0].mean as u64),
                Nanos(miss as u64)
            );
            Estimate::known(value, probability(close / total), evidence, &[ExperimentName::MapReach])
        }
        _ if points.iter().any(|point| point.variance.sqrt() > TOO_UNSURE * point.mean) => {
            Estimate::unknown(Reason::TooNoisy, "reads of one range differ too much from visit to visit")
        }
        _ => no_misses(&points, &tried, queued),
    }
}

/// How far there were no misses: up to the first reach behind which they could have been overlooked.
fn no_misses(points: &[Point], tried: &[Curve], queued: bool) -> Estimate<Bytes> {
    let (first, last) = (&points[0], &points[points.len() - 1]);
    let least = if queued { LEAST_MISS } else { LEAST_MISS.max(LEAST_SHARE_OF_CARDS * first.mean) };
    let overlooked = tried.iter().find(|curve| curve.miss + SURE_OF_MISSES * curve.miss_error >= least);
    // Only the very end of the longest range would tell of a reach just below it.
    let early = overlooked.filter(|curve| curve.reach < NEARLY_ALL * last.length);
    // One anywhere from the reach before it on could have been.
    let before = 2f64.powf(-1.0 / f64::from(PER_DOUBLING));
    let reach = early.map_or(last.length, |curve| curve.reach * before);
    if reach < first.length * 1.9 {
        return Estimate::unknown(Reason::TooNoisy, "reads of one range differ by more than a map's misses would take");
    }
    let length = Bytes(reach as u64).align_down(Bytes::mib(1));
    let evidence = format!(
        "random reads take as long within {} as within {} ({})",
        Bytes(last.length as u64),
        Bytes(first.length as u64),
        Nanos(first.mean as u64)
    );
    Estimate::at_least(length, SEEN, evidence, &[ExperimentName::MapReach])
}

/// A point for each length: the mean of its visits, as sure as these agree with each other.
///
/// The scatter between visits is estimated over all lengths together (two visits alone say little) as the mean variance of
/// the visits of one length, and only what the scatter within them leaves open is added.
fn points<'a>(ranges: impl IntoIterator<Item = &'a RangeTimes>) -> Vec<Point> {
    let mut visits: BTreeMap<Bytes, Vec<Point>> = BTreeMap::new();
    for range in ranges {
        visits.entry(range.length).or_default().extend(visit(range));
    }
    let within = |visits: &[Point]| visits.iter().map(|visit| visit.variance).sum::<f64>() / visits.len() as f64;
    let apart: Vec<f64> = visits
        .values()
        .filter_map(|visits| {
            let means: Vec<f64> = visits.iter().map(|visit| visit.mean).collect();
            Some((standard_deviation(&means)?.powi(2) - within(visits)).max(0.0))
        })
        .collect();
    let between = apart.iter().sum::<f64>() / apart.len().max(1) as f64;
    let joined = |visits: Vec<Point>| {
        let count = visits.len() as f64;
        let mean = visits.iter().map(|visit| visit.mean).sum::<f64>() / count;
        let variance = (within(&visits) + between) / count + (UNEXPLAINED * mean).powi(2);
        Point { length: visits[0].length, mean, variance }
    };
    visits.into_values().filter(|visits| !visits.is_empty()).map(joined).collect()
}

/// Mean of one visit and its variance, without the longest of the times, which are not of the map's making.
fn visit(range: &RangeTimes) -> Option<Point> {
    let mut sorted: Vec<f64> = range.times.iter().map(|time| time.as_f64()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.truncate(sorted.len() - sorted.len() / 20);
    let count = sorted.len() as f64;
    if count < 16.0 {
        return None;
    }
    let mean = sorted.iter().sum::<f64>() / count;
    let spread = sorted.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0);
    Some(Point { length: range.length.as_f64(), mean, variance: spread / count })
}

fn flat(points: &[Point]) -> f64 {
    let weight: f64 = points.iter().map(|point| 1.0 / point.variance).sum();
    let mean = points.iter().map(|point| point.mean / point.variance).sum::<f64>() / weight;
    points.iter().map(|point| (point.mean - mean).powi(2) / point.variance).sum::<f64>() + (points.len() as f64).ln()
}

/// One reach, and what the times say of it.
struct Curve {
    reach: f64,
    /// −2 ln likelihood with the price of its parameters.
    bic: f64,
    /// What a miss takes, in nanoseconds, and its standard error.
    miss: f64,
    miss_error: f64,
}

/// The curve of one reach that fits best; `None` where no range goes beyond it.
fn curve(points: &[Point], reach: f64) -> Option<Curve> {
    let misses: Vec<f64> = points.iter().map(|point| (1.0 - reach / point.length).max(0.0)).collect();
    let means: Vec<f64> = points.iter().map(|point| point.mean).collect();
    let weights: Vec<f64> = points.iter().map(|point| 1.0 / point.variance).collect();
    let line = weighted_least_squares(&misses, &means, &weights).ok()?;
    let chi: f64 = line.residuals.iter().zip(&weights).map(|(off, weight)| off * off * weight).sum();
    let total: f64 = weights.iter().sum();
    let middle = misses.iter().zip(&weights).map(|(miss, weight)| miss * weight).sum::<f64>() / total;
    let spread: f64 = misses.iter().zip(&weights).map(|(miss, weight)| weight * (miss - middle).powi(2)).sum();
    let bic = chi + 3.0 * (points.len() as f64).ln();
    (spread > 0.0).then(|| Curve { reach, bic, miss: line.slope, miss_error: spread.sqrt().recip() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads of `(length in MiB, time in µs)`, a visit each, with a few microseconds of scatter.
    fn visits(of: &[(u64, u64)]) -> Vec<RangeTimes> {
        let times = |base: u64| (0..100).map(|read| Nanos::micros(base + read % 7)).collect();
        of.iter().map(|&(length, base)| RangeTimes { length: Bytes::mib(length), times: times(base) }).collect()
    }

    #[test]
    fn reads_that_fetch_the_map_piece_by_piece_get_faster() {
        // Of 4096 entries each read brings one; a miss takes 60 µs.
        let told = |miss: f64| {
            let time = |read: u64| 200.0 + (read % 7) as f64 + miss * (-(read as f64) / 4096.0).exp();
            let times = (0..8192).map(|read| Nanos((time(read) * 1e3) as u64)).collect();
            gets_faster(&RangeTimes { length: SHORTEST, times }).map(|gain| (gain.get() / 1e3).round())
        };
        assert_eq!((told(60.0), told(0.0)), (Some(48.0), None));
    }

    #[test]
    fn what_is_excluded_ends_before_the_first_reach_that_may_be_overlooked() {
        let mib = |size: f64| size * f64::from(1 << 20);
        let points: Vec<Point> = [64.0, 256.0, 1024.0]
            .map(|length| Point { length: mib(length), mean: 1e5, variance: 1.0 })
            .into_iter()
            .collect();
        let tried: Vec<Curve> = (0..64)
            .map(|step| 64.0 * 2f64.powf(f64::from(step) / f64::from(PER_DOUBLING)))
            .map(|reach| Curve {
                reach: mib(reach),
                bic: 0.0,
                miss: 0.0,
                // A map that reaches 300 MiB is not told from none.
                miss_error: if reach < 300.0 { 1e3 } else { 1e5 },
            })
            .collect();
        let least = no_misses(&points, &tried, true).least().unwrap();
        assert!((Bytes::mib(280)..Bytes::mib(300)).contains(&least), "{least}");
    }

    #[test]
    fn a_disturbed_visit_makes_every_point_unsure() {
        let quiet = points(&visits(&[(64, 500), (128, 500), (256, 600), (256, 600), (128, 500), (64, 500)]));
        assert_eq!(quiet.len(), 3);
        assert!(quiet.iter().all(|point| point.variance.sqrt() < 0.02 * point.mean));
        let disturbed = points(&visits(&[(64, 500), (128, 500), (256, 2500), (256, 500), (128, 500), (64, 500)]));
        assert!(disturbed.iter().all(|point| point.variance.sqrt() > TOO_UNSURE * point.mean));
    }
}
