//! Whether a device is as fast beside all others as it is alone.
//!
//! Two one-sided tests on the logarithms of rates (Schuirmann 1987, as `flashscope_stats::test::tost_log_ratio` has them): that a
//! device is undisturbed must be shown, and "no difference was seen" does not show it.

use flashscope_stats::test::tost_log_ratio;

/// The chance of calling a disturbed device undisturbed.
const ALPHA: f64 = 0.05;

/// What the rates of a device say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Rate beside all others over rate alone.
    pub ratio: f64,
    /// Interval of that of 90 %, the one that must lie within the margin.
    pub interval: Option<(f64, f64)>,
    /// Whether it does. Where it does not, the host limits what this device shows beside others.
    pub undisturbed: bool,
}

/// Holds rates alone against rates beside all others; `margin` is the ratio that still counts as none (1.02 for 2 %). `None`
/// where there are fewer than two of either, or one is not positive.
pub fn judge(alone: &[f64], beside: &[f64], margin: f64) -> Option<Verdict> {
    let found = tost_log_ratio(beside, alone, margin, ALPHA).ok()?;
    let interval = found.ratio_interval.map(|interval| (interval.low, interval.high));
    Some(Verdict { ratio: found.ratio, interval, undisturbed: found.equivalent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_rates_are_undisturbed_and_slower_ones_are_not() {
        let alone = [100.0, 100.4, 99.7, 100.1, 99.9];
        let same = judge(&alone, &[100.1, 99.8, 100.2, 99.9, 100.3], 1.02).unwrap();
        assert!(same.undisturbed && (same.ratio - 1.0).abs() < 0.01);
        let slower = judge(&alone, &[90.1, 89.8, 90.2, 89.9, 90.3], 1.02).unwrap();
        assert!(!slower.undisturbed && slower.interval.unwrap().1 < 0.92);
    }

    #[test]
    fn scatter_shows_nothing_and_too_few_rates_say_nothing() {
        let wild = [80.0, 120.0, 95.0, 110.0, 101.0];
        assert!(!judge(&wild, &wild, 1.02).unwrap().undisturbed);
        assert_eq!(judge(&[100.0], &[100.0], 1.02), None);
        assert_eq!(judge(&[100.0, 100.0], &[0.0, 100.0], 1.02), None);
    }
}
