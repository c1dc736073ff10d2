//! Log blocks: of one unit, and of all.

use crate::evict::Used;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A log block of one unit.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    pub(crate) unit: u64,
    pub(crate) used: Used,
    /// Whether page n of the unit lies in place n, for all of them.
    pub(crate) in_order: bool,
    /// Where the last write ended, within its page.
    pub(crate) last_end: u64,
    /// How often the last page was programmed.
    pub(crate) last_programs: u32,
    pages: u64,
    last: u64,
}

impl Log {
    pub(crate) fn new(unit: u64, tick: u64) -> Log {
        let used = Used { opened: tick, written: tick, spared: true };
        Log { unit, used, in_order: true, last_end: 0, last_programs: 0, pages: 0, last: 0 }
    }

    /// Pages of the block that are used up.
    pub(crate) fn pages(&self) -> u64 {
        self.pages
    }

    pub(crate) fn last_page(&self) -> Option<u64> {
        (self.pages > 0).then_some(self.last)
    }

    pub(crate) fn append(&mut self, page: u64, end: u64) {
        self.in_order &= page == self.pages;
        self.pages += 1;
        self.last = page;
        (self.last_end, self.last_programs) = (end, 1);
    }

    /// Whether more may be programmed into the last page.
    pub(crate) fn may_go_on(&self, programs: u32, page: u64) -> bool {
        self.last_end < page && self.last_programs < programs
    }

    /// A newer copy of the page lies elsewhere: the block can not become the unit as it is.
    pub(crate) fn is_outdated(&mut self, page: u64) {
        self.in_order &= page >= self.pages;
    }
}

/// Log blocks in which writes to all units lie one behind the other; the oldest is cleaned first.
#[derive(Clone, Debug)]
pub(crate) struct SharedLogs {
    most: usize,
    pages: u64,
    /// Oldest first; pages in the order of their writing, absent where a newer copy lies elsewhere.
    blocks: VecDeque<Vec<Option<(u64, u64)>>>,
    /// Number of the first block in `blocks`, counted from the beginning.
    first: u64,
    /// Block number and place of the newest copy of each page.
    newest: BTreeMap<(u64, u64), (u64, usize)>,
}

impl SharedLogs {
    pub(crate) fn new(most: usize, pages: u64) -> SharedLogs {
        SharedLogs { most, pages, blocks: VecDeque::new(), first: 0, newest: BTreeMap::new() }
    }

    /// Units that have data in the oldest block, where it must be cleaned before a page is written.
    pub(crate) fn in_the_way(&self) -> Option<BTreeSet<u64>> {
        let full = self.blocks.back().is_none_or(|block| block.len() as u64 == self.pages);
        (full && self.blocks.len() >= self.most)
            .then(|| self.blocks.front().into_iter().flatten().flatten().map(|&(unit, _)| unit).collect())
    }

    /// The oldest block is erased: nothing is left in it.
    pub(crate) fn drop_oldest(&mut self) {
        self.blocks.pop_front();
        self.first += 1;
    }

    pub(crate) fn append(&mut self, unit: u64, page: u64) {
        if self.blocks.back().is_none_or(|block| block.len() as u64 == self.pages) {
            self.blocks.push_back(Vec::new());
        }
        let number = self.first + self.blocks.len() as u64 - 1;
        if let Some(block) = self.blocks.back_mut() {
            self.newest.insert((unit, page), (number, block.len()));
            block.push(Some((unit, page)));
        }
    }

    /// A newer copy of the page lies elsewhere.
    pub(crate) fn forget(&mut self, unit: u64, page: u64) {
        if let Some((number, place)) = self.newest.remove(&(unit, page)) {
            self.blocks[(number - self.first) as usize][place] = None;
        }
    }

    /// All of a unit was copied elsewhere.
    pub(crate) fn forget_unit(&mut self, unit: u64) {
        let pages: Vec<u64> = self.newest.range((unit, 0)..(unit + 1, 0)).map(|(&(_, page), _)| page).collect();
        pages.into_iter().for_each(|page| self.forget(unit, page));
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let valid = self.blocks.iter().flatten().flatten().count();
        if valid != self.newest.len() || self.blocks.len() > self.most.max(1) {
            return Err(format!(
                "{valid} valid pages in {} shared blocks, {} known",
                self.blocks.len(),
                self.newest.len()
            ));
        }
        Ok(())
    }
}
