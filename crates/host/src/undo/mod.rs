//! What a test overwrites, kept outside the device and put back at its end.
//!
//! Before a write is handed on, what stands there is read and appended to a journal that is brought to its disk first
//! (`journal.rs`); nothing is kept twice. It is put back in reverse order: where addresses begin anew, or where a later write was
//! kept that an earlier one had changed already, what was kept first is written last and stands. A journal that a killed program
//! left is put back whole by the next one, which may itself be killed: it stays until the end.

mod journal;

pub use journal::{UndoError, UndoJournal};

use crate::buffer::AlignedBuffer;
use crate::target::HostTarget;
use flashscope_device::{DeviceError, Op, Request, Target, WriteGrant, forward};
use flashscope_units::Bytes;
use std::collections::BTreeMap;

/// What is kept and put back at once. Where that much is written in order, this much is kept ahead.
const PART: Bytes = Bytes::mib(1);
/// Writes of at least this much are taken for a pass in order, ahead of which is kept.
const AHEAD: Bytes = Bytes::mib(16);
/// A part that cannot be read is read in pieces of this size.
const PIECE: Bytes = Bytes::kib(4);

/// A target whose writes can be undone.
#[derive(Debug)]
pub struct Undoing {
    inner: HostTarget,
    journal: UndoJournal,
    kept: Kept,
    buffer: AlignedBuffer,
}

/// What came of putting back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PutBack {
    /// What was written back.
    pub bytes: Bytes,
    /// What of it reads as something else: a device that does not keep what it is given, or one place that has two addresses.
    pub different: Bytes,
}

impl Undoing {
    /// A target, and the journal of what it is to get back.
    pub fn new(target: HostTarget, journal: UndoJournal) -> Undoing {
        let mut kept = Kept::default();
        journal.entries().iter().for_each(|entry| kept.add(entry.at, entry.length));
        Undoing { inner: target, journal, kept, buffer: AlignedBuffer::new(PART.get() as usize) }
    }

    /// Removes the journal; to be done when all is put back.
    pub fn remove_journal(&self) {
        self.journal.remove();
    }

    /// Keeps what stands in these ranges, which will be written to: all of them at once cost less than each before its write.
    ///
    /// # Errors
    /// Where the journal cannot be written, or the device is gone.
    pub fn keep(&mut self, ranges: &[(Bytes, Bytes)]) -> Result<(), DeviceError> {
        let end = self.inner.facts().capacity;
        let mut any = false;
        for (at, length) in ranges {
            for (at, length) in self.kept.lacking(*at, (*length).min(end.saturating_sub(*at))) {
                self.keep_one(at, length)?;
                any = true;
            }
        }
        if any { self.journal.settle().map_err(|error| DeviceError::System(error.to_string())) } else { Ok(()) }
    }

    fn keep_one(&mut self, at: Bytes, length: Bytes) -> Result<(), DeviceError> {
        for (at, length) in parts(at, length, PART) {
            let bytes = self.buffer.part_mut(0, length.get() as usize);
            if self.inner.read_bytes(at, bytes)? {
                self.journal.append(at, bytes).map_err(|error| DeviceError::System(error.to_string()))?;
                continue;
            }
            // What cannot be read is lost already.
            for (at, length) in parts(at, length, PIECE) {
                let bytes = self.buffer.part_mut(0, length.get() as usize);
                if self.inner.read_bytes(at, bytes)? {
                    self.journal.append(at, bytes).map_err(|error| DeviceError::System(error.to_string()))?;
                }
            }
        }
        self.kept.add(at, length);
        Ok(())
    }

