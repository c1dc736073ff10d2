//! A test under stress in words and tables.

use crate::table::{Cell, Table};
use flashscope_model::stress::{Attributed, Cause, GroupKind, Stress};
use flashscope_units::{ByteRate, Bytes};
use std::collections::BTreeMap;

/// The answer: lines of a name and what is said of it.
pub fn headline(stress: &Stress) -> Vec<(&'static str, String)> {
    let plan = &stress.plan;
    let mut lines = vec![("errors", errors(stress))];
    let rate =
        ByteRate::of(stress.moved, stress.took).map_or_else(String::new, |rate| format!(", {rate} read and written"));
    lines.push((
        "stress",
        format!(
            "{} for {} by {} thread{}{rate}, all of it verified {} times",
            plan.memory,
            stress.took,
            plan.threads,
            if plan.threads == 1 { "" } else { "s" },
            stress.passes
        ),
    ));
    if let Some(side) = &stress.storage {
        let cuts = if side.power_cuts == 0 { String::new() } else { format!(", power cut {} times", side.power_cuts) };
        lines.push((
            "storage",
            format!(
                "{} at {}, {} rounds{cuts}: {} written, {} read",
                side.length, side.offset, side.rounds, side.written, side.read
            ),
        ));
    }
    if let (Some(planted), Some(found)) = (stress.planted, stress.planted_found) {
        lines.push(("planted", format!("{found} of {planted} planted flips found")));
    }
    lines.push(("left", format!("{} of {} available were left to others", plan.left, plan.available)));
    lines
}

fn errors(stress: &Stress) -> String {
    let mut counts: BTreeMap<Cause, u64> = BTreeMap::new();
    for error in &stress.errors {
        *counts.entry(error.cause).or_default() += 1;
    }
    let beyond = stress.wrong.saturating_sub(stress.words.len() as u64);
    let mut parts: Vec<String> = counts.iter().map(|(cause, count)| format!("{count} {}", said(*cause))).collect();
    if beyond > 0 {
        parts.push(format!("{beyond} more wrong words of memory"));
    }
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}

fn said(cause: Cause) -> &'static str {
    match cause {
        Cause::CannotTell => "of which it cannot be told whose they are",
        named => named.name(),
    }
}

/// Rows that a table of errors has at most; records hold all.
const MOST: usize = 20;

/// Every error, alike ones together, and what wrong words have in common.
pub fn tables(stress: &Stress) -> Vec<Table> {
    let text = |text: String| if text.is_empty() { Cell::Absent } else { Cell::Text(text) };
    let mut alike: BTreeMap<(Cause, &str, &str), Vec<&Attributed>> = BTreeMap::new();
    for error in &stress.errors {
        alike.entry((error.cause, &error.rule, error.border.word())).or_default().push(error);
    }
    let row = |((cause, _, border), errors): (&(Cause, &str, &str), &Vec<&Attributed>)| {
        let first = errors[0];
        let sure = first.probability.map(|sure| format!("{:.1} %", 100.0 * sure.min(0.999))).unwrap_or_default();
        let leaning: Vec<&str> = first.leaning.iter().map(|cause| cause.name()).collect();
        let whose =
            if leaning.is_empty() { cause.name().to_owned() } else { format!("cannot tell: {}", leaning.join(" or ")) };
        let bits = errors.iter().fold(0, |bits, error| bits | error.bits);
        vec![
            Cell::Text(whose),
            text(sure),
            Cell::Count(errors.len() as u64),
            Cell::Text(border.replace('_', " ")),
            Cell::Text(place(first.at)),
            text(lines(bits)),
            Cell::Text(first.evidence.clone()),
        ]
    };
    let columns = ["whose", "sure", "errors", "seen in", "first at", "data lines", "evidence of the first"];
    let errors = table("Errors, alike ones together", &columns, alike.iter().take(MOST).map(row).collect());
    let group = |group: &flashscope_model::stress::Group| {
        let kind = match group.kind {
            GroupKind::OneWord => "one word",
            GroupKind::OneLane => "one data line",
            GroupKind::OneRow => "one row of 8 KiB",
            GroupKind::Scattered => "scattered",
        };
        vec![
            Cell::Text(kind.to_owned()),
            Cell::Count(group.words),
            text(lines(group.bits)),
            Cell::Text(place(group.from)),
            Cell::Text(place(group.to)),
        ]
    };
    let groups = stress.groups.iter().take(MOST).map(group).collect();
    vec![errors, table("Wrong words of memory", &["in common", "words", "data lines", "from", "to"], groups)]
}

fn table(caption: &str, columns: &[&str], rows: Vec<Vec<Cell>>) -> Table {
    Table { caption: caption.to_owned(), columns: columns.iter().map(|column| (*column).to_owned()).collect(), rows }
}

/// A place, exactly.
fn place(at: Bytes) -> String {
    format!("{:#x}", at.get())
}

/// The data lines of wrong bits: a few by number, more as a number of them.
fn lines(bits: u64) -> String {
    let all: Vec<String> = (0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit: u32| bit.to_string()).collect();
    if all.len() > 6 { format!("{} of 64", all.len()) } else { all.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_lines_are_numbered() {
        assert_eq!(
            (lines(0), lines(0b101), lines(u64::MAX)),
            (String::new(), "0, 2".to_owned(), "64 of 64".to_owned())
        );
    }

    #[test]
    fn no_error_is_said_first() {
        assert_eq!(headline(&Stress::default())[0], ("errors", "none".to_owned()));
    }
}
