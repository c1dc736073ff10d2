//! The steady-state test of the Solid State Storage Performance Test Specification (SNIA PTS).

use crate::StatsError;
use crate::error::check_sample;
use crate::line::ordinary_least_squares;

/// Rounds in the measurement window.
pub const WINDOW: usize = 5;
/// Largest allowed (max − min)/mean within the window.
pub const MAX_RANGE_RATIO: f64 = 0.20;
/// Largest allowed rise or fall of the least-squares line over the window, as a share of the mean.
pub const MAX_SLOPE_RATIO: f64 = 0.10;

/// What a measurement window shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyState {
    /// Mean of the window, in the unit of the data.
    pub mean: f64,
    /// (max − min)/mean.
    pub range_ratio: f64,
    /// Rise of the least-squares line from the first to the last round (slope × 4) over the mean; negative when it
    /// falls.
    pub slope_ratio: f64,
    /// Whether both ratios are within [`MAX_RANGE_RATIO`] and [`MAX_SLOPE_RATIO`].
    pub is_steady: bool,
}

/// Judges the last [`WINDOW`] values of a series of rounds (throughput or IOPS, one per round, positive mean). `TooFew`
/// while there are less.
///
/// ```
/// use flashscope_stats::steady::steady_state;
///
/// let rounds = [9100.0, 5200.0, 4100.0, 4050.0, 4010.0, 4060.0, 3990.0];
/// assert!(!steady_state(&rounds[..5]).unwrap().is_steady);
/// let last = steady_state(&rounds).unwrap();
/// assert!(last.is_steady && last.range_ratio < 0.03);
/// ```
pub fn steady_state(rounds: &[f64]) -> Result<SteadyState, StatsError> {
    check_sample(rounds, WINDOW)?;
    let window = &rounds[rounds.len() - WINDOW..];
    let mean = window.iter().sum::<f64>() / WINDOW as f64;
    if mean <= 0.0 {
        return Err(StatsError::NotPositive);
    }
    let high = window.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let low = window.iter().copied().fold(f64::INFINITY, f64::min);
    let index: Vec<f64> = (0..WINDOW).map(|i| i as f64).collect();
    let slope = ordinary_least_squares(&index, window)?.slope;
    let range_ratio = (high - low) / mean;
    let slope_ratio = slope * (WINDOW - 1) as f64 / mean;
    let is_steady = range_ratio <= MAX_RANGE_RATIO && slope_ratio.abs() <= MAX_SLOPE_RATIO;
    Ok(SteadyState { mean, range_ratio, slope_ratio, is_steady })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::close;

    #[test]
    fn both_conditions_count() {
        let check = |rounds: &[f64], range: f64, slope: f64, steady: bool| {
            let got = steady_state(rounds).unwrap();
            close(got.range_ratio, range, 1e-12);
            close(got.slope_ratio, slope, 1e-12);
            assert_eq!(got.is_steady, steady);
        };
        check(&[100.0; 5], 0.0, 0.0, true);
        // Range alone fails.
        check(&[100.0, 88.0, 124.0, 88.0, 100.0], 0.36, 0.0, false);
        // A steady fall of 12 % stays within the range but not within the slope.
        check(&[106.0, 103.0, 100.0, 97.0, 94.0], 0.12, -0.12, false);
        check(&[104.0, 102.0, 100.0, 98.0, 96.0], 0.08, -0.08, true);
        // Only the last five count.
        check(&[900.0, 100.0, 100.0, 100.0, 100.0, 100.0], 0.0, 0.0, true);
    }

    #[test]
    fn refuses_short_and_empty_rounds() {
        assert_eq!(steady_state(&[100.0; 4]), Err(StatsError::TooFew { needed: 5, got: 4 }));
        assert_eq!(steady_state(&[0.0; 5]), Err(StatsError::NotPositive));
    }
}
