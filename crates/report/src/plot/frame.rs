//! The frame of a plot: axes, grid and titles; and the marks that can be put into it.

use super::theme::Hue;
use flashscope_view::axis::Axis;
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, EmptyElement, Rectangle, Text};
use plotters::prelude::{DashedLineSeries, LineSeries, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, TRANSPARENT, TextStyle};
use std::ops::Range;

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

/// Height of letters in pixels.
const LETTERS: f64 = 12.0;
/// What the backend divides a size by to have the height of letters.
const FONT_SCALE: f64 = 1.24;

/// An axis as the library knows them.
struct Coordinate(Axis);

impl Ranged for Coordinate {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        start + (self.0.place(*value) * f64::from(end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.0.ticks.iter().map(|(value, _)| *value).collect()
    }

    fn range(&self) -> Range<f64> {
        let (low, high) = self.0.range();
        low..high
    }
}

impl ValueFormatter<f64> for Coordinate {
    fn format_ext(&self, value: &f64) -> String {
        self.0.ticks.iter().find(|(tick, _)| tick == value).map_or(String::new(), |(_, label)| label.clone())
    }
}

type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Coordinate, Coordinate>>;

/// Whether the library could draw; into a text it always can.
pub(crate) type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// A plot that is being drawn; values are given in the units of its axes.
pub(crate) struct Frame<'a> {
    chart: Chart<'a>,
    x: Axis,
    y: Axis,
}

/// Draws a plot. Drawing into a text cannot fail; should the library say so all the same, the plot is left out.
pub(crate) fn draw(size: Size, x: &Axis, y: &Axis, marks: impl FnOnce(&mut Frame) -> Drawn) -> Option<String> {
    let mut svg = String::new();
    framed(&mut svg, size, x, y, marks).ok()?;
    // Inside a page a plot needs no name space, and the page names no address at all.
    Some(svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1))
}

fn framed(svg: &mut String, size: Size, x: &Axis, y: &Axis, marks: impl FnOnce(&mut Frame) -> Drawn) -> Drawn {
    let root = SVGBackend::with_string(svg, size.pixels()).into_drawing_area();
    let widest = y.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0) as i32;
    let mut chart = ChartBuilder::on(&root)
        .margin_top(30)
        .margin_right(24)
        .x_label_area_size(50)
        .y_label_area_size(widest * 7 + 18)
        .build_cartesian_2d(Coordinate(x.clone()), Coordinate(y.clone()))?;
    chart
        .configure_mesh()
        .bold_line_style(Hue::Faint.colour())
        .light_line_style(TRANSPARENT)
        .axis_style(Hue::Muted.colour())
        .label_style(letters(Hue::Muted))
        .set_all_tick_mark_size(4)
        .draw()?;
    titles(&root, size, x, y)?;
    let mut frame = Frame { chart, x: x.clone(), y: y.clone() };
    marks(&mut frame)?;
    drop(frame);
    root.present()
}

/// The titles: of the upright axis on top, where it can be read without turning one's head.
fn titles(root: &DrawingArea<SVGBackend, Shift>, size: Size, x: &Axis, y: &Axis) -> Drawn {
    let (width, height) = size.pixels();
    root.draw(&Text::new(y.title.clone(), (2, 4), letters(Hue::Ink)))?;
    let right = letters(Hue::Ink).pos(Pos::new(HPos::Right, VPos::Bottom));
    root.draw(&Text::new(x.title.clone(), (width as i32 - 24, height as i32 - 2), right))
}

impl Frame<'_> {
    /// Dots.
    pub(crate) fn dots(&mut self, points: &[(f64, f64)], hue: Hue, radius: u32, strength: f64) -> Drawn {
        let style = hue.colour().mix(strength).filled();
        self.chart.draw_series(points.iter().map(|&point| Circle::new(point, radius, style)))?;
        Ok(())
    }

    /// A line through points.
    pub(crate) fn line(&mut self, points: &[(f64, f64)], hue: Hue, width: u32) -> Drawn {
        self.chart.draw_series(LineSeries::new(points.iter().copied(), hue.colour().stroke_width(width)))?;
        Ok(())
    }

    /// An upright line from `low` to `high` at `x`: how far a figure reaches.
    pub(crate) fn whisker(&mut self, x: f64, low: f64, high: f64, hue: Hue) -> Drawn {
        self.line(&[(x, low), (x, high)], hue, 2)
    }

    /// A bar up to `top`, between two values of x.
    pub(crate) fn bar(&mut self, low: f64, high: f64, top: f64, hue: Hue) -> Drawn {
        let corners = [(low, self.y.rest()), (high, top)];
        self.chart.draw_series([Rectangle::new(corners, hue.colour().filled())])?;
        Ok(())
    }

    /// A tinted band over the whole height between two values of x.
    pub(crate) fn band(&mut self, low: f64, high: f64, hue: Hue) -> Drawn {
        let (bottom, top) = self.y.range();
        self.chart.draw_series([Rectangle::new([(low, bottom), (high, top)], hue.colour().mix(0.12).filled())])?;
        Ok(())
    }

    /// An upright guide over the whole height, with words in a row below its upper end, on the side where there is room.
    pub(crate) fn guide(&mut self, x: f64, row: i32, words: &str, hue: Hue) -> Drawn {
        let (bottom, top) = self.y.range();
        let guide = DashedLineSeries::new([(x, bottom), (x, top)], 4, 4, hue.colour().stroke_width(1));
        self.chart.draw_series(guide)?;
        let (side, shift) = if self.x.place(x) < 0.5 { (HPos::Left, 5) } else { (HPos::Right, -5) };
        self.note((x, top), (shift, 2 + 16 * row), Pos::new(side, VPos::Top), words, hue)
    }

    /// A level guide across the whole width.
    pub(crate) fn level(&mut self, y: f64, hue: Hue) -> Drawn {
        let (left, right) = self.x.range();
        self.line(&[(left, y), (right, y)], hue, 1)
    }

    /// Words above a point, clear of a guide through it.
    pub(crate) fn words(&mut self, point: (f64, f64), words: &str, hue: Hue) -> Drawn {
        let (side, shift) = if self.x.place(point.0) > 0.85 { (HPos::Right, -6) } else { (HPos::Left, 6) };
        self.note(point, (shift, -7), Pos::new(side, VPos::Bottom), words, hue)
    }

    fn note(&mut self, point: (f64, f64), shift: (i32, i32), anchor: Pos, words: &str, hue: Hue) -> Drawn {
        let text = Text::new(words.to_owned(), shift, letters(hue).pos(anchor));
        self.chart.draw_series([EmptyElement::at(point) + text])?;
        Ok(())
    }
}

fn letters(hue: Hue) -> TextStyle<'static> {
    let font = FontDesc::new(FontFamily::SansSerif, LETTERS * FONT_SCALE, FontStyle::Normal);
    TextStyle { color: hue.colour().to_backend_color(), ..TextStyle::from(font) }
}
