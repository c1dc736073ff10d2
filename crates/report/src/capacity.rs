//! A test of the capacity made readable: the verdict first, then what was written where and what came back.

use crate::html::{one_table, page};
use crate::markdown::table as markdown_table;
use crate::sheet::{self, sheet};
use crate::terminal::wrap;
use crate::xlsx::{Cell, Sheet};
use crate::{Style, foreign, table};
use flashscope_model::capacity::{self, CapacityRecord, Found, Full, Place, Quick};
use flashscope_units::Nanos;
use flashscope_view::capacity::{cut_short, glance, headline, sections, tables, title, word};
use maud::html as markup;
use std::fmt::Write;

/// Columns of the names of the first glance.
const NAME: usize = 20;
/// Sentences of evidence that are shown unless all of it is asked for.
const SENTENCES: usize = 3;

/// The whole report for a terminal.
pub fn terminal(record: &CapacityRecord, style: Style) -> String {
    let mut text = format!("{}\n", title(record));
    let mut hanging = |name: &str, said: &str| {
        for (at, line) in wrap(said, style.width.saturating_sub(NAME + 2)).iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            let _ = writeln!(text, "  {name:<NAME$}{line}");
        }
    };
    hanging("verdict", &headline(record));
    if let Some(why) = cut_short(record) {
        hanging("cut short", &why);
    }
    glance(record).iter().for_each(|line| hanging(line.name, &line.text));
    for (name, said) in sections(record) {
        let _ = writeln!(text, "\n{name}");
        let shown = if style.verbose || name != "Evidence" { said.len() } else { SENTENCES };
        for sentence in said.iter().take(shown) {
            for (at, line) in wrap(sentence, style.width.saturating_sub(4)).iter().enumerate() {
                let _ = writeln!(text, "  {}{line}", if at == 0 { "" } else { "  " });
            }
        }
        if said.len() > shown {
            let _ = writeln!(text, "  {} more lines: --verbose shows them", said.len() - shown);
        }
    }
    if style.verbose {
        for shown in tables(record) {
            let _ = writeln!(text, "\n{}", shown.caption);
            table::lines(&shown, style.width).iter().for_each(|line| text.extend([line.as_str(), "\n"]));
        }
    }
    foreign::page(&text).into_owned()
}

/// The same as Markdown.
pub fn markdown(record: &CapacityRecord) -> String {
    let escaped = foreign::markdown;
    let mut text = format!("# {}\n\n**{}**\n\n", escaped(&title(record)), escaped(&headline(record)));
    if let Some(why) = cut_short(record) {
        let _ = writeln!(text, "- **Cut short**: {}", escaped(&why));
    }
    text.extend(glance(record).iter().map(|line| format!("- {}: {}\n", line.name, escaped(&line.text))));
    for (name, said) in sections(record) {
        let _ = write!(text, "\n## {name}\n\n");
        text.extend(said.iter().map(|sentence| format!("- {}\n", escaped(sentence))));
    }
    for shown in tables(record) {
        let _ = write!(text, "\n## {}\n\n{}\n", escaped(&shown.caption), markdown_table(&shown));
    }
    text
}

/// The same as one page that loads nothing.
pub fn html(record: &CapacityRecord) -> String {
    let title = title(record);
    let body = markup! {
        header {
            p.eyebrow { "flashscope " (record.envelope.command) }
            h1 { (title) }
            p.callout { @if record.is_bad() { strong { (headline(record)) } } @else { (headline(record)) } }
            dl.facts {
                @for line in glance(record) { div { dt { (line.name) } dd { (line.text) } } }
                @if let Some(when) = record.envelope.when_and_where() { div { dt { "when and where" } dd { (when) } } }
            }
            @if let Some(why) = cut_short(record) { p.callout { strong { "Cut short" } ": " (why) } }
        }
        main {
            @for (name, said) in sections(record) {
                section { h2 { (name) } ul { @for sentence in said { li { (sentence) } } } }
            }
            @for shown in tables(record) {
                section { h2 { (shown.caption) } div."card scroll" { (one_table(&shown)) } }
            }
        }
        footer { "flashscope " (record.envelope.tool.version) ". Every place stands in the JSON record." }
    };
    page(&title, &body)
}

/// Every place that was read, every part and every stretch that is not as written, and the verdict.
pub fn sheets(record: &CapacityRecord) -> Vec<Sheet> {
    let verdict = &record.verdict;
    let likely = verdict.likely.iter().map(|(kind, share)| {
        let claimed = u64::from(verdict.kind == Some(*kind));
        vec![kind.word().into(), (*share).into(), claimed.into()]
    });
    let quick = record.quick.iter().map(places);
    let full = record.full.iter().flat_map(|full| [parts(full), stretches(full)]);
    let verdict = sheet("verdict", &["kind", "probability", "claimed"], likely.collect());
    quick.chain(full).chain([verdict]).collect()
}

fn places(quick: &Quick) -> Sheet {
    let rounds = quick.rounds.iter().zip(1_u64..).flat_map(|(round, number)| of("round", number, &round.places));
    let places = of("first", 0, &quick.places).chain(of("check", 0, &quick.checks)).chain(rounds).collect();
    sheet("places", &["pass", "round", "address_bytes", "found", "from_bytes"], places)
}

fn parts(full: &Full) -> Sheet {
    let row = |cell: &capacity::Cell| {
        let time = |time: Option<Nanos>| time.map_or(Cell::Empty, |time| time.get().into());
        let (write, read) = (time(cell.write_time), time(cell.read_time));
        vec![cell.at.get().into(), cell.length.get().into(), write, read, cell.bad.get().into()]
    };
    let columns = ["address_bytes", "length_bytes", "write_time_ns", "read_time_ns", "bad_bytes"];
    sheet("speed", &columns, full.cells.iter().map(row).collect())
}

fn stretches(full: &Full) -> Sheet {
    let row = |run: &capacity::Run| {
        let from = from(run.found);
        vec![run.at.get().into(), run.length.get().into(), word(run.found).into(), from]
    };
    sheet("bad", &["address_bytes", "length_bytes", "found", "from_bytes"], full.bad.iter().map(row).collect())
}

fn of<'a>(pass: &'static str, number: u64, places: &'a [Place]) -> impl Iterator<Item = Vec<Cell>> + 'a {
    places.iter().map(move |place| {
        vec![pass.into(), number.into(), place.at.get().into(), word(place.found).into(), from(place.found)]
    })
}

/// The address that it was written to, where that was another.
fn from(found: Found) -> Cell {
    match found {
        Found::Elsewhere(from) => from.get().into(),
        _ => Cell::Empty,
    }
}

/// Every place as CSV; of a full test every part.
pub fn csv(record: &CapacityRecord) -> String {
    sheets(record).first().map(sheet::csv).unwrap_or_default()
}
