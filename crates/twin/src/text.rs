//! A fit for people: in the terminal, and as a page of the docs.

use crate::card::Origin;
use crate::cells::Cell;
use crate::findings::{Carried, Fate};
use crate::fit::Fit;
use crate::goodness::{Clause, Errors, Goodness};
use std::fmt::Write;

/// Writing to a string cannot fail.
macro_rules! line {
    ($text:expr) => { $text.push('\n') };
    ($text:expr, $($arg:tt)*) => { let _ = writeln!($text, $($arg)*); };
}

/// A fit in the terminal; with `cells` every figure beside the simulated one.
pub fn text(fit: &Fit, cells: bool) -> String {
    let mut text = String::new();
    line!(text, "Twin of {}", fit.sources.join(", "));
    if let Some(caution) = &fit.caution {
        line!(text, "Caution: {caution}");
    }
    parameters(&mut text, fit);
    line!(text, "\nGoodness of fit");
    line!(text, "  {:<20} {:>6} {:>13} {:>13}  (a)", "test", "cells", "within 15 %", "median error");
    for pool in &fit.goodness.tests {
        let Errors { cells, within, median } = pool.all;
        let held = pool.close.as_ref().map_or("–", |close| mark(close.hold()));
        let (within, median) = (percent(within), percent(median));
        line!(text, "  {:<20} {cells:>6} {within:>13} {median:>13}  {held}", pool.test.name());
    }
    for sentence in clauses(&fit.goodness) {
        line!(text, "  {sentence}");
    }
    for what in &fit.left_out {
        line!(text, "  left out: {what}");
    }
    not_held(&mut text, fit);
    unknown(&mut text, fit);
    if cells {
        line!(text, "\nCell by cell (measured, simulated, difference)");
        tables(&mut text, &fit.goodness.cells);
    }
    text
}

fn parameters(text: &mut String, fit: &Fit) {
    line!(text, "Parameters");
    for parameter in &fit.parameters {
        let why = match &parameter.origin {
            Origin::Found(why) => format!("found: {why}"),
            Origin::Fitted(why) => format!("fitted: {why}"),
            Origin::Default(_) => continue,
        };
        line!(text, "  {:<34} {:>12}  {why}", parameter.path, parameter.value);
    }
}

/// What was found and the twin does not have, with the reason.
fn lost(fit: &Fit) -> impl Iterator<Item = (&Carried, String)> {
    fit.findings.iter().filter_map(|finding| {
        let Fate::NotHeld(why) = &finding.fate else { return None };
        let sure = finding.confidence.map_or_else(String::new, |sure| format!(" ({} sure)", percent(sure)));
        Some((finding, format!("{}{sure}: {why}", finding.figure.as_deref().unwrap_or_default())))
    })
}

fn not_held(text: &mut String, fit: &Fit) {
    if lost(fit).next().is_some() {
        line!(text, "\nFound, but could not be carried over (the twin does not have it)");
    }
    for (finding, what) in lost(fit) {
        line!(text, "  {:<34} {what}", finding.finding.label());
    }
}

/// Reasons why something was not found, each with the findings that no parameter stands for.
fn unknown_findings(fit: &Fit) -> Vec<(&str, Vec<String>)> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for finding in &fit.findings {
        let Fate::Unknown(why, path) = &finding.fate else { continue };
        if fit.parameters.iter().any(|parameter| !path.is_empty() && parameter.path.starts_with(path)) {
            continue;
        }
        match reasons.iter_mut().find(|(reason, _)| reason == why) {
            Some((_, names)) => names.push(finding.finding.label().to_owned()),
            None => reasons.push((why, vec![finding.finding.label().to_owned()])),
        }
    }
    reasons
}

fn unknown(text: &mut String, fit: &Fit) {
    line!(text, "\nCould not be known (a default is in its place)");
    for parameter in &fit.parameters {
        if let Origin::Default(why) = &parameter.origin {
            line!(text, "  {:<34} {:>12}  {why}", parameter.path, parameter.value);
        }
    }
    line!(text, "  everything else stands as in the catalogue's card that shows nothing (sim show sd-flat)");
    let unknown = unknown_findings(fit);
    if !unknown.is_empty() {
        line!(text, "\nWas not found, and is not in the twin");
    }
    for (why, names) in unknown {
        line!(text, "  {}: {why}", names.join(", "));
    }
}

