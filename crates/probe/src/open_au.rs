//! flashbench's `-O`: several units written alternately, with ever smaller blocks.
//!
//! The units lie twelve unit lengths apart from `offset` on. For each block size from the unit down to `block`, every
//! offset within the unit is visited (rising, or in a random permutation drawn per block size), and at each offset one
//! block is written durably to every unit. The units come in one random order that stays the same for the whole run: a
//! controller that closes the least recently used unit then misses every time once there is one unit too many, which
//! is what makes the limit a cliff. A fresh order each time would often come back to a unit that is still open.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::{OpenUnitsData, OpenUnitsRow, RateEvidence};
use flashscope_model::plan::OpenAu;
use flashscope_model::{DeviceFacts, Direction, Order};
use flashscope_units::Bytes;

/// Distance of the units, in units.
const SPACING: u64 = 12;

impl Probe for OpenAu {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::size("the block", self.block, facts)?;
        checks::size("the unit", self.erase, facts)?;
        checks::halves("the unit", self.erase, self.block)?;
        checks::in_range("the number of units", self.count.into(), 1, 1 << 20)?;
        checks::position("the offset", self.offset, facts)?;
        let needs = checks::end_of(self.offset, (u64::from(self.count) - 1) * SPACING, self.erase, self.erase);
        let hint = "use fewer units (--open-au-nr), a smaller unit (--erase) or a smaller --offset";
        checks::fits("writing to units that lie twelve unit lengths apart", facts, needs, hint)
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
        let starts: Vec<Bytes> = (0..u64::from(self.count)).map(|i| self.offset + self.erase * (SPACING * i)).collect();
        let mut turn = starts.clone();
        rng.shuffle(&mut turn);
        let mut rows = Vec::new();
        let end = checks::halvings(self.erase, self.block).try_for_each(|block| {
            let offsets = offsets(self.order, self.erase, block, rng);
            let positions = offsets.iter().flat_map(|&offset| turn.iter().map(move |&unit| unit + offset));
            let mut times = Vec::new();
            let end = rig.visit(&mut times, Direction::Write, block, positions);
            rows.push(OpenUnitsRow { block, rate: RateEvidence::Times(times) });
            end
        });
        let data =
            OpenUnitsData { order: self.order, count: Some(self.count), unit: Some(self.erase), units: starts, rows };
        (Data::OpenUnits(data), end)
    }
}

/// The offsets of all blocks within a unit, rising or in a random permutation.
pub(crate) fn offsets(order: Order, unit: Bytes, block: Bytes, rng: &mut Rng) -> Vec<Bytes> {
    let blocks = unit / block;
    let indices = match order {
        Order::InOrder => (0..blocks).collect(),
        Order::Random => rng.permutation(blocks),
    };
    indices.into_iter().map(|index| block * index).collect()
}
