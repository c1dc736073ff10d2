//! A qualification in words and in a table: the answer first, then what decides it, then every result.

use crate::comparison::{counted, percent, ratio, spread};
use crate::table::{Cell, Table};
use flashscope_model::comparison::Level;
use flashscope_model::qualification::{
    Answer, Bound, Limit, QualificationRecord, Requirement, Role, Row, RowResult, Verdict, Weight,
};

/// What it is about.
pub fn title(record: &QualificationRecord) -> String {
    let names = |role| {
        let of = record.parts_of(role).map(|part| part.device.clone().unwrap_or_else(|| part.target.clone()));
        let mut names: Vec<String> = of.collect();
        names.dedup();
        names.join(", ")
    };
    let (reference, candidate) = (names(Role::Reference), names(Role::Candidate));
    match (reference.is_empty(), candidate.is_empty()) {
        (false, false) => format!("{candidate} in the place of {reference}"),
        (true, _) => candidate,
        (false, true) => reference,
    }
}

/// The answer in a sentence.
pub fn answer(record: &QualificationRecord) -> String {
    let quick = if record.plan.quick { " (short form)" } else { "" };
    let plan = format!("{}{quick}", record.plan.name);
    let Some(verdict) = &record.verdict else {
        return format!(
            "one side of {plan}, {} done: `flashscope qualify judge` judges it with the other side's",
            counted(record.runs.len(), "run")
        );
    };
    let has_reference = record.parts_of(Role::Reference).next().is_some();
    let subject = if has_reference { "the candidate" } else { "the part" };
    match (verdict.answer, has_reference) {
        (Answer::MayReplace, true) => format!("{subject} may replace the reference, by {plan}"),
        (Answer::MayReplace, false) => format!("{subject} meets {plan}"),
        (Answer::MayNot, true) => format!("{subject} may not replace the reference, by {plan}"),
        (Answer::MayNot, false) => format!("{subject} does not meet {plan}"),
        (Answer::NotShown, true) => format!("not shown whether {subject} may replace the reference, by {plan}"),
        (Answer::NotShown, false) => format!("not shown whether {subject} meets {plan}"),
    }
}

/// What the answer rests on: how many results of each kind, then the reasons, then why results disagree, then for what it
/// holds.
pub fn reasons(record: &QualificationRecord) -> Vec<String> {
    let Some(verdict) = &record.verdict else { return Vec::new() };
    let mut all = vec![counts(record)];
    all.extend(verdict.reasons.iter().cloned());
    for cause in &record.causes {
        let why = match (&cause.because, &cause.unknown) {
            (Some(because), _) => because.clone(),
            (None, Some(unknown)) => format!("why cannot be told: {unknown}"),
            (None, None) => continue,
        };
        all.push(format!("{}: {why}", cause.paradox));
    }
    all.push(scope(record, verdict));
    all
}

fn scope(record: &QualificationRecord, verdict: &Verdict) -> String {
    let anyway = if record.anyway { "; the sides are not comparable, and were judged because of --anyway" } else { "" };
    format!("{}{anyway}", verdict.scope)
}

/// `9 of 12 that must be met are; 1 fails, 2 undecided`.
fn counts(record: &QualificationRecord) -> String {
    let of = |weight| record.results().filter(move |(requirement, _)| requirement.weight == weight);
    let words = ["pass", "fail", "unsupported", "undecided"];
    let told = |weight| {
        let count = |word: &&str| of(weight).filter(|(_, row)| row.result.word() == *word).count();
        let some = words.iter().map(|word| (count(word), *word)).filter(|(count, _)| *count > 0);
        some.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    };
    let must = format!("{} that must be met: {}", counted(of(Weight::Must).count(), "requirement"), told(Weight::Must));
    match of(Weight::Should).count() {
        0 => must,
        should => format!("{must}; {should} that should: {}", told(Weight::Should)),
    }
}

