//! The journal: one file, a head that names the part, and what stood at each place, in the order in which it was read.
//!
//! An entry counts where all of it is there and its sum is right. A mark, an entry without content, stands behind those that were
//! brought to the disk together, before anything was written in their places: one that is wrong with no mark behind it was never
//! needed, one that is wrong before a mark makes the journal a damaged one.

use crate::outputs::Output;
use flashscope_stats::rng::mix;
use flashscope_units::Bytes;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// What a journal begins with.
const HEAD: &str = "flashscope undo 1";
/// Bytes in front of what stood at a place: its address, its length, and the sum of all three.
const ENTRY: usize = 24;
/// No entry holds more.
const LONGEST: u64 = 1 << 24;

/// What stood at a place, and where in the journal that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) at: Bytes,
    pub(super) length: Bytes,
    place: u64,
    sum: u64,
}

/// The journal of one part.
#[derive(Debug)]
pub struct UndoJournal {
    file: File,
    output: Output,
    entries: Vec<Entry>,
    /// Length of the head.
    head: u64,
    /// Where the next entry goes.
    end: u64,
}

/// Why something cannot be undone.
#[derive(Debug)]
pub enum UndoError {
    /// The journal is of another part.
    OtherPart {
        /// Which.
        identity: String,
    },
    /// It is damaged, or none.
    Damaged(String),
    /// Its disk does not do what it should.
    Io(PathBuf, io::Error),
    /// The device does not take what is put back.
    Device(String),
}

