//! flashbench's `-a`: accesses that end at, straddle and start at boundaries, one alignment after the other.
//!
//! The positions of alignment `a` are `offset + a + i·largest` for `i` below `places`: odd multiples of `a` in all rows
//! but that of the largest. Positions beyond the end of the device wrap around to its start, as flashbench's do (and
//! are then multiples of `a` only if the capacity is one). Unlike flashbench we leave out a position whose accesses would cross the end (flashbench reads half a block at either end and calls
//! that straddling). Order: tries, within them the three roles, within them the positions.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::DeviceFacts;
use flashscope_model::observation::{AlignData, AlignEvidence, AlignRow, Straddle};
use flashscope_model::plan::Align;
use flashscope_units::Bytes;

impl Probe for Align {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::size("the block", self.block, facts)?;
        checks::in_range("the access", self.access.into(), 1, 1 << 16)?;
        checks::at_least("the number of tries", self.tries.into(), 1)?;
        checks::at_least("the number of places", self.places.into(), 1)?;
        checks::halvable("the access", length(self), facts)?;
        checks::position("the offset", self.offset, facts)?;
        if let Some(largest) = self.largest {
            checks::size("the largest alignment", largest, facts)?;
            checks::fits("the largest alignment", facts, Some(largest.get().into()), "choose a smaller one")?;
            checks::in_range("the largest alignment", largest.get(), smallest(self).get(), facts.capacity.get())?;
        }
        let rows = rows(self, facts);
        if rows.is_empty() || rows.iter().any(|row| row.visits.is_empty()) {
            let needs = u128::from(smallest(self).get()) * (u128::from(self.places) + 1);
            checks::fits("an alignment", facts, Some(needs), "use a smaller block, or fewer places")?;
            let (size, within) = (smallest(self), facts.capacity);
            let hint = "use a smaller block, or another offset";
            return Err(PlanError::NoPlace { what: "an alignment", size, within, hint });
        }
        Ok(())
    }

    fn cost(&self, facts: &DeviceFacts) -> Cost {
        let visits: u64 = rows(self, facts).iter().map(|row| row.visits.len() as u64).sum();
        Cost::of(self.direction, 3 * u64::from(self.tries) * visits, length(self))
    }

    fn measure<T: Target + ?Sized>(
        &self,
        facts: &DeviceFacts,
        _rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let mut measured = Vec::new();
        let end = rows(self, facts).into_iter().try_for_each(|row| {
            let mut places = row.places();
            let end = measure_row(self, &row, &mut places, rig);
            measured.push(AlignRow { align: row.align, evidence: AlignEvidence::Places(places) });
            end
        });
        let data =
            AlignData { direction: self.direction, block: Some(self.block), access: self.access, rows: measured };
        (Data::Align(data), end)
    }
}

/// One alignment and the boundaries in the order in which they are visited.
struct Row {
    align: Bytes,
    /// Wrapped positions may come round to an earlier one: it gets more samples then.
    visits: Vec<Bytes>,
}

impl Row {
    /// An empty place for each boundary, in the order of the first visit.
    fn places(&self) -> Vec<Straddle> {
        let mut places: Vec<Straddle> = Vec::new();
        for &at in &self.visits {
            if places.iter().all(|place| place.at != at) {
                places.push(Straddle { at, pre: Vec::new(), on: Vec::new(), post: Vec::new() });
            }
        }
        places
    }
}

fn measure_row<T: Target + ?Sized>(
    plan: &Align,
    row: &Row,
    places: &mut [Straddle],
    rig: &mut Rig<'_, '_, T>,
) -> Result<(), Halt> {
    let length = length(plan);
    let index: Vec<usize> =
        row.visits.iter().filter_map(|&at| places.iter().position(|place| place.at == at)).collect();
    for _ in 0..plan.tries {
        for &i in &index {
            let at = places[i].at - length;
            rig.time_into(&mut places[i].pre, plan.direction, at, length)?;
        }
        for &i in &index {
            let at = places[i].at - length / 2;
            rig.time_into(&mut places[i].on, plan.direction, at, length)?;
        }
        for &i in &index {
            let at = places[i].at;
            rig.time_into(&mut places[i].post, plan.direction, at, length)?;
        }
    }
    Ok(())
}

fn length(plan: &Align) -> Bytes {
    plan.block * plan.access.into()
}

/// Below this, an access would straddle more than one boundary.
fn smallest(plan: &Align) -> Bytes {
    (plan.block * 2).max(length(plan))
}

fn rows(plan: &Align, facts: &DeviceFacts) -> Vec<Row> {
    let largest =
        plan.largest.unwrap_or_else(|| Bytes(facts.capacity.get().div_ceil(plan.places.into()).next_power_of_two()));
    checks::halvings(largest, smallest(plan))
        .take_while(|align| align.is_multiple_of(facts.logical_block))
        .map(|align| Row { align, visits: visits(plan, facts, align, largest) })
        .collect()
}

fn visits(plan: &Align, facts: &DeviceFacts, align: Bytes, largest: Bytes) -> Vec<Bytes> {
    let length = length(plan);
    let capacity = u128::from(facts.capacity.get());
    (0..u128::from(plan.places))
        .map(|i| u128::from(plan.offset.get()) + u128::from(align.get()) + i * u128::from(largest.get()))
        .map(|at| Bytes((at % capacity) as u64))
        .filter(|&at| at >= length && at + length <= facts.capacity)
        .collect()
}
