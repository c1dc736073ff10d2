//! Reads handed over together, at different distances: those that meet in one unit wait for each other.
//!
//! Every round has each fan once, in a random order, at a random place: drift and what lies where fall on all fans alike.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::{FanTimes, ParallelData};
use flashscope_model::plan::{Fan, Parallel, Span};
use flashscope_model::{DeviceFacts, Direction};
use flashscope_units::Bytes;

impl Probe for Parallel {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::size("the block", self.block, facts)?;
        checks::at_least("the number of sets", self.fans.len() as u64, 1)?;
        checks::at_least("the number of rounds", self.rounds.into(), 1)?;
        let depth = u64::from(facts.queue_depth.unwrap_or(1));
        let span = span(self, facts);
        let needs = checks::end_of(span.start, 1, span.length, Bytes::ZERO);
        checks::fits("the part to read", facts, needs, "use a part of the device")?;
        let room = DeviceFacts { capacity: span.length, ..facts.clone() };
        self.fans.iter().try_for_each(|fan| {
            checks::position("the distance", fan.stride, facts)?;
            checks::size("what places are multiples of", fan.align, facts)?;
            checks::in_range("the number of reads at once", fan.reads.into(), 1, depth)?;
            checks::fits("a set of reads", &room, needed(fan, self.block), "use fewer reads, or closer ones")
        })
    }

    fn cost(&self, _facts: &DeviceFacts) -> Cost {
        let reads: u64 = self.fans.iter().map(|fan| u64::from(fan.reads)).sum();
        Cost::of(Direction::Read, reads * u64::from(self.rounds), self.block)
    }

    fn measure<T: Target + ?Sized>(
        &self,
        facts: &DeviceFacts,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let mut fans: Vec<FanTimes> = self.fans.iter().map(|fan| FanTimes { fan: *fan, times: Vec::new() }).collect();
        let span = span(self, facts);
        let end = (0..self.rounds).try_for_each(|_| {
            rng.permutation(fans.len() as u64).into_iter().try_for_each(|index| {
                let FanTimes { fan, times } = &mut fans[index as usize];
                let first = first_place(fan, self.block, span, rng);
                let places = (0..u64::from(fan.reads)).map(|read| first + fan.stride * read);
                times.extend(rig.read_together(places, self.block)?);
                Ok(())
            })
        });
        (Data::Parallel(ParallelData { block: self.block, fans }), end)
    }
}

fn span(plan: &Parallel, facts: &DeviceFacts) -> Span {
    plan.within.unwrap_or(Span { start: Bytes::ZERO, length: facts.capacity })
}

/// Room that the reads need wherever the first one falls.
fn needed(fan: &Fan, block: Bytes) -> Option<u128> {
    let steps = u64::from(fan.reads.saturating_sub(1));
    checks::end_of(fan.align, steps, fan.stride, block)
}

fn first_place(fan: &Fan, block: Bytes, span: Span, rng: &mut Rng) -> Bytes {
    let start = span.start.align_up(fan.align);
    let taken = fan.stride * u64::from(fan.reads.saturating_sub(1)) + block;
    let choices = (span.start + span.length).saturating_sub(start + taken) / fan.align + 1;
    start + fan.align * rng.below(choices)
}
