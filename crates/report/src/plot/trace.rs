//! Plots of a block trace: address over time, and sizes.

use super::Hue;
use super::marks::{Mark, Plot, Size, dots};
use flashscope_units::Bytes;
use flashscope_view::axis::Axis;
use flashscope_view::trace::{HeatView, STRENGTHS};

/// Address over time: a dot a cell, stronger where more happened.
pub(crate) fn heat(view: &HeatView, size: Size) -> Option<Plot> {
    let x = Axis::since("time", [view.ends.0].into_iter(), size.across())?;
    let y = Axis::positions("address", [Bytes::ZERO, Bytes(view.ends.1 as u64)].into_iter(), size.up())?;
    let layers = [(&view.reads, Hue::Series(0)), (&view.writes, Hue::Series(1))];
    let marks = layers.into_iter().flat_map(|(strengths, hue)| {
        let each = strengths.iter().enumerate().filter(|(_, points)| !points.is_empty());
        each.map(move |(at, points)| dots(points.clone(), hue, 2.2, (at + 1) as f64 / STRENGTHS as f64))
    });
    Some(Plot::new(size, x, y).with_all(marks))
}

/// Requests by size: reads left, writes right in each power of two.
pub(crate) fn request_sizes(bins: &[(Bytes, u64, u64)], size: Size) -> Option<Plot> {
    let most = bins.iter().map(|(_, reads, writes)| (*reads).max(*writes)).max()?;
    let names = bins.iter().map(|(up_to, ..)| up_to.to_string()).collect();
    let x = Axis::places("up to", names, bins.len().div_ceil(size.across()));
    let y = Axis::frequencies("requests", most as usize, size.up());
    let bars = |shift: f64, pick: fn(&(Bytes, u64, u64)) -> u64, hue| {
        let filled = bins.iter().enumerate().filter(move |(_, bin)| pick(bin) > 0);
        let bars = filled.map(|(at, bin)| (at as f64 + shift - 0.2, at as f64 + shift + 0.2, pick(bin) as f64));
        Mark::Bars { bars: bars.collect(), hue }
    };
    let reads = bars(-0.2, |bin| bin.1, Hue::Series(0));
    Some(Plot::new(size, x, y).with(reads).with(bars(0.2, |bin| bin.2, Hue::Series(1))))
}
