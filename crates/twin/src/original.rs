//! flashbench's own random order, for tables that depend on it.
//!
//! Our probe visits blocks in a uniformly drawn permutation. flashbench takes them from a shift register: the next block
//! is half of this one, or half plus a constant. With a handful of blocks that makes a difference to a
//! card that copies what lies between (4 blocks: 2, 3, 1, 0, always), so a table that was measured in
//! that order is only comparable in that order.

use crate::replay::ReplayError;
use flashscope_device::{ExecuteExt, Fill, Request, Target, WriteGrant};
use flashscope_model::Data;
use flashscope_model::Order;
use flashscope_model::observation::{AreaState, OpenUnitsData, OpenUnitsRow, RateEvidence, Run, Source, Spent};
use flashscope_model::plan::OpenAu;
use flashscope_sim::SimTarget;
use flashscope_units::{Bytes, Nanos};

/// Feedback taps of registers of 2 to 16 bits that run through all states but 0.
const TAPS: [u32; 17] = [
    0,
    0,
    0b11,
    0b11,
    0b11,
    0b101,
    0b11,
    0b11,
    0b1_1101,
    0b1_0001,
    0b1001,
    0b101,
    0b1_0000_0111,
    0b10_0111,
    0b1_0000_0000_0111,
    0b11,
    0b1_0000_0000_1011,
];

/// The most bits that a register can have here; longer orders are left to our own permutation.
const MOST_BITS: u32 = 16;

/// Where the cycle of a register is cut open; 0 comes in there.
const CUT: u32 = 0xace1;

/// Whether the order of this table is known.
pub fn is_known(plan: &OpenAu) -> bool {
    plan.order == Order::Random && (plan.erase / plan.block).checked_ilog2().is_some_and(|bits| bits <= MOST_BITS)
}

/// `0..2^bits` in the order of the register, for up to 16 bits.
pub fn order(bits: u32) -> Vec<u64> {
    if bits < 2 {
        return (0..1 << bits).rev().collect();
    }
    let cut = CUT & ((1 << bits) - 1);
    let mut state = cut;
    let mut order: Vec<u64> = (1..1u32 << bits)
        .map(|_| {
            let feedback = (state & TAPS[bits as usize]).count_ones() & 1;
            state = state >> 1 | feedback << (bits - 1);
            u64::from(state)
        })
        .collect();
    order.push(0);
    order
}

/// `-O -r` as [`flashscope_probe`] does it, but with the offsets in the original's order.
///
/// # Errors
/// Where the plan does not fit the device.
pub fn open_au(
    plan: &OpenAu,
    target: &mut SimTarget,
    grant: &mut WriteGrant,
    first_generation: u32,
) -> Result<Run, ReplayError> {
    let started = target.now();
    let units: Vec<Bytes> = (0..u64::from(plan.count)).map(|i| plan.offset + plan.erase * (12 * i)).collect();
    let mut generation = first_generation;
    let mut rows = Vec::new();
    let mut block = plan.erase;
    while block >= plan.block {
        let mut times: Vec<Nanos> = Vec::new();
        for index in order((plan.erase / block).ilog2()) {
            for &unit in &units {
                generation = generation.wrapping_add(1);
                let (at, fill) = (unit + block * index, Fill::Tagged { generation });
                let request = Request::write(grant, 0, at, block, fill, true).map_err(ReplayError::new)?;
                let done = target.execute(request).map_err(ReplayError::new)?;
                times.push(done.service_time());
            }
        }
        rows.push(OpenUnitsRow { block, rate: RateEvidence::Times(times) });
        block = block / 2;
    }
    Ok(Run {
        source: Source::Probe { started },
        state: AreaState::Unknown,
        complete: true,
        spent: Spent::default(),
        failures: Vec::new(),
        data: Data::OpenUnits(OpenUnitsData {
            order: Order::Random,
            count: Some(plan.count),
            unit: Some(plan.erase),
            units,
            rows,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn every_block_once_and_the_known_short_orders() {
        for bits in 0..=super::MOST_BITS {
            let mut all = order(bits);
            all.sort_unstable();
            assert_eq!(all, (0..1 << bits).collect::<Vec<u64>>(), "{bits} bits");
        }
        assert_eq!(order(1), [1, 0]);
        assert_eq!(order(2), [2, 3, 1, 0]);
        assert_eq!(order(3), [4, 2, 5, 6, 7, 3, 1, 0]);
    }
}
