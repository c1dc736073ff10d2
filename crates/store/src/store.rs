//! The file itself: opened, added to, asked.

use crate::incoming::{inflated, read_all};
use crate::schema::{self, Found};
use crate::{Entry, Filter, Kept, StoreError};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long another program's writing is waited for. Adding takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where a history is that nobody named: `flashscope/history.db` in `$XDG_DATA_HOME`, else in `~/.local/share`; `None` where neither
/// is known.
pub fn usual_place() -> Option<PathBuf> {
    // The base directory specification: what is not absolute is to be passed over.
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")));
    Some(data?.join("flashscope/history.db"))
}

/// What a history is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To add and to remove; a file that is not there is begun.
    Write,
    /// To be asked. Only an older layout is brought up to date.
    Read,
}

/// An open history.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
}

impl Store {
    /// Opens the history at `path`.
    ///
    /// # Errors
    /// Where there is none to read, or it is not ours, of a later version, damaged, locked, or not to be had.
    pub fn open(path: &Path, access: Access) -> Result<Store, StoreError> {
        let of = |error| StoreError::of(path, error);
        if access == Access::Read && !path.exists() {
            return Err(StoreError::Missing(path.to_owned()));
        }
        // For writing even where only read: the journal of a program that was killed must be rolled back first. SQLite
        // opens what may not be written for reading by itself.
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        flags.set(OpenFlags::SQLITE_OPEN_CREATE, access == Access::Write);
        let mut connection = Connection::open_with_flags(path, flags).map_err(of)?;
        connection.busy_timeout(PATIENCE).map_err(of)?;
        match (access, schema::look(&connection, path)?) {
            (Access::Read, Found::Empty) => return Err(StoreError::Missing(path.to_owned())),
            _ => schema::bring_up_to_date(&mut connection, path)?,
        }
        Ok(Store { connection, path: path.to_owned() })
    }

    /// Keeps records, whatever their kind and version: all of them or, on an error of the file, none. What is no record is
    /// answered with why, and costs the others nothing.
    ///
    /// # Errors
    /// Where the file cannot take them.
    pub fn add<T: AsRef<str> + Sync>(&mut self, texts: &[T]) -> Result<Vec<Result<Kept, StoreError>>, StoreError> {
        let of = |error| StoreError::of(&self.path, error);
        // Read before the file is locked: large records take a while.
        let read = read_all(texts);
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(of)?;
        let mut answers = Vec::new();
        for incoming in read {
            answers.push(match incoming {
                Ok((incoming, deflated)) => Ok(incoming.keep(&deflated, &transaction).map_err(of)?),
                Err(error) => Err(error),
            });
        }
        transaction.commit().map_err(of)?;
        Ok(answers)
    }

    /// The records that are meant, newest first.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Entry>, StoreError> {
        let of = |error| StoreError::of(&self.path, error);
        let sql = format!("SELECT {COLUMNS} FROM record WHERE {MEANT} ORDER BY at DESC, id DESC LIMIT ?5 OFFSET ?6");
        let mut statement = self.connection.prepare_cached(&sql).map_err(of)?;
        let (kind, limit) = (filter.kind_word(), filter.limit.map_or(-1, i64::from));
        let meant = params![filter.target, kind, filter.since, filter.before, limit, filter.skip];
        statement.query_map(meant, entry).map_err(of)?.collect::<Result<_, _>>().map_err(of)
    }

    /// The record of this number, byte for byte as it came in.
    ///
    /// # Errors
    /// Where there is none, or the file cannot be read.
    pub fn record(&self, id: i64) -> Result<String, StoreError> {
        let found: Option<(Vec<u8>, i64)> = self
            .connection
            .query_row(
                "SELECT deflated, bytes FROM body JOIN record ON record.id = body.record WHERE id = ?1",
                [id],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()
            .map_err(|error| StoreError::of(&self.path, error))?;
        let (deflated, bytes) = found.ok_or(StoreError::NoRecord(id))?;
        inflated(&deflated, bytes)
            .ok_or_else(|| StoreError::Damaged(self.path.clone(), format!("record {id} is not what was kept")))
    }

    /// A point in time in seconds since 1970: a date, a date with a time, or an age (`30d`, `12h`, `10m`).
    ///
    /// # Errors
    /// Where it is none of these.
    pub fn time(&self, text: &str) -> Result<i64, StoreError> {
        let age = |unit: &str, name: &str| {
            let count: u32 = text.strip_suffix(unit)?.parse().ok()?;
            Some(format!("-{count} {name}"))
        };
        let age = age("d", "days").or_else(|| age("h", "hours")).or_else(|| age("m", "minutes"));
        let seconds: Option<i64> = match age {
            Some(age) => self.connection.query_row("SELECT unixepoch('now', ?1)", [age], |row| row.get(0)),
            // SQLite would take a bare number for a day of the Julian calendar, and `now` for itself.
            None if !text.contains('-') => return Err(StoreError::NoTime(text.to_owned())),
            None => self.connection.query_row("SELECT unixepoch(?1)", [text], |row| row.get(0)),
        }
        .map_err(|error| StoreError::of(&self.path, error))?;
        seconds.ok_or_else(|| StoreError::NoTime(text.to_owned()))
    }
}

/// Columns of an [`Entry`], in the order in which [`entry`] reads them.
pub(crate) const COLUMNS: &str = "record.id, strftime('%Y-%m-%dT%H:%M:%SZ', at, 'unixepoch'), measured, kind, command, target, device, part, \
                       version, bytes";

/// The parts of a [`Filter`] in turn, each of which may be absent.
pub(crate) const MEANT: &str = "(?1 IS NULL OR part = ?1 OR target = ?1 OR device = ?1) AND (?2 IS NULL OR kind = ?2) \
                     AND (?3 IS NULL OR at >= ?3) AND (?4 IS NULL OR at < ?4)";

pub(crate) fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        id: row.get(0)?,
        at: row.get(1)?,
        measured: row.get(2)?,
        kind: row.get(3)?,
        command: row.get(4)?,
        target: row.get(5)?,
        device: row.get(6)?,
        part: row.get(7)?,
        version: row.get(8)?,
        bytes: row.get(9)?,
    })
}
