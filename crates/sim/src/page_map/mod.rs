//! A page-mapped drive: a solid-state disk, or a good phone's UFS.
//!
//! Every map unit (4 KiB in most) can lie anywhere in the flash. Writes fill *superblocks* row by row over all dies; what they
//! replace stays behind as garbage until the superblock is collected: its valid units are copied elsewhere and it is free
//! again. A part of the free flash may be written with one bit per cell first (SLC cache) and folded later. Times come
//! from dies and channels, each doing one thing at a time; nothing here knows a host, a content or a truth.
//!
//! Start at [`PageMap::read`] and [`PageMap::write`]; where data go is in `place`,
//! winning back space in `collect`, times in `flash`, the maps themselves in `runs`.

mod ageing;
mod check;
mod collect;
mod flash;
mod inside;
mod map_cache;
mod params;
mod place;
mod runs;
mod saved;
mod seam;
mod superblocks;
#[cfg(test)]
mod tests;
mod timeline;
mod truth;

pub use params::{Collection, LinkTiming, MapCacheParams, Nand, PageMapParams, Policy, SlcCache, WriteBuffer};
pub(crate) use saved::SavedDrive;
pub use truth::DriveTruth;
pub(crate) use truth::of as truth_of;

use crate::ageing::Ageing;
use collect::Victim;
use flash::{Flash, Source};
use flashscope_device::Wear;
use flashscope_stats::rng::{mix, stream};
use flashscope_units::{Bytes, Instant, Nanos};
use map_cache::MapCache;
use params::Geometry;
use place::{STREAMS, Stream};
use runs::{NONE, RunMap};
use serde::{Deserialize, Serialize};
use superblocks::Superblocks;
use timeline::Timeline;

/// What was written to the flash, in map units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Written by the host.
    pub host_units: u64,
    /// Copied by collection and folding.
    pub copied_units: u64,
    /// Left empty in pages that had to be programmed before they were full.
    pub padded_units: u64,
    /// Pages of the map, in map units.
    pub map_units: u64,
    /// Superblocks won back from the SLC cache or by collection.
    pub collected_superblocks: u64,
}

impl Counters {
    /// Units written to the flash per unit that the host wrote; absent before the first write.
    pub fn write_amplification(&self) -> Option<f64> {
        let all = self.host_units + self.copied_units + self.padded_units + self.map_units;
        (self.host_units > 0).then(|| all as f64 / self.host_units as f64)
    }
}

/// A page-mapped drive on virtual time. Times passed in must not go back.
#[derive(Clone, Debug)]
pub struct PageMap {
    params: PageMapParams,
    link: LinkTiming,
    geometry: Geometry,
    /// Logical to physical. An entry is valid where it says so.
    forward: RunMap,
    /// Physical to logical; a slot is valid where the forward map leads back to it.
    backward: RunMap,
    superblocks: Superblocks,
    streams: [Stream; STREAMS],
    victim: Option<Victim>,
    flash: Flash,
    map_cache: Option<MapCache>,
    /// Absent where use changes nothing.
    ageing: Option<Box<Ageing>>,
    /// A superblock went bad that could not be done without: nothing is written any more.
    read_only: bool,
    /// Data to the drive, and in half duplex all data.
    link_in: Timeline,
    link_out: Timeline,
    firmware_free: Instant,
    /// Map units in the write buffer.
    buffered: u32,
    /// Writes are let into the buffer in order, so none before this.
    admitted: Instant,
    /// Logical units that have data.
    mapped: u32,
    /// Wear-out threshold is drawn from this.
    seed: u64,
    counters: Counters,
    /// Pieces of a read or of a collection, kept to spare the allocator.
    scratch: Vec<Piece>,
    last: LastStep,
    #[cfg(test)]
    oracle: tests::Oracle,
}

/// Superblocks being written to: one for host data, one for copies.
const OPEN_SUPERBLOCKS: u32 = 2;

/// A run of units: logical start, physical start, count.
#[derive(Clone, Copy, Debug)]
struct Piece {
    logical: u32,
    physical: u32,
    units: u32,
}

/// What the check looks at.
#[derive(Clone, Copy, Debug, Default)]
struct LastStep {
    now: Instant,
    done: Instant,
    first: u32,
    units: u32,
    /// Erases before it.
    erases: u64,
}

