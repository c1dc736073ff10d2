//! Spreadsheets: tables of text and numbers as one XLSX file, a sheet per table.
//!
//! What stands in the cells is worked out elsewhere; nothing here calculates. A cell keeps the number in the unit of its
//! column; how it is shown (`12.3 µs` for 12 345 in a column `…_ns`) is its format. The same tables give the same bytes: the
//! file says no time of its own.

mod chart;

pub use chart::{Curve, Lines};

use rust_xlsxwriter::{
    Color, ConditionalFormat3ColorScale, ConditionalFormatText, ConditionalFormatTextRule, ConditionalFormatType,
    DocProperties, ExcelDateTime, Format, Workbook, Worksheet, XlsxError,
};

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
    /// A chart of some of it.
    pub lines: Option<Lines>,
    /// Cells that are coloured by their number.
    pub heat: Option<Heat>,
}

impl Sheet {
    /// A sheet of cells alone.
    pub fn new(name: impl Into<String>, headings: Vec<String>, rows: Vec<Vec<Cell>>) -> Sheet {
        Sheet { name: name.into(), headings, rows, lines: None, heat: None }
    }
}

/// A scale of colours over whole columns, from slow to fast.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// First and last column.
    pub columns: (usize, usize),
    /// The numbers that are coloured like the slowest, the middle and the fastest.
    pub scale: [f64; 3],
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
    let formats = Formats::default();
    let mut names: Vec<String> = Vec::new();
    for sheet in sheets {
        let name = tab_name(&sheet.name, &names);
        let page = book.add_worksheet();
        page.set_name(&name)?;
        for (column, text) in sheet.headings.iter().enumerate() {
            page.write_with_format(0, column_number(column)?, text, &heading)?;
        }
        for (row, cells) in sheet.rows.iter().enumerate() {
            let row = u32::try_from(row + 1).map_err(|_| WorkbookError("too many rows".to_owned()))?;
            for (column, cell) in cells.iter().enumerate() {
                let format = formats.of(sheet.headings.get(column).map_or("", String::as_str));
                let column = column_number(column)?;
                match cell {
                    Cell::Text(text) => page.write(row, column, text)?,
                    Cell::Number(number) if number.is_finite() => {
                        page.write_with_format(row, column, *number, format)?
                    }
                    Cell::Empty | Cell::Number(_) => continue,
                };
            }
        }
        page.set_freeze_panes(1, 0)?;
        if let (Some(last), false) = (sheet.headings.len().checked_sub(1), sheet.rows.is_empty()) {
            page.autofilter(0, 0, sheet.rows.len() as u32, column_number(last)?)?;
        }
        page.autofit();
        widen(page, sheet, &formats)?;
        coloured(page, sheet)?;
        if let Some(lines) = &sheet.lines {
            chart::insert(page, &name, sheet, lines)?;
        }
        names.push(name);
    }
    Ok(book.save_to_buffer()?)
}

