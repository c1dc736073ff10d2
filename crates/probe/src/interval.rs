//! flashbench's `-i`: read time by size, one read at each of a few places nine times the size apart.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::{IntervalData, IntervalEvidence, IntervalRow};
use flashscope_model::plan::Interval;
use flashscope_model::{DeviceFacts, Direction};
use flashscope_units::Bytes;

/// Distance of the places, in reads.
const SPACING: u64 = 9;

impl Probe for Interval {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        let least = u64::from((facts.logical_block / Bytes::SECTOR).max(1).ilog2()) + 1;
        checks::in_range("the interval order", self.order.into(), least, 32)?;
        checks::in_range("the number of places", self.places.into(), 1, 1 << 20)?;
        checks::position("the offset", self.offset, facts)?;
        let largest = Bytes::SECTOR * (1 << (self.order - 1));
        let needs = checks::end_of(self.offset, (u64::from(self.places) - 1) * SPACING, largest, largest);
        checks::fits(
            "the largest read at this number of places",
            facts,
            needs,
            "use a smaller --interval-order or fewer --places",
        )
    }

    fn cost(&self, facts: &DeviceFacts) -> Cost {
        sizes(self, facts)
            .map(|size| Cost::of(Direction::Read, self.places.into(), size))
            .fold(Cost::default(), Cost::plus)
    }

    fn measure<T: Target + ?Sized>(
        &self,
        facts: &DeviceFacts,
        _rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let mut rows = Vec::new();
        let end = sizes(self, facts).try_for_each(|size| {
            let positions = (0..u64::from(self.places)).map(|i| self.offset + size * (SPACING * i));
            let mut times = Vec::new();
            let end = rig.visit(&mut times, Direction::Read, size, positions);
            rows.push(IntervalRow { size, evidence: IntervalEvidence::Times(times) });
            end
        });
        (Data::Interval(IntervalData { rows }), end)
    }
}

/// 512·2^k, those that the device can read.
fn sizes(plan: &Interval, facts: &DeviceFacts) -> impl Iterator<Item = Bytes> {
    let unit = facts.logical_block;
    (0..plan.order).map(|k| Bytes::SECTOR * (1 << k)).filter(move |size| size.is_multiple_of(unit))
}
