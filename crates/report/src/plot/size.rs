//! Plots of times: contrasts by size, transfer by size, and the distribution and course of service times.

use super::Hue;
use super::frame::{Size, draw};
use flashscope_model::Geometry;
use flashscope_units::Bytes;
use flashscope_view::axis::Axis;
use flashscope_view::contrast::ContrastView;
use flashscope_view::time::{ServiceTimesView, TransferView};

/// Cost of straddling by candidate: places, centres with intervals, levels, and where the findings put page and unit.
pub(crate) fn contrasts(view: &ContrastView, geometry: &Geometry, size: Size) -> Option<String> {
    let sizes = view.candidates.iter().map(|candidate| candidate.size);
    let every = view.candidates.iter().flat_map(|candidate| {
        let (low, high) = candidate.interval.unwrap_or((candidate.centre, candidate.centre));
        candidate.places.iter().copied().chain([low, high]).map(|contrast| contrast.get())
    });
    let x = Axis::sizes("boundary at multiples of", sizes, size.across())?;
    let y = Axis::times("extra time across the boundary", every, true, size.up())?.with_headroom(0.16);
    draw(size, &x, &y, |frame| {
        frame.level(0.0, Hue::Muted)?;
        let marks = [("page", geometry.page.value()), ("unit", geometry.allocation_unit.value())];
        for (row, (name, found)) in (0..).zip(marks) {
            let shown = |found: &Bytes| view.candidates.iter().any(|candidate| candidate.size == *found);
            if let Some(found) = found.filter(shown) {
                frame.guide(found.as_f64(), row, &format!("{name} {found}"), Hue::Mark)?;
            }
        }
        for candidate in &view.candidates {
            let at = candidate.size.as_f64();
            let places: Vec<(f64, f64)> = candidate.places.iter().map(|contrast| (at, contrast.get())).collect();
            frame.dots(&places, Hue::Series(5), 2, 0.35)?;
        }
        for level in &view.levels {
            let ends = [(level.from.as_f64(), level.value.get()), (level.to.as_f64(), level.value.get())];
            frame.line(&ends, Hue::Series(1), 2)?;
        }
        for candidate in &view.candidates {
            let at = candidate.size.as_f64();
            if let Some((low, high)) = candidate.interval {
                frame.whisker(at, low.get(), high.get(), Hue::Series(0))?;
            }
            frame.dots(&[(at, candidate.centre.get())], Hue::Series(0), 4, 1.0)?;
        }
        for level in &view.levels {
            frame.words((level.from.as_f64(), level.value.get()), &level.value.to_string(), Hue::Ink)?;
        }
        Ok(())
    })
}

/// Shortest read time by size, and the line.
pub(crate) fn transfer(view: &TransferView, size: Size) -> Option<String> {
    let sizes = view.points.iter().map(|point| point.size);
    let every = view.points.iter().flat_map(|point| [point.time.as_f64(), point.line.get()]);
    let x = Axis::sizes("size of one read", sizes, size.across())?;
    let y = Axis::log_times("shortest time", every, size.up())?;
    let line: Vec<(f64, f64)> = view.points.iter().map(|point| (point.size.as_f64(), point.line.get())).collect();
    let points: Vec<(f64, f64)> = view.points.iter().map(|point| (point.size.as_f64(), point.time.as_f64())).collect();
    draw(size, &x, &y, |frame| {
        frame.line(&line, Hue::Series(1), 2)?;
        frame.dots(&points, Hue::Series(0), 4, 1.0)
    })
}

/// How far each size lies off the line, as a share of the line.
pub(crate) fn transfer_residuals(view: &TransferView, size: Size) -> Option<String> {
    let sizes = view.points.iter().map(|point| point.size);
    let x = Axis::sizes("size of one read", sizes, size.across())?;
    let y = Axis::shares(
        "off the line, share of the time on it",
        view.points.iter().map(|point| point.residual_ratio),
        size.up(),
    )?;
    draw(size, &x, &y, |frame| {
        frame.level(0.0, Hue::Series(1))?;
        for point in &view.points {
            let at = point.size.as_f64();
            frame.whisker(at, 0.0, point.residual_ratio, Hue::Series(5))?;
            frame.dots(&[(at, point.residual_ratio)], Hue::Series(0), 4, 1.0)?;
        }
        Ok(())
    })
}

/// How many requests took how long.
pub(crate) fn histogram(view: &ServiceTimesView, size: Size) -> Option<String> {
    let most = view.histogram.iter().map(|bin| bin.count).max()?;
    let x = Axis::log_times("service time", view.histogram.iter().flat_map(|bin| [bin.low, bin.high]), size.across())?;
    let y = Axis::frequencies("requests", most, size.up());
    draw(size, &x, &y, |frame| {
        for bin in view.histogram.iter().filter(|bin| bin.count > 0) {
            frame.bar(bin.low, bin.high, bin.count as f64, Hue::Series(0))?;
        }
        frame.guide(view.summary.median.as_f64(), 0, &format!("median {}", view.summary.median), Hue::Mark)
    })
}

/// Service times in the order of issue.
pub(crate) fn course(view: &ServiceTimesView, size: Size) -> Option<String> {
    let x = Axis::indices("request, in the order of issue", view.summary.requests, size.across())?;
    let y = Axis::log_times("service time", view.course.iter().map(|(_, time)| time.as_f64()), size.up())?;
    let points: Vec<(f64, f64)> = view.course.iter().map(|(index, time)| (*index as f64, time.as_f64())).collect();
    draw(size, &x, &y, |frame| frame.dots(&points, Hue::Series(0), 2, 0.7))
}
