//! The AU-log card: SD cards, eMMC and sticks that map whole allocation units and keep a few of them open.
//!
//! One controller works off one request after the other. The map knows *sub-units* (erase blocks); a *unit* is the
//! group of sub-units that is opened and closed together. An open unit takes sequential writes into a log block
//! that replaces the old block when it is full (switch merge). A write elsewhere in the unit goes, by the
//! model, to a log for random writes, or costs a merge of its sub-unit at once; a long one moves the log, which
//! copies what lies before and behind it (partial merge). Closing a unit that is not in order copies it whole.
//! Small writes go to a log of their own, mapped by page.
//!
//! `write` decides, `merge` moves pages, `read` times reads, `flash` keeps the books, `check` audits them.

mod ageing;
mod check;
pub(crate) mod faults;
mod flash;
mod inside;
mod merge;
mod params;
mod read;
mod saved;
mod small;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use params::{Area, AuLogParams};
pub(crate) use saved::SavedCard;

use crate::ageing::Ageing;
use crate::chance::Chance;
use crate::ftl::{Counters, Extent, Ftl, Inside, Presence, UseOfLife, Work};
use crate::model::{Link, Model};
use faults::Fault;
use flash::{Bits, Flash};
use flashscope_device::Wear;
use flashscope_units::{Bytes, Instant, Nanos};
use serde::{Deserialize, Serialize};
use small::SmallLog;

/// One card.
#[derive(Clone, Debug)]
pub(crate) struct AuLog {
    params: AuLogParams,
    link: Link,
    flash: Flash,
    open: Vec<OpenUnit>,
    random: Vec<RandomLog>,
    small: SmallLog,
    /// Where the last small write ended, and how many pieces the page at its end has had in a row.
    small_run: SmallRun,
    last_read_unit: Option<u32>,
    owed: u32,
    /// For each special area, whether blocks for its next unit are erased already.
    erased_ahead: Vec<bool>,
    /// Counts uses, for "least recently used".
    uses: u64,
    busy_until: Instant,
    /// Work that the last request left to be done behind it.
    behind: Nanos,
    chance: Chance,
    seed: u64,
    /// Sub-units that the last request moved pages of, for the audit.
    touched: Vec<u32>,
    fault: Option<Fault>,
}

/// A unit that may be half-written sequentially.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct OpenUnit {
    unit: u32,
    /// The log in progress, if any.
    log: Option<Log>,
    /// Leading pages of the unit that were written or copied in order since it was opened; all of them: nothing is
    /// owed when it is closed. Back to 0 by a write out of order.
    tidy: u32,
    last_use: u64,
}

/// A log block in progress: it holds the sub-unit's pages below `at`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Log {
    sub: u32,
    block: u32,
    at: u32,
}

/// A log for writes in any order to one unit.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RandomLog {
    unit: u32,
    blocks: Vec<u32>,
    /// Pages appended.
    used: u32,
    /// So far they were the unit's pages from the first on: the log can take the old blocks' place.
    in_order: bool,
    /// Pages of the unit whose newest copy lies here.
    newest: Bits,
    /// Sub-units of the unit that were ever written here: they are merged when the log is closed, needed or not.
    subs: Bits,
    last_use: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct SmallRun {
    end: Bytes,
    pieces: u32,
}

/// Pages of one sub-unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PageRun {
    /// Sub-unit, counted over the device.
    sub: u32,
    from: u32,
    count: u32,
}

