//! What survives power cuts, made readable: terminal text, Markdown, a page, and tables. Passes until a device wears
//! out are told by `endurance.rs`.

mod endurance;

use crate::html::{one_table, page};
use crate::markdown::table as markdown_table;
use crate::sheet::{self, sheet};
use crate::terminal::wrap;
use crate::xlsx::Sheet;
use crate::{Style, foreign, table};
use flashscope_model::integrity::{IntegrityRecord, Under};
use flashscope_view::Table;
use flashscope_view::answer::cut_short;
use flashscope_view::integrity::{answer, broken, faults, losses, moments, notes, replay, requests, title};
use maud::html as markup;
use std::fmt::Write;

/// The whole report for a terminal, the verdict first.
pub fn terminal(record: &IntegrityRecord, style: Style) -> String {
    if let Some(endurance) = &record.endurance {
        return endurance::terminal(record, endurance, style);
    }
    let mut text = String::new();
    let mut say = |line: &str, indent: &str| {
        for (at, part) in wrap(line, style.width.saturating_sub(4)).iter().enumerate() {
            let _ = writeln!(text, "{indent}{}{part}", if at == 0 { "" } else { "  " });
        }
    };
    say(&format!("{}: {}", title(record), answer(record)), "");
    if let Some(why) = record.verdict.ended.clone().or(cut_short(&record.envelope.stop)) {
        say(&format!("cut short: {why}"), "  ");
    }
    for table in all_tables(record) {
        let _ = writeln!(text, "\n{}", table.caption);
        for line in table::lines(&table, style.width) {
            let _ = writeln!(text, "{line}");
        }
    }
    let _ = writeln!(text);
    for note in notes(record).into_iter().chain(replay(record).map(|command| format!("again: {command}"))) {
        for (at, part) in wrap(&note, style.width.saturating_sub(4)).iter().enumerate() {
            let _ = writeln!(text, "{}{part}", if at == 0 { "  " } else { "    " });
        }
    }
    foreign::page(&text).into_owned()
}

fn all_tables(record: &IntegrityRecord) -> Vec<Table> {
    let cuts = (record.cuts.len() > 1).then(|| moments(record));
    [losses(record), faults(record), broken(record), cuts, requests(record)].into_iter().flatten().collect()
}

/// The same as Markdown.
pub fn markdown(record: &IntegrityRecord) -> String {
    if let Some(endurance) = &record.endurance {
        return endurance::markdown(record, endurance);
    }
    let escaped = foreign::markdown;
    let mut text = format!("# {}\n\n{}\n", escaped(&title(record)), escaped(&answer(record)));
    if let Some(why) = &record.verdict.ended {
        let _ = write!(text, "\n**Cut short**: {}\n", escaped(why));
    }
    for table in all_tables(record) {
        let _ = write!(text, "\n## {}\n\n{}\n", escaped(&table.caption), markdown_table(&table));
    }
    text.push_str("\n## Notes\n\n");
    text.extend(notes(record).iter().chain(&replay(record)).map(|line| format!("- {}\n", escaped(line))));
    text
}

/// The whole run as a page that loads nothing.
pub fn html(record: &IntegrityRecord) -> String {
    if let Some(endurance) = &record.endurance {
        return endurance::html(record, endurance);
    }
    let (title, envelope) = (title(record), &record.envelope);
    let body = markup! {
        header {
            p.eyebrow { "flashscope " (envelope.command) }
            h1 { (title) }
            p { (answer(record)) }
            @if let Some(when) = envelope.when_and_where() { dl.facts { div { dt { "when and where" } dd { (when) } } } }
            @if let Some(why) = &record.verdict.ended { p.callout { strong { "Cut short" } ": " (why) } }
        }
        main {
            @for table in all_tables(record) {
                section { h2 { (table.caption) } div."card scroll" { (one_table(&table)) } }
            }
            section {
                h2 { "What it rests on" }
                ul { @for note in notes(record) { li { (note) } } }
                @if let Some(command) = replay(record) { p { "Again: " code { (command) } } }
            }
            (sheet::sections(&sheets(record)))
        }
        footer { "flashscope " (envelope.tool.version) ". Every cut stands in the JSON record." }
    };
    page(&title, &body)
}

/// Every cut; what was found; every violation that was kept.
pub fn sheets(record: &IntegrityRecord) -> Vec<Sheet> {
    if let Some(endurance) = &record.endurance {
        return endurance::sheets(endurance);
    }
    let cuts = record.cuts.iter().map(|cut| {
        vec![
            u64::from(cut.number).into(),
            cut.moment.label().into(),
            cut.at.get().into(),
            u64::from(cut.writes).into(),
            u64::from(cut.flushes).into(),
            cut.dropped.get().into(),
            cut.recovery.map(|time| time.get()).into(),
            u64::from(cut.found).into(),
        ]
    });
    let found = record.verdict.faults.iter().chain(&record.verdict.suspicions).map(|fault| {
        vec![
            fault.kind.word().into(),
            fault.confidence.into(),
            u64::from(fault.cuts).into(),
            u64::from(fault.first).into(),
            fault.place.map(|place| place.get()).into(),
            fault.evidence.as_str().into(),
        ]
    });
    let violations = record.cuts.iter().flat_map(|cut| {
        cut.violations.iter().map(|one| {
            vec![
                u64::from(cut.number).into(),
                one.kind.word().into(),
                one.at.get().into(),
                one.length.get().into(),
                one.what.as_str().into(),
            ]
        })
    });
    let mut sheets = vec![
        sheet("cuts", &CUTS, cuts.collect()),
        sheet("faults", &["kind", "confidence", "cuts", "first_cut", "place_bytes", "evidence"], found.collect()),
        sheet("violations", &["cut", "kind", "at_bytes", "length_bytes", "what"], violations.collect()),
    ];
    sheets.extend(record.under.iter().flat_map(above));
    sheets
}

/// Every cut as seen from above, and what was lost.
fn above(under: &Under) -> [Sheet; 2] {
    let cuts = under.cuts.iter().map(|cut| {
        vec![
            u64::from(cut.number).into(),
            u64::from(cut.acknowledged).into(),
            cut.under_way.as_deref().into(),
            cut.mounted_after.map(|time| time.get()).into(),
            u64::from(cut.device_broke).into(),
            u64::from(cut.found).into(),
        ]
    });
    let losses = under.cuts.iter().flat_map(|cut| {
        cut.losses.iter().map(|loss| {
            let (name, what) = (loss.name.as_str(), loss.what.as_str());
            vec![u64::from(cut.number).into(), loss.kind.label().into(), name.into(), what.into()]
        })
    });
    [sheet("above", &ABOVE, cuts.collect()), sheet("losses", &["cut", "kind", "name", "what"], losses.collect())]
}

const ABOVE: [&str; 6] = ["cut", "acknowledged_steps", "under_way", "mounted_after_ns", "device_broke", "losses"];
const CUTS: [&str; 8] = ["cut", "moment", "at_ns", "writes", "flushes", "dropped_bytes", "recovery_ns", "violations"];
