//! Trends as text: a line of bars for each, its changes below, at most 80 columns.

use flashscope_report::foreign;
use flashscope_store::{Figure, Mark, Series, Trend};
use std::fmt::Write;

/// Bars in a line.
const WIDTH: usize = 64;
/// Trends that are shown unless all are asked for.
const MOST: usize = 8;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// What can be asked for.
pub(super) fn figures(figures: &[Figure]) -> String {
    if figures.is_empty() {
        return "no record has a figure; those of bench, inspect and iozone have\n".to_owned();
    }
    let mut text = format!("{:>7}  figure\n", "records");
    for figure in figures {
        let unit = if figure.metric.unit.is_empty() { String::new() } else { format!(", {}", figure.metric.unit) };
        let _ = writeln!(text, "{:>7}  {}{unit}", figure.records, foreign::line(&figure.metric.name));
    }
    text
}

/// All trends, or the longest ones.
pub(super) fn page(trends: &[Trend], all: bool) -> String {
    if trends.is_empty() {
        return "no record matches: `flashscope history list` without conditions shows all that are kept\n".to_owned();
    }
    let shown = if all { trends.len() } else { trends.len().min(MOST) };
    let mut text = trends[..shown].iter().map(one).collect::<Vec<_>>().join("\n");
    if shown < trends.len() {
        let _ = writeln!(text, "\n{} further with fewer points; --all shows them", trends.len() - shown);
    }
    text
}

fn one(trend: &Trend) -> String {
    let series = &trend.series;
    let mut text = format!("{} of {}\n", foreign::line(&series.metric.name), foreign::line(&series.device));
    if series.part != series.device {
        let _ = writeln!(text, "  part {}", foreign::line(&series.part));
    }
    let settings: Vec<_> = series.setup.lines().map(foreign::line).collect();
    if !settings.is_empty() {
        for line in flashscope_report::wrapped(&settings.join(", "), 76) {
            let _ = writeln!(text, "  {line}");
        }
    }
    if let (Some(first), Some(last)) = (series.points.first(), series.points.last()) {
        let count = series.points.len();
        let records = if count == 1 { "record" } else { "records" };
        let _ = writeln!(text, "  {count} {records}, {} to {}", day(&first.at), day(&last.at));
        text.push_str(&bars(series, trend.marks.as_deref().unwrap_or_default()));
    }
    if trend.left_out > 0 {
        let _ = writeln!(text, "  {} not above 0 left out", trend.left_out);
    }
    match &trend.marks {
        None => {
            let _ = writeln!(text, "  cannot tell whether it changed: {} records are needed", Trend::SHORTEST);
        }
        Some(marks) if marks.is_empty() => {
            let _ = writeln!(text, "  no change of the level{}", scatter(trend));
        }
        Some(marks) => {
            for (number, mark) in (1..).zip(marks) {
                text.push_str(&change(series, number, mark));
            }
            let _ = writeln!(text, "  intervals hold with 95 %{}", scatter(trend));
        }
    }
    text
}

/// How much points scatter about the levels.
fn scatter(trend: &Trend) -> String {
    let Some(scatter) = trend.scatter.filter(|scatter| *scatter > 1.0) else { return String::new() };
    let alike = trend.correlation.filter(|correlation| *correlation > 0.0);
    let alike = alike.map_or(String::new(), |correlation| format!(", neighbours correlated by {correlation:.2}"));
    format!("; scatter {:.2} %{alike}", 100.0 * (scatter - 1.0))
}

fn change(series: &Series, number: usize, mark: &Mark) -> String {
    let at = |index: usize| series.points[index].at.as_str();
    // The level changed after the last point that must be of the old one.
    let from = at(mark.earliest.saturating_sub(1));
    let verdict = if mark.is_better { "better" } else { "worse" };
    let percent = |ratio: f64| format!("{:+.1}", 100.0 * (ratio - 1.0));
    format!(
        "  {number}  {verdict}: {} % [{}, {}], {} to {}\n     between {} and {}, seen first in record {}\n",
        percent(mark.ratio),
        percent(mark.low),
        percent(mark.high),
        quantity(mark.levels[0], &series.metric.unit),
        quantity(mark.levels[1], &series.metric.unit),
        minute(from),
        minute(at(mark.latest)),
        series.points[mark.at].record,
    )
}

/// Each column is the median of its points; a line below has the numbers of the changes.
fn bars(series: &Series, marks: &[Mark]) -> String {
    let count = series.points.len();
    let columns = count.min(WIDTH);
    let values: Vec<f64> = (0..columns)
        .map(|column| {
            let mut within: Vec<f64> = series.points[column * count / columns..(column + 1) * count / columns]
                .iter()
                .map(|p| p.value)
                .collect();
            within.sort_unstable_by(f64::total_cmp);
            within[within.len() / 2]
        })
        .collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let bar =
        |value: f64| if high > low { BARS[((value - low) / (high - low) * 7.0).round() as usize] } else { BARS[3] };
    let line: String = values.iter().map(|value| bar(*value)).collect();
    let unit = &series.metric.unit;
    let mut text = format!("  {line}\n");
    if !marks.is_empty() {
        let mut below = vec![' '; columns];
        for (number, mark) in (1..).zip(marks) {
            below[(mark.at * columns / count).min(columns - 1)] = char::from_digit(number % 36, 36).unwrap_or('^');
        }
        let below: String = below.into_iter().collect();
        let _ = writeln!(text, "  {}", below.trim_end());
    }
    let _ = writeln!(text, "  ▁ {}   █ {}", quantity(low, unit), quantity(high, unit));
    text
}

/// Three digits and a unit.
fn quantity(value: f64, unit: &str) -> String {
    let (scaled, unit) = match unit {
        "B/s" if value >= 1e6 => (value / 1e6, "MB/s"),
        "B/s" => (value / 1e3, "kB/s"),
        "ns" if value >= 1e6 => (value / 1e6, "ms"),
        "ns" if value >= 1e3 => (value / 1e3, "µs"),
        other => (value, other),
    };
    let digits = if scaled.abs() >= 100.0 { 0 } else { usize::from(scaled.abs() < 10.0) + 1 };
    format!("{scaled:.digits$} {unit}").trim_end().to_owned()
}

fn day(at: &str) -> &str {
    at.get(..10).unwrap_or(at)
}

fn minute(at: &str) -> String {
    at.get(..16).unwrap_or(at).replace('T', " ")
}
