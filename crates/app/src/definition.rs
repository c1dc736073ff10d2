//! A definition as it stands in a file: who the app is, its databases, and its operations.

use crate::{check, size::Size};
use flashscope_units::{Bytes, Nanos};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;

/// An app.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The text that it was read from.
    #[serde(skip)]
    pub text: String,
    /// Its name.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// Where its counts, sizes and mixes come from, and which of them are our own assumption.
    pub source: String,
    /// How often its operations are performed, unless told otherwise.
    pub rounds: u64,
    /// Sizes by name.
    #[serde(default)]
    pub sizes: BTreeMap<String, Size>,
    /// Databases by name.
    #[serde(default)]
    pub databases: BTreeMap<String, Database>,
    /// What is done once before the clock runs, and is no part of the result.
    #[serde(default)]
    pub prepare: Vec<Operation>,
    /// What the user waits for, in order, in each round.
    #[serde(rename = "operation")]
    pub operations: Vec<Operation>,
}

/// A SQLite database.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// Its file.
    pub file: String,
    /// `PRAGMA journal_mode`.
    #[serde(default)]
    pub journal: Journal,
    /// `PRAGMA synchronous`.
    #[serde(default)]
    pub synchronous: Synchronous,
    /// `PRAGMA page_size`.
    #[serde(default = "usual_page", deserialize_with = "parsed")]
    pub page: Bytes,
    /// Statements that make its tables.
    pub schema: Vec<String>,
}

fn usual_page() -> Bytes {
    Bytes::kib(4)
}

/// How SQLite keeps what a transaction changes until it is whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Journal {
    #[default]
    Delete,
    Truncate,
    Persist,
    Memory,
    Wal,
    Off,
}

impl Journal {
    /// All of them.
    pub const ALL: [Journal; 6] =
        [Journal::Delete, Journal::Truncate, Journal::Persist, Journal::Memory, Journal::Wal, Journal::Off];

    /// SQLite's word.
    pub const fn word(self) -> &'static str {
        match self {
            Journal::Delete => "delete",
            Journal::Truncate => "truncate",
            Journal::Persist => "persist",
            Journal::Memory => "memory",
            Journal::Wal => "wal",
            Journal::Off => "off",
        }
    }
}

/// How often SQLite waits for the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Synchronous {
    Off,
    Normal,
    #[default]
    Full,
    Extra,
}

impl Synchronous {
    /// All of them.
    pub const ALL: [Synchronous; 4] = [Synchronous::Off, Synchronous::Normal, Synchronous::Full, Synchronous::Extra];

    /// SQLite's word.
    pub const fn word(self) -> &'static str {
        match self {
            Synchronous::Off => "off",
            Synchronous::Normal => "normal",
            Synchronous::Full => "full",
            Synchronous::Extra => "extra",
        }
    }
}

/// Something that a user waits for, or that is done beside it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// What it is called in reports.
    pub name: String,
    /// How often it is performed in a round.
    #[serde(default = "once")]
    pub times: u64,
    /// Performed in each such round only, counted from the first.
    #[serde(default = "once")]
    pub every: u64,
    /// What the user does afterwards, without the device.
    #[serde(default, deserialize_with = "time")]
    pub think: Nanos,
    /// Performed by a thread of this name; operations of one thread follow each other.
    #[serde(default = "main")]
    pub thread: String,
    /// Begins so long after the one before began; whatever is later than that is late by as much.
    #[serde(default, deserialize_with = "optional_time")]
    pub period: Option<Nanos>,
    /// May take so long beyond its period before somebody notices (a buffer of music).
    #[serde(default, deserialize_with = "time")]
    pub slack: Nanos,
    /// What it does.
    pub steps: Vec<Step>,
}

fn once() -> u64 {
    1
}

/// The thread whose end is the end of all.
pub const MAIN: &str = "main";

fn main() -> String {
    MAIN.to_owned()
}

