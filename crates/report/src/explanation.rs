//! Why one device takes longer than another, made readable: terminal text, Markdown, a page with a waterfall, and tables.

use crate::html::plots::{dot, figure, sections};
use crate::html::{one_table, page};
use crate::markdown::table as markdown_table;
use crate::plot::{self, Hue};
use crate::sheet::sheet;
use crate::terminal::wrap;
use crate::xlsx::Sheet;
use crate::{Style, foreign, table};
use flashscope_model::explanation::ExplanationRecord;
use flashscope_view::explanation::{answer, headline, notes, tables, title, waterfall, words};
use maud::html as markup;
use std::fmt::Write;

/// Columns of the names of figures.
const NAMES: usize = 12;

/// The whole report for a terminal, the answer first.
pub fn terminal(record: &ExplanationRecord, style: Style) -> String {
    let mut text = String::new();
    for line in wrap(&answer(record), style.width) {
        let _ = writeln!(text, "{line}");
    }
    for (name, said) in headline(record) {
        for (at, part) in wrap(&said, style.width.saturating_sub(NAMES + 4)).iter().enumerate() {
            let _ = writeln!(text, "  {:NAMES$}  {part}", if at == 0 { name } else { "" });
        }
    }
    for table in tables(record) {
        let _ = writeln!(text, "\n{}", table.caption);
        for line in table::lines(&table, style.width) {
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
pub fn markdown(record: &ExplanationRecord) -> String {
    let escaped = foreign::markdown;
    let mut text = format!("# {}\n\n{}\n\n", escaped(&title(record)), escaped(&answer(record)));
    text.extend(headline(record).iter().map(|(name, said)| format!("- {name}: {}\n", escaped(said))));
    for table in tables(record) {
        let _ = write!(text, "\n## {}\n\n{}\n", escaped(&table.caption), markdown_table(&table));
    }
    text.push_str("\n## Notes\n\n");
    text.extend(notes(record).iter().map(|line| format!("- {}\n", escaped(line))));
    text
}

/// The whole of it as a page that loads nothing.
pub fn html(record: &ExplanationRecord) -> String {
    let envelope = &record.envelope;
    let steps = waterfall(record);
    let keys = vec![dot(Hue::Series(0), "A and B"), dot(Hue::Series(1), "what is exchanged")];
    let what = "from the time on A over the share of each group of parameters to the time on B".to_owned();
    let chart = figure("From A to B".to_owned(), what, keys, |size| plot::waterfall(&steps, size));
    let body = markup! {
        header {
            p.eyebrow { "flashscope " (envelope.command) }
            h1 { (title(record)) }
            p.callout { (answer(record)) }
            dl.facts { @for (name, said) in headline(record) { div { dt { (name) } dd { (said) } } } }
        }
        main {
            (sections(vec![("Where the time goes", vec![chart])]))
            @for table in tables(record) {
                section { h2 { (table.caption) } div."card scroll" { (one_table(&table)) } }
            }
            section { h2 { "What it rests on" } ul { @for note in notes(record) { li { (note) } } } }
        }
        footer { "flashscope " (envelope.tool.version) }
    };
    page(&title(record), &body)
}

/// Shares, and the parameters that differ.
pub fn sheets(record: &ExplanationRecord) -> Vec<Sheet> {
    let shares = record.shares.iter().map(|share| {
        vec![
            words(share).into(),
            share.gap.time_ns.into(),
            share.gap.low_ns.into(),
            share.gap.high_ns.into(),
            share.alone_ns.into(),
            if share.told { "yes" } else { "no" }.into(),
        ]
    });
    let with = record.shares.iter().flat_map(|share| share.changes.iter());
    let changes = with.chain(record.screened.iter().flat_map(|one| one.changes.iter())).map(|change| {
        let shown = |value: &Option<String>| value.clone().unwrap_or_default();
        vec![change.path.as_str().into(), shown(&change.a).into(), shown(&change.b).into()]
    });
    vec![
        sheet("shares", &["group", "share_ns", "share_ns_low", "share_ns_high", "alone_ns", "told"], shares.collect()),
        sheet("parameters", &["parameter", "a", "b"], changes.collect()),
    ]
}
