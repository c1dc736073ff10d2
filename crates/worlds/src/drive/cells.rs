//! Where each page lies, and which superblocks are free.

use super::plan::{DrivePlan, Victim};
use crate::chance::Chance;
use std::collections::VecDeque;

/// No page, or no place.
const NONE: u32 = u32::MAX;

/// Superblocks of pages, of fast cells first. A place counts pages over all superblocks, in the order in which they are
/// written; those of fast cells have fewer.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    /// Place of each page of the host.
    place_of: Vec<u32>,
    /// Page in each place.
    page_in: Vec<u32>,
    pub(crate) superblocks: Vec<Superblock>,
    free: VecDeque<usize>,
    free_fast: VecDeque<usize>,
    size: usize,
    tick: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Superblock {
    pub(crate) fast: bool,
    /// Pages that it takes.
    pub(crate) room: usize,
    /// Pages written.
    pub(crate) written: usize,
    /// Of these, the ones that hold the newest copy.
    pub(crate) valid: usize,
    filled_at: u64,
    /// Whether it is open for writing, free, or full.
    free: bool,
}

impl Cells {
    pub(crate) fn new(plan: &DrivePlan) -> Cells {
        let size = plan.superblock();
        let fast = plan.fast.as_ref().map_or(0, |fast| fast.superblocks);
        let bits = plan.fast.as_ref().map_or(1, |fast| fast.bits);
        let all = fast + plan.superblocks();
        let superblocks = (0..all).map(|number| Superblock {
            fast: number < fast,
            room: if number < fast { size / bits } else { size },
            written: 0,
            valid: 0,
            filled_at: 0,
            free: true,
        });
        Cells {
            place_of: vec![NONE; plan.pages()],
            page_in: vec![NONE; all * size],
            superblocks: superblocks.collect(),
            free: (fast..all).collect(),
            free_fast: (0..fast).collect(),
            size,
            tick: 0,
        }
    }

    pub(crate) fn place(&self, page: usize) -> Option<usize> {
        Some(self.place_of[page]).filter(|&place| place != NONE).map(|place| place as usize)
    }

    pub(crate) fn free(&self) -> usize {
        self.free.len()
    }

    pub(crate) fn free_fast(&self) -> usize {
        self.free_fast.len()
    }

    /// Opens a free superblock.
    pub(crate) fn open(&mut self, fast: bool) -> Option<usize> {
        let next = if fast { self.free_fast.pop_front() } else { self.free.pop_front() }?;
        self.superblocks[next].free = false;
        Some(next)
    }

    /// Writes a page of the host at the end of an open superblock; its place.
    pub(crate) fn append(&mut self, superblock: usize, page: usize) -> usize {
        self.forget(page);
        let here = &mut self.superblocks[superblock];
        let place = superblock * self.size + here.written;
        here.written += 1;
        here.valid += 1;
        if here.written == here.room {
            self.tick += 1;
            here.filled_at = self.tick;
        }
        self.place_of[page] = place as u32;
        self.page_in[place] = page as u32;
        place
    }

    pub(crate) fn forget(&mut self, page: usize) {
        if let Some(place) = self.place(page) {
            self.page_in[place] = NONE;
            self.superblocks[place / self.size].valid -= 1;
            self.place_of[page] = NONE;
        }
    }

    /// Superblock and number in it.
    pub(crate) fn split(&self, place: usize) -> (usize, usize) {
        (place / self.size, place % self.size)
    }

    /// Pages that hold the newest copy, in their order.
    pub(crate) fn pages_in(&self, superblock: usize) -> Vec<usize> {
        let all = &self.page_in[superblock * self.size..superblock * self.size + self.superblocks[superblock].written];
        all.iter().filter(|&&page| page != NONE).map(|&page| page as usize).collect()
    }

    pub(crate) fn erase(&mut self, superblock: usize) {
        let here = &mut self.superblocks[superblock];
        (here.written, here.free) = (0, true);
        if here.fast { self.free_fast.push_back(superblock) } else { self.free.push_back(superblock) }
    }

    /// The full superblock to be emptied next.
    pub(crate) fn victim(&self, rule: Victim, fast: bool, chance: &mut Chance) -> Option<usize> {
        let full = |one: &Superblock| one.fast == fast && !one.free && one.written == one.room;
        let all: Vec<usize> = (0..self.superblocks.len()).filter(|&number| full(&self.superblocks[number])).collect();
        let least = |some: &mut dyn Iterator<Item = usize>| some.min_by_key(|&number| self.superblocks[number].valid);
        match rule {
            _ if all.is_empty() => None,
            Victim::Greedy => least(&mut all.iter().copied()),
            Victim::BestOf(count) => least(&mut (0..count).map(|_| all[chance.below(all.len())])),
            Victim::Oldest => all.into_iter().min_by_key(|&number| self.superblocks[number].filled_at),
        }
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let valid: usize = self.superblocks.iter().map(|one| one.valid).sum();
        let placed = self.place_of.iter().filter(|&&place| place != NONE).count();
        let free = self.superblocks.iter().filter(|one| one.free).count();
        if valid != placed {
            return Err(format!("{valid} valid pages, {placed} pages with a place"));
        }
        if free != self.free.len() + self.free_fast.len() {
            return Err(format!("{free} free superblocks, {} and {} listed", self.free.len(), self.free_fast.len()));
        }
        match (0..self.place_of.len()).find(|&page| self.place(page).is_some_and(|at| self.page_in[at] != page as u32))
        {
            Some(page) => Err(format!("page {page} is not where the map says")),
            None => Ok(()),
        }
    }
}
