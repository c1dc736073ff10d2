//! A drive that maps pages: what it does with a request.

mod cells;
mod plan;
mod recent;

pub(crate) use plan::{CachedMap, DrivePlan, DriveTimes, FastCells, Victim};

use crate::chance::Chance;
use crate::flash::{Controller, Meter, Spread, transfer};
use cells::Cells;
use flashscope_device::Wear;
use flashscope_units::{Instant, Nanos};
use recent::Recent;

/// Free superblocks below which data is collected.
const LEAST_FREE: usize = 2;

/// A drive in some state.
#[derive(Clone, Debug)]
pub(crate) struct Drive {
    plan: DrivePlan,
    spread: Spread,
    chance: Chance,
    cells: Cells,
    /// Superblocks that host writes, copies and fast cells go to.
    open: [Option<usize>; 3],
    map: Option<Recent>,
    link_until: Instant,
    controller_until: Instant,
    channels_until: Vec<Instant>,
    dies_until: Vec<Instant>,
    meter: Meter,
}

/// What is written for whom.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Host = 0,
    Copies = 1,
    Fast = 2,
}

impl Drive {
    pub(crate) fn new(plan: DrivePlan, seed: u64, shape: Option<f64>) -> Drive {
        let mut drive = Drive {
            spread: Spread::new(shape, Chance::new(seed, 21)),
            chance: Chance::new(seed, 22),
            cells: Cells::new(&plan),
            open: [None; 3],
            map: plan.cached_map.as_ref().map(|map| Recent::new(map.entries)),
            link_until: Instant::ORIGIN,
            controller_until: Instant::ORIGIN,
            channels_until: vec![Instant::ORIGIN; plan.channels],
            dies_until: vec![Instant::ORIGIN; plan.dies()],
            meter: Meter::default(),
            plan,
        };
        drive.begin_used(&mut Chance::new(seed, 23));
        drive
    }

    /// Earlier use: written from start to end, then over at random.
    fn begin_used(&mut self, chance: &mut Chance) {
        let filled = (self.plan.filled * self.plan.pages() as f64) as usize;
        let again = (self.plan.aged * filled as f64) as usize;
        let overwrites: Vec<usize> = (0..again).map(|_| chance.below(filled)).collect();
        for page in (0..filled).chain(overwrites) {
            self.collect(Instant::ORIGIN);
            self.place(Stream::Host, page);
        }
        self.dies_until.fill(Instant::ORIGIN);
        self.channels_until.fill(Instant::ORIGIN);
        self.meter = Meter::default();
    }

    /// Channel and die of a place.
    fn die(&self, place: usize) -> (usize, usize) {
        let (superblock, number) = self.cells.split(place);
        let (row, column) = (number / self.plan.dies(), number % self.plan.dies());
        let turned = if self.plan.rotates { row + superblock } else { 0 };
        let channel = (column + turned) % self.plan.channels;
        (channel, channel * self.plan.ways + column / self.plan.channels)
    }

    /// The next place of a stream. Collection has seen to it that there is one.
    fn place(&mut self, stream: Stream, page: usize) -> usize {
        let full = |number: usize| self.cells.superblocks[number].written == self.cells.superblocks[number].room;
        let slot = stream as usize;
        if self.open[slot].is_none_or(full) {
            self.open[slot] = self.cells.open(stream == Stream::Fast);
        }
        let superblock = self.open[slot].expect("a superblock is kept free");
        self.cells.append(superblock, page)
    }

    /// Codewords over the channel.
    fn over_channel(&self, from: u64, to: u64) -> Nanos {
        self.plan.times.codeword * (to.div_ceil(self.plan.codeword) - from / self.plan.codeword)
    }

