//! A plot as plain data: its axes, and the marks between them in the order in which they are drawn.

use super::theme::Hue;
use flashscope_view::axis::Axis;

/// For which page a plot is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// A page on a desk.
    Wide,
    /// A page in the hand.
    Narrow,
}

impl Size {
    /// Width and height in pixels.
    pub(crate) fn pixels(self) -> (u32, u32) {
        match self {
            Size::Wide => (560, 320),
            Size::Narrow => (344, 280),
        }
    }

    /// How many ticks fit below.
    pub(crate) fn across(self) -> usize {
        match self {
            Size::Wide => 8,
            Size::Narrow => 5,
        }
    }

    /// How many ticks fit beside.
    pub(crate) fn up(self) -> usize {
        7
    }
}

/// What is drawn; values are in the units of the axes.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    /// Dots of a radius in pixels and a strength of 0 to 1.
    Dots { points: Vec<(f64, f64)>, hue: Hue, radius: f64, strength: f64 },
    /// A line through points, of a width in pixels.
    Line { points: Vec<(f64, f64)>, hue: Hue, width: f64 },
    /// Upright lines at x, from low to high: how far a figure reaches.
    Whiskers { ends: Vec<(f64, f64, f64)>, hue: Hue },
    /// Bars between two values of x, up to the third.
    Bars { bars: Vec<(f64, f64, f64)>, hue: Hue },
    /// A tinted band over the whole height between two values of x.
    Band { low: f64, high: f64, hue: Hue },
    /// An upright guide over the whole height, with words in a row below its upper end.
    Guide { x: f64, row: u32, words: String, hue: Hue },
    /// A level guide across the whole width.
    Level { y: f64, hue: Hue },
    /// Words above a point.
    Words { at: (f64, f64), words: String, hue: Hue },
}

/// A plot, of one size.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    pub(crate) size: Size,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) marks: Vec<Mark>,
}

impl Plot {
    /// A plot without marks.
    pub(crate) fn new(size: Size, x: Axis, y: Axis) -> Plot {
        Plot { size, x, y, marks: Vec::new() }
    }

    /// With one more mark on top.
    pub(crate) fn with(mut self, mark: Mark) -> Plot {
        self.marks.push(mark);
        self
    }

    /// With several.
    pub(crate) fn with_all(mut self, marks: impl IntoIterator<Item = Mark>) -> Plot {
        self.marks.extend(marks);
        self
    }
}

/// Dots.
pub(crate) fn dots(points: Vec<(f64, f64)>, hue: Hue, radius: f64, strength: f64) -> Mark {
    Mark::Dots { points, hue, radius, strength }
}

/// A line.
pub(crate) fn line(points: Vec<(f64, f64)>, hue: Hue, width: f64) -> Mark {
    Mark::Line { points, hue, width }
}

/// A guide with words in the topmost row.
pub(crate) fn guide(x: f64, words: String) -> Mark {
    Mark::Guide { x, row: 0, words, hue: Hue::Mark }
}
