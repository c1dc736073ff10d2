//! What is done on a file system or a database, step by step, and what is found there, as lines of text: they go to the process that does
//! them, and into the journal.
//!
//! `create NAME LENGTH GENERATION`, `loose` (the same, not made safe), `write NAME AT LENGTH GENERATION`, `replace NAME LENGTH GENERATION`, `rename
//! NAME TO`, `remove NAME`; `commit TRANSACTION ROW:LENGTH…`, `begin` (the same, not committed). Found: `file NAME LENGTH`, then its
//! stretches as in [`crate::ledger`], `unreadable NAME WHY`; `row ROW TRANSACTION LENGTH whole|other`, `damaged WHY`.

use crate::ledger::{next, stretch, stretch_text};
use flashscope_device::FoundFile;
use flashscope_units::Bytes;
use std::fmt::{self, Write};
use std::str::FromStr;

/// One step. When it is acknowledged it is safe, unless it says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A new file, with its name.
    Create {
        /// Its name.
        name: String,
        /// How long it is.
        length: Bytes,
        /// What it holds.
        generation: u32,
    },
    /// A new file that is not made safe.
    Loose {
        /// Its name.
        name: String,
        /// How long it is.
        length: Bytes,
        /// What it holds.
        generation: u32,
    },
    /// Data at the end of a file, or over what it holds.
    Write {
        /// Its name.
        name: String,
        /// Where.
        at: Bytes,
        /// How much.
        length: Bytes,
        /// What is written.
        generation: u32,
    },
    /// A new file in the place of one, by renaming.
    Replace {
        /// Its name.
        name: String,
        /// How long it is now.
        length: Bytes,
        /// What it holds now.
        generation: u32,
    },
    /// Another name for a file.
    Rename {
        /// The old one.
        name: String,
        /// The new one, of no file so far.
        to: String,
    },
    /// A file is removed.
    Remove {
        /// Its name.
        name: String,
    },
    /// A transaction that writes rows and is committed.
    Commit {
        /// Its number.
        transaction: u32,
        /// The rows, with the bytes of each.
        rows: Vec<(u32, u32)>,
    },
    /// A transaction that writes rows and stays open.
    Begin {
        /// Its number.
        transaction: u32,
        /// The rows, with the bytes of each.
        rows: Vec<(u32, u32)>,
    },
}

impl Step {
    /// The name under which a file is written before it takes another one's place.
    pub fn beside(name: &str) -> String {
        format!("{name}.new")
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = |f: &mut fmt::Formatter<'_>, rows: &[(u32, u32)]| {
            rows.iter().try_for_each(|(row, length)| write!(f, " {row}:{length}"))
        };
        match self {
            Step::Create { name, length, generation } => write!(f, "create {name} {} {generation}", length.get()),
            Step::Loose { name, length, generation } => write!(f, "loose {name} {} {generation}", length.get()),
            Step::Write { name, at, length, generation } => {
                write!(f, "write {name} {} {} {generation}", at.get(), length.get())
            }
            Step::Replace { name, length, generation } => write!(f, "replace {name} {} {generation}", length.get()),
            Step::Rename { name, to } => write!(f, "rename {name} {to}"),
            Step::Remove { name } => write!(f, "remove {name}"),
            Step::Commit { transaction, rows: all } => write!(f, "commit {transaction}").and_then(|()| rows(f, all)),
            Step::Begin { transaction, rows: all } => write!(f, "begin {transaction}").and_then(|()| rows(f, all)),
        }
    }
}

/// A line that is no step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoStep;

impl FromStr for Step {
    type Err = NoStep;

    fn from_str(line: &str) -> Result<Step, NoStep> {
        parse(line).ok_or(NoStep)
    }
}

fn parse(line: &str) -> Option<Step> {
    let mut words = line.split_whitespace();
    let kind = words.next()?;
    if let "commit" | "begin" = kind {
        let transaction = next(&mut words)?;
        let row =
            |word: &str| word.split_once(':').and_then(|(row, length)| Some((row.parse().ok()?, length.parse().ok()?)));
        let rows = words.map(row).collect::<Option<Vec<_>>>()?;
        return Some(match kind {
            "commit" => Step::Commit { transaction, rows },
            _ => Step::Begin { transaction, rows },
        });
    }
    let name = words.next()?.to_owned();
    let step = match kind {
        "create" => Step::Create { name, length: Bytes(next(&mut words)?), generation: next(&mut words)? },
        "loose" => Step::Loose { name, length: Bytes(next(&mut words)?), generation: next(&mut words)? },
        "replace" => Step::Replace { name, length: Bytes(next(&mut words)?), generation: next(&mut words)? },
        "write" => {
            let (at, length) = (Bytes(next(&mut words)?), Bytes(next(&mut words)?));
            Step::Write { name, at, length, generation: next(&mut words)? }
        }
        "rename" => Step::Rename { name, to: words.next()?.to_owned() },
        "remove" => Step::Remove { name },
        _ => return None,
    };
    words.next().is_none().then_some(step)
}

