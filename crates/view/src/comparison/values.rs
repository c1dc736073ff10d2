//! Figures, ratios and differences as people read them.

use flashscope_model::comparison::Centre;
use flashscope_units::{ByteRate, Contrast, Iops};

/// A figure in its unit, with three digits.
pub fn value(value: f64, unit: &str) -> String {
    match unit {
        "B/s" => ByteRate(value).to_string(),
        "IOPS" => Iops(value).to_string(),
        "ns" => Contrast(value).to_string(),
        "" => digits(value),
        unit => format!("{} {unit}", digits(value)),
    }
}

/// With its interval as a share: `17.7 MB/s ± 1.7 %`.
pub(crate) fn spread(centre: &Centre, unit: &str) -> String {
    let said = value(centre.value, unit);
    match centre.interval {
        // An interval of logarithms: as far up as down, as a ratio.
        Some((low, high)) if low > 0.0 => format!("{said} ± {}", percent((high / low).sqrt())),
        _ => said,
    }
}

/// How far a ratio lies from 1: `12 %`, `0.4 %`, `3.1 times`.
pub fn percent(ratio: f64) -> String {
    let away = (ratio - 1.0).abs() * 100.0;
    match away {
        _ if ratio >= 100.0 => format!("{ratio:.0} times"),
        _ if ratio >= 3.0 => format!("{ratio:.1} times"),
        _ if away >= 9.95 => format!("{away:.0} %"),
        _ if away >= 0.095 => format!("{away:.1} %"),
        _ => format!("{away:.2} %"),
    }
}

/// A ratio with as many digits as its interval bears: at least two behind the point, at most four.
pub fn ratio(ratio: f64, interval: Option<(f64, f64)>) -> String {
    format!("{ratio:.*}", places(interval))
}

/// Both ends of the interval of a ratio.
pub(super) fn interval(low: f64, high: f64) -> String {
    let places = places(Some((low, high)));
    format!("{low:.places$}–{high:.places$}")
}

fn places(interval: Option<(f64, f64)>) -> usize {
    let Some((low, high)) = interval else { return 2 };
    let wanted = -(high - low).max(1e-6).log10().floor();
    if low >= 10.0 { 0 } else { (wanted as i64).clamp(2, 4) as usize }
}

/// `1 figure`, `2 figures`.
pub(crate) fn counted(count: usize, of: &str) -> String {
    if count == 1 { format!("1 {of}") } else { format!("{count} {of}s") }
}

/// Three digits.
fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 || size == 0.0 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.9995 => format!("{value:.2}"),
        size => {
            let places = (2.0 - size.log10().floor()).min(9.0) as usize;
            format!("{value:.places$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_ratios_what_their_interval_bears() {
        assert_eq!(value(17_690_000.0, "B/s"), "17.7 MB/s");
        assert_eq!(value(1_234_000.0, "ns"), "1.23 ms");
        assert_eq!(
            (value(5.8, "MBps"), value(0.0123, "x"), value(1234.4, "")),
            ("5.80 MBps".into(), "0.0123 x".into(), "1234".into())
        );
        assert_eq!(
            (percent(0.88), percent(1.05), percent(1.0004), percent(4.2)),
            ("12 %".into(), "5.0 %".into(), "0.04 %".into(), "4.2 times".into())
        );
        assert_eq!(ratio(0.8812, Some((0.86, 0.90))), "0.88");
        assert_eq!(ratio(1.00213, Some((1.0018, 1.0024))), "1.0021");
        assert_eq!(ratio(2.31, None), "2.31");
        assert_eq!(interval(0.7, 1.4), "0.70–1.40");
    }
}
