//! The long-run mean of a series that may begin in another state than the one in which it goes on.
//!
//! A flash device is fast until a log or a cache is full, or slow until it has closed what somebody else left open. The mean over
//! all of such a run is neither the first rate nor the last. [`sustained`] leaves out the beginning where it differs from the rest
//! beyond chance, and gives the mean of the rest with an interval that allows for stalls that come together.

use crate::StatsError;
use crate::distribution::two_sided_t;
use crate::error::check_sample;
use crate::rng::Rng;

/// The mean of the last state of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sustained {
    /// Values at the start that are left out, since they differ from those that follow.
    pub from: usize,
    /// Mean of the values left out, in the unit of the data; `None` where none are.
    pub before: Option<f64>,
    /// Mean of the rest.
    pub mean: f64,
    /// Lower end of its 95 % interval, above 0.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
    /// Whether the rest shows no change any more; where it does, the interval covers the means of all its parts, and a change
    /// as large as the last one.
    pub is_settled: bool,
}

/// Fewest values that show a state.
pub const LEAST: usize = 8;

/// Parts of which the mean course is looked at: enough to find where it changes, few enough for shuffling.
const PARTS: usize = 48;

/// Batches whose means give the interval; as is usual for batch means (Schmeiser, Oper. Res. 30, 1982: 10 to 30).
const BATCHES: usize = 12;

/// Shuffles that show what chance does.
const SHUFFLES: usize = 199;

/// Shuffles that may reach as far as the data, for a change to be beyond chance: 1 %.
const AS_FAR: usize = 1;

/// A mean that changes by less than this share is no change of state.
const LEAST_CHANGE: f64 = 0.03;

/// Changes that are looked for, one behind the other: a series that has as many goes on changing.
const CHANGES: usize = 4;

/// The last state is one only where it holds this share of the values or of their sum; less may be one step of many.
const LEAST_SHARE: f64 = 1.0 / 3.0;

/// A value so many times the median is a stall.
const STALL: f64 = 5.0;

/// What a series of positive values (times of requests, or bytes of equal periods) comes to in the long run.
///
/// Changes of the mean are found by the largest excursion of the cumulative sum against shuffled parts (Taylor, *Change-point
/// analysis*, 2000), one behind the other; the interval is that of batch means on a logarithmic scale, and no narrower than what so
/// few stalls tell of how often they come. A zero is allowed (a period in which nothing ended) as long as the mean of every batch is
/// above it.
///
/// ```
/// use flashscope_stats::sustained::sustained;
///
/// // A log takes 100 writes; then each of them waits until there is room.
/// let times: Vec<f64> = (0..160).map(|i| if i < 100 { 2.0 } else { 200.0 + f64::from(i % 7) }).collect();
/// let found = sustained(&times).unwrap();
/// assert_eq!(found.from, 100);
/// assert!(found.low > 199.0 && found.high < 207.0);
/// ```
pub fn sustained(values: &[f64]) -> Result<Sustained, StatsError> {
    check_sample(values, LEAST)?;
    if values.iter().any(|value| *value < 0.0) || mean(values) <= 0.0 {
        return Err(StatsError::NotPositive);
    }
    let (mut from, mut last_change) = (0, 0.0f64);
    let mut is_settled = false;
    for _ in 0..CHANGES {
        let rest = &values[from..];
        let Some(change) = change(rest) else {
            is_settled = true;
            break;
        };
        if rest.len() - change < LEAST {
            break;
        }
        last_change = apart(mean(&rest[change..]), mean(&rest[..change]));
        from += change;
    }
    let rest = &values[from..];
    let share = |part: f64, whole: f64| part >= LEAST_SHARE * whole;
    is_settled &= share(rest.len() as f64, values.len() as f64) || share(rest.iter().sum(), values.iter().sum());
    let middle = mean(rest);
    let mut wide = half_width(rest);
    if !is_settled {
        let parts = parts(rest, rest.len().min(BATCHES) / 2);
        let far = parts.iter().map(|part| apart(middle, *part)).fold(last_change, f64::max);
        wide = wide.max(far);
    }
    Ok(Sustained {
        from,
        before: (from > 0).then(|| mean(&values[..from])),
        mean: middle,
        low: middle * (-wide).exp(),
        high: middle * wide.exp(),
        is_settled,
    })
}

/// How far another mean lies from this one, as a logarithm; a mean of nothing is as far as a number can be.
fn apart(middle: f64, other: f64) -> f64 {
    (other.max(middle * f64::EPSILON) / middle).ln().abs()
}

/// Half of the 95 % interval of the logarithm of the mean.
fn half_width(values: &[f64]) -> f64 {
    let count = BATCHES.min(values.len() / 2).max(2);
    let batches = parts(values, count);
    let (middle, count) = (mean(&batches), batches.len() as f64);
    let squares: f64 = batches.iter().map(|batch| (batch - middle).powi(2)).sum();
    let error = (squares / (count - 1.0) / count).sqrt() / middle;
    let by_batches = two_sided_t(0.95, count - 1.0) * error;
    by_batches.max(by_stalls(values))
}

