//! What can be wrong with a history, in words that say what to do.

use rusqlite::ErrorCode;
use std::fmt;
use std::path::{Path, PathBuf};

/// Why a history could not be used. Nothing that it held before is lost by any of these.
#[derive(Debug)]
pub enum StoreError {
    /// There is no file.
    Missing(PathBuf),
    /// A later version of flashscope made it.
    Newer {
        /// The file.
        path: PathBuf,
        /// Version of its layout.
        found: i64,
        /// The latest layout that this program knows.
        known: i64,
    },
    /// It is a database of another program.
    Foreign(PathBuf),
    /// It is no database.
    NotADatabase(PathBuf),
    /// Its structure is broken.
    Damaged(PathBuf, String),
    /// Another program has held it for longer than was waited.
    Locked(PathBuf),
    /// It may be read, but not be written.
    ReadOnly(PathBuf),
    /// No room is left for it.
    Full(PathBuf),
    /// The system refused.
    Io(PathBuf, String),
    /// There is no such record.
    NoRecord(i64),
    /// What is to be kept is no record.
    NotARecord(String),
    /// A folder that is named as a dataset is none.
    NoDataset(PathBuf),
    /// A file or folder of a dataset cannot be used.
    Dataset(PathBuf, String),
    /// A table could not be made.
    Export(String),
    /// A point in time that cannot be understood.
    NoTime(String),
}

impl StoreError {
    /// What SQLite said of the file at `path`.
    pub(crate) fn of(path: &Path, error: rusqlite::Error) -> StoreError {
        let path = path.to_owned();
        let code = error.sqlite_error_code();
        let said = match &error {
            rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
            other => other.to_string(),
        };
        match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked(path),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreError::ReadOnly(path),
            Some(ErrorCode::DiskFull) => StoreError::Full(path),
            Some(ErrorCode::NotADatabase) => StoreError::NotADatabase(path),
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged(path, said),
            Some(_) => StoreError::Io(path, said),
            // A table that is not there, a text where a number should be: the file is not what its version says.
            None => StoreError::Damaged(path, said),
        }
    }
}

impl std::error::Error for StoreError {}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |path: &PathBuf| path.display().to_string();
        let (what, hint) = match self {
            StoreError::Missing(path) => (
                format!("there is no history at {}", shown(path)),
                "`flashscope history add RECORD.json` begins one".to_owned(),
            ),
            StoreError::Newer { path, found, known } => (
                format!("{} has layout {found} of a later flashscope; this one knows {known}", shown(path)),
                "use that flashscope, or begin another history with --store FILE; this one was left as it is"
                    .to_owned(),
            ),
            StoreError::Foreign(path) => (
                format!("{} is a database of another program", shown(path)),
                "name another file with --store; this one was left as it is".to_owned(),
            ),
            StoreError::NotADatabase(path) => (
                format!("{} is no history", shown(path)),
                "name another file with --store; this one was left as it is".to_owned(),
            ),
            StoreError::Damaged(path, said) => (
                format!("{} is damaged: {said}", shown(path)),
                "`sqlite3 FILE .recover` saves what can be read, or go back to a copy".to_owned(),
            ),
            StoreError::Locked(path) => (
                format!("another program is writing to {}", shown(path)),
                "try again when it is done; nothing was changed".to_owned(),
            ),
            StoreError::ReadOnly(path) => (
                format!("{} may not be written to", shown(path)),
                "mind the rights of the file and its folder, or name another with --store".to_owned(),
            ),
            StoreError::Full(path) => (
                format!("no space left for {}", shown(path)),
                "make room, or `flashscope history prune`; what was kept before is safe".to_owned(),
            ),
            StoreError::Io(path, said) => {
                (format!("cannot use {}: {said}", shown(path)), "name another file with --store".to_owned())
            }
            StoreError::NoRecord(id) => {
                (format!("there is no record {id}"), "`flashscope history list` shows what there is".to_owned())
            }
            StoreError::NoDataset(path) => (
                format!("{} is no dataset of flashscope's", shown(path)),
                "name one that `history export --dataset` made; to begin one, an empty folder or none; nothing was changed"
                    .to_owned(),
            ),
            StoreError::Dataset(path, said) => (
                format!("cannot use {}: {said}", shown(path)),
                "mind room and rights; a damaged file of a dataset may be removed, the next export brings its records again"
                    .to_owned(),
            ),
            StoreError::Export(said) => {
                (format!("cannot make the table: {said}"), "ask for fewer records, with --since or --target".to_owned())
            }
            StoreError::NotARecord(said) => return f.write_str(said),
            StoreError::NoTime(text) => (
                format!("'{text}' is no point in time"),
                "say a date (2026-03-31), a date and time (2026-03-31T12:00:00Z) or an age (30d, 12h)".to_owned(),
            ),
        };
        write!(f, "{what}\nhint: {hint}")
    }
}
