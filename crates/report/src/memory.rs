//! What a memory does, made readable: terminal text, Markdown, a page with its curves, and tables.

use crate::html::plots::{figure, rule, sections};
use crate::html::{one_table, page};
use crate::markdown::table as markdown_table;
use crate::plot::{self, Hue};
use crate::sheet::sheet;
use crate::terminal::wrap;
use crate::xlsx::Sheet;
use crate::{Style, foreign, table};
use flashscope_model::memory::MemoryRecord;
use flashscope_view::memory::{curves, guides, headline, loaded_curve, middle, name, notes, quantity, tables, title};
use maud::html as markup;
use std::fmt::Write;

/// Columns of the names of figures.
const NAMES: usize = 12;
/// Rows of a table from which on a terminal shows it only where more is asked for.
const LONG: usize = 24;

/// The whole report for a terminal, the answer first.
pub fn terminal(record: &MemoryRecord, style: Style) -> String {
    let mut text = String::new();
    for (name, said) in headline(record) {
        for (at, part) in wrap(&said, style.width.saturating_sub(NAMES + 2)).iter().enumerate() {
            let _ = writeln!(text, "{:NAMES$}  {part}", if at == 0 { name } else { "" });
        }
    }
    for table in tables(record).iter().filter(|table| style.verbose || table.rows.len() < LONG) {
        let _ = writeln!(text, "\n{}", table.caption);
        for line in table::lines(table, style.width) {
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
pub fn markdown(record: &MemoryRecord) -> String {
    let escaped = foreign::markdown;
    let mut text = format!("# {}\n\n", escaped(&title(record)));
    text.extend(headline(record).iter().map(|(name, said)| format!("- {name}: {}\n", escaped(said))));
    for table in tables(record) {
        let _ = write!(text, "\n## {}\n\n{}\n", escaped(&table.caption), markdown_table(&table));
    }
    text.push_str("\n## Notes\n\n");
    text.extend(notes(record).iter().map(|line| format!("- {}\n", escaped(line))));
    text
}

/// The whole of it as a page that loads nothing.
pub fn html(record: &MemoryRecord) -> String {
    let envelope = &record.envelope;
    let (latency, loaded, marks) = (curves(record), loaded_curve(record), guides(record));
    let keys = latency.iter().enumerate().map(|(at, (name, _))| rule(Hue::Series(at), *name)).collect();
    let over_size = figure(
        "Latency by size".to_owned(),
        "time of a load that needs what the load before it has brought, over the size of what is visited".to_owned(),
        keys,
        |size| plot::latency_by_size(&latency, &marks, size),
    );
    let under_load = figure(
        "Latency under load".to_owned(),
        "the same over all of memory, while other threads read at growing rates".to_owned(),
        vec![rule(Hue::Series(0), "median")],
        |size| plot::latency_by_rate(&loaded, size),
    );
    let body = markup! {
        header {
            p.eyebrow { "flashscope " (envelope.command) }
            h1 { (title(record)) }
            dl.facts { @for (name, said) in headline(record) { div { dt { (name) } dd { (said) } } } }
        }
        main {
            (sections(vec![("Latency", vec![over_size, under_load])]))
            @for table in tables(record) {
                section { h2 { (table.caption) } div."card scroll" { (one_table(&table)) } }
            }
            section { h2 { "What must be known" } ul { @for note in notes(record) { li { (note) } } } }
        }
        footer { "flashscope " (envelope.tool.version) }
    };
    page(&title(record), &body)
}

/// Every figure; the rates come first.
pub fn sheets(record: &MemoryRecord) -> Vec<Sheet> {
    let rates = record.bandwidth.iter().flat_map(|row| {
        row.rates.iter().enumerate().map(move |(pass, rate)| {
            vec![
                name(row).into(),
                u64::from(row.threads).into(),
                row.array.get().into(),
                (pass as u64 + 1).into(),
                (*rate).into(),
            ]
        })
    });
    let chases = record.latency.iter().map(|chase| {
        vec![
            format!("{:?}", chase.route).to_lowercase().into(),
            format!("{:?}", chase.pages).to_lowercase().into(),
            chase.span.get().into(),
            chase.spacing.get().into(),
            middle(&chase.times_ns).into(),
            (chase.times_ns.len() as u64).into(),
        ]
    });
    let loaded = record
        .loaded
        .iter()
        .map(|row| vec![row.delay.map(u64::from).into(), row.rate.into(), middle(&row.times_ns).into()]);
    let findings = record.findings.iter().map(|finding| {
        let bound = finding.estimate.bound().map(|bound| bound.ends());
        vec![
            quantity(finding).into(),
            finding.estimate.value().into(),
            bound.and_then(|(least, _)| least.copied()).into(),
            bound.and_then(|(_, most)| most.copied()).into(),
            finding.estimate.confidence().into(),
            finding.told.into(),
            finding.estimate.evidence().into(),
        ]
    });
    let all = vec![
        sheet("bandwidth", &["loop", "threads", "array_bytes", "pass", "rate_bytes_per_s"], rates.collect()),
        sheet("latency", &["route", "pages", "span_bytes", "spacing_bytes", "time_ns", "stretches"], chases.collect()),
        sheet("under load", &["delay", "rate_bytes_per_s", "time_ns"], loaded.collect()),
        sheet(
            "findings",
            &["finding", "value", "at_least", "at_most", "confidence", "told", "evidence"],
            findings.collect(),
        ),
    ];
    all.into_iter().filter(|sheet| !sheet.rows.is_empty()).collect()
}
