//! A fit made readable: terminal text, Markdown, a page, and tables.

mod page;
mod summary;
mod text;

pub use page::html;
pub use summary::summary;
pub use text::{markdown, text};

use crate::sheet::sheet;
use crate::xlsx::Sheet;
use flashscope_model::envelope::is_temporary;
use flashscope_model::twin::{Cell, Origin, Outcome, TwinRecord, Unit};

/// Every figure beside the simulated one, the parameters, and what became of the findings; a sheet each.
pub fn sheets(twin: &TwinRecord) -> Vec<Sheet> {
    let cells = twin.goodness.cells.iter().map(|cell| {
        let unit = match cell.unit {
            Unit::Nanoseconds => "ns",
            Unit::BytesPerSecond => "bytes_per_s",
        };
        vec![
            cell.test.as_str().into(),
            cell.table.as_str().into(),
            (cell.run as u64 + 1).into(),
            cell.row.get().into(),
            cell.column.as_str().into(),
            unit.into(),
            cell.measured.into(),
            cell.simulated.into(),
            cell.requests.into(),
            cell.clause.as_str().into(),
        ]
    });
    let parameters = twin.parameters.iter().map(|parameter| {
        let origin = match parameter.origin {
            Origin::Found => "found",
            Origin::Fitted => "fitted",
            Origin::Default => "default",
        };
        [&parameter.path, &parameter.value, origin, &parameter.why].map(Into::into).into()
    });
    let findings = twin.findings.iter().map(|finding| {
        let outcome = match finding.outcome {
            Outcome::Held => "held",
            Outcome::NotHeld => "not held",
            Outcome::Unknown => "unknown",
        };
        vec![
            finding.name.as_str().into(),
            finding.figure.clone().into(),
            finding.confidence.into(),
            outcome.into(),
            finding.why.clone().into(),
        ]
    });
    vec![
        sheet("figures", &FIGURES, cells.collect()),
        sheet("parameters", &["path", "value", "origin", "why"], parameters.collect()),
        sheet("findings", &["finding", "figure", "confidence", "fate", "why"], findings.collect()),
    ]
}

/// What it is a twin of.
fn title(record: &TwinRecord) -> String {
    let names: Vec<&str> = record.sources.iter().map(|source| source_name(source)).collect();
    format!("Twin of {}", names.join(", "))
}

/// The name of a temporary file says nothing.
fn source_name(path: &str) -> &str {
    match path {
        "-" => "stdin",
        path if is_temporary(path) => "a temporary file",
        path => path,
    }
}

const FIGURES: [&str; 10] =
    ["test", "table", "run", "row_bytes", "column", "unit", "measured", "simulated", "requests", "clause"];

/// Figures that are farthest off, of which a summary shows some.
const WORST: usize = 5;
/// A difference in two figures near zero says nothing; the column of contrasts is not compared by share.
const CONTRAST: &str = "diff";

/// Figures by how far off they are, the farthest first.
fn worst(twin: &TwinRecord) -> Vec<&Cell> {
    let mut cells: Vec<&Cell> = twin.goodness.cells.iter().filter(|cell| cell.column != CONTRAST).collect();
    cells.sort_by(|a, b| b.error().abs().total_cmp(&a.error().abs()));
    // Rounds of one kind are alike, and their worst figures as well.
    cells.dedup_by(|a, b| (&a.test, a.row, &a.column, a.measured) == (&b.test, b.row, &b.column, b.measured));
    cells
}
