//! Tables for a terminal.

use crate::foreign;
use crate::terminal::UNITS;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width};
use flashscope_view::Table;

/// More rows than this are cut, and the cut is said.
const ROWS: usize = 200;

/// A table as lines, each indented by two; columns come closer together, and then wrap, where `width` is too small. Where that
/// is not enough, it is told in parts, one below the other, each with the first column.
pub(crate) fn lines(table: &Table, width: usize) -> Vec<String> {
    let least = least_widths(table);
    // Two blanks before the first column, and one behind each.
    let room = width.saturating_sub(2 + least.first().map_or(0, |first| first + 1));
    let mut parts: Vec<(Vec<usize>, usize)> = Vec::new();
    for (at, least) in least.iter().enumerate().skip(1) {
        match parts.last_mut() {
            Some((columns, taken)) if *taken + least < room => {
                columns.push(at);
                *taken += least + 1;
            }
            _ => parts.push((vec![at], least + 1)),
        }
    }
    if parts.len() < 2 {
        return drawn(table, &least, width);
    }
    let part = |columns: &Vec<usize>| {
        let pick = || std::iter::once(0).chain(columns.iter().copied());
        let part = Table {
            caption: String::new(),
            columns: pick().map(|at| table.columns[at].clone()).collect(),
            rows: table.rows.iter().map(|row| pick().map(|at| row[at].clone()).collect()).collect(),
        };
        drawn(&part, &pick().map(|at| least[at]).collect::<Vec<_>>(), width)
    };
    parts.iter().flat_map(|(columns, _)| part(columns)).collect()
}

/// What must not be broken in each column: words, and a number with its unit.
fn least_widths(table: &Table) -> Vec<usize> {
    let longest =
        |text: &str| whole(&foreign::line(text)).split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
    let of_column = |at: usize| {
        let cells = table.rows.iter().take(ROWS).map(|row| longest(&row[at].to_string()));
        cells.chain([longest(&table.columns[at])]).max().unwrap_or(0)
    };
    (0..table.columns.len()).map(of_column).collect()
}

fn drawn(table: &Table, least: &[usize], width: usize) -> Vec<String> {
    let widest = |at: usize| {
        let cells = table.rows.iter().take(ROWS).map(|row| row[at].to_string().chars().count());
        cells.chain([table.columns[at].chars().count()]).max().unwrap_or(0)
    };
    let bare: usize = (0..table.columns.len()).map(widest).sum();
    let between = if bare + 2 * table.columns.len() + 1 < width { 1 } else { 0 };
    let shown = |text: &str| whole(&foreign::line(text));
    let mut drawn = comfy_table::Table::new();
    drawn.load_style(NOTHING);
    drawn.set_content_arrangement(ContentArrangement::Dynamic);
    drawn.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    drawn.set_header(table.columns.iter().map(|head| shown(head)).collect::<Vec<String>>());
    for row in table.rows.iter().take(ROWS) {
        drawn.add_row(row.iter().map(|cell| shown(&cell.to_string())).collect::<Vec<String>>());
    }
    for (at, column) in drawn.column_iter_mut().enumerate() {
        let left = if at == 0 { 2 } else { between };
        column.set_padding((left, 1));
        let least = u16::try_from(least[at]).unwrap_or(u16::MAX).saturating_add(left + 1);
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
        if !table.rows.iter().any(|row| row[at].is_text()) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut lines: Vec<String> = drawn.lines().map(|line| line.replace(NO_BREAK, " ").trim_end().to_owned()).collect();
    if table.rows.len() > ROWS {
        lines.push(format!("  … {} more rows; the record holds them all", table.rows.len() - ROWS));
    }
    lines
}

/// A blank at which no line ends.
const NO_BREAK: &str = "\u{a0}";

/// A text whose numbers stay with their units.
fn whole(text: &str) -> String {
    let mut joined = String::new();
    for (at, word) in text.split(' ').enumerate() {
        let is_unit = UNITS.contains(&word.trim_end_matches([',', ')', ';', ':', '.']));
        joined.push_str(if at == 0 {
            ""
        } else if is_unit {
            NO_BREAK
        } else {
            " "
        });
        joined.push_str(word);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_view::table::Cell;

    #[test]
    fn nothing_is_broken_within_a_word_or_before_a_unit() {
        let text = |text: &str| Cell::Text(text.to_owned());
        let table = Table {
            caption: String::new(),
            columns: ["figure", "before", "after", "verdict"].map(str::to_owned).into(),
            rows: vec![vec![
                text("sequential write of large blocks, the first gigabyte"),
                text("16.7 MB/s ± 8.5 %"),
                text("15.3 MB/s"),
                text("equivalent within margin"),
            ]],
        };
        let lines = lines(&table, 60);
        assert!(lines.iter().all(|line| line.chars().count() <= 60), "{lines:#?}");
        let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
        assert!(words.contains(&"equivalent") && words.contains(&"sequential"), "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains("8.5 %")), "{lines:#?}");
        assert!(!lines.iter().any(|line| line.contains(NO_BREAK)));
    }

    #[test]
    fn a_table_that_is_too_wide_is_told_in_parts() {
        let rate = |mib: u64| Cell::Text(format!("{mib}.0 MB/s"));
        let table = Table {
            caption: String::new(),
            columns: ["block", "zeros", "ones", "random"].map(str::to_owned).into(),
            rows: vec![vec![Cell::Text("2 MiB".to_owned()), rate(16), rate(17), rate(18)]],
        };
        let lines = lines(&table, 30);
        assert!(lines.iter().all(|line| line.chars().count() <= 30), "{lines:#?}");
        assert_eq!(lines.iter().filter(|line| line.contains("2 MiB")).count(), 2, "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains("18.0 MB/s")), "{lines:#?}");
    }
}
