//! All figures as one long table, for DuckDB, pandas and spreadsheets: a row per record and figure.

use crate::table::{Cell, Column, Table, column};
use crate::{Filter, Row, Store, StoreError};
use flashscope_model::comparison::Better;
use parquet::errors::ParquetError;

static COLUMNS: [Column<Row>; 16] = figures(Cell::Number(|row| row.entry.id));

/// The columns of a row, the record's own as it is asked for.
pub(crate) const fn figures(record: Cell<Row>) -> [Column<Row>; 16] {
    [
        column("record", record),
        column("time", Cell::Time(|row| row.seconds, |row| &row.entry.at)),
        column("measured", Cell::Flag(|row| row.entry.measured)),
        column("kind", Cell::Text(|row| &row.entry.kind)),
        column("command", Cell::Text(|row| &row.entry.command)),
        column("target", Cell::Text(|row| &row.entry.target)),
        column("device", Cell::Text(|row| &row.entry.device)),
        column("part", Cell::Text(|row| &row.entry.part)),
        column("version", Cell::Text(|row| &row.entry.version)),
        column("setup", Cell::Text(|row| &row.setup)),
        column("figure", Cell::Text(|row| &row.metric.name)),
        column("unit", Cell::Text(|row| &row.metric.unit)),
        column("better", Cell::Text(|row| if row.metric.better == Better::Higher { "higher" } else { "lower" })),
        column("value", Cell::Real(|row| row.value)),
        column("runs", Cell::Number(|row| row.runs)),
        column("spread", Cell::MaybeReal(|row| row.spread)),
    ]
}

impl Store {
    /// The figures of the records that are meant as comma-separated values, with a line of headings.
    ///
    /// # Errors
    /// Where the history cannot be read.
    pub fn csv(&self, filter: &Filter) -> Result<Vec<u8>, StoreError> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let of = |error: csv::Error| StoreError::Export(error.to_string());
        writer.write_record(COLUMNS.iter().map(|column| column.name)).map_err(of)?;
        self.rows(filter, |row| {
            writer.write_record(COLUMNS.iter().map(|column| words(&column.cell, &row))).map_err(of)
        })?;
        writer.into_inner().map_err(|error| StoreError::Export(error.to_string()))
    }

    /// The same as a Parquet file.
    ///
    /// # Errors
    /// Where the history cannot be read.
    pub fn parquet(&self, filter: &Filter) -> Result<Vec<u8>, StoreError> {
        let of = |error: ParquetError| StoreError::Export(error.to_string());
        let mut table = Table::new("history", &COLUMNS, Vec::new()).map_err(of)?;
        self.rows(filter, |row| table.push(row).map_err(of))?;
        table.close().map_err(of)
    }
}

fn words(cell: &Cell<Row>, row: &Row) -> String {
    match cell {
        Cell::Number(of) => of(row).to_string(),
        Cell::Time(_, of) => of(row).to_owned(),
        Cell::Flag(of) => of(row).to_string(),
        // A setup has lines, which many readers of CSV trip over.
        Cell::Text(of) => of(row).replace('\n', "; "),
        Cell::Real(of) => of(row).to_string(),
        Cell::MaybeReal(of) => of(row).map_or(String::new(), |value| value.to_string()),
    }
}
