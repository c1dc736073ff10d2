//! Traces for other programs: each format as its own tool reads it.

use crate::event::SECTOR;
use crate::{Flags, Format, Op, TraceError, Traced};
use std::collections::BinaryHeap;
use std::io::Write;

/// Writes a trace in the format of another program.
pub struct Exporter<W: Write> {
    into: W,
    format: Format,
    /// Ends that come later than the last issue, the earliest on top.
    ends: BinaryHeap<std::cmp::Reverse<(u64, u64, Line)>>,
    sequence: u64,
    last_ns: u64,
}

/// What an end of a request says.
type Line = (u64, u32, u8, u8, u32);

/// What stands for a device in a fio log and for a disk in tables: the one who replays it puts the real name in.
const DEVICE: &str = "/dev/traced";

impl<W: Write> Exporter<W> {
    /// Begins one.
    ///
    /// # Errors
    /// Of what is written to; a format that is only read.
    pub fn new(mut into: W, format: Format) -> Result<Exporter<W>, TraceError> {
        match format {
            Format::Iolog2 => write!(into, "fio version 2 iolog\n{DEVICE} add\n{DEVICE} open\n")?,
            Format::Iolog3 => write!(into, "fio version 3 iolog\n0 {DEVICE} add\n0 {DEVICE} open\n")?,
            Format::Blkparse | Format::Blktrace | Format::Msr | Format::Spc => {}
            Format::Own | Format::Emulator | Format::Bench => {
                return Err(TraceError::unclear(
                    format!("nothing is exported as {}", format.word()),
                    "one of blktrace, blkparse, fio2, fio3, msr, spc",
                ));
            }
        }
        Ok(Exporter { into, format, ends: BinaryHeap::new(), sequence: 0, last_ns: 0 })
    }

    /// Adds a request, issued no earlier than those before it.
    ///
    /// # Errors
    /// Of what is written to; a request that the format cannot hold.
    pub fn add(&mut self, request: &Traced) -> Result<(), TraceError> {
        let ns = request.issued.0;
        let (offset, length) = (request.offset.get(), request.length);
        match self.format {
            Format::Iolog3 => {
                write!(self.into, "{} {DEVICE} ", ns / 1000)?;
                self.fio_action(request)?;
            }
            Format::Iolog2 => {
                // What is below a microsecond stays for the next wait, so that waits add up to the trace.
                let wait = (ns - self.last_ns) / 1000;
                if wait > 0 {
                    writeln!(self.into, "{DEVICE} wait {wait} 0")?;
                    self.last_ns += wait * 1000;
                }
                write!(self.into, "{DEVICE} ")?;
                self.fio_action(request)?;
            }
            Format::Msr => {
                let kind = self.read_or_write(request)?;
                let took = request.service_time().map_or(0, |time| time.get() / 100);
                writeln!(self.into, "{},traced,0,{kind},{offset},{length},{took}", MSR_FIRST + ns / 100)?;
            }
            Format::Spc => {
                let kind = &self.read_or_write(request)?[..1];
                let (seconds, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
                writeln!(self.into, "0,{},{length},{kind},{seconds}.{rest:09}", self.sectors(offset)?)?;
            }
            _ => {
                self.put_ends(ns)?;
                let line = (
                    self.sectors(offset)?,
                    length,
                    request.op.index() as u8,
                    request.flags.bits(),
                    request.process.unwrap_or(0),
                );
                self.sectors(u64::from(length))?;
                self.event(ns, b'D', line)?;
                if let Some(completed) = request.completed {
                    self.ends.push(std::cmp::Reverse((completed.0, self.sequence, line)));
                }
            }
        }
        Ok(())
    }

    /// Ends it.
    ///
    /// # Errors
    /// Of what is written to.
    pub fn finish(mut self) -> Result<W, TraceError> {
        self.put_ends(u64::MAX)?;
        match self.format {
            Format::Iolog2 => writeln!(self.into, "{DEVICE} close")?,
            Format::Iolog3 => writeln!(self.into, "{} {DEVICE} close", self.last_ns / 1000)?,
            _ => {}
        }
        self.into.flush()?;
        Ok(self.into)
    }

    fn fio_action(&mut self, request: &Traced) -> Result<(), TraceError> {
        self.last_ns = if self.format == Format::Iolog3 { request.issued.0 } else { self.last_ns };
        let action = match request.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Discard => "trim",
            Op::Flush => return Ok(writeln!(self.into, "sync 0 0")?),
        };
        Ok(writeln!(self.into, "{action} {} {}", request.offset.get(), request.length)?)
    }

