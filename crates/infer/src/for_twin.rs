//! What a twin is fitted to beyond what an inspection needs: requests as applications mix them.
//!
//! Findings rest on durable writes to fresh units, one kind at a time, so that each tells one thing. A twin must also know what a
//! device does with writes that need not be durable, with the flushes behind them, with small writes all over a region, and with
//! several streams at once; and merges of several sizes, since a single one does not say how much of it is copying.

use crate::Choice;
use crate::situation::assumed_unit;
use flashscope_model::plan::{Pattern, PatternPart, Patterns};
use flashscope_model::{DeviceFacts, Direction, Experiment, Geometry, Order};
use flashscope_units::{Bytes, Nanos};

/// The device is left alone for so long before the first pattern, so that what an inspection left behind is done.
const REST: Nanos = Nanos::secs(5);
/// … and before each later one, so that a pattern does not pay for the one before it.
const SHORT_REST: Nanos = Nanos::millis(200);
/// Region of random requests, where the device is large enough.
const REGION: Bytes = Bytes::mib(32);
/// Region of requests that hardly ever meet in a unit.
const WIDE: Bytes = Bytes::gib(1);
/// Each stream has this much for itself, or a unit where that is more.
const STREAM: Bytes = Bytes::mib(16);
/// Streams at most.
const STREAMS: u64 = 6;
/// No more of the device than this share lies between the first region and the last.
const SHARE: u64 = 2;

/// Why several kinds of requests are done together.
const HELD_OUT: &str = "several kinds of requests together: a twin is fitted to the others, and tried on these";

/// The experiments that `inspect --for-twin` adds, given what was found; none where the device is too small for them.
pub fn for_twin(device: &DeviceFacts, found: &Geometry) -> Vec<Choice> {
    Places::new(device, found).map_or_else(Vec::new, |places| places.choices())
}

/// What they write at the most, whatever is found.
pub fn most_for_twin(device: &DeviceFacts) -> Bytes {
    let unit = device.logical_block.max(Bytes::kib(4));
    let choices = Places::with(device, unit, Bytes::ZERO).map_or_else(Vec::new, |places| places.choices());
    choices.iter().map(|choice| choice.experiment.bytes_written()).sum()
}

/// Where the requests go.
struct Places {
    /// Random requests.
    region: (Bytes, Bytes),
    /// Starts of the streams, each `stream` long.
    streams: Vec<Bytes>,
    stream: Bytes,
    /// The whole device, for reads.
    capacity: Bytes,
}

impl Places {
    /// Regions lie one behind the other from a quarter of the device on, each in units of its own.
    fn new(device: &DeviceFacts, found: &Geometry) -> Option<Places> {
        let unit = found.allocation_unit.value().unwrap_or_else(|| assumed_unit(device));
        Places::with(device, unit, found.boundary_offset.value().unwrap_or(Bytes::ZERO))
    }

    fn with(device: &DeviceFacts, unit: Bytes, offset: Bytes) -> Option<Places> {
        let (stream, region) = (STREAM.align_up(unit), REGION.align_up(unit));
        let first = (device.capacity / 4).align_up(unit) + offset;
        let room = (device.capacity / SHARE).saturating_sub(region + unit * 2);
        let count = (room / (stream + unit)).min(STREAMS);
        let streams = (0..count).map(|index| first + region + unit + (stream + unit) * index).collect();
        (count >= 2 && device.logical_block <= Bytes::kib(4)).then_some(Places {
            region: (first, REGION.min(region)),
            streams,
            stream,
            capacity: device.capacity.align_down(Bytes::mib(1)),
        })
    }

    fn choices(&self) -> Vec<Choice> {
        let parts = [
            (streams(self), "what streams, flushes and writes that need not be durable take"),
            (merges(self), "random writes of several sizes: what a merge copies, and what it costs besides"),
            (small(self), "small writes over and over, and the flushes behind them"),
            (reads(self), "reads of several sizes"),
            (mixed(self), HELD_OUT),
        ];
        let choice = |(patterns, why): (Vec<Pattern>, &str)| Choice {
            experiment: Experiment::Patterns(Patterns { patterns }),
            why: why.to_owned(),
        };
        parts.into_iter().map(choice).collect()
    }

    fn stream(&self, index: usize, block: Bytes) -> PatternPart {
        let (direction, order) = (Direction::Write, Order::InOrder);
        PatternPart { direction, order, block, start: self.streams[index], length: self.stream, requests: 1 }
    }

    fn all_streams(&self, most: usize, block: Bytes) -> Vec<PatternPart> {
        (0..self.streams.len().min(most)).map(|index| self.stream(index, block)).collect()
    }

    fn random(&self, block: Bytes, within: Bytes) -> PatternPart {
        let (start, length) = (self.region.0, self.region.1.min(within));
        PatternPart { direction: Direction::Write, order: Order::Random, block, start, length, requests: 1 }
    }

    /// Random writes that begin another unit each time, far from its start.
    fn wide(&self, block: Bytes) -> PatternPart {
        let length = (self.capacity - self.region.0).min(WIDE).align_down(Bytes::mib(1));
        PatternPart { length, ..self.random(block, REGION) }
    }

