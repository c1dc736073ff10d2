//! Deciding while the data come in, without paying for every look.
//!
//! [`Sprt`] settles between two simple hypotheses; [`ConfidenceSequence`] keeps an interval of a mean that is valid at
//! every moment at once, so stopping when it is narrow enough is allowed. Neither knows the write budget: the caller
//! caps the number of steps and records why it stopped.

use crate::StatsError;
use crate::error::check_unit_open;
use crate::interval::Interval;

/// State of a sequential decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Not enough evidence yet.
    Continue,
    /// The first hypothesis is accepted.
    AcceptNull,
    /// The second hypothesis is accepted.
    AcceptAlternative,
}

/// Wald's sequential probability ratio test (Annals of Mathematical Statistics 16, 1945), with his boundaries
/// ln(β/(1 − α)) and ln((1 − β)/α): the true error rates add up to at most α + β.
#[derive(Debug, Clone, PartialEq)]
pub struct Sprt {
    lower: f64,
    upper: f64,
    log_ratio: f64,
    decision: Decision,
}

impl Sprt {
    /// A test that wrongly accepts the alternative with probability about `alpha` and the null with about `beta`, both
    /// in 0..0.5.
    pub fn new(alpha: f64, beta: f64) -> Result<Self, StatsError> {
        check_unit_open(2.0 * alpha, "alpha")?;
        check_unit_open(2.0 * beta, "beta")?;
        let lower = (beta / (1.0 - alpha)).ln();
        let upper = ((1.0 - beta) / alpha).ln();
        Ok(Self { lower, upper, log_ratio: 0.0, decision: Decision::Continue })
    }

    /// Takes in one observation's ln(likelihood under the alternative / likelihood under the null). Once decided, the
    /// decision stays and further observations are ignored. A NaN is `NotFinite` and changes nothing; ±∞ (an
    /// observation impossible under one hypothesis) decides at once.
    pub fn push(&mut self, log_likelihood_ratio: f64) -> Result<Decision, StatsError> {
        if log_likelihood_ratio.is_nan() {
            return Err(StatsError::NotFinite);
        }
        if self.decision == Decision::Continue {
            self.log_ratio += log_likelihood_ratio;
            if self.log_ratio >= self.upper {
                self.decision = Decision::AcceptAlternative;
            } else if self.log_ratio <= self.lower {
                self.decision = Decision::AcceptNull;
            }
        }
        Ok(self.decision)
    }

    /// The decision so far.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// Sum of the log likelihood ratios so far, in nats; positive speaks for the alternative.
    pub fn log_ratio(&self) -> f64 {
        self.log_ratio
    }
}

/// Log likelihood ratio of one yes/no observation: success probability `alternative` against `null`, both in 0..=1.
pub fn bernoulli_log_ratio(success: bool, null: f64, alternative: f64) -> f64 {
    if success { (alternative / null).ln() } else { ((1.0 - alternative) / (1.0 - null)).ln() }
}

/// Log likelihood ratio of one normal observation of known standard deviation: mean `alternative` against `null`.
pub fn normal_log_ratio(value: f64, null: f64, alternative: f64, sd: f64) -> f64 {
    (alternative - null) * (value - 0.5 * (null + alternative)) / (sd * sd)
}

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
    use crate::simulate::{close, normal};

    #[test]
    fn sprt_keeps_its_error_rates_and_stops_early() {
        let mut rng = Rng::new(61);
        let runs = 600;
        for (truth, wrong) in [(0.0, Decision::AcceptAlternative), (1.0, Decision::AcceptNull)] {
            let (mut errors, mut steps) = (0, 0);
            for _ in 0..runs {
                let mut test = Sprt::new(0.05, 0.05).unwrap();
                while test.decision() == Decision::Continue {
                    test.push(normal_log_ratio(truth + normal(&mut rng), 0.0, 1.0, 1.0)).unwrap();
                    steps += 1;
                }
                errors += u32::from(test.decision() == wrong);
            }
            assert!(f64::from(errors) / f64::from(runs) < 0.07, "{errors} errors");
            // A fixed sample of the same power needs (2 · 1.645)² ≈ 11 observations.
            assert!(f64::from(steps) / f64::from(runs) < 9.0, "{steps} steps");
        }
    }

    #[test]
    fn an_impossible_observation_decides() {
        let mut test = Sprt::new(0.01, 0.01).unwrap();
        assert_eq!(test.push(f64::NAN), Err(StatsError::NotFinite));
        assert_eq!(test.push(bernoulli_log_ratio(true, 0.0, 0.5)).unwrap(), Decision::AcceptAlternative);
        assert_eq!(test.push(-1e9).unwrap(), Decision::AcceptAlternative);
        close(bernoulli_log_ratio(false, 0.5, 0.75), 0.5f64.ln(), 1e-12);
        assert!(Sprt::new(0.6, 0.1).is_err());
    }

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
