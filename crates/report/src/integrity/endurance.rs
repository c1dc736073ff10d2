//! Passes over a whole device, made readable: the verdict first, then milestones and passes.

use crate::html::plots::{Figure, figure, rule, sections};
use crate::html::{one_table, page};
use crate::markdown::table as markdown_table;
use crate::plot::{self, Hue};
use crate::sheet::{self, sheet};
use crate::terminal::wrap;
use crate::xlsx::Sheet;
use crate::{Style, foreign, table};
use flashscope_model::endurance::{Endurance, Pass};
use flashscope_model::integrity::IntegrityRecord;
use flashscope_units::Bytes;
use flashscope_view::endurance::{bad_by_pass, glance, headline, milestones, notes, passes, rates_by_pass};
use maud::html as markup;
use std::fmt::Write;

/// Columns of the names of the first glance.
const NAME: usize = 14;

fn title(record: &IntegrityRecord) -> String {
    format!("Endurance of {}", record.envelope.subject())
}

/// The whole report for a terminal.
pub(super) fn terminal(record: &IntegrityRecord, endurance: &Endurance, style: Style) -> String {
    let mut text = String::new();
    for (at, line) in
        wrap(&format!("{}: {}", title(record), headline(endurance)), style.width.saturating_sub(2)).iter().enumerate()
    {
        let _ = writeln!(text, "{}{line}", if at == 0 { "" } else { "  " });
    }
    for line in glance(endurance) {
        for (at, said) in wrap(&line.text, style.width.saturating_sub(NAME + 2)).iter().enumerate() {
            let _ = writeln!(text, "  {:<NAME$}{said}", if at == 0 { line.name } else { "" });
        }
    }
    for shown in milestones(endurance).into_iter().chain(passes(endurance, style.verbose)) {
        let _ = writeln!(text, "\n{}", shown.caption);
        table::lines(&shown, style.width).iter().for_each(|line| text.extend([line.as_str(), "\n"]));
    }
    text.push('\n');
    for note in notes(endurance) {
        for (at, part) in wrap(&note, style.width.saturating_sub(4)).iter().enumerate() {
            let _ = writeln!(text, "{}{part}", if at == 0 { "  " } else { "    " });
        }
    }
    foreign::page(&text).into_owned()
}

/// The same as Markdown.
pub(super) fn markdown(record: &IntegrityRecord, endurance: &Endurance) -> String {
    let escaped = foreign::markdown;
    let mut text = format!("# {}\n\n**{}**\n\n", escaped(&title(record)), escaped(&headline(endurance)));
    text.extend(glance(endurance).iter().map(|line| format!("- {}: {}\n", line.name, escaped(&line.text))));
    for shown in milestones(endurance).into_iter().chain(passes(endurance, true)) {
        let _ = write!(text, "\n## {}\n\n{}\n", escaped(&shown.caption), markdown_table(&shown));
    }
    text.push_str("\n## Notes\n\n");
    text.extend(notes(endurance).iter().map(|line| format!("- {}\n", escaped(line))));
    text
}

/// The same as a page that loads nothing.
pub(super) fn html(record: &IntegrityRecord, endurance: &Endurance) -> String {
    let (title, envelope) = (title(record), &record.envelope);
    let body = markup! {
        header {
            p.eyebrow { "flashscope " (envelope.command) }
            h1 { (title) }
            p.callout { @if endurance.is_broken() { strong { (headline(endurance)) } } @else { (headline(endurance)) } }
            dl.facts {
                @for line in glance(endurance) { div { dt { (line.name) } dd { (line.text) } } }
                @if let Some(when) = envelope.when_and_where() { div { dt { "when and where" } dd { (when) } } }
            }
        }
        main {
            (sections(vec![("Passes", plots(endurance))]))
            @for shown in milestones(endurance).into_iter().chain(passes(endurance, false)) {
                section { h2 { (shown.caption) } div."card scroll" { (one_table(&shown)) } }
            }
            section { h2 { "What it rests on" } ul { @for note in notes(endurance) { li { (note) } } } }
            (sheet::sections(&sheets(endurance)))
        }
        footer { "flashscope " (envelope.tool.version) ". Every pass stands in the JSON record." }
    };
    page(&title, &body)
}

fn plots(endurance: &Endurance) -> Vec<Figure> {
    let (rates, bad) = (rates_by_pass(endurance), bad_by_pass(endurance));
    let keys = vec![rule(Hue::Series(0), "written"), rule(Hue::Series(1), "read")];
    let mut plots = vec![figure(
        "Rate by pass".to_owned(),
        "Bytes per second over the whole device, pass by pass.".to_owned(),
        keys,
        |size| plot::rates_by_pass(&rates, size),
    )];
    if bad.iter().any(|point| point.1 > 0.0) {
        let what = "Share of the device that a pass could not write, could not read, or found changed.".to_owned();
        plots.push(figure("Bad sectors by pass".to_owned(), what, Vec::new(), |size| plot::bad_by_pass(&bad, size)));
    }
    plots
}

/// Every pass, and the milestones.
pub(super) fn sheets(endurance: &Endurance) -> Vec<Sheet> {
    let reached = endurance.milestones.iter().map(|reached| {
        vec![
            reached.milestone.word().into(),
            u64::from(reached.pass).into(),
            reached.written.get().into(),
            reached.capacity_writes.into(),
        ]
    });
    let headings = ["milestone", "pass", "written_bytes", "capacity_writes"];
    vec![
        sheet("passes", &PASSES, endurance.passes.iter().map(pass).collect()),
        sheet("milestones", &headings, reached.collect()),
    ]
}

const PASSES: [&str; 18] = [
    "pass",
    "whole",
    "written_bytes",
    "read_bytes",
    "write_rate_bytes_per_s",
    "read_rate_bytes_per_s",
    "kept_bytes",
    "changed_bytes",
    "elsewhere_bytes",
    "unwritten_bytes",
    "unreadable_bytes",
    "first_bad_bytes",
    "life_time_a",
    "life_time_b",
    "pre_end_of_life",
    "used_percent",
    "spare_percent",
    "register_written_bytes",
];

fn pass(pass: &Pass) -> Vec<crate::xlsx::Cell> {
    let health = pass.registers.unwrap_or_default();
    let register = |register: Option<u8>| register.map(u64::from).into();
    vec![
        u64::from(pass.number).into(),
        u64::from(pass.whole).into(),
        pass.written.get().into(),
        pass.read.get().into(),
        pass.write_rate().map(|rate| rate.get()).into(),
        pass.read_rate().map(|rate| rate.get()).into(),
        pass.totals.kept.get().into(),
        pass.totals.changed.get().into(),
        pass.totals.elsewhere.get().into(),
        pass.totals.unwritten.get().into(),
        pass.totals.unreadable.get().into(),
        pass.first_bad.map(Bytes::get).into(),
        register(health.life_time_a),
        register(health.life_time_b),
        register(health.pre_end_of_life),
        register(health.used_percent),
        register(health.spare_percent),
        health.written.map(Bytes::get).into(),
    ]
}
