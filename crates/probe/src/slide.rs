//! Reads across every step of some stretches, whatever the boundaries are multiples of.
//!
//! Where units do not begin at multiples of their size, no table of multiples shows them: here every step is tried. Each
//! round visits all places of each stretch in one fresh random order, the stretches in turn, so that a read follows one
//! that is far away and every read pays for the change of units alike. One stretch that is read from its end to its start
//! shows that change itself: only the first read in each unit pays for it.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::{ScatterPlace, SlideData};
use flashscope_model::plan::Slide;
use flashscope_model::{DeviceFacts, Direction};
use flashscope_units::Bytes;

impl Probe for Slide {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::halvable("the block", self.block, facts)?;
        checks::size("the step", self.step, facts)?;
        checks::at_least("the number of stretches", self.starts.len() as u64, 1)?;
        checks::at_least("the number of places", self.places.into(), 1)?;
        checks::at_least("the number of rounds", self.rounds.into(), 1)?;
        self.starts.iter().try_for_each(|start| {
            checks::position("the start", *start, facts)?;
            checks::at_least("the start", start.get(), self.block.get() / 2)?;
            let needs = checks::end_of(*start, u64::from(self.places) - 1, self.step, self.block / 2);
            checks::fits("a stretch", facts, needs, "use fewer or closer places, or start earlier")
        })
    }

    fn cost(&self, _facts: &DeviceFacts) -> Cost {
        let reads = u64::from(self.places) * u64::from(self.rounds) * self.starts.len() as u64;
        Cost::of(Direction::Read, reads, self.block)
    }

    fn measure<T: Target + ?Sized>(
        &self,
        _facts: &DeviceFacts,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let per_stretch = self.places as usize;
        let stretch = |start: Bytes| (0..u64::from(self.places)).map(move |index| start + self.step * index);
        let all = self.starts.iter().copied().flat_map(stretch);
        let mut places: Vec<ScatterPlace> = all.map(|at| ScatterPlace { at, times: Vec::new() }).collect();
        let mut orders: Vec<Vec<usize>> =
            (0..self.starts.len()).map(|index| (index * per_stretch..(index + 1) * per_stretch).collect()).collect();
        if self.descending {
            orders.iter_mut().for_each(|order| order.reverse());
        }
        let end = (0..self.rounds).try_for_each(|_| {
            if !self.descending {
                orders.iter_mut().for_each(|order| rng.shuffle(order));
            }
            (0..per_stretch).try_for_each(|turn| {
                orders.iter().try_for_each(|order| {
                    let place = &mut places[order[turn]];
                    rig.time_into(&mut place.times, Direction::Read, place.at - self.block / 2, self.block)
                })
            })
        });
        places.sort_by_key(|place| place.at);
        let (block, step, descending) = (self.block, self.step, self.descending);
        (Data::Slide(SlideData { block, step, descending, places }.into()), end)
    }
}
