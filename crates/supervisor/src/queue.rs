//! [`Engine`] in SQLite: a write-ahead log that is synced at every commit, so that what was answered outlives a power cut.

use flashscope_lab::{Attempt, AttemptEnd, Claim, Completion, Engine, Entry, Phase, Run, RunState};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// "flsL": what SQLite keeps in the header of our files.
const APPLICATION: i64 = 0x666c_734c;
/// The layout that this program writes.
const LAYOUT: i64 = 1;
/// How long another program's writing is waited for: `lab status` reads in milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

const TABLES: &str = "
    CREATE TABLE run (
        place INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        device TEXT NOT NULL,
        identity TEXT NOT NULL,
        work TEXT NOT NULL,
        words TEXT NOT NULL,
        power TEXT,
        phase TEXT NOT NULL,
        round INTEGER NOT NULL,
        state TEXT NOT NULL DEFAULT 'waiting',
        owner TEXT,
        lease_until INTEGER,
        attempts INTEGER NOT NULL DEFAULT 0,
        failures INTEGER NOT NULL DEFAULT 0,
        sha256 TEXT,
        began INTEGER,
        ended INTEGER,
        why TEXT
    );
    CREATE TABLE attempt (
        run TEXT NOT NULL REFERENCES run (id),
        number INTEGER NOT NULL,
        owner TEXT NOT NULL,
        began INTEGER NOT NULL,
        ended INTEGER,
        outcome TEXT,
        PRIMARY KEY (run, number)
    ) WITHOUT ROWID;
    CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
";

/// An open queue.
#[derive(Debug)]
pub struct Queue {
    connection: Connection,
    path: PathBuf,
}

/// Why a queue cannot be used.
#[derive(Debug)]
pub enum QueueError {
    /// There is no file.
    Missing(PathBuf),
    /// It is no queue of this version.
    Foreign(PathBuf),
    /// What SQLite said.
    Sqlite(PathBuf, rusqlite::Error),
}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueError::Missing(path) => {
                write!(f, "there is no lab at {}\nhint: `flashscope lab run PLAN.toml` begins one", path.display())
            }
            QueueError::Foreign(path) => write!(
                f,
                "{} is no queue of this flashscope\nhint: name another directory with --dir; this one was left as it is",
                path.display()
            ),
            QueueError::Sqlite(path, error) => {
                let hint = match error.sqlite_error_code() {
                    Some(ErrorCode::DiskFull) => "make room and run it again: nothing is lost",
                    Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "another program holds it; try again",
                    _ => "records below runs/ are safe; a new --dir begins anew",
                };
                write!(f, "cannot use {}: {error}\nhint: {hint}", path.display())
            }
        }
    }
}

impl std::error::Error for QueueError {}

impl Queue {
    /// Opens the queue at `path`; begins one where `create` says so.
    ///
    /// # Errors
    /// There is none, or what is there is not ours.
    pub fn open(path: &Path, create: bool) -> Result<Queue, QueueError> {
        if !create && !path.exists() {
            return Err(QueueError::Missing(path.to_owned()));
        }
        let of = |error| QueueError::Sqlite(path.to_owned(), error);
        let mut connection = Connection::open(path).map_err(of)?;
        connection.busy_timeout(PATIENCE).map_err(of)?;
        let header = |connection: &Connection| {
            let sql = "SELECT (SELECT application_id FROM pragma_application_id),
                              (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)";
            connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).map_err(of)
        };
        match header(&connection)? {
            (APPLICATION, LAYOUT, _) => {}
            (0i64, 0i64, 0i64) if create => {
                connection.pragma_update(None, "journal_mode", "WAL").map_err(of)?;
                let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(of)?;
                transaction.execute_batch(TABLES).map_err(of)?;
                transaction.pragma_update(None, "application_id", APPLICATION).map_err(of)?;
                transaction.pragma_update(None, "user_version", LAYOUT).map_err(of)?;
                transaction.commit().map_err(of)?;
            }
            _ => return Err(QueueError::Foreign(path.to_owned())),
        }
        // A property of the connection: every commit is synced, not only those that shorten the log.
        connection.pragma_update(None, "synchronous", "FULL").map_err(of)?;
        Ok(Queue { connection, path: path.to_owned() })
    }

    /// A fact about the whole lab; `None` where nobody told it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn fact(&self, name: &str) -> Result<Option<String>, QueueError> {
        let sql = "SELECT value FROM fact WHERE name = ?1";
        self.connection.query_row(sql, [name], |row| row.get(0)).optional().map_err(|error| self.of(error))
    }

    /// Keeps a fact.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn set_fact(&mut self, name: &str, value: &str) -> Result<(), QueueError> {
        let sql = "INSERT INTO fact VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        self.connection.execute(sql, [name, value]).map(drop).map_err(|error| self.of(error))
    }

    fn of(&self, error: rusqlite::Error) -> QueueError {
        QueueError::Sqlite(self.path.clone(), error)
    }

    fn all<T>(&self, sql: &str, read: fn(&Row<'_>) -> rusqlite::Result<T>) -> Result<Vec<T>, QueueError> {
        let rows = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map([], read)?;
            rows.collect()
        };
        rows().map_err(|error| self.of(error))
    }

    /// Does something whole or not at all.
    fn atomic<T>(&mut self, act: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, QueueError> {
        let path = self.path.clone();
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let done = transaction.and_then(|transaction| {
            let answer = act(&transaction)?;
            transaction.commit()?;
            Ok(answer)
        });
        done.map_err(|error| QueueError::Sqlite(path, error))
    }
}

