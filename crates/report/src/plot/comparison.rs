//! Plots of comparisons: ratios with their intervals, and runs in order of time.

use super::Hue;
use super::marks::{Mark, Plot, Size, dots, line};
use flashscope_model::comparison::Verdict;
use flashscope_model::qualification::Bound;
use flashscope_units::ByteRate;
use flashscope_view::axis::Axis;
use flashscope_view::comparison::Bar;

/// Some of the ratios, each on a line of its own, on the axis of `all`; the band is the margin.
pub(crate) fn ratios(some: &[Bar], all: &[Bar], margin: f64, size: Size) -> Option<Plot> {
    let x = Axis::ratios("ratio to the baseline", reach(all).chain([1.0 / margin, margin]), size.across())?;
    Some(on_lines(some, x, (1.0 / margin, margin), size))
}

/// The same beside a limit: the band is all that lies within it, as far as the axis goes.
pub(crate) fn limits(some: &[Bar], all: &[Bar], (bound, at): (Bound, f64), size: Size) -> Option<Plot> {
    // Some room beyond the limit shows that the band goes on.
    let room = match bound {
        Bound::AtLeast => at * 1.05,
        Bound::AtMost => at / 1.05,
    };
    let x = Axis::ratios("ratio", reach(all).chain([1.0, at, room]), size.across())?;
    let (low, high) = x.range();
    let band = match bound {
        Bound::AtLeast => (at, high),
        Bound::AtMost => (low, at),
    };
    Some(on_lines(some, x, band, size))
}

/// Every value that the axis must hold.
fn reach(all: &[Bar]) -> impl Iterator<Item = f64> {
    all.iter()
        .flat_map(|bar| [bar.ratio].into_iter().chain(bar.interval.into_iter().flat_map(|(low, high)| [low, high])))
}

fn on_lines(some: &[Bar], x: Axis, (low, high): (f64, f64), size: Size) -> Plot {
    // The first one stands on top.
    let names: Vec<String> = some.iter().rev().map(|bar| short(&bar.label, size)).collect();
    let y = Axis::places("", names, 1);
    let place = |at: usize| (some.len() - 1 - at) as f64;
    let marks = some.iter().enumerate().flat_map(|(at, bar)| {
        let hue = verdict_hue(bar.verdict);
        let whisker = bar.interval.map(|(low, high)| line(vec![(low, place(at)), (high, place(at))], hue, 2.0));
        whisker.into_iter().chain([dots(vec![(bar.ratio, place(at))], hue, 4.0, 1.0)])
    });
    let ends = y.range();
    let plot = Plot::new(size, x, y).with(Mark::Band { low, high, hue: Hue::Series(5) }).with(line(
        vec![(1.0, ends.0), (1.0, ends.1)],
        Hue::Muted,
        1.0,
    ));
    plot.with_all(marks)
}

/// The colour of a verdict.
pub(crate) fn verdict_hue(verdict: Verdict) -> Hue {
    match verdict {
        Verdict::Better => Hue::Series(2),
        Verdict::Worse => Hue::Mark,
        Verdict::Equivalent => Hue::Series(0),
        Verdict::CannotTell(_) => Hue::Muted,
    }
}

/// Letters of a name that fit beside a plot.
fn short(label: &str, size: Size) -> String {
    let most = match size {
        Size::Wide => 26,
        Size::Narrow => 13,
    };
    if label.chars().count() <= most {
        return label.to_owned();
    }
    label.chars().take(most - 1).chain(['…']).collect()
}

/// The values of all runs of one figure by their number, a colour per side.
pub(crate) fn runs(sides: &[Vec<(f64, f64)>], unit: &str, size: Size) -> Option<Plot> {
    let values = || sides.iter().flatten().map(|(_, value)| *value);
    let y = match unit {
        "B/s" => Axis::rates("rate", values().map(ByteRate), size.up())?,
        "ns" => Axis::times("time", values(), true, size.up())?,
        unit => Axis::iops(unit, values(), size.up())?,
    };
    let x = Axis::numbers("number of the run", sides.iter().map(Vec::len).sum(), size.across())?;
    let marks = sides.iter().enumerate().map(|(side, points)| dots(points.clone(), Hue::Series(side), 3.0, 0.9));
    Some(Plot::new(size, x, y).with_all(marks))
}
