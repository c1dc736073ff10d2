//! A cache of fast cells, from long sequential writes: how much is written before the rate falls, and whether a rest brings
//! it back.
//!
//! A first burst fills whatever there is to its end, so that what earlier writes left in the cache does not matter; a
//! second one after a rest measures it. A fall that no rest brings back may be collection as well.
//!
//! Whether its size depends on how full the device is shows only on one that is measured twice, with much more data on
//! it the second time. Data can be added, and not taken away without more than this tool asks for: so a device that is
//! full as it comes stays untested.

mod series;
mod wanted;

pub(crate) use series::stretches;
pub(crate) use wanted::{choice, fill_within, left_for_cache, most_on, most_written, without_room};

use crate::numbers::{SEEN, digits, probability};
use crate::open_units;
use flashscope_model::finding::{Doubt, SlcCache, SlcKind};
use flashscope_model::{Estimate, ExperimentName, Observations, Order, Reason};
use flashscope_stats::sustained::sustained;
use flashscope_units::{ByteRate, Bytes, Nanos};
use series::{FALL, Fall, LEAST_AFTER, SAME, Series, fall, is_slow, seen_by, split_at_fuller};

/// The cache, and the rest that brings it back.
pub(crate) fn estimate(observations: &Observations) -> (Estimate<SlcCache>, Estimate<Nanos>) {
    let all = stretches(observations);
    // What was measured on a fuller device speaks of the kind alone.
    let (stretches, later) = split_at_fuller(&all);
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

/// Least factor between the sizes of a dynamic cache on an emptier and on a fuller device.
const SMALLER: f64 = 1.25;

/// What is seen but once falls by so much at least, as one bit in a cell is written in less than half the time of several; what
/// falls by less may as well be a device that begins to collect.
const LEAST_FALL: f64 = 2.0;

/// The same of what is seen again behind a rest: the link may hide half of what fast cells gain.
const LEAST_FALL_AGAIN: f64 = 1.5;

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
        [.., (_, first), (stretch, last)] if last.is_longer_than(first) => grows(stretch, last),
        [first, second, (stretch, last)] if first.1.is_longer_than(last) || second.1.is_longer_than(last) => {
            let size = |(stretch, fall): &(&Series, Fall)| stretch.block * fall.before as u64;
            let words = format!(
                "the rate falls after {}, after {} and, behind a rest of {}, after {}: what ends there may be no cache",
                size(first),
                size(second),
                stretch.idle,
                stretch.block * last.before as u64
            );
            (Estimate::unknown(Reason::Contradicted, words.clone()), Estimate::unknown(Reason::Contradicted, words))
        }
        [.., (whole, first), (stretch, last)] => {
            let back = !first.is_longer_than(last);
            let doubt = (!back).then_some(Doubt::NotBack);
            let (whole, fall) = if back { (*stretch, last) } else { (*whole, first) };
            let rest = stretch.idle;
            if fall.slow < LEAST_FALL_AGAIN * fall.fast {
                let words = format!(
                    "the rate falls after {} each time, and to more than two thirds: what is collected then may do so too",
                    whole.block * fall.before as u64
                );
                return (
                    Estimate::unknown(Reason::Ambiguous, words.clone()),
                    Estimate::unknown(Reason::Ambiguous, words),
                );
            }
            let words = format!("; after a rest of {rest} it takes {} again", stretch.block * last.before as u64);
            let recovery = if back {
                Estimate::at_most(rest, SEEN, format!("as much as before{words}"), &[ExperimentName::SlcCache])
            } else {
                Estimate::at_least(rest, SEEN, format!("not as much as before{words}"), &[ExperimentName::SlcCache])
            };
            (found(observations, whole, fall, &words).with_doubts(doubt), recovery)
        }
    }
}

/// What a rest brings back grows with its length, so that the size was not met yet.
fn grows(stretch: &Series, last: &Fall) -> (Estimate<SlcCache>, Estimate<Nanos>) {
    // The write that meets the end may still have been a fast one.
    let (size, rest) = (stretch.block * (last.before as u64).saturating_sub(1), stretch.idle);
    let rate = |seconds: f64| ByteRate(stretch.block.as_f64() / seconds);
    let cache = SlcCache { size, cached: rate(last.fast), after: rate(last.slow), kind: SlcKind::Untested };
    let words = format!(
        "after a rest of {rest} it takes {size}, more than after a shorter one: a longer one may bring back more"
    );
    let method = [ExperimentName::SlcCache];
    (Estimate::at_least(cache, SEEN, words.clone(), &method), Estimate::at_least(rest, SEEN, words, &method))
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
    if once.slow < LEAST_FALL * once.fast {
        return Estimate::unknown(
            Reason::Ambiguous,
            format!(
                "the rate falls after {} once, and to more than half: a device that begins to collect does so too",
                stretch.block * once.before as u64
            ),
        );
    }
    found(observations, stretch, once, "; seen once, and earlier writes may have taken part of it").but(Doubt::SeenOnce)
}