    /// Puts everything back, looks whether it is there, and empties the journal.
    ///
    /// # Errors
    /// Where the device does not take it, or the journal is damaged; it is left as it is then.
    pub fn put_back(&mut self, grant: &mut WriteGrant) -> Result<PutBack, UndoError> {
        let mut done = PutBack::default();
        let entries: Vec<_> = self.journal.entries().iter().rev().copied().collect();
        for entry in &entries {
            let bytes = self.buffer.part_mut(0, entry.length.get() as usize);
            self.journal.read(entry, bytes)?;
            self.inner.write_bytes(grant, entry.at, bytes).map_err(|error| UndoError::Device(error.to_string()))?;
            done.bytes += entry.length;
        }
        self.inner.settle_bytes().map_err(|error| UndoError::Device(error.to_string()))?;
        let mut found = AlignedBuffer::new(PART.get() as usize);
        for entry in &entries {
            let length = entry.length.get() as usize;
            let wanted = self.buffer.part_mut(0, length);
            self.journal.read(entry, wanted)?;
            let found = found.part_mut(0, length);
            let read = self.inner.read_bytes(entry.at, found);
            if !read.map_err(|error| UndoError::Device(error.to_string()))? || found != wanted {
                done.different += entry.length;
            }
        }
        self.journal.empty()?;
        self.kept = Kept::default();
        Ok(done)
    }
}

impl Target for Undoing {
    forward!(inner: facts, capabilities, path, now, reap, wait_until, wear);

    fn submit(&mut self, batch: &[Request]) -> Result<(), DeviceError> {
        let changes = |request: &&Request| matches!(request.op(), Op::Write { .. } | Op::Discard);
        let ranges: Vec<(Bytes, Bytes)> = batch
            .iter()
            .filter(changes)
            .map(|request| (request.offset(), request.length()))
            // One more request of a pass in order comes soon.
            .map(
                |(at, length)| {
                    if length >= PART && !self.kept.has(at, length) { (at, length.max(AHEAD)) } else { (at, length) }
                },
            )
            .collect();
        self.keep(&ranges)?;
        self.inner.submit(batch)
    }
}

/// Which bytes are kept already: starts and ends of ranges that are apart.
#[derive(Debug, Default)]
struct Kept(BTreeMap<u64, u64>);

impl Kept {
    fn add(&mut self, at: Bytes, length: Bytes) {
        let (mut from, mut to) = (at.get(), (at + length).get());
        while let Some((start, end)) = self.0.range(..=to).next_back().map(|(start, end)| (*start, *end)) {
            if end < from {
                break;
            }
            self.0.remove(&start);
            (from, to) = (from.min(start), to.max(end));
        }
        self.0.insert(from, to);
    }

    fn has(&self, at: Bytes, length: Bytes) -> bool {
        self.lacking(at, length).is_empty()
    }

    /// What of a range is not kept.
    fn lacking(&self, at: Bytes, length: Bytes) -> Vec<(Bytes, Bytes)> {
        let (mut from, to) = (at.get(), (at + length).get());
        let before = self.0.range(..from).next_back().filter(|(_, end)| **end > from);
        let mut list = Vec::new();
        for (start, end) in before.into_iter().chain(self.0.range(from..to)) {
            if *start > from {
                list.push((Bytes(from), Bytes(*start - from)));
            }
            from = from.max(*end);
        }
        if from < to {
            list.push((Bytes(from), Bytes(to - from)));
        }
        list
    }
}

fn parts(at: Bytes, length: Bytes, size: Bytes) -> impl Iterator<Item = (Bytes, Bytes)> {
    let starts = (0..length.get().div_ceil(size.get())).map(move |number| size * number);
    starts.map(move |offset| (at + offset, size.min(length - offset)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_kept_twice() {
        let mut kept = Kept::default();
        let lacking = |kept: &Kept, at, length| -> Vec<(u64, u64)> {
            kept.lacking(Bytes(at), Bytes(length)).iter().map(|(at, length)| (at.get(), length.get())).collect()
        };
        assert_eq!(lacking(&kept, 0, 10), [(0, 10)]);
        kept.add(Bytes(10), Bytes(10));
        kept.add(Bytes(40), Bytes(10));
        assert_eq!(lacking(&kept, 0, 60), [(0, 10), (20, 20), (50, 10)]);
        assert_eq!(lacking(&kept, 12, 4), []);
        assert_eq!(lacking(&kept, 15, 30), [(20, 20)]);
        kept.add(Bytes(20), Bytes(20));
        assert_eq!(kept.0, BTreeMap::from([(10, 50)]));
        kept.add(Bytes(0), Bytes(100));
        assert_eq!(kept.0, BTreeMap::from([(0, 100)]));
    }
}
