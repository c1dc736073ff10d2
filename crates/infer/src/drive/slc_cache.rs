//! A cache of fast cells, from long writes in order: how much is written before the rate falls, and whether a rest brings
//! it back.
//!
//! A first burst fills whatever there is to its end, so that what earlier writes left in the cache does not matter; a
//! second one after a rest measures it. A fall that no rest brings back may be collection as well.
//!
//! Whether its size depends on how full the device is shows only on one that is measured twice, with much more data on
//! it the second time. Data can be added, and not taken away without more than this tool asks for: so a device that is
//! full as it comes stays untested.

use super::overwrite::ASKED;
use crate::numbers::{digits, median};
use crate::situation::Situation;
use crate::{Choice, open_units, survey};
use flashscope_model::finding::{SlcCache, SlcKind};
use flashscope_model::observation::SlcCacheData;
use flashscope_model::plan::{self, Overwrite, Purpose, Span, Stretch};
use flashscope_model::{
    Data, DeviceFacts, Direction, Estimate, Experiment, ExperimentName, Observations, Order, Reason,
};
use flashscope_stats::change::{ChangeSettings, Penalty, biweight_changes, difference_noise};
use flashscope_units::{ByteRate, Bytes, Nanos};

/// Size of a write.
const BLOCK: Bytes = Bytes::mib(1);

/// A burst is extended by so much at a time, and looked at in between.
const PIECE: Bytes = Bytes::mib(32);

/// Rest before the first burst, and before the second.
const REST: Nanos = Nanos::millis(30_000);

/// No adaptive run writes more than this at a stretch, or than this share of what it may write where that is more, and not
/// less than the least.
const MOST: Bytes = Bytes::gib(1);
const SHARE_OF_PURSE: u64 = 4;
const LEAST: Bytes = Bytes::mib(32);

/// Nor more than this share of the device; less on one with a limit of open units, where such caches are rare and writes
/// slow.
const SHARE: u64 = 16;
const SHARE_OF_UNITS: u64 = 64;
const MOST_OF_UNITS: Bytes = Bytes::mib(256);

/// A rate has fallen where writes take longer by this factor.
const FALL: f64 = 1.15;

/// So many writes after a fall make it one.
const LEAST_AFTER: usize = 8;

/// Noise of log times below which nothing is believed to be exact.
const LEAST_NOISE: f64 = 0.02;

/// What was written after one rest.
pub(crate) struct Series {
    /// Share of the device that held data before, as far as is known.
    fill: Option<f64>,
    idle: Nanos,
    span: Span,
    /// Size of each write.
    pub(crate) block: Bytes,
    /// Seconds of each, in their order.
    pub(crate) seconds: Vec<f64>,
}

/// Where the rate fell.
#[derive(Clone, Copy)]
struct Fall {
    /// Writes before it.
    before: usize,
    /// Median seconds of a write before and after.
    fast: f64,
    slow: f64,
    /// Share of the writes on either side that are on the right side of the middle between the two.
    clean: f64,
}

/// The next piece of a burst, or the second burst.
pub(crate) fn choice(now: &Situation) -> Option<Choice> {
    let stretches = stretches(now.observations);
    let most = most(now);
    let (burst, why) = match stretches.as_slice() {
        [] => {
            let pool = now.pool();
            let start = pool.stretch(most, now.device.capacity, &mut now.rng(7))?;
            let span = Span { start, length: PIECE.min(most) };
            (Stretch { idle: REST, span }, "long writes after a rest: is there a cache of fast cells?")
        }
        [first] => match fall(first) {
            None => (go_on(first, most)?, "no fall of the rate yet: go on"),
            Some(fall) => {
                (second_burst(first, fall, now), "the rate fell: does a rest bring it back, and for how much?")
            }
        },
        [.., before, first] if is_fuller(first, before) => match fall(first) {
            None if fall(before).is_some_and(|fall| is_slow(first, fall.fast, fall.slow)) => return None,
            None => (go_on(first, most)?, "no fall of the rate yet: go on"),
            Some(fall) => {
                (second_burst(first, fall, now), "the rate fell: how much does it take on the fuller device?")
            }
        },
        [first, second] => {
            let limit = (first.span.length * 2).min(most * 2);
            let hopeless = fall(second).is_some() || first.seconds.len() < LEAST_AFTER || second.seconds.is_empty();
            if hopeless {
                return fuller(now, first, second, most);
            }
            (go_on(second, limit)?, "no fall of the rate yet: go on")
        }
        // On the fuller device, once more.
        [.., first, second] => {
            fall(second).is_none().then_some(())?;
            (go_on(second, (first.span.length * 2).min(most * 2))?, "no fall of the rate yet: go on")
        }
    };
    let fits = burst.span.start + burst.span.length <= now.device.capacity;
    (most >= LEAST && fits).then(|| Choice {
        experiment: Experiment::SlcCache(plan::SlcCache { block: BLOCK, bursts: vec![burst] }),
        why: why.to_owned(),
    })
}

