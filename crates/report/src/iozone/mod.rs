//! A run of iozone's tests made readable: iozone's own tables and report, a spreadsheet, CSV, and a page with surfaces.

mod page;
mod text;

pub use page::page;
pub use text::{report, text};

use crate::foreign::csv_lines;
use crate::xlsx::{Cell, Curve, Heat, Lines, Sheet};
use flashscope_model::iozone::{Figure, IozoneRecord, Pass};
use flashscope_units::Bytes;
use flashscope_view::iozone::{cell_scale, kib, title, unit_words, value, whose, whose_word};
use std::borrow::Cow;

/// One sheet per figure, file sizes down and record sizes across, and one with every pass.
pub fn sheets(record: &IozoneRecord) -> Vec<Sheet> {
    let measured = |figure: &&Figure| record.passes.iter().any(|pass| pass.figure == **figure);
    let mut sheets: Vec<Sheet> = record.figures.iter().filter(measured).map(|figure| sheet(record, *figure)).collect();
    sheets.push(all_passes(record));
    sheets
}

fn sheet(record: &IozoneRecord, figure: Figure) -> Sheet {
    let found = record.regions.iter().find(|regions| regions.figure == figure);
    let word = |file: Bytes| {
        let known = found.and_then(|found| found.sizes.iter().find(|(size, _)| *size == file));
        known.map(|(_, whose)| whose_word(*whose).to_owned())
    };
    let unit = unit_words(record.unit).0;
    let mut headings = vec![format!("file KiB \\ record KiB ({unit})")];
    headings.extend(record.records.iter().map(|size| kib(*size).to_string()));
    headings.push("whose speed".to_owned());
    let row = |file: Bytes| {
        let cell = |size: &Bytes| found_pass(record, figure, file, *size).and_then(|pass| value(pass, record.unit));
        let mut cells = vec![Cell::from(kib(file))];
        cells.extend(record.records.iter().map(|size| Cell::from(cell(size))));
        cells.push(Cell::from(word(file)));
        cells
    };
    let rows: Vec<Vec<Cell>> = files(record).into_iter().map(row).collect();
    // No spreadsheet library for Rust writes a surface chart: a line per record size shows the same figures, and the cells
    // are coloured as the page's heat map is.
    let curve = |(at, size): (usize, &Bytes)| Curve {
        name: format!("records of {size}"),
        column: at + 1,
        rows: (0, rows.len().saturating_sub(1)),
    };
    let lines = (rows.len() > 1).then(|| Lines {
        title: title(figure),
        x: (0, "file size, KiB".to_owned()),
        y: unit.to_owned(),
        logarithmic: true,
        curves: record.records.iter().enumerate().map(curve).collect(),
    });
    let heat = cell_scale(record, record.unit).map(|scale| Heat { columns: (1, record.records.len()), scale });
    Sheet { lines, heat, ..Sheet::new(title(figure), headings, rows) }
}

fn all_passes(record: &IozoneRecord) -> Sheet {
    let row = |pass: &Pass| {
        vec![
            pass.figure.word().into(),
            pass.file.get().into(),
            pass.record.get().into(),
            pass.records.into(),
            pass.moved.get().into(),
            pass.elapsed.get().into(),
            pass.rate().map(|rate| rate.get()).into(),
            whose_word(whose(pass.evidence.verdict)).into(),
            pass.evidence.device_share.into(),
            pass.mismatched.into(),
            pass.failure.as_ref().map(|failure| failure.reason.clone()).into(),
        ]
    };
    let headings = COLUMNS.iter().map(|name| (*name).to_owned()).collect();
    Sheet::new("all passes", headings, record.passes.iter().map(row).collect())
}

const COLUMNS: [&str; 11] = [
    "figure",
    "file_bytes",
    "record_bytes",
    "records",
    "moved_bytes",
    "elapsed_ns",
    "rate_bytes_per_s",
    "whose",
    "device_share_ratio",
    "mismatched_count",
    "failure",
];

/// Every pass as a line; what is absent is empty.
pub fn csv(record: &IozoneRecord) -> String {
    let pass = |pass: &Pass| -> Vec<Cow<'static, str>> {
        let rate = pass.rate().map_or_else(String::new, |rate| format!("{:.1}", rate.get()));
        let share = pass.evidence.device_share.map_or_else(String::new, |share| format!("{share:.4}"));
        let failure = pass.failure.as_ref().map_or_else(String::new, |failure| failure.reason.clone());
        vec![
            pass.figure.word().into(),
            pass.file.get().to_string().into(),
            pass.record.get().to_string().into(),
            pass.records.to_string().into(),
            pass.moved.get().to_string().into(),
            pass.elapsed.get().to_string().into(),
            rate.into(),
            whose_word(whose(pass.evidence.verdict)).into(),
            share.into(),
            pass.mismatched.to_string().into(),
            failure.into(),
        ]
    };
    let headings = COLUMNS.iter().map(|heading| Cow::Borrowed(*heading)).collect();
    csv_lines(std::iter::once(headings).chain(record.passes.iter().map(pass)))
}

/// File sizes in the order in which they were measured.
fn files(record: &IozoneRecord) -> Vec<Bytes> {
    let mut files: Vec<Bytes> = Vec::new();
    for pass in &record.passes {
        if !files.contains(&pass.file) {
            files.push(pass.file);
        }
    }
    files
}

fn found_pass(record: &IozoneRecord, figure: Figure, file: Bytes, size: Bytes) -> Option<&Pass> {
    record.passes.iter().find(|pass| pass.figure == figure && pass.file == file && pass.record == size)
}
