//! Moving pages: logs are opened, filled, switched in and closed; sub-units are merged. Each function says how many
//! pages it copied; `copying` (partial merges) and `merging` (full ones) turn pages into time.

use super::faults::Fault;
use super::{AuLog, Log, OpenUnit, PageRun, RandomLog};
use flashscope_units::Nanos;
use std::ops::Range;

impl AuLog {
    /// The time of a partial merge: a log is completed by this number of pages and takes the old block's place, which is
    /// erased later.
    pub(super) fn copying(&self, pages: u32) -> Nanos {
        if self.fault == Some(Fault::FreeMerges) { Nanos::ZERO } else { self.params.merge.copy * u64::from(pages) }
    }

    /// The time of a full merge: all pages are copied to a fresh block, and erase and new map must be waited for.
    pub(super) fn merging(&self, pages: u32) -> Nanos {
        if pages == 0 || self.fault == Some(Fault::FreeMerges) {
            return Nanos::ZERO;
        }
        self.params.merge.fixed + self.copying(pages)
    }

    /// Takes the pages of a run from wherever their newest copies lie, small-write log included. What is left behind
    /// is invalid. Says how many held data.
    pub(super) fn detach(&mut self, run: PageRun) -> u32 {
        self.touched.push(run.sub);
        let range = run.from..run.from + run.count;
        let present = self.flash.present(run.sub, range.clone());
        let log = self.log_of(run.sub);
        let below = range.start..range.end.min(log.map_or(0, |log| log.at)).max(range.start);
        let random_below = self.random_count(run.sub, below.clone());
        let in_log = self.flash.present(run.sub, below) - random_below;
        let in_random = self.take_random(run.sub, range);
        if let Some(log) = log {
            self.flash.remove_valid(log.block, in_log);
        }
        let in_data = present - in_log - in_random;
        if let (Some(block), 1..) = (self.flash.data_block(run.sub), in_data) {
            self.flash.remove_valid(block, in_data);
        }
        present
    }

    /// New data for a run, into `block`.
    pub(super) fn attach_new(&mut self, run: PageRun, block: u32) {
        self.detach(run);
        let numbers = self.numbers(run);
        self.small.take(numbers);
        self.flash.set_present(run.sub, run.from..run.from + run.count, true);
        self.flash.add_valid(block, run.count);
        self.flash.programmed += u64::from(run.count);
    }

    /// Copies what a run holds into `block`; pieces in the small-write log are folded in.
    fn copy_into(&mut self, run: PageRun, block: u32) -> u32 {
        self.fold_small(run);
        let mut copied = self.detach(run);
        if self.fault == Some(Fault::ForgottenCopies) && copied > 0 {
            self.flash.set_present(run.sub, run.from + run.count - 1..run.from + run.count, false);
            copied -= 1;
        }
        self.flash.add_valid(block, copied);
        self.flash.programmed += u64::from(copied);
        copied
    }

    /// Pages that had pieces in the small-write log have them in their place from now on. A page that had
    /// nothing but pieces gets a place in the data block, from where the merge at hand takes it.
    fn fold_small(&mut self, run: PageRun) {
        let numbers = self.numbers(run);
        let first = self.page_number(run.sub, 0);
        for number in self.small.take(numbers) {
            let page = (number - first) as u32;
            if self.flash.set_present(run.sub, page..page + 1, true) == 1 {
                let block = match self.log_of(run.sub) {
                    Some(log) if page < log.at => log.block,
                    _ => self.flash.data_block_or_new(run.sub),
                };
                self.flash.add_valid(block, 1);
            }
        }
    }

    /// Merges one sub-unit into a fresh block: log, random log, small-write log and old block become one.
    pub(super) fn merge_sub_unit(&mut self, sub: u32) -> u32 {
        let whole = PageRun { sub, from: 0, count: self.flash.pages };
        if self.flash.present(sub, 0..whole.count) == 0 && !self.small.any_in(self.numbers(whole)) {
            // All of it was discarded meanwhile.
            if let Some(log) = self.drop_log(sub) {
                self.flash.release(log.block);
            }
            self.flash.drop_data_block(sub);
            return 0;
        }
        let block = self.flash.allocate();
        let copied = self.copy_into(whole, block);
        if let Some(log) = self.drop_log(sub) {
            self.flash.release(log.block);
        }
        self.flash.switch(sub, block);
        copied
    }

    /// Starts a log in a sub-unit at page `from`, copying what lies before it.
    pub(super) fn start_log(&mut self, sub: u32, from: u32) -> (Log, u32) {
        let block = self.flash.allocate();
        let copied = if from > 0 { self.copy_into(PageRun { sub, from: 0, count: from }, block) } else { 0 };
        (Log { sub, block, at: from }, copied)
    }

