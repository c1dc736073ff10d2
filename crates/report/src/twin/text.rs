//! A fit for people: in the terminal, and as a page of the docs.

use super::{CONTRAST, title};
use flashscope_model::twin::{Cell, Errors, Finding, Goodness, Origin, Outcome, TwinRecord, Unit};
use flashscope_units::{ByteRate, Contrast};
use std::fmt::Write;

/// Writing to a string cannot fail.
macro_rules! line {
    ($text:expr) => { $text.push('\n') };
    ($text:expr, $($arg:tt)*) => { let _ = writeln!($text, $($arg)*); };
}

/// A fit in the terminal; with `cells` every figure beside the simulated one.
pub fn text(twin: &TwinRecord, cells: bool) -> String {
    let mut text = String::new();
    line!(text, "{}", title(twin));
    if let Some(caution) = &twin.caution {
        line!(text, "Caution: {caution}");
    }
    line!(text, "{}", headline(twin).0);
    parameters(&mut text, twin);
    line!(text, "\nGoodness of fit");
    line!(text, "  {:<20} {:>6} {:>13} {:>13}  (a)", "test", "cells", "within 15 %", "median error");
    for pool in &twin.goodness.tests {
        let Errors { cells, within, median } = pool.all;
        let held = pool.close.as_ref().map_or("–", |close| mark(close.holds));
        let (within, median) = (percent(within), percent(median));
        line!(text, "  {:<20} {cells:>6} {within:>13} {median:>13}  {held}", pool.test);
    }
    for sentence in clauses(&twin.goodness) {
        line!(text, "  {sentence}");
    }
    for what in &twin.left_out {
        line!(text, "  left out: {what}");
    }
    not_held(&mut text, twin);
    unknown(&mut text, twin);
    if cells {
        line!(text, "\nCell by cell (measured, simulated, difference)");
        tables(&mut text, &twin.goodness.cells);
    }
    text
}

/// How good the fit is in a sentence, and whether nothing speaks against it.
pub(super) fn headline(twin: &TwinRecord) -> (String, bool) {
    let count = twin.goodness.cells.iter().filter(|cell| cell.column != CONTRAST).count();
    let within = percent(twin.goodness.within);
    let fit = format!("{within} of {count} figures are within 15 % of the measured ones");
    let no_worse: Vec<&str> =
        twin.goodness.wrong.iter().filter(|wrong| !wrong.rejected).map(|wrong| wrong.what.as_str()).collect();
    if no_worse.is_empty() {
        return (format!("{fit}."), true);
    }
    let (some, all) = (no_worse.len(), twin.goodness.wrong.len());
    let fits = if some == 1 { "fits" } else { "fit" };
    let names = no_worse.join(", ");
    (
        format!(
            "{fit}, but {some} of {all} models that are wrong on purpose {fits} no worse ({names}): what they get wrong, this log cannot tell."
        ),
        false,
    )
}

fn parameters(text: &mut String, twin: &TwinRecord) {
    line!(text, "Parameters");
    for parameter in &twin.parameters {
        let origin = match parameter.origin {
            Origin::Found => "found",
            Origin::Fitted => "fitted",
            Origin::Default => continue,
        };
        line!(text, "  {:<34} {:>12}  {origin}: {}", parameter.path, parameter.value, parameter.why);
    }
}

/// What was found and the twin does not have, with the reason.
pub(super) fn lost(twin: &TwinRecord) -> impl Iterator<Item = (&Finding, String)> {
    twin.findings.iter().filter_map(|finding| {
        let why = finding.why.as_ref().filter(|_| finding.outcome == Outcome::NotHeld)?;
        let sure = finding.confidence.map_or_else(String::new, |sure| format!(" ({} sure)", percent(sure)));
        Some((finding, format!("{}{sure}: {why}", finding.figure.as_deref().unwrap_or_default())))
    })
}

fn not_held(text: &mut String, twin: &TwinRecord) {
    if lost(twin).next().is_some() {
        line!(text, "\nFound, but could not be carried over (the twin does not have it)");
    }
    for (finding, what) in lost(twin) {
        line!(text, "  {:<34} {what}", words(finding));
    }
}

/// Reasons why something was not found, each with the findings that no parameter stands for.
pub(super) fn unknown_findings(twin: &TwinRecord) -> Vec<(&str, Vec<String>)> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for finding in &twin.findings {
        let Some(why) = finding.why.as_deref().filter(|_| finding.outcome == Outcome::Unknown) else { continue };
        let stands_for = |path: &String| twin.parameters.iter().any(|parameter| parameter.path.starts_with(path));
        if finding.path.as_ref().is_some_and(stands_for) {
            continue;
        }
        match reasons.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, names)) => names.push(words(finding)),
            None => reasons.push((why, vec![words(finding)])),
        }
    }
    reasons
}

fn unknown(text: &mut String, twin: &TwinRecord) {
    line!(text, "\nCould not be known (a default is in its place)");
    for parameter in &twin.parameters {
        if parameter.origin == Origin::Default {
            line!(text, "  {:<34} {:>12}  {}", parameter.path, parameter.value, parameter.why);
        }
    }
    line!(text, "  everything else stands as in the catalogue's card that shows nothing (sim show sd-flat)");
    let unknown = unknown_findings(twin);
    if !unknown.is_empty() {
        line!(text, "\nWas not found, and is not in the twin");
    }
    for (why, names) in unknown {
        line!(text, "  {}: {why}", names.join(", "));
    }
}

