//! Trials of several units in turn: the search for how many can be open, and what escapes its copies.

use super::filling::{filling, more_filled};
use super::{COPIED_FOR, LEAST_BLOCKS, is_short, trial_blocks};
use crate::numbers::median;
use crate::open_units::{self, search};
use crate::pool::Pool;
use crate::situation::Situation;
use crate::{Choice, small_write};
use flashscope_model::plan::{Enough, OpenUnits};
use flashscope_model::{DeviceFacts, Experiment, Order};
use flashscope_units::{Bytes, Nanos};

/// Rounds of a trial of several units: two that pay for what was open before, and eight that count.
const ROUNDS: u32 = 10;

/// Number of units from which on each round is a mean of many writes, so that fewer rounds serve.
const MANY_UNITS: u32 = 12;

/// Rounds of a trial from [`MANY_UNITS`] on.
const ROUNDS_OF_MANY: u32 = 5;

/// Units from which on still fewer rounds serve.
const MOST_MANY_UNITS: u32 = 32;

/// Rounds of a trial from [`MOST_MANY_UNITS`] on.
const ROUNDS_OF_MOST: u32 = 4;

/// Rounds of a single unit, whose rounds hold one write only.
const ROUNDS_OF_ONE: u32 = 26;

/// Rounds of a single unit where the write budget is small.
const SHORT_ROUNDS_OF_ONE: u32 = 12;

/// Rounds of several units where the write budget is small.
const SHORT_ROUNDS: u32 = 5;

/// Rounds to each unit of a trial until what was open before is gone: where each write that is slow closes any one of as many
/// units, nine in ten are settled after half of them.
const SETTLED: u32 = 5;

/// How often each of this many units is written.
fn rounds_of(now: &Situation, count: u32) -> u32 {
    match (count, is_short(now)) {
        (1, false) => ROUNDS_OF_ONE,
        (1, true) => SHORT_ROUNDS_OF_ONE,
        (2..MANY_UNITS, false) => ROUNDS,
        (2..MANY_UNITS, true) => SHORT_ROUNDS,
        (MANY_UNITS..MOST_MANY_UNITS, false) => ROUNDS_OF_MANY,
        _ => ROUNDS_OF_MOST,
    }
}

/// When a trial need not go on: its writes are copied for, or plainly slower than those of the largest count that is good.
/// Before any is known, all rounds are done.
fn enough(now: &Situation, order: Order, count: u32, block: Bytes) -> Option<Enough> {
    if count == 1 {
        let few = SHORT_ROUNDS_OF_ONE;
        return Some(Enough { slow: COPIED_FOR, rounds: few, requests: few.into(), fast_rounds: None });
    }
    let lead = trial_blocks(now)[0];
    let counts = open_units::live_counts(now.observations, order);
    let good = open_units::state(&counts, lead, order).good?;
    let trial = counts.iter().find(|trial| (trial.block, trial.count) == (lead, good))?;
    let longer = (block.as_f64() / lead.as_f64()).max(1.0);
    let each = (median(&trial.seconds)? * longer * open_units::COLLAPSE).min(COPIED_FOR.as_secs_f64());
    let slow = Nanos((each * 1e9) as u64);
    Some(Enough { slow, rounds: ROUNDS_OF_MOST, requests: open_units::PLAINLY_MANY as u64, fast_rounds: None })
}

/// The most units that trials can have: the first round of a trial, which does not count, begins a unit anew that was
/// written before.
fn most_units(pool: &Pool) -> u32 {
    u32::try_from(pool.size()).unwrap_or(u32::MAX).clamp(1, search::MOST_UNITS)
}

/// The next count of units to write in turn.
pub(crate) fn open_units(now: &Situation, order: Order) -> Option<Choice> {
    let pool = now.pool();
    let trial = search::next_trial(now.observations, order, trial_blocks(now)[0], bounds(now, order, pool))?;
    more_filled(now, trial.count).or_else(|| one_trial(now, order, trial, pool))
}

