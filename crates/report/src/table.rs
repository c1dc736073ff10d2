//! Tables for a terminal.

use crate::foreign;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement};
use flashscope_view::Table;

/// More rows than this are cut, and the cut is said.
const ROWS: usize = 200;

/// A table as lines, each indented by two; columns come closer together, and then wrap, where `width` is too small.
pub(crate) fn lines(table: &Table, width: usize) -> Vec<String> {
    let widest = |at: usize| {
        let cells = table.rows.iter().take(ROWS).map(|row| row[at].to_string().chars().count());
        cells.chain([table.columns[at].chars().count()]).max().unwrap_or(0)
    };
    let bare: usize = (0..table.columns.len()).map(widest).sum();
    let between = if bare + 2 * table.columns.len() + 1 < width { 1 } else { 0 };
    let mut drawn = comfy_table::Table::new();
    drawn.load_style(NOTHING);
    drawn.set_content_arrangement(ContentArrangement::Dynamic);
    drawn.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    drawn.set_header(table.columns.iter().map(|head| foreign::line(head).into_owned()).collect::<Vec<String>>());
    for row in table.rows.iter().take(ROWS) {
        drawn.add_row(row.iter().map(|cell| foreign::line(&cell.to_string()).into_owned()).collect::<Vec<String>>());
    }
    for (at, column) in drawn.column_iter_mut().enumerate() {
        column.set_padding((if at == 0 { 2 } else { between }, 1));
        if !table.rows.iter().any(|row| row[at].is_text()) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut lines: Vec<String> = drawn.lines().map(|line| line.trim_end().to_owned()).collect();
    if table.rows.len() > ROWS {
        lines.push(format!("  … {} more rows; the record holds them all", table.rows.len() - ROWS));
    }
    lines
}
