//! What a write does: which way it takes through the controller, and how long that is.

use super::{AuLog, Log, OpenUnit, PageRun, RandomLog, SmallRun};
use crate::chance::Chance;
use crate::ftl::Extent;
use flashscope_units::{Bytes, Nanos};

impl AuLog {
    pub(super) fn write(&mut self, extent: Extent, durable: bool) -> Nanos {
        let mut time = self.link.command + self.search();
        if durable {
            time += self.link.durable_write;
        }
        let mut at = extent.start;
        while at < extent.end() {
            let stripe_end = at.align_down(self.params.stripe) + self.params.stripe;
            let piece = Extent::new(at, extent.end().min(stripe_end) - at);
            time += if self.takes_small_path(piece) { self.write_small(piece) } else { self.write_pages(piece) };
            at = piece.end();
        }
        let (limit, wait) = (self.params.small.limit, self.params.small.wait);
        if extent.length <= limit && self.chance.happens(self.params.small.wait_chance) {
            time += self.between(Nanos::ZERO, wait);
        }
        time + std::mem::take(&mut self.flash.upkeep)
    }

    /// A piece is small when it is short and lies in one page, or covers whole pages of one small-write entry.
    fn takes_small_path(&self, piece: Extent) -> bool {
        let (limit, page) = (self.params.small.limit, self.params.page_inner);
        if piece.length > limit {
            return false;
        }
        let last = piece.end() - Bytes(1);
        let within = |unit: Bytes| piece.start / unit == last / unit;
        let whole = piece.start.is_multiple_of(page) && piece.length.is_multiple_of(page);
        within(page) || (whole && within(limit.max(page)))
    }

    /// Into the small-write log. Pages of it are programmed one after the other wherever the data belongs.
    fn write_small(&mut self, piece: Extent) -> Nanos {
        let small = self.params.small.clone();
        let program = self.params.area_of(self.unit_at(piece.start)).map_or(small.program, |area| area.small_program);
        let mut time = self.link.transfer(piece.length) + program;
        let page = self.params.page;
        let goes_on = self.small_run.end == piece.start && !piece.start.is_multiple_of(page);
        self.small_run = SmallRun { end: piece.end(), pieces: if goes_on { self.small_run.pieces + 1 } else { 0 } };
        if goes_on && piece.length >= small.gather_from {
            time += small.gather * u64::from(self.small_run.pieces);
        }
        for run in self.page_runs(piece) {
            for page in run.from..run.from + run.count {
                let number = self.page_number(run.sub, page);
                self.small.insert(number);
                if self.small.len() > small.pages {
                    let collection = self.collect_small();
                    self.behind += collection;
                }
            }
            self.touched.push(run.sub);
        }
        self.flash.programmed += 1;
        time
    }

    /// Makes room in the small-write log: the oldest pages are written to their places.
    fn collect_small(&mut self) -> Nanos {
        let batch = u64::from(self.params.small.batch);
        for _ in 0..=self.chance.below((2 * batch).saturating_sub(1)) {
            let Some(page) = self.small.oldest() else { break };
            self.write_back(page);
        }
        let (shortest, longest) = (self.params.small.collect_shortest, self.params.small.collect_longest);
        self.between(shortest, longest)
    }

    /// A page leaves the small-write log for its place.
    fn write_back(&mut self, number: u64) {
        let per_sub = u64::from(self.flash.pages);
        let run = PageRun { sub: (number / per_sub) as u32, from: (number % per_sub) as u32, count: 1 };
        self.replace(run);
    }

    /// Through the logs. The first page waits for its data; then the wire is faster than the flash, or the flash
    /// than the wire.
    fn write_pages(&mut self, piece: Extent) -> Nanos {
        let page = self.params.page;
        let mut time = self.read_partial_pages(piece) + self.link.transfer(page.min(piece.length));
        for run in self.page_runs(piece) {
            time += self.place(run, piece.length) + self.program(run);
        }
        time
    }

    /// Pages that a write covers only in part are read and completed first.
    fn read_partial_pages(&self, piece: Extent) -> Nanos {
        let page = self.params.page;
        let partial = |at: Bytes| {
            let chunks = page / self.params.read.chunk;
            let mut base = self.page_runs(Extent::new(at, Bytes(1)));
            let held = base.next().is_some_and(|run| self.holds(run.sub, run.from));
            if held { self.params.read.sense + self.params.read.decode * chunks } else { Nanos::ZERO }
        };
        let mut time = Nanos::ZERO;
        if !piece.start.is_multiple_of(page) {
            time += partial(piece.start);
        }
        let last = piece.end().align_down(page);
        if !piece.end().is_multiple_of(page) && (last > piece.start || piece.start.is_multiple_of(page)) {
            time += partial(last);
        }
        time
    }

