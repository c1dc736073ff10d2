//! The experiments that write: a fill for blank devices, open units, one unit sequentially and randomly, the area at the
//! start, and the writing half of the table. Each takes fresh units, and as few bytes as a decision needs.

mod area;
mod filling;
mod one_unit;
mod speed;
mod units;

pub(crate) use area::{area, left_for_area, most_area};
pub(crate) use filling::{fill, most_fill};
pub(crate) use one_unit::{left_for_one_unit, longer, most_longer, most_one_unit, one_unit};
pub(crate) use speed::{CELL_COUNT, most_cells, performance};
pub(crate) use units::{
    escape, left_for_random, most_escape, most_other_block, most_trials, most_trials_at_outset, open_units, other_block,
};

use crate::pool::filled;
use crate::situation::Situation;
use flashscope_model::plan::{Purpose, Throughput};
use flashscope_model::{Direction, Experiment, Order};
use flashscope_units::{Bytes, Nanos};

/// A unit must hold this many blocks of the leading size: eight rounds of the second size, twice as large.
const LEAST_BLOCKS: u64 = 16;

/// Blocks of trials are larger than any small write that takes a way of its own (16 KiB), and as small as that allows:
/// what a copy costs stands out the more, the less is written.
const LEAST_TRIAL_BLOCK: Bytes = Bytes::kib(32);

/// A level inside a page is no less than this part of it.
const MOST_LEVELS: u64 = 4;

/// Where the page is not known: whole pages of every usual size, of cards with three dies as well.
const SAFE_BLOCKS: [Bytes; 4] = [Bytes::kib(64), Bytes::kib(96), Bytes::kib(48), Bytes::kib(32)];

/// Whole pages of every usual size whatever the unit, where that is not known either.
const SAFEST_BLOCK: Bytes = Bytes::kib(192);

/// Write budget from which on blocks may be three times as large to be safe.
const LARGE_BUDGET: Bytes = Bytes::mib(256);

/// Where so little may be written, beside what fills a blank device, searches are short of it: blocks are no longer than
/// must be, and rounds as few as still make a median, so that the limit is reached rather than one count be told well.
const SHORT_BUDGET: Bytes = Bytes::mib(192);

/// A write that takes this long is copied for, and a few of them are as steady as many others.
const COPIED_FOR: Nanos = Nanos::millis(100);

/// Device time of a look at one unit, after which fewer requests serve: where each of them is copied for, all take alike.
const TIME_OF_ONE_UNIT: Nanos = Nanos::secs(15);

/// Requests of a first look at one unit.
const MOST_OF_ONE_UNIT: u32 = 40;

fn throughput(
    direction: Direction,
    order: Order,
    block: Bytes,
    (start, length): (Bytes, Bytes),
    requests: u64,
    purpose: Purpose,
) -> Experiment {
    let length = length.align_down(block);
    let requests = u32::try_from(requests).unwrap_or(u32::MAX);
    // Another experiment goes by how many requests a longer look at one unit has.
    let most_time = (purpose == Purpose::OneUnit && requests <= MOST_OF_ONE_UNIT).then_some(TIME_OF_ONE_UNIT);
    Experiment::Throughput(Throughput { direction, order, block, start, length, requests, most_time, purpose })
}

/// The leading block size of trials of several units, and the second one: whole pages, since a write that ends within
/// a page is followed by one that is out of order.
fn trial_blocks(now: &Situation) -> [Bytes; 2] {
    let lead = now.trial_block().or_else(|| page_block(now)).unwrap_or_else(|| safe_block(now));
    [lead, lead * 2]
}

/// Whole pages, where the page is known; what was taken for a page may be a level within one.
fn page_block(now: &Situation) -> Option<Bytes> {
    let page = now.page()?;
    let levels = if is_short(now) { 1 } else { MOST_LEVELS };
    let least = (page * levels).clamp(LEAST_TRIAL_BLOCK, LEAST_TRIAL_BLOCK * 2);
    let plain = least.align_up(page);
    // A unit with a factor of three may have pages with one, where there is room for whole pages of both kinds.
    let three = now.unit().is_multiple_of(Bytes::kib(3)) && !page.is_multiple_of(Bytes::kib(3));
    let both = (plain / 2 * 3).align_up(page);
    let fits = |block: &Bytes| *block * LEAST_BLOCKS <= now.unit();
    [both, plain].into_iter().skip(usize::from(!three)).map(|block| now.block(block)).find(fits)
}

/// A block that is likely to be whole pages: it divides the unit, so that it shares its odd factors.
fn safe_block(now: &Situation) -> Bytes {
    let fits = |size: &Bytes| {
        size.is_multiple_of(now.device.logical_block)
            && now.unit().is_multiple_of(*size)
            && *size * LEAST_BLOCKS <= now.unit()
    };
    // A unit with a factor of three may have pages with one.
    let three = now.unit().is_multiple_of(Bytes::kib(3));
    if (three || !now.unit_is_measured())
        && now.write_budget >= LARGE_BUDGET
        && SAFEST_BLOCK * LEAST_BLOCKS <= now.unit()
    {
        return SAFEST_BLOCK;
    }
    let mut sizes = SAFE_BLOCKS.into_iter().filter(|size| three == size.is_multiple_of(Bytes::kib(3)));
    sizes.find(fits).unwrap_or_else(|| {
        let halves = std::iter::successors(Some(now.unit()), |size| Some(*size / 2));
        let whole = halves
            .take(16)
            .filter(|size| *size >= now.device.logical_block && size.is_multiple_of(now.device.logical_block))
            .find(|size| *size * LEAST_BLOCKS <= now.unit());
        whole.unwrap_or(now.block((now.unit() / LEAST_BLOCKS).align_down(now.device.logical_block)))
    })
}

/// Whether searches are short of what may be written.
fn is_short(now: &Situation) -> bool {
    let filled = filled(now.observations).map_or(Bytes::ZERO, |region| region.length);
    now.write_budget.saturating_sub(filled) < SHORT_BUDGET
}
