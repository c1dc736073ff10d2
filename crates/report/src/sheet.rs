//! Tables of plain numbers in the forms that tables have: CSV, Markdown, and sections of a page. (A spreadsheet is made in
//! [`crate::xlsx`].)

use crate::foreign::{csv_lines, markdown as escape};
use crate::html;
use crate::xlsx::{Cell, Sheet};
use maud::{Markup, html as markup};
use std::borrow::Cow;

/// Rows of a sheet that Markdown and a page show.
const ROWS: usize = 200;

/// A sheet of these headings and rows.
pub(crate) fn sheet(name: &str, headings: &[&str], rows: Vec<Vec<Cell>>) -> Sheet {
    Sheet::new(name, headings.iter().map(|heading| (*heading).to_owned()).collect(), rows)
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

/// Sheets as a page of their own that loads nothing.
pub fn page(command: &str, title: &str, sheets: &[Sheet]) -> String {
    let body = markup! {
        header { p.eyebrow { (command) } h1 { (title) } }
        main { (sections(sheets)) }
        footer { "flashscope " (env!("CARGO_PKG_VERSION")) }
    };
    html::page(title, &body)
}

/// Rows of a sheet that stand open on a page.
const OPEN: usize = 24;

/// Sheets as sections of an HTML page; long ones are folded.
pub(crate) fn sections(sheets: &[Sheet]) -> Markup {
    markup! {
        @for sheet in sheets {
            section {
                h2 { (sheet.name) }
                @if sheet.rows.len() > OPEN {
                    details { summary { (sheet.rows.len()) " rows" } (table(sheet)) }
                } @else { (table(sheet)) }
            }
        }
    }
}

fn table(sheet: &Sheet) -> Markup {
    let words = |cell: &Cell| matches!(cell, Cell::Text(_));
    let column = |at: usize| sheet.rows.iter().any(|row| row.get(at).is_some_and(words)).then_some("words");
    let long = |cell: &Cell| if shown(cell).len() > PROSE { "words prose" } else { "words" };
    markup! {
        div."card scroll" { table {
            thead { tr { @for (at, heading) in sheet.headings.iter().enumerate() { th class=[column(at)] { (heading) } } } }
            tbody { @for row in sheet.rows.iter().take(ROWS) {
                tr { @for cell in row { td class=[words(cell).then(|| long(cell))] { (shown(cell)) } } }
            } }
        } }
        @if sheet.rows.len() > ROWS {
            p.muted { (sheet.rows.len() - ROWS) " more rows; the record holds them all" }
        }
    }
}

/// Letters of a cell from which on it may wrap.
const PROSE: usize = 60;

fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Number(number) => number.to_string(),
        Cell::Text(text) => text.clone(),
    }
}