    /// A page, or a part of it, sensed and brought to the controller.
    fn fetch(&mut self, now: Instant, place: usize, from: u64, to: u64) -> Instant {
        let (channel, die) = self.die(place);
        let sensed = now.max(self.dies_until[die]) + self.spread.around(self.plan.times.sense);
        let brought = sensed.max(self.channels_until[channel]) + self.over_channel(from, to);
        (self.dies_until[die], self.channels_until[channel]) = (brought, brought);
        brought
    }

    /// A page brought to its die and programmed.
    fn program(&mut self, now: Instant, place: usize, time: Nanos) -> Instant {
        let (channel, die) = self.die(place);
        let brought =
            now.max(self.channels_until[channel]).max(self.dies_until[die]) + self.over_channel(0, self.plan.page);
        self.channels_until[channel] = brought;
        self.dies_until[die] = brought + self.spread.around(time);
        self.meter.programmed += self.plan.page;
        self.dies_until[die]
    }

    fn erase(&mut self, now: Instant, superblock: usize) -> Instant {
        let mut done = now;
        for die in 0..self.plan.dies() {
            self.dies_until[die] = now.max(self.dies_until[die]) + self.spread.around(self.plan.times.erase);
            done = done.max(self.dies_until[die]);
        }
        self.meter.erases += self.plan.dies() as u64;
        self.cells.erase(superblock);
        // One that was full may still be the last that a stream wrote to.
        self.open.iter_mut().filter(|open| **open == Some(superblock)).for_each(|open| *open = None);
        done
    }

    /// Copies what is left in a superblock and erases it; when that is done.
    fn empty(&mut self, now: Instant, superblock: usize) -> Instant {
        let mut done = now;
        for page in self.cells.pages_in(superblock) {
            let from = self.cells.place(page).expect("it lies in this superblock");
            let read = self.fetch(now, from, 0, self.plan.page);
            let to = self.place(Stream::Copies, page);
            done = done.max(self.program(read, to, self.plan.times.program));
        }
        self.erase(done, superblock)
    }

    /// Makes room before a write, so that one superblock is always free for copies.
    fn collect(&mut self, now: Instant) {
        let is_full = |number: Option<usize>, cells: &Cells| {
            number.is_none_or(|one| cells.superblocks[one].written == cells.superblocks[one].room)
        };
        while self.cells.free() <= LEAST_FREE && is_full(self.open[Stream::Host as usize], &self.cells) {
            let Some(victim) = self.cells.victim(self.plan.victim, false, &mut self.chance) else { return };
            // One without room to gain would be copied for ever.
            let victim = match self.cells.superblocks[victim] {
                ref full if full.valid == full.room => {
                    self.cells.victim(Victim::Greedy, false, &mut self.chance).unwrap_or(victim)
                }
                _ => victim,
            };
            self.empty(now, victim);
        }
    }

    /// The entry of a page of the map; when it is in memory.
    fn look_up(&mut self, now: Instant, page: usize, dirty: bool) -> Instant {
        let Some((map, plan)) = self.map.as_mut().zip(self.plan.cached_map.as_ref()) else { return now };
        let page = page as u64;
        if map.touch(page, dirty) {
            return now;
        }
        let last = (page / plan.per_page + 1) * plan.per_page;
        let mut written_back = Vec::new();
        for entry in (page..(page + plan.fetched).min(last)).rev() {
            if let Some(gone) = map.fetch(entry) {
                let first = gone / plan.per_page * plan.per_page;
                map.clean(first..first + plan.per_page);
                written_back.push(first);
            }
        }
        map.touch(page, dirty);
        // Pages of the map lie on dies by their number, and are read before they are written back with what differs.
        let per_page = plan.per_page;
        let mut done = now;
        for first in written_back {
            let place = first as usize / per_page as usize % self.plan.dies();
            let read = self.fetch(done, place, 0, self.plan.codeword * 4);
            done = self.program(read, place, self.plan.times.program);
        }
        let place = page as usize / per_page as usize % self.plan.dies();
        self.fetch(done, place, 0, self.plan.codeword * 4)
    }

