//! Writes in order, then at random over the same span for long: what collection costs once there is no more spare space
//! that nobody has written to.
//!
//! The writes need not be durable: a controller that has to empty its memory behind each would leave most of its chips
//! idle, and collection would hide in the idleness. Places are drawn anew for every write, as the models of write
//! amplification have it. There are too many writes to keep each time, so that windows of them are kept as sums, and
//! the last ones one by one.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::OverwriteData;
use flashscope_model::plan::Overwrite;
use flashscope_model::{DeviceFacts, Direction};
use flashscope_units::{Bytes, Nanos};
use std::collections::VecDeque;

/// So many of the last writes are kept one by one.
const KEPT: usize = 4096;

impl Probe for Overwrite {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::size("the block", self.block, facts)?;
        checks::position("the start", self.span.start, facts)?;
        checks::at_least("the length of the span", self.span.length.get(), self.block.get())?;
        checks::at_least("the writes of a window", self.window.into(), 1)?;
        checks::at_least("the number of writes", self.in_order.saturating_add(self.random), 1)?;
        let needs = checks::end_of(self.span.start, 0, Bytes::ZERO, self.span.length);
        checks::fits("the span", facts, needs, "use a shorter span, or one that starts earlier")
    }

    fn cost(&self, _facts: &DeviceFacts) -> Cost {
        Cost::of(Direction::Write, self.in_order + self.random, self.block)
    }

    fn measure<T: Target + ?Sized>(
        &self,
        _facts: &DeviceFacts,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let blocks = self.span.length / self.block;
        let place = |index: u64| self.span.start + self.block * index;
        let mut last = VecDeque::new();
        let (mut in_order, mut random) = (Windows::new(self.window), Windows::new(self.window));
        let mut end = (0..self.in_order).try_for_each(|index| {
            let served = rig.write_into_memory(place(index % blocks), self.block)?;
            in_order.add(served.map(|served| served.time));
            Ok(())
        });
        if end.is_ok() {
            end = (0..self.random).try_for_each(|_| {
                let time = rig.write_into_memory(place(rng.below(blocks)), self.block)?.map(|served| served.time);
                random.add(time);
                last.extend(time);
                if last.len() > KEPT {
                    last.pop_front();
                }
                Ok(())
            });
        }
        let data = OverwriteData {
            block: self.block,
            span: self.span,
            window: self.window,
            in_order: in_order.sums,
            random: random.sums,
            last: last.into(),
        };
        (Data::Overwrite(data), end)
    }
}

/// Sums of so many times each.
struct Windows {
    size: u32,
    sums: Vec<Nanos>,
    sum: Nanos,
    count: u32,
    failed: bool,
}

impl Windows {
    fn new(size: u32) -> Windows {
        Windows { size, sums: Vec::new(), sum: Nanos::ZERO, count: 0, failed: false }
    }

    /// One write more. A window with a write that failed tells nothing and is left out.
    fn add(&mut self, time: Option<Nanos>) {
        self.sum += time.unwrap_or(Nanos::ZERO);
        self.failed |= time.is_none();
        self.count += 1;
        if self.count == self.size {
            self.sums.extend((!self.failed).then_some(self.sum));
            (self.sum, self.count, self.failed) = (Nanos::ZERO, 0, false);
        }
    }
}