/// A burst that measures what the one before it filled.
fn second_burst(first: &Series, fall: Fall, now: &Situation) -> Stretch {
    // A quarter more than the first time, and enough after that to see a fall.
    let length = (first.block * (fall.before + fall.before / 4 + 2 * LEAST_AFTER) as u64).max(LEAST);
    // Elsewhere than the first one, or a slow place would be taken for a cache that is full.
    let start = first.span.start + first.block * (fall.before / 2) as u64;
    let start = if start + length <= now.device.capacity { start } else { first.span.start };
    let span = Span { start, length: length.min(first.span.length.max(LEAST)) };
    Stretch { idle: REST, span }
}

/// Once the cache of a device with room was measured, and much more may be written: fill it, and measure again.
fn fuller(now: &Situation, first: &Series, second: &Series, most: Bytes) -> Option<Choice> {
    let capacity = now.device.capacity;
    let measured = fall(first).is_some() && fall(second).is_some();
    let room = second.fill.is_some_and(|fill| fill + FULLER < FULL);
    if !measured || !room || most < LEAST || now.purse < capacity * ASKED {
        return None;
    }
    let block = now.block(BLOCK);
    if fill_at_end(now.observations)? + FULLER / 2.0 < FULL {
        let length = (capacity.as_f64() * FULL) as u64;
        let span = Span { start: Bytes::ZERO, length: Bytes(length).align_down(block) };
        return Some(Choice {
            experiment: Experiment::Overwrite(Overwrite { random: 0, ..super::overwrite::plan(block, span, 1) }),
            why: "fill the device: does the cache get smaller?".to_owned(),
        });
    }
    let span = Span {
        start: first.span.start.min(capacity.saturating_sub(most * 2)).align_down(block),
        length: PIECE.min(most),
    };
    Some(Choice {
        experiment: Experiment::SlcCache(plan::SlcCache { block, bursts: vec![Stretch { idle: REST, span }] }),
        why: "long writes after a rest on the fuller device".to_owned(),
    })
}

/// Shares of the device: full enough, and so much more than before that a cache of free blocks must be smaller.
const FULL: f64 = 0.95;
const FULLER: f64 = 0.3;

/// What filling the device for it takes, where so much may be written that it is thought of at all.
pub(crate) fn fill_within(device: &DeviceFacts, write: Bytes) -> Option<Bytes> {
    (write >= device.capacity * ASKED).then_some(device.capacity)
}

fn is_fuller(one: &Series, other: &Series) -> bool {
    one.fill.zip(other.fill).is_some_and(|(one, other)| one >= other + FULLER)
}

/// Where a burst goes on without a rest; `None` where it is long enough.
fn go_on(stretch: &Series, most: Bytes) -> Option<Stretch> {
    let end = stretch.span.start + stretch.span.length;
    let piece = PIECE.max((stretch.span.length / 4).align_down(BLOCK));
    let length = piece.min(most.saturating_sub(stretch.span.length)).align_down(stretch.block);
    (length > Bytes::ZERO).then_some(Stretch { idle: Nanos::ZERO, span: Span { start: end, length } })
}

/// The most that a burst is worth on this device.
fn most(now: &Situation) -> Bytes {
    let limited = open_units::estimate(now.observations, Order::InOrder).value().is_some();
    let (share, most) = if limited { (SHARE_OF_UNITS, MOST_OF_UNITS) } else { (SHARE, most_within(now.purse)) };
    (now.device.capacity / share).min(most).align_down(BLOCK.max(now.device.logical_block))
}

