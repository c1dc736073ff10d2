//! A fit in a screenful: how good it is, what was found and how surely, and where it is worst.

use super::text::{difference, headline, lost, percent, show, unknown_findings, words};
use super::{WORST, title, worst};
use crate::terminal::wrap;
use flashscope_model::twin::{Cell, Origin, Outcome, TwinRecord};
use std::fmt::Write;

/// Columns that every terminal has.
const WIDTH: usize = 80;

/// Writing to a string cannot fail.
macro_rules! line {
    ($text:expr) => { $text.push('\n') };
    ($text:expr, $($arg:tt)*) => { let _ = writeln!($text, $($arg)*); };
}

/// What somebody who made a twin wants to know first.
pub fn summary(twin: &TwinRecord) -> String {
    let mut text = String::new();
    let title = title(twin);
    line!(text, "{}", wrap(&title, WIDTH).join("\n"));
    if let Some(caution) = &twin.caution {
        line!(text, "{}", wrap(&format!("Caution: {caution}"), WIDTH).join("\n"));
    }
    line!(text, "{}", wrap(&headline(twin).0, WIDTH).join("\n"));

    found(&mut text, twin);
    line!(text, "\nFit             figures  within 15 %  median error");
    for pool in &twin.goodness.tests {
        let (within, median) = (percent(pool.all.within), percent(pool.all.median));
        line!(text, "  {:<13} {:>7} {within:>12} {median:>13}", pool.test, pool.all.cells);
    }
    wrong_models(&mut text, twin);
    farthest_off(&mut text, &worst(twin));
    missing(&mut text, twin);
    line!(text, "\n--cells prints every parameter and figure, --report FILE.html makes a page.");
    text
}

/// Parameters that the inference found, each with how sure it is; of the others how many there are.
fn found(text: &mut String, twin: &TwinRecord) {
    line!(text, "\nFound");
    for finding in twin.findings.iter().filter(|finding| finding.outcome == Outcome::Held) {
        let figure = finding.figure.as_deref().unwrap_or_default();
        let sure = finding.confidence.map_or_else(String::new, |sure| format!("{} sure", percent(sure)));
        line!(text, "  {:<26} {figure:<34} {sure}", words(finding));
    }
    let count = |origin| twin.parameters.iter().filter(|parameter| parameter.origin == origin).count();
    let (fitted, defaults) = (count(Origin::Fitted), count(Origin::Default));
    line!(text, "  {fitted} more parameters are fitted, {defaults} were not measured and keep a default");
}

fn wrong_models(text: &mut String, twin: &TwinRecord) {
    let wrong = &twin.goodness.wrong;
    let Some(nearest) = wrong.iter().min_by(|a, b| a.farther.total_cmp(&b.farther)) else { return };
    let rejected = wrong.iter().filter(|wrong| wrong.rejected).count();
    let sentence = format!(
        "{rejected} of {} wrong models fit worse; the nearest ({}) is {:.2} times as far off",
        wrong.len(),
        nearest.what,
        nearest.farther
    );
    line!(text, "{}", wrap(&sentence, WIDTH - 2).iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n"));
}

fn farthest_off(text: &mut String, cells: &[&Cell]) {
    if cells.is_empty() {
        return;
    }
    line!(text, "\nWorst           row        column           measured   simulated  difference");
    for cell in cells.iter().take(WORST) {
        let row = cell.row.to_string();
        let (measured, simulated) = (show(cell, cell.measured), show(cell, cell.simulated));
        let difference = difference(cell);
        let (test, column) = (&cell.test, &cell.column);
        line!(text, "  {test:<13} {row:<10} {column:<14} {measured:>10} {simulated:>11} {difference:>11}");
    }
}

/// What was found and is not in the twin, and what nobody knows.
fn missing(text: &mut String, twin: &TwinRecord) {
    let names = |names: Vec<String>| names.join(", ");
    let lost = names(lost(twin).map(|(finding, _)| words(finding)).collect());
    let unknown = names(unknown_findings(twin).into_iter().flat_map(|(_, names)| names).collect());
    let lists = [("Found, but not in the twin", lost), ("Not found", unknown)];
    for (what, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
        line!(text, "\n{}", wrap(&format!("{what}: {names}"), WIDTH - 2).join("\n  "));
    }
}
