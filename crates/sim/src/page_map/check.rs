//! The invariants.

use super::PageMap;
use super::superblocks::Use;

impl PageMap {
    /// Looks at the invariants that the last step could have broken: every unit that it touched has one valid place, the counts of
    /// valid slots, of superblocks and of buffered data add up, erases only grow, completions are causal and no channel
    /// is used twice at once. Says which is broken. Costs the step's reach and one look at every superblock.
    pub fn check(&self) -> Result<(), String> {
        self.superblocks.check()?;
        self.flash.check()?;
        self.ageing.as_ref().map_or(Ok(()), |ageing| ageing.check())?;
        let valid: u64 = self.superblocks.all().iter().map(|one| u64::from(one.valid)).sum();
        if valid != u64::from(self.mapped) {
            return Err(format!("{valid} valid slots for {} mapped units", self.mapped));
        }
        let erases = self.superblocks.erases();
        if erases < self.last.erases {
            return Err(format!("erases fell from {} to {erases}", self.last.erases));
        }
        if self.last.done < self.last.now {
            return Err(format!("done at {:?}, asked at {:?}", self.last.done, self.last.now));
        }
        let buffered = self.staged_host_units() + self.flash.host_units();
        if buffered != self.buffered {
            return Err(format!("{buffered} units wait in the write buffer, {} were counted", self.buffered));
        }
        self.check_units(self.last.first, self.last.units)
    }

    /// Looks at the whole map: every mapped unit has one valid place, every superblock as many valid slots as it counts.
    pub fn check_all(&self) -> Result<(), String> {
        self.check()?;
        self.check_units(0, self.geometry.units)?;
        for (index, superblock) in self.superblocks.all().iter().enumerate() {
            let mut valid = 0;
            let first = self.geometry.address(index as u32, 0);
            self.backward.for_each(first, self.geometry.slots, |physical, units, logical| {
                valid += (0..units).filter(|i| self.leads_to(logical + i, physical + i)).count() as u32;
            });
            if valid != superblock.valid {
                return Err(format!("superblock {index} has {valid} valid slots, {} were counted", superblock.valid));
            }
        }
        Ok(())
    }

    /// Whether each mapped unit's slot knows it, in a superblock that holds data.
    fn check_units(&self, first: u32, units: u32) -> Result<(), String> {
        let mut broken = None;
        self.forward.for_each(first, units, |logical, units, physical| {
            for i in 0..units {
                let usage = self.superblocks.get(self.geometry.superblock(physical + i)).usage;
                if self.backward.get(physical + i) != logical + i || matches!(usage, Use::Free | Use::Bad) {
                    broken = Some(format!(
                        "unit {} is mapped to slot {}, which does not hold it",
                        logical + i,
                        physical + i
                    ));
                }
            }
        });
        broken.map_or(Ok(()), Err)
    }
}
