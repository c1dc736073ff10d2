//! flashbench's `-f`: the throughput of each of the first units, with ever smaller blocks.
//!
//! For each block size from the unit down to `block` the units are written durably one after the other, each whole,
//! its blocks rising or in a random permutation (one per block size, the same for all units, so that units compare).

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::open_au::offsets;
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::{FatData, FatRow, RateEvidence};
use flashscope_model::plan::Fat;
use flashscope_model::{DeviceFacts, Direction};
use flashscope_units::Bytes;

impl Probe for Fat {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::size("the block", self.block, facts)?;
        checks::size("the unit", self.erase, facts)?;
        checks::halves("the unit", self.erase, self.block)?;
        checks::in_range("the number of units", self.count.into(), 1, 1 << 20)?;
        checks::position("the offset", self.offset, facts)?;
        let needs = checks::end_of(self.offset, self.count.into(), self.erase, Bytes::ZERO);
        let hint = "use fewer units (--fat-nr), a smaller unit (--erase) or a smaller --offset";
        checks::fits("writing to this number of units", facts, needs, hint)
    }

    fn cost(&self, _facts: &DeviceFacts) -> Cost {
        checks::halvings(self.erase, self.block)
            .map(|block| Cost::of(Direction::Write, u64::from(self.count) * (self.erase / block), block))
            .fold(Cost::default(), Cost::plus)
    }

    fn measure<T: Target + ?Sized>(
        &self,
        _facts: &DeviceFacts,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let mut rows = Vec::new();
        let end = checks::halvings(self.erase, self.block).try_for_each(|block| {
            let offsets = offsets(self.order, self.erase, block, rng);
            let mut units = Vec::new();
            let end = (0..u64::from(self.count)).try_for_each(|unit| {
                let start = self.offset + self.erase * unit;
                let mut times = Vec::new();
                let end = rig.visit(&mut times, Direction::Write, block, offsets.iter().map(|&offset| start + offset));
                units.push(RateEvidence::Times(times));
                end
            });
            rows.push(FatRow { block, units });
            end
        });
        let data = FatData { order: Some(self.order), unit: Some(self.erase), offset: Some(self.offset), rows };
        (Data::Fat(data), end)
    }
}