/// The limits again at a second block size.
pub(crate) fn other_block(now: &Situation) -> Option<Choice> {
    let pool = now.pool();
    let limit = |order| open_units::estimate(now.observations, order).value();
    // A limit that is the same in either order need not be tried twice.
    let same = limit(Order::InOrder).is_some() && limit(Order::InOrder) == limit(Order::Random);
    let orders = if same { &[Order::InOrder][..] } else { &[Order::InOrder, Order::Random] };
    orders.iter().find_map(|order| {
        let order = *order;
        let bounds = bounds(now, order, pool);
        let trial = search::second_trial(now.observations, order, trial_blocks(now), bounds)?;
        more_filled(now, trial.count).or_else(|| one_trial(now, order, trial, pool))
    })
}

fn bounds(now: &Situation, order: Order, pool: &Pool) -> search::Bounds {
    let most = filling(now).map_or(most_units(pool), |(ready, more)| (ready + more).clamp(1, search::MOST_UNITS));
    search::Bounds::of(now.observations, order, trial_blocks(now)[0], most, !is_short(now))
}

fn one_trial(now: &Situation, order: Order, trial: search::Trial, pool: &Pool) -> Option<Choice> {
    let subject = u64::from(trial.count) * 2 + u64::from(order == Order::Random);
    let units = pool.take(trial.count as usize, &mut now.rng(subject))?;
    let settling = trial.settling.filter(|_| !is_short(now));
    let rounds = match (trial.again, is_short(now)) {
        (true, true) => rounds_of(now, trial.count) * 2,
        _ if settling.is_some() => ROUNDS.max(trial.count * SETTLED),
        _ => rounds_of(now, trial.count),
    };
    let whole = u32::try_from(now.unit() / trial.block).unwrap_or(u32::MAX);
    // At random a log that is full is merged: none may be while a trial settles.
    let most = if settling.is_some() && order == Order::Random { whole / 2 } else { whole };
    let rounds = rounds.min(most);
    let units_in_words = if trial.count == 1 { "one unit".to_owned() } else { format!("{} units", trial.count) };
    let why = format!("{units_in_words} {}: {}", open_units::words(order), trial.why);
    // What settles is slow for long before it is not, and then never again.
    let enough = enough(now, order, trial.count, trial.block).map(|enough| match settling {
        Some(each) => {
            let most = (TIME_TO_SETTLE / (each * f64::from(trial.count))) as u32;
            let fast_rounds = Some(open_units::LAST_ROUNDS);
            Enough { rounds: most.min(rounds / 2).max(ROUNDS), requests: u64::MAX, fast_rounds, ..enough }
        }
        None => enough,
    });
    let plan =
        OpenUnits { order, unit: now.unit(), block: trial.block, rounds, units, first_offset: Bytes::ZERO, enough };
    Some(Choice { experiment: Experiment::OpenUnits(plan), why })
}

/// What the first steps of a search at random take, up to the count that is the likeliest limit: that of the search in
/// order so far. Nothing once they were done.
pub(crate) fn left_for_random(now: &Situation) -> Bytes {
    let lead = trial_blocks(now)[0];
    let seen = open_units::state(&open_units::live_counts(now.observations, Order::InOrder), lead, Order::InOrder);
    let likely = seen.good.unwrap_or(1);
    let steps = search::left(now.observations, Order::Random, lead, likely);
    lead * steps.into_iter().map(|count| u64::from(count) * u64::from(rounds_of(now, count))).sum::<u64>()
}

/// Block sizes that are tried beyond the open units, where every write that does not take another way costs a copy.
/// Where the smallest takes none, no other does. Of those, large ones come first: what escapes fills a log, which would be full
/// when the next are tried.
const ESCAPE_BLOCKS: [Bytes; 4] = [Bytes::kib(4), Bytes::kib(32), Bytes::kib(16), Bytes::kib(8)];

