//! Stated confidence against the share that was right.

use super::Hue;
use super::marks::{Mark, Plot, Size, dots, line};
use flashscope_view::axis::Axis;

/// A dot per bin of confidence: mean stated, share right, its interval, claims; the more claims, the larger it is. `None` without claims.
pub(crate) fn reliability(bins: &[(f64, f64, f64, f64, u32)], size: Size) -> Option<Plot> {
    if bins.is_empty() {
        return None;
    }
    let x = Axis::shares("stated confidence", [0.0, 1.0].into_iter(), size.across())?;
    let y = Axis::shares("share right", [0.0, 1.0].into_iter(), size.up())?;
    let ends = bins.iter().map(|(stated, _, low, high, _)| (*stated, *low, *high)).collect();
    let one = |(stated, right, _, _, claims): &(f64, f64, f64, f64, u32)| {
        dots(vec![(*stated, *right)], Hue::Series(0), 2.0 + f64::from(*claims).log10(), 1.0)
    };
    let plot = Plot::new(size, x, y)
        .with(line(vec![(0.0, 0.0), (1.0, 1.0)], Hue::Muted, 1.0))
        .with(Mark::Whiskers { ends, hue: Hue::Series(0) })
        .with_all(bins.iter().map(one));
    Some(plot)
}
