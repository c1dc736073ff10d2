//! Distribution-free intervals of quantiles from order statistics.

use super::Interval;
use crate::StatsError;
use crate::distribution::binomial_cdf;
use crate::error::{check_sample, check_unit_open};

/// [`quantile_interval`] of the median.
///
/// ```
/// use flashscope_stats::interval::median_interval;
///
/// // Milliseconds; one request met a collection, which moves the interval of a median by nothing.
/// let times = [8.1, 7.9, 8.0, 8.3, 7.8, 8.2, 110.0, 8.0, 7.9];
/// let interval = median_interval(&times, 0.95).unwrap();
/// assert_eq!((interval.low, interval.high), (7.9, 8.3));
/// // As exact as order statistics allow: what is reached is said, and is never less than what was asked.
/// assert!(interval.confidence >= 0.95);
/// // Five values cannot hold a median with 95 %, and six can.
/// assert!(median_interval(&times[..5], 0.95).is_err());
/// ```
pub fn median_interval(values: &[f64], confidence: f64) -> Result<Interval, StatsError> {
    quantile_interval(values, 0.5, confidence)
}

/// The interval between two order statistics that holds the population quantile of level `p`, 0 < `p` < 1, with at
/// least `confidence`: the number of values below the quantile is binomial, and each tail gets at most half of what is
/// left (Hahn and Meeker, *Statistical Intervals*, 1991, section 5.2). The confidence returned is the achieved one,
/// exact for continuous data and a lower bound with ties.
///
/// `TooFew` when the sample's extremes do not suffice; `needed` is then the smallest sample that would.
pub fn quantile_interval(values: &[f64], p: f64, confidence: f64) -> Result<Interval, StatsError> {
    check_unit_open(p, "p")?;
    check_unit_open(confidence, "confidence")?;
    check_sample(values, 1)?;
    let n = values.len() as u64;
    let tail = 0.5 * (1.0 - confidence);
    // X₍ₗ₎ is a lower limit if fewer than l values below the quantile are improbable, X₍ᵤ₎ an upper limit if u or more
    // are.
    let lower = first_true(n + 1, |k| binomial_cdf(k, n, p) > tail);
    let upper = first_true(n + 1, |k| k > 0 && 1.0 - binomial_cdf(k - 1, n, p) <= tail);
    if lower == 0 || upper > n {
        return Err(StatsError::TooFew { needed: smallest_sample(p, tail), got: values.len() });
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Ok(Interval {
        low: sorted[lower as usize - 1],
        high: sorted[upper as usize - 1],
        confidence: binomial_cdf(upper - 1, n, p) - binomial_cdf(lower - 1, n, p),
    })
}

/// The smallest n at which no value on one side of the quantile has probability at most `tail`, on either side.
fn smallest_sample(p: f64, tail: f64) -> usize {
    (tail.ln() / p.max(1.0 - p).ln()).ceil() as usize
}

/// The first of `0..end` for which a monotone condition holds, or `end`.
fn first_true(end: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::simulate::{close, normals};

    #[test]
    fn ranks_from_published_tables() {
        // Ranks for the median at 95 %, as in the tables of Conover and of Hahn and Meeker.
        let check = |n: u32, low: f64, high: f64, achieved: f64| {
            let values: Vec<f64> = (1..=n).map(f64::from).collect();
            let got = median_interval(&values, 0.95).unwrap();
            assert_eq!((got.low, got.high), (low, high), "n = {n}");
            close(got.confidence, achieved, 5e-4);
        };
        check(6, 1.0, 6.0, 0.9688);
        check(10, 2.0, 9.0, 0.9785);
        check(15, 4.0, 12.0, 0.9648);
        check(20, 6.0, 15.0, 0.9586);
    }

    #[test]
    fn too_small_a_sample_says_what_it_needs() {
        assert_eq!(median_interval(&[1.0; 5], 0.95), Err(StatsError::TooFew { needed: 6, got: 5 }));
        assert!(median_interval(&[1.0; 6], 0.95).is_ok());
        let error = quantile_interval(&[1.0; 10], 0.9, 0.95).unwrap_err();
        assert_eq!(error, StatsError::TooFew { needed: 36, got: 10 });
        assert!(quantile_interval(&[1.0; 36], 0.9, 0.95).is_ok());
    }

    #[test]
    fn covers_as_often_as_it_says() {
        let mut rng = Rng::new(11);
        let runs = 1500;
        let mut hits = 0;
        let mut achieved = 0.0;
        for _ in 0..runs {
            let got = quantile_interval(&normals(&mut rng, 40, 0.0, 1.0), 0.8, 0.9).unwrap();
            hits += u32::from(got.contains(0.841_621));
            achieved = got.confidence;
        }
        close(f64::from(hits) / f64::from(runs), achieved, 0.025);
    }
}
