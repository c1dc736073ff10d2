//! Small arithmetic and wording that every family of findings needs: rates from evidence, medians, and rates side by
//! side in one unit.

use flashscope_model::observation::RateEvidence;
use flashscope_stats::location;
use flashscope_units::{Bytes, Nanos};

/// The middle of a sample; `None` where it is empty or holds what is not finite.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    location::median(values)
}

/// The smallest distance of two values that differ: of times, the step of the clock to which they were rounded, if it is
/// coarse; 0 where none differ.
pub(crate) fn clock_step(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let steps = values.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0.0);
    steps.min_by(f64::total_cmp).unwrap_or(0.0)
}

/// Bytes per second of a whole region, stalls included; `None` where there is nothing to divide.
pub(crate) fn rate(block: Bytes, evidence: &RateEvidence) -> Option<f64> {
    match evidence {
        RateEvidence::Printed(printed) => Some(printed.value.get()).filter(|rate| *rate > 0.0),
        RateEvidence::Times(times) => mean_rate(block, times),
    }
}

/// Bytes per second of requests of one size, all bytes over all the time.
pub(crate) fn mean_rate(block: Bytes, times: &[Nanos]) -> Option<f64> {
    let total: Nanos = times.iter().copied().sum();
    (total > Nanos::ZERO).then(|| block.as_f64() * times.len() as f64 / total.as_secs_f64())
}

/// Bytes per second at the median service time: what one request sees when nothing is collected.
pub(crate) fn median_rate(block: Bytes, times: &[Nanos]) -> Option<f64> {
    let seconds: Vec<f64> = times.iter().map(|time| time.as_secs_f64()).collect();
    median(&seconds).filter(|middle| *middle > 0.0).map(|middle| block.as_f64() / middle)
}

/// The natural logarithm of a positive rate.
pub(crate) fn ln_rate(block: Bytes, evidence: &RateEvidence) -> Option<f64> {
    rate(block, evidence).map(f64::ln)
}

/// `14.7 → 0.34 MB/s`: two rates in the unit of the larger.
pub(crate) fn rates_side_by_side(from: f64, to: f64) -> String {
    let (unit, name) = match from.max(to) {
        most if most < 999.5 => (1.0, "B/s"),
        most if most < 999.5e3 => (1e3, "KB/s"),
        most if most < 999.5e6 => (1e6, "MB/s"),
        _ => (1e9, "GB/s"),
    };
    format!("{} → {} {name}", digits(from / unit), digits(to / unit))
}

/// Three significant digits, two below one.
pub(crate) fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.0995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// The score of what is seen or not, without degrees: what it is worth is counted ([`crate::claims`]).
pub(crate) const SEEN: f64 = 0.9;

/// Keeps a probability away from certainty that no finite log can give.
pub(crate) fn probability(value: f64) -> f64 {
    value.clamp(0.05, 0.999)
}

/// The greatest common divisor.
pub(crate) fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { gcd(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_share_a_unit() {
        let check = |from, to, expect: &str| assert_eq!(rates_side_by_side(from, to), expect);
        check(14.7e6, 344e3, "14.7 → 0.34 MB/s");
        check(74.6e3, 42.4e3, "74.6 → 42.4 KB/s");
        check(16.6e6, 42.5e3, "16.6 → 0.043 MB/s");
    }

    #[test]
    fn rates_come_from_times() {
        let times = [Nanos::millis(1), Nanos::millis(1), Nanos::millis(2)];
        assert_eq!(mean_rate(Bytes(1000), &times), Some(750_000.0));
        assert_eq!(median_rate(Bytes(1000), &times), Some(1_000_000.0));
        assert_eq!(mean_rate(Bytes(1000), &[]), None);
    }
}
