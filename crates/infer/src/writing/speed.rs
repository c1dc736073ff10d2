//! The writing half of the performance table, measured until the rate no longer changes.
//!
//! Sequential cells come before random ones, which leave every unit that they touch open; large blocks come before small ones, so
//! that the first cell of either kind closes what was left open ([`crate::performance::course`]). A cell goes on for five seconds
//! (three at random), or until it has the thousand requests of a 99th percentile, whichever is first; and once more where the rate is
//! not known well enough by then, or changed on the way and what follows is too short to tell how fast it is.

use crate::Choice;
use crate::performance::course::{AFTER_CLOSING, cells_of, courses, open_at_once};
use crate::reading::readable;
use crate::situation::Situation;
use crate::small_write;
use flashscope_model::plan::{Purpose, Span, Throughput};
use flashscope_model::{Direction, Experiment, Observations, Order};
use flashscope_stats::sustained::sustained;
use flashscope_units::{Bytes, Nanos};

/// Block size, order, requests wanted, and requests of blocks that take a separate path, whose log is to be full in the end.
const CELLS: [(Bytes, Order, u64, u64); 8] = [
    (Bytes::mib(1), Order::InOrder, 24, 24),
    (Bytes::kib(128), Order::InOrder, 128, 128),
    (Bytes::kib(16), Order::InOrder, 1024, 1024),
    (Bytes::kib(4), Order::InOrder, 1024, 4096),
    (CLOSING, Order::Random, 64, 64),
    (Bytes::mib(1), Order::Random, 24, 24),
    (Bytes::kib(16), Order::Random, 1024, 1024),
    (Bytes::kib(4), Order::Random, 1024, 4096),
];

/// Cells of the performance table that are written.
pub(crate) const CELL_COUNT: usize = CELLS.len();

/// The size of the first random writes: they close what writes in order left open, so that it takes little writing.
const CLOSING: Bytes = Bytes::kib(128);

/// Device time that closing many units is worth beside.
const CLOSING_TIME: Nanos = Nanos::secs(35);

/// More units than this are not closed within the time of any cell.
const FEW_UNITS: u64 = 16;

/// Device time of one run of a cell: sequential ones tell of stalls as well, which are rare.
const fn time_of(order: Order) -> Nanos {
    match order {
        Order::InOrder => Nanos::secs(5),
        Order::Random => Nanos::secs(3),
    }
}

/// Device time of a cell, all its runs together, to that of one, after which it is left as it is.
const MOST_TIMES: u64 = 2;

/// A rate is known well enough where the highest that it may be is no more than this times the lowest.
const NARROW: f64 = 1.5;

/// Requests that must have been made at the rate that is stated.
const LEAST_SETTLED: usize = 24;

/// Units that large sequential writes go through once nothing is left open: what it costs to go from one to the next is part of
/// their rate.
const UNITS: u64 = 3;

/// Closing what was left open is worth this much writing, …
const MOST_CLOSING: Bytes = Bytes::mib(64);

/// … and no cell takes more than this, …
const MOST: Bytes = Bytes::mib(96);

/// … nor more than this share of all that may be written.
const SHARE: u64 = 16;

/// The next cell of the performance table that was not written, or not for long enough.
pub(crate) fn performance(now: &Situation) -> Option<Choice> {
    let wanted =
        CELLS.iter().map(|cell| (now.block(cell.0), *cell)).filter(|(block, _)| *block * 64 <= now.device.capacity);
    let small = small_write::estimate(now.observations).value();
    let mut open = wanted.filter_map(|(block, (_, order, requests, of_small))| {
        let is_small = small.is_some_and(|limit| block <= limit);
        let requests = if is_small { of_small } else { requests };
        cell(now, block, order, requests)
    });
    let first = open.next()?;
    // Where little may be written, what it covers is measured rather than nothing.
    let left = now.write_budget.saturating_sub(now.observations.spent().written);
    let fits = |choice: &Choice| choice.experiment.bytes_written() <= left;
    if fits(&first) { Some(first) } else { open.find(fits).or(Some(first)) }
}

