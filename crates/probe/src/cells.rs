//! Reads of evenly spaced pages, from the last to the first, several times: pages of different kind take different times.
//!
//! Falling addresses, so that no read-ahead helps.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::{CellsData, ScatterPlace};
use flashscope_model::plan::Cells;
use flashscope_model::{DeviceFacts, Direction};

impl Probe for Cells {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::size("the block", self.block, facts)?;
        checks::size("the distance", self.step, facts)?;
        checks::position("the start", self.start, facts)?;
        checks::at_least("the number of places", self.places.into(), 2)?;
        checks::at_least("the number of passes", self.repeats.into(), 1)?;
        let needs = checks::end_of(self.start, u64::from(self.places) - 1, self.step, self.block);
        checks::fits("the places", facts, needs, "use fewer or closer places, or start earlier")
    }

    fn cost(&self, _facts: &DeviceFacts) -> Cost {
        Cost::of(Direction::Read, u64::from(self.places) * u64::from(self.repeats), self.block)
    }

    fn measure<T: Target + ?Sized>(
        &self,
        _facts: &DeviceFacts,
        _rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let at = |index: u32| self.start + self.step * u64::from(index);
        let mut places: Vec<ScatterPlace> =
            (0..self.places).map(|index| ScatterPlace { at: at(index), times: Vec::new() }).collect();
        let end = (0..self.repeats).try_for_each(|_| {
            places
                .iter_mut()
                .rev()
                .try_for_each(|place| rig.time_into(&mut place.times, Direction::Read, place.at, self.block))
        });
        (Data::Cells(CellsData { block: self.block, places }), end)
    }
}
