//! A card that was switched off: what its flash holds and its tables say. Nothing of it knows a time.

use super::flash::SavedFlash;
use super::small::SmallLog;
use super::{AuLog, OpenUnit, RandomLog, SmallRun};
use crate::chance::Chance;
use flashscope_units::{Instant, Nanos};
use serde::{Deserialize, Serialize};

/// A card's flash and tables.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedCard {
    flash: SavedFlash,
    open: Vec<OpenUnit>,
    random: Vec<RandomLog>,
    /// Pages in the small-write log, the oldest first.
    small: Vec<u64>,
    owed: u32,
    erased_ahead: Vec<bool>,
    uses: u64,
}

impl AuLog {
    /// Time begins anew. Every write of a card is on the flash when it is answered: there is nothing to write out.
    pub(crate) fn switch_off(&mut self) {
        (self.busy_until, self.behind, self.flash.upkeep) = (Instant::ORIGIN, Nanos::ZERO, Nanos::ZERO);
        (self.last_read_unit, self.small_run) = (None, SmallRun::default());
        self.touched.clear();
    }

    /// What there is to save of a card that was switched off.
    pub(crate) fn saved(&self) -> SavedCard {
        SavedCard {
            flash: self.flash.saved(),
            open: self.open.clone(),
            random: self.random.clone(),
            small: self.small.pages(),
            owed: self.owed,
            erased_ahead: self.erased_ahead.clone(),
            uses: self.uses,
        }
    }

    /// Puts a new card of the same model and seed into a saved state.
    ///
    /// # Errors
    /// What does not fit this card, or together.
    pub(crate) fn restore(&mut self, saved: SavedCard) -> Result<(), String> {
        self.fit(&saved)?;
        self.flash.restore(saved.flash)?;
        (self.open, self.random) = (saved.open, saved.random);
        self.small = SmallLog::default();
        saved.small.into_iter().for_each(|page| self.small.insert(page));
        (self.owed, self.erased_ahead, self.uses) = (saved.owed, saved.erased_ahead, saved.uses);
        // Another part of the same stream of chance, which is not saved.
        self.chance = Chance::new(self.seed.wrapping_add(self.uses), "au-log, switched on again");
        self.switch_off();
        self.check_whole()
    }

    /// Whether every number in it names something that this card has.
    fn fit(&self, saved: &SavedCard) -> Result<(), String> {
        let (blocks, subs) = (self.flash.blocks(), self.flash.sub_units());
        let (per_unit, pages) = (self.sub_units_per_unit(), self.flash.pages);
        let unit = |unit: u32| unit < subs / per_unit;
        let open = |open: &OpenUnit| {
            let log = open
                .log
                .is_none_or(|log| log.block < blocks && self.unit_of_sub(log.sub) == open.unit && log.at < pages);
            unit(open.unit) && log && open.tidy <= self.pages_per_unit()
        };
        let random = |log: &RandomLog| {
            let sets = log.newest.is_of(self.pages_per_unit()) && log.subs.is_of(per_unit);
            unit(log.unit)
                && sets
                && log.blocks.iter().all(|block| *block < blocks)
                && log.used <= log.blocks.len() as u32 * pages
        };
        let all_pages = u64::from(subs) * u64::from(pages);
        let fits = saved.open.iter().all(open)
            && saved.random.iter().all(random)
            && saved.small.iter().all(|page| *page < all_pages)
            && saved.erased_ahead.len() == self.erased_ahead.len();
        if fits { Ok(()) } else { Err("it has logs that this card does not have".to_owned()) }
    }
}
