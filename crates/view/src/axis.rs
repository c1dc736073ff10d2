//! Axes: their ranges, their ticks, and which points would print on top of each other.

use flashscope_units::{ByteRate, Bytes, Contrast};

/// An axis: where a value lies on it, and its labelled ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is shown, as a title.
    pub title: String,
    /// Ticks: the values at which they stand, and their labels.
    pub ticks: Vec<(f64, String)>,
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Axis {
    /// Sizes on a logarithmic scale.
    pub fn sizes(title: &str, sizes: impl Iterator<Item = Bytes>, ticks: usize) -> Option<Axis> {
        let (low, high) = log_range(sizes.map(Bytes::as_f64), 0.04)?;
        let axis = Axis { title: title.to_owned(), ticks: Vec::new(), low, high, logarithmic: true };
        Some(axis.with_ticks(size_ticks(low, high, ticks), |value| Bytes(value as u64).to_string()))
    }

    /// Positions on the device on a linear scale.
    pub fn positions(title: &str, positions: impl Iterator<Item = Bytes>, ticks: usize) -> Option<Axis> {
        let (low, high) = linear_range(positions.map(Bytes::as_f64), 0.02)?;
        let axis = Axis { title: title.to_owned(), ticks: Vec::new(), low, high, logarithmic: false };
        Some(axis.with_ticks(position_ticks(low.max(0.0), high, ticks), |value| Bytes(value as u64).to_string()))
    }

    /// Times or differences of times in nanoseconds on a linear scale; `with_zero` makes zero part of it.
    pub fn times(title: &str, ns: impl Iterator<Item = f64>, with_zero: bool, ticks: usize) -> Option<Axis> {
        let (low, high) = linear_range(ns.chain(with_zero.then_some(0.0)), 0.06)?;
        let axis = Axis { title: title.to_owned(), ticks: Vec::new(), low, high, logarithmic: false };
        Some(axis.with_ticks(linear_ticks(low, high, ticks), time_label))
    }

    /// Times in nanoseconds on a logarithmic scale.
    pub fn log_times(title: &str, ns: impl Iterator<Item = f64>, ticks: usize) -> Option<Axis> {
        let (low, high) = log_range(ns, 0.06)?;
        let axis = Axis { title: title.to_owned(), ticks: Vec::new(), low, high, logarithmic: true };
        Some(axis.with_ticks(log_ticks(low, high, ticks), time_label))
    }

    /// Rates on a logarithmic scale.
    pub fn log_rates(title: &str, rates: impl Iterator<Item = ByteRate>, ticks: usize) -> Option<Axis> {
        let (low, high) = log_range(rates.map(ByteRate::get), 0.08)?;
        let axis = Axis { title: title.to_owned(), ticks: Vec::new(), low, high, logarithmic: true };
        Some(axis.with_ticks(log_ticks(low, high, ticks), rate_label))
    }

    /// Rates on a linear scale from zero.
    pub fn rates(title: &str, rates: impl Iterator<Item = ByteRate>, ticks: usize) -> Option<Axis> {
        let (_, high) = linear_range(rates.map(ByteRate::get).chain([0.0]), 0.06)?;
        let axis = Axis { title: title.to_owned(), ticks: Vec::new(), low: 0.0, high, logarithmic: false };
        Some(axis.with_ticks(linear_ticks(0.0, high, ticks), rate_label))
    }

    /// Shares of one on a linear scale, zero included, in per cent.
    pub fn shares(title: &str, shares: impl Iterator<Item = f64>, ticks: usize) -> Option<Axis> {
        let (low, high) = linear_range(shares.chain([0.0]), 0.08)?;
        let axis = Axis { title: title.to_owned(), ticks: Vec::new(), low, high, logarithmic: false };
        let label = |value: f64| format!("{} %", signed(&plain(&format!("{:.2}", value * 100.0))));
        Some(axis.with_ticks(linear_ticks(low, high, ticks), label))
    }

    /// Numbers of things: logarithmic to the base of two where they reach beyond 24.
    pub fn counts(title: &str, counts: impl Iterator<Item = u32> + Clone, ticks: usize) -> Option<Axis> {
        let most = counts.clone().max()?;
        let values = counts.map(f64::from);
        let title = title.to_owned();
        if most > 24 {
            let (low, high) = log_range(values, 0.05)?;
            let axis = Axis { title, ticks: Vec::new(), low, high, logarithmic: true };
            return Some(axis.with_ticks(size_ticks(low, high, ticks), |value| format!("{value:.0}")));
        }
        let (low, high) = linear_range(values, 0.05)?;
        let axis = Axis { title, ticks: Vec::new(), low, high, logarithmic: false };
        let whole = linear_ticks(low, high, ticks).into_iter().filter(|tick| tick.fract() == 0.0 && *tick > 0.0);
        Some(axis.with_ticks(whole.collect(), |value| format!("{value:.0}")))
    }

    /// How often something happened, from zero; logarithmic, with room for single ones, where it is often.
    pub fn frequencies(title: &str, most: usize, ticks: usize) -> Axis {
        let title = title.to_owned();
        let most = most.max(1) as f64;
        if most > 40.0 {
            let axis = Axis { title, ticks: Vec::new(), low: 0.5, high: most * 2.5, logarithmic: true };
            return axis.with_ticks(log_ticks(0.9, most * 1.3, ticks), |value| format!("{value:.0}"));
        }
        let axis = Axis { title, ticks: Vec::new(), low: 0.0, high: most * 1.2, logarithmic: false };
        let whole = linear_ticks(0.0, most * 1.08, ticks).into_iter().filter(|tick| tick.fract() == 0.0);
        axis.with_ticks(whole.collect(), |value| format!("{value:.0}"))
    }

    /// The indices of so many requests.
    pub fn indices(title: &str, count: usize, ticks: usize) -> Option<Axis> {
        let (low, high) = linear_range([0.0, count.checked_sub(1)? as f64].into_iter(), 0.02)?;
        let axis = Axis { title: title.to_owned(), ticks: Vec::new(), low, high, logarithmic: false };
        let whole = linear_ticks(0.0, high, ticks).into_iter().filter(|tick| tick.fract() == 0.0);
        Some(axis.with_ticks(whole.collect(), |value| format!("{value:.0}")))
    }

    /// Times since a start in nanoseconds on a linear scale, from zero.
    pub fn since(title: &str, ns: impl Iterator<Item = f64>, ticks: usize) -> Option<Axis> {
        let (_, high) = linear_range(ns.chain([0.0]), 0.02)?;
        let axis = Axis { title: title.to_owned(), ticks: Vec::new(), low: 0.0, high, logarithmic: false };
        Some(axis.with_ticks(linear_ticks(0.0, high, ticks), time_label))
    }

    /// Bytes moved on a linear scale, from zero.
    pub fn moved(title: &str, bytes: impl Iterator<Item = f64>, ticks: usize) -> Option<Axis> {
        let (_, high) = linear_range(bytes.chain([0.0]), 0.02)?;
        let axis = Axis { title: title.to_owned(), ticks: Vec::new(), low: 0.0, high, logarithmic: false };
        Some(axis.with_ticks(position_ticks(0.0, high, ticks), |value| Bytes(value as u64).to_string()))
    }

    /// Shares of all that are near one, by their number of nines (1 is 90 %, 3 is 99.9 %), from zero.
    pub fn nines(title: &str, most: f64) -> Option<Axis> {
        if !most.is_finite() || most <= 0.0 {
            return None;
        }
        let high = most * 1.04;
        let known = [
            (0.5, "50 %"),
            (0.9, "90 %"),
            (0.99, "99 %"),
            (0.999, "99.9 %"),
            (0.9999, "99.99 %"),
            (0.99999, "99.999 %"),
        ];
        let ticks = known.iter().map(|(share, label)| (-f64::log10(1.0 - *share), (*label).to_owned()));
        let ticks = ticks.filter(|(at, _)| *at <= high).collect();
        Some(Axis { title: title.to_owned(), ticks, low: 0.0, high, logarithmic: false })
    }

    /// Requests per second on a linear scale, from zero.
    pub fn iops(title: &str, values: impl Iterator<Item = f64>, ticks: usize) -> Option<Axis> {
        let (_, high) = linear_range(values.chain([0.0]), 0.06)?;
        let axis = Axis { title: title.to_owned(), ticks: Vec::new(), low: 0.0, high, logarithmic: false };
        Some(axis.with_ticks(linear_ticks(0.0, high, ticks), |value| plain(&format!("{value:.1}"))))
    }

    /// Places in a row: 0, 1, 2 … with the given labels.
    pub fn places(title: &str, labels: &[String]) -> Axis {
        let axis = Axis {
            title: title.to_owned(),
            ticks: Vec::new(),
            low: -0.6,
            high: labels.len() as f64 - 0.4,
            logarithmic: false,
        };
        let labelled = labels.iter().enumerate().filter(|(_, label)| !label.is_empty());
        let ticks = labelled.map(|(at, label)| (at as f64, label.clone())).collect();
        Axis { ticks, ..axis }
    }

    /// The same with room above for words: a share of its length, on a linear scale.
    pub fn with_headroom(self, share: f64) -> Axis {
        let high = self.high + (self.high - self.low) * share;
        Axis { high, ..self }
    }

    /// Where a value lies: 0 at the low end, 1 at the high end; never outside.
    pub fn place(&self, value: f64) -> f64 {
        let scale = |value: f64| if self.logarithmic { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let share = (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low));
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The values at both ends.
    pub fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// The value at which bars start: zero where it is part of the axis, else the low end.
    pub fn rest(&self) -> f64 {
        if self.logarithmic { self.low } else { self.low.max(0.0) }
    }

    fn with_ticks(self, values: Vec<f64>, label: impl Fn(f64) -> String) -> Axis {
        let ticks = values.into_iter().map(|value| (value, label(value))).collect();
        Axis { ticks, ..self }
    }
}

fn time_label(ns: f64) -> String {
    if ns == 0.0 { "0".to_owned() } else { plain(&Contrast(ns).to_string()) }
}

fn rate_label(rate: f64) -> String {
    if rate == 0.0 { "0".to_owned() } else { plain(&ByteRate(rate).to_string()) }
}

/// A figure without zeros that say nothing: `1.00 MB/s` is `1 MB/s` on an axis.
fn plain(figure: &str) -> String {
    let (number, unit) = figure.split_once(' ').map_or((figure, ""), |(number, unit)| (number, unit));
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    if unit.is_empty() { number.to_owned() } else { format!("{number} {unit}") }
}

/// With a minus sign that is one.
fn signed(number: &str) -> String {
    match number.strip_prefix('-') {
        Some("0") => "0".to_owned(),
        Some(rest) => format!("−{rest}"),
        None => number.to_owned(),
    }
}

/// Ticks of a linear axis at 1, 2 or 5 times a power of ten within `low..=high`: at most `count` of them.
pub fn linear_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    if !is_range(low, high) || count < 2 {
        return vec![low];
    }
    let rough = (high - low) / count as f64;
    let power = 10f64.powf(rough.log10().floor());
    let fits = |step: &f64| (high / step).floor() - (low / step).ceil() + 1.0 <= count as f64;
    let step = [1.0, 2.0, 5.0, 10.0, 20.0].map(|factor| factor * power).into_iter().find(fits).unwrap_or(20.0 * power);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|k| k as f64 * step).collect()
}