/// Clauses (b), (c) and (d) in a sentence each.
pub(super) fn clauses(goodness: &Goodness) -> Vec<String> {
    let mut sentences = Vec::new();
    let plateaus = &goodness.plateaus;
    if !plateaus.is_empty() {
        let held = plateaus.iter().filter(|plateau| plateau.holds).count();
        let what = "levels of what straddling costs within 15 % or 10 µs";
        sentences.push(format!("(b) {held} of {} {what}: {}", plateaus.len(), mark(held == plateaus.len())));
    }
    let bands = &goodness.bands;
    if !bands.is_empty() {
        let held = bands.iter().filter(|band| band.holds).count();
        let enough = held as f64 >= 0.95 * bands.len() as f64;
        let what = "rows of chance within the band of 200 seeds, and that band no wider than they scatter";
        sentences.push(format!("(c) {held} of {} {what}: {}", bands.len(), mark(enough)));
    }
    let wrong = &goodness.wrong;
    if !wrong.is_empty() {
        let rejected = wrong.iter().filter(|wrong| wrong.rejected).count();
        let list: Vec<String> = wrong.iter().map(|wrong| format!("{} {:.2}×", wrong.what, wrong.farther)).collect();
        let all = mark(rejected == wrong.len());
        sentences.push(format!(
            "(d) {rejected} of {} wrong models are farther off: {all} ({})",
            wrong.len(),
            list.join(", ")
        ));
    }
    sentences
}

fn tables(text: &mut String, cells: &[Cell]) {
    let mut shown = None;
    for cell in cells {
        if shown != Some(cell.run) {
            shown = Some(cell.run);
            line!(text, "  {} (table {})", cell.table, cell.run + 1);
        }
        let (measured, simulated) = (show(cell, cell.measured), show(cell, cell.simulated));
        let difference = difference(cell);
        line!(
            text,
            "    {:>9} {:<14} {measured:>11} {simulated:>11} {difference:>9}  {}",
            cell.row.to_string(),
            cell.column,
            cell.clause
        );
    }
}

/// A contrast near 0 has no share to be off by.
pub(super) fn difference(cell: &Cell) -> String {
    match cell.column.as_str() {
        "diff" => show(cell, cell.simulated - cell.measured),
        _ => format!("{:+.1} %", cell.error() * 100.0),
    }
}

/// A fit as a section of a page, under this heading.
pub fn markdown(twin: &TwinRecord, heading: &str) -> String {
    let mut text = format!("\n## {heading}\n\n");
    line!(text, "Fitted to {}.\n", twin.sources.iter().map(|s| format!("`{s}`")).collect::<Vec<String>>().join(", "));
    line!(text, "{}\n", headline(twin).0);
    line!(text, "| test | cells | within 15 % | median error | held to (a) | |\n|---|---|---|---|---|---|");
    for pool in &twin.goodness.tests {
        let Errors { cells, within, median } = pool.all;
        let (held, mark) = match &pool.close {
            Some(close) => {
                let figures = format!("{} of {}", percent(close.errors.within), close.errors.cells);
                (figures, if close.holds { "yes" } else { "**no**" })
            }
            None => ("–".to_owned(), "–"),
        };
        let (within, median) = (percent(within), percent(median));
        line!(text, "| {} | {cells} | {within} | {median} | {held} | {mark} |", pool.test);
    }
    line!(text);
    for sentence in clauses(&twin.goodness) {
        line!(text, "- {sentence}");
    }
    for what in &twin.left_out {
        line!(text, "- left out: {what}");
    }
    if let Some(caution) = &twin.caution {
        line!(text, "- caution: {caution}");
    }
    if lost(twin).next().is_some() {
        line!(text, "\nFound, but not in the twin:\n");
    }
    for (finding, what) in lost(twin) {
        line!(text, "- {}: {what}", words(finding));
    }
    line!(text, "\nNot known, default taken:\n");
    for parameter in &twin.parameters {
        if parameter.origin == Origin::Default {
            line!(text, "- `{}` = {}: {}", parameter.path, parameter.value, parameter.why);
        }
    }
    for plateau in twin.goodness.plateaus.iter().filter(|plateau| !plateau.holds) {
        let (measured, simulated) = (plateau.measured_ns / 1e3, plateau.simulated_ns / 1e3);
        line!(
            text,
            "\n(b) missed: {}, {}: {measured:.0} µs measured, {simulated:.0} simulated",
            plateau.table,
            plateau.level
        );
    }
    let mut shown = None;
    for cell in &twin.goodness.cells {
        if shown != Some(cell.run) {
            shown = Some(cell.run);
            line!(text, "\n### {} (table {})\n", cell.table, cell.run + 1);
            line!(text, "| row | column | measured | simulated | difference | held to |\n|---|---|---|---|---|---|");
        }
        let (measured, simulated) = (show(cell, cell.measured), show(cell, cell.simulated));
        let (difference, clause) = (difference(cell), &cell.clause);
        line!(text, "| {} | {} | {measured} | {simulated} | {difference} | {clause} |", cell.row, cell.column);
    }
    text
}

/// A figure as a log prints it, three digits and a unit.
pub(super) fn show(cell: &Cell, value: f64) -> String {
    match cell.unit {
        Unit::Nanoseconds => Contrast(value).to_string(),
        Unit::BytesPerSecond => ByteRate(value).to_string(),
    }
}

/// The name of a finding for people.
/// A finding of a later version has no name for people here yet.
pub(super) fn words(finding: &Finding) -> String {
    let known = flashscope_model::Finding::ALL.iter().find(|known| known.wire() == finding.name);
    known.map_or_else(|| finding.name.replace('_', " "), |known| known.label().to_owned())
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

pub(super) fn mark(holds: bool) -> &'static str {
    if holds { "yes" } else { "no" }
}
