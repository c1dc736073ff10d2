//! Traces of other programs, read: each format in a file of its own, recognised by what it holds.
//!
//! An import holds the whole trace in memory (56 bytes for a request), as most formats are in no order that a replay
//! could go by.

mod blkparse;
mod blktrace;
mod iolog;
mod tables;
mod text;
mod units;

pub use units::{TimeUnit, Waits};

use crate::event::{Event, Pairing};
use crate::{TraceError, Traced};
use flashscope_units::{Bytes, Instant};
use std::io::BufRead;

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Our own.
    Own,
    /// What `blktrace` writes, a file per processor.
    Blktrace,
    /// What `blkparse` prints, by its default format.
    Blkparse,
    /// fio's log, version 2: no times but waits.
    Iolog2,
    /// fio's log, version 3.
    Iolog3,
    /// The traces that Microsoft Research Cambridge published, by the SNIA.
    Msr,
    /// The Storage Performance Council's, as the UMass repository has them.
    Spc,
    /// What `flashscope emulate --log` writes.
    Emulator,
    /// What `flashscope bench` writes of jobs with `trace`.
    Bench,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 9] = [
        Format::Own,
        Format::Blktrace,
        Format::Blkparse,
        Format::Iolog2,
        Format::Iolog3,
        Format::Msr,
        Format::Spc,
        Format::Emulator,
        Format::Bench,
    ];

    /// Its word on the command line and in records.
    pub const fn word(self) -> &'static str {
        match self {
            Format::Own => "flashscope",
            Format::Blktrace => "blktrace",
            Format::Blkparse => "blkparse",
            Format::Iolog2 => "fio2",
            Format::Iolog3 => "fio3",
            Format::Msr => "msr",
            Format::Spc => "spc",
            Format::Emulator => "emulator",
            Format::Bench => "bench",
        }
    }

    /// The format of this word.
    pub fn of_word(word: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.word() == word)
    }

    /// The format of a file that begins so; `None` where it is like none.
    pub fn of_content(beginning: &[u8]) -> Option<Format> {
        if beginning.starts_with(&crate::file::MAGIC) {
            return Some(Format::Own);
        }
        if blktrace::is_one(beginning) {
            return Some(Format::Blktrace);
        }
        let line = beginning.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty())?.trim_ascii();
        let is = |format: &Format| match format {
            Format::Own | Format::Blktrace => false,
            Format::Blkparse => blkparse::is_line(line),
            Format::Iolog2 => line == b"fio version 2 iolog",
            Format::Iolog3 => line == b"fio version 3 iolog",
            Format::Emulator => line == tables::EMULATOR_HEAD,
            Format::Bench => line == tables::BENCH_HEAD,
            Format::Msr => tables::is_msr(line),
            Format::Spc => tables::is_spc(line),
        };
        Format::ALL.into_iter().find(is)
    }
}

/// How much of a file is looked at to tell its format.
pub const BEGINNING: usize = 4096;

/// What an import must be told where the file does not tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The unit of times; `None`: that of the format, checked for what no device does.
    pub unit: Option<TimeUnit>,
    /// How the waits of a fio log of version 2 are meant; `None`: as fio's manual has it, where that can be.
    pub waits: Option<Waits>,
    /// Which of several disks, as the trace names them.
    pub disk: Option<String>,
}

/// A trace of another program, read.
#[derive(Debug, Default)]
pub struct Imported {
    /// In order of issue; the first at 0.
    pub requests: Vec<Traced>,
    /// What must be known of it, a sentence each.
    pub notes: Vec<String>,
    /// Events that its recorder had no room for.
    pub dropped: u64,
    /// The size of the traced device, where it is known.
    pub capacity: Option<Bytes>,
}