    fn program(&self, run: PageRun) -> Nanos {
        let unit = self.unit_of_sub(run.sub);
        let page = self.params.area_of(unit).map_or(self.params.program.page, |area| area.program);
        let page = Nanos((page.as_f64() * self.pace(unit) * self.worn_program(run)).round() as u64);
        page.max(self.link.transfer(self.params.page)) * u64::from(run.count)
    }

    /// How much longer than the mean a unit takes to program: its blocks are what they are, so the same each time.
    fn pace(&self, unit: u32) -> f64 {
        if self.params.program.spread == 0.0 {
            return 1.0;
        }
        let mut blocks = Chance::new(self.seed.wrapping_add(u64::from(unit) << 32), "blocks");
        1.0 + self.params.program.spread * (blocks.unit() + blocks.unit() - 1.0)
    }

    /// Finds room for a run that belongs to a write of `length`, and says what had to be moved for it.
    fn place(&mut self, run: PageRun, length: Bytes) -> Nanos {
        let unit = self.unit_of_sub(run.sub);
        if self.params.area_of(unit).is_some_and(|area| area.page_mapped) {
            self.replace(run);
            return Nanos::ZERO;
        }
        let long = length >= self.params.stream;
        // The unit that was opened last is the likeliest.
        match self.open.iter().rposition(|open| open.unit == unit) {
            Some(index) => {
                self.open[index].last_use = self.tick();
                self.place_in_open(index, run, long)
            }
            None if self.params.logs_in_order == 0 => self.append_at_random(run),
            None if self.offset_in_unit(run) == 0 || long || self.params.logs_random == 0 => self.open_at(run),
            None => self.append_at_random(run),
        }
    }

    fn place_in_open(&mut self, index: usize, run: PageRun, long: bool) -> Nanos {
        let log = self.open[index].log;
        let offset = self.offset_in_unit(run);
        let mut copied = 0;
        match log {
            Some(log) if log.sub == run.sub && log.at == run.from => {}
            // The next sub-unit in order, or the unit from its start again.
            None if run.from == 0 && (offset == 0 || self.open[index].tidy == offset) => {
                copied += self.begin(index, run);
            }
            // A log in progress makes way for a new one.
            _ if long || offset == 0 => {
                copied += match log {
                    Some(log) if log.sub == run.sub && run.from == 0 && run.count >= log.at => self.abandon(index, log),
                    Some(log) => self.close_log(log),
                    None => 0,
                };
                copied += self.begin(index, run);
            }
            _ if self.params.logs_random > 0 => return self.append_at_random(run),
            _ => return self.merge_with(index, run),
        }
        let time = if offset == 0 { self.take_fresh_unit(self.unit_of_sub(run.sub)) } else { Nanos::ZERO };
        self.append(index, run);
        time + self.copying(copied)
    }

    /// Opens a unit at any place: what lies before is copied, so that the unit's blocks are in order up to there.
    fn open_at(&mut self, run: PageRun) -> Nanos {
        let unit = self.unit_of_sub(run.sub);
        let mut time = self.make_way() + self.take_fresh_unit(unit);
        let last_use = self.tick();
        self.open.push(OpenUnit { unit, log: None, tidy: 0, last_use });
        let index = self.open.len() - 1;
        let first = unit * self.sub_units_per_unit();
        let mut copied: u32 = (first..run.sub).map(|sub| self.merge_sub_unit(sub)).sum();
        copied += self.begin(index, run);
        self.open[index].tidy = self.offset_in_unit(run);
        self.append(index, run);
        time += self.copying(copied);
        time
    }

    /// Gives up a log all of whose pages are about to be written again: until then the old block stands for them.
    fn abandon(&mut self, index: usize, log: Log) -> u32 {
        let pages = self.flash.valid(log.block);
        self.flash.remove_valid(log.block, pages);
        self.open[index].log = None;
        let block = self.flash.data_block_or_new(log.sub);
        self.flash.add_valid(block, pages);
        self.flash.release(log.block);
        0
    }

    /// Starts a log where the run starts.
    fn begin(&mut self, index: usize, run: PageRun) -> u32 {
        let (log, copied) = self.start_log(run.sub, run.from);
        self.open[index].log = Some(log);
        copied
    }

    /// Writes a run at the end of the unit's log; a full log becomes the sub-unit's block at no cost (switch merge).
    fn append(&mut self, index: usize, run: PageRun) {
        let offset = self.offset_in_unit(run);
        let Some(mut log) = self.open[index].log else { return };
        self.attach_new(run, log.block);
        log.at += run.count;
        let open = &mut self.open[index];
        open.tidy = match open.tidy {
            tidy if tidy == offset => offset + run.count,
            _ if offset == 0 => run.count,
            _ => 0,
        };
        open.log = Some(log);
        if log.at == self.flash.pages {
            self.close_log(log);
        }
    }