/// Numbers of SQLite have a sign.
fn number(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

impl Engine for Queue {
    type Error = QueueError;

    fn submit(&mut self, entries: &[Entry]) -> Result<usize, QueueError> {
        self.atomic(|transaction| {
            let mut statement = transaction.prepare(
                "INSERT INTO run (id, device, identity, work, words, power, phase, round)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (id) DO NOTHING",
            )?;
            let mut new = 0;
            for entry in entries {
                let run = &entry.run;
                let words = serde_json::to_string(&run.words).unwrap_or_default();
                new += statement.execute(params![
                    run.id,
                    entry.device,
                    entry.identity,
                    entry.work,
                    words,
                    run.power,
                    run.phase.word(),
                    run.phase.round()
                ])?;
            }
            Ok(new)
        })
    }

    fn claim(&mut self, id: &str, owner: &str, now: u64, lease: u64) -> Result<Option<Claim>, QueueError> {
        self.atomic(|transaction| {
            let (now, until) = (number(now), number(now.saturating_add(lease)));
            let sql = "UPDATE run SET state = 'leased', owner = ?2, lease_until = ?4, attempts = attempts + 1,
                           began = ?3, ended = NULL
                       WHERE id = ?1 AND (state = 'waiting' OR (state = 'leased' AND lease_until <= ?3))
                       RETURNING attempts";
            let attempt: Option<u32> =
                transaction.query_row(sql, params![id, owner, now, until], |row| row.get(0)).optional()?;
            if let Some(attempt) = attempt {
                let sql = "INSERT INTO attempt (run, number, owner, began) VALUES (?1, ?2, ?3, ?4)";
                transaction.execute(sql, params![id, attempt, owner, now])?;
            }
            Ok(attempt.map(|attempt| Claim { id: id.to_owned(), attempt }))
        })
    }

    fn heartbeat(&mut self, owner: &str, now: u64, lease: u64) -> Result<(), QueueError> {
        self.atomic(|transaction| {
            let sql = "UPDATE run SET lease_until = ?2 WHERE owner = ?1 AND state = 'leased'";
            transaction.execute(sql, params![owner, number(now.saturating_add(lease))]).map(drop)
        })
    }

    fn bury(&mut self, owner: &str, now: u64) -> Result<(), QueueError> {
        self.atomic(|transaction| {
            let sql = "UPDATE attempt SET ended = ?2, outcome = 'stopped' WHERE owner = ?1 AND outcome IS NULL";
            transaction.execute(sql, params![owner, number(now)])?;
            let sql = "UPDATE run SET state = 'waiting', owner = NULL, lease_until = NULL
                       WHERE owner = ?1 AND state = 'leased'";
            transaction.execute(sql, [owner]).map(drop)
        })
    }

    fn owners(&self) -> Result<Vec<String>, QueueError> {
        self.all("SELECT DISTINCT owner FROM run WHERE state = 'leased'", |row| row.get(0))
    }

    fn complete(&mut self, id: &str, attempt: u32, sha256: &str, now: u64) -> Result<Completion, QueueError> {
        self.atomic(|transaction| {
            let sql = "SELECT sha256 FROM run WHERE id = ?1 AND state = 'done'";
            let kept: Option<String> = transaction.query_row(sql, [id], |row| row.get(0)).optional()?;
            if let Some(kept) = kept {
                return Ok(Completion::Already(kept));
            }
            let sql =
                "UPDATE run SET state = 'done', sha256 = ?2, ended = ?3, owner = NULL, lease_until = NULL, why = NULL
                       WHERE id = ?1";
            transaction.execute(sql, params![id, sha256, number(now)])?;
            end(transaction, id, attempt, "done", now)?;
            Ok(Completion::Kept)
        })
    }

    fn give_back(&mut self, claim: &Claim, how: &AttemptEnd, now: u64) -> Result<(), QueueError> {
        let (state, outcome, counted, why) = match how {
            AttemptEnd::Failed(why) => ("waiting", "failed", 1, why),
            AttemptEnd::Stopped(why) => ("waiting", "stopped", 0, why),
            AttemptEnd::GivenUp(why) => ("failed", "failed", 1, why),
        };
        self.atomic(|transaction| {
            let sql = "UPDATE run SET state = ?3, failures = failures + ?4, why = ?5, ended = ?6, owner = NULL,
                           lease_until = NULL
                       WHERE id = ?1 AND state = 'leased' AND attempts = ?2";
            transaction.execute(sql, params![claim.id, claim.attempt, state, counted, why, number(now)])?;
            end(transaction, &claim.id, claim.attempt, outcome, now)
        })
    }

    fn discard(&mut self, id: &str, why: &str) -> Result<(), QueueError> {
        self.atomic(|transaction| {
            let sql = "UPDATE run SET state = 'dropped', why = ?2 WHERE id = ?1 AND state = 'waiting'";
            transaction.execute(sql, [id, why]).map(drop)
        })
    }

    fn retry(&mut self, id: &str) -> Result<(), QueueError> {
        self.atomic(|transaction| {
            let sql = "UPDATE run SET state = 'waiting', failures = 0, why = NULL WHERE id = ?1 AND state = 'failed'";
            transaction.execute(sql, [id]).map(drop)
        })
    }

    fn list(&self) -> Result<Vec<Entry>, QueueError> {
        let sql =
            "SELECT id, device, identity, work, words, power, phase, round, state, failures, attempts, sha256, began,
                       ended, why FROM run ORDER BY place";
        self.all(sql, entry)
    }

    fn attempts(&self) -> Result<Vec<Attempt>, QueueError> {
        self.all("SELECT run, number, owner, outcome FROM attempt ORDER BY began, run, number", |row| {
            Ok(Attempt { id: row.get(0)?, number: row.get(1)?, owner: row.get(2)?, end: row.get(3)? })
        })
    }
}

fn end(transaction: &Transaction<'_>, id: &str, attempt: u32, outcome: &str, now: u64) -> rusqlite::Result<()> {
    let sql = "UPDATE attempt SET ended = ?3, outcome = ?4 WHERE run = ?1 AND number = ?2 AND outcome IS NULL";
    transaction.execute(sql, params![id, attempt, number(now), outcome]).map(drop)
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let (words, phase, state): (String, String, String) = (row.get(4)?, row.get(6)?, row.get(8)?);
    let odd = |at: usize, text: &str| {
        let error = format!("'{text}' is of another version");
        rusqlite::Error::FromSqlConversionFailure(at, rusqlite::types::Type::Text, error.into())
    };
    let time = |at: usize| row.get::<_, Option<i64>>(at).map(|time| time.and_then(|time| u64::try_from(time).ok()));
    Ok(Entry {
        run: Run {
            id: row.get(0)?,
            // The plan that is being run says where they stand in it.
            device: 0,
            others: Vec::new(),
            work: 0,
            words: serde_json::from_str(&words).map_err(|_| odd(4, &words))?,
            power: row.get(5)?,
            phase: Phase::of(&phase, row.get(7)?).ok_or_else(|| odd(6, &phase))?,
        },
        device: row.get(1)?,
        identity: row.get(2)?,
        work: row.get(3)?,
        state: RunState::of_word(&state).ok_or_else(|| odd(8, &state))?,
        failures: row.get(9)?,
        attempts: row.get(10)?,
        sha256: row.get(11)?,
        began: time(12)?,
        ended: time(13)?,
        why: row.get(14)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let folder = std::env::temp_dir().join(format!("flashscope-queue-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            Scratch(folder)
        }

        fn queue(&self) -> Queue {
            Queue::open(&self.0.join("lab.db"), true).unwrap()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn entries() -> Vec<Entry> {
        let entry = |id: &str| {
            let run = Run {
                id: id.to_owned(),
                device: 0,
                others: Vec::new(),
                work: 0,
                words: vec!["bench".to_owned(), "--rw=read".to_owned()],
                power: None,
                phase: Phase::Beside(2),
            };
            Entry::waiting(run, "a".to_owned(), "\u{1b}[2J'; DROP TABLE run; --".to_owned(), "speed".to_owned())
        };
        ["1", "2"].map(entry).to_vec()
    }

    #[test]
    fn what_is_handed_out_twice_is_done_once() {
        let scratch = Scratch::new("once");
        let (mut one, mut other) = (scratch.queue(), scratch.queue());
        assert_eq!(one.submit(&entries()).unwrap(), 2);
        assert_eq!(other.submit(&entries()).unwrap(), 0);
        assert_eq!(one.list().unwrap(), entries());
        let claim = one.claim("1", "x", 100, 50).unwrap().expect("free");
        assert_eq!(other.claim("1", "y", 149, 50).unwrap(), None, "held");
        one.heartbeat("x", 140, 50).unwrap();
        assert_eq!(other.claim("1", "y", 160, 50).unwrap(), None, "held for longer");
        let late = other.claim("1", "y", 190, 50).unwrap().expect("the lease is over");
        assert_eq!((claim.attempt, late.attempt), (1, 2));
        assert_eq!(
            one.complete("1", claim.attempt, "aa", 200).unwrap(),
            Completion::Kept,
            "late, but the work is done"
        );
        assert_eq!(other.complete("1", late.attempt, "bb", 210).unwrap(), Completion::Already("aa".to_owned()));
        assert_eq!(one.claim("1", "x", 10_000, 50).unwrap(), None, "done is done");
        let list = one.list().unwrap();
        assert_eq!((list[0].state, list[0].sha256.as_deref()), (RunState::Done, Some("aa")));
    }

    #[test]
    fn failures_are_counted_and_deaths_are_not() {
        let scratch = Scratch::new("failures");
        let mut queue = scratch.queue();
        queue.submit(&entries()).unwrap();
        let claim = queue.claim("2", "x", 0, 50).unwrap().unwrap();
        queue.give_back(&claim, &AttemptEnd::Failed("no".to_owned()), 1).unwrap();
        queue.claim("2", "x", 2, 50).unwrap().unwrap();
        assert_eq!(queue.owners().unwrap(), ["x"]);
        queue.bury("x", 3).unwrap();
        let claim = queue.claim("2", "y", 4, 50).unwrap().unwrap();
        let old = Claim { attempt: 1, ..claim.clone() };
        queue.give_back(&old, &AttemptEnd::GivenUp("late".to_owned()), 5).unwrap();
        let entry = queue.list().unwrap().remove(1);
        assert_eq!((entry.state, entry.failures, entry.attempts), (RunState::Leased, 1, 3), "an old claim is void");
        queue.give_back(&claim, &AttemptEnd::GivenUp("thrice".to_owned()), 6).unwrap();
        let entry = queue.list().unwrap().remove(1);
        assert_eq!((entry.state, entry.failures, entry.why.as_deref()), (RunState::Failed, 2, Some("thrice")));
        let ends: Vec<_> = queue.attempts().unwrap().into_iter().filter_map(|attempt| attempt.end).collect();
        assert_eq!(ends, ["failed", "stopped", "failed"]);
        queue.discard("1", "broken").unwrap();
        assert_eq!(queue.list().unwrap()[0].state, RunState::Dropped);
    }

    #[test]
    fn another_programs_file_is_left_alone() {
        let scratch = Scratch::new("foreign");
        let path = scratch.0.join("lab.db");
        assert!(matches!(Queue::open(&path, false), Err(QueueError::Missing(_))));
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
        assert!(matches!(Queue::open(&path, true), Err(QueueError::Foreign(_))));
        assert!(matches!(Queue::open(&scratch.0, true), Err(QueueError::Sqlite(..))));
    }
}