/// One step of an operation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Step {
    /// Makes a file, or empties one, and writes it from its start.
    Write {
        /// Which.
        file: String,
        /// So much.
        size: Size,
        /// In pieces of this size.
        #[serde(default = "usual_chunk", deserialize_with = "parsed")]
        chunk: Bytes,
    },
    /// Writes behind what a file holds; makes it where there is none.
    Append {
        /// Which.
        file: String,
        /// So much.
        size: Size,
        /// In pieces of this size.
        #[serde(default = "usual_chunk", deserialize_with = "parsed")]
        chunk: Bytes,
    },
    /// Writes over parts of a file, at random places that are multiples of the piece.
    Overwrite {
        /// Which.
        file: String,
        /// So much in all.
        size: Size,
        /// In pieces of this size.
        #[serde(default = "usual_page", deserialize_with = "parsed")]
        chunk: Bytes,
    },
    /// Reads a file from its start.
    Read {
        /// Which.
        file: String,
        /// So much [default: all of it].
        #[serde(default)]
        size: Option<Size>,
        /// In pieces of this size.
        #[serde(default = "usual_chunk", deserialize_with = "parsed")]
        chunk: Bytes,
        /// Whether what is read is compared with what was written.
        #[serde(default)]
        verify: bool,
    },
    /// Reads on where the step of this kind before left off, from the start again at its end: media that are played.
    ReadOn {
        /// Which.
        file: String,
        /// So much.
        size: Size,
        /// In pieces of this size.
        #[serde(default = "usual_chunk", deserialize_with = "parsed")]
        chunk: Bytes,
    },
    /// Reads parts of a file at random places that are multiples of the piece.
    ReadRandom {
        /// Which.
        file: String,
        /// So much in all.
        size: Size,
        /// In pieces of this size.
        #[serde(default = "usual_page", deserialize_with = "parsed")]
        chunk: Bytes,
    },
    /// Touches pages of a file through a memory map, at random places.
    Map {
        /// Which.
        file: String,
        /// So much in all.
        size: Size,
        /// Whether they are written, and the map is flushed at the end.
        #[serde(default)]
        write: bool,
    },
    /// Waits until a file is on the medium.
    Fsync {
        /// Which.
        file: String,
    },
    /// Waits until a file's data, and what is needed to find them, are on the medium.
    Fdatasync {
        /// Which.
        file: String,
    },
    /// Waits until the names in a directory are on the medium.
    SyncDir {
        /// Which; empty is the directory of the app.
        #[serde(default)]
        dir: String,
    },
    /// Gives a file another name; what bore that is gone.
    Rename {
        /// Which.
        file: String,
        /// Its new name.
        to: String,
    },
    /// Removes a file, where it is there.
    Remove {
        /// Which.
        file: String,
    },
    /// Makes a directory and those above it, where they are not there.
    MakeDir {
        /// Which.
        dir: String,
    },
    /// Reads the names in a directory.
    List {
        /// Which; empty is the directory of the app.
        #[serde(default)]
        dir: String,
    },
    /// Asks for the size and times of a file.
    Stat {
        /// Which.
        file: String,
    },
    /// Cuts or lengthens a file.
    Truncate {
        /// Which.
        file: String,
        /// To this size.
        size: Size,
    },
    /// Makes room for a file.
    Allocate {
        /// Which.
        file: String,
        /// So much.
        size: Size,
    },
    /// Puts all files of the app on the medium and out of the page cache, so that the device is read again.
    DropCaches {},
    /// Does nothing for a while: computing, drawing, waiting for a network.
    Wait {
        /// How long.
        #[serde(deserialize_with = "time")]
        time: Nanos,
    },
    /// A transaction on a database; statements of one that only read need none, and get none.
    Sql {
        /// Which.
        database: String,
        /// What is done in it.
        statements: Vec<Statement>,
    },
}

fn usual_chunk() -> Bytes {
    Bytes::kib(128)
}

/// A statement of SQL, prepared once.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// Its text, with a `?` for each value.
    pub sql: String,
    /// What stands for them.
    #[serde(default)]
    pub values: Vec<Source>,
    /// How often it is executed, with values drawn anew.
    #[serde(default = "once")]
    pub times: u64,
}

/// What stands for a `?` of a statement.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub enum Source {
    /// `round`: counted from 0.
    Round,
    /// `serial`: how often this statement was executed before, counted from 1, so that it can be a key.
    Serial,
    /// `past`: a random one of the serials of all rounds so far of the statement that counts as this one's `serial` does.
    Past,
    /// `any:N`: a random number from 1 to N.
    Any(u64),
    /// `number`: any number at all.
    Number,
    /// `text:SIZE`: letters and digits.
    Text(Size),
    /// `blob:SIZE`: bytes that nothing compresses.
    Blob(Size),
}

