//! What each slot of the flash really holds, kept beside the drive, and the bugs that tests plant.

use super::super::superblocks::{Superblock, Use};
use super::Random;
use std::collections::HashMap;

/// A bug.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in super::super) enum Fault {
    #[default]
    None,
    /// Collection does not copy every 64th valid unit.
    ForgetCopies,
    /// The same, and the map is put right, as if the unit had never been written.
    ForgetCopiesQuietly,
    /// Victims are chosen without looking at what is valid in them.
    IgnoreValidCounts,
}

/// Contents of the flash: for each slot the unit written there and which writing of it.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Oracle {
    pub(in super::super) watching: bool,
    pub(in super::super) fault: Fault,
    pub(super) slots: HashMap<u32, (u32, u64)>,
    writings: u64,
    carried_from: Option<u32>,
    chosen: u64,
}

impl Oracle {
    /// Units were written to slots: new data, or a copy after [`carry`](Oracle::carry).
    pub(in super::super) fn place(&mut self, logical: u32, physical: u32, units: u32) {
        let carried_from = self.carried_from.take();
        if !self.watching {
            return;
        }
        for i in 0..units {
            let content = match carried_from {
                // What is not there cannot be copied.
                Some(from) => self.slots.get(&(from + i)).copied().unwrap_or((u32::MAX, 0)),
                None => {
                    self.writings += 1;
                    (logical + i, self.writings)
                }
            };
            let before = self.slots.insert(physical + i, content);
            assert!(before.is_none(), "slot {} was written twice without an erase", physical + i);
        }
    }

    pub(in super::super) fn carry(&mut self, from: u32) {
        self.carried_from = Some(from);
    }

    pub(in super::super) fn wipe(&mut self, first: u32, slots: u32) {
        if self.watching {
            for slot in first..first + slots {
                self.slots.remove(&slot);
            }
        }
    }

    pub(in super::super) fn forgets(&self, logical: u32) -> bool {
        matches!(self.fault, Fault::ForgetCopies | Fault::ForgetCopiesQuietly) && logical.is_multiple_of(64)
    }

    pub(in super::super) fn victim(&mut self, picked: Option<u32>, all: &[Superblock]) -> Option<u32> {
        if self.fault != Fault::IgnoreValidCounts {
            return picked;
        }
        self.chosen += 1;
        let full: Vec<usize> = (0..all.len()).filter(|index| all[*index].usage == Use::Full).collect();
        let index = Random::new(self.chosen).below(full.len().max(1) as u64) as usize;
        full.get(index).map(|index| *index as u32)
    }
}