    fn read(&self, block: Bytes, order: Order) -> PatternPart {
        let (start, length) = (Bytes::ZERO, self.capacity);
        PatternPart { direction: Direction::Read, order, block, start, length, requests: 1 }
    }
}

fn pattern(rounds: u32, flush_every: u32, parts: Vec<PatternPart>) -> Pattern {
    Pattern { rest: SHORT_REST, rounds, flush_every, durable: false, parts }
}

/// The first pattern after a longer rest.
fn rested(mut patterns: Vec<Pattern>) -> Vec<Pattern> {
    if let Some(first) = patterns.first_mut() {
        first.rest = REST;
    }
    patterns
}

fn streams(places: &Places) -> Vec<Pattern> {
    let one = |block: u64| vec![places.stream(0, Bytes::kib(block))];
    rested(vec![
        pattern(64, 0, one(512)),
        pattern(48, 8, one(512)),
        pattern(96, 0, one(128)),
        pattern(128, 16, one(32)),
        pattern(192, 0, one(4)),
        pattern(100, 1, one(12)),
        pattern(32, 0, places.all_streams(2, Bytes::kib(64))),
        pattern(32, 0, places.all_streams(4, Bytes::kib(64))),
        pattern(24, 0, places.all_streams(6, Bytes::kib(64))),
        pattern(10, 0, places.all_streams(4, Bytes::kib(512))),
        pattern(24, 4, places.all_streams(3, Bytes::kib(128))),
    ])
}

fn merges(places: &Places) -> Vec<Pattern> {
    let wide = |block: u64| vec![places.wide(Bytes::kib(block))];
    let random = |block: u64, within: Bytes| vec![places.random(Bytes::kib(block), within)];
    rested(vec![
        pattern(64, 0, random(16, Bytes::mib(4))),
        pattern(64, 0, random(16, Bytes::mib(32))),
        pattern(48, 0, random(64, Bytes::mib(8))),
        pattern(48, 4, random(64, Bytes::mib(32))),
        pattern(32, 0, random(256, Bytes::mib(32))),
        pattern(24, 0, random(512, Bytes::mib(32))),
        pattern(64, 0, wide(16)),
        pattern(48, 4, wide(128)),
        pattern(24, 0, wide(512)),
    ])
}

fn small(places: &Places) -> Vec<Pattern> {
    let random = |block: u64, within: Bytes| vec![places.random(Bytes::kib(block), within)];
    let durable = |patterns: Pattern| Pattern { durable: true, ..patterns };
    let start = PatternPart { start: Bytes::ZERO, ..places.random(Bytes::kib(4), Bytes::mib(1)) };
    rested(vec![
        pattern(300, 0, random(4, Bytes::kib(64))),
        pattern(500, 0, random(4, Bytes::mib(16))),
        pattern(200, 1, random(4, Bytes::mib(16))),
        pattern(300, 4, random(4, Bytes::mib(32))),
        pattern(200, 0, random(8, Bytes::mib(16))),
        pattern(200, 8, vec![places.wide(Bytes::kib(4))]),
        durable(pattern(64, 0, random(4, Bytes::mib(16)))),
        durable(pattern(64, 0, vec![places.stream(0, Bytes::kib(4))])),
        pattern(64, 1, vec![start]),
    ])
}

fn reads(places: &Places) -> Vec<Pattern> {
    let random = |block: u64| vec![places.read(Bytes::kib(block), Order::Random)];
    let in_order = |block: u64| {
        let start = places.streams[1];
        vec![PatternPart { start, length: places.stream, ..places.read(Bytes::kib(block), Order::InOrder) }]
    };
    let of_small = PatternPart { direction: Direction::Read, ..places.random(Bytes::kib(4), Bytes::mib(16)) };
    rested(vec![
        pattern(200, 0, random(4)),
        pattern(100, 0, random(16)),
        pattern(80, 0, random(64)),
        pattern(60, 0, random(128)),
        pattern(40, 0, random(512)),
        pattern(128, 0, in_order(4)),
        pattern(64, 0, in_order(128)),
        pattern(32, 0, in_order(512)),
        pattern(150, 0, vec![of_small]),
    ])
}

/// Three of several kinds of requests.
fn mixed(places: &Places) -> Vec<Pattern> {
    let journal = places.stream(0, Bytes::kib(16));
    let pages = PatternPart { requests: 2, ..places.random(Bytes::kib(8), Bytes::mib(24)) };
    let looked_up =
        PatternPart { direction: Direction::Read, requests: 3, ..places.random(Bytes::kib(4), Bytes::mib(24)) };
    let file = PatternPart { requests: 4, ..places.stream(1, Bytes::kib(256)) };
    let metadata = places.random(Bytes::kib(4), Bytes::mib(8));
    let read = PatternPart { requests: 4, ..places.read(Bytes::kib(32), Order::Random) };
    rested(vec![
        pattern(100, 1, vec![journal, pages]),
        pattern(24, 2, vec![file, metadata, read]),
        pattern(80, 8, [places.all_streams(3, Bytes::kib(32)), vec![pages, looked_up]].concat()),
    ])
}

#[cfg(test)]
mod tests;