    fn pieces(&self, start: u64, length: u64) -> Vec<(usize, u64, u64)> {
        let (mut at, end) = (start + self.plan.hidden, start + self.plan.hidden + length);
        let mut pieces = Vec::new();
        while at < end {
            let from = at % self.plan.page;
            let to = self.plan.page.min(from + (end - at));
            pieces.push(((at / self.plan.page) as usize, from, to));
            at += to - from;
        }
        pieces
    }

    /// The command through the controller, one at a time.
    fn begin(&mut self, now: Instant) -> Instant {
        let begun = now.max(self.controller_until) + self.plan.times.command;
        self.controller_until = begun;
        begun
    }

    fn over_link(&mut self, ready: Instant, bytes: u64) -> Instant {
        self.link_until = ready.max(self.link_until) + transfer(bytes, self.plan.times.wire);
        self.link_until
    }
}

impl Controller for Drive {
    fn read(&mut self, now: Instant, start: u64, length: u64) -> Instant {
        let mut issued = self.begin(now);
        let mut done = issued;
        for (page, from, to) in self.pieces(start, length) {
            issued += self.plan.times.issue;
            issued = self.look_up(issued, page, false);
            let ready = match self.cells.place(page) {
                Some(place) => self.fetch(issued, place, from, to),
                None => issued,
            };
            done = self.over_link(ready.max(done), to - from);
        }
        done
    }

    fn write(&mut self, now: Instant, start: u64, length: u64) -> Instant {
        let mut issued = self.begin(now);
        let mut done = issued;
        for (page, from, to) in self.pieces(start, length) {
            issued += self.plan.times.issue;
            issued = self.look_up(issued, page, true);
            let arrived = self.over_link(issued, to - from);
            let whole = from == 0 && to == self.plan.page;
            let rest = self.cells.place(page).filter(|_| !whole);
            let ready = rest.map_or(arrived, |place| self.fetch(arrived, place, 0, self.plan.page));
            let (stream, time) = self.stream();
            if stream == Stream::Host {
                self.collect(arrived);
            }
            let place = self.place(stream, page);
            done = done.max(self.program(ready, place, time));
        }
        done
    }

    fn forget(&mut self, start: u64, end: u64) {
        let (first, behind) =
            ((start + self.plan.hidden).div_ceil(self.plan.page), (end + self.plan.hidden) / self.plan.page);
        (first..behind).for_each(|page| self.cells.forget(page as usize));
    }

    /// Fast cells are copied, a superblock at a time, as long as the rest lasts.
    fn rest(&mut self, from: Instant, until: Instant) {
        let Some(fast) = self.plan.fast.clone() else { return };
        let mut at = from + fast.after;
        while at < until {
            let Some(victim) = self.cells.victim(Victim::Oldest, true, &mut self.chance) else { return };
            self.collect_for_copies(at);
            at = self.empty(at, victim);
        }
    }

    fn wear(&self) -> Wear {
        self.meter.wear()
    }

    fn check(&self) -> Result<(), String> {
        self.cells.check()?;
        self.map.as_ref().map_or(Ok(()), Recent::check)
    }
}

impl Drive {
    /// Where a host write goes: to fast cells as long as some are free.
    fn stream(&self) -> (Stream, Nanos) {
        let Some(fast) = &self.plan.fast else { return (Stream::Host, self.plan.times.program) };
        let open = self.open[Stream::Fast as usize]
            .is_some_and(|number| self.cells.superblocks[number].written < self.cells.superblocks[number].room);
        if open || self.cells.free_fast() > 0 {
            (Stream::Fast, fast.program)
        } else {
            (Stream::Host, self.plan.times.program)
        }
    }

