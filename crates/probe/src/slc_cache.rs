//! Long writes in order in bursts, each after a rest: how much a cache takes before the rate falls, and how soon it takes
//! as much again.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::{SlcCacheData, StretchTimes};
use flashscope_model::plan::SlcCache;
use flashscope_model::{DeviceFacts, Direction};
use flashscope_units::Bytes;

impl Probe for SlcCache {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::size("the block", self.block, facts)?;
        checks::at_least("the number of bursts", self.bursts.len() as u64, 1)?;
        self.bursts.iter().try_for_each(|burst| {
            let (start, length) = (burst.span.start, burst.span.length);
            checks::position("the start of a burst", start, facts)?;
            checks::at_least("the length of a burst", length.get(), self.block.get())?;
            if !length.is_multiple_of(self.block) {
                let what = "the length of a burst";
                let why = "a burst must be a whole number of blocks";
                return Err(PlanError::Unaligned { what, value: length, unit: self.block, why });
            }
            let needs = checks::end_of(start, 1, length, Bytes::ZERO);
            checks::fits("a burst", facts, needs, "use a shorter burst, or one that starts earlier")
        })
    }

    fn cost(&self, _facts: &DeviceFacts) -> Cost {
        let blocks = self.bursts.iter().map(|burst| burst.span.length / self.block).sum();
        Cost::of(Direction::Write, blocks, self.block)
    }

    fn measure<T: Target + ?Sized>(
        &self,
        _facts: &DeviceFacts,
        _rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let mut bursts = Vec::new();
        let end = self.bursts.iter().try_for_each(|burst| {
            let mut times = Vec::new();
            rig.rest(burst.idle);
            let blocks = burst.span.length / self.block;
            let positions = (0..blocks).map(|index| burst.span.start + self.block * index);
            let end = rig.visit(&mut times, Direction::Write, self.block, positions);
            bursts.push(StretchTimes { burst: *burst, times });
            end
        });
        (Data::SlcCache(SlcCacheData { block: self.block, bursts }), end)
    }
}
