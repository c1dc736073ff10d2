//! A qualification made readable: terminal text, Markdown, a page, and tables.

pub use crate::verdict_sheet::html;

use crate::markdown::table as markdown_table;
use crate::sheet::sheet;
use crate::terminal::wrap;
use crate::xlsx::{Cell, Sheet};
use crate::{Style, foreign, table};
use flashscope_model::qualification::{QualificationRecord, Requirement, Row, RunDone, RunOutcome, Weight};
use flashscope_view::qualification::{answer, level, limit, notes, reasons, result, title};
use std::fmt::Write;

/// The whole report for a terminal, the answer first.
pub fn terminal(record: &QualificationRecord, style: Style) -> String {
    let mut text = String::new();
    let mut said = |line: &str, first: &str, rest: &str| {
        for (at, part) in wrap(line, style.width.saturating_sub(rest.len())).iter().enumerate() {
            let _ = writeln!(text, "{}{part}", if at == 0 { first } else { rest });
        }
    };
    said(&answer(record), "", "");
    reasons(record).iter().for_each(|line| said(line, "  ", "    "));
    if !record.rows.is_empty() {
        text.push('\n');
        for line in table::lines(&flashscope_view::qualification::table(record), style.width) {
            let _ = writeln!(text, "{line}");
        }
    }
    text.push('\n');
    for note in notes(record) {
        for (at, part) in wrap(&note, style.width.saturating_sub(4)).iter().enumerate() {
            let _ = writeln!(text, "{}{part}", if at == 0 { "  " } else { "    " });
        }
    }
    foreign::page(&text).into_owned()
}

/// The same as Markdown.
pub fn markdown(record: &QualificationRecord) -> String {
    let escaped = foreign::markdown;
    let mut text = format!("# {}\n\n{}\n\n", escaped(&title(record)), escaped(&answer(record)));
    text.extend(reasons(record).iter().map(|line| format!("- {}\n", escaped(line))));
    if !record.rows.is_empty() {
        let table = flashscope_view::qualification::table(record);
        let _ = write!(text, "\n## {}\n\n{}\n", escaped(&table.caption), markdown_table(&table));
    }
    text.push_str("\n## What it rests on\n\n");
    text.extend(notes(record).iter().map(|line| format!("- {}\n", escaped(line))));
    text
}

const RESULTS: [&str; 23] = [
    "requirement",
    "title",
    "kind",
    "weight",
    "workload",
    "state",
    "figure",
    "limit",
    "result",
    "reason",
    "unit",
    "reference_value",
    "reference_low",
    "reference_high",
    "candidate_value",
    "candidate_low",
    "candidate_high",
    "ratio",
    "ratio_low",
    "ratio_high",
    "level",
    "p_pass",
    "p_fail",
];

/// The results; then every run that they rest on.
pub fn sheets(record: &QualificationRecord) -> Vec<Sheet> {
    let results = record.results().map(|(requirement, row)| result_line(requirement, row)).collect();
    let runs = record.runs.iter().flat_map(|run| run_lines(record, run)).collect();
    let columns = [
        "role",
        "part",
        "workload",
        "session",
        "block",
        "place",
        "outcome",
        "figure",
        "unit",
        "value",
        "replayed",
        "took_ns",
        "written_bytes",
        "record",
        "sha256",
    ];
    vec![sheet("results", &RESULTS, results), sheet("runs", &columns, runs)]
}

fn result_line(requirement: &Requirement, row: &Row) -> Vec<Cell> {
    let centre = |centre: Option<flashscope_model::comparison::Centre>| -> [Cell; 3] {
        let ends = centre.and_then(|centre| centre.interval);
        [centre.map(|centre| centre.value).into(), ends.map(|ends| ends.0).into(), ends.map(|ends| ends.1).into()]
    };
    let ends = row.ratio.and_then(|ratio| ratio.interval);
    let mut cells: Vec<Cell> = vec![
        requirement.name.as_str().into(),
        requirement.title.as_str().into(),
        requirement.area.word().into(),
        match requirement.weight {
            Weight::Must => "must",
            Weight::Should => "should",
        }
        .into(),
        requirement.workload.as_str().into(),
        requirement.state.clone().into(),
        requirement.figure.as_str().into(),
        limit(requirement.limit).into(),
        result(row).into(),
        row.reason.as_str().into(),
        row.unit.as_str().into(),
    ];
    cells.extend(centre(row.reference));
    cells.extend(centre(row.candidate));
    cells.extend([
        row.ratio.map(|ratio| ratio.value).into(),
        ends.map(|ends| ends.0).into(),
        ends.map(|ends| ends.1).into(),
        row.level.map(level).into(),
        row.p_pass.into(),
        row.p_fail.into(),
    ]);
    cells
}

fn run_lines(record: &QualificationRecord, run: &RunDone) -> Vec<Vec<Cell>> {
    let part = &record.parts[run.part];
    let line = |outcome: &str, figure: &str, unit: &str, value: Option<f64>| -> Vec<Cell> {
        vec![
            part.role.word().into(),
            part.label.as_str().into(),
            run.workload.as_str().into(),
            run.session.as_str().into(),
            run.block.map(u64::from).into(),
            u64::from(run.place).into(),
            outcome.into(),
            figure.into(),
            unit.into(),
            value.into(),
            if run.replayed { "yes" } else { "no" }.into(),
            run.took.get().into(),
            run.written.get().into(),
            run.record.as_ref().map(|record| record.file.clone()).into(),
            run.record.as_ref().map(|record| record.sha256.clone()).into(),
        ]
    };
    match &run.outcome {
        RunOutcome::Done { figures, answers } => {
            let answer = |answer: &Option<bool>| match answer {
                Some(true) => "yes",
                Some(false) => "no",
                None => "cannot tell",
            };
            let measured = figures.iter().map(|one| line("done", &one.name, &one.unit, Some(one.value)));
            let told = answers.iter().map(|(asked, said)| line(answer(said), asked, "", None));
            measured.chain(told).collect()
        }
        RunOutcome::Unsupported { by, why } => {
            vec![line(&format!("unsupported by {}: {why}", by.word()), "", "", None)]
        }
        RunOutcome::Failed { why } => vec![line(&format!("failed: {why}"), "", "", None)],
    }
}
