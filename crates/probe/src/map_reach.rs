//! Random reads within ranges of different length: where the map of a range does not fit the memory, reads pay for it.
//!
//! A range is read through once, a block at each step, before its reads count, so that whatever can be in memory is. Where it is
//! the one before once more, all that can be is already.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::{MapReachData, RangeTimes};
use flashscope_model::plan::MapReach;
use flashscope_model::{DeviceFacts, Direction};
use flashscope_units::Bytes;

impl Probe for MapReach {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::size("the block", self.block, facts)?;
        checks::size("the step", self.warm_step, facts)?;
        checks::position("the start", self.start, facts)?;
        checks::at_least("the number of ranges", self.ranges.len() as u64, 1)?;
        checks::at_least("the number of requests", self.requests.into(), 1)?;
        self.ranges.iter().try_for_each(|range| {
            checks::at_least("the length of a range", range.get(), self.block.get())?;
            let needs = checks::end_of(self.start, 1, *range, Bytes::ZERO);
            checks::fits("a range", facts, needs, "use shorter ranges, or start earlier")
        })
    }

    fn cost(&self, _facts: &DeviceFacts) -> Cost {
        let mut others = self.ranges.clone();
        others.dedup();
        let warm: u64 = others.iter().map(|range| steps(self, *range)).sum();
        Cost::of(Direction::Read, warm + u64::from(self.requests) * self.ranges.len() as u64, self.block)
    }

    fn measure<T: Target + ?Sized>(
        &self,
        _facts: &DeviceFacts,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let mut ranges: Vec<RangeTimes> = Vec::new();
        let end = self.ranges.iter().try_for_each(|range| {
            let mut warm = Vec::new();
            let is_warm = ranges.last().is_some_and(|before| before.length == *range);
            let steps = if is_warm { 0 } else { steps(self, *range) };
            let places = (0..steps).map(|step| self.start + self.warm_step * step);
            rig.visit(&mut warm, Direction::Read, self.block, places)?;
            let blocks = *range / self.block;
            let mut times = Vec::new();
            let places: Vec<Bytes> = (0..self.requests).map(|_| self.start + self.block * rng.below(blocks)).collect();
            let end = rig.visit(&mut times, Direction::Read, self.block, places);
            ranges.push(RangeTimes { length: *range, times });
            end
        });
        (Data::MapReach(MapReachData { block: self.block, start: self.start, ranges }), end)
    }
}

/// Reads of a range before it counts: only whole blocks inside it.
fn steps(plan: &MapReach, range: Bytes) -> u64 {
    range.saturating_sub(plan.block) / plan.warm_step + 1
}
