//! One unit, written sequentially and randomly at several block sizes: the random-order penalty and the small-write path.

use super::{COPIED_FOR, throughput};
use crate::situation::Situation;
use crate::{Choice, open_units, penalty};
use flashscope_model::plan::Purpose;
use flashscope_model::{Data, Direction, Order};
use flashscope_units::{Bytes, Nanos};

/// Block sizes at which one unit is written sequentially and randomly.
const ONE_UNIT_BLOCKS: [Bytes; 6] =
    [Bytes::kib(16), Bytes::kib(8), Bytes::kib(4), Bytes::kib(32), Bytes::kib(64), Bytes::kib(2)];

/// Requests to one unit: enough for a median, few enough for a card that copies a unit for each.
const ONE_UNIT_REQUESTS: u32 = 40;
/// Fewest requests to one unit, where the write budget is small.
const LEAST_ONE_UNIT_REQUESTS: u64 = 16;

/// No single block size of one unit takes more than this share of all that may be written.
const ONE_UNIT_SHARE: u64 = 96;

/// Part of a unit that is written once more, for longer, where order seems to cost nothing.
const LONGER_PART: u64 = 8;
/// Blocks of a small unit that are written once more.
const LONGER_REQUESTS: u64 = 512;

/// Share of the write budget that this second look may take.
const LONGER_SHARE: u64 = 64;
/// How many times [`ONE_UNIT_REQUESTS`] a second look must have.
const LONGER: u64 = 3;

/// One unit, sequentially and randomly, at the next block size.
pub(crate) fn one_unit(now: &Situation) -> Option<Choice> {
    let (block, order) = ONE_UNIT_BLOCKS
        .iter()
        .filter(|block| **block >= now.device.logical_block && **block * 16 <= now.unit())
        .flat_map(|block| [(*block, Order::InOrder), (*block, Order::Random)])
        .find(|(block, order)| !now.has_throughput(Purpose::OneUnit, Direction::Write, *order, *block))?;
    let pool = now.pool();
    let start = pool.take(1, &mut now.rng(block.get()))?[0];
    let requests = one_unit_requests(now.write_budget, block).min(now.unit() / block);
    let why = format!("one unit {} at {block}: random-order penalty and small-write path", open_units::words(order));
    let experiment = throughput(Direction::Write, order, block, (start, now.unit()), requests, Purpose::OneUnit);
    Some(Choice { experiment, why })
}

/// One unit once more, for longer, at the small block at which order seems to cost nothing: some controllers take the first
/// hundreds of small writes into a log, and what that costs shows when it is full.
pub(crate) fn longer(now: &Situation) -> Option<Choice> {
    let block = penalty::unsettled(now.observations)?;
    let requests = longer_requests(now, block)?;
    let done = |wanted: Order| {
        now.has(|data| {
            matches!(data, Data::Throughput(found)
                if (found.purpose, found.order, found.block) == (Purpose::OneUnit, wanted, block)
                    && found.times.len() as u64 >= requests)
        })
    };
    let order = [Order::InOrder, Order::Random].into_iter().find(|order| !done(*order))?;
    let start = now.pool().take(1, &mut now.rng(block.get() + 3))?[0];
    let why = format!("one unit {} at {block} for longer: a log may be full later", open_units::words(order));
    let experiment = throughput(Direction::Write, order, block, (start, now.unit()), requests, Purpose::OneUnit);
    Some(Choice { experiment, why })
}

/// Whether sequential writes of this size are copied for already, as those behind them will be.
fn each_is_copied_for(now: &Situation, block: Bytes) -> bool {
    now.has(|data| {
        matches!(data, Data::Throughput(found)
            if (found.purpose, found.order, found.block) == (Purpose::OneUnit, Order::InOrder, block)
                && found.times.iter().copied().sum::<Nanos>() >= COPIED_FOR * found.times.len() as u64)
    })
}

/// Requests of the longer look at one unit; `None` where it would be hardly longer.
fn longer_requests(now: &Situation, block: Bytes) -> Option<u64> {
    let whole = now.unit() / block;
    let requests = (whole / LONGER_PART).max(whole.min(LONGER_REQUESTS)).min(now.write_budget / LONGER_SHARE / block);
    let least = LONGER * u64::from(ONE_UNIT_REQUESTS);
    let requests = if each_is_copied_for(now, block) { requests.min(least) } else { requests };
    (requests >= least).then_some(requests)
}

/// What the longer look takes at the worst: each of the small blocks in both orders.
pub(crate) fn most_longer(now: &Situation) -> Bytes {
    let Some(block) = penalty::unsettled(now.observations) else { return Bytes::ZERO };
    longer_requests(now, block).map_or(Bytes::ZERO, |requests| block * requests * 2)
}

/// Requests to one unit at one block size, given all that may be written.
fn one_unit_requests(write_budget: Bytes, block: Bytes) -> u64 {
    (write_budget / ONE_UNIT_SHARE / block).clamp(LEAST_ONE_UNIT_REQUESTS, ONE_UNIT_REQUESTS.into())
}

/// What the rest of one unit, sequentially and randomly, takes.
pub(crate) fn left_for_one_unit(now: &Situation) -> Bytes {
    let done = |block: Bytes, order| now.has_throughput(Purpose::OneUnit, Direction::Write, order, block);
    let each = |block: Bytes| {
        let left = [Order::InOrder, Order::Random].into_iter().filter(|order| !done(block, *order)).count() as u64;
        block * (one_unit_requests(now.write_budget, block) * left)
    };
    ONE_UNIT_BLOCKS.into_iter().map(each).sum()
}

/// What one unit sequentially and randomly takes.
pub(crate) fn most_one_unit(write_budget: Bytes) -> Bytes {
    ONE_UNIT_BLOCKS.iter().map(|block| *block * one_unit_requests(write_budget, *block) * 2).sum()
}