/// What it can write before anything is known of the device: two bursts.
pub(crate) fn most_on(device: &DeviceFacts, purse: Bytes) -> Bytes {
    (device.capacity / SHARE).min(most_within(purse)) * 2
}

fn most_within(purse: Bytes) -> Bytes {
    MOST.max(purse / SHARE_OF_PURSE)
}

/// What the first look at it takes, where that is a small part of all that may be written; nothing once it was taken.
pub(crate) fn left_for_cache(now: &Situation) -> Bytes {
    let first = PIECE.min(most(now));
    let wanted = stretches(now.observations).is_empty() && first >= LEAST && first * CACHE_SHARE <= now.purse;
    if wanted { first } else { Bytes::ZERO }
}

/// The share of all that may be written, for which that look goes before the dear end of a search.
const CACHE_SHARE: u64 = 6;

/// What a run can write for this subject at the worst.
pub(crate) fn most_written(now: &Situation) -> Bytes {
    most(now) * 2
}

/// The bursts, those that went on without a rest in one piece.
pub(crate) fn stretches(observations: &Observations) -> Vec<Series> {
    let mut stretches: Vec<Series> = Vec::new();
    let mut fill = None;
    for run in &observations.runs {
        fill = fill_behind(fill, &run.data, observations.capacity);
        let Data::SlcCache(SlcCacheData { block, bursts }) = &run.data else { continue };
        for burst in bursts {
            let seconds = burst.times.iter().map(|time| time.as_secs_f64());
            match stretches.last_mut() {
                Some(last) if burst.burst.idle == Nanos::ZERO && last.block == *block => {
                    last.seconds.extend(seconds);
                    last.span.length += burst.burst.span.length;
                }
                _ => stretches.push(Series {
                    fill,
                    idle: burst.burst.idle,
                    span: burst.burst.span,
                    block: *block,
                    seconds: seconds.collect(),
                }),
            }
        }
    }
    stretches
}

/// The share of the device that holds data behind a run: what the survey saw, and what fills added. Other writes are few, or
/// fall on what was written before.
fn fill_behind(before: Option<f64>, data: &Data, capacity: Option<Bytes>) -> Option<f64> {
    let capacity = capacity.filter(|capacity| *capacity > Bytes::ZERO)?.as_f64();
    match data {
        Data::Survey(data) if survey::answered(data).next().is_some() => {
            let places = survey::answered(data).count() as f64;
            Some(survey::answered(data).filter(|place| !survey::is_blank(place)).count() as f64 / places)
        }
        Data::Throughput(data) if (data.purpose, data.direction) == (Purpose::Fill, Direction::Write) => {
            before.map(|before| (before + data.length.as_f64() / capacity).min(1.0))
        }
        Data::Overwrite(data) if !data.in_order.is_empty() => {
            let written = data.block.as_f64() * f64::from(data.window) * data.in_order.len() as f64;
            Some(before.unwrap_or(0.0).max((written / capacity).min(1.0)))
        }
        _ => before,
    }
}

fn fill_at_end(observations: &Observations) -> Option<f64> {
    observations.runs.iter().fold(None, |fill, run| fill_behind(fill, &run.data, observations.capacity))
}

/// The first lasting fall of the rate.
fn fall(stretch: &Series) -> Option<Fall> {
    let logs: Vec<f64> = stretch.seconds.iter().filter(|s| **s > 0.0).map(|seconds| seconds.ln()).collect();
    if logs.len() < 2 * LEAST_AFTER {
        return None;
    }
    let noise = difference_noise(&logs).unwrap_or(0.0).max(LEAST_NOISE);
    let price = Penalty::PerChange(4.0 * (logs.len() as f64).ln());
    let changes = biweight_changes(&logs, ChangeSettings { penalty: price, noise_sd: Some(noise) }).ok()?;
    changes.starts.iter().copied().filter(|&start| start > 0).find_map(|start| {
        let (before, after) = logs.split_at(start);
        let least_after = LEAST_AFTER.max(start / 16);
        let (fast, slow) = (median(before)?, median(after)?);
        let middle = (fast + slow) / 2.0;
        let wrong =
            before.iter().filter(|log| **log > middle).count() + after.iter().filter(|log| **log < middle).count();
        let clean = 1.0 - wrong as f64 / logs.len() as f64;
        let fallen = after.len() >= least_after && slow - fast >= FALL.ln() && clean >= LEAST_CLEAN;
        fallen.then(|| Fall { before: start, fast: fast.exp(), slow: slow.exp(), clean })
    })
}