/// What so few stalls leave open: their number is known to its root, and their share of the time with it.
fn by_stalls(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let usual = sorted[sorted.len() / 2];
    let stalls = values.iter().filter(|value| **value > STALL * usual);
    let (count, extra) = stalls.fold((0.0, 0.0), |(count, extra), value| (count + 1.0, extra + value - usual));
    let sum: f64 = values.iter().sum();
    if usual <= 0.0 || count == 0.0 || count > values.len() as f64 / 4.0 {
        0.0
    } else {
        2.0 * extra / sum / f64::sqrt(count)
    }
}

/// Where the mean changes most, if it does so beyond chance.
fn change(values: &[f64]) -> Option<usize> {
    if values.len() < 2 * LEAST {
        return None;
    }
    let count = PARTS.min(values.len() / 2);
    let mut means = parts(values, count);
    let (at, reach) = excursion(&means);
    if reach <= 0.0 {
        return None;
    }
    let split = edge(values.len(), count, at);
    let exact = refined(values, split.saturating_sub(values.len() / count).max(1), split + values.len() / count);
    let (head, tail) = (mean(&values[..exact]), mean(&values[exact..]));
    if (head - tail).abs() < LEAST_CHANGE * head.max(tail) {
        return None;
    }
    let mut rng = Rng::new(values.len() as u64);
    let mut as_far = 0;
    for _ in 0..SHUFFLES {
        rng.shuffle(&mut means);
        as_far += usize::from(excursion(&means).1 >= reach);
        if as_far > AS_FAR {
            return None;
        }
    }
    Some(exact)
}

/// How far the cumulative sum of the deviations goes, and behind which value.
fn excursion(values: &[f64]) -> (usize, f64) {
    let middle = mean(values);
    let (mut sum, mut found) = (0.0, (0, 0.0));
    for (at, value) in values[..values.len() - 1].iter().enumerate() {
        sum += value - middle;
        if sum.abs() > found.1 {
            found = (at + 1, sum.abs());
        }
    }
    found
}

/// The same among the values themselves, between two places.
fn refined(values: &[f64], low: usize, high: usize) -> usize {
    let middle = mean(values);
    let high = high.min(values.len() - 1);
    let mut sum: f64 = values[..low].iter().map(|value| value - middle).sum();
    let mut found = (low, sum.abs());
    for (at, value) in values.iter().enumerate().take(high).skip(low) {
        sum += value - middle;
        if sum.abs() > found.1 {
            found = (at + 1, sum.abs());
        }
    }
    found.0
}

/// Means of so many parts of nearly equal length.
fn parts(values: &[f64], count: usize) -> Vec<f64> {
    let count = count.clamp(1, values.len());
    (0..count).map(|part| mean(&values[edge(values.len(), count, part)..edge(values.len(), count, part + 1)])).collect()
}

/// Where a part begins.
fn edge(length: usize, count: usize, part: usize) -> usize {
    length * part / count
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(seed: u64, count: usize, of: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let mut rng = Rng::new(seed);
        (0..count).map(|at| of(at, rng.unit())).collect()
    }

    #[test]
    fn a_steady_series_is_kept_whole_as_often_as_it_should_be() {
        let mut cut = 0;
        for seed in 0..200 {
            // A stall in fifty, by chance.
            let found =
                sustained(&noisy(seed, 400, |_, chance| if chance < 0.02 { 100.0 } else { 1.0 + chance })).unwrap();
            cut += usize::from(found.from > 0);
        }
        assert!(cut <= 6, "{cut} of 200 steady series were cut; a hundredth is expected");
    }

    #[test]
    fn intervals_hold_the_long_run_mean_of_stalls() {
        let truth = 0.02 * 100.0 + 0.98 * 1.51;
        let holds = (0..400)
            .filter(|seed| {
                let found = sustained(&noisy(*seed, 400, |_, chance| if chance < 0.02 { 100.0 } else { 1.0 + chance }))
                    .unwrap();
                (found.low..=found.high).contains(&truth)
            })
            .count();
        assert!(holds >= 368, "{holds} of 400 intervals hold the mean, which is less than 92 %");
    }

    #[test]
    fn what_was_left_behind_is_left_out() {
        let check = |head: f64, count: usize, tail: f64| {
            let series =
                noisy(7, count + 120, |at, chance| if at < count { head } else { tail } * (1.0 + 0.1 * chance));
            let found = sustained(&series).unwrap();
            assert!(found.from.abs_diff(count) <= 1 && found.is_settled, "{head} for {count}, then {tail}: {found:?}");
            assert!((found.mean / (1.05 * tail) - 1.0).abs() < 0.01, "{found:?}");
            assert!((found.before.unwrap() / (1.05 * head) - 1.0).abs() < 0.05, "{found:?}");
        };
        check(400.0, 20, 60.0);
        check(2.0, 1000, 200.0);
        check(10.0, 50, 12.0);
    }

    #[test]
    fn a_series_that_never_settles_says_so() {
        let found = sustained(&noisy(3, 300, |at, chance| 1.01f64.powi(at as i32) * (1.0 + 0.01 * chance))).unwrap();
        assert!(!found.is_settled && found.high > 1.2 * found.mean, "{found:?}");
    }

    #[test]
    fn refuses_what_has_no_rate() {
        assert!(sustained(&[1.0; LEAST - 1]).is_err());
        assert!(sustained(&[0.0; 20]).is_err());
        assert_eq!(sustained(&[3.0; 20]).unwrap().low, 3.0);
    }
}