impl PageMap {
    /// A blank drive. `seed` places the bad superblocks and spreads their endurance. Says what is wrong with parameters that
    /// make no drive.
    pub fn new(params: PageMapParams, link: LinkTiming, capacity: Bytes, seed: u64) -> Result<PageMap, String> {
        let geometry = Geometry::new(&params, capacity)?;
        let mut superblocks = Superblocks::new(geometry.superblocks, geometry.slots);
        for index in worst(geometry.superblocks, params.nand.bad_blocks, seed) {
            superblocks.retire(index);
        }
        if let SlcCache::Static { superblocks: count } = params.slc {
            superblocks.set_aside(count);
        }
        Ok(PageMap {
            forward: RunMap::new(u64::from(geometry.units)),
            backward: RunMap::new(u64::from(geometry.superblocks) << geometry.shift),
            superblocks,
            streams: Default::default(),
            victim: None,
            flash: Flash::new(&params, &geometry),
            map_cache: params.map_cache.as_ref().map(|cache| MapCache::new(cache, &geometry)),
            ageing: None,
            read_only: false,
            link_in: Timeline::default(),
            link_out: Timeline::default(),
            firmware_free: Instant::ORIGIN,
            buffered: 0,
            admitted: Instant::ORIGIN,
            mapped: 0,
            seed,
            counters: Counters::default(),
            scratch: Vec::new(),
            last: LastStep::default(),
            #[cfg(test)]
            oracle: tests::Oracle::default(),
            params,
            link,
            geometry,
        })
    }

    /// Writes the whole drive once in order, before time begins and without wear.
    pub fn fill(&mut self) {
        self.fill_units(self.geometry.units);
    }

    /// The same of the drive's first map units.
    fn fill_units(&mut self, all: u32) {
        debug_assert!(self.mapped == 0, "only a blank drive is filled like this");
        let mut logical = 0;
        for index in self.superblocks.free_in_order() {
            let units = self.geometry.slots.min(all - logical);
            if units == 0 {
                break;
            }
            let physical = self.geometry.address(index, 0);
            self.superblocks.open(index, false, self.geometry.slots);
            self.superblocks.add_valid(index, units);
            self.superblocks.fill_up(index, 0);
            self.forward.set(logical, units, physical);
            self.backward.set(physical, units, logical);
            #[cfg(test)]
            self.oracle.place(logical, physical, units);
            logical += units;
        }
        self.mapped = logical;
    }

    /// Reads a range: when are its data at the host?
    pub fn read(&mut self, now: Instant, start: Bytes, length: Bytes) -> Instant {
        self.begin(now);
        let (first, units) = self.units_touching(start, length);
        let at = self.command(now);
        let at = self.look_up(first, units, at, false);
        let mut pieces = std::mem::take(&mut self.scratch);
        self.pieces_by_row(first, units, &mut pieces);
        let mut done = at;
        let mut blank = length.get();
        for piece in &pieces {
            let issued = self.issue(*piece, at);
            let ready = self.sense(*piece, issued);
            let bytes = self.overlap(*piece, start, length);
            blank -= bytes;
            done = done.max(self.send(ready, bytes));
        }
        if blank > 0 {
            done = done.max(self.send(at, blank));
        }
        self.scratch = pieces;
        self.finish(now, done, first, units)
    }

    /// Reads a range into the controller's memory: when is it there?
    pub fn fetch(&mut self, now: Instant, start: Bytes, length: Bytes) -> Instant {
        self.begin(now);
        let (first, units) = self.units_touching(start, length);
        let at = self.look_up(first, units, now, false);
        let mut pieces = std::mem::take(&mut self.scratch);
        self.pieces_by_row(first, units, &mut pieces);
        let mut done = at;
        for piece in &pieces {
            let issued = self.issue(*piece, at);
            done = done.max(self.sense(*piece, issued));
        }
        self.scratch = pieces;
        self.finish(now, done, first, units)
    }

    /// Writes a range: when is it taken, or on the flash where it must be `durable`?
    pub fn write(&mut self, now: Instant, start: Bytes, length: Bytes, durable: bool) -> Instant {
        self.begin(now);
        let (first, units) = self.units_touching(start, length);
        let at = self.command(now);
        let at = self.look_up(first, units, at, true);
        let old = self.read_edges(start, length, at);
        let mut done = at;
        let mut taken = 0;
        while taken < units {
            let part = (units - taken).min(self.geometry.row_units);
            let room = self.make_room(part, at);
            let bytes = self.overlap(Piece { logical: first + taken, physical: 0, units: part }, start, length);
            let (_, arrived) = self.link_in.reserve(room, self.link.transfer(bytes));
            done = done.max(arrived);
            self.place(first + taken, part, arrived.max(old));
            taken += part;
        }
        if durable {
            let safe = if self.params.buffer.volatile { self.drain(done) } else { done };
            done = safe + self.link.durable_write;
        }
        self.finish(now, done, first, units)
    }

    /// Makes all that was written durable.
    pub fn flush(&mut self, now: Instant) -> Instant {
        self.begin(now);
        let at = self.command(now);
        let safe = if self.params.buffer.volatile { self.drain(at) } else { at };
        self.finish(now, safe + self.link.flush, 0, 0)
    }

