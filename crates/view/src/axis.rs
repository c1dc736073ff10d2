//! Axes: their ranges, their ticks, and where a value lies on them.

mod ticks;

pub use ticks::{linear_range, linear_ticks, log_range, log_ticks, position_ticks, shared_tops, size_ticks, thin};

use flashscope_units::{ByteRate, Bytes, Contrast};

/// What the values of an axis are: how a value is written, and at which values ticks are round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes, in powers of 1024.
    Bytes,
    /// Nanoseconds.
    Time,
    /// Bytes per second, in powers of 1000.
    Rate,
    /// Shares of one, in per cent.
    Share,
    /// Whole numbers of things.
    Count,
    /// Numbers that need not be whole.
    Number,
    /// Shares near one by their number of nines; only the labelled ticks are round.
    Nines,
    /// Places in a row, which have names.
    Place,
}

impl Quantity {
    /// The name under which the script of a page knows it.
    pub fn word(self) -> &'static str {
        match self {
            Quantity::Bytes => "bytes",
            Quantity::Time => "time",
            Quantity::Rate => "rate",
            Quantity::Share => "share",
            Quantity::Count => "count",
            Quantity::Number => "number",
            Quantity::Nines => "nines",
            Quantity::Place => "place",
        }
    }
}

/// An axis: where a value lies on it, and its labelled ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is shown, as a title.
    pub title: String,
    /// What its values are.
    pub quantity: Quantity,
    /// Ticks: the values at which they stand, and their labels.
    pub ticks: Vec<(f64, String)>,
    /// Names of the places in a row; empty on every other axis.
    pub names: Vec<String>,
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Axis {
    /// Sizes on a logarithmic scale.
    pub fn sizes(title: &str, sizes: impl Iterator<Item = Bytes>, ticks: usize) -> Option<Axis> {
        let (low, high) = log_range(sizes.map(Bytes::as_f64), 0.04)?;
        let axis = Axis::logarithmic(title, Quantity::Bytes, (low, high));
        Some(axis.with_ticks(size_ticks(low, high, ticks), |value| Bytes(value as u64).to_string()))
    }

    /// Positions on the device on a linear scale.
    pub fn positions(title: &str, positions: impl Iterator<Item = Bytes>, ticks: usize) -> Option<Axis> {
        let (low, high) = linear_range(positions.map(Bytes::as_f64), 0.02)?;
        let axis = Axis::linear(title, Quantity::Bytes, (low, high));
        Some(axis.with_ticks(position_ticks(low.max(0.0), high, ticks), |value| Bytes(value as u64).to_string()))
    }

    /// Times or differences of times in nanoseconds on a linear scale; `with_zero` makes zero part of it.
    pub fn times(title: &str, ns: impl Iterator<Item = f64>, with_zero: bool, ticks: usize) -> Option<Axis> {
        let (low, high) = linear_range(ns.chain(with_zero.then_some(0.0)), 0.06)?;
        let axis = Axis::linear(title, Quantity::Time, (low, high));
        Some(axis.with_ticks(linear_ticks(low, high, ticks), time_label))
    }

    /// Times in nanoseconds on a logarithmic scale.
    pub fn log_times(title: &str, ns: impl Iterator<Item = f64>, ticks: usize) -> Option<Axis> {
        let (low, high) = log_range(ns, 0.06)?;
        let axis = Axis::logarithmic(title, Quantity::Time, (low, high));
        Some(axis.with_ticks(log_ticks(low, high, ticks), time_label))
    }

    /// Rates on a logarithmic scale.
    pub fn log_rates(title: &str, rates: impl Iterator<Item = ByteRate>, ticks: usize) -> Option<Axis> {
        let (low, high) = log_range(rates.map(ByteRate::get), 0.08)?;
        let axis = Axis::logarithmic(title, Quantity::Rate, (low, high));
        Some(axis.with_ticks(log_ticks(low, high, ticks), rate_label))
    }

    /// Rates on a linear scale from zero.
    pub fn rates(title: &str, rates: impl Iterator<Item = ByteRate>, ticks: usize) -> Option<Axis> {
        let (_, high) = linear_range(rates.map(ByteRate::get).chain([0.0]), 0.06)?;
        let axis = Axis::linear(title, Quantity::Rate, (0.0, high));
        Some(axis.with_ticks(linear_ticks(0.0, high, ticks), rate_label))
    }

    /// Shares of one on a linear scale, zero included, in per cent.
    pub fn shares(title: &str, shares: impl Iterator<Item = f64>, ticks: usize) -> Option<Axis> {
        let (low, high) = linear_range(shares.chain([0.0]), 0.08)?;
        let axis = Axis::linear(title, Quantity::Share, (low, high));
        let label = |value: f64| format!("{} %", signed(&plain(&format!("{:.2}", value * 100.0))));
        Some(axis.with_ticks(linear_ticks(low, high, ticks), label))
    }

    /// Numbers of things: logarithmic to the base of two where they reach beyond 24.
    pub fn counts(title: &str, counts: impl Iterator<Item = u32> + Clone, ticks: usize) -> Option<Axis> {
        let most = counts.clone().max()?;
        let values = counts.map(f64::from);
        if most > 24 {
            let (low, high) = log_range(values, 0.05)?;
            let axis = Axis::logarithmic(title, Quantity::Count, (low, high));
            return Some(axis.with_ticks(size_ticks(low, high, ticks), |value| format!("{value:.0}")));
        }
        let (low, high) = linear_range(values, 0.05)?;
        let axis = Axis::linear(title, Quantity::Count, (low, high));
        let whole = linear_ticks(low, high, ticks).into_iter().filter(|tick| tick.fract() == 0.0 && *tick > 0.0);
        Some(axis.with_ticks(whole.collect(), |value| format!("{value:.0}")))
    }

    /// How often something happened, from zero; logarithmic, with room for single ones, where it is often.
    pub fn frequencies(title: &str, most: usize, ticks: usize) -> Axis {
        let most = most.max(1) as f64;
        if most > 40.0 {
            let axis = Axis::logarithmic(title, Quantity::Count, (0.5, most * 2.5));
            return axis.with_ticks(log_ticks(0.9, most * 1.3, ticks), |value| format!("{value:.0}"));
        }
        let axis = Axis::linear(title, Quantity::Count, (0.0, most * 1.2));
        let whole = linear_ticks(0.0, most * 1.08, ticks).into_iter().filter(|tick| tick.fract() == 0.0);
        axis.with_ticks(whole.collect(), |value| format!("{value:.0}"))
    }

    /// The indices of so many requests.
    pub fn indices(title: &str, count: usize, ticks: usize) -> Option<Axis> {
        let (low, high) = linear_range([0.0, count.checked_sub(1)? as f64].into_iter(), 0.02)?;
        let axis = Axis::linear(title, Quantity::Count, (low, high));
        let whole = linear_ticks(0.0, high, ticks).into_iter().filter(|tick| tick.fract() == 0.0);
        Some(axis.with_ticks(whole.collect(), |value| format!("{value:.0}")))
    }

    /// The numbers of so many things, counted from 1.
    pub fn numbers(title: &str, count: usize, ticks: usize) -> Option<Axis> {
        let (low, high) = linear_range([1.0, count.max(1) as f64].into_iter(), 0.05)?;
        let axis = Axis::linear(title, Quantity::Count, (low, high));
        let whole = linear_ticks(low, high, ticks).into_iter().filter(|tick| tick.fract() == 0.0 && *tick >= 1.0);
        Some(axis.with_ticks(whole.collect(), |value| format!("{value:.0}")))
    }

    /// Times since a start in nanoseconds on a linear scale, from zero.
    pub fn since(title: &str, ns: impl Iterator<Item = f64>, ticks: usize) -> Option<Axis> {
        let (_, high) = linear_range(ns.chain([0.0]), 0.02)?;
        let axis = Axis::linear(title, Quantity::Time, (0.0, high));
        Some(axis.with_ticks(linear_ticks(0.0, high, ticks), time_label))
    }

    /// Bytes moved on a linear scale, from zero.
    pub fn moved(title: &str, bytes: impl Iterator<Item = f64>, ticks: usize) -> Option<Axis> {
        let (_, high) = linear_range(bytes.chain([0.0]), 0.02)?;
        let axis = Axis::linear(title, Quantity::Bytes, (0.0, high));
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
        Some(Axis { ticks, ..Axis::linear(title, Quantity::Nines, (0.0, high)) })
    }

    /// Requests per second on a linear scale, from zero.
    pub fn iops(title: &str, values: impl Iterator<Item = f64>, ticks: usize) -> Option<Axis> {
        let (_, high) = linear_range(values.chain([0.0]), 0.06)?;
        let axis = Axis::linear(title, Quantity::Number, (0.0, high));
        Some(axis.with_ticks(linear_ticks(0.0, high, ticks), |value| plain(&format!("{value:.1}"))))
    }

    /// Ratios on a logarithmic scale.
    pub fn ratios(title: &str, ratios: impl Iterator<Item = f64>, ticks: usize) -> Option<Axis> {
        let (low, high) = log_range(ratios, 0.06)?;
        let axis = Axis::logarithmic(title, Quantity::Number, (low, high));
        Some(axis.with_ticks(log_ticks(low, high, ticks), |value| plain(&format!("{value:.3}"))))
    }

    /// Figures of a unit as comparisons name it (`B/s`, `ns`), on a linear scale that need not hold zero, so that a small change
    /// is seen.
    pub fn figures(title: &str, unit: &str, values: impl Iterator<Item = f64>, ticks: usize) -> Option<Axis> {
        let (low, high) = linear_range(values, 0.12)?;
        let axis = Axis::linear(title, Quantity::Number, (low, high));
        Some(axis.with_ticks(linear_ticks(low, high, ticks), |value| plain(&crate::comparison::value(value, unit))))
    }

    /// Places in a row: 0, 1, 2 … with these names, every `every`th of each run of names bearing its label. An empty name
    /// is a gap.
    pub fn places(title: &str, names: Vec<String>, every: usize) -> Axis {
        let axis = Axis::linear(title, Quantity::Place, (-0.6, names.len() as f64 - 0.4));
        let mut since_gap = 0;
        let mut ticks = Vec::new();
        for (at, name) in names.iter().enumerate() {
            if name.is_empty() {
                since_gap = 0;
                continue;
            }
            if since_gap % every.max(1) == 0 {
                ticks.push((at as f64, name.clone()));
            }
            since_gap += 1;
        }
        Axis { ticks, names, ..axis }
    }

    fn linear(title: &str, quantity: Quantity, (low, high): (f64, f64)) -> Axis {
        Axis { title: title.to_owned(), quantity, ticks: Vec::new(), names: Vec::new(), low, high, logarithmic: false }
    }

    fn logarithmic(title: &str, quantity: Quantity, ends: (f64, f64)) -> Axis {
        Axis { logarithmic: true, ..Axis::linear(title, quantity, ends) }
    }

    /// Whether equal ratios, not equal differences, are equally long.
    pub fn is_logarithmic(&self) -> bool {
        self.logarithmic
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn places_keep_all_names_and_label_some() {
        let names = ["0", "1", "2", "", "7", "8"].map(str::to_owned).to_vec();
        let axis = Axis::places("", names.clone(), 2);
        let labels: Vec<&str> = axis.ticks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!((labels, axis.names), (vec!["0", "2", "7"], names));
    }
}