/// Where more writes than this are on the wrong side, there is no one fall.
const LEAST_CLEAN: f64 = 0.8;

/// The cache, and the rest that brings it back.
pub(crate) fn estimate(observations: &Observations) -> (Estimate<SlcCache>, Estimate<Nanos>) {
    let all = stretches(observations);
    // What was measured on a fuller device speaks of the kind alone.
    let full = all.iter().position(|stretch| is_fuller(stretch, &all[0])).unwrap_or(all.len());
    let (stretches, later) = all.split_at(full);
    let (mut cache, recovery) = measured(observations, stretches);
    if let Estimate::Value(found, support) = &mut cache {
        let (kind, words) = kind(found, later);
        found.kind = kind;
        support.evidence.push_str(&words);
    }
    (cache, recovery)
}

/// Whether a fuller device has a smaller cache, in words as well.
fn kind(cache: &SlcCache, later: &[Series]) -> (SlcKind, String) {
    let share = |stretch: &Series| (stretch.fill.unwrap_or(1.0) * 100.0).round();
    let seconds = |stretch: &Series, rate: ByteRate| stretch.block.as_f64() / rate.get();
    let none = later.iter().find(|stretch| {
        fall(stretch).is_none() && is_slow(stretch, seconds(stretch, cache.cached), seconds(stretch, cache.after))
    });
    if let Some(none) = none {
        return (SlcKind::Dynamic, format!("; none when {} % of the device hold data", share(none)));
    }
    let falls = later.iter().filter_map(|stretch| Some((stretch, fall(stretch)?)));
    // The first burst may have met what the fill left in the cache.
    let Some((stretch, fall)) = falls.skip(1).last() else { return (SlcKind::Untested, String::new()) };
    let full = stretch.block * fall.before as u64;
    let kind = match (cache.size.as_f64() / full.as_f64()).ln() {
        off if off > SMALLER.ln() => SlcKind::Dynamic,
        off if off.abs() <= SAME.ln() => SlcKind::Static,
        _ => SlcKind::Untested,
    };
    (kind, format!("; {full} when {} % of the device hold data", share(stretch)))
}

/// Whether all of a burst is nearer to the slower of two times of a write.
fn is_slow(stretch: &Series, fast: f64, slow: f64) -> bool {
    let middle = (fast * slow).sqrt();
    let slow = stretch.seconds.iter().filter(|time| **time > middle).count();
    stretch.seconds.len() >= 2 * LEAST_AFTER && slow as f64 >= LEAST_CLEAN * stretch.seconds.len() as f64
}

/// Factors of the sizes on an emptier and on a fuller device that tell one kind from the other.
const SMALLER: f64 = 1.25;
const SAME: f64 = 1.1;

fn measured(observations: &Observations, stretches: &[Series]) -> (Estimate<SlcCache>, Estimate<Nanos>) {
    let longest = stretches.iter().max_by_key(|stretch| stretch.seconds.len());
    let Some(longest) = longest.filter(|stretch| !stretch.seconds.is_empty()) else {
        return (Estimate::not_measured(), Estimate::not_measured());
    };
    let falls: Vec<(&Series, Fall)> = stretches.iter().filter_map(|stretch| Some((stretch, fall(stretch)?))).collect();
    match falls.as_slice() {
        [] => (no_fall(longest), Estimate::unknown(Reason::Absent, "the rate never fell")),
        [(stretch, once)] => (
            measured_once(observations, stretches, stretch, once),
            Estimate::unknown(Reason::TooFew, "only one burst saw a fall"),
        ),
        [(_, first), .., (stretch, last)] => {
            let (early, late) = (first.before as f64, last.before as f64);
            let back = late >= 0.9 * early;
            let agree = (late / early).ln().abs() <= 1.1f64.ln();
            let sure = match (back, agree) {
                (true, true) => 0.99,
                (true, false) => 0.96,
                (false, _) => 0.6,
            };
            let better = if back { (*stretch, *last) } else { (falls[0].0, falls[0].1) };
            let rest = stretch.idle;
            let words = format!("; after a rest of {rest} it takes {} again", stretch.block * last.before as u64);
            let recovery = if back {
                Estimate::at_most(rest, 0.95, format!("as much as before{words}"), &[ExperimentName::SlcCache])
            } else {
                Estimate::at_least(rest, 0.9, format!("not as much as before{words}"), &[ExperimentName::SlcCache])
            };
            (found(observations, better.0, &better.1, sure, &words), recovery)
        }
    }
}