impl AuLog {
    pub(crate) fn new(params: &AuLogParams, model: &Model, seed: u64) -> AuLog {
        let capacity = params.hidden + model.device.capacity;
        let units = capacity.get().div_ceil(params.unit.get()) as u32;
        let per_unit = (params.unit / params.sub_unit) as u32;
        let per_random_log = params.random_log.get().div_ceil(params.sub_unit.get()) as u32;
        // One block for each log, two for a merge under way, and what the model has beside.
        let spare = params.logs_in_order + params.logs_random * per_random_log + 2 + params.spare_units * per_unit;
        let written = (params.hidden + model.written_until()).get().div_ceil(params.unit.get()) as u32;
        let used = model.written_until() > Bytes::ZERO;
        let written = if used { written } else { 0 };
        let mut card = AuLog {
            params: params.clone(),
            link: model.link.clone(),
            flash: Flash::new(units * per_unit, (params.sub_unit / params.page) as u32, spare, written * per_unit),
            open: Vec::new(),
            random: Vec::new(),
            small: SmallLog::default(),
            small_run: SmallRun::default(),
            last_read_unit: None,
            owed: if used { params.housekeeping.owed } else { 0 },
            erased_ahead: vec![true; params.areas.len()],
            uses: 0,
            busy_until: Instant::ORIGIN,
            behind: Nanos::ZERO,
            chance: Chance::new(seed, "au-log"),
            seed,
            touched: Vec::new(),
            fault: None,
        };
        if let Some(ageing) = &model.ageing {
            let planes = (params.page / params.page_inner) as u32;
            let blocks = card.flash.blocks();
            card.flash.age(Ageing::new(ageing, blocks, planes, seed), params.spare_units * per_unit);
        }
        if used {
            card.use_before((params.hidden + model.written_until()) / params.unit);
        }
        card
    }

    /// Leaves the logs as earlier use left them: small writes and some longer ones to a few of the first `units`.
    fn use_before(&mut self, units: u64) {
        let most = u64::from(self.params.housekeeping.earlier_writes);
        let some: Vec<u64> = (0..8).map(|_| self.chance.below(units)).collect();
        for _ in 0..self.chance.below(most + 1) {
            let unit = some[self.chance.below(8) as usize];
            let page = self.chance.below(self.params.unit / self.params.page);
            let length = if self.chance.happens(0.25) { self.params.page } else { self.params.page_inner };
            self.write(Extent::new(self.params.unit * unit + self.params.page * page, length), true);
        }
        self.flash.forget_wear();
        self.behind = Nanos::ZERO;
    }

    fn sub_units_per_unit(&self) -> u32 {
        (self.params.unit / self.params.sub_unit) as u32
    }

    fn pages_per_unit(&self) -> u32 {
        (self.params.unit / self.params.page) as u32
    }

    fn unit_at(&self, at: Bytes) -> u32 {
        ((at + self.phase()) / self.params.unit) as u32
    }

    fn unit_of_sub(&self, sub: u32) -> u32 {
        sub / self.sub_units_per_unit()
    }

    /// Number of a page on the whole device.
    fn page_number(&self, sub: u32, page: u32) -> u64 {
        u64::from(sub) * u64::from(self.flash.pages) + u64::from(page)
    }

    /// The runs of pages that a range touches, one per sub-unit.
    fn page_runs(&self, extent: Extent) -> impl Iterator<Item = PageRun> + use<> {
        let first = extent.start / self.params.page;
        let end = extent.end().align_up(self.params.page) / self.params.page;
        let per_sub = u64::from(self.flash.pages);
        let (mut sub, mut from) = (first / per_sub, first % per_sub);
        let mut left = end - first;
        std::iter::from_fn(move || {
            let count = left.min(per_sub - from);
            let run = PageRun { sub: sub as u32, from: from as u32, count: count as u32 };
            (sub, from, left) = (sub + 1, 0, left - count);
            (count > 0).then_some(run)
        })
    }

    fn tick(&mut self) -> u64 {
        self.uses += 1;
        self.uses
    }

    /// Work that does not use the link.
    fn inside(&mut self, work: impl FnOnce(&mut AuLog) -> Nanos) -> Nanos {
        let link = self.link.clone();
        self.link = Link { command: Nanos::ZERO, bytes_per_s: f64::INFINITY, ..link };
        let time = work(self);
        self.link = link;
        time
    }

    /// What a flush costs: the command, and nothing more, as every write of a card is durable when it is done.
    fn flush_time(&self) -> Nanos {
        self.link.flush
    }

    /// How much of a range of the flash holds data.
    fn found(&self, extent: Extent) -> Presence {
        let (mut all, mut any) = (true, false);
        for run in self.page_runs(extent) {
            let base = self.flash.present(run.sub, run.from..run.from + run.count);
            let found = if base < run.count && self.small.any_in(self.numbers(run)) {
                (run.from..run.from + run.count).filter(|&page| self.holds(run.sub, page)).count() as u32
            } else {
                base
            };
            all &= found == run.count;
            any |= found > 0;
        }
        match (all, any) {
            (true, _) => Presence::All,
            (false, true) => Presence::Part,
            (false, false) => Presence::None,
        }
    }

