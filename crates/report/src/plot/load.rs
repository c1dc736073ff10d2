//! Plots of a run of load: how long requests took, and rates by time, by bytes written and by round.

use super::Hue;
use super::frame::{Frame, Size, draw};
use flashscope_model::preset::Unit;
use flashscope_units::ByteRate;
use flashscope_view::axis::Axis;
use flashscope_view::bench::plots::{CurvesView, RoundsView, TimesView};

/// How many requests took how long.
pub(crate) fn times(view: &TimesView, size: Size) -> Option<String> {
    let most = view.histogram.iter().map(|bin| bin.count).max()?;
    let x = Axis::log_times("time", view.histogram.iter().flat_map(|bin| [bin.low, bin.high]), size.across())?;
    let y = Axis::frequencies("requests", most, size.up());
    draw(size, &x, &y, |frame| {
        for bin in view.histogram.iter().filter(|bin| bin.count > 0) {
            frame.bar(bin.low, bin.high, bin.count as f64, Hue::Series(0))?;
        }
        frame.guide(view.median.as_f64(), 0, &format!("median {}", view.median), Hue::Mark)
    })
}

/// Which share of requests was over within which time.
pub(crate) fn percentiles(view: &TimesView, size: Size) -> Option<String> {
    let (most, _) = view.percentiles.last()?;
    let x = Axis::nines("share of the requests", *most)?;
    let y = Axis::log_times("over within", view.percentiles.iter().map(|point| point.1), size.up())?;
    draw(size, &x, &y, |frame| frame.line(&view.percentiles, Hue::Series(0), 2))
}

/// Rate by time, a curve per run.
pub(crate) fn curves_by_time(view: &CurvesView, size: Size) -> Option<String> {
    let x = Axis::since("time", points(view).map(|point| point.0), size.across())?;
    curves(view, &x, size)
}

/// Rate by bytes written, a curve per run.
pub(crate) fn curves_by_written(view: &CurvesView, size: Size) -> Option<String> {
    let x = Axis::moved("written", points(view).map(|point| point.0), size.across())?;
    curves(view, &x, size)
}

fn points(view: &CurvesView) -> impl Iterator<Item = &(f64, f64)> {
    view.curves.iter().flat_map(|(_, curve)| curve)
}

fn curves(view: &CurvesView, x: &Axis, size: Size) -> Option<String> {
    let y = Axis::rates("rate", points(view).map(|point| ByteRate(point.1)), size.up())?;
    draw(size, x, &y, |frame| {
        for (at, (_, curve)) in view.curves.iter().enumerate() {
            frame.line(curve, Hue::Series(at), 1)?;
        }
        Ok(())
    })
}

/// A figure by round; the steady window is marked.
pub(crate) fn rounds(view: &RoundsView, size: Size) -> Option<String> {
    let x = Axis::counts("round", view.values.iter().map(|point| point.0 as u32), size.across())?;
    let y = value_axis(view, size)?;
    draw(size, &x, &y, |frame| {
        if let Some((first, last)) = view.window {
            frame.band(f64::from(first) - 0.4, f64::from(last) + 0.4, Hue::Series(2))?;
        }
        marked(frame, &view.values)
    })
}

/// A figure by bytes written.
pub(crate) fn by_written(view: &RoundsView, size: Size) -> Option<String> {
    let x = Axis::moved("written", view.by_written.iter().map(|point| point.0), size.across())?;
    let y = value_axis(view, size)?;
    draw(size, &x, &y, |frame| marked(frame, &view.by_written))
}

fn marked(frame: &mut Frame, points: &[(f64, f64)]) -> super::frame::Drawn {
    frame.line(points, Hue::Series(0), 1)?;
    frame.dots(points, Hue::Series(0), 3, 1.0)
}

fn value_axis(view: &RoundsView, size: Size) -> Option<Axis> {
    let values = view.values.iter().map(|point| point.1);
    match view.unit {
        Unit::BytesPerSecond => Axis::rates("rate", values.map(ByteRate), size.up()),
        Unit::PerSecond => Axis::iops("requests per second", values, size.up()),
        Unit::Nanoseconds => Axis::times("time", values, true, size.up()),
    }
}
