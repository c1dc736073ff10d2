//! What was found of a question beside what it is to reach, and beside what others would have said.

use super::{Figures, Question};
use crate::differences::{Row, Target};

/// Right, of what is answered.
const RIGHT: f64 = 0.99;
/// Answered, of what can be told.
const ANSWERED: f64 = 0.90;
/// Expected calibration error.
const CALIBRATION: f64 = 0.02;

/// Everything that is wanted of one question.
pub fn rows(figures: &Figures) -> Vec<Row> {
    let what = |what: &str| format!("{}: {what}", figures.question.words());
    let mut rows = vec![
        Row::of(what("right, of what is answered"), Target::AtLeast(RIGHT), figures.right),
        Row::of(what("answered, of what can be told"), Target::AtLeast(ANSWERED), figures.answered),
        Row {
            what: what("calibration error"),
            target: Target::AtMost(CALIBRATION),
            value: figures.calibration_error,
            share: None,
            many: true,
        },
        Row::of(what("can be told"), Target::Beside, figures.can_be_told),
    ];
    if figures.question == Question::State {
        let [content, times] = figures.readers;
        rows.push(Row::of(what("right by content alone"), Target::Beside, content));
        rows.push(Row::of(what("right by the first times alone"), Target::Beside, times));
    }
    rows
}
