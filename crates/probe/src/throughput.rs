//! Requests of one direction, order and size over one region: so many of them, or as many as a time allows.
//!
//! At random, each pass over the region is a fresh random permutation of its blocks, so that no block comes again
//! before all have come. Writes are durable like all our writes: a figure with the device's volatile cache left to
//! itself would be another experiment.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::{AreaState, ThroughputData};
use flashscope_model::plan::Throughput;
use flashscope_model::{DeviceFacts, Direction, Order};
use flashscope_units::Bytes;

impl Probe for Throughput {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::size("the block", self.block, facts)?;
        checks::position("the start", self.start, facts)?;
        checks::at_least("the number of requests", self.requests.into(), 1)?;
        checks::at_least("the length of the region", self.length.get(), self.block.get())?;
        if !self.length.is_multiple_of(self.block) {
            let why = "the region must be a whole number of blocks";
            let what = "the length of the region";
            return Err(PlanError::Unaligned { what, value: self.length, unit: self.block, why });
        }
        let needs = checks::end_of(self.start, 1, self.length, Bytes::ZERO);
        checks::fits("the region", facts, needs, "use a smaller region, or one that starts earlier")
    }

    fn cost(&self, _facts: &DeviceFacts) -> Cost {
        Cost::of(self.direction, self.requests.into(), self.block)
    }

    fn state(&self) -> AreaState {
        let whole = u64::from(self.requests) * self.block.get() >= self.length.get() && self.most_time.is_none();
        match (self.direction, self.order) {
            (Direction::Write, Order::InOrder) if whole => AreaState::FilledInOrder,
            (Direction::Write, Order::Random) if whole => AreaState::Scattered,
            _ => AreaState::Unknown,
        }
    }

    fn measure<T: Target + ?Sized>(
        &self,
        _facts: &DeviceFacts,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let blocks = self.length / self.block;
        let mut times = Vec::new();
        let mut left = u64::from(self.requests);
        let mut end = Ok(());
        while left > 0 && end.is_ok() {
            let pass = match self.order {
                Order::InOrder => (0..blocks.min(left)).collect(),
                Order::Random => rng.sample(blocks, left),
            };
            left -= pass.len() as u64;
            for index in pass {
                if self.most_time.is_some_and(|most| rig.elapsed() >= most) {
                    left = 0;
                    break;
                }
                end = rig.time_into(&mut times, self.direction, self.start + self.block * index, self.block);
                if end.is_err() {
                    break;
                }
            }
        }
        let data = ThroughputData {
            direction: self.direction,
            order: self.order,
            block: self.block,
            start: self.start,
            length: self.length,
            purpose: self.purpose,
            times,
        };
        (Data::Throughput(data), end)
    }
}