impl TryFrom<String> for Source {
    type Error = String;

    fn try_from(text: String) -> Result<Source, String> {
        let (word, rest) = text.split_once(':').unwrap_or((&text, ""));
        let size = || Size::try_from(rest.to_owned());
        match (word, rest) {
            ("round", "") => Ok(Source::Round),
            ("serial", "") => Ok(Source::Serial),
            ("past", "") => Ok(Source::Past),
            ("number", "") => Ok(Source::Number),
            ("any", _) => rest
                .parse()
                .ok()
                .filter(|bound| *bound > 0)
                .map(Source::Any)
                .ok_or_else(|| format!("'{text}' needs a number above 0, as in 'any:100'")),
            ("text", _) => size().map(Source::Text),
            ("blob", _) => size().map(Source::Blob),
            _ => Err(format!(
                "there is no value '{text}'\nhint: round, serial, past, any:100, number, text:40 or blob:2KiB"
            )),
        }
    }
}

/// A size as text, or a bare number of bytes as text.
fn parsed<'de, D: Deserializer<'de>>(from: D) -> Result<Bytes, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Nanos, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

fn optional_time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Nanos>, D::Error> {
    time(from).map(Some)
}

/// Why a text is no definition. Prints as what is wrong, and a hint on its own line where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefinitionError {
    /// It is not TOML, or says what a definition does not know; the message says where.
    Text(String),
    /// It contradicts itself, or reaches out of its directory.
    Sense(String),
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(why) => write!(f, "{why}\nhint: `flashscope app camera --explain` prints a definition"),
            Self::Sense(why) => write!(f, "{why}"),
        }
    }
}

impl std::error::Error for DefinitionError {}

impl Definition {
    /// Reads one.
    ///
    /// # Errors
    /// Where the text is not TOML, has a word too many or too few, names what there is not, or reaches out of the directory
    /// that it is to be played in.
    pub fn parse(text: &str) -> Result<Definition, DefinitionError> {
        let read: Result<Definition, _> = toml::from_str(text);
        let mut definition = read.map_err(|error| DefinitionError::Text(error.to_string().trim_end().to_owned()))?;
        text.clone_into(&mut definition.text);
        definition.resolve().map_err(DefinitionError::Sense)?;
        check::check(&definition).map_err(DefinitionError::Sense)?;
        Ok(definition)
    }

    /// The threads that its operations name, the main one first.
    pub fn threads(&self) -> Vec<&str> {
        let mut threads = vec![MAIN];
        for operation in &self.operations {
            if !threads.contains(&operation.thread.as_str()) {
                threads.push(&operation.thread);
            }
        }
        threads
    }

    /// Bytes that are written to files in so many rounds, on average, its preparation included: what must have room. Files
    /// that are removed again count, too, so that it is a bound rather than a forecast.
    pub fn room(&self, rounds: u64) -> Bytes {
        let of = |operations: &[Operation], rounds: u64| -> f64 {
            let each = |operation: &Operation| {
                let performed = rounds.div_ceil(operation.every) * operation.times;
                performed as f64 * operation.steps.iter().map(Step::written).sum::<f64>()
            };
            operations.iter().map(each).sum()
        };
        Bytes((of(&self.prepare, 1) + of(&self.operations, rounds)) as u64)
    }

    /// Puts sizes in the place of their names.
    fn resolve(&mut self) -> Result<(), String> {
        let sizes = std::mem::take(&mut self.sizes);
        if let Some((name, _)) = sizes.iter().find(|(_, size)| matches!(size, Size::Named(_))) {
            return Err(format!("the size '{name}' names another size, which it must not"));
        }
        for operation in self.prepare.iter_mut().chain(&mut self.operations) {
            for size in operation.steps.iter_mut().flat_map(Step::sizes) {
                if let Size::Named(name) = size {
                    let known = sizes.get(name).ok_or_else(|| {
                        let known: Vec<&str> = sizes.keys().map(String::as_str).collect();
                        format!("there is no size '{name}' in [sizes]\nhint: it has {}", known.join(", "))
                    })?;
                    *size = known.clone();
                }
            }
        }
        self.sizes = sizes;
        Ok(())
    }
}