    /// Copies what lies behind the log, if it is not full, and makes it the sub-unit's block.
    pub(super) fn close_log(&mut self, log: Log) -> u32 {
        let rest = self.flash.pages - log.at;
        let run = PageRun { sub: log.sub, from: log.at, count: rest };
        let copied = if rest > 0 { self.copy_into(run, log.block) } else { 0 };
        self.drop_log(log.sub);
        self.flash.switch(log.sub, log.block);
        copied
    }

    /// Closes a unit: in order, what is still to come is copied; out of order, all of it.
    pub(super) fn close_unit(&mut self, open: &OpenUnit) -> u32 {
        let per_unit = self.sub_units_per_unit();
        if open.tidy == self.pages_per_unit() {
            return 0;
        }
        let first = open.unit * per_unit;
        let mut copied = 0;
        if open.tidy == 0 {
            return (first..first + per_unit).map(|sub| self.merge_sub_unit(sub)).sum();
        }
        let mut next = first + open.tidy / self.flash.pages;
        if let Some(log) = open.log {
            copied += self.close_log(log);
            next = log.sub + 1;
        }
        for sub in next..first + per_unit {
            copied += self.merge_sub_unit(sub);
        }
        copied
    }

    /// Merges every sub-unit that a log for any order holds pages of, and gives its blocks back. A log that was written
    /// in order takes the old blocks' place, and only what it does not hold is copied.
    pub(super) fn close_random(&mut self, index: usize) -> Nanos {
        let (unit, used, in_order) = {
            let log = &self.random[index];
            (log.unit, log.used, log.in_order)
        };
        let mut copied = 0;
        for sub in 0..self.sub_units_per_unit() {
            if self.random[index].subs.count(sub..sub + 1) > 0 {
                copied += self.merge_sub_unit(unit * self.sub_units_per_unit() + sub);
            }
        }
        // Where no log is in progress every sub-unit is whole now: nothing is owed for the unit.
        let pages = self.pages_per_unit();
        if let Some(open) = self.open.iter_mut().find(|open| open.unit == unit && open.log.is_none()) {
            open.tidy = pages;
        }
        let log = self.random.remove(index);
        for block in log.blocks {
            self.flash.release(block);
        }
        if in_order {
            self.flash.programmed -= u64::from(used.min(copied));
            self.copying(copied.saturating_sub(used))
        } else {
            self.merging(copied)
        }
    }

    /// Drops what a run holds.
    pub(super) fn forget(&mut self, run: PageRun) {
        let numbers = self.numbers(run);
        self.small.take(numbers);
        self.detach(run);
        self.flash.set_present(run.sub, run.from..run.from + run.count, false);
        let empty = self.flash.data_block(run.sub).is_some_and(|block| self.flash.valid(block) == 0);
        if empty && self.log_of(run.sub).is_none() {
            self.flash.drop_data_block(run.sub);
        }
    }

    /// One piece of background work, if there is any: its time.
    pub(super) fn tidy_up_one(&mut self) -> Option<Nanos> {
        if !self.random.is_empty() {
            return Some(self.close_random(0));
        }
        if let Some(index) = self.open.iter().position(|open| open.tidy != self.pages_per_unit()) {
            let open = self.open[index].clone();
            let copied = self.close_unit(&open);
            self.open.remove(index);
            return Some(self.copying(copied));
        }
        let page = self.small.oldest()?;
        let copied = self.merge_sub_unit((page / u64::from(self.flash.pages)) as u32);
        Some(self.merging(copied))
    }

    pub(super) fn log_of(&self, sub: u32) -> Option<Log> {
        let unit = self.unit_of_sub(sub);
        self.open.iter().rev().find(|open| open.unit == unit)?.log.filter(|log| log.sub == sub)
    }

    fn drop_log(&mut self, sub: u32) -> Option<Log> {
        let unit = self.unit_of_sub(sub);
        let open = self.open.iter_mut().rev().find(|open| open.unit == unit)?;
        open.log.take_if(|log| log.sub == sub)
    }

    pub(super) fn random_count(&self, sub: u32, range: Range<u32>) -> u32 {
        let unit = self.unit_of_sub(sub);
        self.random.iter().find(|log| log.unit == unit).map_or(0, |log| log.newest.count(self.in_unit(sub, range)))
    }

    fn take_random(&mut self, sub: u32, range: Range<u32>) -> u32 {
        let (unit, range) = (self.unit_of_sub(sub), self.in_unit(sub, range));
        match self.random.iter_mut().find(|log| log.unit == unit) {
            Some(RandomLog { newest, .. }) => newest.set(range, false),
            None => 0,
        }
    }

    /// Pages of a sub-unit, counted from the start of its unit.
    pub(super) fn in_unit(&self, sub: u32, range: Range<u32>) -> Range<u32> {
        let first = sub % self.sub_units_per_unit() * self.flash.pages;
        first + range.start..first + range.end
    }
}