/// Ticks of a logarithmic axis of times or rates within `low..=high`: powers of ten where these are enough, with
/// 2 and 5 times them where not, and linear ticks over less than a factor of four.
pub fn log_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    if low <= 0.0 || !is_range(low, high) {
        return vec![low];
    }
    if high / low < 4.0 {
        return linear_ticks(low, high, count);
    }
    let powers = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
    let within = |factors: &[f64]| -> Vec<f64> {
        let all = powers.clone().flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
        all.filter(|tick| *tick >= low * 0.999 && *tick <= high * 1.001).collect()
    };
    let mut choices = [within(&[1.0, 2.0, 5.0]), within(&[1.0, 3.0]), within(&[1.0])].into_iter();
    let fitting = choices.clone().find(|ticks| ticks.len() <= count && ticks.len() >= 2);
    fitting.or_else(|| choices.next_back().map(|ticks| every_nth(ticks, count))).unwrap_or_default()
}

/// Ticks of a logarithmic axis of sizes at powers of two within `low..=high`, at most `count` of them.
pub fn size_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let first = low.max(1.0).log2().ceil() as i32;
    let last = high.max(1.0).log2().floor() as i32;
    let all: i32 = (last - first + 1).max(1);
    // Steps that keep ticks at round sizes: every one, every other, every fourth …
    let step = (0..6).map(|k| 1 << k).find(|step| all.div_euclid(*step) < count as i32).unwrap_or(64);
    (first..=last).filter(|power| power.rem_euclid(step) == 0).map(|power| 2f64.powi(power)).collect()
}

