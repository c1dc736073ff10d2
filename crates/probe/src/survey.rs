//! Reads at random places all over the device, to tell written areas from never-written ones.
//!
//! The device is cut into as many equal parts as there are places, and each part gets one random block, so that no part
//! is missed. The places are visited in rounds, each in a fresh random order, never one place twice in a row.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::{Content, Target};
use flashscope_model::Data;
use flashscope_model::observation::{SurveyData, SurveyPlace};
use flashscope_model::plan::{Span, Survey};
use flashscope_model::{DeviceFacts, Direction};
use flashscope_units::Bytes;

impl Probe for Survey {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::size("the block", self.block, facts)?;
        checks::at_least("the number of repeats", self.repeats.into(), 1)?;
        // A single place could only be read repeatedly by reading it twice in a row.
        checks::at_least("the number of places", self.places.into(), if self.repeats > 1 { 2 } else { 1 })?;
        if let Some(span) = self.within {
            checks::at_least("the length of the region", span.length.get(), self.block.get() * u64::from(self.places))?;
            checks::size("the start of the region", span.start.max(self.block), facts)?;
            let end = checks::end_of(span.start, 1, span.length, Bytes::ZERO);
            return checks::fits("the region", facts, end, "use a region that lies within the device");
        }
        let needs = u128::from(self.places) * 2 * u128::from(self.block.get());
        checks::fits("a survey of this number of places", facts, Some(needs), "use fewer places or a smaller block")
    }

    fn cost(&self, _facts: &DeviceFacts) -> Cost {
        Cost::of(Direction::Read, u64::from(self.places) * u64::from(self.repeats), self.block)
    }

    fn measure<T: Target + ?Sized>(
        &self,
        facts: &DeviceFacts,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let mut places = places(self, facts, rng);
        let mut last = None;
        let end = (0..self.repeats).try_for_each(|_| {
            let mut order = rng.permutation(places.len() as u64);
            if order.len() > 1 && order.first().copied() == last {
                order.swap(0, 1);
            }
            last = order.last().copied();
            order.into_iter().try_for_each(|index| read(&mut places[index as usize], self, rig))
        });
        (Data::Survey(SurveyData { block: self.block, places }), end)
    }
}

fn read<T: Target + ?Sized>(place: &mut SurveyPlace, plan: &Survey, rig: &mut Rig<'_, '_, T>) -> Result<(), Halt> {
    if let Some(served) = rig.read(place.at, plan.block)? {
        place.times.push(served.time);
        if let Content::Uniform(byte) = served.content {
            place.uniform = Some(byte);
        }
    }
    Ok(())
}

fn places(plan: &Survey, facts: &DeviceFacts, rng: &mut Rng) -> Vec<SurveyPlace> {
    let span = plan.within.unwrap_or(Span { start: Bytes::ZERO, length: facts.capacity });
    let blocks = span.length / plan.block;
    // Where part `i` begins, in blocks; parts differ by at most one block.
    let edge = |i: u64| (u128::from(blocks) * u128::from(i) / u128::from(plan.places)) as u64;
    (0..u64::from(plan.places))
        .map(|i| edge(i) + rng.below(edge(i + 1) - edge(i)))
        .map(|index| SurveyPlace { at: span.start + plan.block * index, uniform: None, times: Vec::new() })
        .collect()
}
