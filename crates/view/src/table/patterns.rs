//! The table of requests as applications mix them.

use super::{Cell, SUMMARY, Table, heads, summary_row, work};
use crate::time;
use flashscope_model::observation::{PatternTimes, PatternsData};
use flashscope_units::Nanos;

/// A row for each part of each pattern, and one for its flushes.
pub(super) fn patterns(data: &PatternsData) -> Table {
    let mut columns = heads(&["pattern", "requests", "block"]);
    columns.extend(heads(&SUMMARY));
    Table {
        caption: "reads, writes and flushes as applications mix them".to_owned(),
        columns,
        rows: data.patterns.iter().enumerate().flat_map(|(index, pattern)| rows(index as u64 + 1, pattern)).collect(),
    }
}

fn rows(number: u64, seen: &PatternTimes) -> Vec<Vec<Cell>> {
    let row = |what: String, block: Cell, times: &[Nanos]| {
        let mut row = vec![Cell::Count(number), Cell::Text(what), block];
        row.extend(summary_row(time::summary(times)?));
        Some(row)
    };
    let parts = seen.pattern.parts.iter().zip(&seen.times);
    let durable = if seen.pattern.durable { ", durable" } else { "" };
    let parts = parts.map(|(part, times)| {
        row(format!("{}{durable}", work(part.direction, part.order)), Cell::Size(part.block), times)
    });
    parts.chain([row("flush".to_owned(), Cell::Absent, &seen.flushes)]).flatten().collect()
}