/// Ticks of a linear axis of positions, at round numbers of KiB, MiB or GiB.
pub fn position_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let rough = ((high - low) / count.max(1) as f64).max(1.0);
    let step = 2f64.powi(rough.log2().ceil() as i32);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last).map(|k| k as f64 * step).collect()
}

/// A range that holds all values with some room at either end; of nothing, or of values that are not finite, none.
pub fn linear_range(values: impl Iterator<Item = f64>, room: f64) -> Option<(f64, f64)> {
    let (low, high) = extremes(values)?;
    let margin = (high - low).max(high.abs() * 0.02).max(f64::MIN_POSITIVE) * room;
    Some((low - margin, high + margin))
}

/// The same for a logarithmic axis; values that are not positive are left out.
pub fn log_range(values: impl Iterator<Item = f64>, room: f64) -> Option<(f64, f64)> {
    let (low, high) = linear_range(values.filter(|value| *value > 0.0).map(f64::ln), room)?;
    Some((low.exp(), high.exp()))
}

/// The points less those that fall into a cell of a grid where one is already; order kept.
pub fn thin(points: &[(f64, f64)], (across, up): (usize, usize)) -> Vec<(f64, f64)> {
    let Some(((x_low, x_high), (y_low, y_high))) =
        extremes(points.iter().map(|point| point.0)).zip(extremes(points.iter().map(|point| point.1)))
    else {
        return Vec::new();
    };
    let cell = |value: f64, low: f64, high: f64, cells: usize| {
        if high > low { ((value - low) / (high - low) * (cells - 1) as f64).round() as usize } else { 0 }
    };
    let mut taken = vec![false; across * up];
    let mut kept = Vec::new();
    for &(x, y) in points {
        let at = cell(x, x_low, x_high, across) * up + cell(y, y_low, y_high, up);
        if !std::mem::replace(&mut taken[at], true) {
            kept.push((x, y));
        }
    }
    kept
}

