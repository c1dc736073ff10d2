//! A block trace or a replay made readable: terminal text, Markdown, a page with a heat map, and tables.

use crate::html::plots::{Figure, dot, figure, sections};
use crate::html::{one_table, page};
use crate::markdown::table as markdown_table;
use crate::plot::{self, Hue};
use crate::sheet::sheet;
use crate::terminal::wrap;
use crate::xlsx::{Cell, Sheet};
use crate::{Style, foreign, table};
use flashscope_model::trace::{ClassFigures, ServiceTimes, TraceFigures, TraceRecord};
use flashscope_view::answer;
use flashscope_view::trace::{headline, heat, notes, sizes, tables, title};
use maud::html as markup;
use std::fmt::Write;

/// Columns of the names of figures.
const NAMES: usize = 14;

/// The whole report for a terminal, the figures that matter first.
pub fn terminal(record: &TraceRecord, style: Style) -> String {
    let mut text = format!("{}\n", title(record));
    if let Some(why) = answer::cut_short(&record.envelope.stop) {
        let _ = writeln!(text, "  cut short: {why}");
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
    for note in notes(record) {
        for (at, part) in wrap(&note, style.width.saturating_sub(4)).iter().enumerate() {
            let _ = writeln!(text, "{}{part}", if at == 0 { "  " } else { "    " });
        }
    }
    foreign::page(&text).into_owned()
}

/// The same as Markdown.
pub fn markdown(record: &TraceRecord) -> String {
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
pub fn html(record: &TraceRecord) -> String {
    let (title, envelope) = (title(record), &record.envelope);
    let replayed = record.replay.iter().flat_map(|replay| plots("Replayed", &replay.figures));
    let traced = plots(if record.replay.is_some() { "Traced" } else { "Requests" }, &record.figures);
    let body = markup! {
        header {
            p.eyebrow { "flashscope " (envelope.command) }
            h1 { (title) }
            dl.facts {
                @for (name, said) in headline(record) { div { dt { (name) } dd { (said) } } }
                @if let Some(when) = envelope.when_and_where() { div { dt { "when and where" } dd { (when) } } }
            }
            @if let Some(why) = answer::cut_short(&envelope.stop) { p.callout { strong { "Cut short" } ": " (why) } }
        }
        main {
            (sections(vec![("Address over time, and sizes", replayed.chain(traced).collect())]))
            @for table in tables(record) {
                section { h2 { (table.caption) } div."card scroll" { (one_table(&table)) } }
            }
            section { h2 { "What it rests on" } ul { @for note in notes(record) { li { (note) } } } }
        }
        footer { "flashscope " (envelope.tool.version) }
    };
    page(&title, &body)
}

fn plots(name: &str, figures: &TraceFigures) -> Vec<Figure> {
    let keys = || vec![dot(Hue::Series(0), "reads"), dot(Hue::Series(1), "writes")];
    let map = heat(&figures.heat).map(|view| {
        let what =
            format!("a dot is {} by {}, stronger where more requests begin", figures.heat.period, figures.heat.stretch);
        figure(format!("{name}: address over time"), what, keys(), |size| plot::heat(&view, size))
    });
    let bins = sizes(figures);
    let bars = figure(format!("{name}: sizes"), "requests by powers of two".to_owned(), keys(), |size| {
        plot::request_sizes(&bins, size)
    });
    map.into_iter().chain([bars]).collect()
}

/// Reads and writes by class, by size, and the heat map; of a replay what it showed.
pub fn sheets(record: &TraceRecord) -> Vec<Sheet> {
    let figures = record.replay.as_ref().map_or(&record.figures, |replay| &replay.figures);
    let classes = figures.classes.iter().map(class_row).collect();
    let bins = figures.sizes.iter().map(|bin| vec![bin.up_to.get().into(), bin.reads.into(), bin.writes.into()]);
    let map = &figures.heat;
    let cells = map.cells.iter().map(|cell| {
        vec![
            (u64::from(cell.column) * map.period.get()).into(),
            (u64::from(cell.row) * map.stretch.get()).into(),
            cell.reads.into(),
            cell.writes.into(),
        ]
    });
    vec![
        sheet("classes", &CLASSES, classes),
        sheet("sizes", &["up_to_bytes", "reads", "writes"], bins.collect()),
        sheet("heat map", &["from_ns", "from_bytes", "reads", "writes"], cells.collect()),
    ]
}

const CLASSES: [&str; 8] = [
    "kind",
    "class",
    "requests",
    "bytes",
    "service_time_ns_mean",
    "service_time_ns_p50",
    "service_time_ns_p99",
    "service_time_ns_max",
];

fn class_row(class: &ClassFigures) -> Vec<Cell> {
    let time = |pick: fn(&ServiceTimes) -> Option<u64>| class.times.as_ref().and_then(pick).into();
    vec![
        format!("{:?}", class.op).to_lowercase().into(),
        class.class.label().into(),
        class.requests.into(),
        class.bytes.get().into(),
        time(|times| Some(times.mean.get())),
        time(|times| times.p50.map(|time| time.get())),
        time(|times| times.p99.map(|time| time.get())),
        time(|times| Some(times.max.get())),
    ]
}
