//! Intervals of proportions.

use super::Interval;
use crate::StatsError;
use crate::distribution::two_sided_z;
use crate::error::check_unit_open;

/// Wilson's score interval of a proportion (Journal of the American Statistical Association 22, 1927), within 0..=1
/// and usable at 0 or all successes.
pub fn wilson_interval(successes: u64, trials: u64, confidence: f64) -> Result<Interval, StatsError> {
    check_unit_open(confidence, "confidence")?;
    if trials == 0 {
        return Err(StatsError::TooFew { needed: 1, got: 0 });
    }
    if successes > trials {
        return Err(StatsError::BadParameter("successes"));
    }
    let n = trials as f64;
    let p = successes as f64 / n;
    let z2 = two_sided_z(confidence).powi(2);
    let centre = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = (z2 * (p * (1.0 - p) / n + z2 / (4.0 * n * n))).sqrt() / (1.0 + z2 / n);
    // At the ends the limit is exactly 0 or 1; rounding must not leave it a hair inside.
    let low = if successes == 0 { 0.0 } else { centre - half };
    let high = if successes == trials { 1.0 } else { centre + half };
    Ok(Interval { low, high, confidence })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::close;

    #[test]
    fn newcombe_examples() {
        // Newcombe, Statistics in Medicine 17 (1998), table I, score method without continuity correction.
        let check = |successes, trials, low, high| {
            let got = wilson_interval(successes, trials, 0.95).unwrap();
            close(got.low, low, 5e-5);
            close(got.high, high, 5e-5);
        };
        check(81, 263, 0.2553, 0.3662);
        check(15, 148, 0.0624, 0.1605);
        check(0, 20, 0.0, 0.1611);
        check(1, 29, 0.0061, 0.1718);
        check(20, 20, 0.8389, 1.0);
    }

    #[test]
    fn refuses_nonsense() {
        assert_eq!(wilson_interval(0, 0, 0.95), Err(StatsError::TooFew { needed: 1, got: 0 }));
        assert_eq!(wilson_interval(3, 2, 0.95), Err(StatsError::BadParameter("successes")));
        assert_eq!(wilson_interval(1, 2, 1.0), Err(StatsError::BadParameter("confidence")));
    }
}
