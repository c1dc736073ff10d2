//! Where data go: the superblocks being written to, and the buffer in front of them.

use super::flash::{Program, Source};
use super::superblocks::Use;
use super::{NONE, PageMap, SlcCache, scatter};
use crate::ageing::{Ageing, Fate};
use flashscope_units::Instant;

/// Streams: host data with one bit per cell, host data with all, and copies.
pub(super) const STREAMS: usize = 3;
/// Number of the stream of host data with one bit per cell.
pub(super) const SLC: usize = 0;
/// Number of the stream of host data with all bits per cell.
pub(super) const HOST: usize = 1;
/// Number of the stream of copies.
pub(super) const COPY: usize = 2;

/// A superblock being written to. Slots `staged .. next` have data that wait for their row to be complete.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    pub(super) superblock: Option<u32>,
    pub(super) next: u32,
    pub(super) staged: u32,
    /// When the last of the staged data came.
    ready: Instant,
    /// Host data among them, in map units.
    host_units: u32,
    /// What has to be read to copy them.
    pub(super) sources: Vec<Source>,
}

impl Stream {
    /// One of which nothing waits to be programmed.
    pub(super) fn at(superblock: Option<u32>, next: u32) -> Stream {
        Stream { superblock, next, staged: next, ..Stream::default() }
    }

    /// Slots left in the superblock.
    pub(super) fn room(&self, slots: u32) -> u32 {
        slots - self.next
    }
}

impl PageMap {
    /// Puts host data that came at `at` where they belong, row by row, and pays for the space.
    pub(super) fn place(&mut self, logical: u32, units: u32, at: Instant) {
        self.buffered += units;
        self.counters.host_units += u64::from(units);
        let mut done = 0;
        while done < units {
            let stream = self.host_stream(at);
            let part = self.append(stream, logical + done, units - done, at);
            self.streams[stream].host_units += part;
            self.complete_row(stream, at);
            done += part;
        }
        self.pay_for(units, at);
    }

    /// Appends up to `units` to the row that a stream is filling, and maps them. Says how many there was room for.
    pub(super) fn append(&mut self, stream: usize, logical: u32, units: u32, at: Instant) -> u32 {
        let row_units = self.geometry.row_units;
        let Stream { superblock: Some(superblock), next, .. } = self.streams[stream] else { return 0 };
        let part = units.min(row_units - next % row_units);
        let physical = self.geometry.address(superblock, next);
        self.leave(logical, part);
        self.forward.set(logical, part, physical);
        self.backward.set(physical, part, logical);
        self.superblocks.add_valid(superblock, part);
        self.mapped += part;
        let stream = &mut self.streams[stream];
        stream.next += part;
        stream.ready = stream.ready.max(at);
        #[cfg(test)]
        self.oracle.place(logical, physical, part);
        part
    }

    /// Takes units out of the map.
    pub(super) fn unmap(&mut self, logical: u32, units: u32) {
        self.leave(logical, units);
        self.forward.clear(logical, units);
    }

    /// Makes garbage of the slots where units are; the map is about to lead elsewhere.
    fn leave(&mut self, logical: u32, units: u32) {
        let PageMap { forward, superblocks, geometry, mapped, .. } = self;
        forward.for_each(logical, units, |_, units, physical| {
            // A run never crosses superblocks: the last slot of one and the first of the next are not neighbours unless the
            // slots of a superblock are a power of two.
            let (first, last) = (geometry.superblock(physical), geometry.superblock(physical + units - 1));
            if first == last {
                superblocks.remove_valid(first, units);
            } else {
                for address in physical..physical + units {
                    superblocks.remove_valid(geometry.superblock(address), 1);
                }
            }
            *mapped -= units;
        });
    }

    /// Programs the row of a stream if it is complete, and lets go of a superblock that is full.
    pub(super) fn complete_row(&mut self, stream: usize, at: Instant) {
        if self.streams[stream].next.is_multiple_of(self.geometry.row_units) {
            self.program_staged(stream, at);
        }
    }

    /// Programs what a stream has staged, from `at` on; the rest of its last page stays empty.
    pub(super) fn program_staged(&mut self, which: usize, at: Instant) {
        let page_units = self.geometry.page_units;
        let stream = &self.streams[which];
        let Some(superblock) = stream.superblock else { return };
        if stream.next == stream.staged {
            return;
        }
        let end = stream.next.next_multiple_of(page_units);
        let row = self.geometry.row(stream.staged);
        let busy = self.worn(superblock, row, self.params.times(&self.geometry, row, which == SLC).1, Ageing::program);
        let stream = &mut self.streams[which];
        let program = Program {
            first: self.geometry.address(superblock, stream.staged),
            units: end - stream.staged,
            ready: stream.ready.max(at),
            busy,
            host_units: stream.host_units,
        };
        self.counters.padded_units += u64::from(end - stream.next);
        self.flash.program(program, &mut stream.sources);
        (stream.next, stream.staged, stream.host_units, stream.ready) = (end, end, 0, Instant::ORIGIN);
        if end == self.superblocks.get(superblock).slots {
            stream.superblock = None;
            self.superblocks.fill_up(superblock, self.units_written());
        }
    }

    /// Programs all staged host data and says when all host data are on the flash.
    pub(super) fn drain(&mut self, at: Instant) -> Instant {
        self.program_staged(SLC, at);
        self.program_staged(HOST, at);
        self.flash.advance_through();
        self.flash.host_end.max(at)
    }

