//! The truth of a device's state *now*: how full, how dirty and how worn it is. Like all of [`super`], only scoring may read
//! it.

use crate::SimTarget;
use crate::ftl::Invalid;
use flashscope_units::Bytes;
use std::fmt;

/// How full, how dirty and how worn a device is at this moment.
#[derive(Clone, Debug, PartialEq)]
pub struct StateTruth {
    /// Share of the logical capacity that has a place in the flash, 0…1. 0: clean.
    pub mapped_ratio: f64,
    /// Bytes that the host wrote in all the device's life; what a device holds that starts filled was written once.
    pub written: Bytes,
    /// The same over the device's capacity.
    pub capacities_written: f64,
    /// Share of the neighbouring map entries that lead to neighbouring places, 0…1: 1 where all was written in order, 0
    /// where every entry lies by itself. What an entry stands for is the device's own: a map unit of a drive, a page of a
    /// card. Absent where fewer than two are mapped.
    pub in_order_ratio: Option<f64>,
    /// Share of the pages in units that are closed (full superblocks of a drive, data blocks of a card) that is not valid:
    /// what they held was written elsewhere since or discarded, or they were left empty. Absent where no unit is closed.
    pub invalid_ratio: Option<f64>,
    /// How evenly these invalid pages are spread over those units: (Σx)² / (n Σx²), x being the invalid share of each of n
    /// units (Kish's effective share of a sample). 1: each has as much; 1/n: all of them lie in one. Absent where
    /// nothing is invalid.
    pub invalid_spread: Option<f64>,
    /// Erases per unit in use, mean.
    pub mean_erases: f64,
    /// Erases of the unit that was erased most often.
    pub most_erases: u32,
    /// Erases of a unit that the device is rated for; absent where its model does not age.
    pub rated_erases: Option<u32>,
    /// Mean erases over rated ones: what registers of health tell in steps. Above 1 past the rated life.
    pub share_of_life: Option<f64>,
    /// Blocks that went bad and were replaced.
    pub replaced_blocks: u64,
    /// Units, and blocks in reserve, that can still go bad before the device cannot do its work any more.
    pub spare_units: u64,
    /// The same when it was new.
    pub spare_units_when_new: u64,
}

/// The truth of a device's state at this moment. Costs a look at its whole map: some ten milliseconds for 64 GB.
pub fn state_of(target: &SimTarget) -> StateTruth {
    let (inside, used, written) = (target.inside(), target.use_of_life(), target.written());
    let capacity = target.real_capacity();
    StateTruth {
        mapped_ratio: (inside.mapped.as_f64() / capacity.as_f64()).min(1.0),
        written,
        capacities_written: written.as_f64() / capacity.as_f64(),
        in_order_ratio: (inside.pages > 1)
            .then(|| 1.0 - (inside.runs.saturating_sub(1) as f64 / (inside.pages - 1) as f64).min(1.0)),
        invalid_ratio: ratio(inside.invalid.invalid_pages as f64, inside.invalid.pages as f64),
        invalid_spread: spread(&inside.invalid),
        mean_erases: used.erases as f64 / used.units.max(1) as f64,
        most_erases: inside.most_erases,
        rated_erases: target.ageing().map(|ageing| ageing.rated_erases),
        share_of_life: target.ageing().map(|ageing| crate::ageing::share_of_life(ageing, used)),
        replaced_blocks: used.replaced,
        spare_units: used.spare_left,
        spare_units_when_new: used.spare_when_new,
    }
}

fn ratio(part: f64, of: f64) -> Option<f64> {
    (of > 0.0).then(|| part / of)
}

fn spread(invalid: &Invalid) -> Option<f64> {
    ratio(invalid.shares * invalid.shares, invalid.units as f64 * invalid.squares)
}

impl fmt::Display for StateTruth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: Option<f64>| share.map_or("none".to_owned(), |share| format!("{:.1} %", 100.0 * share));
        writeln!(f, "mapped                  {}", percent(Some(self.mapped_ratio)))?;
        writeln!(f, "written                 {} ({:.2} capacities)", self.written, self.capacities_written)?;
        writeln!(f, "in order                {}", percent(self.in_order_ratio))?;
        writeln!(f, "invalid                 {}", percent(self.invalid_ratio))?;
        writeln!(f, "… how evenly spread     {}", percent(self.invalid_spread))?;
        let rated = self.rated_erases.map_or("not rated".to_owned(), |rated| format!("rated {rated}"));
        writeln!(f, "erases per unit         mean {:.2}, most {}, {rated}", self.mean_erases, self.most_erases)?;
        writeln!(f, "life used               {}", percent(self.share_of_life))?;
        writeln!(f, "blocks replaced         {}", self.replaced_blocks)?;
        writeln!(f, "spare units             {} of {}", self.spare_units, self.spare_units_when_new)
    }
}
