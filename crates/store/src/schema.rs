//! The layout of the file, its versions, and how an older one is brought up to date.
//!
//! `PRAGMA user_version` is the version, `PRAGMA application_id` says that the file is ours. A version is never changed once
//! it is out; a later one is a further [`step`]. Everything but `record` and `body` is made anew from the records, so that
//! a step may throw it away.

use crate::{StoreError, incoming};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::{Path, PathBuf};

/// "flsh": what SQLite keeps in the header of our files.
const APPLICATION: i64 = 0x666c_7368;

/// The layout that this program writes.
pub(crate) const CURRENT: i64 = 3;

/// Records lie apart from what is known of them, so that a list reads no record. Readings are clustered by their figure, so that
/// a trend reads one place of the file and no second index is needed.
const FIRST: &str = "
    CREATE TABLE record (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at INTEGER NOT NULL,
        measured INTEGER NOT NULL,
        kind TEXT NOT NULL,
        command TEXT NOT NULL,
        target TEXT NOT NULL,
        device TEXT NOT NULL,
        part TEXT NOT NULL,
        version TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        digest BLOB NOT NULL UNIQUE
    );
    CREATE INDEX record_by_time ON record (at);
    CREATE INDEX record_by_part ON record (part, at);
    CREATE TABLE body (record INTEGER PRIMARY KEY REFERENCES record, deflated BLOB NOT NULL);
    CREATE TABLE figure (id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL, UNIQUE (name, unit));
    CREATE TABLE reading (
        figure INTEGER NOT NULL REFERENCES figure,
        record INTEGER NOT NULL REFERENCES record,
        value REAL NOT NULL,
        PRIMARY KEY (figure, record)
    ) WITHOUT ROWID;
";

/// Figures of one name that were measured under other settings are no history of one thing, and runs have a spread.
const SETUPS: &str = "
    CREATE TABLE setup (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
    ALTER TABLE record ADD COLUMN setup INTEGER REFERENCES setup;
    DROP TABLE reading;
    DROP TABLE figure;
    CREATE TABLE figure (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        unit TEXT NOT NULL,
        higher_is_better INTEGER NOT NULL,
        UNIQUE (name, unit, higher_is_better)
    );
    CREATE TABLE reading (
        figure INTEGER NOT NULL REFERENCES figure,
        record INTEGER NOT NULL REFERENCES record,
        value REAL NOT NULL,
        runs INTEGER NOT NULL,
        spread REAL,
        PRIMARY KEY (figure, record)
    ) WITHOUT ROWID;
";

/// What a page of a long history is found by: names whatever the case of their letters, a kind, and what a record says. The
/// kind stands in the indexes of names, so that it is looked at there and not in every record of a name.
const PAGES: &str = "
    CREATE INDEX record_of_device ON record (device COLLATE NOCASE, at, id, kind);
    CREATE INDEX record_of_part ON record (part COLLATE NOCASE, at, id, kind);
    CREATE INDEX record_of_target ON record (target COLLATE NOCASE, at, id, kind);
    CREATE INDEX record_by_kind ON record (kind, at);
    CREATE INDEX reading_by_record ON reading (record);
";

/// Whose file it is, and of which version.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Found {
    /// Nothing in it yet.
    Empty,
    /// Ours, of this version, which this program knows.
    Ours(i64),
}

/// Looks at what there is.
pub(crate) fn look(connection: &Connection, path: &Path) -> Result<Found, StoreError> {
    let of = |error| StoreError::of(path, error);
    // In one statement: another program may be beginning the file at this moment.
    let sql =
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
                      (SELECT count(*) FROM sqlite_schema)";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let (application, version, things): (i64, i64, i64) = connection.query_row(sql, [], read).map_err(of)?;
    if application != APPLICATION {
        return match (application, version, things) {
            (0, 0, 0) => Ok(Found::Empty),
            _ => Err(StoreError::Foreign(path.to_owned())),
        };
    }
    match version {
        1..=CURRENT => Ok(Found::Ours(version)),
        found => Err(StoreError::Newer { path: path.to_owned(), found, known: CURRENT }),
    }
}

/// Brings the file to the current layout, all of it or nothing; a copy of an older one is kept beside it.
pub(crate) fn bring_up_to_date(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let of = |error| StoreError::of(path, error);
    let copy = match look(connection, path)? {
        Found::Ours(CURRENT) => return Ok(()),
        Found::Ours(_) => Some(Copy::make(connection, path)?),
        Found::Empty => None,
    };
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(of)?;
    // Another program may have done it while this one waited for the file.
    let from = match look(&transaction, path)? {
        Found::Empty => 0,
        Found::Ours(version) => version,
    };
    if from == CURRENT {
        return Ok(());
    }
    for version in from..CURRENT {
        step(&transaction, version).map_err(of)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION).map_err(of)?;
    transaction.pragma_update(None, "user_version", CURRENT).map_err(of)?;
    copy.map_or(Ok(()), |copy| copy.keep(path, from))?;
    transaction.commit().map_err(of)
}

/// From this version to the next.
fn step(transaction: &Transaction<'_>, version: i64) -> rusqlite::Result<()> {
    match version {
        0 => transaction.execute_batch(FIRST),
        1 => {
            transaction.execute_batch(SETUPS)?;
            incoming::index_all(transaction)
        }
        2 => transaction.execute_batch(PAGES),
        later => unreachable!("no step from version {later}: CURRENT is {CURRENT}"),
    }
}

/// A copy of the whole file beside it, which goes unless it is kept.
struct Copy(PathBuf);

impl Copy {
    /// The file as SQLite sees it, before anything is changed.
    fn make(connection: &Connection, path: &Path) -> Result<Copy, StoreError> {
        let copy = Copy(beside(path, &format!(".copy-{}", std::process::id())));
        let made = connection.execute("VACUUM INTO ?1", [copy.0.to_string_lossy()]);
        made.map_err(|error| StoreError::of(path, error))?;
        Ok(copy)
    }

    /// Under a name that is free (`history.db.layout-1`). Only who holds the file comes here.
    fn keep(self, path: &Path, version: i64) -> Result<(), StoreError> {
        let name = |number: u32| match number {
            1 => beside(path, &format!(".layout-{version}")),
            _ => beside(path, &format!(".layout-{version}-{number}")),
        };
        let free = (1..=u32::MAX).map(name).find(|name| !name.exists()).unwrap_or_else(|| name(1));
        std::fs::rename(&self.0, free).map_err(|error| StoreError::Io(path.to_owned(), error.to_string()))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // Where it was kept it has another name by now.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
