//! Memory that takes writes before the flash does.

use super::params::{FlushPolicy, WriteBufferParams};
use crate::ftl::{Extent, Ftl, Presence, Work};
use flashscope_units::{Bytes, Instant, Nanos};
use std::collections::VecDeque;

/// Writes on their way to the flash, oldest first.
#[derive(Clone, Debug)]
pub(super) struct WriteBuffer {
    params: WriteBufferParams,
    entries: VecDeque<Entry>,
    bytes: Bytes,
    last_write: Instant,
}

/// One write.
#[derive(Clone, Copy, Debug)]
struct Entry {
    extent: Extent,
    /// When it is on the flash, where the mapping has it already.
    safe_at: Option<Instant>,
}

/// Neighbours are written out together up to this length.
const LONGEST_RUN: Bytes = Bytes::kib(512);

impl WriteBuffer {
    pub(super) fn new(params: &WriteBufferParams) -> WriteBuffer {
        WriteBuffer {
            params: params.clone(),
            entries: VecDeque::new(),
            bytes: Bytes::ZERO,
            last_write: Instant::ORIGIN,
        }
    }

    pub(super) fn volatile(&self) -> bool {
        self.params.volatile
    }

    pub(super) fn flushed_by_read(&self) -> bool {
        self.params.flushed_by_read
    }

    /// Whether a write is taken into memory at all.
    pub(super) fn takes(&self, extent: Extent, durable: bool) -> bool {
        extent.length <= self.params.size && !(durable && self.params.volatile)
    }

    /// Time has come to `now`: what is on the flash leaves, and what was left alone for long enough is written out.
    pub(super) fn pass(&mut self, now: Instant, mapping: &mut impl Ftl) {
        let due = self.last_write + self.params.window;
        if self.params.window > Nanos::ZERO && due <= now {
            self.write_out(due, mapping);
        }
        self.leave(now);
    }

    /// Takes a write that is all there at `arrival`; says when it is done.
    pub(super) fn put(&mut self, now: Instant, arrival: Instant, extent: Extent, mapping: &mut impl Ftl) -> Instant {
        self.leave(now);
        let mut done = arrival;
        if !self.has_room(extent.length) && self.params.flush == FlushPolicy::Whole {
            done = done.max(self.write_out(now, mapping));
            self.leave(done);
        }
        while !self.has_room(extent.length) {
            let Some(next) = self.entries.front().and_then(|entry| entry.safe_at) else { break };
            done = done.max(next);
            self.leave(done.max(next));
        }
        let safe_at = match self.params.flush {
            FlushPolicy::Whole => None,
            FlushPolicy::Steady => Some(mapping.serve(done, Work::Destage(extent))),
        };
        self.entries.push_back(Entry { extent, safe_at });
        self.bytes += extent.length;
        self.last_write = done;
        done
    }

    /// Hands everything to the mapping; says when all of it is on the flash.
    pub(super) fn write_out(&mut self, at: Instant, mapping: &mut impl Ftl) -> Instant {
        let mut from = 0;
        while from < self.entries.len() {
            if self.entries[from].safe_at.is_some() {
                from += 1;
                continue;
            }
            let mut run = self.entries[from].extent;
            let mut to = from + 1;
            while let Some(next) = self.entries.get(to).map(|entry| entry.extent)
                && next.start == run.end()
                && run.length + next.length <= LONGEST_RUN
            {
                run.length += next.length;
                to += 1;
            }
            let safe_at = Some(mapping.serve(at, Work::Destage(run)));
            self.entries.range_mut(from..to).for_each(|entry| entry.safe_at = safe_at);
            from = to;
        }
        self.entries.iter().filter_map(|entry| entry.safe_at).max().unwrap_or(at).max(at)
    }

    /// Whether a range lies wholly in one write.
    pub(super) fn holds(&self, extent: Extent) -> bool {
        let newest = self.entries.iter().rev().find(|entry| touches(entry.extent, extent));
        newest.is_some_and(|entry| entry.extent.start <= extent.start && extent.end() <= entry.extent.end())
    }

    pub(super) fn overlaps(&self, extent: Extent) -> bool {
        self.entries.iter().any(|entry| touches(entry.extent, extent))
    }

    /// What the mapping finds, and what it was not handed yet.
    pub(super) fn presence(&self, extent: Extent, mapping: &impl Ftl) -> Presence {
        let mut left = vec![extent];
        for entry in self.entries.iter().filter(|entry| entry.safe_at.is_none() && touches(entry.extent, extent)) {
            left = left.into_iter().flat_map(|part| without(part, entry.extent)).collect();
        }
        if left == [extent] {
            return mapping.presence(extent);
        }
        let all = left.into_iter().all(|part| mapping.presence(part) == Presence::All);
        if all { Presence::All } else { Presence::Part }
    }

    /// Never more than there is room for.
    pub(super) fn check(&self) -> Result<(), String> {
        let held: Bytes = self.entries.iter().map(|entry| entry.extent.length).sum();
        let most = self.params.entries as usize;
        if held != self.bytes || held > self.params.size || (most > 0 && self.entries.len() > most) {
            return Err(format!(
                "the write buffer of {} holds {held} in {} writes",
                self.params.size,
                self.entries.len()
            ));
        }
        Ok(())
    }

    pub(super) fn state_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }

    fn has_room(&self, length: Bytes) -> bool {
        let counted = self.params.entries == 0 || self.entries.len() < self.params.entries as usize;
        counted && self.bytes + length <= self.params.size
    }

    /// What is on the flash by `now` makes room.
    fn leave(&mut self, now: Instant) {
        while let Some(entry) = self.entries.front().filter(|entry| entry.safe_at.is_some_and(|at| at <= now)) {
            self.bytes -= entry.extent.length;
            self.entries.pop_front();
        }
    }
}

fn touches(one: Extent, other: Extent) -> bool {
    one.start < other.end() && other.start < one.end()
}

/// A range less another one.
fn without(extent: Extent, hole: Extent) -> impl Iterator<Item = Extent> {
    let before = extent.start..extent.end().min(hole.start.max(extent.start));
    let behind = extent.start.max(hole.end().min(extent.end()))..extent.end();
    [before, behind]
        .into_iter()
        .filter(|part| part.start < part.end)
        .map(|part| Extent::new(part.start, part.end - part.start))
}
