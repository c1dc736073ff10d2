//! The experiments that only read: floor, survey, boundaries, access time, and the reading half of the table.

use crate::pool::filled;
use crate::situation::Situation;
use crate::survey::written_stretch;
use crate::{Choice, alignment};
use flashscope_model::plan::{Floor, Interval, Purpose, Span, Survey, Throughput};
use flashscope_model::{Data, DeviceFacts, Direction, Experiment, Order};
use flashscope_units::Bytes;

/// A stretch must hold this many units before boundaries within it tell something.
pub(crate) const STRETCH_IN_UNITS: u64 = 32;

/// Block size, sequential requests, random requests of the reading cells. A thousand small random reads support a
/// 99th percentile; the large cells only need a median.
const READ_CELLS: [(Bytes, u32, u32); 4] =
    [(Bytes::kib(4), 512, 1024), (Bytes::kib(16), 256, 512), (Bytes::kib(128), 128, 128), (Bytes::mib(1), 48, 48)];

/// Cells of the performance table that are read, each block in order and at random.
pub(crate) const CELLS: usize = READ_CELLS.len() * 2;

/// One block read again and again: the shortest time that a read takes here, of link, command and what the device has at
/// hand. No later read is faster, but not all of it is spent outside the flash.
pub(crate) fn floor(now: &Situation) -> Option<Choice> {
    let why = "the shortest time of a read: one block again and again";
    (!now.has(|data| matches!(data, Data::Floor(_)))).then(|| floor_now(now, why))
}

/// As [`floor`], whether it was measured before or not: a host may be slower or faster by now.
pub(crate) fn floor_now(now: &Situation, why: &str) -> Choice {
    let block = now.block(Bytes::kib(4));
    let at = (now.device.capacity / 2).align_down(block);
    Choice { experiment: Experiment::Floor(Floor { block, at, count: 200 }), why: why.to_owned() }
}

/// Which parts hold data: reads of never-written ones say nothing of the flash.
pub(crate) fn survey(now: &Situation) -> Option<Choice> {
    let block = now.block(Bytes::kib(4));
    let places = (now.device.capacity.get() / (block.get() * 16)).min(192) as u32;
    (places >= 8 && !now.has(|data| matches!(data, Data::Survey(_)))).then(|| Choice {
        experiment: Experiment::Survey(Survey { block, places, repeats: 3, within: None }),
        why: "which parts hold data: reads of never-written ones do not touch the flash".into(),
    })
}

/// Boundaries of pages and units, where there is something to read.
pub(crate) fn boundaries(now: &Situation) -> Option<Choice> {
    // What comes after boundaries in the plan has begun, so they are settled as far as they will be; asking again
    // would cost more than all the other subjects together.
    if now.trials_begun() || now.has(|data| matches!(data, Data::Interval(_))) {
        return None;
    }
    let within = readable(now);
    let mut choice = alignment::wanted(now.device, now.observations, now.memo, within)?;
    if let Experiment::Boundaries(plan) = &mut choice.experiment
        && plan.within.is_none()
    {
        plan.within = readable(now);
    }
    Some(choice)
}

/// The part of the device that reads should keep to; `None` for all of it.
pub(crate) fn readable(now: &Situation) -> Option<Span> {
    let stretch = written_stretch(now.observations)?;
    if stretch.length >= now.unit() * STRETCH_IN_UNITS {
        let start = stretch.start.align_up(now.unit());
        return Some(Span { start, length: (stretch.start + stretch.length - start).align_down(now.unit()) });
    }
    // A blank device that may not be filled is read all over, for what it is worth.
    filled(now.observations)
}

/// Read time against size.
pub(crate) fn interval(now: &Situation) -> Option<Choice> {
    if now.has(|data| matches!(data, Data::Interval(_))) {
        return None;
    }
    // Eight places, nine sizes apart: 64 sizes in all.
    let offset = readable(now).map_or(Bytes::ZERO, |span| span.start);
    let room = now.device.capacity.saturating_sub(offset);
    let order = (5..=13).rev().find(|order| Bytes(512u64 << (order - 1)) * 64 <= room)?;
    Some(Choice {
        experiment: Experiment::Interval(Interval { order, places: 8, offset }),
        why: "access time and transfer rate, from read time against size".into(),
    })
}

/// The next cell of the performance table that was not read.
pub(crate) fn performance(now: &Situation) -> Option<Choice> {
    let region = read_region(now);
    let cells = READ_CELLS
        .iter()
        .flat_map(|(block, in_order, random)| [(*block, Order::InOrder, *in_order), (*block, Order::Random, *random)]);
    cells
        .map(|(block, order, requests)| (now.block(block), order, requests))
        .filter(|(block, ..)| *block * 4 <= region.length)
        .find(|(block, order, _)| !now.has_throughput(Purpose::Performance, Direction::Read, *order, *block))
        .map(|(block, order, requests)| Choice {
            experiment: Experiment::Throughput(Throughput {
                direction: Direction::Read,
                order,
                block,
                start: region.start,
                length: region.length.align_down(block),
                requests,
                most_time: None,
                purpose: Purpose::Performance,
            }),
            why: "a cell of the performance table".into(),
        })
}

/// About how much is read in all; how long the search for boundaries goes on depends on what it finds.
pub(crate) fn about_read(device: &DeviceFacts) -> Bytes {
    /// Reads around boundaries and of the other experiments that are no cells, as on the devices of the catalogue: from half
    /// of it to three times as much, where no unit shows.
    const OTHERS: Bytes = Bytes::mib(320);
    let fits = |block: &Bytes| *block * 4 <= device.capacity;
    let cells: Bytes = READ_CELLS
        .iter()
        .filter(|(block, ..)| fits(block))
        .map(|(block, in_order, random)| *block * u64::from(in_order + random))
        .sum();
    cells + OTHERS.min(device.capacity)
}

/// In order from the middle of what can be read, at random from there to its end.
fn read_region(now: &Situation) -> Span {
    let whole = Span { start: Bytes::ZERO, length: now.device.capacity };
    let span = readable(now).filter(|span| span.length >= Bytes::mib(16)).unwrap_or(whole);
    let skip = (span.length / 4).align_down(Bytes::mib(1));
    Span { start: span.start + skip, length: (span.length - skip).align_down(now.device.logical_block) }
}
