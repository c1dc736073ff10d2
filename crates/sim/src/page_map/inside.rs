//! How a drive's flash stands, for the truth of its state.

use super::PageMap;
use super::superblocks::Use;
use crate::ftl::{Inside, Invalid};

impl PageMap {
    pub(super) fn flash_now(&self) -> Inside {
        let (mut runs, mut behind) = (0u64, None);
        self.forward.for_each(0, self.geometry.units, |logical, units, physical| {
            // A run goes on where the one before it ends; it is told in parts.
            runs += u64::from(behind != Some((logical, physical)));
            behind = Some((logical + units, physical + units));
        });
        let mut invalid = Invalid::default();
        for superblock in self.superblocks.all() {
            match superblock.usage {
                Use::Full | Use::Victim => invalid.add(superblock.slots - superblock.valid, superblock.slots),
                Use::Free | Use::Open | Use::Bad => {}
            }
        }
        Inside {
            mapped: self.geometry.bytes(self.mapped),
            pages: u64::from(self.mapped),
            runs,
            invalid,
            most_erases: self.superblocks.all().iter().map(|one| one.erases).max().unwrap_or(0),
        }
    }
}
