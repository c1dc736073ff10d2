//! The first units against control units from elsewhere.
//!
//! Request `i` goes to every suspect and control, in an order drawn afresh for each `i`, before request `i + 1`
//! goes to any: drift, heat and background work hit both sides alike. Requests beyond the end of what is used of a unit start over.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::open_au::offsets;
use crate::rig::{Halt, Rig, rounds};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::DeviceFacts;
use flashscope_model::observation::{FastAreaData, UnitTimes};
use flashscope_model::plan::FastArea;
use flashscope_units::Bytes;

impl Probe for FastArea {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::size("the block", self.block, facts)?;
        checks::size("the unit", self.unit, facts)?;
        checks::at_least("what is used of a unit", self.reach.get(), self.block.get())?;
        checks::at_least("the unit", self.unit.get(), self.reach.get())?;
        checks::at_least("the number of suspects", self.suspects.len() as u64, 1)?;
        checks::at_least("the number of controls", self.controls.len() as u64, 1)?;
        checks::at_least("the number of requests", self.requests.into(), 1)?;
        checks::units("suspects and controls", starts(self), self.unit, facts)
    }

    fn cost(&self, _facts: &DeviceFacts) -> Cost {
        Cost::of(self.direction, u64::from(self.requests) * starts(self).count() as u64, self.block)
    }

    fn measure<T: Target + ?Sized>(
        &self,
        _facts: &DeviceFacts,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let mut units: Vec<UnitTimes> = starts(self).map(|at| UnitTimes { at, times: Vec::new() }).collect();
        let offsets: Vec<Vec<Bytes>> = units.iter().map(|_| offsets(self.order, self.reach, self.block, rng)).collect();
        let end = rounds(self.requests, self.enough, rig, |request, rig| {
            rng.permutation(units.len() as u64).into_iter().try_for_each(|index| {
                let (unit, offsets) = (&mut units[index as usize], &offsets[index as usize]);
                let at = unit.at + offsets[request as usize % offsets.len()];
                rig.time_into(&mut unit.times, self.direction, at, self.block)
            })
        });
        let controls = units.split_off(self.suspects.len());
        let data = FastAreaData {
            unit: self.unit,
            reach: self.reach,
            direction: self.direction,
            order: self.order,
            block: self.block,
            suspects: units,
            controls,
        };
        (Data::FastArea(data), end)
    }
}

fn starts(plan: &FastArea) -> impl Iterator<Item = Bytes> {
    plan.suspects.iter().chain(&plan.controls).copied()
}
