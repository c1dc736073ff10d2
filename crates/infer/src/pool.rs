//! Where to write: fresh units from a pool that no earlier run has touched.
//!
//! A unit that was written before is half open, or holds what an earlier trial left: only fresh units compare. They
//! lie further apart than any superblock, and not near the start, which is the business of the fast-area experiment.

use crate::survey::written_stretch;
use flashscope_model::observation::Run;
use flashscope_model::plan::{Purpose, Span};
use flashscope_model::{Data, DeviceFacts, Direction, Observations, Order};
use flashscope_stats::Rng;
use flashscope_units::Bytes;
use std::ops::Range;

/// Units at the start that only the fast-area experiment writes.
const KEPT_AT_START: u64 = 16;

/// Distance of neighbouring pool units, in units, where the device is large enough.
const APART: u64 = 4;

/// A filled region with fewer slots is no pool.
const LEAST_SLOTS: usize = 8;

/// Where fewer lie in the part that holds data, they are taken from all over the device.
const LEAST_WRITTEN_SLOTS: usize = 32;

/// Multiples of many sizes at once: places at such distances begin a unit of nearly any size, where that is not known.
const FOR_ANY_UNIT: [Bytes; 4] = [Bytes::mib(960), Bytes::mib(240), Bytes::mib(96), Bytes::mib(48)];

/// … as long as this many of them are left.
const ENOUGH_SLOTS: u64 = 160;

/// The units that may be written, and which of them still are fresh.
pub(crate) struct Pool {
    unit: Bytes,
    fresh: Vec<Bytes>,
    /// Units that were written, the one that rested for longest first.
    worn: Vec<Bytes>,
}

impl Pool {
    /// The pool of a device whose first unit begins at `first`, given what was written so far; and whether the unit was
    /// measured, or is only assumed.
    pub(crate) fn new(
        device: &DeviceFacts,
        observations: &Observations,
        (unit, measured): (Bytes, bool),
        first: Bytes,
    ) -> Pool {
        // On a device that was blank, a copy has nothing to copy but in what was filled.
        let whole = Span { start: Bytes::ZERO, length: device.capacity };
        let slots = filled_units(observations, unit, first)
            .filter(|slots| slots.len() >= LEAST_SLOTS)
            .or_else(|| {
                // Nor where it was never written; and what keeps nothing, as a part of some fakes, looks like that.
                let slots = all_over(device, (unit, measured), first, written_stretch(observations)?);
                (slots.len() >= LEAST_WRITTEN_SLOTS).then_some(slots)
            })
            .unwrap_or_else(|| all_over(device, (unit, measured), first, whole));
        let mut last_use = vec![None; slots.len()];
        for (order, range) in written(observations, unit).into_iter().enumerate() {
            last_use[overlapped(&slots, unit, range)].fill(Some(order));
        }
        let is_fresh = |(_, last): &(Bytes, Option<usize>)| last.is_none();
        let (fresh, mut worn): (Vec<_>, Vec<_>) = slots.into_iter().zip(last_use).partition(is_fresh);
        worn.sort_by_key(|(_, last)| *last);
        let starts = |slots: Vec<(Bytes, Option<usize>)>| slots.into_iter().map(|(start, _)| start).collect();
        let (fresh, worn) = (starts(fresh), starts(worn));
        Pool { unit, fresh, worn }
    }

    /// How many units there are, fresh or not.
    pub(crate) fn size(&self) -> usize {
        self.fresh.len() + self.worn.len()
    }

    /// `count` units, in a random order: fresh ones as far apart as there is room, since units may be larger than they
    /// are known to be, then those that rested for longest; `None` where there are fewer.
    pub(crate) fn take(&self, count: usize, rng: &mut Rng) -> Option<Vec<Bytes>> {
        let fresh = self.fresh.len();
        let chosen: Vec<Bytes> = if fresh > count && count > 0 {
            let phase = rng.below(fresh);
            (0..count).map(|index| self.fresh[(phase + index * fresh / count) % fresh]).collect()
        } else {
            self.fresh.iter().chain(&self.worn).take(count).copied().collect()
        };
        (chosen.len() == count).then(|| shuffled(&chosen, rng))
    }

