//! Plots of a run of load: latency, and rates by time, by bytes written and by round.

use super::Hue;
use super::marks::{Mark, Plot, Size, dots, guide, line};
use flashscope_model::preset::Unit;
use flashscope_units::ByteRate;
use flashscope_view::axis::Axis;
use flashscope_view::bench::plots::{CurvesView, RoundsView, TimesView};

/// How many requests took how long.
pub(crate) fn times(view: &TimesView, size: Size) -> Option<Plot> {
    let most = view.histogram.iter().map(|bin| bin.count).max()?;
    let span = [view.span.0.as_f64(), view.span.1.as_f64()];
    let x = Axis::log_times(view.what, span.into_iter(), size.across())?;
    let y = Axis::frequencies("requests", most, size.up());
    let bins = view.histogram.iter().filter(|bin| bin.count > 0);
    let bars = bins.map(|bin| (bin.low, bin.high, bin.count as f64)).collect();
    let median = guide(view.median.as_f64(), format!("median {}", view.median));
    Some(Plot::new(size, x, y).with(Mark::Bars { bars, hue: Hue::Series(0) }).with(median))
}

/// Latency at percentile.
pub(crate) fn percentiles(view: &TimesView, size: Size) -> Option<Plot> {
    let (most, _) = view.percentiles.last()?;
    let span = [view.span.0.as_f64(), view.span.1.as_f64()];
    let x = Axis::nines("percentile of requests", *most)?;
    let y = Axis::log_times(&format!("{} at percentile", view.what), span.into_iter(), size.up())?;
    Some(Plot::new(size, x, y).with(line(view.percentiles.clone(), Hue::Series(0), 2.0)))
}

/// Rate by time, a curve per run.
pub(crate) fn curves_by_time(view: &CurvesView, size: Size) -> Option<Plot> {
    curves(view, Axis::since("time since the start", [view.ends.1].into_iter(), size.across())?, size)
}

/// Rate by bytes written, a curve per run.
pub(crate) fn curves_by_written(view: &CurvesView, size: Size) -> Option<Plot> {
    curves(view, Axis::moved("bytes written", [view.ends.1].into_iter(), size.across())?, size)
}

fn curves(view: &CurvesView, x: Axis, size: Size) -> Option<Plot> {
    let y = Axis::rates("rate", [ByteRate(view.ends.0)].into_iter(), size.up())?;
    let curves = view.curves.iter().enumerate();
    let lines = curves.map(|(at, (_, curve))| match curve.len() {
        1 => dots(curve.clone(), Hue::Series(at), 3.0, 1.0),
        _ => line(curve.clone(), Hue::Series(at), 1.5),
    });
    Some(Plot::new(size, x, y).with_all(lines))
}

/// A figure by round; the steady window is marked.
pub(crate) fn rounds(view: &RoundsView, size: Size) -> Option<Plot> {
    let x = Axis::counts("round", view.values.iter().map(|point| point.0 as u32), size.across())?;
    let band = view.window.map(|(first, last)| Mark::Band {
        low: f64::from(first) - 0.4,
        high: f64::from(last) + 0.4,
        hue: Hue::Series(2),
    });
    Some(Plot::new(size, x, value_axis(view, size)?).with_all(band).with_all(marked(&view.values)))
}

/// A figure by bytes written.
pub(crate) fn by_written(view: &RoundsView, size: Size) -> Option<Plot> {
    let x = Axis::moved("bytes written", view.by_written.iter().map(|point| point.0), size.across())?;
    Some(Plot::new(size, x, value_axis(view, size)?).with_all(marked(&view.by_written)))
}

fn marked(points: &[(f64, f64)]) -> [Mark; 2] {
    [line(points.to_vec(), Hue::Series(0), 1.0), dots(points.to_vec(), Hue::Series(0), 3.0, 1.0)]
}

fn value_axis(view: &RoundsView, size: Size) -> Option<Axis> {
    let values = view.values.iter().map(|point| point.1);
    match view.unit {
        Unit::BytesPerSecond => Axis::rates("rate", values.map(ByteRate), size.up()),
        Unit::TransactionsPerSecond => Axis::iops("TPS", values, size.up()),
        Unit::PerSecond => Axis::iops("IOPS", values, size.up()),
        Unit::Nanoseconds => Axis::times("latency (service time)", values, true, size.up()),
    }
}