    /// Room for what a superblock of fast cells holds.
    fn collect_for_copies(&mut self, now: Instant) {
        while self.cells.free() <= LEAST_FREE {
            let Some(victim) = self.cells.victim(Victim::Greedy, false, &mut self.chance) else { return };
            self.empty(now, victim);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> DrivePlan {
        DrivePlan {
            capacity: 64 << 20,
            hidden: 0,
            channels: 2,
            ways: 2,
            page: 16 << 10,
            codeword: 2048,
            pages_per_block: 32,
            spare: 1.2,
            rotates: true,
            victim: Victim::Greedy,
            cached_map: None,
            fast: None,
            filled: 1.0,
            aged: 0.5,
            times: DriveTimes {
                command: Nanos::micros(20),
                wire: 500e6,
                issue: Nanos::micros(2),
                sense: Nanos::micros(60),
                program: Nanos::micros(700),
                erase: Nanos::millis(5),
                codeword: Nanos::micros(5),
            },
        }
    }

    #[test]
    fn random_overwrites_never_lose_a_page() {
        for (victim, fast) in [(Victim::Greedy, true), (Victim::BestOf(3), false), (Victim::Oldest, true)] {
            let mut plan = plan();
            plan.victim = victim;
            plan.fast = fast.then(|| FastCells {
                superblocks: 3,
                bits: 3,
                program: Nanos::micros(200),
                after: Nanos::millis(10),
            });
            let mut drive = Drive::new(plan, 1, Some(50.0));
            let (mut chance, mut now) = (Chance::new(1, 1), Instant::ORIGIN);
            for step in 0..20_000 {
                let page = chance.below(4096) as u64;
                let done = drive.write(now, page << 14, 16 << 10);
                assert!(done > now);
                now = done;
                if step % 1000 == 0 {
                    drive.check().expect("sound");
                    drive.rest(now, now + Nanos::secs(1));
                    now += Nanos::secs(1);
                }
            }
            assert_eq!((0..4096).filter(|&page| drive.cells.place(page).is_none()).count(), 0);
            assert!(drive.meter.programmed > 20_000 << 14);
        }
    }

    #[test]
    fn rows_begin_with_another_channel() {
        let drive = Drive::new(plan(), 1, None);
        let first: Vec<usize> = (0..4).map(|row| drive.die(row * 4).0).collect();
        assert_eq!(first, [0, 1, 0, 1]);
        let mut row: Vec<usize> = (0..4).map(|column| drive.die(column).1).collect();
        row.sort_unstable();
        assert_eq!(row, [0, 1, 2, 3], "each die once");
    }

    #[test]
    fn a_map_that_is_not_in_memory_is_read_first() {
        let mut plan = plan();
        plan.cached_map = Some(CachedMap { entries: 64, per_page: 512, fetched: 1 });
        let mut drive = Drive::new(plan, 1, None);
        let mut now = Instant::ORIGIN;
        let mut read = |page: u64| {
            let before = now;
            now = drive.read(now, page << 14, 4096);
            now.since(before)
        };
        let missed = read(7);
        assert_eq!(missed.saturating_sub(read(7)), Nanos::micros(60 + 4 * 5));
        for page in 100..164 {
            read(page);
        }
        assert_eq!(read(7), missed);
    }

    #[test]
    fn fast_cells_are_free_again_after_a_rest() {
        let mut plan = plan();
        plan.fast = Some(FastCells { superblocks: 2, bits: 4, program: Nanos::micros(100), after: Nanos::millis(1) });
        let mut drive = Drive::new(plan, 1, None);
        let mut now = Instant::ORIGIN;
        let mut write_all = |drive: &mut Drive| {
            let fast: Vec<bool> = (0..80u64)
                .map(|page| {
                    let before = now;
                    now = drive.write(now, page << 14, 16 << 10);
                    now.since(before) < Nanos::micros(500)
                })
                .collect();
            let rested = now + Nanos::secs(10);
            drive.rest(now, rested);
            now = rested;
            fast.iter().take_while(|fast| **fast).count()
        };
        // Two superblocks of 4 × 32 pages, a quarter of each.
        assert_eq!([write_all(&mut drive), write_all(&mut drive)], [64, 64]);
    }
}
