//! flashbench's `-s`: the read time of `span` blocks at each of 2^order neighbouring positions.
//!
//! Each pass visits all positions in a fresh random permutation; the minimum over the passes counts.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::{ScatterData, ScatterPlace};
use flashscope_model::plan::Scatter;
use flashscope_model::{DeviceFacts, Direction};

impl Probe for Scatter {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::size("the block", self.block, facts)?;
        checks::in_range("the scatter order", self.order.into(), 1, 20)?;
        checks::in_range("the scatter span", self.span.into(), 1, 1 << 16)?;
        checks::at_least("the number of passes", self.tries.into(), 1)?;
        checks::position("the offset", self.offset, facts)?;
        let blocks = (1u64 << self.order) - 1 + u64::from(self.span);
        let needs = u128::from(self.offset.get()) + u128::from(blocks) * u128::from(self.block.get());
        let hint = "use a smaller --scatter-order, --scatter-span or --block";
        checks::fits("reading at this number of positions", facts, Some(needs), hint)
    }

    fn cost(&self, _facts: &DeviceFacts) -> Cost {
        Cost::of(Direction::Read, u64::from(self.tries) << self.order, self.block * self.span.into())
    }

    fn measure<T: Target + ?Sized>(
        &self,
        _facts: &DeviceFacts,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let length = self.block * self.span.into();
        let mut places: Vec<ScatterPlace> = (0..1u64 << self.order)
            .map(|i| ScatterPlace { at: self.offset + self.block * i, times: Vec::new() })
            .collect();
        let end = (0..self.tries).try_for_each(|_| {
            rng.permutation(places.len() as u64).into_iter().try_for_each(|index| {
                let place = &mut places[index as usize];
                rig.time_into(&mut place.times, Direction::Read, place.at, length)
            })
        });
        (Data::Scatter(ScatterData { length: Some(length), places }), end)
    }
}
