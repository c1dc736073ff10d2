//! Spreadsheets: tables of text and numbers as one XLSX file, a sheet per table.
//!
//! What stands in the cells is worked out elsewhere; nothing here calculates. The same tables give the same bytes: the
//! file says no time of its own.

use rust_xlsxwriter::{DocProperties, ExcelDateTime, Format, Workbook, XlsxError};

/// One sheet: a line of headings, and rows of as many cells below it (short rows are fine).
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// What stands on its tab. Characters that a spreadsheet refuses (`[]:*?/\`) become dashes, long names are cut, and
    /// a name that there already is gets a number.
    pub name: String,
    /// What stands above the columns, units last.
    pub headings: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing: the figure is absent.
    Empty,
    /// A text.
    Text(String),
    /// A number; one that is not finite leaves the cell empty.
    Number(f64),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Number(number)
    }
}

impl From<u64> for Cell {
    /// Spreadsheets hold 53 bits; anything longer loses its last digits there.
    fn from(number: u64) -> Cell {
        Cell::Number(number as f64)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Empty, Into::into)
    }
}

/// Why there is no spreadsheet: more rows or columns than one holds, or a text too long for a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkbookError(String);

impl std::fmt::Display for WorkbookError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no spreadsheet can hold this: {}", self.0)
    }
}

impl std::error::Error for WorkbookError {}

impl From<XlsxError> for WorkbookError {
    fn from(error: XlsxError) -> WorkbookError {
        WorkbookError(error.to_string())
    }
}

/// The bytes of an XLSX file with these sheets, the first one open; headings stay in view and can be filtered by.
///
/// # Errors
/// Beyond the limits of the format (1 048 576 rows, 16 384 columns, 32 767 characters in a cell).
pub fn workbook(sheets: &[Sheet]) -> Result<Vec<u8>, WorkbookError> {
    let mut book = Workbook::new();
    let moment = ExcelDateTime::from_ymd(2000, 1, 1)?;
    book.set_properties(&DocProperties::new().set_author("flashscope").set_creation_datetime(&moment));
    let heading = Format::new().set_bold().set_text_wrap();
    let mut names: Vec<String> = Vec::new();
    for sheet in sheets {
        let name = tab_name(&sheet.name, &names);
        let page = book.add_worksheet();
        page.set_name(&name)?;
        names.push(name);
        for (column, text) in sheet.headings.iter().enumerate() {
            page.write_with_format(0, column_number(column)?, text, &heading)?;
        }
        for (row, cells) in sheet.rows.iter().enumerate() {
            let row = u32::try_from(row + 1).map_err(|_| WorkbookError("too many rows".to_owned()))?;
            for (column, cell) in cells.iter().enumerate() {
                match cell {
                    Cell::Text(text) => page.write(row, column_number(column)?, text)?,
                    Cell::Number(number) if number.is_finite() => page.write(row, column_number(column)?, *number)?,
                    Cell::Empty | Cell::Number(_) => continue,
                };
            }
        }
        page.set_freeze_panes(1, 0)?;
        if let (Some(last), false) = (sheet.headings.len().checked_sub(1), sheet.rows.is_empty()) {
            page.autofilter(0, 0, sheet.rows.len() as u32, column_number(last)?)?;
        }
        page.autofit();
    }
    Ok(book.save_to_buffer()?)
}

fn column_number(column: usize) -> Result<u16, WorkbookError> {
    u16::try_from(column).map_err(|_| WorkbookError("too many columns".to_owned()))
}

/// Longest name of a tab.
const LONGEST_NAME: usize = 31;

fn tab_name(wanted: &str, taken: &[String]) -> String {
    let clean: String = wanted.chars().map(|c| if "[]:*?/\\".contains(c) { '-' } else { c }).collect();
    let clean = clean.trim_matches('\'').trim();
    let clean = if clean.is_empty() { "sheet" } else { clean };
    let cut = |most: usize| clean.chars().take(most).collect::<String>();
    let free = |name: &String| taken.iter().all(|other| !other.eq_ignore_ascii_case(name));
    let first = cut(LONGEST_NAME);
    if free(&first) {
        return first;
    }
    (2..).map(|number| format!("{} {number}", cut(LONGEST_NAME - 6))).find(free).unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(name: &str) -> Sheet {
        Sheet {
            name: name.to_owned(),
            headings: vec!["job".into(), "rate_bytes_per_s".into()],
            rows: vec![vec!["a".into(), 1.5.into()], vec!["b".into(), None::<f64>.into()], vec![f64::NAN.into()]],
        }
    }

    #[test]
    fn the_same_tables_give_the_same_zip() {
        let sheets = [sheet("one"), sheet("a/b: c*d?")];
        let bytes = workbook(&sheets).unwrap();
        assert_eq!(&bytes[..4], b"PK\x03\x04");
        assert_eq!(bytes, workbook(&sheets).unwrap());
        assert_ne!(bytes, workbook(&sheets[..1]).unwrap());
    }

    #[test]
    fn tabs_get_names_that_are_allowed_and_differ() {
        let taken = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(tab_name("4 KiB / 1 file: [x]", &[]), "4 KiB - 1 file- -x-");
        assert_eq!(tab_name("", &[]), "sheet");
        assert_eq!(tab_name("Read", &taken(&["read"])), "Read 2");
        assert_eq!(tab_name("Read", &taken(&["read", "Read 2"])), "Read 3");
        assert_eq!(tab_name(&"ß".repeat(40), &[]).chars().count(), 31);
        assert_eq!(tab_name(&"x".repeat(40), &taken(&[&"x".repeat(31)])).chars().count(), 27);
        assert!(workbook(&[sheet("same"), sheet("same"), sheet("'quoted'")]).is_ok());
    }
}