    /// Forgets the units that lie wholly in a range.
    pub fn discard(&mut self, now: Instant, start: Bytes, length: Bytes) -> Instant {
        self.begin(now);
        let done = self.command(now);
        let first = start.get().div_ceil(self.geometry.unit) as u32;
        let end = ((start + length).get() / self.geometry.unit) as u32;
        if first < end {
            self.unmap(first, end - first);
        }
        self.finish(now, done, first.min(end), end.saturating_sub(first))
    }

    /// Bytes of a range that have data.
    pub fn mapped_bytes(&self, start: Bytes, length: Bytes) -> Bytes {
        let (first, units) = self.units_touching(start, length);
        let mut bytes = 0;
        self.forward.for_each(first, units, |logical, units, _| {
            bytes += self.overlap(Piece { logical, physical: 0, units }, start, length);
        });
        Bytes(bytes)
    }

    /// Erases of superblocks, and bytes programmed with copies and padding.
    pub fn wear(&self) -> Wear {
        let Counters { host_units, copied_units, padded_units, map_units, .. } = self.counters;
        let units = host_units + copied_units + padded_units + map_units;
        Wear { erases: self.superblocks.erases(), programmed: Bytes(units * self.geometry.unit) }
    }

    /// What was written to the flash since it was made.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Size of a superblock at full bits per cell.
    pub fn superblock(&self) -> Bytes {
        self.geometry.bytes(self.geometry.slots)
    }

    /// Data that one row of pages over all dies holds: what can be read or programmed at once.
    pub fn stripe(&self) -> Bytes {
        self.geometry.bytes(self.geometry.row_units * self.geometry.dies)
    }

    /// Physical capacity (bad superblocks left out) over user capacity.
    pub fn physical_over_user(&self) -> f64 {
        let usable = self.geometry.superblocks - self.params.nand.bad_blocks;
        f64::from(usable) * f64::from(self.geometry.slots) / f64::from(self.geometry.units)
    }

    /// The same without what never holds data that collection could win back: superblocks that are kept free, those being
    /// written to, and a static SLC cache.
    pub fn turnover_over_user(&self) -> f64 {
        let set_aside = match self.params.slc {
            SlcCache::Static { superblocks } => superblocks,
            SlcCache::None | SlcCache::Dynamic { .. } => 0,
        };
        let idle = self.params.collection.foreground_below + OPEN_SUPERBLOCKS + set_aside;
        let used = self.geometry.superblocks.saturating_sub(self.params.nand.bad_blocks + idle);
        f64::from(used) * f64::from(self.geometry.slots) / f64::from(self.geometry.units)
    }

    /// Host data that the SLC cache takes before the first of it is written with more bits per cell, as things stand.
    pub fn slc_room(&self) -> Bytes {
        let open =
            self.streams[place::SLC].superblock.map_or(0, |_| self.streams[place::SLC].room(self.geometry.slc_slots));
        self.geometry.bytes(open)
            + Bytes(u64::from(self.slc_superblocks_left()) * self.geometry.bytes(self.geometry.slc_slots).get())
    }

    /// The same of a blank drive once it holds this amount of data.
    pub fn slc_room_behind(&self, data: Bytes) -> Bytes {
        let taken = data.get().div_ceil(self.geometry.bytes(self.geometry.slots).get()) as u32;
        let left = self.slc_superblocks_within(self.superblocks.free().saturating_sub(taken));
        Bytes(u64::from(left) * self.geometry.bytes(self.geometry.slc_slots).get())
    }

    /// Map units of all usable superblocks.
    pub fn physical_units(&self) -> u64 {
        u64::from(self.geometry.superblocks) * u64::from(self.geometry.slots)
    }

    /// Bytes of memory that the drive's state takes, tables and queues included.
    pub fn state_bytes(&self) -> usize {
        size_of::<PageMap>()
            + self.forward.bytes()
            + self.backward.bytes()
            + self.superblocks.bytes()
            + self.flash.bytes()
            + self.map_cache.as_ref().map_or(0, MapCache::bytes)
            + self.ageing.as_ref().map_or(0, |ageing| ageing.bytes())
            + self.link_in.bytes()
            + self.link_out.bytes()
            + self.scratch.capacity() * size_of::<Piece>()
            + self.streams.iter().map(|stream| stream.sources.capacity() * size_of::<Source>()).sum::<usize>()
    }

    /// Time has come to `now`.
    fn begin(&mut self, now: Instant) {
        // Work since the last call may begin before `now`, so its times are needed until it has begun.
        self.flash.advance(now);
        self.flash.forget(now);
        self.link_in.forget(now);
        self.link_out.forget(now);
        self.buffered -= self.flash.release(now);
        self.last.erases = self.superblocks.erases();
    }

