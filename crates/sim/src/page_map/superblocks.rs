//! The superblocks: which are free, open, full or bad, how much of each is valid, and which to collect next.

use super::params::Policy;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What a superblock is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Use {
    Free,
    /// Being written to.
    Open,
    /// Full, and not being collected.
    Full,
    /// Being collected.
    Victim,
    Bad,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Superblock {
    pub(super) usage: Use,
    /// Whether it is written with one bit per cell.
    pub(super) slc: bool,
    /// Whether it is set aside for the SLC cache.
    pub(super) set_aside: bool,
    /// Whether it must be erased before it is written.
    pub(super) used: bool,
    /// Slots that the map points to.
    pub(super) valid: u32,
    /// Slots that it has in the way it is written.
    pub(super) slots: u32,
    pub(super) erases: u32,
    /// Map units that had been written to the flash when it became full.
    pub(super) filled_at: u64,
}

/// A full superblock, in an order in which those that differ in nothing but their age lie together, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Full {
    slots: u32,
    valid: u32,
    filled_at: u64,
    index: u32,
}

/// All superblocks, with the counts that would otherwise be searched for.
#[derive(Clone, Debug)]
pub(super) struct Superblocks {
    all: Vec<Superblock>,
    /// Erases and index of the free ones, those with the fewest erases first.
    free: BTreeSet<(u32, u32)>,
    /// The same of those that are set aside.
    free_aside: BTreeSet<(u32, u32)>,
    /// The full ones that are not set aside, as they were when a victim was last looked for.
    full: BTreeSet<Full>,
    /// How each is listed there.
    listed: Vec<Option<Full>>,
    /// Those that changed since, and for each whether it did: many writes change the same few, and few look for a victim.
    changed: Vec<u32>,
    is_changed: Vec<bool>,
    slc: u32,
    bad: u32,
    erases: u64,
}

impl Superblocks {
    pub(super) fn new(count: u32, slots: u32) -> Superblocks {
        let blank = Superblock {
            usage: Use::Free,
            slc: false,
            set_aside: false,
            used: false,
            valid: 0,
            slots,
            erases: 0,
            filled_at: 0,
        };
        Superblocks {
            all: vec![blank; count as usize],
            free: (0..count).map(|index| (0, index)).collect(),
            free_aside: BTreeSet::new(),
            full: BTreeSet::new(),
            listed: vec![None; count as usize],
            changed: Vec::new(),
            is_changed: vec![false; count as usize],
            slc: 0,
            bad: 0,
            erases: 0,
        }
    }

    /// Those of a device that was saved: the counts and lists follow from them.
    pub(super) fn restored(all: Vec<Superblock>) -> Superblocks {
        let mut restored = Superblocks::new(all.len() as u32, 0);
        restored.all = all;
        restored.free.clear();
        for index in 0..restored.all.len() as u32 {
            let one = restored.get(index).clone();
            restored.erases += u64::from(one.erases);
            restored.bad += u32::from(one.usage == Use::Bad);
            restored.slc += u32::from(one.slc && one.usage != Use::Free);
            if one.usage == Use::Free {
                restored.add_free(index);
            }
            restored.note_change(index);
        }
        restored
    }

    pub(super) fn get(&self, index: u32) -> &Superblock {
        &self.all[index as usize]
    }

    pub(super) fn all(&self) -> &[Superblock] {
        &self.all
    }

    /// Free ones that are not set aside.
    pub(super) fn free(&self) -> u32 {
        self.free.len() as u32
    }

    fn free_like(&mut self, index: u32) -> (&mut BTreeSet<(u32, u32)>, (u32, u32)) {
        let superblock = &self.all[index as usize];
        let key = (superblock.erases, index);
        (if superblock.set_aside { &mut self.free_aside } else { &mut self.free }, key)
    }

    fn add_free(&mut self, index: u32) {
        let (free, key) = self.free_like(index);
        free.insert(key);
    }

    fn remove_free(&mut self, index: u32) {
        let (free, key) = self.free_like(index);
        free.remove(&key);
    }

    /// Those in use with one bit per cell.
    pub(super) fn slc(&self) -> u32 {
        self.slc
    }

    /// Those out of use for good.
    pub(super) fn bad(&self) -> u32 {
        self.bad
    }

    /// Erases of superblocks since it was made.
    pub(super) fn erases(&self) -> u64 {
        self.erases
    }

    pub(super) fn add_valid(&mut self, index: u32, units: u32) {
        self.set_valid(index, self.get(index).valid + units);
    }

    pub(super) fn remove_valid(&mut self, index: u32, units: u32) {
        self.set_valid(index, self.get(index).valid - units);
    }

