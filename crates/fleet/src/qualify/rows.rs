//! What was found beside what it is to reach, and beside what others would have said of the same runs.

use super::Figures;
use super::score::Verdicts;
use crate::differences::{Row, Share, Target};

/// Wrong verdicts, and none at all, that are tolerated at a margin or more from every limit.
const WRONG_MAY: f64 = 0.01;
const WRONG_MAY_NOT: f64 = 0.02;
const UNDECIDED: f64 = 0.10;

/// Everything that is wanted; with how many blocks a workload has at most.
pub fn rows(figures: &Figures, most_blocks: u32) -> Vec<Row> {
    let share = |what: &str, target, share: Share| Row::of(what.to_owned(), target, share);
    let Figures { clear, half, hair, .. } = figures;
    let mut rows = vec![
        share("a margin or more: wrong \"may replace\"", Target::AtMost(WRONG_MAY), clear.wrong_may),
        share("a margin or more: wrong \"may not\"", Target::AtMost(WRONG_MAY_NOT), clear.wrong_may_not),
        share("a margin or more: not shown", Target::AtMost(UNDECIDED), clear.undecided),
        share("half a margin: wrong \"may replace\"", Target::AtMost(WRONG_MAY), half.wrong_may),
        share("half a margin: wrong \"may not\"", Target::AtMost(WRONG_MAY_NOT), half.wrong_may_not),
        share("half a margin: not shown", Target::Beside, half.undecided),
        share("a hair beyond: wrong \"may replace\"", Target::AtMost(WRONG_MAY), hair.wrong_may),
        share("a hair beyond: not shown", Target::Beside, hair.undecided),
        share("requirements said to be missed that are met", Target::AtMost(WRONG_MAY_NOT), figures.falsely_failed),
        share("\"may not\" names the figure that was moved", Target::Beside, figures.names_moved),
        share("results withheld by the control", Target::Beside, figures.withheld),
    ];
    for (what, blocks) in ["equal", "one margin beyond", "three margins beyond"].iter().zip(figures.blocks) {
        let what = format!("blocks of a workload, of {most_blocks} at most, {what}");
        rows.push(Row { what, target: Target::Beside, value: blocks, share: None, many: true });
    }
    for (case, verdicts) in &figures.cases {
        rows.extend(said(case, *verdicts));
    }
    for (reader, name) in
        ["best of three", "means of three within the limit", "Welch over three, not significant"].iter().enumerate()
    {
        for (distance, at) in ["a margin or more", "half a margin"].iter().zip(figures.readers[reader]) {
            rows.push(share(&format!("{name}, {distance}: wrong \"may replace\""), Target::Beside, at.wrong_may));
            rows.push(share(&format!("{name}, {distance}: wrong \"may not\""), Target::Beside, at.wrong_may_not));
        }
    }
    rows
}

/// Pairs of one kind are all of the same truth.
fn said(case: &str, verdicts: Verdicts) -> Vec<Row> {
    let row = |what: &str, share: Share| Row::of(format!("{case}: {what}"), Target::Beside, share);
    let mut rows = Vec::new();
    if verdicts.wrong_may.all > 0 {
        rows.push(row("wrong \"may replace\"", verdicts.wrong_may));
    }
    if verdicts.wrong_may_not.all > 0 {
        rows.push(row("wrong \"may not\"", verdicts.wrong_may_not));
    }
    rows.push(row("not shown", verdicts.undecided));
    rows
}
