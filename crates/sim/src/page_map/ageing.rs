//! What use does to a drive: its blocks go bad, and worn superblocks take other times.

use super::PageMap;
use crate::ageing::{Ageing, Fate};
use crate::ftl::Extent;
use flashscope_units::{Instant, Nanos};
use std::ops::Range;

/// How many times the time of a new row an operation takes of these blocks of a unit that was erased so often.
type Change = fn(&Ageing, u32, Range<u32>, u32) -> f64;

impl PageMap {
    /// The time of an operation on a row, as worn as its superblock is.
    pub(super) fn worn(&self, superblock: u32, row: u32, new: Nanos, change: Change) -> Nanos {
        let Some(ageing) = &self.ageing else { return new };
        let planes = self.params.nand.planes;
        let first = self.geometry.die(row) * planes;
        let erases = self.superblocks.get(superblock).erases;
        scaled(new, change(ageing, superblock, first..first + planes, erases))
    }

    /// The same of a sense; a page of one plane alone is not slower for what became of the others.
    pub(super) fn worn_sense(&self, superblock: u32, row: u32, new: Nanos, planes: bool) -> Nanos {
        let one: Change = |ageing, unit, _, erases| ageing.sense(unit, 0..0, erases);
        self.worn(superblock, row, new, if planes { Ageing::sense } else { one })
    }

    pub(super) fn worn_erase(&self, superblock: u32) -> Nanos {
        let erases = self.superblocks.get(superblock).erases;
        let change = self.ageing.as_ref().map_or(1.0, |ageing| ageing.erase(erases));
        scaled(self.params.nand.erase, change)
    }

    /// A superblock was just erased.
    pub(super) fn age(&mut self, superblock: u32) -> Fate {
        let erases = self.superblocks.get(superblock).erases;
        self.ageing.as_mut().map_or(Fate::Usable, |ageing| ageing.erased(superblock, erases))
    }

    /// A superblock is opened: the controller brings its tables up to date where that is due; commands wait for it.
    pub(super) fn keep_up_tables(&mut self, superblock: u32, at: Instant) {
        let upkeep = self.ageing.as_mut().map_or(Nanos::ZERO, |ageing| ageing.open(superblock, at));
        if upkeep > Nanos::ZERO {
            self.firmware_free = self.firmware_free.max(at) + upkeep;
        }
    }

    /// Whether some of a range cannot be read any more.
    pub(super) fn cannot_read(&self, now: Instant, extent: Extent) -> bool {
        let Some(ageing) = &self.ageing else { return false };
        let (first, units) = self.units_touching(extent.start, extent.length);
        let mut found = false;
        self.forward.for_each(first, units, |_, units, physical| {
            let superblock = self.geometry.superblock(physical);
            let erases = self.superblocks.get(superblock).erases;
            let row = |address: u32| self.geometry.row(self.geometry.slot(address));
            found |= (row(physical)..=row(physical + units - 1))
                .any(|row| ageing.is_unreadable(superblock, row, erases, now));
        });
        found
    }
}

fn scaled(time: Nanos, by: f64) -> Nanos {
    if by == 1.0 { time } else { Nanos((time.as_f64() * by).round() as u64) }
}
