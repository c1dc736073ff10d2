//! Intervals: where a quantile, a centre, a shift, a proportion or a ratio can plausibly be.
//!
//! Pick by the question: [`quantile_interval`] for a percentile of one sample, [`hodges_lehmann_interval`] for the
//! centre of contrasts, [`shift_interval`] for the difference of two samples, [`median_ratio_interval`] for "how many
//! times", [`wilson_interval`] for counts, and a bootstrap for any other statistic ([`moving_block_bootstrap`] when
//! neighbours in the series depend on each other).

mod bootstrap;
mod order;
mod proportion;
mod rank;
mod ratio;

pub use bootstrap::{Bootstrap, bca_bootstrap, default_block_length, moving_block_bootstrap};
pub use order::{median_interval, quantile_interval};
pub use proportion::wilson_interval;
pub use rank::{hodges_lehmann_interval, shift_interval};
pub use ratio::median_ratio_interval;

/// A closed interval and the confidence it carries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end, in the unit of the data.
    pub low: f64,
    /// Upper end, in the unit of the data.
    pub high: f64,
    /// Confidence in 0..1: the achieved one where the method is exact (never below what was asked), otherwise the
    /// nominal one.
    pub confidence: f64,
}

impl Interval {
    /// Whether `value` lies within, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether the two intervals share a point.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Length, in the unit of the data.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometry() {
        let of = |low, high| Interval { low, high, confidence: 0.95 };
        assert!(of(1.0, 2.0).overlaps(&of(2.0, 3.0)));
        assert!(!of(1.0, 2.0).overlaps(&of(2.1, 3.0)));
        assert!(of(1.0, 2.0).contains(2.0) && !of(1.0, 2.0).contains(0.9));
        assert_eq!(of(1.0, 3.5).width(), 2.5);
    }
}
