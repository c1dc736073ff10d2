//! SQLite at work: its own command line as a child, told in SQL what to do, and believed when it says that it is done.

use flashscope_device::Fill;
use flashscope_host::payload;
use flashscope_integrity::under::{FoundRow, Step};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A database that is open.
pub(super) struct Database {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// Number of the last acknowledgement that was asked for.
    asked: u32,
}

/// Rows lie so far apart in what their bytes are made from: no row has more.
const APART: u64 = 1 << 16;

impl Database {
    /// Name of its file.
    pub(super) const FILE: &str = "test.db";

    /// Opens a database, which is made where it is not there.
    pub(super) fn open(program: &Path, file: &Path, pragmas: &str) -> Result<Database, String> {
        let mut command = Command::new(program);
        command.args(["-batch", "-bail", "-noheader", "-list"]).arg(file);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (to, from) = pipes.ok_or_else(|| "no pipe to the database".to_owned())?;
        let mut database = Database { child, to, from: BufReader::new(from), asked: 0 };
        let pragmas: String = pragmas.split(',').map(|one| format!("PRAGMA {one};\n")).collect();
        // A cache of a few pages, so that a transaction that is not committed reaches the file as well.
        database.run(&format!(
            "{pragmas}PRAGMA cache_size=8;\nCREATE TABLE IF NOT EXISTS kept(row INTEGER PRIMARY KEY, txn INTEGER, body BLOB);\n"
        ))?;
        Ok(database)
    }

    pub(super) fn step(&mut self, step: &Step) -> Result<(), String> {
        let (Step::Commit { transaction, rows } | Step::Begin { transaction, rows }) = step else {
            return Err("a database has no files".to_owned());
        };
        let mut sql = "BEGIN;\n".to_owned();
        for (row, length) in rows {
            let _ = writeln!(
                sql,
                "INSERT OR REPLACE INTO kept VALUES({row},{transaction},x'{}');",
                body(*transaction, *row, *length)
            );
        }
        if matches!(step, Step::Commit { .. }) {
            sql.push_str("COMMIT;\n");
        }
        self.run(&sql).map(drop)
    }

    /// What is in it, and what its own check says, as lines.
    pub(super) fn look(&mut self) -> Result<String, String> {
        let mut text = String::new();
        for line in self.run("SELECT row, txn, length(body), lower(hex(body)) FROM kept ORDER BY row;\n")? {
            let mut words = line.split('|');
            let mut next =
                || words.next().and_then(|word| word.parse::<u32>().ok()).ok_or_else(|| format!("an odd row: {line}"));
            let (row, transaction, length) = (next()?, next()?, next()?);
            let whole = words.next() == Some(&body(transaction, row, length));
            text += &FoundRow { row, transaction, length, whole }.to_string();
        }
        let said = self.run("PRAGMA integrity_check;\n")?;
        if said != ["ok"] {
            let _ = writeln!(text, "damaged {}", said.join("; "));
        }
        Ok(text)
    }

    /// Closes it, which an open transaction does not survive.
    pub(super) fn close(self) -> Result<(), String> {
        let Database { mut child, to, .. } = self;
        drop(to);
        let ended = child.wait().map_err(|error| format!("cannot wait for the database: {error}"))?;
        if ended.success() { Ok(()) } else { Err(format!("the database ended with {ended}")) }
    }

    /// Runs statements: the lines that came of them.
    fn run(&mut self, sql: &str) -> Result<Vec<String>, String> {
        self.asked += 1;
        let end = format!("acknowledged {}", self.asked);
        let sent = self.to.write_all(format!("{sql}SELECT '{end}';\n").as_bytes()).and_then(|()| self.to.flush());
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            match self.from.read_line(&mut line) {
                Ok(1..) if line.trim_end() == end => return Ok(lines),
                Ok(1..) => lines.push(line.trim_end().to_owned()),
                Ok(0) | Err(_) => break,
            }
        }
        let mut said = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            let _ = stderr.read_to_string(&mut said);
        }
        let first = said.lines().find(|line| !line.trim().is_empty());
        Err(first.map_or_else(|| format!("the database has ended ({sent:?})"), str::to_owned))
    }
}

/// What a row holds, in hexadecimal digits.
fn body(transaction: u32, row: u32, length: u32) -> String {
    let mut bytes = vec![0; length as usize];
    let whole = bytes.len() / 8 * 8;
    payload::fill(Fill::Tagged { generation: transaction }, u64::from(row) * APART, &mut bytes[..whole]);
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