    /// When there is room for `units` in the write buffer, for data that could come at `at`.
    pub(super) fn make_room(&mut self, units: u32, at: Instant) -> Instant {
        let size = (self.params.buffer.size.get() / self.geometry.unit) as u32;
        let mut at = at.max(self.admitted);
        self.buffered -= self.flash.release(at);
        while self.buffered > 0 && self.buffered + units > size {
            if let Some(end) = self.flash.next_release() {
                // Work that begins before then may end before then.
                self.flash.advance(end);
                at = at.max(self.flash.next_release().unwrap_or(end));
                self.buffered -= self.flash.release(at);
            } else if let Some(start) = self.flash.next() {
                self.flash.advance(start);
            } else {
                self.program_staged(SLC, at);
                self.program_staged(HOST, at);
            }
        }
        self.admitted = at;
        at
    }

    /// Whether a slot's data wait for their row to be complete.
    pub(super) fn is_staged(&self, address: u32) -> bool {
        let (superblock, slot) = (self.geometry.superblock(address), self.geometry.slot(address));
        let holds =
            |stream: &Stream| stream.superblock == Some(superblock) && (stream.staged..stream.next).contains(&slot);
        self.streams.iter().any(holds)
    }

    /// Host data staged, in map units.
    pub(super) fn staged_host_units(&self) -> u32 {
        self.streams.iter().map(|stream| stream.host_units).sum()
    }

    /// All that was written to superblocks, in map units.
    pub(super) fn units_written(&self) -> u64 {
        self.counters.host_units + self.counters.copied_units + self.counters.padded_units
    }

    /// How many more superblocks the SLC cache may open.
    pub(super) fn slc_superblocks_left(&self) -> u32 {
        self.slc_superblocks_within(self.superblocks.free())
    }

    /// The same with this number of free superblocks.
    pub(super) fn slc_superblocks_within(&self, free: u32) -> u32 {
        match self.params.slc {
            SlcCache::None => 0,
            SlcCache::Static { superblocks } => superblocks.saturating_sub(self.superblocks.slc()),
            SlcCache::Dynamic { max_superblocks, keep_free } => {
                max_superblocks.saturating_sub(self.superblocks.slc()).min(free.saturating_sub(keep_free))
            }
        }
    }

    /// The stream for host data that come now, with a superblock to write to.
    fn host_stream(&mut self, at: Instant) -> usize {
        if self.streams[SLC].superblock.is_none() && self.slc_superblocks_left() > 0 {
            self.open(SLC, at);
        }
        if self.streams[SLC].superblock.is_some() {
            return SLC;
        }
        if self.streams[HOST].superblock.is_none() {
            self.collect_until_free(2, at);
            self.open(HOST, at);
        }
        HOST
    }

    /// Gives a stream a free superblock, erased first where it was used.
    pub(super) fn open(&mut self, stream: usize, at: Instant) {
        let set_aside = stream == SLC && matches!(self.params.slc, SlcCache::Static { .. });
        loop {
            let flash = &self.flash;
            let read = |index| flash.is_still_read(index);
            let Some(index) = self.superblocks.pick_free(set_aside, read) else {
                debug_assert!(false, "no free superblock: the spare was checked when the drive was made");
                return;
            };
            if self.flash.is_still_read(index) {
                // Its last valid pages have yet to be read: nothing else is free, so that comes first.
                self.program_staged(COPY, at);
                self.flash.advance_through();
            }
            let mut fate = Fate::Usable;
            if self.superblocks.get(index).used {
                let busy = self.worn_erase(index);
                self.flash.erase(index, at, busy);
                self.superblocks.erase(index);
                fate = self.age(index);
            }
            if self.is_worn_out(index) || (fate == Fate::Bad && self.can_do_without(index)) {
                self.superblocks.retire(index);
                continue;
            }
            // A superblock that is bad and cannot be done without takes what is on its way, and is the last that does.
            self.read_only |= fate == Fate::Bad;
            self.keep_up_tables(index, at);
            let slots = if stream == SLC { self.geometry.slc_slots } else { self.geometry.slots };
            self.superblocks.open(index, stream == SLC, slots);
            let stream = &mut self.streams[stream];
            (stream.superblock, stream.next, stream.staged) = (Some(index), 0, 0);
            return;
        }
    }

    /// Whether a superblock goes bad with the erase that it just had. The last ones that the drive needs are used on.
    fn is_worn_out(&self, index: u32) -> bool {
        let Some(rated) = self.params.nand.endurance else { return false };
        let superblock = self.superblocks.get(index);
        // Blocks differ: theirs is 90 to 110 % of the rating.
        let own = f64::from(rated)
            * (0.9 + 0.2 * (scatter(self.seed, u64::from(index) << 32) >> 11) as f64 / (1u64 << 53) as f64);
        f64::from(superblock.erases) > own && self.can_do_without(index)
    }

    /// Whether collection can go on without this free superblock.
    pub(super) fn can_do_without(&self, index: u32) -> bool {
        // One for this stream and one to collect into must be left.
        if self.superblocks.get(index).set_aside || self.superblocks.free() <= 2 {
            return false;
        }
        let usable = self.superblocks.all().iter().filter(|one| one.usage != Use::Bad).count() as u32;
        usable > self.geometry.superblocks_for_data() + self.params.least_spare()
    }

    /// Whether the map leads from a logical unit to this slot.
    pub(super) fn leads_to(&self, logical: u32, physical: u32) -> bool {
        logical != NONE && self.forward.get(logical) == physical
    }
}