    fn read_or_write(&self, request: &Traced) -> Result<&'static str, TraceError> {
        match request.op {
            Op::Read => Ok("Read"),
            Op::Write => Ok("Write"),
            other => Err(TraceError::unclear(
                format!("{} holds no {}", self.format.word(), other.word()),
                "leave them out with `trace cut --kinds read,write`, or export as blkparse, fio2 or fio3",
            )),
        }
    }

    fn sectors(&self, bytes: u64) -> Result<u64, TraceError> {
        if bytes.is_multiple_of(SECTOR) {
            return Ok(bytes / SECTOR);
        }
        Err(TraceError::unclear(
            format!("{} counts in sectors of 512 bytes, and a request is none", self.format.word()),
            "export as fio2, fio3 or msr, which count in bytes",
        ))
    }

    fn put_ends(&mut self, until: u64) -> Result<(), TraceError> {
        while self.ends.peek().is_some_and(|std::cmp::Reverse((at, ..))| *at <= until) {
            let Some(std::cmp::Reverse((at, _, line))) = self.ends.pop() else { break };
            self.event(at, b'C', line)?;
        }
        Ok(())
    }

    fn event(&mut self, ns: u64, action: u8, (sector, length, op, flags, process): Line) -> Result<(), TraceError> {
        self.sequence += 1;
        let op = Op::ALL[usize::from(op)];
        let flags = Flags::from_bits(flags).unwrap_or_default();
        if self.format == Format::Blktrace {
            let event = binary(self.sequence, ns, action, (sector, length, op, flags, process));
            self.into.write_all(&event)?;
            return Ok(());
        }
        let (seconds, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
        let letters = letters(op, flags);
        write!(
            self.into,
            "  8,0    0 {:8} {seconds:5}.{rest:09} {process:5}  {}  {letters} ",
            self.sequence, action as char
        )?;
        let error = if flags.has(Flags::FAILED) { -5 } else { 0 };
        match (action, op) {
            (b'C', Op::Flush) => writeln!(self.into, "0 [{error}]")?,
            (_, Op::Flush) => writeln!(self.into, "[traced]")?,
            (b'C', _) => writeln!(self.into, "{sector} + {} [{error}]", u64::from(length) / SECTOR)?,
            _ => writeln!(self.into, "{sector} + {} [traced]", u64::from(length) / SECTOR)?,
        }
        Ok(())
    }
}

/// The time of the first line of an MSR trace that we write: 22 February 2007, when those that were published begin.
const MSR_FIRST: u64 = 128_166_372_000_000_000;

/// The kernel's letters.
fn letters(op: Op, flags: Flags) -> String {
    let first = match op {
        Op::Read => "R",
        Op::Write => "W",
        Op::Flush => "FN",
        Op::Discard => "D",
    };
    let rest = [(Flags::FUA, 'F'), (Flags::AHEAD, 'A'), (Flags::SYNC, 'S'), (Flags::META, 'M')];
    first.chars().chain(rest.into_iter().filter(|(flag, _)| flags.has(*flag)).map(|(_, letter)| letter)).collect()
}

/// An event as `struct blk_io_trace` (`linux/blktrace_api.h`), lowest byte first.
fn binary(sequence: u64, ns: u64, action: u8, (sector, length, op, flags, process): Said) -> [u8; 48] {
    let category = match op {
        Op::Read => 1u32,
        Op::Write => 1 << 1,
        Op::Flush => 1 << 2,
        Op::Discard => 1 << 1 | 1 << 13,
    };
    let bits = [(Flags::SYNC, 3), (Flags::AHEAD, 11), (Flags::META, 12), (Flags::FUA, 15)];
    let set = bits.into_iter().filter(|(flag, _)| flags.has(*flag)).fold(0u32, |set, (_, bit)| set | 1 << bit);
    let (act, step) = if action == b'D' { (7u32, 1u32 << 6) } else { (8, 1 << 7) };
    let error = if action == b'C' && flags.has(Flags::FAILED) { -5i16 } else { 0 };
    let mut event = [0; 48];
    event[..4].copy_from_slice(&0x6561_7407u32.to_le_bytes());
    event[4..8].copy_from_slice(&(sequence as u32).to_le_bytes());
    event[8..16].copy_from_slice(&ns.to_le_bytes());
    event[16..24].copy_from_slice(&sector.to_le_bytes());
    event[24..28].copy_from_slice(&length.to_le_bytes());
    event[28..32].copy_from_slice(&((category | set | step) << 16 | act).to_le_bytes());
    event[32..36].copy_from_slice(&process.to_le_bytes());
    // 8,0: the kernel's numbers of the first SCSI disk.
    event[36..40].copy_from_slice(&(8u32 << 20).to_le_bytes());
    event[44..46].copy_from_slice(&error.to_le_bytes());
    event
}

/// The same with its words.
type Said = (u64, u32, Op, Flags, u32);
