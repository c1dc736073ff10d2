//! Charts of a spreadsheet: lines over columns of the sheet that they stand on.

use super::{Sheet, WorkbookError, column_number};
use rust_xlsxwriter::{Chart, ChartFormat, ChartLine, ChartType, Worksheet};

/// Lines over a column of the sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// What stands above it.
    pub title: String,
    /// The column along which they run, and its title.
    pub x: (usize, String),
    /// Title of the upright axis.
    pub y: String,
    /// Whether both axes are logarithmic: along sizes to the base of 2, upwards to that of 10.
    pub logarithmic: bool,
    /// The lines.
    pub curves: Vec<Curve>,
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What it is called in the legend.
    pub name: String,
    /// The column of its values.
    pub column: usize,
    /// First and last row of the sheet, headings not counted, from 0.
    pub rows: (usize, usize),
}

/// Width and height in pixels.
const SIZE: (u32, u32) = (860, 460);

/// Puts the chart to the right of the cells, where no filter hides it.
pub(super) fn insert(page: &mut Worksheet, name: &str, sheet: &Sheet, lines: &Lines) -> Result<(), WorkbookError> {
    let mut chart = Chart::new(ChartType::ScatterStraight);
    chart.title().set_name(&lines.title);
    chart.x_axis().set_name(&lines.x.1);
    chart.y_axis().set_name(&lines.y);
    chart.set_width(SIZE.0).set_height(SIZE.1);
    if let Some(format) = axis_format(sheet, lines.x.0) {
        chart.x_axis().set_num_format(format);
    }
    if let Some(format) = lines.curves.first().and_then(|curve| axis_format(sheet, curve.column)) {
        chart.y_axis().set_num_format(format);
    }
    if lines.logarithmic {
        chart.x_axis().set_log_base(2);
        chart.y_axis().set_log_base(10);
    }
    let mut thin = ChartFormat::new();
    thin.set_line(ChartLine::new().set_width(1.5));
    for curve in &lines.curves {
        let row = |at: usize| u32::try_from(at + 1).map_err(|_| WorkbookError("too many rows".to_owned()));
        let (first, last) = (row(curve.rows.0)?, row(curve.rows.1)?);
        let (x, y) = (column_number(lines.x.0)?, column_number(curve.column)?);
        chart
            .add_series()
            .set_name(&curve.name)
            .set_categories((name, first, x, last, x))
            .set_values((name, first, y, last, y))
            .set_format(&mut thin);
    }
    page.insert_chart(1, column_number(sheet.headings.len() + 1)?, &chart)?;
    Ok(())
}

/// How the numbers of a column are shown along an axis, by the unit that its heading ends with: shorter than in cells.
fn axis_format(sheet: &Sheet, column: usize) -> Option<&'static str> {
    let heading = sheet.headings.get(column)?;
    let formats = [("_bytes_per_s", "0.0,,\" MB/s\""), ("_ns", "0.0,,,\" s\""), ("_bytes", "0,,\" MB\"")];
    formats.into_iter().find(|(ending, _)| heading.ends_with(ending)).map(|(_, format)| format)
}