/// Clauses (b), (c) and (d) in a sentence each.
fn clauses(goodness: &Goodness) -> Vec<String> {
    let mut sentences = Vec::new();
    let plateaus = &goodness.plateaus;
    if !plateaus.is_empty() {
        let held = plateaus.iter().filter(|plateau| plateau.holds()).count();
        let what = "levels of what straddling costs within 15 % or 10 µs";
        sentences.push(format!("(b) {held} of {} {what}: {}", plateaus.len(), mark(held == plateaus.len())));
    }
    let bands = &goodness.bands;
    if !bands.is_empty() {
        let held = bands.iter().filter(|band| band.holds()).count();
        let enough = held as f64 >= 0.95 * bands.len() as f64;
        let what = "rows of chance within the band of 200 seeds, and that band no wider than they scatter";
        sentences.push(format!("(c) {held} of {} {what}: {}", bands.len(), mark(enough)));
    }
    let wrong = &goodness.wrong;
    if !wrong.is_empty() {
        let rejected = wrong.iter().filter(|wrong| wrong.is_rejected()).count();
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
        let (measured, simulated) = (cell.figure.show(cell.measured), cell.figure.show(cell.simulated));
        let difference = difference(cell);
        line!(
            text,
            "    {:>9} {:<14} {measured:>11} {simulated:>11} {difference:>9}  {}",
            cell.row.to_string(),
            cell.column,
            Clause::of(cell).letter()
        );
    }
}

/// A contrast near 0 has no share to be off by.
fn difference(cell: &Cell) -> String {
    match cell.column.as_str() {
        "diff" => cell.figure.show(cell.simulated - cell.measured),
        _ => format!("{:+.1} %", cell.error() * 100.0),
    }
}

/// A fit as a section of a page, under this heading.
pub fn markdown(fit: &Fit, heading: &str) -> String {
    let mut text = format!("\n## {heading}\n\n");
    line!(text, "Fitted to {}.\n", fit.sources.iter().map(|s| format!("`{s}`")).collect::<Vec<String>>().join(", "));
    line!(text, "| test | cells | within 15 % | median error | held to (a) | |\n|---|---|---|---|---|---|");
    for pool in &fit.goodness.tests {
        let Errors { cells, within, median } = pool.all;
        let (held, mark) = match &pool.close {
            Some(close) => {
                let figures = format!("{} of {}", percent(close.within), close.cells);
                (figures, if close.hold() { "yes" } else { "**no**" })
            }
            None => ("–".to_owned(), "–"),
        };
        let (within, median) = (percent(within), percent(median));
        line!(text, "| {} | {cells} | {within} | {median} | {held} | {mark} |", pool.test.name());
    }
    line!(text);
    for sentence in clauses(&fit.goodness) {
        line!(text, "- {sentence}");
    }
    for what in &fit.left_out {
        line!(text, "- left out: {what}");
    }
    if let Some(caution) = &fit.caution {
        line!(text, "- caution: {caution}");
    }
    if lost(fit).next().is_some() {
        line!(text, "\nFound, but not in the twin:\n");
    }
    for (finding, what) in lost(fit) {
        line!(text, "- {}: {what}", finding.finding.label());
    }
    line!(text, "\nNot known, default taken:\n");
    for parameter in &fit.parameters {
        if let Origin::Default(why) = &parameter.origin {
            line!(text, "- `{}` = {}: {why}", parameter.path, parameter.value);
        }
    }
    for plateau in fit.goodness.plateaus.iter().filter(|plateau| !plateau.holds()) {
        let (measured, simulated) = (plateau.measured / 1e3, plateau.simulated / 1e3);
        line!(
            text,
            "\n(b) missed: {}, {}: {measured:.0} µs measured, {simulated:.0} simulated",
            plateau.table,
            plateau.level
        );
    }
    let mut shown = None;
    for cell in &fit.goodness.cells {
        if shown != Some(cell.run) {
            shown = Some(cell.run);
            line!(text, "\n### {} (table {})\n", cell.table, cell.run + 1);
            line!(text, "| row | column | measured | simulated | difference | held to |\n|---|---|---|---|---|---|");
        }
        let (measured, simulated) = (cell.figure.show(cell.measured), cell.figure.show(cell.simulated));
        let (difference, clause) = (difference(cell), Clause::of(cell).letter());
        line!(text, "| {} | {} | {measured} | {simulated} | {difference} | {clause} |", cell.row, cell.column);
    }
    text
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn mark(holds: bool) -> &'static str {
    if holds { "yes" } else { "no" }
}
