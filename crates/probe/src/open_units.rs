//! A few rounds of durable writes, one block to each of some fresh units per round.
//!
//! The lean form of [`open_au`](crate::open_au): one block size, units that the caller chooses (never the same
//! ones twice), and only as many rounds as a decision needs. The units come in one random order that stays the
//! same for all rounds, for the reason given there: with eight slots kept by recency and nine units a fixed order finds
//! its unit closed every time, a fresh order per round only 31 % of the time.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig, rounds};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::{OpenUnitsData, OpenUnitsRow, RateEvidence};
use flashscope_model::plan::OpenUnits;
use flashscope_model::{DeviceFacts, Direction, Order};
use flashscope_units::Bytes;

impl Probe for OpenUnits {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::size("the block", self.block, facts)?;
        checks::size("the unit", self.unit, facts)?;
        checks::position("the first offset", self.first_offset, facts)?;
        checks::at_least("the number of units", self.units.len() as u64, 1)?;
        let last = self.unit.saturating_sub(self.block);
        checks::in_range("the first offset", self.first_offset.get(), 0, last.get())?;
        let room = self.unit.saturating_sub(self.first_offset) / self.block;
        checks::in_range("the number of rounds", self.rounds.into(), 1, room)?;
        checks::units("the units", self.units.iter().copied(), self.unit, facts)
    }

    fn cost(&self, _facts: &DeviceFacts) -> Cost {
        Cost::of(Direction::Write, u64::from(self.rounds) * self.units.len() as u64, self.block)
    }

    fn measure<T: Target + ?Sized>(
        &self,
        _facts: &DeviceFacts,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let mut turn: Vec<(Bytes, Vec<Bytes>)> = self.units.iter().map(|&unit| (unit, offsets(self, rng))).collect();
        rng.shuffle(&mut turn);
        let mut times = Vec::new();
        let least = self.plain_within_a_round();
        let end = rounds(self.rounds, self.enough, rig, |round, rig| {
            for (at, offsets) in &turn {
                if rig.is_plain(least) {
                    break;
                }
                rig.time_into(&mut times, Direction::Write, *at + offsets[round as usize], self.block)?;
            }
            Ok(())
        });
        let data = OpenUnitsData {
            order: self.order,
            count: Some(self.units.len() as u32),
            unit: Some(self.unit),
            units: self.units.clone(),
            rows: vec![OpenUnitsRow { block: self.block, rate: RateEvidence::Times(times) }],
        };
        (Data::OpenUnits(data), end)
    }
}

/// Where the blocks of one unit go, round by round: rising from the first offset, or the beginning of a random
/// permutation of everything from there to the end of the unit. Each unit has a permutation of its own.
fn offsets(plan: &OpenUnits, rng: &mut Rng) -> Vec<Bytes> {
    let rounds = u64::from(plan.rounds);
    let indices = match plan.order {
        Order::InOrder => (0..rounds).collect(),
        Order::Random => rng.sample((plan.unit - plan.first_offset) / plan.block, rounds),
    };
    indices.into_iter().map(|index| plan.first_offset + plan.block * index).collect()
}
