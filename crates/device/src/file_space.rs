//! Work that is no block range: whole files, read and written in the ways that programs have.
//!
//! A [`FileSpace`] knows its files by number and opens them as [`FileWork`], along which whole passes are made: one call
//! per pass, so that nothing is looked up per record. A simulated device has no files, hence none of this.

use crate::WriteGrant;
use flashscope_units::{Bytes, Instant};
use std::fmt;
use std::sync::atomic::AtomicBool;

/// A few files, known by number from 0.
pub trait FileSpace {
    /// A file opened in one way.
    type File: FileWork;

    /// Now.
    fn now(&self) -> Instant;

    /// Makes file `number` anew, empty. One that somebody else made is only emptied, and only where its owner consented.
    ///
    /// # Errors
    /// Where there is something that is not ours, or the system says no.
    fn make(&self, number: usize, grant: &WriteGrant) -> Result<(), FileError>;

    /// Opens file `number`, which is there.
    ///
    /// # Errors
    /// Whatever the system says, and ways that this system does not have.
    fn open(&self, number: usize, opening: FileOpening) -> Result<Self::File, FileError>;

    /// Size of file `number`; `None` where there is none.
    fn length(&self, number: usize) -> Option<Bytes>;

    /// Waits until what was written to file `number` is on the medium.
    ///
    /// # Errors
    /// Whatever the system says.
    fn settle(&self, number: usize) -> Result<(), FileError>;

    /// Removes file `number`, if it was made here.
    ///
    /// # Errors
    /// Whatever the system says.
    fn remove(&self, number: usize) -> Result<(), FileError>;

    /// Writes back what is dirty of file `number` and drops it from the page cache, as far as the kernel follows.
    ///
    /// # Errors
    /// Whatever the system says.
    fn drop_cache(&self, number: usize) -> Result<(), FileError>;

    /// What the kernel counts around file `number`, now.
    fn counts(&self, number: usize) -> FileCounts;
}

/// One file, opened in one way. Closed by [`FileWork::close`] or when dropped.
pub trait FileWork {
    /// Moves one record per step, in order; ends early at the first that fails, or as soon as `stop` is set.
    fn pass(&mut self, steps: impl Iterator<Item = Step>, stop: &AtomicBool) -> Passed;

    /// Waits until what was written is on the medium.
    ///
    /// # Errors
    /// What the system said.
    fn flush(&mut self) -> Result<(), String>;

    /// Closes it.
    ///
    /// # Errors
    /// What the system said.
    fn close(self) -> Result<(), String>;
}

/// How a file is opened.
#[derive(Debug)]
pub struct FileOpening {
    /// The way that records take.
    pub way: FileWay,
    /// Past the page cache.
    pub direct: bool,
    /// Whether writes wait for the medium.
    pub durable: Durable,
    /// Size of a record.
    pub record: Bytes,
    /// How much of the file is worked on; a memory map is made of this size.
    pub length: Bytes,
    /// Whether the mark of every page that is read is checked; only where it was written here.
    pub check: bool,
    /// The right to write; without it the file is opened for reading only.
    pub grant: Option<WriteGrant>,
}

/// The ways that records take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileWay {
    /// `read` and `write`, with `lseek` where the next record is not the one that follows.
    Plain,
    /// `pread` and `pwrite`.
    Positioned,
    /// `preadv` and `pwritev`, a record in several pieces.
    Vectored,
    /// The C library's `fread` and `fwrite`, with a buffer of one record.
    Stdio,
    /// Loads and stores on a shared memory map.
    Map,
    /// POSIX asynchronous I/O.
    Async {
        /// Records outstanding at most.
        depth: u32,
        /// Whether each is copied between the program's buffer and one of the queue.
        copy: bool,
    },
}

/// Whether a write waits for the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durable {
    /// No.
    No,
    /// For data and what is needed to find them (`O_DSYNC`).
    Data,
    /// For everything (`O_SYNC`).
    All,
    /// Reads wait for it, too (`O_RSYNC`).
    Reads,
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where it lies, in bytes.
    pub offset: u64,
    /// Whether it is written.
    pub write: bool,
}

/// What a pass did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Records that went well.
    pub records: u64,
    /// Records that were read and bear other marks than were written there.
    pub mismatched: u64,
    /// The step that failed, and what the system said; `None` where all went well or it was stopped.
    pub failed: Option<(Step, String)>,
}

/// What the kernel counts around a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCounts {
    /// Bytes that the device below has read and written since it came; `None` where nobody counts.
    pub device: Option<(Bytes, Bytes)>,
    /// Bytes of the file in the page cache.
    pub cached: Option<Bytes>,
    /// Of these not on the medium yet.
    pub dirty: Option<Bytes>,
    /// Name of the file system in memory that holds it.
    pub in_memory: Option<&'static str>,
}

/// Why a file could not be worked on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// There is something that is not ours, and nobody consented to its end.
    NotOurs {
        /// Its name.
        name: String,
    },
    /// This system has no such way.
    NoSuchWay {
        /// Which.
        way: &'static str,
    },
    /// The device or file system failed (no space left, an input/output error): an outcome, not a reason to stop.
    Failed {
        /// What was tried (`make room in`).
        operation: &'static str,
        /// On what.
        name: String,
        /// What the system said (`ENOSPC: no space left`).
        said: String,
    },
    /// The operating system said no.
    System {
        /// What was tried (`open`).
        operation: &'static str,
        /// On what.
        name: String,
        /// What it said (`EINVAL: invalid argument`).
        said: String,
    },
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOurs { name } => write!(f, "{name} is there already, and flashscope did not make it"),
            Self::NoSuchWay { way } => write!(f, "this system has no {way}"),
            Self::Failed { operation, name, said } | Self::System { operation, name, said } => {
                write!(f, "cannot {operation} {name}: {said}")
            }
        }
    }
}

impl std::error::Error for FileError {}
