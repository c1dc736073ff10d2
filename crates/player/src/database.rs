//! The databases of an app: a real SQLite, held back from everything that reaches out of its file.

use crate::pool::Pool;
use flashscope_app::Value;
use flashscope_app::definition::Database;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, Params, Statement, ToSql, params_from_iter};
use std::path::Path;
use std::time::Duration;

/// How long a transaction waits for that of another thread.
const BUSY: Duration = Duration::from_secs(10);

/// An open database.
pub(crate) struct Open {
    connection: Connection,
}

impl Open {
    /// Opens it, with its own settings or those that were asked for in their place; makes its tables where it is new.
    pub(crate) fn new(path: &Path, said: &Database, journal: &str, synchronous: &str) -> rusqlite::Result<Open> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let is_new = !path.exists();
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY)?;
        connection.set_prepared_statement_cache_capacity(256);
        connection.pragma_update(None, "page_size", said.page.get() as i64)?;
        connection.pragma_update(None, "journal_mode", journal)?;
        connection.pragma_update(None, "synchronous", synchronous)?;
        let mut open = Open { connection };
        open.connection.authorizer(Some(allowed))?;
        if is_new {
            said.schema.iter().try_for_each(|sql| open.connection.execute_batch(sql))?;
        }
        Ok(open)
    }

    /// One transaction; a single statement is one by itself.
    pub(crate) fn transact(&mut self, statements: &[(String, Vec<Value>)], pool: &Pool) -> rusqlite::Result<()> {
        if let [(sql, values)] = statements {
            return run(&mut *self.connection.prepare_cached(sql)?, bound(values, pool));
        }
        let transaction = self.connection.transaction()?;
        for (sql, values) in statements {
            run(&mut *transaction.prepare_cached(sql)?, bound(values, pool))?;
        }
        transaction.commit()
    }
}

/// Executes a statement and takes all rows that it gives.
fn run(statement: &mut Statement<'_>, values: impl Params) -> rusqlite::Result<()> {
    let mut rows = statement.query(values)?;
    while rows.next()?.is_some() {}
    Ok(())
}

struct Bound<'a>(Value, &'a Pool);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Integer(number) => ValueRef::Integer(number),
            Value::Text(from, length) => ValueRef::Text(self.1.text(from, length).as_bytes()),
            Value::Blob(from, length) => ValueRef::Blob(self.1.slice(from, 0, length.min(1 << 20))),
        }))
    }
}

fn bound<'a>(values: &[Value], pool: &'a Pool) -> impl Params + use<'a> {
    params_from_iter(values.iter().map(|value| Bound(*value, pool)).collect::<Vec<_>>())
}

/// What SQLite asks before it prepares a statement: a definition is somebody else's text.
fn allowed(asked: AuthContext<'_>) -> Authorization {
    match asked.action {
        AuthAction::Attach { .. } | AuthAction::Detach { .. } | AuthAction::CreateVtable { .. } => Authorization::Deny,
        AuthAction::Pragma { .. } => Authorization::Deny,
        AuthAction::Function { function_name } if function_name.eq_ignore_ascii_case("load_extension") => {
            Authorization::Deny
        }
        _ => Authorization::Allow,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_units::Bytes;

    #[test]
    fn a_database_keeps_what_it_is_given_and_reaches_nothing_else() {
        let place = std::env::temp_dir().join(format!("flashscope-player-{}.db", std::process::id()));
        let _ = std::fs::remove_file(&place);
        let said = Database {
            file: "x.db".to_owned(),
            journal: Default::default(),
            synchronous: Default::default(),
            page: Bytes::kib(4),
            schema: vec!["CREATE TABLE t (a INTEGER, b TEXT, c BLOB)".to_owned()],
        };
        let pool = Pool::new();
        let mut open = Open::new(&place, &said, "wal", "full").expect("opened");
        let insert = |number| {
            let values = vec![Value::Integer(number), Value::Text(9, 40), Value::Blob(5, 2000)];
            ("INSERT INTO t VALUES (?, ?, ?)".to_owned(), values)
        };
        open.transact(&[insert(1)], &pool).expect("one");
        open.transact(&[insert(2), insert(3), ("SELECT * FROM t".to_owned(), Vec::new())], &pool).expect("two more");
        let (count, size): (i64, i64) = open
            .connection
            .query_row("SELECT count(*), sum(length(b) + length(c)) FROM t", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("counted");
        assert_eq!((count, size), (3, 3 * 2040));
        for sql in ["ATTACH '/tmp/other.db' AS o", "PRAGMA journal_mode = off", "SELECT load_extension('x')"] {
            let why = open.transact(&[(sql.to_owned(), Vec::new())], &pool).expect_err(sql).to_string();
            assert!(why.contains("not authorized") || why.contains("no such function"), "{sql}: {why}");
        }
        drop(open);
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", place.display()));
        }
    }
}