impl Step {
    /// The sizes that it draws.
    fn sizes(&mut self) -> Vec<&mut Size> {
        match self {
            Step::Write { size, .. }
            | Step::Append { size, .. }
            | Step::Overwrite { size, .. }
            | Step::ReadOn { size, .. }
            | Step::ReadRandom { size, .. }
            | Step::Map { size, .. }
            | Step::Truncate { size, .. }
            | Step::Allocate { size, .. } => vec![size],
            Step::Read { size, .. } => size.iter_mut().collect(),
            Step::Sql { statements, .. } => {
                let values = statements.iter_mut().flat_map(|statement| &mut statement.values);
                values
                    .filter_map(|value| match value {
                        Source::Text(size) | Source::Blob(size) => Some(size),
                        _ => None,
                    })
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// Bytes that it adds to the file system, on average.
    fn written(&self) -> f64 {
        match self {
            Step::Write { size, .. } | Step::Append { size, .. } | Step::Allocate { size, .. } => size.mean(),
            Step::Sql { statements, .. } => {
                let each = |statement: &Statement| {
                    let values = statement.values.iter().map(|value| match value {
                        Source::Text(size) | Source::Blob(size) => size.mean(),
                        _ => 8.0,
                    });
                    let inserts =
                        statement.sql.trim_start().get(..6).is_some_and(|word| word.eq_ignore_ascii_case("insert"));
                    if inserts { statement.times as f64 * values.sum::<f64>() } else { 0.0 }
                };
                statements.iter().map(each).sum()
            }
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"
        name = "mine"
        title = "mine"
        source = "me"
        rounds = 3
        [sizes]
        photo = "2MiB-5MiB"
        [databases.d]
        file = "d.db"
        schema = ["CREATE TABLE t (a INTEGER, b TEXT)"]
        [[operation]]
        name = "op"
        think = "10ms"
        steps = [
          { do = "write", file = "{n}.jpg", size = "photo" },
          { do = "sql", database = "d", statements = [{ sql = "INSERT INTO t VALUES (?, ?)", values = ["serial", "text:40"] }] },
        ]
    "#;

    #[test]
    fn one_is_read_with_its_sizes_resolved() {
        let app = Definition::parse(WHOLE).expect("a definition");
        let Step::Write { size, chunk, .. } = &app.operations[0].steps[0] else { panic!("{app:?}") };
        assert_eq!((size, *chunk), (&Size::Uniform(Bytes::mib(2), Bytes::mib(5)), Bytes::kib(128)));
        assert_eq!((app.operations[0].think, app.threads()), (Nanos::millis(10), vec![MAIN]));
        assert!((app.room(3).as_f64() / Bytes::mib(10).as_f64() - 1.05).abs() < 0.01, "{}", app.room(3));
    }

    #[test]
    fn what_reaches_out_or_makes_no_sense_is_refused_with_its_reason() {
        for (from, to, said) in [
            ("{n}.jpg", "/etc/{n}", "leads out of the directory"),
            ("{n}.jpg", "a/../../{n}", "leads out of the directory"),
            ("{n}.jpg", "{x}.jpg", "{x}"),
            ("\"photo\" }", "\"picture\" }", "no size 'picture'"),
            ("INSERT INTO t VALUES (?, ?)", "ATTACH ? AS ?", "attach"),
            ("INSERT INTO t VALUES (?, ?)", "SELECT load_extension(?, ?)", "load_extension"),
            ("INSERT INTO t VALUES (?, ?)", "PRAGMA writable_schema = ?", "pragma"),
            ("VALUES (?, ?)", "VALUES (?, 1)", "1 places and 2 values"),
            ("do = \"write\"", "do = \"exec\"", "exec"),
            ("database = \"d\", st", "database = \"e\", st", "no database 'e'"),
            ("think", "thimk", "thimk"),
            ("rounds = 3", "", "rounds"),
            ("name = \"op\"", "name = \"op\"\nthread = \"beside\"", "thread 'main'"),
            ("file = \"d.db\"", "file = \"../d.db\"", "leads out"),
            ("size = \"photo\"", "size = \"photo\", chunk = \"1GiB\"", "chunk"),
        ] {
            let text = WHOLE.replacen(from, to, 1);
            assert_ne!(text, WHOLE, "{from}");
            let why = Definition::parse(&text).expect_err(to).to_string();
            assert!(why.contains(said), "{to}: {why}");
        }
    }
}
