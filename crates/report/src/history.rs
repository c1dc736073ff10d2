//! A figure over time as a plot, for pages over a history: the records in their order, and where the level changed.

use crate::plot::{self, Hue, Mark, Plot, Size};
use flashscope_view::axis::Axis;
use maud::{Markup, html as markup};

/// A change of the level.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Place of the first record of the new level.
    pub at: usize,
    /// What changed, in a few words.
    pub words: String,
    /// The level before and after, in the unit of the figure.
    pub levels: [f64; 2],
}

/// A figure over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// What it is.
    pub title: String,
    /// What else is to be known of it, in a line.
    pub what: String,
    /// Unit, as comparisons name it (`B/s`, `ns`).
    pub unit: String,
    /// The day and the value of each record, in the order of time.
    pub points: Vec<(String, f64)>,
    /// In the order of time.
    pub changes: Vec<Change>,
}

/// The plot with its words, in both sizes. It has no attribute of style, so that a page with it can forbid those.
pub fn course(course: &Course) -> Markup {
    markup! {
        figure."card plot" {
            figcaption {
                h3 { (course.title) }
                p.what { (course.what) }
            }
            @for (class, size) in [("still wide", Size::Wide), ("still narrow", Size::Narrow)] {
                @if let Some(plot) = drawn(course, size) {
                    div class=(class) role="img" aria-label=(course.title) { (plot::svg(&plot)) }
                }
            }
        }
    }
}

fn drawn(course: &Course, size: Size) -> Option<Plot> {
    let count = course.points.len();
    let days = course.points.iter().map(|(day, _)| day.clone()).collect();
    // A day takes as much room as two numbers.
    let every = count.div_ceil(size.across() / 2).max(1);
    let x = Axis::places("records, in the order of time", days, every);
    let y = Axis::figures("", &course.unit, course.points.iter().map(|(_, value)| *value), size.up())?;
    let all = course.points.iter().enumerate().map(|(at, (_, value))| (at as f64, *value)).collect();
    let mut plot = Plot::new(size, x, y).with(plot::dots(all, Hue::Series(0), 2.5, 0.8));
    for (number, change) in course.changes.iter().enumerate() {
        let ends = [number.checked_sub(1).map_or(0, |before| course.changes[before].at), change.at];
        let until = course.changes.get(number + 1).map_or(count, |next| next.at);
        for (from, to, level) in [(ends[0], ends[1], change.levels[0]), (change.at, until, change.levels[1])] {
            let points = vec![(from as f64, level), (to.saturating_sub(1) as f64, level)];
            plot = plot.with(plot::line(points, Hue::Series(1), 2.0));
        }
        plot = plot.with(Mark::Guide {
            x: change.at as f64 - 0.5,
            row: number as u32 % 4,
            words: change.words.clone(),
            hue: Hue::Mark,
        });
    }
    Some(plot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_drawn_and_hostile_words_are_only_words() {
        let points = (0..40).map(|at| (format!("2026-01-{at:02}"), if at < 20 { 9.0 } else { 8.0 })).collect();
        let changes = vec![Change { at: 20, words: "−11 %".to_owned(), levels: [9.0, 8.0] }];
        let title = "<script>alert(1)</script>".to_owned();
        let page = course(&Course { title, what: String::new(), unit: "B/s".to_owned(), points, changes }).0;
        assert!(page.contains("−11 %") && page.matches("class=\"line s1\"").count() == 4, "{page}");
        assert!(!page.contains("<script>") && !page.contains("style="), "{page}");
        let empty = Course {
            title: String::new(),
            what: String::new(),
            unit: String::new(),
            points: Vec::new(),
            changes: Vec::new(),
        };
        assert!(!course(&empty).0.contains("<svg"));
    }
}