/// What is there after a cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The files.
    pub files: Vec<FoundFile>,
    /// The rows of a database.
    pub rows: Vec<FoundRow>,
    /// What the database's own check complains of.
    pub damaged: Option<String>,
}

/// A row that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundRow {
    /// Its number.
    pub row: u32,
    /// The transaction that it says it is of.
    pub transaction: u32,
    /// Bytes that it has.
    pub length: u32,
    /// Whether they are those that this transaction wrote.
    pub whole: bool,
}

/// The lines of a file that is there.
pub fn file_text(file: &FoundFile) -> String {
    let mut text = format!("file {} {}\n", file.name, file.length.get());
    text.extend(file.stretches.iter().map(stretch_text));
    if let Some(why) = &file.unreadable {
        let _ = writeln!(text, "unreadable {} {}", file.name, why.replace('\n', " "));
    }
    text
}

impl fmt::Display for FoundRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = if self.whole { "whole" } else { "other" };
        writeln!(f, "row {} {} {} {whole}", self.row, self.transaction, self.length)
    }
}

impl Found {
    /// Takes one of its lines; `None` where it makes no sense.
    pub fn take(&mut self, line: &str) -> Option<()> {
        let mut words = line.split_whitespace();
        match words.next()? {
            "file" => {
                let (name, length) = (words.next()?.to_owned(), Bytes(next(&mut words)?));
                self.files.push(FoundFile { name, length, stretches: Vec::new(), unreadable: None });
            }
            "holds" => self.files.last_mut()?.stretches.push(stretch(&mut words)?),
            "unreadable" => {
                let why = line.splitn(3, ' ').nth(2)?;
                self.files.last_mut()?.unreadable = Some(why.to_owned());
            }
            "damaged" => self.damaged = line.split_once(' ').map(|(_, why)| why.to_owned()),
            "row" => self.rows.push(FoundRow {
                row: next(&mut words)?,
                transaction: next(&mut words)?,
                length: next(&mut words)?,
                whole: words.next()? == "whole",
            }),
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_device::{Holds, Stretch};

    #[test]
    fn steps_come_back_from_their_lines() {
        let (name, to) = ("f7".to_owned(), "f8".to_owned());
        let (length, generation) = (Bytes::kib(4), 9);
        let rows = vec![(3, 512), (4, 0)];
        let steps = [
            Step::Create { name: name.clone(), length, generation },
            Step::Loose { name: name.clone(), length, generation },
            Step::Write { name: name.clone(), at: Bytes(512), length, generation },
            Step::Replace { name: name.clone(), length, generation },
            Step::Rename { name: name.clone(), to },
            Step::Remove { name },
            Step::Commit { transaction: 5, rows: rows.clone() },
            Step::Begin { transaction: 6, rows },
        ];
        for step in steps {
            assert_eq!(step.to_string().parse(), Ok(step));
        }
        for line in ["", "create", "create f7 x 9", "remove f7 f8", "sync f7", "commit 5 3-512"] {
            assert_eq!(line.parse::<Step>(), Err(NoStep), "{line}");
        }
    }

    #[test]
    fn what_was_found_comes_back_from_its_lines() {
        let stretches =
            vec![Stretch { length: Bytes(512), holds: Holds::Tagged { generation: 4, addressed: Bytes(0) } }];
        let unreadable = Some("EIO: input/output error".to_owned());
        let file = FoundFile { name: "f1".to_owned(), length: Bytes(512), stretches, unreadable };
        let row = FoundRow { row: 3, transaction: 5, length: 512, whole: true };
        let mut found = Found::default();
        for line in (file_text(&file) + &row.to_string() + "damaged row 3 missing\n").lines() {
            assert_eq!(found.take(line), Some(()), "{line}");
        }
        assert_eq!(found, Found { files: vec![file], rows: vec![row], damaged: Some("row 3 missing".to_owned()) });
        assert_eq!(Found::default().take("holds 512 foreign"), None, "of no file");
    }
}
