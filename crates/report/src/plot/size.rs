//! Plots of times: contrasts by size, transfer by size, and the distribution and course of service times.

use super::Hue;
use super::marks::{Mark, Plot, Size, dots, guide, line};
use flashscope_model::Geometry;
use flashscope_units::Bytes;
use flashscope_view::axis::Axis;
use flashscope_view::contrast::{ContrastView, LevelView};
use flashscope_view::time::{ServiceTimesView, TransferView};

/// Cost of straddling by candidate: places, centres with intervals, levels, and where the findings put page and unit; on an
/// axis up to `top`.
pub(crate) fn contrasts(view: &ContrastView, geometry: &Geometry, top: f64, size: Size) -> Option<Plot> {
    let sizes = view.candidates.iter().map(|candidate| candidate.size);
    let x = Axis::sizes("boundary at multiples of", sizes, size.across())?;
    let y = Axis::times("extra time across the boundary", view.reach().chain([top]), true, size.up())?;
    let marks = (0..).zip([("page", geometry.page.value()), ("unit", geometry.allocation_unit.value())]);
    let guides = marks.filter_map(|(row, (name, found))| {
        let shown = |found: &Bytes| view.candidates.iter().any(|candidate| candidate.size == *found);
        let found = found.filter(shown)?;
        Some(Mark::Guide { x: found.as_f64(), row, words: format!("{name} {found}"), hue: Hue::Mark })
    });
    let places = view
        .candidates
        .iter()
        .flat_map(|candidate| candidate.places.iter().map(|contrast| (candidate.size.as_f64(), contrast.get())));
    let level = |level: &LevelView| {
        let ends = [(level.from.as_f64(), level.value.get()), (level.to.as_f64(), level.value.get())];
        line(ends.to_vec(), Hue::Series(1), 2.0)
    };
    let ends = view
        .candidates
        .iter()
        .filter_map(|candidate| candidate.interval.map(|(low, high)| (candidate.size.as_f64(), low.get(), high.get())));
    let centres = view.candidates.iter().map(|candidate| (candidate.size.as_f64(), candidate.centre.get()));
    // Between the first two sizes of the level, as at the sizes themselves stand markers.
    let beside =
        |level: &LevelView| level.from.as_f64() * if level.to > level.from { std::f64::consts::SQRT_2 } else { 1.0 };
    let words = |level: &LevelView| Mark::Words {
        at: (beside(level), level.value.get()),
        words: level.value.to_string(),
        hue: Hue::Ink,
    };
    let plot = Plot::new(size, x, y.with_headroom(0.16))
        .with(Mark::Level { y: 0.0, hue: Hue::Muted })
        .with_all(guides)
        .with(dots(places.collect(), Hue::Series(5), 2.0, 0.35))
        .with_all(view.levels.iter().map(level))
        .with(Mark::Whiskers { ends: ends.collect(), hue: Hue::Series(0) })
        .with(dots(centres.collect(), Hue::Series(0), 4.0, 1.0))
        .with_all(view.levels.iter().map(words));
    Some(plot)
}

/// Shortest read time by size, and the line.
pub(crate) fn transfer(view: &TransferView, size: Size) -> Option<Plot> {
    let sizes = view.points.iter().map(|point| point.size);
    let every = view.points.iter().flat_map(|point| [point.time.as_f64(), point.line.get()]);
    let x = Axis::sizes("size of one read", sizes, size.across())?;
    let y = Axis::log_times("shortest time", every, size.up())?;
    let fitted = view.points.iter().map(|point| (point.size.as_f64(), point.line.get())).collect();
    let points = view.points.iter().map(|point| (point.size.as_f64(), point.time.as_f64())).collect();
    let plot = Plot::new(size, x, y).with(line(fitted, Hue::Series(1), 2.0));
    Some(plot.with(dots(points, Hue::Series(0), 4.0, 1.0)))
}

/// How far each size lies off the line, as a share of the line.
pub(crate) fn transfer_residuals(view: &TransferView, size: Size) -> Option<Plot> {
    let sizes = view.points.iter().map(|point| point.size);
    let x = Axis::sizes("size of one read", sizes, size.across())?;
    let y = Axis::shares(
        "off the line, share of the time on it",
        view.points.iter().map(|point| point.residual_ratio),
        size.up(),
    )?;
    let ends = view.points.iter().map(|point| (point.size.as_f64(), 0.0, point.residual_ratio)).collect();
    let points = view.points.iter().map(|point| (point.size.as_f64(), point.residual_ratio)).collect();
    let plot = Plot::new(size, x, y)
        .with(Mark::Level { y: 0.0, hue: Hue::Series(1) })
        .with(Mark::Whiskers { ends, hue: Hue::Series(5) })
        .with(dots(points, Hue::Series(0), 4.0, 1.0));
    Some(plot)
}

/// How many requests took how long; on the axis of `all` the views.
pub(crate) fn histogram(view: &ServiceTimesView, all: &[ServiceTimesView], size: Size) -> Option<Plot> {
    let most = view.histogram.iter().map(|bin| bin.count).max()?;
    let edges = all.iter().flat_map(|view| view.histogram.iter().flat_map(|bin| [bin.low, bin.high]));
    let x = Axis::log_times("latency (service time)", edges, size.across())?;
    let y = Axis::frequencies("requests", most, size.up());
    let bins = view.histogram.iter().filter(|bin| bin.count > 0);
    let bars = bins.map(|bin| (bin.low, bin.high, bin.count as f64)).collect();
    let median = guide(view.summary.median.as_f64(), format!("median {}", view.summary.median));
    Some(Plot::new(size, x, y).with(Mark::Bars { bars, hue: Hue::Series(0) }).with(median))
}

/// Service times in the order of issue; on the upright axis of `all` the views.
pub(crate) fn course(view: &ServiceTimesView, all: &[ServiceTimesView], size: Size) -> Option<Plot> {
    let times = all.iter().flat_map(|view| view.course.iter().map(|(_, time)| time.as_f64()));
    let x = Axis::indices("request, in the order of issue", view.summary.requests, size.across())?;
    let y = Axis::log_times("latency (service time)", times, size.up())?;
    let points = view.course.iter().map(|(index, time)| (*index as f64, time.as_f64())).collect();
    Some(Plot::new(size, x, y).with(dots(points, Hue::Series(0), 2.0, 0.7)))
}
