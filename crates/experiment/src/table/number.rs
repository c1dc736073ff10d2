//! Numbers as spreadsheets write them.

use super::{LARGEST, Rows, TableError};

/// How fractions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decimal {
    /// `1.5`
    Point,
    /// `1,5`
    Comma,
}

/// How the numbers of some columns are written: as was asked for, else as the numbers themselves show. One with a comma that has other than
/// three digits behind it can only be a fraction; where all have three (`1,234`), it could be either, and is refused.
pub(super) fn decimal(rows: &Rows, columns: &[usize], asked: Option<Decimal>) -> Result<Decimal, TableError> {
    if let Some(asked) = asked {
        return Ok(asked);
    }
    let cells =
        rows.rows.iter().flat_map(|(line, cells)| columns.iter().filter_map(move |at| Some((*line, cells.get(*at)?))));
    let mut open = None;
    for (line, cell) in cells {
        let Some((_, behind)) = cell.split_once(',') else { continue };
        if cell.contains('.') || behind.contains(',') {
            return Err(thousands(line, cell));
        }
        if behind.len() != 3 {
            return Ok(Decimal::Comma);
        }
        open = Some((line, cell));
    }
    match open {
        None => Ok(Decimal::Point),
        Some((line, cell)) => Err(TableError::at(
            line,
            format!("`{cell}` is 1000 times as much if its comma separates thousands"),
            "say --decimal comma if it is a fraction; thousands are written without a separator",
        )),
    }
}

fn thousands(line: u64, cell: &str) -> TableError {
    TableError::at(
        line,
        format!("`{cell}` has a separator of thousands"),
        "write numbers without one: 1234.5 or 1234,5",
    )
}

/// One number.
pub(super) fn number(cell: &str, decimal: Decimal, line: u64) -> Result<f64, TableError> {
    if cell.is_empty() {
        return Err(TableError::at(
            line,
            "an empty cell where a number belongs",
            "leave out the row of a run that has no figure",
        ));
    }
    let text = match decimal {
        Decimal::Comma if cell.contains('.') => return Err(thousands(line, cell)),
        Decimal::Comma => cell.replace(',', "."),
        Decimal::Point => cell.to_owned(),
    };
    let hint = "a number and nothing else: 12.5; its unit goes into the column `unit`";
    let value: f64 = text.parse().map_err(|_| TableError::at(line, format!("`{cell}` is no number"), hint))?;
    if value.is_finite() && value.abs() <= LARGEST {
        Ok(value)
    } else {
        Err(TableError::at(
            line,
            format!("`{cell}` is no measurement"),
            "leave out the row of a run that has no figure",
        ))
    }
}

/// A count from 1 on.
pub(super) fn count(cell: &str, line: u64) -> Result<u32, TableError> {
    cell.parse().ok().filter(|count| (1..=1_000_000).contains(count)).ok_or_else(|| {
        TableError::at(line, format!("`{cell}` is no number of runs"), "a whole number from 1 to 1000000")
    })
}