    fn set_valid(&mut self, index: u32, valid: u32) {
        self.all[index as usize].valid = valid;
        self.note_change(index);
    }

    /// How a superblock is listed if it is full, and not set aside.
    fn as_full(&self, index: u32) -> Option<Full> {
        let one = self.get(index);
        let full = Full { slots: one.slots, valid: one.valid, filled_at: one.filled_at, index };
        (one.usage == Use::Full && !one.set_aside).then_some(full)
    }

    fn note_change(&mut self, index: u32) {
        if !std::mem::replace(&mut self.is_changed[index as usize], true) {
            self.changed.push(index);
        }
    }

    /// Lists those that changed as they are now.
    fn list_full(&mut self) {
        for index in std::mem::take(&mut self.changed) {
            self.is_changed[index as usize] = false;
            let now = self.as_full(index);
            let before = std::mem::replace(&mut self.listed[index as usize], now);
            if before != now {
                before.map(|before| self.full.remove(&before));
                self.full.extend(now);
            }
        }
    }

    /// Sets free superblocks aside for the SLC cache.
    pub(super) fn set_aside(&mut self, count: u32) {
        let free = (0..self.all.len() as u32).rev().filter(|index| self.get(*index).usage == Use::Free);
        for index in free.take(count as usize).collect::<Vec<u32>>() {
            self.remove_free(index);
            self.all[index as usize].set_aside = true;
            self.add_free(index);
        }
    }

    /// Takes a free superblock out of use for good.
    pub(super) fn retire(&mut self, index: u32) {
        debug_assert_eq!(self.get(index).usage, Use::Free);
        self.remove_free(index);
        self.all[index as usize].usage = Use::Bad;
        self.bad += 1;
    }

    /// The free superblock with the fewest erases, of those set aside or of the others. Those that `avoid` names come last.
    pub(super) fn pick_free(&self, set_aside: bool, avoid: impl Fn(u32) -> bool) -> Option<u32> {
        let free = if set_aside { &self.free_aside } else { &self.free };
        free.iter().find(|(_, index)| !avoid(*index)).or_else(|| free.first()).map(|(_, index)| *index)
    }

    /// All that [`Superblocks::pick_free`] would give one after the other, of those not set aside.
    pub(super) fn free_in_order(&self) -> Vec<u32> {
        self.free.iter().map(|(_, index)| *index).collect()
    }

    /// Counts an erase.
    pub(super) fn erase(&mut self, index: u32) {
        let is_free = self.get(index).usage == Use::Free;
        if is_free {
            self.remove_free(index);
        }
        let superblock = &mut self.all[index as usize];
        superblock.erases += 1;
        superblock.used = false;
        self.erases += 1;
        if is_free {
            self.add_free(index);
        }
    }

    /// Begins to write to a free superblock, with one bit per cell or with all.
    pub(super) fn open(&mut self, index: u32, slc: bool, slots: u32) {
        self.remove_free(index);
        let superblock = &mut self.all[index as usize];
        debug_assert!(superblock.usage == Use::Free && superblock.valid == 0);
        superblock.usage = Use::Open;
        superblock.slc = slc;
        superblock.slots = slots;
        superblock.used = true;
        self.slc += u32::from(slc);
    }

    pub(super) fn fill_up(&mut self, index: u32, at: u64) {
        let superblock = &mut self.all[index as usize];
        superblock.usage = Use::Full;
        superblock.filled_at = at;
        self.note_change(index);
    }

    pub(super) fn begin_collection(&mut self, index: u32) {
        self.all[index as usize].usage = Use::Victim;
        self.note_change(index);
    }

    /// A superblock without valid pages becomes free; it is erased when it is opened next.
    pub(super) fn set_free(&mut self, index: u32) {
        let superblock = &mut self.all[index as usize];
        superblock.usage = Use::Free;
        self.slc -= u32::from(superblock.slc);
        superblock.slc = false;
        self.add_free(index);
    }

    /// The full superblock to collect next; those set aside are folded, not collected. `now` counts map units written,
    /// `avoid` names those that come last whatever the policy says.
    pub(super) fn pick_victim(&mut self, policy: Policy, now: u64, avoid: impl Fn(u32) -> bool) -> Option<u32> {
        self.list_full();
        let full = self.oldest(&avoid);
        let picked = match policy {
            Policy::Greedy => full.min_by_key(|one| (avoid(one.index), one.valid, one.filled_at, one.index)),
            Policy::Fifo => full.min_by_key(|one| (avoid(one.index), one.filled_at, one.index)),
            Policy::CostBenefit => full.min_by(|a, b| {
                let worth = |one: &Full| benefit(one, now);
                let worse = worth(b).total_cmp(&worth(a));
                avoid(a.index).cmp(&avoid(b.index)).then(worse).then(a.index.cmp(&b.index))
            }),
        };
        picked.map(|one| one.index)
    }

