//! The small-write log: pages whose newest pieces lie aside, mapped by page, until their sub-unit is merged.

use std::collections::BTreeMap;
use std::ops::Range;

/// Pages by their number on the whole device, and in the order of their last write.
#[derive(Clone, Debug, Default)]
pub(super) struct SmallLog {
    stamps: BTreeMap<u64, u64>,
    by_age: BTreeMap<u64, u64>,
    clock: u64,
}

impl SmallLog {
    /// The pages, the one that was not written for longest first.
    pub(super) fn pages(&self) -> Vec<u64> {
        self.by_age.values().copied().collect()
    }

    pub(super) fn len(&self) -> u32 {
        self.stamps.len() as u32
    }

    pub(super) fn contains(&self, page: u64) -> bool {
        self.stamps.contains_key(&page)
    }

    pub(super) fn any_in(&self, pages: Range<u64>) -> bool {
        !self.stamps.is_empty() && self.stamps.range(pages).next().is_some()
    }

    pub(super) fn count_in(&self, pages: Range<u64>) -> u32 {
        self.stamps.range(pages).count() as u32
    }

    pub(super) fn insert(&mut self, page: u64) {
        self.clock += 1;
        if let Some(old) = self.stamps.insert(page, self.clock) {
            self.by_age.remove(&old);
        }
        self.by_age.insert(self.clock, page);
    }

    /// The page that was not written for longest.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.by_age.first_key_value().map(|(_, &page)| page)
    }

    /// Takes all pages of a range out.
    pub(super) fn take(&mut self, pages: Range<u64>) -> Vec<u64> {
        if self.stamps.is_empty() {
            return Vec::new();
        }
        let taken: Vec<(u64, u64)> = self.stamps.range(pages).map(|(&page, &stamp)| (page, stamp)).collect();
        for (page, stamp) in &taken {
            self.stamps.remove(page);
            self.by_age.remove(stamp);
        }
        taken.into_iter().map(|(page, _)| page).collect()
    }

    pub(super) fn is_consistent(&self) -> bool {
        self.stamps.len() == self.by_age.len()
            && self.by_age.iter().all(|(stamp, page)| self.stamps.get(page) == Some(stamp))
    }
}
