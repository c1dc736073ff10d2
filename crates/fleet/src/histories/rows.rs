//! What was found of marks in histories, beside what it is to reach and what others would have marked.

use super::{Around, Figures};
use crate::differences::{Row, Target};

/// Everything that is wanted of marks where points scatter like this, then what others would have said.
pub fn rows(figures: &Figures, around: Around) -> Vec<Row> {
    let share = Row::of;
    let number = |what: String, target, value: f64| Row { what, target, value: Some(value), share: None, many: false };
    // Correlation makes a change of as many standard deviations harder to see: shown, and no target.
    let least = |least: f64| if around == Around::Correlated { Target::Beside } else { Target::AtLeast(least) };
    let f1 = |reader: usize| figures.several[reader].f1();
    let mut rows = vec![
        number("false marks per 1000 points".to_owned(), Target::AtMost(1.0), figures.false_marks[0].value()),
        share("changes of 3 standard deviations found within 10 points".to_owned(), least(0.95), figures.late[0]),
        share("95 % intervals of the place that hold the truth".to_owned(), least(0.95), figures.holds[0]),
        share("95 % intervals of the size that hold the truth".to_owned(), least(0.93), figures.holds[1]),
    ];
    rows.extend(f1(0).zip(f1(1)).zip(f1(2)).map(|((ours, band), welch)| {
        number("F1 of several changes, above both naive readers".to_owned(), Target::AtLeast(band.max(welch)), ours)
    }));
    for (reader, name) in [(1, "a band of 10 % about the last value"), (2, "Welch's t of ten points against ten")] {
        let marks = figures.false_marks[reader].value();
        rows.push(number(format!("{name}: false marks per 1000 points"), Target::Beside, marks));
        rows.push(share(format!("{name}: 3 standard deviations found"), Target::Beside, figures.late[reader]));
        rows.extend(f1(reader).map(|f1| number(format!("{name}: F1"), Target::Beside, f1)));
    }
    rows
}
