//! Showing that a ratio is close to one: two one-sided tests on the log scale.

use super::{Alternative, mann_whitney, welch_t};
use crate::StatsError;
use crate::error::{check_unit_open, logs};
use crate::interval::{Interval, shift_interval};

/// Result of a test of equivalence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Equivalence {
    /// Estimated x/y.
    pub ratio: f64,
    /// Interval of x/y at confidence 1 − 2α, the one that must lie within 1/margin…margin. `None` when the samples are
    /// too small for one.
    pub ratio_interval: Option<Interval>,
    /// p value against "the ratio is at or below 1/margin".
    pub p_not_below: f64,
    /// p value against "the ratio is at or above margin".
    pub p_not_above: f64,
    /// Whether both are at most α: the ratio is within the margin.
    pub equivalent: bool,
}

impl Equivalence {
    /// p value of the whole: the larger of the two.
    pub fn p_value(&self) -> f64 {
        self.p_not_below.max(self.p_not_above)
    }
}

/// Two one-sided Welch tests (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987) that the ratio of
/// the geometric means of positive samples lies within 1/`margin`…`margin`, `margin` > 1, at level `alpha`. For
/// samples that are near normal after the logarithm.
///
/// ```
/// use flashscope_stats::test::tost_log_ratio;
///
/// // MB/s of two parts, a run each; are they the same within 5 %?
/// let old = [20.1, 20.3, 19.9, 20.2, 20.0, 20.1];
/// let new = [20.0, 20.2, 20.1, 19.8, 20.1, 20.2];
/// assert!(tost_log_ratio(&new, &old, 1.05, 0.05).unwrap().equivalent);
/// // Three runs that scatter show no difference, which is not the same: equivalence is not shown either.
/// assert!(!tost_log_ratio(&[18.0, 21.5, 20.4], &old, 1.05, 0.05).unwrap().equivalent);
/// ```
pub fn tost_log_ratio(x: &[f64], y: &[f64], margin: f64, alpha: f64) -> Result<Equivalence, StatsError> {
    check_settings(margin, alpha)?;
    let (x, y, bound) = (logs(x, 2)?, logs(y, 2)?, margin.ln());
    let higher: Vec<f64> = x.iter().map(|v| v + bound).collect();
    let lower: Vec<f64> = x.iter().map(|v| v - bound).collect();
    let p_not_below = welch_t(&higher, &y, Alternative::Greater)?.p_value;
    let p_not_above = welch_t(&lower, &y, Alternative::Less)?.p_value;
    let middle = welch_t(&x, &y, Alternative::TwoSided)?;
    Ok(Equivalence {
        ratio: middle.difference.exp(),
        ratio_interval: Some(exponential(middle.interval(1.0 - 2.0 * alpha)?)),
        p_not_below,
        p_not_above,
        equivalent: p_not_below <= alpha && p_not_above <= alpha,
    })
}

/// The same by two one-sided Mann–Whitney tests (Wellek, *Testing Statistical Hypotheses of Equivalence and
/// Noninferiority*, 2nd edition, section 6.2 discusses the family): for samples with tails or spikes, taken to differ
/// by a factor only. The ratio is the exponential of the Hodges–Lehmann shift of the logarithms.
pub fn tost_log_ratio_ranked(x: &[f64], y: &[f64], margin: f64, alpha: f64) -> Result<Equivalence, StatsError> {
    check_settings(margin, alpha)?;
    let (x, y, bound) = (logs(x, 1)?, logs(y, 1)?, margin.ln());
    let higher: Vec<f64> = x.iter().map(|v| v + bound).collect();
    let lower: Vec<f64> = x.iter().map(|v| v - bound).collect();
    let p_not_below = mann_whitney(&higher, &y, Alternative::Greater)?.p_value;
    let p_not_above = mann_whitney(&lower, &y, Alternative::Less)?.p_value;
    let shift = crate::location::hodges_lehmann_shift(&x, &y).ok_or(StatsError::NotFinite)?;
    Ok(Equivalence {
        ratio: shift.exp(),
        ratio_interval: shift_interval(&x, &y, 1.0 - 2.0 * alpha).ok().map(exponential),
        p_not_below,
        p_not_above,
        equivalent: p_not_below <= alpha && p_not_above <= alpha,
    })
}

fn check_settings(margin: f64, alpha: f64) -> Result<(), StatsError> {
    check_unit_open(2.0 * alpha, "alpha")?;
    if margin > 1.0 && margin.is_finite() { Ok(()) } else { Err(StatsError::BadParameter("margin")) }
}

fn exponential(interval: Interval) -> Interval {
    Interval { low: interval.low.exp(), high: interval.high.exp(), ..interval }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::simulate::{close, normals};

    type Tost = fn(&[f64], &[f64], f64, f64) -> Result<Equivalence, StatsError>;

    fn share_equivalent(rng: &mut Rng, tost: Tost, ratio: f64, size: usize) -> f64 {
        let runs = 400;
        let mut found = 0;
        for _ in 0..runs {
            let draw = |rng: &mut Rng, centre: f64| -> Vec<f64> {
                normals(rng, size, centre, 0.05).into_iter().map(f64::exp).collect()
            };
            let (x, y) = (draw(rng, ratio.ln()), draw(rng, 0.0));
            found += u32::from(tost(&x, &y, 1.05, 0.05).unwrap().equivalent);
        }
        f64::from(found) / f64::from(runs)
    }

    #[test]
    fn keeps_its_level_at_the_margin_and_has_power_within() {
        let mut rng = Rng::new(81);
        for tost in [tost_log_ratio as Tost, tost_log_ratio_ranked] {
            close(share_equivalent(&mut rng, tost, 1.05, 30), 0.05, 0.035);
            assert!(share_equivalent(&mut rng, tost, 1.0, 30) > 0.9);
            // Too few data to say so: not equivalent, although nothing differs.
            assert!(share_equivalent(&mut rng, tost, 1.0, 4) < 0.2);
        }
    }

    #[test]
    fn decision_agrees_with_the_interval() {
        let mut rng = Rng::new(82);
        for _ in 0..100 {
            let x: Vec<f64> = normals(&mut rng, 12, 0.02, 0.05).into_iter().map(f64::exp).collect();
            let y: Vec<f64> = normals(&mut rng, 15, 0.0, 0.05).into_iter().map(f64::exp).collect();
            let got = tost_log_ratio(&x, &y, 1.05, 0.05).unwrap();
            let interval = got.ratio_interval.unwrap();
            assert_eq!(got.equivalent, interval.low >= 1.0 / 1.05 && interval.high <= 1.05);
            assert_eq!(got.equivalent, got.p_value() <= 0.05);
        }
        assert_eq!(tost_log_ratio(&[1.0; 3], &[1.0; 3], 1.0, 0.05), Err(StatsError::BadParameter("margin")));
        assert_eq!(tost_log_ratio(&[1.0; 3], &[-1.0; 3], 1.1, 0.05), Err(StatsError::NotPositive));
    }
}
