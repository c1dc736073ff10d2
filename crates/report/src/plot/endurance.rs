//! Plots of passes over a whole device: rates and bad sectors by pass.

use super::Hue;
use super::marks::{Plot, Size, dots, line};
use flashscope_units::ByteRate;
use flashscope_view::axis::Axis;
use flashscope_view::endurance::Points;

/// Rates by pass: written and read.
pub(crate) fn rates_by_pass([written, read]: &[Points; 2], size: Size) -> Option<Plot> {
    let all = || written.iter().chain(read);
    let x = Axis::counts("pass", all().map(|point| point.0 as u32), size.across())?;
    let y = Axis::rates("rate", all().map(|point| ByteRate(point.1)), size.up())?;
    let plot = Plot::new(size, x, y).with(line(written.clone(), Hue::Series(0), 1.5));
    Some(plot.with(line(read.clone(), Hue::Series(1), 1.5)))
}

/// The share of sectors that are bad by pass.
pub(crate) fn bad_by_pass(points: &Points, size: Size) -> Option<Plot> {
    let x = Axis::counts("pass", points.iter().map(|point| point.0 as u32), size.across())?;
    let y = Axis::shares("bad sectors", points.iter().map(|point| point.1), size.up())?;
    Some(Plot::new(size, x, y).with(dots(points.clone(), Hue::Series(1), 2.0, 1.0)))
}
