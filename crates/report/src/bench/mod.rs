//! The report of a run of load: terminal text, one self-contained page, CSV and a spreadsheet.

mod page;
mod sheets;
mod text;

pub use page::html;
pub use sheets::{csv, sheets};
pub use text::terminal;

use flashscope_model::bench::BenchRecord;

/// What a report is about, in one line.
fn title(record: &BenchRecord) -> String {
    let name = record.device.as_ref().map_or(record.target.as_str(), |device| device.name.as_str());
    match &record.preset {
        Some(preset) => format!("{}: {name}", preset.name),
        None => format!("load on {name}"),
    }
}