    /// Units nearest to the middle of the device, fresh ones first, and none that overlaps a suspect: the controls of the
    /// fast-area experiment.
    pub(crate) fn middle(&self, count: usize, capacity: Bytes, suspects: &[Bytes]) -> Option<Vec<Bytes>> {
        let distance = |start: &Bytes| start.get().abs_diff(capacity.get() / 2);
        let mut near = self.fresh.clone();
        near.sort_by_key(distance);
        near.extend(&self.worn);
        near.retain(|start| suspects.iter().all(|suspect| start.get().abs_diff(suspect.get()) >= self.unit.get()));
        near.truncate(count);
        (near.len() == count).then_some(near)
    }

    /// A stretch of whole units for a long transfer, over fresh ground where there is some.
    pub(crate) fn stretch(&self, length: Bytes, capacity: Bytes, rng: &mut Rng) -> Option<Bytes> {
        let fits = |start: &&Bytes| **start + length <= capacity;
        let steps = length.get().div_ceil(self.unit.get());
        let mut worn = self.worn.clone();
        worn.sort_unstable();
        let is_fresh = |start: &&Bytes| {
            overlapped(&worn, self.unit, Span { start: **start, length: self.unit * steps }).is_empty()
        };
        let fresh: Vec<&Bytes> = self.fresh.iter().filter(fits).filter(is_fresh).collect();
        let any: Vec<&Bytes> = self.fresh.iter().chain(&self.worn).filter(fits).collect();
        let from = if fresh.is_empty() { any } else { fresh };
        (!from.is_empty()).then(|| *from[rng.below(from.len())])
    }
}

/// The units of a device that was blank in which a copy has something to copy: those of the region that was filled to be
/// read, and those that were filled by themselves. `None` where nothing was filled.
pub(crate) fn filled_units(observations: &Observations, unit: Bytes, first: Bytes) -> Option<Vec<Bytes>> {
    let mut fills = fills(observations);
    let mut units = inside(fills.next()?, unit, first);
    units.extend(fills.map(|piece| piece.start));
    units.sort_unstable();
    units.dedup();
    Some(units)
}

/// The units all over a blank device that were neither filled nor written.
pub(crate) fn blank_units(device: &DeviceFacts, observations: &Observations, unit: Bytes, first: Bytes) -> Vec<Bytes> {
    let whole = Span { start: Bytes::ZERO, length: device.capacity };
    let mut slots = all_over(device, (unit, true), first, whole);
    let mut used = vec![false; slots.len()];
    for range in fills(observations).chain(written(observations, unit)) {
        used[overlapped(&slots, unit, range)].fill(true);
    }
    let mut used = used.into_iter();
    slots.retain(|_| used.next() == Some(false));
    slots
}

/// Slots all over a part of the device, past its start.
fn all_over(device: &DeviceFacts, (unit, measured): (Bytes, bool), start: Bytes, part: Span) -> Vec<Bytes> {
    if !measured
        && start == Bytes::ZERO
        && let Some(step) = FOR_ANY_UNIT.into_iter().find(|step| part.length / *step >= ENOUGH_SLOTS)
        && step.is_multiple_of(unit)
    {
        let first = (unit * KEPT_AT_START).max(part.start).align_up(step) / step;
        let end = device.capacity.min(part.start + part.length) / step;
        return (first..end).map(|index| step * index).collect();
    }
    let index = |at: Bytes| at.saturating_sub(start) / unit;
    let end = index(device.capacity.min(part.start + part.length));
    let begin = part.start.saturating_sub(start).align_up(unit) / unit;
    // A small device has no room to be generous: rather close neighbours than no fresh units.
    let apart = [APART, 2, 1].into_iter().find(|apart| end.saturating_sub(begin) / apart >= 64).unwrap_or(1);
    let first = begin.max(KEPT_AT_START.min(index(device.capacity) / 4));
    (first..end).step_by(apart as usize).map(|index| start + unit * index).collect()
}

