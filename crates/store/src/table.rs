//! Rows of any kind as a Parquet file, a group of rows at a time.

use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::io::Write;
use std::sync::Arc;

/// Rows that a Parquet file holds together: a few megabytes, as its readers like them.
const GROUP_ROWS: usize = 65_536;

/// Bytes of text after which a group ends, however few rows it has, so that neither side needs more memory than this a few times.
const GROUP_BYTES: usize = 32 << 20;

/// A column: its name, and what stands in it.
pub(crate) struct Column<R> {
    pub(crate) name: &'static str,
    pub(crate) cell: Cell<R>,
}

/// How a column's values come from a row.
pub(crate) enum Cell<R> {
    Number(fn(&R) -> i64),
    /// Seconds since 1970, and the same in words.
    Time(fn(&R) -> i64, fn(&R) -> &str),
    Flag(fn(&R) -> bool),
    Text(fn(&R) -> &str),
    Real(fn(&R) -> f64),
    /// Empty where nothing is known.
    MaybeReal(fn(&R) -> Option<f64>),
}

pub(crate) const fn column<R>(name: &'static str, cell: Cell<R>) -> Column<R> {
    Column { name, cell }
}

/// A Parquet file that is being written.
pub(crate) struct Table<R: 'static, W: Write + Send> {
    columns: &'static [Column<R>],
    writer: SerializedFileWriter<W>,
    rows: Vec<R>,
    bytes: usize,
}

impl<R, W: Write + Send> Table<R, W> {
    /// One with these columns, of what `name` says.
    pub(crate) fn new(name: &str, columns: &'static [Column<R>], out: W) -> Result<Table<R, W>, ParquetError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("flashscope ", env!("CARGO_PKG_VERSION")).to_owned());
        let schema = Arc::new(parse_message_type(&schema(name, columns))?);
        let writer = SerializedFileWriter::new(out, schema, Arc::new(properties.build()))?;
        Ok(Table { columns, writer, rows: Vec::new(), bytes: 0 })
    }

    pub(crate) fn push(&mut self, row: R) -> Result<(), ParquetError> {
        let texts = self.columns.iter().map(|column| match column.cell {
            Cell::Text(of) => of(&row).len(),
            _ => 0,
        });
        self.bytes += texts.sum::<usize>();
        self.rows.push(row);
        if self.rows.len() < GROUP_ROWS && self.bytes < GROUP_BYTES { Ok(()) } else { self.group() }
    }

    /// Writes what is left and the end of the file; gives back where all of it went.
    pub(crate) fn close(mut self) -> Result<W, ParquetError> {
        if !self.rows.is_empty() {
            self.group()?;
        }
        self.writer.into_inner()
    }

    fn group(&mut self) -> Result<(), ParquetError> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let mut group = self.writer.next_row_group()?;
        for column in self.columns {
            let mut next =
                group.next_column()?.ok_or_else(|| ParquetError::General("a column is missing".to_owned()))?;
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
}

/// The columns in the words of Parquet.
fn schema<R>(name: &str, columns: &[Column<R>]) -> String {
    let field = |column: &Column<R>| {
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
    format!("message {name} {{ {} }}", columns.iter().map(field).collect::<String>())
}