    /// Of the full superblocks that differ in nothing but their age the oldest, and the oldest that is not to be avoided: no
    /// policy would have another. There are far fewer of these than superblocks.
    fn oldest(&self, avoid: impl Fn(u32) -> bool) -> impl Iterator<Item = Full> {
        let mut from = Full { slots: 0, valid: 0, filled_at: 0, index: 0 };
        let kinds = std::iter::from_fn(move || {
            let first = *self.full.range(from..).next()?;
            from = Full { valid: first.valid + 1, filled_at: 0, index: 0, ..first };
            let wanted = self.full.range(first..from).find(|one| !avoid(one.index)).copied();
            Some([Some(first), wanted.filter(|one| *one != first)])
        });
        kinds.flatten().flatten()
    }

    /// The superblock of the SLC cache that was filled first.
    pub(super) fn pick_fold(&self, avoid: impl Fn(u32) -> bool) -> Option<u32> {
        if self.slc == 0 {
            return None;
        }
        let full = self.all.iter().enumerate().filter(|(_, one)| one.usage == Use::Full && one.slc);
        full.min_by_key(|(index, one)| (avoid(*index as u32), one.filled_at)).map(|(index, _)| index as u32)
    }

    /// Whether every superblock is counted where it is.
    pub(super) fn check(&self) -> Result<(), String> {
        let count = |fits: fn(&Superblock) -> bool| self.all.iter().filter(|one| fits(one)).count() as u32;
        let free = count(|one| one.usage == Use::Free && !one.set_aside);
        let aside = count(|one| one.usage == Use::Free && one.set_aside);
        if (free, aside) != (self.free(), self.free_aside.len() as u32) {
            let listed = (self.free(), self.free_aside.len());
            return Err(format!("{free} superblocks are free and {aside} set aside, {listed:?} are listed"));
        }
        let listed = self.free.iter().chain(&self.free_aside);
        if let Some((_, index)) = listed.into_iter().find(|(erases, index)| {
            let one = self.get(*index);
            one.usage != Use::Free || one.erases != *erases
        }) {
            return Err(format!("superblock {index} is listed as free: {:?}", self.get(*index)));
        }
        let listed: BTreeSet<Full> = self.listed.iter().flatten().copied().collect();
        let mut indices = 0..self.all.len() as u32;
        let wrong = indices
            .find(|index| !self.is_changed[*index as usize] && self.listed[*index as usize] != self.as_full(*index));
        if listed != self.full || wrong.is_some() {
            return Err(format!("{} full superblocks are listed, or not as they are: {wrong:?}", self.full.len()));
        }
        let bad = count(|one| one.usage == Use::Bad);
        if bad != self.bad {
            return Err(format!("{bad} superblocks are bad, {} were counted", self.bad));
        }
        let slc = count(|one| one.slc && one.usage != Use::Free);
        if slc != self.slc {
            return Err(format!("{slc} superblocks are in the SLC cache, {} were counted", self.slc));
        }
        let erases: u64 = self.all.iter().map(|one| u64::from(one.erases)).sum();
        if erases != self.erases {
            return Err(format!("{erases} erases of superblocks, {} were counted", self.erases));
        }
        let unsound = |one: &Superblock| one.valid > one.slots || (one.usage == Use::Free && one.valid > 0);
        if let Some(index) = self.all.iter().position(unsound) {
            return Err(format!(
                "superblock {index} counts {} valid slots: {:?}",
                self.all[index].valid, self.all[index]
            ));
        }
        Ok(())
    }

    /// Bytes held beside the object itself.
    pub(super) fn bytes(&self) -> usize {
        let listed = self.free.len() + self.free_aside.len();
        let full = self.full.len() * size_of::<Full>();
        let changes = self.changed.capacity() * size_of::<u32>() + self.is_changed.capacity();
        let each = size_of::<Superblock>() + size_of::<Option<Full>>();
        self.all.capacity() * each + listed * size_of::<(u32, u32)>() + full + changes
    }
}

/// (1 − u) / 2u × age; without bound for one without valid pages.
fn benefit(one: &Full, now: u64) -> f64 {
    let valid_ratio = f64::from(one.valid) / f64::from(one.slots);
    (1.0 - valid_ratio) / (2.0 * valid_ratio) * (now - one.filled_at + 1) as f64
}