/// Reads a trace of another program; several files are those of one `blktrace` run.
///
/// # Errors
/// What cannot be read, in which line; times in a unit that no device has; nothing in it; several disks.
pub fn import(format: Format, mut files: Vec<&mut dyn BufRead>, options: &Options) -> Result<Imported, TraceError> {
    if files.len() > 1 && format != Format::Blktrace {
        return Err(TraceError::unclear(
            "only blktrace has several files for one trace",
            "import each by itself; blktrace's are NAME.blktrace.0, NAME.blktrace.1 …",
        ));
    }
    let mut imported = match (format, files.first_mut()) {
        (Format::Blktrace, _) => blktrace::read(files, options)?,
        (_, None) => return Err(TraceError::unclear("there is no file to read", "name one")),
        (Format::Blkparse, Some(file)) => blkparse::read(*file, options)?,
        (Format::Iolog2, Some(file)) => iolog::read_2(*file, options)?,
        (Format::Iolog3, Some(file)) => iolog::read_3(*file, options)?,
        (Format::Msr, Some(file)) => tables::read_msr(*file, options)?,
        (Format::Spc, Some(file)) => tables::read_spc(*file, options)?,
        (Format::Emulator, Some(file)) => tables::read_emulator(*file, options)?,
        (Format::Bench, Some(file)) => tables::read_bench(*file, options)?,
        (Format::Own, Some(_)) => {
            return Err(TraceError::unclear("it is a flashscope trace already", "`flashscope trace cut` copies it"));
        }
    };
    settle(&mut imported)?;
    if options.unit.is_none() {
        units::check(&imported.requests)?;
    }
    Ok(imported)
}

/// Times and addresses of a trace lie below this: 146 years, and 4 EiB.
const BEYOND: u64 = 1 << 62;

/// In order of issue, and from 0 on.
fn settle(imported: &mut Imported) -> Result<(), TraceError> {
    let requests = &mut imported.requests;
    if requests.is_empty() {
        return Err(TraceError::unclear("no request stands in it", "look whether it was recorded on the right device"));
    }
    let late = requests.windows(2).filter(|pair| pair[1].issued < pair[0].issued).count();
    if late > 0 {
        imported.notes.push(format!("{late} requests stood behind later ones, and were put in order of time"));
        requests.sort_by_key(|request| request.issued);
    }
    let first = requests[0].issued;
    for request in requests.iter_mut() {
        request.issued = Instant(request.issued.0 - first.0);
        request.completed = request.completed.map(|completed| Instant(completed.0 - first.0));
        let ends = request.offset.get().checked_add(u64::from(request.length));
        if ends.is_none_or(|end| end >= BEYOND) || request.completed.unwrap_or(request.issued).0 >= BEYOND {
            let what = format!("a request at byte {} lies beyond any device, or any time", request.offset.get());
            return Err(TraceError::unclear(what, "look whether the file is what it is taken for"));
        }
    }
    Ok(())
}

/// Requests of the kernel's events, of one device.
fn of_events(mut events: Vec<Event>, options: &Options, name: fn(u64) -> String) -> Result<Imported, TraceError> {
    events.sort_by_key(|event| event.at);
    let devices: std::collections::BTreeSet<u64> = events.iter().map(|event| event.device).collect();
    let names: Vec<String> = devices.iter().map(|device| name(*device)).collect();
    let disk = choose(&names, options)?;
    let mut pairing = Pairing::default();
    events
        .iter()
        .filter(|event| disk.is_none_or(|disk| name(event.device) == disk))
        .for_each(|event| pairing.add(event));
    let paired = pairing.finish();
    let mut notes = Vec::new();
    if paired.queued && !paired.requests.is_empty() {
        notes.push("no request is seen to reach the device, so that times are those of the queue".to_owned());
    }
    if paired.unmatched > 0 {
        notes.push(format!("{} requests ended that began before the trace", paired.unmatched));
    }
    if paired.endless > 0 {
        notes.push(format!("of {} requests the end is missing", paired.endless));
    }
    Ok(Imported { requests: paired.requests, notes, ..Imported::default() })
}

/// The disk whose requests are wanted; `None` where there is but one.
fn choose<'o>(names: &[String], options: &'o Options) -> Result<Option<&'o str>, TraceError> {
    match &options.disk {
        Some(disk) if names.contains(disk) => Ok(Some(disk)),
        Some(disk) => {
            Err(TraceError::unclear(format!("there is no disk {disk} in it"), format!("it has {}", names.join(", "))))
        }
        None if names.len() > 1 => Err(TraceError::unclear(
            format!("it has requests of {} disks: {}", names.len(), names.join(", ")),
            format!("name one of them: --disk {}", names[0]),
        )),
        None => Ok(None),
    }
}
