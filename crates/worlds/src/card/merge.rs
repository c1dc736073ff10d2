//! Merges: the data of a unit brought together again in one block.

use super::Card;
use flashscope_units::Nanos;

impl Card {
    /// Pages of a unit that hold data, from this one on.
    fn held_from(&self, unit: u64, first: u64) -> u64 {
        let pages = self.plan.pages_per_unit();
        (first..pages).filter(|page| self.is_held(unit * pages + page)).count() as u64
    }

    fn copies(&mut self, unit: u64, pages: u64) -> Nanos {
        self.meter.programmed += pages * self.plan.page;
        let copy = self.in_unit(unit, self.plan.times.copy);
        self.spread.around_all(copy, pages)
    }

    fn erases(&mut self, blocks: u64) -> Nanos {
        self.meter.erases += blocks;
        self.spread.around_all(self.plan.times.erase, blocks)
    }

    /// The log block becomes the unit where it is in order: as it is when full (switch merge), else after the rest was
    /// copied behind it (partial merge). Any other is copied with the unit to a third block (full merge).
    pub(super) fn merge_own(&mut self, place: usize) -> Nanos {
        let log = self.logs.remove(place);
        let (copies, blocks) = match log.in_order {
            true => (self.held_from(log.unit, log.pages()), 1),
            false => (self.held_from(log.unit, 0), 2),
        };
        self.shared.forget_unit(log.unit);
        self.copies(log.unit, copies) + self.erases(blocks)
    }

    /// Room for a page in the shared log blocks. Each unit of which data lies in the oldest is merged as a whole.
    pub(super) fn make_room_in_shared(&mut self) -> Nanos {
        let Some(units) = self.shared.in_the_way() else { return Nanos::ZERO };
        let mut time = Nanos::ZERO;
        for unit in units {
            if let Some(place) = self.logs.iter().position(|log| log.unit == unit) {
                self.logs.remove(place);
                time += self.erases(1);
            }
            let held = self.held_from(unit, 0);
            time += self.copies(unit, held) + self.erases(1);
            self.shared.forget_unit(unit);
        }
        self.shared.drop_oldest();
        time + self.erases(1)
    }
}