    fn finish(&mut self, now: Instant, done: Instant, first: u32, units: u32) -> Instant {
        self.last = LastStep { now, done, first, units, erases: self.last.erases };
        done
    }

    /// The way of a command to the flash side of the controller.
    fn command(&mut self, now: Instant) -> Instant {
        let search = self.ageing.as_ref().map_or(Nanos::ZERO, |ageing| ageing.search());
        self.firmware_free = self.firmware_free.max(now + self.link.command) + self.params.processing + search;
        self.firmware_free
    }

    /// Controller time for asking the flash for a piece; what is in memory needs none.
    fn issue(&mut self, piece: Piece, at: Instant) -> Instant {
        if self.params.issue == Nanos::ZERO || self.is_in_memory(piece.physical, at) {
            return at;
        }
        self.firmware_free = self.firmware_free.max(at) + self.params.issue;
        self.firmware_free
    }

    /// Data to the host.
    fn send(&mut self, ready: Instant, bytes: u64) -> Instant {
        let line = if self.params.full_duplex { &mut self.link_out } else { &mut self.link_in };
        line.reserve(ready, self.link.transfer(bytes)).1
    }

    /// When a piece of one row is in the controller's memory.
    fn sense(&mut self, piece: Piece, at: Instant) -> Instant {
        if self.is_in_memory(piece.physical, at) {
            return at;
        }
        let geometry = &self.geometry;
        let (superblock, slot) = (geometry.superblock(piece.physical), geometry.slot(piece.physical));
        let row = geometry.row(slot);
        let pages = (slot + piece.units - 1) / geometry.page_units - slot / geometry.page_units + 1;
        let slc = self.superblocks.get(superblock).slc;
        let mut sense = self.params.times(geometry, row, slc).0;
        if pages > 1 {
            sense += self.params.nand.multi_plane_read;
        }
        let die = geometry.die(row);
        let sense = self.worn_sense(superblock, row, sense, pages > 1);
        self.flash.read(die, at, sense, piece.units)
    }

    /// Whether a slot's data have not left the controller's memory yet.
    fn is_in_memory(&self, physical: u32, at: Instant) -> bool {
        self.is_staged(physical) || self.flash.holds(physical, at)
    }

    /// Reads the rest of units that a write covers in part; says when it is there.
    fn read_edges(&mut self, start: Bytes, length: Bytes, at: Instant) -> Instant {
        let unit = self.geometry.unit;
        let end = start + length;
        let mut ready = at;
        let head = (!start.get().is_multiple_of(unit)).then_some(start.get() / unit);
        let tail = (!end.get().is_multiple_of(unit)).then_some(end.get() / unit).filter(|tail| Some(*tail) != head);
        for logical in [head, tail].into_iter().flatten() {
            let physical = self.forward.get(logical as u32);
            if physical != NONE {
                ready = ready.max(self.sense(Piece { logical: logical as u32, physical, units: 1 }, at));
            }
        }
        ready
    }

    /// The mapped runs of a range, cut at rows of the flash.
    fn pieces_by_row(&self, first: u32, units: u32, into: &mut Vec<Piece>) {
        into.clear();
        let row_units = self.geometry.row_units;
        self.forward.for_each(first, units, |logical, units, physical| {
            let mut done = 0;
            while done < units {
                let room = row_units - self.geometry.slot(physical + done) % row_units;
                let part = room.min(units - done);
                into.push(Piece { logical: logical + done, physical: physical + done, units: part });
                done += part;
            }
        });
    }

    /// First unit that a range touches, and how many.
    fn units_touching(&self, start: Bytes, length: Bytes) -> (u32, u32) {
        let first = start.get() / self.geometry.unit;
        let end = (start + length).get().div_ceil(self.geometry.unit);
        (first as u32, (end - first) as u32)
    }

    /// Bytes of the range that lie in a piece.
    fn overlap(&self, piece: Piece, start: Bytes, length: Bytes) -> u64 {
        let from = u64::from(piece.logical) * self.geometry.unit;
        let to = from + u64::from(piece.units) * self.geometry.unit;
        to.min((start + length).get()) - from.max(start.get())
    }
}

/// `count` numbers below `of`, chosen by the seed.
fn worst(of: u32, count: u32, seed: u64) -> Vec<u32> {
    let mut ranked: Vec<u32> = (0..of).collect();
    ranked.sort_by_key(|index| scatter(seed, u64::from(*index)));
    ranked.truncate(count as usize);
    ranked
}

/// A number that looks random and is the same for the same pair.
fn scatter(seed: u64, index: u64) -> u64 {
    mix(stream(seed, index))
}