fn is_range(low: f64, high: f64) -> bool {
    low.is_finite() && high.is_finite() && low < high
}

fn extremes(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((f64::min(low, value), f64::max(high, value))),
    })
}

fn every_nth(ticks: Vec<f64>, count: usize) -> Vec<f64> {
    let step = ticks.len().div_ceil(count.max(1)).max(1);
    ticks.into_iter().step_by(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_not_too_many() {
        assert_eq!(linear_ticks(0.0, 260.0, 6), [0.0, 50.0, 100.0, 150.0, 200.0, 250.0]);
        assert_eq!(log_ticks(30.0, 2000.0, 3), [100.0, 1000.0]);
        assert_eq!(log_ticks(80.0, 2000.0, 8), [100.0, 200.0, 500.0, 1000.0, 2000.0]);
        assert_eq!(log_ticks(500.0, 700.0, 5), [500.0, 550.0, 600.0, 650.0, 700.0]);
        assert_eq!(size_ticks(4096.0, 32768.0, 8), [4096.0, 8192.0, 16384.0, 32768.0]);
        assert_eq!(
            size_ticks(4096.0, 16777216.0, 8),
            [4096.0, 16384.0, 65536.0, 262144.0, 1048576.0, 4194304.0, 16777216.0]
        );
        assert_eq!(position_ticks(0.0, 17.0, 4), [0.0, 8.0, 16.0]);
    }

    #[test]
    fn axes_place_and_label_values() {
        let sizes = [Bytes::kib(4), Bytes::mib(4)];
        let axis = Axis::sizes("", sizes.into_iter(), 12).unwrap();
        let labels: Vec<&str> = axis.ticks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(
            labels,
            [
                "4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB", "128 KiB", "256 KiB", "512 KiB", "1 MiB", "2 MiB",
                "4 MiB"
            ]
        );
        assert!((axis.place(131_072.0) - 0.5).abs() < 1e-9, "half way up a logarithmic scale");
        assert_eq!(axis.place(0.0), 0.0);

        let axis = Axis::times("", [-20e3, 250e3].into_iter(), true, 6).unwrap();
        let labels: Vec<&str> = axis.ticks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["0", "50 µs", "100 µs", "150 µs", "200 µs", "250 µs"]);

        let axis = Axis::log_rates("", [75e3, 16e6].into_iter().map(ByteRate), 4).unwrap();
        let labels: Vec<&str> = axis.ticks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["100 KB/s", "1 MB/s", "10 MB/s"]);
        assert_eq!(Axis::times("", std::iter::empty(), false, 6), None);
    }

    #[test]
    fn odd_ranges_do_not_hang_or_panic() {
        for (low, high) in [(0.0, 0.0), (1.0, 1.0), (-3.0, -3.0), (0.0, 1e300), (f64::NAN, 1.0), (5.0, 2.0)] {
            for ticks in [linear_ticks(low, high, 5), log_ticks(low, high, 5), size_ticks(low, high, 5)] {
                assert!(ticks.len() <= 400, "{low} {high}: {}", ticks.len());
            }
        }
        assert_eq!(linear_range([f64::NAN].into_iter(), 0.1), None);
        assert_eq!(log_range([0.0, -1.0].into_iter(), 0.1), None);
    }

    #[test]
    fn thinning_keeps_the_shape() {
        let line: Vec<(f64, f64)> = (0..10_000).map(|k| (f64::from(k), f64::from(k % 2))).collect();
        let kept = thin(&line, (100, 50));
        assert!(kept.len() <= 200 && kept.len() > 150, "{}", kept.len());
        assert_eq!(thin(&[(1.0, 1.0); 3], (10, 10)), [(1.0, 1.0)]);
        assert_eq!(thin(&[], (10, 10)), []);
    }
}
