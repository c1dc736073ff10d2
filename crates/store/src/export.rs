//! All figures as one long table, for DuckDB, pandas and spreadsheets: a row per record and figure.

use crate::{Filter, Row, Store, StoreError};
use flashscope_model::comparison::Better;
use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

/// Rows that a Parquet file holds together: a few megabytes, as its readers like them.
const GROUP: usize = 65_536;

/// A column: its name, and what stands in it.
struct Column {
    name: &'static str,
    cell: Cell,
}

/// How a column's values come from a row.
enum Cell {
    Number(fn(&Row) -> i64),
    /// Seconds since 1970, and the same in words.
    Time(fn(&Row) -> i64, fn(&Row) -> &str),
    Flag(fn(&Row) -> bool),
    Text(fn(&Row) -> &str),
    Real(fn(&Row) -> f64),
    /// Empty where nothing is known.
    MaybeReal(fn(&Row) -> Option<f64>),
}

const COLUMNS: [Column; 16] = [
    column("record", Cell::Number(|row| row.entry.id)),
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
];

const fn column(name: &'static str, cell: Cell) -> Column {
    Column { name, cell }
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
        let mut bytes = Vec::new();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("flashscope ", env!("CARGO_PKG_VERSION")).to_owned());
        let schema = Arc::new(parse_message_type(&schema()).map_err(of)?);
        let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build())).map_err(of)?;
        let mut rows = Vec::new();
        self.rows(filter, |row| {
            rows.push(row);
            if rows.len() < GROUP { Ok(()) } else { group(&mut writer, &std::mem::take(&mut rows)).map_err(of) }
        })?;
        if !rows.is_empty() {
            group(&mut writer, &rows).map_err(of)?;
        }
        writer.close().map_err(of)?;
        Ok(bytes)
    }
}

fn words(cell: &Cell, row: &Row) -> String {
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

/// The columns in the words of Parquet.
fn schema() -> String {
    let field = |column: &Column| {
        let (kind, annotation) = match column.cell {
            Cell::Number(_) => ("required int64", ""),
            Cell::Time(..) => ("required int64", " (TIMESTAMP(MILLIS,true))"),
            Cell::Flag(_) => ("required boolean", ""),
            Cell::Text(_) => ("required binary", " (UTF8)"),
            Cell::Real(_) => ("required double", ""),
            Cell::MaybeReal(_) => ("optional double", ""),
        };
        format!("{kind} {}{annotation};", column.name)
    };
    format!("message history {{ {} }}", COLUMNS.iter().map(field).collect::<String>())
}

fn group(writer: &mut SerializedFileWriter<&mut Vec<u8>>, rows: &[Row]) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for column in &COLUMNS {
        let mut next = group.next_column()?.ok_or_else(|| ParquetError::General("a column is missing".to_owned()))?;
        match (&column.cell, next.untyped()) {
            (Cell::Number(of), ColumnWriter::Int64ColumnWriter(out)) => {
                out.write_batch(&rows.iter().map(of).collect::<Vec<_>>(), None, None)?
            }
            (Cell::Time(of, _), ColumnWriter::Int64ColumnWriter(out)) => {
                out.write_batch(&rows.iter().map(|row| 1000 * of(row)).collect::<Vec<_>>(), None, None)?
            }
            (Cell::Flag(of), ColumnWriter::BoolColumnWriter(out)) => {
                out.write_batch(&rows.iter().map(of).collect::<Vec<_>>(), None, None)?
            }
            (Cell::Text(of), ColumnWriter::ByteArrayColumnWriter(out)) => {
                out.write_batch(&rows.iter().map(|row| ByteArray::from(of(row))).collect::<Vec<_>>(), None, None)?
            }
            (Cell::Real(of), ColumnWriter::DoubleColumnWriter(out)) => {
                out.write_batch(&rows.iter().map(of).collect::<Vec<_>>(), None, None)?
            }
            (Cell::MaybeReal(of), ColumnWriter::DoubleColumnWriter(out)) => {
                // Only values that are there are written; the levels say which are.
                let levels: Vec<i16> = rows.iter().map(|row| i16::from(of(row).is_some())).collect();
                out.write_batch(&rows.iter().filter_map(of).collect::<Vec<_>>(), Some(&levels), None)?
            }
            _ => return Err(ParquetError::General(format!("column {} has another type", column.name))),
        };
        next.close()?;
    }
    group.close()?;
    Ok(())
}
