//! What a blank device is filled with: a region to read, and units to write to, in which a copy has something to copy.

use super::throughput;
use crate::Choice;
use crate::pool::{blank_units, filled, filled_units};
use crate::reading::STRETCH_IN_UNITS;
use crate::situation::Situation;
use crate::survey::written_stretch;
use flashscope_model::plan::Purpose;
use flashscope_model::{DeviceFacts, Direction, Order};
use flashscope_units::Bytes;

/// Units that a blank device is filled with, so that boundaries of the next candidates show as well.
const FILLED_UNITS: u64 = 48;

/// … and this much at least, since the unit is only assumed yet and may be as large as 64 MiB, …
const LEAST_FILLED: Bytes = Bytes::mib(512);

/// … but no more than this, nor than this share of the device: the other questions must be left something to write.
const MOST_FILLED: (Bytes, u64) = (Bytes::gib(1), 8);

/// A fill takes no more than this share of what may be written (two fifths): the rest must answer something.
const FILL_SHARE: (u64, u64) = (2, 5);

/// A shorter region shows the boundaries of pages, and of few units or none. How long the units are is not known yet, and
/// a claim may be wrong, so that none of them says how long a region must be.
const SHORTEST_FILL: Bytes = Bytes::mib(8);

/// Fewest units of a blank device that are filled to be written in turn, …
const LEAST_FILLED_UNITS: u32 = 8;

/// … each up to this part of it: a copy of it takes many times what a write does.
const PIECE_OF_A_UNIT: u64 = 8;
/// Least that is filled of each unit.
const LEAST_PIECE: Bytes = Bytes::mib(4);

/// No more than this share of what may still be written fills units.
const FILLED_OF_WHAT_IS_LEFT: u64 = 2;

/// A region to read, for a device that was never written.
pub(crate) fn fill(now: &Situation) -> Option<Choice> {
    let blank = written_stretch(now.observations)?.length < now.unit() * STRETCH_IN_UNITS;
    if !blank || filled(now.observations).is_some() {
        return None;
    }
    let block = now.block(Bytes::kib(512)).min(now.unit());
    let most = (now.write_budget * FILL_SHARE.0 / FILL_SHARE.1).align_down(Bytes::mib(1));
    let length = most_fill(now.device, now.unit()).min(most);
    if length < SHORTEST_FILL {
        return None;
    }
    // At a quarter of the device: clear of the start, and on a boundary of every candidate.
    let start = (now.device.capacity / 4).align_down(now.unit() * 16);
    Some(throughput(Direction::Write, Order::InOrder, block, (start, length), length / block, Purpose::Fill)).map(
        |experiment| Choice {
            experiment,
            why: "the device was never written where reads should tell something: fill a region in order".into(),
        },
    )
}

/// Of a blank device whose unit is known: how many units hold data, and how many more there is something left to fill for.
pub(super) fn filling(now: &Situation) -> Option<(u32, u32)> {
    let units = filled_units(now.observations, now.unit(), now.first_unit()).filter(|_| now.unit_is_measured())?;
    let left = now.write_budget.saturating_sub(now.observations.spent().written);
    let blank = blank_units(now.device, now.observations, now.unit(), now.first_unit()).len() as u64;
    let more = (left / FILLED_OF_WHAT_IS_LEFT / piece(now)).min(blank);
    let count = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    Some((count(units.len() as u64), count(more)))
}

/// What is filled of a unit: enough that a copy of it stands out.
fn piece(now: &Situation) -> Bytes {
    (now.unit() / PIECE_OF_A_UNIT).max(LEAST_PIECE).min(now.unit())
}

/// One more unit of a blank device to write to, where fewer hold data than are to be written in turn.
pub(super) fn more_filled(now: &Situation, wanted: u32) -> Option<Choice> {
    let (ready, more) = filling(now)?;
    let wanted = wanted.max(LEAST_FILLED_UNITS);
    if ready >= wanted || more == 0 {
        return None;
    }
    let blank = blank_units(now.device, now.observations, now.unit(), now.first_unit());
    let start = *blank.get(now.rng(5).below(blank.len()))?;
    let (block, length) = (now.block(Bytes::kib(512)).min(piece(now)), piece(now));
    let experiment =
        throughput(Direction::Write, Order::InOrder, block, (start, length), length / block, Purpose::Fill);
    let why =
        format!("{wanted} units to write in turn, of which {ready} hold data that a copy would take: fill one more");
    Some(Choice { experiment, why })
}

/// What the region to read takes on a blank device.
pub(crate) fn most_fill(device: &DeviceFacts, unit: Bytes) -> Bytes {
    let wanted = (unit * FILLED_UNITS).max(LEAST_FILLED);
    wanted.min(MOST_FILLED.0).min(device.capacity / MOST_FILLED.1).align_up(unit)
}
