//! Entries of the map that are in memory: the least recently used goes first.

use std::collections::{BTreeMap, HashMap};

/// Entries by their page, with whether they differ from the map in flash.
#[derive(Clone, Debug)]
pub(crate) struct Recent {
    most: usize,
    tick: u64,
    entries: HashMap<u64, (u64, bool)>,
    by_age: BTreeMap<u64, u64>,
}

impl Recent {
    pub(crate) fn new(most: usize) -> Recent {
        Recent { most, tick: 0, entries: HashMap::new(), by_age: BTreeMap::new() }
    }

    /// Whether the entry is there; it is the most recent from now on.
    pub(crate) fn touch(&mut self, page: u64, dirty: bool) -> bool {
        let Some((age, was_dirty)) = self.entries.get(&page).copied() else { return false };
        self.by_age.remove(&age);
        self.put(page, dirty || was_dirty);
        true
    }

    fn put(&mut self, page: u64, dirty: bool) {
        self.tick += 1;
        self.entries.insert(page, (self.tick, dirty));
        self.by_age.insert(self.tick, page);
    }

    /// Takes in an entry; the one that goes, where it must be written back.
    pub(crate) fn fetch(&mut self, page: u64) -> Option<u64> {
        if self.entries.contains_key(&page) {
            return None;
        }
        let gone = (self.entries.len() >= self.most).then(|| self.by_age.pop_first()).flatten();
        let written_back =
            gone.and_then(|(_, page)| self.entries.remove(&page).filter(|(_, dirty)| *dirty).map(|_| page));
        self.put(page, false);
        written_back
    }

    /// All of these that differ were written back in one go.
    pub(crate) fn clean(&mut self, pages: std::ops::Range<u64>) {
        for page in pages {
            if let Some(entry) = self.entries.get_mut(&page) {
                entry.1 = false;
            }
        }
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let (entries, ages) = (self.entries.len(), self.by_age.len());
        if entries != ages || entries > self.most { Err(format!("{entries} entries, {ages} ages")) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recent_goes_and_is_written_back_where_it_differs() {
        let mut recent = Recent::new(2);
        assert!(!recent.touch(1, false));
        assert_eq!((recent.fetch(1), recent.fetch(2)), (None, None));
        assert!(recent.touch(1, true));
        assert_eq!(recent.fetch(3), None, "2 is as in flash");
        assert_eq!(recent.fetch(4), Some(1));
        assert!(recent.touch(3, true));
        recent.clean(0..10);
        assert_eq!((recent.fetch(5), recent.fetch(6)), (None, None));
        assert_eq!(recent.check(), Ok(()));
    }
}