/// How numbers are shown, by the unit that their column's heading ends with; each column has one scale.
struct Formats {
    known: Vec<(&'static str, Format)>,
    other: Format,
}

/// Endings of headings and formats: a comma after the digits divides by a thousand (ECMA-376, part 1, section 18.8.31).
const FORMATS: [(&str, &str); 6] = [
    ("_bytes_per_s", "#,##0.00,,\" MB/s\""),
    ("_per_s", "#,##0.0\" /s\""),
    ("_ns", "#,##0.0,\" µs\""),
    ("_bytes", "#,##0\" B\""),
    ("_ratio", "0.0 %"),
    ("confidence", "0.0 %"),
];
/// Of a percentile, whose heading names the unit before it.
const TIME: &str = "_ns_";

impl Default for Formats {
    fn default() -> Formats {
        let known = FORMATS.map(|(ending, format)| (ending, Format::new().set_num_format(format)));
        Formats { known: known.into(), other: Format::new().set_num_format("#,##0.###") }
    }
}

impl Formats {
    fn of(&self, heading: &str) -> &Format {
        let ending = if heading.contains(TIME) { "_ns" } else { heading };
        self.known.iter().find(|(known, _)| ending.ends_with(known)).map_or(&self.other, |(_, format)| format)
    }
}

/// Colours for slow, middle and fast: those of the page's heat maps.
const HEAT: [u32; 3] = [0x247B9C, 0x83C974, 0xFBE96A];
/// Words of verdicts, and what is read as good and as bad.
const VERDICTS: [(&str, u32); 3] = [("MISSED", 0xB3261E), ("met", 0x1E7A4F), ("cannot tell", 0x8A6A0F)];

fn coloured(page: &mut Worksheet, sheet: &Sheet) -> Result<(), WorkbookError> {
    let Some(last) = u32::try_from(sheet.rows.len()).ok().filter(|last| *last > 0) else { return Ok(()) };
    if let Some(Heat { columns: (from, to), scale: [low, middle, high] }) = sheet.heat {
        let scale = ConditionalFormat3ColorScale::new()
            .set_minimum(ConditionalFormatType::Number, low)
            .set_midpoint(ConditionalFormatType::Number, middle)
            .set_maximum(ConditionalFormatType::Number, high)
            .set_minimum_color(Color::RGB(HEAT[0]))
            .set_midpoint_color(Color::RGB(HEAT[1]))
            .set_maximum_color(Color::RGB(HEAT[2]));
        page.add_conditional_format(1, column_number(from)?, last, column_number(to)?, &scale)?;
    }
    for column in sheet.headings.iter().enumerate().filter(|(_, heading)| *heading == "verdict").map(|(at, _)| at) {
        let column = column_number(column)?;
        for (word, colour) in VERDICTS {
            let rule = ConditionalFormatText::new()
                .set_rule(ConditionalFormatTextRule::BeginsWith(word.to_owned()))
                .set_format(Format::new().set_bold().set_font_color(Color::RGB(colour)));
            page.add_conditional_format(1, column, last, column, &rule)?;
        }
    }
    Ok(())
}

/// Fitting knows nothing of what a format adds to a number: separators and a unit.
fn widen(page: &mut Worksheet, sheet: &Sheet, formats: &Formats) -> Result<(), WorkbookError> {
    for (column, heading) in sheet.headings.iter().enumerate() {
        let numbers =
            || sheet.rows.iter().filter_map(|row| row.get(column)).any(|cell| matches!(cell, Cell::Number(_)));
        if numbers() {
            let with_unit = !std::ptr::eq(formats.of(heading), &formats.other);
            page.set_column_width(column_number(column)?, if with_unit { UNIT_WIDTH } else { NUMBER_WIDTH })?;
        }
    }
    Ok(())
}

/// Width of a column of plain numbers, in digits: tens of millions, with separators.
const NUMBER_WIDTH: f64 = 12.0;
/// Width of a column of numbers with a unit: 1 TB in bytes.
const UNIT_WIDTH: f64 = 19.0;

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
        Sheet::new(
            name,
            vec!["job".into(), "rate_bytes_per_s".into()],
            vec![vec!["a".into(), 1.5.into()], vec!["b".into(), None::<f64>.into()], vec![f64::NAN.into()]],
        )
    }

    /// The parts of a workbook as text.
    fn part(book: &[u8], name: &str) -> String {
        let mut zip = zip::ZipArchive::new(std::io::Cursor::new(book)).unwrap();
        let mut text = String::new();
        std::io::Read::read_to_string(&mut zip.by_name(name).unwrap(), &mut text).unwrap();
        text
    }

    #[test]
    fn numbers_have_the_format_of_their_unit_and_headings_stay_in_view() {
        let book = workbook(&[sheet("one")]).unwrap();
        assert!(part(&book, "xl/styles.xml").contains("#,##0.00,,&quot; MB/s&quot;"));
        let page = part(&book, "xl/worksheets/sheet1.xml");
        assert!(
            page.contains("state=\"frozen\"") && page.contains("<autoFilter") && page.contains("<v>1.5</v>"),
            "{page}"
        );
        let formats = Formats::default();
        let shown = |heading: &str| formats.known.iter().position(|(_, known)| known == formats.of(heading));
        assert_eq!(shown("service_time_ns_p99"), shown("elapsed_ns"));
        assert_ne!(shown("rate_bytes_per_s"), shown("requests_per_s"));
        assert_eq!((shown("bytes").is_some(), shown("file_bytes").is_some()), (false, true));
    }

    #[test]
    fn a_chart_and_colours_stand_in_the_file() {
        let rows: Vec<Vec<Cell>> = (1..=4u64).map(|at| vec![(at * 100).into(), (1e6 * at as f64).into()]).collect();
        let curve = Curve { name: "run 1".to_owned(), column: 1, rows: (0, 3) };
        let lines = Lines {
            title: "rate over time".to_owned(),
            x: (0, "time".to_owned()),
            y: "rate".to_owned(),
            logarithmic: true,
            curves: vec![curve],
        };
        let heat = Heat { columns: (1, 1), scale: [1e6, 2e6, 4e6] };
        let headings = vec!["at_ns".into(), "rate_bytes_per_s".into()];
        let sheet = Sheet { lines: Some(lines), heat: Some(heat), ..Sheet::new("it's", headings, rows) };
        let book = workbook(&[sheet]).unwrap();
        let chart = part(&book, "xl/charts/chart1.xml");
        for wanted in [
            "<c:scatterChart>",
            "'it''s'!$A$2:$A$5",
            "'it''s'!$B$2:$B$5",
            "<c:logBase val=\"10\"/>",
            "run 1",
            "rate over time",
        ] {
            assert!(chart.contains(wanted), "{wanted}: {chart}");
        }
        let page = part(&book, "xl/worksheets/sheet1.xml");
        assert!(page.contains("<colorScale>") && page.contains("<drawing"), "{page}");
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