/// What else a reader must know: the machine, differences, the runs.
pub fn notes(record: &QualificationRecord) -> Vec<String> {
    let plan = &record.plan;
    let mut notes = vec![format!("{}; source: {}", plan.title, plan.source)];
    notes.extend(record.parts.iter().map(|part| {
        let identity = part.identity.as_deref().map_or(String::new(), |identity| format!(", {identity}"));
        let host = part.host.as_ref().map_or(String::new(), |host| {
            let board = host.board.as_deref().unwrap_or(&host.name);
            let bus = host.bus_mode.as_deref().map_or(String::new(), |bus| format!(", {bus}"));
            format!(", on {board}, kernel {}{bus}", host.kernel)
        });
        format!("{} {}: {}{identity}{host}", part.role.word(), part.label, part.target)
    }));
    notes.push(format!("{} of {}", counted(record.runs.len(), "run"), counted(record.parts.len(), "part")));
    if record.rows.iter().any(|row| row.replayed) {
        notes.push(
            "replayed: the trace of an application was replayed in virtual time in place of the application".to_owned(),
        );
    }
    notes.extend(record.differences.iter().map(|difference| {
        let values: Vec<String> = difference.values.iter().map(|(value, whose)| format!("{value} ({whose})")).collect();
        let grave = if difference.incomparable { "not comparable: " } else { "" };
        format!("{grave}{} is not the same: {}", difference.what, values.join(", "))
    }));
    notes.extend(record.controls.iter().filter(|one| one.control.fails()).map(|one| {
        format!(
            "{}: the reference differs from itself (p {:.4}), so that its relative results are withheld",
            one.workload, one.control.p_value
        )
    }));
    notes.extend(record.notes.iter().cloned());
    notes
}

/// Every result: a line per requirement, what fails first within its weight.
pub fn table(record: &QualificationRecord) -> Table {
    let columns = ["requirement", "weight", "limit", "reference", "candidate", "ratio", "result"];
    let mut table =
        Table { caption: "Results".to_owned(), columns: columns.map(str::to_owned).to_vec(), rows: Vec::new() };
    let mut results: Vec<(&Requirement, &Row)> = record.results().collect();
    results.sort_by_key(|(requirement, row)| (requirement.weight == Weight::Should, rank(row.result)));
    table.rows = results.into_iter().map(|(requirement, row)| line(requirement, row)).collect();
    table
}

fn rank(result: RowResult) -> u8 {
    match result {
        RowResult::Fail => 0,
        RowResult::Undecided(_) => 1,
        RowResult::Unsupported(_) => 2,
        RowResult::Pass => 3,
    }
}

fn line(requirement: &Requirement, row: &Row) -> Vec<Cell> {
    let text = |text: String| if text.is_empty() { Cell::Absent } else { Cell::Text(text) };
    let centre = |centre: Option<_>| text(centre.map_or_else(String::new, |centre| spread(&centre, &row.unit)));
    let ratio = row.ratio.map_or_else(String::new, |found| ratio(found.value, found.interval));
    let weight = match requirement.weight {
        Weight::Must => "must",
        Weight::Should => "should",
    };
    vec![
        Cell::Text(requirement.title.clone()),
        Cell::Text(weight.to_owned()),
        Cell::Text(limit(requirement.limit)),
        centre(row.reference),
        centre(row.candidate),
        text(ratio),
        Cell::Text(result(row)),
    ]
}

/// A result in a word or two.
pub fn result(row: &Row) -> String {
    let replayed = if row.replayed { " (replayed)" } else { "" };
    match row.result {
        RowResult::Unsupported(by) => format!("unsupported by {}", by.word()),
        other => format!("{}{replayed}", other.word()),
    }
}

/// A limit as short as can be.
pub fn limit(limit: Limit) -> String {
    let sign = |bound| match bound {
        Bound::AtLeast => "≥",
        Bound::AtMost => "≤",
    };
    match limit {
        Limit::Value { bound, value, unit } => {
            let unit = if unit.word() == "count" { "" } else { unit.word() };
            format!("{} {}", sign(bound), amount(value, unit))
        }
        Limit::Reference { bound, ratio } => format!("{} {ratio} × ref.", sign(bound)),
        Limit::Holds => "yes".to_owned(),
    }
}

/// A value in the unit of records, for people.
pub fn amount(value: f64, unit: &str) -> String {
    match unit {
        "B" => flashscope_units::Bytes(value.round() as u64).to_string(),
        unit => crate::comparison::value(value, unit),
    }
}

/// How far the candidate lies from the reference, or from the limit: `4.1 % below`; empty where there is no ratio.
pub fn distance(row: &Row) -> String {
    row.ratio.map_or_else(String::new, |found| {
        let side = if found.value < 1.0 { "below" } else { "above" };
        format!("{} {side}", percent(found.value))
    })
}

/// What an interval holds for.
pub fn level(level: Level) -> &'static str {
    match level {
        Level::Run => "runs",
        Level::Block => "blocks",
        Level::Session => "sessions",
        Level::Part => "parts",
    }
}
