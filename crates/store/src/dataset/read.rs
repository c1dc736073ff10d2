//! What a dataset holds: which records, and the records themselves, back into a history.

use super::place::{Table, files};
use super::{Key, Progress, digits, key_of};
use crate::{Kept, Store, StoreError};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use parquet::schema::parser::parse_message_type;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Bytes of records that go in together, of however many files: whatever goes in is on the disk before it goes on, and a file may
/// hold a single record.
const BATCH_BYTES: usize = 32 << 20;

/// What came of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Records that were not there.
    pub new: u64,
    /// Records that were.
    pub already: u64,
    /// Files, and why they or a record in them could not be taken.
    pub refused: Vec<(PathBuf, String)>,
}

/// Takes the records of a dataset into a history, byte for byte. What is damaged costs the rest nothing.
///
/// # Errors
/// There is no dataset, or the history cannot take records.
pub fn import(store: &mut Store, root: &Path, progress: Progress<'_>) -> Result<Imported, StoreError> {
    let files = files(root, Table::Records)?;
    if files.is_empty() {
        return Err(StoreError::NoDataset(root.to_owned()));
    }
    let mut done = Imported::default();
    let (mut batch, mut bytes) = (Batch::default(), 0);
    for (at, file) in files.iter().enumerate() {
        let read = each(file, "record, text", |row| {
            let (key, text) = (row.get_string(0)?, row.get_string(1)?);
            if digits(&Sha256::digest(text.as_bytes())[..16]) != *key {
                done.refused.push((file.clone(), format!("record {key} is not what was exported")));
                return Ok(());
            }
            bytes += text.len();
            batch.texts.push(text.clone());
            batch.files.push(at);
            if bytes >= BATCH_BYTES {
                bytes = 0;
                taken(store, &files, std::mem::take(&mut batch), &mut done)?;
            }
            Ok(())
        });
        match read {
            Err(Stop::File(why)) => done.refused.push((file.clone(), why)),
            Err(Stop::Store(error)) => return Err(error),
            Ok(()) => {}
        }
        progress(at as u64 + 1, files.len() as u64);
    }
    taken(store, &files, batch, &mut done)?;
    Ok(done)
}

/// Records on their way in, each with the place of its file.
#[derive(Default)]
struct Batch {
    texts: Vec<String>,
    files: Vec<usize>,
}

fn taken(store: &mut Store, files: &[PathBuf], batch: Batch, done: &mut Imported) -> Result<(), StoreError> {
    for (answer, at) in store.add(&batch.texts)?.into_iter().zip(batch.files) {
        match answer {
            Ok(Kept::New(_)) => done.new += 1,
            Ok(Kept::Already(_)) => done.already += 1,
            Err(error) => done.refused.push((files[at].clone(), error.to_string())),
        }
    }
    Ok(())
}

/// The records that a file holds.
pub(super) fn keys(file: &Path) -> Result<Vec<Key>, StoreError> {
    let mut found = Vec::new();
    let read = each(file, "record", |row| {
        found.push(key_of(row.get_string(0)?).ok_or_else(|| Stop::File("it has an odd record".to_owned()))?);
        Ok(())
    });
    match read {
        Ok(()) => Ok(found),
        Err(Stop::File(why)) => Err(StoreError::Dataset(file.to_owned(), why)),
        Err(Stop::Store(error)) => Err(error),
    }
}

/// Why reading a file ended early.
enum Stop {
    File(String),
    Store(StoreError),
}

impl From<ParquetError> for Stop {
    fn from(error: ParquetError) -> Stop {
        Stop::File(format!("it cannot be read: {error}"))
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Stop {
        Stop::Store(error)
    }
}

/// Every row of a file, with these columns alone, which are texts.
fn each(
    file: &Path,
    columns: &str,
    mut row: impl FnMut(&parquet::record::Row) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let opened = File::open(file).map_err(|error| Stop::File(format!("it cannot be read: {error}")))?;
    let reader = SerializedFileReader::new(opened)?;
    let fields: String = columns.split(", ").map(|name| format!("required binary {name} (UTF8); ")).collect();
    let wanted = parse_message_type(&format!("message records {{ {fields} }}"))?;
    for next in reader.get_row_iter(Some(wanted))? {
        row(&next?)?;
    }
    Ok(())
}