/// Slots inside a region, one unit apart from each other where that leaves enough of them.
fn inside(region: Span, unit: Bytes, start: Bytes) -> Vec<Bytes> {
    let first = region.start.saturating_sub(start).align_up(unit) / unit;
    let end = (region.start + region.length).saturating_sub(start) / unit;
    let apart = if end.saturating_sub(first) >= 128 { 2 } else { 1 };
    (first..end).step_by(apart).map(|index| start + unit * index).collect()
}

fn shuffled(from: &[Bytes], rng: &mut Rng) -> Vec<Bytes> {
    let mut units = from.to_vec();
    rng.shuffle(&mut units);
    units
}

/// Which of the units that start at `starts`, in rising order, a range touches.
fn overlapped(starts: &[Bytes], unit: Bytes, range: Span) -> Range<usize> {
    let end = range.start + range.length;
    let first = starts.partition_point(|start| *start + unit <= range.start);
    let past = starts.partition_point(|start| *start < end);
    first..past.max(first)
}

/// All ranges that trials wrote, oldest first, by what the runs say of themselves.
fn written(observations: &Observations, unit: Bytes) -> Vec<Span> {
    observations.runs.iter().flat_map(|run| ranges(run, unit)).collect()
}

fn ranges(run: &Run, assumed: Bytes) -> Vec<Span> {
    match &run.data {
        Data::OpenUnits(data) => {
            let length = data.unit.unwrap_or(assumed);
            data.units.iter().map(|start| Span { start: *start, length }).collect()
        }
        Data::FastArea(data) if data.direction == Direction::Write => {
            let starts = data.suspects.iter().chain(&data.controls);
            starts.map(|times| Span { start: times.at, length: data.unit }).collect()
        }
        // A few blocks all over the device leave nearly all of its units as they were.
        Data::Throughput(data) if (data.purpose, data.order) == (Purpose::Performance, Order::Random) => Vec::new(),
        Data::Throughput(data) if data.direction == Direction::Write && data.purpose != Purpose::Fill => {
            vec![Span { start: data.start, length: data.length }]
        }
        Data::SlcCache(data) => data.bursts.iter().map(|burst| burst.burst.span).collect(),
        Data::Buffer(data) => vec![Span { start: data.start, length: data.length }],
        Data::Program(data) => match (data.offset, data.region) {
            (Some(start), Some(length)) => vec![Span { start, length }],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The region that was filled so that reads have something to read.
pub(crate) fn filled(observations: &Observations) -> Option<Span> {
    fills(observations).next()
}

/// All that was filled: the region to read, and then the units of which trials had too few.
fn fills(observations: &Observations) -> impl Iterator<Item = Span> {
    observations.runs.iter().filter_map(|run| match &run.data {
        Data::Throughput(data) if (data.purpose, data.direction) == (Purpose::Fill, Direction::Write) => {
            Some(Span { start: data.start, length: data.length })
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_touches_the_units_that_it_overlaps() {
        let unit = Bytes::mib(4);
        let starts: Vec<Bytes> = [16, 20, 36, 40, 44, 60].map(Bytes::mib).to_vec();
        let overlap = |start: Bytes, range: Span| start < range.start + range.length && range.start < start + unit;
        for (start, length) in (0..70).flat_map(|start| [0, 1, 4, 5, 17, 90].map(|length| (start, length))) {
            let range = Span { start: Bytes::mib(start), length: Bytes::mib(length) };
            let one_by_one: Vec<Bytes> = starts.iter().copied().filter(|start| overlap(*start, range)).collect();
            assert_eq!(starts[overlapped(&starts, unit, range)], one_by_one, "{range:?}");
        }
    }
}