fn found(observations: &Observations, stretch: &Series, fall: &Fall, words: &str) -> Estimate<SlcCache> {
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
        "sequential writes of {}: {} until {size} are written, {} then ({} times as long){words}",
        stretch.block,
        rate(fall.fast),
        rate(fall.slow),
        digits(fall.slow / fall.fast),
    );
    // The share of writes that lie on their side of the fall, and how deep it is.
    let weak = (fall.slow / fall.fast).ln() / FALL.ln();
    let score = fall.clean * (1.0 - 0.1 * (-weak).exp());
    let cache = SlcCache { size, cached: rate(fall.fast), after: rate(fall.slow), kind: SlcKind::Untested };
    Estimate::known(cache, probability(score), evidence, &[ExperimentName::SlcCache])
}

/// How many units can be open for sequential writes, and how large they were taken to be.
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
    if longest.seconds.len() < 2 * LEAST_AFTER {
        return Estimate::unknown(Reason::TooFew, format!("only {written} were written at a stretch"));
    }
    // The long-run rate, as the performance table has it: the median would leave out what is paid once per unit.
    let seconds = sustained(&longest.seconds).ok().map(|found| found.mean);
    let mean = || longest.seconds.iter().sum::<f64>() / longest.seconds.len() as f64;
    let rate = ByteRate(longest.block.as_f64() / seconds.unwrap_or_else(mean));
    let seen = seen_by(longest.seconds.len() as u64);
    let bound = SlcCache { size: longest.block * seen, cached: rate, after: rate, kind: SlcKind::Untested };
    Estimate::at_least(
        bound,
        SEEN,
        format!("{rate} throughout {written} of sequential writes; a larger cache needs a larger --max-write"),
        &[ExperimentName::SlcCache],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::plan::Span;

    /// Long writes that are fast for so many blocks after a rest.
    fn burst(rest: u64, fast: usize) -> Series {
        let block = Bytes::mib(1);
        let seconds = [vec![0.02; fast], vec![0.08; 40]].concat();
        let span = Span { start: Bytes::ZERO, length: block * seconds.len() as u64 };
        Series { fill: None, idle: Nanos::secs(rest), span, block, seconds }
    }

    #[test]
    fn what_grows_with_the_rest_is_no_size() {
        let of = |bursts: &[(u64, usize)]| {
            let stretches: Vec<Series> = bursts.iter().map(|(rest, fast)| burst(*rest, *fast)).collect();
            measured(&Observations::default(), &stretches).0
        };
        let mib = |cache: Option<SlcCache>| cache.map(|cache| cache.size / Bytes::mib(1));
        assert_eq!(mib(of(&[(10, 20), (30, 20)]).value()), Some(20));
        // A longer rest brings back more, and more again; or all of it.
        for bursts in [&[(10, 20), (30, 40)][..], &[(10, 20), (30, 40), (90, 80)]] {
            let found = of(bursts);
            assert_eq!((found.value(), mib(found.least())), (None, Some(bursts[bursts.len() - 1].1 as u64 - 1)));
        }
        assert_eq!(mib(of(&[(10, 20), (30, 40), (90, 40)]).value()), Some(40));
        // Less behind the longest rest than before.
        assert_eq!(of(&[(10, 40), (30, 20), (90, 20)]).reason(), Some(Reason::Contradicted));
    }

    #[test]
    fn a_slight_fall_that_is_seen_again_is_no_cache() {
        let check = |slow: f64| {
            let bursts = [10, 30].map(|rest| {
                let mut burst = burst(rest, 20);
                burst.seconds[20..].fill(0.02 * slow);
                burst
            });
            measured(&Observations::default(), &bursts).0.value().map(|cache| cache.size)
        };
        assert_eq!([check(1.4), check(1.7)], [None, Some(Bytes::mib(20))]);
    }

    #[test]
    fn a_fall_that_is_seen_once_and_to_more_than_half_is_no_cache() {
        let check = |slow: f64| {
            let block = Bytes::mib(1);
            let seconds = [vec![0.02; 13], vec![0.02 * slow; 40]].concat();
            let span = Span { start: Bytes::ZERO, length: block * seconds.len() as u64 };
            let stretch = Series { fill: None, idle: Nanos::secs(15), span, block, seconds };
            measured(&Observations::default(), &[stretch]).0.value().map(|cache| cache.size)
        };
        assert_eq!([check(1.4), check(4.0)], [None, Some(Bytes::mib(13))]);
    }
}
