//! A trace that is read, whichever program wrote it: as an iterator over its requests, in order of issue.

use crate::args::TraceInput;
use crate::error::Failure;
use crate::{input, interrupt, progress};
use anyhow::anyhow;
use flashscope_model::trace::TraceSource;
use flashscope_trace::file::{Head, Reader, Tail};
use flashscope_trace::import::{BEGINNING, Options};
use flashscope_trace::{Format, TraceError, Traced, import};
use indicatif::ProgressBar;
use std::cell::Cell;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Bytes of a trace that are read between two looks at whether the operator wants to stop.
const LOOK_EVERY: u64 = 1 << 20;

/// An open trace.
pub(super) struct Source {
    requests: Requests,
    /// What it says of itself.
    pub(super) head: Head,
    /// What must be known of it.
    pub(super) notes: Vec<String>,
    stopped: Rc<Cell<bool>>,
    bar: ProgressBar,
}

enum Requests {
    Own(Box<Reader<Watched>>),
    Imported { requests: std::vec::IntoIter<Traced>, dropped: u64 },
}

/// A file whose reading shows its progress and ends where the operator wants it to.
struct Watched {
    file: BufReader<File>,
    read: u64,
    look_at: u64,
    bar: ProgressBar,
    stopped: Rc<Cell<bool>>,
}

impl Read for Watched {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(into)?;
        self.read += read as u64;
        if self.read >= self.look_at {
            self.look_at = self.read + LOOK_EVERY;
            self.bar.set_position(self.read >> 20);
            self.stopped.set(interrupt::asked());
        }
        Ok(read)
    }
}

impl Source {
    /// Opens a trace, of blktrace all its files.
    ///
    /// # Errors
    /// Where there is none, it is of no known format, or an import fails.
    pub(super) fn open(files: &[PathBuf], args: &TraceInput) -> Result<Source, Failure> {
        let mut open = files.iter().map(|path| opened(path)).collect::<Result<Vec<_>, _>>()?;
        let Some((first, path)) = open.first_mut().zip(files.first()) else {
            return Err(Failure::Cannot(anyhow!("no trace is named")));
        };
        let length = first.get_ref().metadata().map_or(0, |data| data.len());
        let format = match args.format {
            Some(format) => format,
            None => format_of(first, path)?,
        };
        let said = |error: TraceError| Failure::Cannot(anyhow!("{}: {error}", path.display()));
        if format == Format::Own && files.len() == 1 {
            let bar = progress::bar(length >> 20, "MiB");
            let stopped = Rc::new(Cell::new(false));
            let file = open.remove(0);
            let watched = Watched { file, read: 0, look_at: 0, bar: bar.clone(), stopped: Rc::clone(&stopped) };
            let reader = Reader::new(watched).map_err(said)?;
            let head = reader.head().clone();
            let requests = Requests::Own(Box::new(reader));
            return Ok(Source { requests, head, notes: Vec::new(), stopped, bar });
        }
        let options = Options { unit: args.time_unit, waits: args.waits, disk: args.disk.clone() };
        let inputs = open.iter_mut().map(|file| file as &mut dyn BufRead).collect();
        let found = import(format, inputs, &options).map_err(said)?;
        let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
        let head = Head { capacity: found.capacity, source: format!("{} from {}", format.word(), names.join(", ")) };
        let requests = Requests::Imported { requests: found.requests.into_iter(), dropped: found.dropped };
        Ok(Source { requests, head, notes: found.notes, stopped: Rc::default(), bar: ProgressBar::hidden() })
    }

    /// As [`Source::open`] of one file.
    pub(super) fn open_one(file: &Path, args: &TraceInput) -> Result<Source, Failure> {
        Source::open(&[file.to_path_buf()], args)
    }

    /// What stands behind the last request, once all were read.
    pub(super) fn tail(&self) -> Option<Tail> {
        match &self.requests {
            Requests::Own(reader) => reader.tail(),
            Requests::Imported { dropped, .. } => Some(Tail { requests: 0, dropped: *dropped }),
        }
    }

    /// Whether the operator ended the reading.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.get()
    }

    /// Where it came from, for a record.
    pub(super) fn described(&self, file: &Path) -> TraceSource {
        TraceSource {
            file: file.display().to_string(),
            origin: self.head.source.clone(),
            capacity: self.head.capacity,
            notes: self.notes.clone(),
        }
    }
}

impl Iterator for Source {
    type Item = Result<Traced, TraceError>;

    fn next(&mut self) -> Option<Result<Traced, TraceError>> {
        let next = match &mut self.requests {
            _ if self.stopped.get() => None,
            Requests::Own(reader) => reader.next(),
            Requests::Imported { requests, .. } => requests.next().map(Ok),
        };
        if next.is_none() {
            self.bar.finish_and_clear();
        }
        next
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn opened(path: &Path) -> Result<BufReader<File>, Failure> {
    let file = File::open(path).and_then(|file| match file.metadata()?.is_dir() {
        true => Err(std::io::ErrorKind::IsADirectory.into()),
        false => Ok(file),
    });
    let file = file.map_err(|error| {
        anyhow!(
            "cannot read {}: {}\nhint: name a trace; `flashscope trace --help`",
            path.display(),
            input::said(&error)
        )
    })?;
    Ok(BufReader::with_capacity(1 << 18, file))
}

fn format_of(file: &mut BufReader<File>, path: &Path) -> Result<Format, Failure> {
    let mut beginning = Vec::with_capacity(BEGINNING);
    let read = (&mut *file).take(BEGINNING as u64).read_to_end(&mut beginning).and_then(|_| file.rewind());
    read.map_err(|error| anyhow!("cannot read {}: {}", path.display(), input::said(&error)))?;
    let known = Format::ALL.map(Format::word).join(", ");
    Format::of_content(&beginning).ok_or_else(|| match beginning.is_empty() {
        true => {
            Failure::Cannot(anyhow!("{} is empty\nhint: was the recording cut off before it began?", path.display()))
        }
        false => Failure::Cannot(anyhow!(
            "{} is no trace of a known format\nhint: known are {known}; --format says which",
            path.display()
        )),
    })
}

/// What is said of a trace that cannot be read.
pub(super) fn unreadable(path: &Path, error: &TraceError) -> Failure {
    Failure::Cannot(anyhow!("{}: {error}", path.display()))
}
