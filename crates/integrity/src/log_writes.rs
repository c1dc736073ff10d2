//! The writes of a run as the kernel's dm-log-writes target keeps them, so that its replay tools can work on them.
//!
//! Format: `Documentation/admin-guide/device-mapper/log-writes.rst` and the structures of `drivers/md/dm-log-writes.c`. Sector 0
//! is the super block, then come entries of one sector each: numbers, for a mark its text behind them, for a write its data in the
//! sectors that follow. All numbers are little-endian. As there, a write is logged once it is safe: a durable one at its
//! completion, any other with the flush that was issued after it had completed, in order of completion.
//!
//! Each cut ends with the mark `cut N`. What survived that nothing had covered follows it as writes, so that a replay of
//! the whole goes on from what really stood there.

use crate::journal::Write;
use crate::judge::Map;
use crate::ledger::{Entry, Ledger};
use flashscope_device::{Fill, Holds};
use flashscope_units::Bytes;
use std::collections::BTreeMap;

/// `WRITE_LOG_MAGIC`.
const MAGIC: u64 = 0x006a_7366_7773_6872;
/// `WRITE_LOG_VERSION`.
const VERSION: u64 = 1;
/// Bytes of a sector of the log, which offsets and lengths count in.
const SECTOR: u64 = 512;
/// `LOG_FLUSH_FLAG`.
const FLUSH: u64 = 1 << 0;
/// `LOG_FUA_FLAG`.
const FUA: u64 = 1 << 1;
/// `LOG_MARK_FLAG`.
const MARK: u64 = 1 << 3;

/// Where the log goes: bytes at an offset.
pub trait Sink {
    /// Puts bytes there.
    ///
    /// # Errors
    /// Of the file.
    fn put(&mut self, at: u64, bytes: &[u8]) -> Result<(), String>;
}

/// A log that is written.
pub struct LogWrites<S> {
    sink: S,
    /// Makes the bytes of a write for a place.
    make: fn(Fill, u64, &mut [u8]),
    entries: u64,
    /// Where the next entry goes.
    end: u64,
    cut: u32,
    issued: BTreeMap<u32, Issued>,
    /// Completed, and not covered yet.
    open: Vec<Write>,
    /// The generation that a replay of the log leaves in each sector.
    state: BTreeMap<Bytes, u32>,
}

enum Issued {
    Write(Write),
    /// With the writes that it covers.
    Flush(Vec<Write>),
}

impl<S: Sink> LogWrites<S> {
    /// An empty log.
    ///
    /// # Errors
    /// Of the file.
    pub fn new(sink: S, make: fn(Fill, u64, &mut [u8])) -> Result<LogWrites<S>, String> {
        let (issued, open, state) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
        let mut log = LogWrites { sink, make, entries: 0, end: SECTOR, cut: 0, issued, open, state };
        log.put_super()?;
        Ok(log)
    }

    /// Where it went.
    pub fn into_sink(self) -> S {
        self.sink
    }

    fn put_super(&mut self) -> Result<(), String> {
        let mut sector = numbers([MAGIC, VERSION, self.entries]);
        sector[24..28].copy_from_slice(&(SECTOR as u32).to_le_bytes());
        self.sink.put(0, &sector)
    }

    fn put_entry(&mut self, (at, length): (Bytes, Bytes), flags: u64, text: &str) -> Result<(), String> {
        let (sector, sectors) = (at.get() / SECTOR, length.get() / SECTOR);
        let mut entry = numbers([sector, sectors, flags, text.len() as u64]);
        entry[32..32 + text.len()].copy_from_slice(text.as_bytes());
        self.sink.put(self.end, &entry)?;
        self.end += SECTOR;
        self.entries += 1;
        Ok(())
    }

    fn put_write(&mut self, (at, length, generation): (Bytes, Bytes, u32), flags: u64) -> Result<(), String> {
        self.put_entry((at, length), flags, "")?;
        let mut data = vec![0; length.get() as usize];
        (self.make)(Fill::Tagged { generation }, at.get(), &mut data);
        self.sink.put(self.end, &data)?;
        self.end += length.get();
        self.state.extend((0..length.get() / SECTOR).map(|sector| (at + Bytes(sector * SECTOR), generation)));
        Ok(())
    }

    fn put_flush(&mut self) -> Result<(), String> {
        self.put_entry((Bytes::ZERO, Bytes::ZERO), FLUSH, "")
    }

    fn done(&mut self, turn: u32) -> Result<(), String> {
        match self.issued.remove(&turn) {
            Some(Issued::Write(write)) if write.durable => {
                self.put_write((write.at, write.length, write.generation), FUA)
            }
            Some(Issued::Write(write)) => {
                self.open.push(write);
                Ok(())
            }
            Some(Issued::Flush(covered)) => {
                covered.iter().try_for_each(|write| self.put_write((write.at, write.length, write.generation), 0))?;
                self.put_flush()
            }
            None => Ok(()),
        }
    }

    /// Logs what stands there and a replay would not bring; sectors that hold parts of writes are nobody's.
    fn put_survivors(&mut self, stands: &Map) -> Result<(), String> {
        let runs: Vec<(Bytes, Holds)> = stands.between(stands.start(), stands.end()).collect();
        let ends = runs.iter().skip(1).map(|(at, _)| *at).chain([stands.end()]);
        let mut any = false;
        for ((start, holds), end) in runs.iter().zip(ends) {
            let Holds::Tagged { generation, addressed } = *holds else { continue };
            let (mut at, end) = (start.align_up(Bytes(SECTOR)), end.align_down(Bytes(SECTOR)));
            while addressed == *start && at < end {
                if self.state.get(&at) != Some(&generation) {
                    self.put_write((at, Bytes(SECTOR), generation), 0)?;
                    any = true;
                }
                at += Bytes(SECTOR);
            }
        }
        if any { self.put_flush() } else { Ok(()) }
    }
}

impl<S: Sink> Ledger for LogWrites<S> {
    fn begin(&mut self, number: u32, before: &Map) -> Result<(), String> {
        self.issued.clear();
        self.open.clear();
        self.cut = number;
        if number > 1 {
            self.put_survivors(before)?;
        }
        self.put_super()
    }

    fn note(&mut self, entry: &Entry) -> Result<(), String> {
        match entry {
            Entry::Write(write) => drop(self.issued.insert(write.turn, Issued::Write(*write))),
            Entry::Flush { turn } => {
                let covered = std::mem::take(&mut self.open);
                self.issued.insert(*turn, Issued::Flush(covered));
            }
            Entry::Done { of, .. } => self.done(*of)?,
            Entry::Off => {}
        }
        Ok(())
    }

    fn secure(&mut self) -> Result<(), String> {
        let mark = format!("cut {}", self.cut);
        self.put_entry((Bytes::ZERO, Bytes::ZERO), MARK, &mark)?;
        self.put_super()
    }
}

/// A sector that begins with these numbers.
fn numbers<const N: usize>(all: [u64; N]) -> [u8; SECTOR as usize] {
    let mut sector = [0; SECTOR as usize];
    for (place, number) in sector.chunks_exact_mut(8).zip(all) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    sector
}
