//! Plots of times by position on the device.

use super::Hue;
use super::marks::{Plot, Size, dots};
use flashscope_view::axis::Axis;
use flashscope_view::time::{ScatterView, SurveyView};

/// Shortest read time by position.
pub(crate) fn scatter(view: &ScatterView, size: Size) -> Option<Plot> {
    let x = Axis::positions("position on the device", view.points.iter().map(|(at, _)| *at), size.across())?;
    let y = Axis::times("shortest time", view.points.iter().map(|(_, time)| time.as_f64()), false, size.up())?;
    let points = view.points.iter().map(|(at, time)| (at.as_f64(), time.as_f64())).collect();
    Some(Plot::new(size, x, y).with(dots(points, Hue::Series(0), 2.0, 0.7)))
}

/// Shortest read time at random places; places of one byte throughout are marked.
pub(crate) fn survey(view: &SurveyView, size: Size) -> Option<Plot> {
    let x = Axis::positions("position on the device", view.places.iter().map(|(at, ..)| *at), size.across())?;
    let y = Axis::times("shortest time", view.places.iter().map(|(_, time, _)| time.as_f64()), false, size.up())?;
    let of = |uniform: bool| -> Vec<(f64, f64)> {
        let some = view.places.iter().filter(|(_, _, byte)| byte.is_some() == uniform);
        some.map(|(at, time, _)| (at.as_f64(), time.as_f64())).collect()
    };
    let plot = Plot::new(size, x, y).with(dots(of(false), Hue::Series(0), 3.0, 0.8));
    Some(plot.with(dots(of(true), Hue::Series(1), 3.0, 1.0)))
}
