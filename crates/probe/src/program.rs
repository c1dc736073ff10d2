//! flashbench's `-p`: one region written with zeros, ones and 0x5a and read, in order and then at random.
//!
//! For each block size the four random columns visit the blocks in the same random permutation.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::open_au::offsets;
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::{Fill, Target};
use flashscope_model::Data;
use flashscope_model::observation::{ProgramData, ProgramRow, RateEvidence};
use flashscope_model::plan::Program;
use flashscope_model::{DeviceFacts, Direction, Order};
use flashscope_units::{Bytes, Nanos};

/// What the three writes carry; the fourth column reads.
const FILLS: [Option<u8>; 4] = [Some(0x00), Some(0xff), Some(0x5a), None];

impl Probe for Program {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        let smallest = smallest(self, facts);
        checks::size("the smallest block", smallest, facts)?;
        checks::size("the largest block", self.largest, facts)?;
        checks::halves("the largest block", self.largest, smallest)?;
        checks::position("the offset", self.offset, facts)?;
        checks::at_least("the region", self.region.get(), self.largest.get())?;
        if !self.region.is_multiple_of(self.largest) {
            let why = "every block size must fill the region";
            return Err(PlanError::Unaligned { what: "the region", value: self.region, unit: self.largest, why });
        }
        let needs = checks::end_of(self.offset, 1, self.region, Bytes::ZERO);
        checks::fits("the region", facts, needs, "use a smaller --offset")
    }

    fn cost(&self, facts: &DeviceFacts) -> Cost {
        checks::halvings(self.largest, smallest(self, facts))
            .map(|block| {
                let blocks = self.region / block;
                Cost::of(Direction::Write, 6 * blocks, block).plus(Cost::of(Direction::Read, 2 * blocks, block))
            })
            .fold(Cost::default(), Cost::plus)
    }

    fn measure<T: Target + ?Sized>(
        &self,
        facts: &DeviceFacts,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let mut rows = Vec::new();
        let end = checks::halvings(self.largest, smallest(self, facts)).try_for_each(|block| {
            let mut columns = Vec::new();
            let end = [Order::InOrder, Order::Random].into_iter().try_for_each(|order| {
                let offsets = offsets(order, self.region, block, rng);
                FILLS.into_iter().try_for_each(|fill| {
                    let mut times = Vec::new();
                    let end = column(self, block, &offsets, fill, &mut times, rig);
                    columns.push(RateEvidence::Times(times));
                    end
                })
            });
            rows.push(ProgramRow { block, columns });
            end
        });
        (Data::Program(ProgramData { offset: Some(self.offset), region: Some(self.region), rows }), end)
    }
}

fn column<T: Target + ?Sized>(
    plan: &Program,
    block: Bytes,
    offsets: &[Bytes],
    fill: Option<u8>,
    times: &mut Vec<Nanos>,
    rig: &mut Rig<'_, '_, T>,
) -> Result<(), Halt> {
    for &offset in offsets {
        let at = plan.offset + offset;
        let sample = match fill {
            Some(byte) => rig.write_fill(at, block, Fill::Byte(byte))?,
            None => rig.read(at, block)?,
        };
        times.extend(sample.map(|served| served.time));
    }
    Ok(())
}

fn smallest(plan: &Program, facts: &DeviceFacts) -> Bytes {
    plan.smallest.max(facts.logical_block)
}