    /// Writes a run and merges its sub-unit with it at once.
    fn merge_with(&mut self, index: usize, run: PageRun) -> Nanos {
        self.replace(run);
        let copied = self.merge_sub_unit(run.sub);
        self.open[index].tidy = 0;
        self.merging(copied)
    }

    /// New data for a run where its old data was: in the log up to its end, in the sub-unit's block behind it.
    fn replace(&mut self, run: PageRun) {
        let split = self.log_of(run.sub).map_or(0, |log| log.at).clamp(run.from, run.from + run.count);
        if let Some(log) = self.log_of(run.sub).filter(|_| split > run.from) {
            self.attach_new(PageRun { count: split - run.from, ..run }, log.block);
        }
        if split < run.from + run.count {
            let block = self.flash.data_block_or_new(run.sub);
            self.attach_new(PageRun { from: split, count: run.from + run.count - split, ..run }, block);
        }
    }

    /// Appends a run to the unit's log for writes in any order.
    fn append_at_random(&mut self, run: PageRun) -> Nanos {
        let unit = self.unit_of_sub(run.sub);
        let capacity = (self.params.random_log / self.params.page) as u32;
        let mut time = Nanos::ZERO;
        let mut index = self.random.iter().position(|log| log.unit == unit);
        if let Some(full) = index.filter(|&index| self.random[index].used + run.count > capacity) {
            time += self.close_random(full);
            index = None;
        }
        if index.is_none() {
            time += self.open_random(unit);
        }
        self.fill_random(unit, run);
        time
    }

    fn open_random(&mut self, unit: u32) -> Nanos {
        let mut time = Nanos::ZERO;
        if self.random.len() >= self.params.logs_random as usize {
            let oldest = (0..self.random.len()).min_by_key(|&index| self.random[index].last_use);
            time += oldest.map_or(Nanos::ZERO, |index| self.close_random(index));
        }
        let newest = super::Bits::new(self.pages_per_unit());
        let subs = super::Bits::new(self.sub_units_per_unit());
        self.random.push(RandomLog { unit, blocks: Vec::new(), used: 0, in_order: true, newest, subs, last_use: 0 });
        time + self.take_fresh_unit(unit)
    }

    fn fill_random(&mut self, unit: u32, run: PageRun) {
        self.detach(run);
        let (numbers, range) = (self.numbers(run), run.from..run.from + run.count);
        self.small.take(numbers);
        self.flash.set_present(run.sub, range.clone(), true);
        self.flash.programmed += u64::from(run.count);
        let (stamp, range, pages) = (self.tick(), self.in_unit(run.sub, range), self.flash.pages);
        let sub = run.sub % self.sub_units_per_unit();
        let Some(log) = self.random.iter_mut().find(|log| log.unit == unit) else { return };
        log.subs.set(sub..sub + 1, true);
        log.in_order &= range.start == log.used;
        log.newest.set(range, true);
        log.used += run.count;
        log.last_use = stamp;
        while log.blocks.len() < log.used.div_ceil(pages) as usize {
            log.blocks.push(self.flash.allocate());
        }
    }

    /// Closes the unit that was not used for longest where as many are open as there are logs.
    fn make_way(&mut self) -> Nanos {
        if self.open.len() < self.params.logs_in_order as usize {
            return Nanos::ZERO;
        }
        let Some(index) = (0..self.open.len()).min_by_key(|&index| self.open[index].last_use) else {
            return Nanos::ZERO;
        };
        let open = self.open[index].clone();
        let copied = self.close_unit(&open);
        self.open.remove(index);
        self.copying(copied)
    }

    /// A unit is begun in fresh blocks: they may have to be erased first, or work of the controller's own be done.
    fn take_fresh_unit(&mut self, unit: u32) -> Nanos {
        let mut time = self.housekeeping();
        if let Some((index, area)) = self.params.area_index(unit) {
            time += if std::mem::take(&mut self.erased_ahead[index]) { Nanos::ZERO } else { area.erase };
        }
        time
    }

    fn housekeeping(&mut self) -> Nanos {
        let (refill, chance) = (self.params.housekeeping.refill, self.params.housekeeping.chance);
        if self.chance.happens(refill) {
            self.owed += 1;
        }
        if self.owed == 0 || !self.chance.happens(chance) {
            return Nanos::ZERO;
        }
        self.owed -= 1;
        let (shortest, longest) = (self.params.housekeeping.shortest, self.params.housekeeping.longest);
        self.between(shortest, longest)
    }

    fn between(&mut self, shortest: Nanos, longest: Nanos) -> Nanos {
        shortest + Nanos((self.chance.unit() * (longest - shortest).as_f64()).round() as u64)
    }

    fn offset_in_unit(&self, run: PageRun) -> u32 {
        self.in_unit(run.sub, run.from..run.from).start
    }
}
