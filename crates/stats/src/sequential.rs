//! Deciding while the data come in, without paying for every look.
//!
//! [`ConfidenceSequence`] keeps an interval of a mean that is valid at every moment at once, so stopping when it is
//! narrow enough is allowed. [`NormalSequence`] does the same for values near normal whose spread is unknown, and needs far
//! fewer of them. Neither knows the write budget: the caller caps the number of steps and records why it stopped.

mod normal;

pub use normal::NormalSequence;

use crate::StatsError;
use crate::error::check_unit_open;
use crate::interval::Interval;

/// A time-uniform confidence interval of the mean of values within known bounds: the predictable plug-in empirical
/// Bernstein sequence of Waudby-Smith and Ramdas ("Estimating means of bounded random variables by betting", Journal of
/// the Royal Statistical Society B 86, 2024, theorem 2), intersected over time. Valid for any distribution within the
/// bounds whose conditional mean is constant; narrow when the variance is small against the range.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfidenceSequence {
    bounds: (f64, f64),
    confidence: f64,
    count: u64,
    /// Σ x and Σ (x − running mean)², on the unit scale.
    sum: f64,
    squares: f64,
    /// Σ λ, Σ λx and Σ vψ(λ) of the paper.
    bet_sum: f64,
    weighted_sum: f64,
    penalty: f64,
    /// Running intersection on the unit scale.
    low: f64,
    high: f64,
}

/// Largest bet, the truncation constant that the paper recommends.
const MAX_BET: f64 = 0.5;

impl ConfidenceSequence {
    /// A sequence for values in `low..=high` (the unit of the data).
    pub fn new(low: f64, high: f64, confidence: f64) -> Result<Self, StatsError> {
        check_unit_open(confidence, "confidence")?;
        if !(low < high && (high - low).is_finite()) {
            return Err(StatsError::BadParameter("bounds"));
        }
        Ok(Self {
            bounds: (low, high),
            confidence,
            count: 0,
            sum: 0.0,
            squares: 0.0,
            bet_sum: 0.0,
            weighted_sum: 0.0,
            penalty: 0.0,
            low: 0.0,
            high: 1.0,
        })
    }

    /// Takes in one value; one outside the bounds (or NaN) is refused and changes nothing.
    pub fn push(&mut self, value: f64) -> Result<Interval, StatsError> {
        let (low, high) = self.bounds;
        if !(low <= value && value <= high) {
            return Err(StatsError::BadParameter("value outside the bounds"));
        }
        let x = (value - low) / (high - low);
        let log_term = (2.0 / (1.0 - self.confidence)).ln();
        // The mean, the variance and so the bet may only use what came before x.
        let seen = self.count as f64;
        let mean = (0.5 + self.sum) / (seen + 1.0);
        let variance = (0.25 + self.squares) / (seen + 1.0);
        let t = seen + 1.0;
        let bet = (2.0 * log_term / (variance * t * (t + 1.0).ln())).sqrt().min(MAX_BET);
        self.penalty += (x - mean).powi(2) * (-(-bet).ln_1p() - bet);
        self.bet_sum += bet;
        self.weighted_sum += bet * x;
        self.count += 1;
        self.sum += x;
        let new_mean = (0.5 + self.sum) / (t + 1.0);
        self.squares += (x - new_mean).powi(2);

        let centre = self.weighted_sum / self.bet_sum;
        let half = (log_term + self.penalty) / self.bet_sum;
        self.low = self.low.max(centre - half);
        self.high = self.high.min(centre + half);
        Ok(self.interval())
    }

    /// The interval so far, in the unit of the data. An empty one (low above high) means that the mean was not
    /// constant.
    pub fn interval(&self) -> Interval {
        let (low, high) = self.bounds;
        let scale = high - low;
        Interval { low: low + self.low * scale, high: low + self.high * scale, confidence: self.confidence }
    }

    /// Number of values taken in.
    pub fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn sequence_holds_at_every_moment_and_narrows() {
        let mut rng = Rng::new(62);
        let runs = 200;
        let mut missed = 0;
        let mut width = 0.0;
        for _ in 0..runs {
            let mut sequence = ConfidenceSequence::new(10.0, 20.0, 0.9).unwrap();
            let mut ever_missed = false;
            for _ in 0..400 {
                // Mean 12, standard deviation 0.58.
                let interval = sequence.push(11.0 + 2.0 * rng.unit()).unwrap();
                ever_missed |= !interval.contains(12.0);
            }
            assert_eq!(sequence.count(), 400);
            missed += u32::from(ever_missed);
            width += sequence.interval().width() / f64::from(runs);
        }
        assert!(f64::from(missed) / f64::from(runs) <= 0.1, "{missed}");
        // Hoeffding's fixed-time interval would be 10 · √(2 ln 20 / 400) ≈ 1.22 wide.
        assert!(width < 0.6, "{width}");
    }

    #[test]
    fn values_outside_the_bounds_are_refused() {
        let mut sequence = ConfidenceSequence::new(0.0, 1.0, 0.95).unwrap();
        assert!(sequence.push(1.5).is_err() && sequence.push(f64::NAN).is_err());
        assert_eq!(sequence.count(), 0);
        assert!(ConfidenceSequence::new(1.0, 1.0, 0.95).is_err());
    }
}
