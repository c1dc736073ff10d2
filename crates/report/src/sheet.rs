//! Tables of plain numbers in the forms that tables have: CSV, Markdown, and sections of a page. (A spreadsheet is made in
//! [`crate::xlsx`].)

use crate::foreign::{csv_lines, markdown as escape};
use crate::xlsx::{Cell, Sheet};
use maud::{Markup, html as markup};
use std::borrow::Cow;

/// Rows of a sheet that Markdown and a page show.
const ROWS: usize = 200;

/// A sheet of these headings and rows.
pub(crate) fn sheet(name: &str, headings: &[&str], rows: Vec<Vec<Cell>>) -> Sheet {
    Sheet { name: name.to_owned(), headings: headings.iter().map(|heading| (*heading).to_owned()).collect(), rows }
}

/// One sheet as CSV: numbers in the unit of their column, absent figures empty.
pub fn csv(sheet: &Sheet) -> String {
    let headings: Vec<Cow<'_, str>> = sheet.headings.iter().map(|heading| heading.as_str().into()).collect();
    csv_lines(
        std::iter::once(headings)
            .chain(sheet.rows.iter().map(|row| row.iter().map(|cell| shown(cell).into()).collect())),
    )
}

/// Sheets as sections of a Markdown page below a title.
pub fn markdown(title: &str, sheets: &[Sheet]) -> String {
    let mut text = format!("# {}\n", escape(title));
    for sheet in sheets {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        text.push_str(&format!("\n## {}\n\n", escape(&sheet.name)));
        text.push_str(&line(sheet.headings.iter().map(|heading| escape(heading)).collect()));
        text.push_str(&line(sheet.headings.iter().map(|_| "---".to_owned()).collect()));
        let rows = sheet.rows.iter().take(ROWS);
        text.extend(rows.map(|row| line(row.iter().map(|cell| escape(&shown(cell))).collect())));
        if sheet.rows.len() > ROWS {
            text.push_str(&format!("\n{} more rows; the record holds them all\n", sheet.rows.len() - ROWS));
        }
    }
    text
}

/// Sheets as sections of an HTML page.
pub(crate) fn sections(sheets: &[Sheet]) -> Markup {
    markup! {
        @for sheet in sheets {
            section {
                h2 { (sheet.name) }
                div."card scroll" { table {
                    thead { tr { @for heading in &sheet.headings { th { (heading) } } } }
                    tbody { @for row in sheet.rows.iter().take(ROWS) {
                        tr { @for cell in row { td class=[matches!(cell, Cell::Text(_)).then_some("words")] { (shown(cell)) } } }
                    } }
                } }
                @if sheet.rows.len() > ROWS {
                    p.muted { (sheet.rows.len() - ROWS) " more rows; the record holds them all" }
                }
            }
        }
    }
}

fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Number(number) => number.to_string(),
        Cell::Text(text) => text.clone(),
    }
}
