//! The report of a run of load: terminal text, one self-contained page, CSV and a spreadsheet.

mod page;
mod sheets;
mod text;

pub use page::html;
pub use sheets::{csv, sheets};
pub use text::terminal;

use crate::foreign;
use crate::markdown::table;
use flashscope_model::bench::BenchRecord;
use flashscope_view::answer;
use flashscope_view::bench::{limits, preset_table, results, words};

/// What a report is about, in one line.
fn title(record: &BenchRecord) -> String {
    let name = record.envelope.subject();
    match &record.preset {
        Some(preset) => format!("{}: {name}", preset.name),
        None => format!("load on {name}"),
    }
}

/// The figures as Markdown: those of the preset, else a table per phase, and where the bytes of every run went.
pub fn markdown(record: &BenchRecord) -> String {
    let mut text = format!("# {}\n", foreign::markdown(&title(record)));
    if let Some(why) = answer::cut_short(&record.envelope.stop) {
        text.push_str(&format!("\n**Cut short**: {}\n", foreign::markdown(&why)));
    }
    if let Some(preset) = &record.preset {
        text.push_str(&format!("\n{}\n\n", foreign::markdown(&words::as_defined(preset))));
        text.push_str(&table(&preset_table(preset, record.envelope.virtual_time)));
        let limits = limits(preset);
        if !limits.rows.is_empty() {
            text.push_str(&format!("\n{}", table(&limits)));
        }
        return text;
    }
    for (number, phase) in (1..).zip(&record.phases).filter(|(_, phase)| !phase.runs.is_empty()) {
        text.push_str(&format!("\n## Phase {number}\n\n{}\n", table(&results(phase))));
        for (number, run) in (1..).zip(&phase.runs) {
            let evidence = &run.evidence;
            let whose = format!("run {number}: {}", words::cached(evidence));
            text.push_str(&format!("- {}\n", foreign::markdown(&whose)));
        }
    }
    text
}
