//! The time of a request that needs no flash: one block read again and again.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::FloorData;
use flashscope_model::plan::Floor;
use flashscope_model::{DeviceFacts, Direction};

impl Probe for Floor {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::size("the block", self.block, facts)?;
        checks::position("the position", self.at, facts)?;
        checks::at_least("the number of reads", self.count.into(), 1)?;
        let needs = checks::end_of(self.at, 1, self.block, flashscope_units::Bytes::ZERO);
        checks::fits("the block", facts, needs, "choose a position inside the device")
    }

    fn cost(&self, _facts: &DeviceFacts) -> Cost {
        Cost::of(Direction::Read, self.count.into(), self.block)
    }

    fn measure<T: Target + ?Sized>(
        &self,
        _facts: &DeviceFacts,
        _rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let mut times = Vec::new();
        let end = rig.visit(&mut times, Direction::Read, self.block, (0..self.count).map(|_| self.at));
        (Data::Floor(FloorData { block: self.block, at: self.at, times }), end)
    }
}
