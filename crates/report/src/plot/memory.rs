//! Plots of a memory: latency by the size of what is visited, and by what is read meanwhile.

use super::Hue;
use super::marks::{Mark, Plot, Size, dots, line};
use flashscope_units::{ByteRate, Bytes};
use flashscope_view::axis::Axis;
use flashscope_view::memory::Curve;

/// A curve for each kind of pages; inferred caches are guides.
pub(crate) fn latency_by_size(curves: &[Curve], caches: &[(f64, String)], size: Size) -> Option<Plot> {
    let points = || curves.iter().flat_map(|(_, points)| points);
    let x = Axis::sizes("memory that is visited", points().map(|point| Bytes(point.0 as u64)), size.across())?;
    let y = Axis::log_times("time of a load", points().map(|point| point.1), size.up())?;
    let lines = curves.iter().enumerate().map(|(at, (_, points))| line(points.clone(), Hue::Series(at), 2.0));
    let guides = caches.iter().enumerate().map(|(row, (x, words))| Mark::Guide {
        x: *x,
        row: row as u32 % 3,
        words: words.clone(),
        hue: Hue::Mark,
    });
    Some(Plot::new(size, x, y).with_all(lines).with_all(guides))
}

/// The loaded curve.
pub(crate) fn latency_by_rate(points: &[(f64, f64)], size: Size) -> Option<Plot> {
    let x = Axis::rates("read meanwhile", points.iter().map(|point| ByteRate(point.0)), size.across())?;
    let y = Axis::times("time of a load", points.iter().map(|point| point.1), true, size.up())?;
    let marks = [line(points.to_vec(), Hue::Series(0), 1.5), dots(points.to_vec(), Hue::Series(0), 3.0, 1.0)];
    Some(Plot::new(size, x, y).with_all(marks))
}