/// The next run of one cell; `None` where it is settled.
fn cell(now: &Situation, block: Bytes, order: Order, requests: u64) -> Option<Choice> {
    let done = Done::of(now.observations, block, order);
    if done.is_enough(requests) {
        return None;
    }
    let time = time_of(order);
    let closing = open_at_once(now.observations).map_or(0, |(count, _)| count);
    let (requests, time) = match order {
        Order::Random if block == CLOSING && done.runs == 0 => {
            let time = if closing > FEW_UNITS { time + CLOSING_TIME } else { time };
            (requests.max(closing + AFTER_CLOSING as u64), time)
        }
        _ => (requests, time),
    };
    let most = MOST.min(now.write_budget / SHARE).min(now.device.capacity / 8);
    let wanted = match order {
        Order::InOrder if requests < 1000 => (block * requests).max(in_units(now, block, most)),
        _ => block * requests,
    };
    let bytes = wanted.min(most).align_down(block).max(block);
    let why = match done.runs {
        0 => "a cell of the performance table",
        _ => "a cell of the performance table once more: its rate had changed on the way, or is not well known yet",
    };
    let part = match order {
        Order::InOrder => {
            let start = now.pool().stretch(bytes, now.device.capacity, &mut now.rng(block.get() + 1))?;
            Span { start, length: bytes }
        }
        Order::Random => scattered(now, block),
    };
    let experiment = Experiment::Throughput(Throughput {
        direction: Direction::Write,
        order,
        block,
        start: part.start,
        length: part.length,
        requests: u32::try_from(bytes / block).unwrap_or(u32::MAX),
        most_time: Some(time),
        purpose: Purpose::Performance,
    });
    Some(Choice { experiment, why: why.into() })
}

/// Enough units in order; the first cell opens as many as can be open beside, so that nothing is left of what was.
fn in_units(now: &Situation, block: Bytes, most: Bytes) -> Bytes {
    let own = now.unit() * UNITS;
    match open_at_once(now.observations) {
        Some((count, unit)) if block >= Bytes::mib(1) && unit * count <= MOST_CLOSING => (unit * count + own).min(most),
        _ => own.min(most),
    }
}

/// What random writes are spread over: all that holds data, as those of `bench` are.
fn scattered(now: &Situation, block: Bytes) -> Span {
    let whole = Span { start: Bytes::ZERO, length: now.device.capacity };
    let span = readable(now).filter(|span| span.length >= Bytes::mib(16)).unwrap_or(whole);
    Span { start: span.start, length: span.length.align_down(block) }
}

/// What the table may write, given all that may be written.
pub(crate) fn most_cells(write_budget: Bytes) -> Bytes {
    let most = MOST.min(write_budget / SHARE);
    let cell = |(block, order, requests, of_small): &(Bytes, Order, u64, u64)| match order {
        Order::InOrder if *requests < 1000 => most,
        _ => (*block * *requests.max(of_small)).min(most),
    };
    CELLS.iter().map(cell).sum()
}

/// What was done of a cell.
struct Done {
    order: Order,
    runs: usize,
    time: Nanos,
    times: Vec<f64>,
}

impl Done {
    fn of(observations: &Observations, block: Bytes, order: Order) -> Done {
        let key = (Direction::Write, order, block);
        let runs: Vec<_> =
            cells_of(observations).filter(|data| (data.direction, data.order, data.block) == key).collect();
        let time = runs.iter().flat_map(|data| &data.times).copied().sum();
        let kept = if runs.is_empty() { None } else { courses(observations).remove(&key) };
        let times = kept.unwrap_or_default().iter().map(|time| time.as_f64()).collect();
        Done { order, runs: runs.len(), time, times }
    }

    /// Whether the rate is known: it had settled, for long enough, and is known well.
    fn is_enough(&self, requests: u64) -> bool {
        if self.runs == 0 {
            return false;
        }
        let found = sustained(&self.times);
        let settled = found
            .as_ref()
            .is_ok_and(|found| found.is_settled && (found.from == 0 || self.times.len() - found.from >= LEAST_SETTLED));
        let narrow = found.is_ok_and(|found| found.high <= NARROW * found.low);
        let time = time_of(self.order);
        let long = self.time >= time || self.times.len() as u64 >= requests / 2;
        (settled && narrow && long) || self.time >= time * MOST_TIMES || self.runs > 2
    }
}
