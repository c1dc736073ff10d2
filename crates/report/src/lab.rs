//! A lab made readable: terminal text, Markdown, a page and tables.

use crate::html::{one_table, page};
use crate::markdown::table as markdown_table;
use crate::sheet::sheet;
use crate::terminal::wrap;
use crate::xlsx::Sheet;
use crate::{Style, foreign, table};
use flashscope_model::lab::LabRecord;
use flashscope_view::lab::{answer, notes, tables, title, word};
use maud::html as markup;
use std::fmt::Write;

/// The whole report for a terminal, the answer first.
pub fn terminal(record: &LabRecord, style: Style) -> String {
    let mut text = String::new();
    for line in wrap(&answer(record), style.width) {
        let _ = writeln!(text, "{line}");
    }
    for table in tables(record) {
        let _ = writeln!(text, "\n{}", table.caption);
        for line in table::lines(&table, style.width) {
            let _ = writeln!(text, "{line}");
        }
    }
    for (index, note) in notes(record).iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { "" });
        for (at, part) in wrap(&foreign::line(note), style.width.saturating_sub(4)).iter().enumerate() {
            let _ = writeln!(text, "{}{part}", if at == 0 { "  " } else { "    " });
        }
    }
    foreign::page(&text).into_owned()
}

/// The same as Markdown.
pub fn markdown(record: &LabRecord) -> String {
    let escaped = foreign::markdown;
    let mut text = format!("# {}\n\n{}\n", escaped(&title(record)), escaped(&answer(record)));
    for table in tables(record) {
        let _ = write!(text, "\n## {}\n\n{}\n", escaped(&table.caption), markdown_table(&table));
    }
    for (index, note) in notes(record).iter().enumerate() {
        let _ = writeln!(text, "{}- {}", if index == 0 { "\n## Notes\n\n" } else { "" }, escaped(note));
    }
    text
}

/// The whole of it as a page that loads nothing.
pub fn html(record: &LabRecord) -> String {
    let envelope = &record.envelope;
    let body = markup! {
        header {
            p.eyebrow { "flashscope " (envelope.command) }
            h1 { (title(record)) }
            p.callout { (answer(record)) }
        }
        main {
            @for table in tables(record) {
                section { h2 { (table.caption) } div."card scroll" { (one_table(&table)) } }
            }
            @let notes = notes(record);
            @if !notes.is_empty() { section { h2 { "Notes" } ul { @for note in notes { li { (note) } } } } }
        }
        footer { "flashscope " (envelope.tool.version) }
    };
    page(&title(record), &body)
}

/// Runs, and what the neighbour check says.
pub fn sheets(record: &LabRecord) -> Vec<Sheet> {
    let or_nothing = |text: &Option<String>| text.clone().unwrap_or_default();
    let runs = record.runs.iter().map(|run| {
        vec![
            run.id.as_str().into(),
            run.device.as_str().into(),
            run.work.as_str().into(),
            word(run.state).into(),
            f64::from(run.attempts).into(),
            f64::from(run.failures).into(),
            run.time.map(|time| time.as_f64()).into(),
            if run.host_limited { "yes" } else { "no" }.into(),
            or_nothing(&run.record).into(),
            or_nothing(&run.sha256).into(),
            or_nothing(&run.why).into(),
        ]
    });
    let neighbours = record.neighbours.iter().map(|one| {
        vec![
            one.device.as_str().into(),
            one.figure.as_str().into(),
            one.ratio.into(),
            one.ratio_low.into(),
            one.ratio_high.into(),
            if one.undisturbed { "yes" } else { "no" }.into(),
        ]
    });
    let heads =
        ["id", "device", "work", "state", "attempts", "failures", "time_ns", "host_limited", "record", "sha256", "why"];
    vec![
        sheet("runs", &heads, runs.collect()),
        sheet(
            "neighbours",
            &["device", "figure", "ratio", "ratio_low", "ratio_high", "undisturbed"],
            neighbours.collect(),
        ),
    ]
}
