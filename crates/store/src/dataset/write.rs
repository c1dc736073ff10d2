//! A history into a dataset: what is not there yet, file by file.

use super::place::{self, Dataset, unfinished};
use super::{Key, Progress, digits};
use crate::export::figures;
use crate::kept::Body;
use crate::table::{Cell, Column, Table, column};
use crate::{Filter, Row, Store, StoreError};
use parquet::errors::ParquetError;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

static FIGURES: [Column<Row>; 16] = figures(Cell::Text(|row| &row.key));

static RECORDS: [Column<Body>; 12] = [
    column("record", Cell::Text(|body| &body.key)),
    column("time", Cell::Time(|body| body.seconds, |body| &body.entry.at)),
    column("measured", Cell::Flag(|body| body.entry.measured)),
    column("kind", Cell::Text(|body| &body.entry.kind)),
    column("command", Cell::Text(|body| &body.entry.command)),
    column("target", Cell::Text(|body| &body.entry.target)),
    column("device", Cell::Text(|body| &body.entry.device)),
    column("part", Cell::Text(|body| &body.entry.part)),
    column("version", Cell::Text(|body| &body.entry.version)),
    column("setup", Cell::Text(|body| &body.setup)),
    column("bytes", Cell::Number(|body| body.entry.bytes)),
    column("text", Cell::Text(|body| &body.text)),
];

/// What an export has added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Records that were not there.
    pub new: u64,
    /// Records that were.
    pub already: u64,
    /// Figures of the new ones.
    pub figures: u64,
    /// Days of models that they are of: a file of records each, and one of figures where they have any.
    pub slices: u64,
}

/// The new records of one day and one model.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slice {
    day: String,
    model: String,
    /// What their files are called: the hash of their keys.
    name: String,
}

impl Dataset {
    /// Adds the records that are meant and are not there yet; progress is in records and rows together.
    ///
    /// # Errors
    /// The history cannot be read, or a file cannot be written; the dataset is then as it was.
    pub fn export(&mut self, store: &Store, filter: &Filter, progress: Progress<'_>) -> Result<Exported, StoreError> {
        // One state of the history for all of it, whatever comes in meanwhile.
        let _snapshot = store.snapshot()?;
        let mut done = Exported::default();
        let mut keys: Vec<Key> = Vec::new();
        let (mut ids, mut added): (Vec<i64>, Vec<Key>) = (Vec::new(), Vec::new());
        let mut slices: Vec<Slice> = Vec::new();
        store.slices(filter, |id, day, model, key| {
            if self.known.contains(&key) {
                done.already += 1;
                return;
            }
            let is_same = slices.last().is_some_and(|last| last.day == day && last.model == model);
            if !is_same {
                close(slices.last_mut(), &mut keys);
                slices.push(Slice { day, model, name: String::new() });
            }
            keys.push(key);
            added.push(key);
            ids.push(id);
        })?;
        close(slices.last_mut(), &mut keys);
        (done.slices, done.new) = (slices.len() as u64, ids.len() as u64);
        let all = 2 * done.new;
        let mut files = Files::new(&self.root, place::Table::Figures, &FIGURES, &slices);
        let (mut last, mut seen) = (String::new(), 0);
        store.rows_of(&ids, |row| {
            if last != row.key {
                last.clone_from(&row.key);
                seen += 1;
                progress(seen, all);
            }
            done.figures += 1;
            files.put(row.entry.at[..10].to_owned(), row.entry.device.clone(), row)
        })?;
        files.end()?;
        let mut files = Files::new(&self.root, place::Table::Records, &RECORDS, &slices);
        let mut seen = done.new;
        store.bodies(&ids, |body| {
            seen += 1;
            progress(seen, all);
            files.put(body.entry.at[..10].to_owned(), body.entry.device.clone(), body)
        })?;
        files.end()?;
        self.known.extend(added);
        Ok(done)
    }
}

/// Names a slice by the records in it, as no more of them come.
fn close(slice: Option<&mut Slice>, keys: &mut Vec<Key>) {
    if let Some(slice) = slice {
        slice.name = digits(&Sha256::digest(keys.concat())[..16]);
    }
    keys.clear();
}

/// The files of one table, one after the other, as rows come in the order of slices. Each gets its name once it is whole and on the
/// disk.
struct Files<'a, R: 'static> {
    root: &'a Path,
    table: place::Table,
    columns: &'static [Column<R>],
    /// Those whose files are not begun.
    slices: std::slice::Iter<'a, Slice>,
    open: Option<Open<'a, R>>,
}

struct Open<'a, R: 'static> {
    slice: &'a Slice,
    file: PathBuf,
    rows: Table<R, BufWriter<File>>,
}

impl<'a, R> Files<'a, R> {
    fn new(root: &'a Path, table: place::Table, columns: &'static [Column<R>], slices: &'a [Slice]) -> Files<'a, R> {
        Files { root, table, columns, slices: slices.iter(), open: None }
    }

    fn put(&mut self, day: String, model: String, row: R) -> Result<(), StoreError> {
        if self.open.as_ref().is_none_or(|open| open.slice.day != day || open.slice.model != model) {
            self.end()?;
            // Slices of records without figures have no file of figures.
            let slice = self.slices.find(|slice| slice.day == day && slice.model == model);
            let slice = slice.ok_or_else(|| StoreError::Export(format!("no file is planned for {day} of {model}")))?;
            self.open = Some(self.begun(slice)?);
        }
        let open = self.open.as_mut().expect("it was opened before");
        open.rows.push(row).map_err(|error| failed(&open.file, error))
    }

    fn begun(&self, slice: &'a Slice) -> Result<Open<'a, R>, StoreError> {
        let folder = place::folder(self.root, self.table, &slice.day, &slice.model);
        let file = folder.join(&slice.name).with_extension("parquet");
        let of = |error: io::Error| StoreError::Dataset(file.clone(), error.to_string());
        fs::create_dir_all(&folder).map_err(of)?;
        let out = BufWriter::new(File::create(unfinished(&file)).map_err(of)?);
        let rows = Table::new(self.table.folder(), self.columns, out).map_err(|error| failed(&file, error))?;
        Ok(Open { slice, file, rows })
    }

    /// Finishes the file that is being written, if there is one.
    fn end(&mut self) -> Result<(), StoreError> {
        let Some(Open { file, rows, .. }) = self.open.take() else { return Ok(()) };
        let of = |error: io::Error| StoreError::Dataset(file.clone(), error.to_string());
        let out = rows.close().map_err(|error| failed(&file, error))?;
        let out = out.into_inner().map_err(|error| of(error.into_error()))?;
        out.sync_all().map_err(of)?;
        fs::rename(unfinished(&file), &file).map_err(of)?;
        let folder = file.parent().unwrap_or(self.root);
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(of)
    }
}

impl<R> Drop for Files<'_, R> {
    fn drop(&mut self) {
        // Where something went wrong, nothing half done is left.
        if let Some(open) = self.open.take() {
            let _ = fs::remove_file(unfinished(&open.file));
        }
    }
}

fn failed(file: &Path, error: ParquetError) -> StoreError {
    StoreError::Dataset(file.to_owned(), error.to_string())
}