impl fmt::Display for UndoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherPart { identity } => write!(f, "it keeps what stood on another part ({identity})"),
            Self::Damaged(what) => write!(f, "{what}"),
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Device(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for UndoError {}

impl UndoJournal {
    /// Begins a journal for this part. It is there with its head or not at all: a program that is killed meanwhile leaves none.
    ///
    /// # Errors
    /// Where there is one with something in it, or none can be made.
    pub fn begin(output: Output, identity: &str, capacity: Bytes) -> Result<UndoJournal, UndoError> {
        let head = head(identity, capacity);
        output.write(head.as_bytes()).map_err(|error| UndoError::Damaged(error.to_string()))?;
        let file = opened(output.path())?;
        let end = head.len() as u64;
        let mut journal = UndoJournal { file, output, entries: Vec::new(), head: end, end };
        journal.settle()?;
        // Its name is to be on the disk as well, before anything depends on it.
        let folder = journal.path().parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
        folder.map_err(|error| journal.failed(error))?;
        Ok(journal)
    }

    /// Whether there is one: an empty file keeps nothing.
    pub fn is_at(path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|found| found.len() > 0)
    }

    /// Opens what a killed program left for this part; `None` where there is none.
    ///
    /// # Errors
    /// Where it is of another part, or damaged.
    pub fn left(output: Output, identity: &str, capacity: Bytes) -> Result<Option<UndoJournal>, UndoError> {
        if !Self::is_at(output.path()) {
            return Ok(None);
        }
        let mut journal = UndoJournal { file: opened(output.path())?, output, entries: Vec::new(), head: 0, end: 0 };
        journal.scan(identity, capacity)?;
        Ok(Some(journal))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.output.path()
    }

    /// How much it keeps.
    pub fn held(&self) -> Bytes {
        self.entries.iter().map(|entry| entry.length).sum()
    }

    /// Removes it: nothing is to be undone.
    pub fn remove(&self) {
        self.output.remove();
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Takes down what stands at a place.
    pub(super) fn append(&mut self, at: Bytes, bytes: &[u8]) -> Result<(), UndoError> {
        let entry = self.put(at.get(), bytes)?;
        self.entries.push(entry);
        Ok(())
    }

    fn put(&mut self, at: u64, bytes: &[u8]) -> Result<Entry, UndoError> {
        let (length, sum) = (bytes.len() as u64, sum(at, bytes));
        let mut head = [0; ENTRY];
        for (part, word) in head.chunks_exact_mut(8).zip([at, length, sum]) {
            part.copy_from_slice(&word.to_le_bytes());
        }
        self.write(&head)?;
        let place = self.end;
        self.write(bytes)?;
        Ok(Entry { at: Bytes(at), length: Bytes(length), place, sum })
    }

    /// Brings it to its disk.
    pub(super) fn settle(&mut self) -> Result<(), UndoError> {
        self.put(self.entries.len() as u64, &[])?;
        self.file.sync_data().map_err(|error| self.failed(error))
    }

    /// What stood at a place.
    pub(super) fn read(&self, entry: &Entry, bytes: &mut [u8]) -> Result<(), UndoError> {
        self.file.read_exact_at(bytes, entry.place).map_err(|error| self.failed(error))?;
        if sum(entry.at.get(), bytes) == entry.sum {
            return Ok(());
        }
        Err(UndoError::Damaged(format!("what it keeps of address {} has changed", entry.at.get())))
    }

    /// All is put back: it keeps nothing any more.
    pub(super) fn empty(&mut self) -> Result<(), UndoError> {
        let end = self.head;
        self.file.set_len(end).and_then(|()| self.file.sync_data()).map_err(|error| self.failed(error))?;
        (self.end, self.entries) = (end, Vec::new());
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), UndoError> {
        let at = SeekFrom::Start(self.end);
        self.file.seek(at).and_then(|_| self.file.write_all(bytes)).map_err(|error| self.failed(error))?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Finds the entries of a journal that is there.
    fn scan(&mut self, identity: &str, capacity: Bytes) -> Result<(), UndoError> {
        let ours = head(identity, capacity);
        let mut start = vec![0; 4096];
        let got = self.file.read_at(&mut start, 0).map_err(|error| self.failed(error))?;
        let text = String::from_utf8_lossy(&start[..got]).into_owned();
        if !text.starts_with(&ours) {
            let mut lines = text.lines();
            return Err(match (lines.next(), lines.next()) {
                (Some(HEAD), Some(identity)) => UndoError::OtherPart { identity: identity.to_owned() },
                _ => UndoError::Damaged("it is no journal of what stood on a device".to_owned()),
            });
        }
        (self.head, self.end) = (ours.len() as u64, ours.len() as u64);
        let length = self.file.metadata().map_err(|error| self.failed(error))?.len();
        let (mut bytes, mut wrong) = (Vec::new(), None);
        while let Some(entry) = self.entry_at(self.end, length)? {
            bytes.resize(entry.length.get() as usize, 0);
            let right = self.read(&entry, &mut bytes).is_ok();
            match (right, wrong, entry.length) {
                (false, None, _) => wrong = Some(entry.at),
                (true, Some(at), Bytes::ZERO) => {
                    return Err(UndoError::Damaged(format!("what it keeps of address {} has changed", at.get())));
                }
                (true, None, Bytes(1..)) => self.entries.push(entry),
                _ => {}
            }
            self.end = entry.place + entry.length.get();
        }
        Ok(())
    }

    /// The entry at a place of the journal; `None` where none is there whole.
    fn entry_at(&self, place: u64, length: u64) -> Result<Option<Entry>, UndoError> {
        if place + ENTRY as u64 > length {
            return Ok(None);
        }
        let mut head = [0; ENTRY];
        (&self.file).seek(SeekFrom::Start(place)).map_err(|error| self.failed(error))?;
        (&self.file).read_exact(&mut head).map_err(|error| self.failed(error))?;
        let word = |number: usize| {
            head.chunks_exact(8)
                .nth(number)
                .and_then(|part| part.first_chunk())
                .map_or(0, |word| u64::from_le_bytes(*word))
        };
        let (at, size, sum) = (word(0), word(1), word(2));
        let place = place + ENTRY as u64;
        if size > LONGEST || place + size > length {
            return Ok(None);
        }
        Ok(Some(Entry { at: Bytes(at), length: Bytes(size), place, sum }))
    }

    fn failed(&self, error: io::Error) -> UndoError {
        UndoError::Io(self.path().to_owned(), error)
    }
}

fn opened(path: &Path) -> Result<File, UndoError> {
    File::options().read(true).write(true).open(path).map_err(|error| UndoError::Io(path.to_owned(), error))
}

/// The head of the journal of a part.
fn head(identity: &str, capacity: Bytes) -> String {
    format!("{HEAD}\n{}\n{}\n", identity.replace('\n', " "), capacity.get())
}

/// The sum of an entry.
fn sum(at: u64, bytes: &[u8]) -> u64 {
    let start = mix(at ^ mix(bytes.len() as u64));
    bytes.chunks(8).fold(start, |sum, word| {
        let mut eight = [0; 8];
        eight[..word.len()].copy_from_slice(word);
        mix(sum ^ u64::from_le_bytes(eight))
    })
}