    /// Forgets the range; whole pages only, as the standards allow.
    fn discard(&mut self, extent: Extent) -> Nanos {
        let page = self.params.page;
        let (start, end) = (extent.start.align_up(page), extent.end().align_down(page));
        if start < end {
            for run in self.page_runs(Extent::new(start, end - start)) {
                self.forget(run);
            }
        }
        self.link.command
    }
}

impl AuLog {
    /// What it did beside programming and erasing.
    pub(crate) fn counters(&self) -> Counters {
        Counters { merges: Some(self.flash.switched), collections: None }
    }
}

impl Ftl for AuLog {
    fn serve(&mut self, now: Instant, work: Work) -> Instant {
        self.touched.clear();
        let start = now.max(self.busy_until);
        self.flash.now = start;
        let time = match work.shifted(self.params.hidden) {
            Work::Read(extent) => self.read(extent),
            Work::Write { extent, durable } => self.write(extent, durable),
            Work::Flush => self.flush_time(),
            Work::Discard(extent) => self.discard(extent),
            Work::Fetch(extent) => self.inside(|card| card.read(extent)),
            Work::Destage(extent) => self.inside(|card| card.write(extent, false)),
        };
        let done = start + time;
        self.busy_until = done + std::mem::take(&mut self.behind);
        done
    }

    fn idle(&mut self, from: Instant, until: Instant) {
        let after = self.params.housekeeping.idle_after;
        let quiet_since = from.max(self.busy_until);
        if after == Nanos::ZERO || until < quiet_since + after {
            return;
        }
        self.erased_ahead.fill(true);
        let mut at = quiet_since + after;
        while at < until {
            let Some(time) = self.tidy_up_one() else { break };
            at += time;
        }
        self.busy_until = at;
    }

    fn presence(&self, extent: Extent) -> Presence {
        self.found(extent.shifted(self.params.hidden))
    }

    /// Every write of a card is on the flash when it is answered.
    fn in_memory(&mut self, _now: Instant, _extent: Extent) -> bool {
        false
    }

    fn wear(&self) -> Wear {
        // Erases are counted in units, which is what a card's life is rated in.
        let per_unit = u64::from(self.sub_units_per_unit());
        Wear { erases: self.flash.erased.div_ceil(per_unit), programmed: self.params.page * self.flash.programmed }
    }

    fn inside(&self) -> Inside {
        self.flash_now()
    }

    fn use_of_life(&self) -> UseOfLife {
        let blocks = self.flash.blocks();
        let reserve = self.flash.ageing.as_ref().map_or(0, |ageing| ageing.reserve().1);
        let spare = u64::from(self.params.spare_units * self.sub_units_per_unit()) + reserve;
        let spare_left = if self.flash.ageing.is_some() { self.flash.spare() } else { spare };
        let replaced = self.flash.ageing.as_ref().map_or(0, |ageing| u64::from(ageing.entries()));
        UseOfLife { erases: self.flash.erased, units: u64::from(blocks), replaced, spare_left, spare_when_new: spare }
    }

    fn fails(&self, now: Instant, extent: Extent, write: bool) -> bool {
        if write { self.flash.read_only } else { self.cannot_read(now, extent.shifted(self.params.hidden)) }
    }

    fn check(&self) -> Result<(), String> {
        self.check_touched()
    }

    fn check_all(&self) -> Result<(), String> {
        self.check_whole()
    }
}

impl AuLog {
    /// Bytes of memory that its state takes; the content is the target's.
    pub(crate) fn state_bytes(&self) -> usize {
        // A small-write entry stands in two ordered maps; 24 bytes in each is what a full node comes to.
        let logs: usize = self.random.iter().map(|log| size_of::<RandomLog>() + log.newest.bytes()).sum();
        self.flash.state_bytes() + self.open.len() * size_of::<OpenUnit>() + logs + self.small.len() as usize * 48
    }

    fn numbers(&self, run: PageRun) -> std::ops::Range<u64> {
        let first = self.page_number(run.sub, run.from);
        first..first + u64::from(run.count)
    }

    fn holds(&self, sub: u32, page: u32) -> bool {
        self.flash.present(sub, page..page + 1) == 1 || self.small.contains(self.page_number(sub, page))
    }
}