/// Device time of a trial that goes on until what others left is gone.
const TIME_TO_SETTLE: f64 = 300.0;

/// Small writes beyond the open units: a separate path shows there even where one unit at random costs nothing.
pub(crate) fn escape(now: &Situation) -> Option<Choice> {
    if small_write::estimate(now.observations).value().is_some() {
        return None;
    }
    let (order, count) = [Order::Random, Order::InOrder].into_iter().find_map(|order| {
        let limit = open_units::estimate(now.observations, order).value()?;
        Some((order, limit + 1))
    })?;
    let tried = open_units::live_counts(now.observations, order);
    let of = |block: Bytes| tried.iter().find(|trial| (trial.block, trial.count) == (block, count));
    let fits = |block: &Bytes| *block >= now.device.logical_block && *block * u64::from(ROUNDS) <= now.unit();
    let mut blocks = ESCAPE_BLOCKS.into_iter().filter(fits).peekable();
    let took = |block: Bytes| of(block).and_then(|trial| median(&trial.seconds));
    let copied_for = blocks.peek().and_then(|smallest| took(*smallest)).zip(took(trial_blocks(now)[0]));
    if copied_for.is_some_and(|(smallest, whole)| smallest > whole / small_write::FASTER) {
        return None;
    }
    let block = blocks.find(|block| of(*block).is_none())?;
    let pool = now.pool();
    let units = pool.take(count as usize, &mut now.rng(block.get() + 2))?;
    let rounds = rounds_of(now, count.max(2));
    let enough = enough(now, order, count, block).map(|enough| Enough { rounds: SHORT_ROUNDS, ..enough });
    let plan = OpenUnits { order, unit: now.unit(), block, rounds, units, first_offset: Bytes::ZERO, enough };
    let why =
        format!("{count} units {} are too many: do writes of {block} escape the copies?", open_units::words(order));
    Some(Choice { experiment: Experiment::OpenUnits(plan), why })
}

/// What a search for open units can write at the worst, before anything is known of the device: blocks of whole pages, of up
/// to twice the usual size where the page is not known.
pub(crate) fn most_trials_at_outset(device: &DeviceFacts, unit: Bytes) -> Bytes {
    let lead = (unit / LEAST_BLOCKS).min(Bytes::kib(96)).max(device.logical_block);
    lead * (search_units(search::MOST_UNITS) * u64::from(ROUNDS_OF_MANY))
}

/// Writes per round of a whole search among this many units: the bracket doubles up to the most units, a bisection takes
/// six more trials at the worst, a confirmation four, and the second block size two of twice the size.
fn search_units(most: u32) -> u64 {
    (2 + 6 + 4 + 2 * 2) * u64::from(most)
}

/// What the search for open units can still write: no more units than the pool holds, nor than have fallen already.
pub(crate) fn most_trials(now: &Situation, order: Order) -> Bytes {
    let pool = now.pool();
    let [lead, _] = trial_blocks(now);
    let seen = open_units::state(&open_units::live_counts(now.observations, order), lead, order);
    let most = seen.fallen.unwrap_or(search::MOST_UNITS).min(most_units(pool));
    lead * (search_units(most) * u64::from(rounds_of(now, most.max(2))))
}

/// What the limits at a second block size can still take.
pub(crate) fn most_other_block(now: &Situation) -> Bytes {
    let [lead, second] = trial_blocks(now);
    let each = |order: Order| {
        let seen = open_units::state(&open_units::live_counts(now.observations, order), lead, order);
        let count = seen.fallen.or(seen.good).unwrap_or(1);
        second * (2 * u64::from(count) * u64::from(rounds_of(now, count)))
    };
    each(Order::InOrder) + each(Order::Random)
}

/// What small writes beyond the open units take at the worst.
pub(crate) fn most_escape() -> Bytes {
    let units = u64::from(search::MOST_UNITS) + 1;
    ESCAPE_BLOCKS.iter().map(|block| *block * (u64::from(ROUNDS) * units)).sum()
}
