//! A plot as SVG: colours are classes of the page's style sheet, so that they follow light and dark.
//!
//! Marks of a kind are one path, as thousands of elements make a page large and slow. A dot is a line of no length with
//! round ends (SVG 1.1, section 11.4: such a line is drawn).

use super::marks::{Mark, Plot};
use super::theme::Hue;
use flashscope_view::axis::Axis;
use maud::{Markup, html as markup};
use std::fmt::Write;

/// Room above the frame, for the title of the upright axis.
const ABOVE: f64 = 30.0;
/// Room below it, for labels and the title of the level axis.
const BELOW: f64 = 50.0;
/// Room at its right, for half of the last label.
const RIGHT: f64 = 24.0;
/// Width of a digit.
const DIGIT: f64 = 7.0;
/// Room for a tick, with some space on either side.
const TICK: f64 = 18.0;

/// Where values lie on the paper.
struct Paper<'a> {
    plot: &'a Plot,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// A plot as an element of a page.
pub(crate) fn svg(plot: &Plot) -> Markup {
    let (width, height) = plot.size.pixels();
    let widest = plot.y.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0);
    let paper = Paper {
        plot,
        left: widest as f64 * DIGIT + TICK,
        right: f64::from(width) - RIGHT,
        top: ABOVE,
        bottom: f64::from(height) - BELOW,
    };
    markup! {
        svg viewBox={ "0 0 " (width) " " (height) } {
            (paper.axes())
            @for mark in &plot.marks { (paper.mark(mark)) }
        }
    }
}

impl Paper<'_> {
    fn x(&self, value: f64) -> f64 {
        self.left + self.plot.x.place(value) * (self.right - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - self.plot.y.place(value) * (self.bottom - self.top)
    }

    /// Grid, axes, labels and titles; the title of the upright axis stands on top, where it can be read without turning
    /// one's head.
    fn axes(&self) -> Markup {
        let Paper { left, right, top, bottom, .. } = *self;
        let (mut grid, mut ticks) = (String::new(), format!("M{}V{}H{}", px(left), px(bottom), px(right)));
        ticks = ticks.replacen('V', &format!(" {}V", px(top)), 1);
        for (value, _) in &self.plot.x.ticks {
            let _ = write!(grid, "M{} {}V{}", px(self.x(*value)), px(top), px(bottom));
            let _ = write!(ticks, "M{} {}v4", px(self.x(*value)), px(bottom));
        }
        for (value, _) in &self.plot.y.ticks {
            let _ = write!(grid, "M{} {}H{}", px(left), px(self.y(*value)), px(right));
            let _ = write!(ticks, "M{} {}h-4", px(left), px(self.y(*value)));
        }
        let below = bottom + 18.0;
        markup! {
            path.grid d=(grid) {}
            path.axis d=(ticks) {}
            @for (value, label) in &self.plot.x.ticks { text.mid x=(px(self.x(*value))) y=(px(below)) { (label) } }
            @for (value, label) in &self.plot.y.ticks { text.end x=(px(left - 7.0)) y=(px(self.y(*value) + 4.0)) { (label) } }
            // Places in a row need no title beside their names.
            @if !self.plot.y.title.is_empty() { text.ink x="2" y="14" { (self.plot.y.title) } }
            text.ink.end x=(px(right)) y=(px(bottom + BELOW - 6.0)) { (self.plot.x.title) }
        }
    }

    fn mark(&self, mark: &Mark) -> Markup {
        match mark {
            Mark::Dots { points, hue, radius, strength } => {
                let mut path = String::new();
                for (x, y) in points {
                    let _ = write!(path, "M{} {}h0", px(self.x(*x)), px(self.y(*y)));
                }
                let opacity = (*strength < 1.0).then_some(strength);
                markup! { path.dots.(hue.class()) stroke-width=(2.0 * radius) opacity=[opacity] d=(path) {} }
            }
            Mark::Line { points, hue, width } => self.stroke(self.through(points), *hue, *width),
            Mark::Whiskers { ends, hue } => {
                let mut path = String::new();
                for (x, low, high) in ends {
                    let _ = write!(path, "M{} {}V{}", px(self.x(*x)), px(self.y(*low)), px(self.y(*high)));
                }
                self.stroke(path, *hue, 2.0)
            }
            Mark::Bars { bars, hue } => {
                let rest = self.y(self.plot.y.rest());
                let mut path = String::new();
                for (low, high, top) in bars {
                    let (low, high) = (px(self.x(*low)), px(self.x(*high)));
                    let _ = write!(path, "M{low} {}V{}H{high}V{}z", px(rest), px(self.y(*top)), px(rest));
                }
                markup! { path.bars.(hue.class()) d=(path) {} }
            }
            Mark::Band { low, high, hue } => {
                let (low, high) = (self.x(*low), self.x(*high));
                markup! {
                    rect.band.(hue.class()) x=(px(low)) y=(px(self.top)) width=(px(high - low)) height=(px(self.bottom - self.top)) {}
                }
            }
            Mark::Guide { x, row, words, hue } => {
                let at = self.x(*x);
                let y = self.top + 12.0 + 16.0 * f64::from(*row);
                let (side, shift) = if self.plot.x.place(*x) < 0.5 { ("", 5.0) } else { ("end", -5.0) };
                markup! {
                    path.guide.(hue.class()) d={ "M" (px(at)) " " (px(self.top)) "V" (px(self.bottom)) } {}
                    text.(hue.class()).(side) x=(px(at + shift)) y=(px(y)) { (words) }
                }
            }
            Mark::Level { y, hue } => self.stroke(self.through(&self.across(*y)), *hue, 1.0),
            Mark::Words { at: (x, y), words, hue } => {
                let (side, shift) = if self.plot.x.place(*x) > 0.85 { ("end", -6.0) } else { ("", 6.0) };
                markup! { text.(hue.class()).(side) x=(px(self.x(*x) + shift)) y=(px(self.y(*y) - 7.0)) { (words) } }
            }
        }
    }

    fn stroke(&self, path: String, hue: Hue, width: f64) -> Markup {
        markup! { path.line.(hue.class()) stroke-width=(width) d=(path) {} }
    }

    fn through(&self, points: &[(f64, f64)]) -> String {
        let mut path = String::new();
        for (at, (x, y)) in points.iter().enumerate() {
            let _ = write!(path, "{}{} {}", if at == 0 { 'M' } else { 'L' }, px(self.x(*x)), px(self.y(*y)));
        }
        path
    }

    fn across(&self, y: f64) -> [(f64, f64); 2] {
        let (low, high) = Axis::range(&self.plot.x);
        [(low, y), (high, y)]
    }
}

/// A length on the paper to a tenth of a pixel, in as few letters as it takes.
pub(crate) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
