//! Applications made readable: the run time first, then what users wait for.

use crate::html::{one_table, page};
use crate::markdown::table as markdown_table;
use crate::sheet::sheet;
use crate::terminal::wrap;
use crate::xlsx::{Cell, Sheet};
use crate::{Style, foreign, table};
use flashscope_model::app::{AppRecord, AppRun, Spread};
use flashscope_view::app::{glance, notes, tables, title};
use flashscope_view::trace::plural;
use maud::html as markup;
use std::fmt::Write;

/// Columns of the names of the first glance.
const NAME: usize = 15;

/// The whole report for a terminal.
pub fn terminal(record: &AppRecord, style: Style) -> String {
    let mut text = format!("{}\n", title(record));
    for (name, said) in glance(record) {
        for (at, line) in wrap(&said, style.width.saturating_sub(NAME + 2)).iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            let _ = writeln!(text, "  {name:<NAME$}{line}");
        }
    }
    for shown in tables(record) {
        let _ = writeln!(text, "\n{}", shown.caption);
        table::lines(&shown, style.width).iter().for_each(|line| text.extend([line.as_str(), "\n"]));
    }
    if style.verbose {
        let _ = writeln!(text);
        for note in notes(record) {
            for (at, line) in wrap(&note, style.width.saturating_sub(4)).iter().enumerate() {
                let _ = writeln!(text, "  {}{line}", if at == 0 { "" } else { "  " });
            }
        }
    }
    foreign::page(&text).into_owned()
}

/// The same as Markdown.
pub fn markdown(record: &AppRecord) -> String {
    let escaped = foreign::markdown;
    let mut text = format!("# {}\n\n", escaped(&title(record)));
    text.extend(glance(record).iter().map(|(name, said)| format!("- {name}: {}\n", escaped(said))));
    for shown in tables(record) {
        let _ = write!(text, "\n## {}\n\n{}\n", escaped(&shown.caption), markdown_table(&shown));
    }
    text.push_str("\n## Notes\n\n");
    text.extend(notes(record).iter().map(|note| format!("- {}\n", escaped(note))));
    text
}

/// The same as one page that loads nothing.
pub fn html(record: &AppRecord) -> String {
    let title = title(record);
    let body = markup! {
        header {
            p.eyebrow { "flashscope " (record.envelope.command) }
            h1 { (title) }
            dl.facts {
                @for (name, said) in glance(record) { div { dt { (name) } dd { (said) } } }
                @if let Some(when) = record.envelope.when_and_where() { div { dt { "when and where" } dd { (when) } } }
            }
        }
        main {
            @for shown in tables(record) {
                section { h2 { (shown.caption) } div."card scroll" { (one_table(&shown)) } }
            }
            section { h2 { "What it rests on" } ul { @for note in notes(record) { li { (note) } } } }
        }
        footer { "flashscope " (record.envelope.tool.version) ". Every response time stands in the JSON record." }
    };
    page(&title, &body)
}

/// Run times, response times over all runs, every performance, and the settings.
pub fn sheets(record: &AppRecord) -> Vec<Sheet> {
    let spread = |time: Option<Spread>| {
        let nanos = |time: Option<flashscope_units::Nanos>| time.map(flashscope_units::Nanos::get).into();
        let interval = time.and_then(|time| time.interval);
        let cells: [Cell; 4] = [
            nanos(time.map(|time| time.mean)),
            nanos(time.and_then(|time| time.deviation)),
            nanos(interval.map(|(low, _)| low)),
            nanos(interval.map(|(_, high)| high)),
        ];
        cells
    };
    let apps = record.figures.iter().map(|figures| {
        let name = [figures.app.as_str().into(), figures.case.as_str().into(), u64::from(figures.place).into()];
        let shares = [figures.device_share.into(), figures.own_share.into()];
        let runs = [u64::from(figures.runs).into()];
        name.into_iter().chain(runs).chain(spread(figures.run_time)).chain(shares).collect()
    });
    let operations = record.figures.iter().flat_map(|figures| {
        figures.operations.iter().map(move |operation| {
            let name: [Cell; 3] =
                [figures.app.as_str().into(), u64::from(figures.place).into(), operation.name.as_str().into()];
            let figures: [Cell; 6] = [
                operation.min.get().into(),
                operation.median.get().into(),
                operation.p90.map(|time| time.get()).into(),
                operation.p99.map(|time| time.get()).into(),
                operation.max.get().into(),
                operation.per_second.into(),
            ];
            let count: [Cell; 1] = [operation.count.into()];
            name.into_iter().chain(count).chain(spread(Some(operation.time))).chain(figures).collect()
        })
    });
    let chunks = record.figures.iter().flat_map(|figures| {
        figures.chunks.iter().map(move |chunks| {
            vec![
                figures.app.as_str().into(),
                u64::from(figures.place).into(),
                plural(chunks.op).into(),
                chunks.class.label().into(),
                chunks.requests.into(),
                chunks.bytes.get().into(),
                chunks.iops.into(),
                chunks.rate.0.into(),
            ]
        })
    });
    let each = record.runs.iter().flat_map(performances);
    let device = record.runs.iter().map(|run| {
        let work = run.device.unwrap_or_default();
        let is_counted = run.device.is_some();
        let counted = |count: u64| if is_counted { count.into() } else { Cell::Empty };
        vec![
            run.app.as_str().into(),
            u64::from(run.place).into(),
            u64::from(run.number).into(),
            run.elapsed.get().into(),
            run.thinking.get().into(),
            run.own.get().into(),
            counted(work.busy.get()),
            counted(work.reads),
            counted(work.read.get()),
            counted(work.writes),
            counted(work.written.get()),
            work.flushes.into(),
        ]
    });
    let times = ["mean_ns", "deviation_ns", "mean_low_ns", "mean_high_ns"];
    let columns = |before: &[&'static str], after: &[&'static str]| [before, &times, after].concat();
    vec![
        sheet("apps", &columns(&["app", "case", "case_place", "runs"], &["device_ratio", "own_ratio"]), apps.collect()),
        sheet(
            "operations",
            &columns(
                &["app", "case_place", "operation", "count"],
                &["min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns", "operations_per_s"],
            ),
            operations.collect(),
        ),
        sheet(
            "runs",
            &[
                "app",
                "case_place",
                "run",
                "elapsed_ns",
                "think_time_ns",
                "own_time_ns",
                "device_busy_ns",
                "device_reads",
                "device_read_bytes",
                "device_writes",
                "device_written_bytes",
                "device_flushes",
            ],
            device.collect(),
        ),
        sheet(
            "requests by size",
            &["app", "case_place", "kind", "size", "requests", "bytes", "iops", "rate_bytes_per_s"],
            chunks.collect(),
        ),
        sheet("response times", &["app", "case_place", "run", "operation", "start_ns", "time_ns"], each.collect()),
    ]
}

fn performances(run: &AppRun) -> impl Iterator<Item = Vec<Cell>> + '_ {
    run.operations.iter().flat_map(move |operation| {
        operation.starts.iter().zip(&operation.times).map(move |(start, time)| {
            vec![
                run.app.as_str().into(),
                u64::from(run.place).into(),
                u64::from(run.number).into(),
                operation.name.as_str().into(),
                start.get().into(),
                time.get().into(),
            ]
        })
    })
}