fn measured_once(
    observations: &Observations,
    stretches: &[Series],
    stretch: &Series,
    once: &Fall,
) -> Estimate<SlcCache> {
    // A later burst that went on for longer without a fall contradicts the first.
    let longer = stretches.iter().map(|other| other.seconds.len()).max().unwrap_or(0) as f64;
    if stretches.len() > 1 && longer > 1.2 * once.before as f64 && fall(&stretches[stretches.len() - 1]).is_none() {
        return Estimate::unknown(
            Reason::Contradicted,
            format!("the rate fell after {} once, and not at all the next time", stretch.block * once.before as u64),
        );
    }
    found(observations, stretch, once, 0.85, "; seen once, and earlier writes may have taken part of it")
}

fn found(observations: &Observations, stretch: &Series, fall: &Fall, sure: f64, words: &str) -> Estimate<SlcCache> {
    let size = stretch.block * fall.before as u64;
    if let Some((count, unit)) = open_units(observations).filter(|(count, unit)| fills_units(size, *count, *unit)) {
        return Estimate::unknown(
            Reason::Ambiguous,
            format!(
                "the rate falls after {size}, which is as much as the {count} units of {unit} that can be open at once hold: \
             closing them may be why"
            ),
        );
    }
    let rate = |seconds: f64| ByteRate(stretch.block.as_f64() / seconds);
    let evidence = format!(
        "writes of {} in order: {} until {size} are written, {} then ({} times as long){words}",
        stretch.block,
        rate(fall.fast),
        rate(fall.slow),
        digits(fall.slow / fall.fast),
    );
    let weak = (fall.slow / fall.fast).ln() / FALL.ln();
    let sure = sure - 0.3 * (1.0 - fall.clean) - 0.1 * (-weak).exp();
    let cache = SlcCache { size, cached: rate(fall.fast), after: rate(fall.slow), kind: SlcKind::Untested };
    Estimate::known(cache, sure.clamp(0.05, 0.995), evidence, &[ExperimentName::SlcCache])
}

/// How many units can be open in order, and how large they were taken to be.
fn open_units(observations: &Observations) -> Option<(u32, Bytes)> {
    let found = open_units::estimate(observations, Order::InOrder);
    let count = found.value().or(found.most().and(found.least()))?;
    Some((count, open_units::trial_unit(observations)?))
}

/// Whether a size is that of all units that can be open, to one of them.
fn fills_units(size: Bytes, count: u32, unit: Bytes) -> bool {
    let all = unit * u64::from(count);
    size + unit >= all && size <= all + unit
}

fn no_fall(longest: &Series) -> Estimate<SlcCache> {
    let written = longest.block * longest.seconds.len() as u64;
    let Some(middle) = median(&longest.seconds).filter(|_| longest.seconds.len() >= 2 * LEAST_AFTER) else {
        return Estimate::unknown(Reason::TooFew, format!("only {written} were written at a stretch"));
    };
    let rate = ByteRate(longest.block.as_f64() / middle);
    // A fall near the end would have too few writes behind it to be seen.
    let seen = (longest.seconds.len() * 16 / 17).saturating_sub(LEAST_AFTER) as u64;
    let bound = SlcCache { size: longest.block * seen, cached: rate, after: rate, kind: SlcKind::Untested };
    Estimate::at_least(
        bound,
        0.97,
        format!(
            "{rate} throughout {written} of writes in order; behind more of them (--max-write) a larger cache would show"
        ),
        &[ExperimentName::SlcCache],
    )
}
