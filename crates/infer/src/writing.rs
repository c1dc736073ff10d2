//! The experiments that write: a fill for blank devices, open units, one unit in order and at random, the area at the
//! start, and the writing half of the table. Each takes fresh units, and as few bytes as a decision needs.

mod filling;
mod one_unit;

pub(crate) use filling::{fill, most_fill};
pub(crate) use one_unit::{left_for_one_unit, longer, most_longer, most_one_unit, one_unit};

use crate::drive::slc_cache;
use crate::open_units::{self, search};
use crate::pool::{Pool, filled};
use crate::situation::Situation;
use crate::{Choice, fast_area, memory, small_write};
use filling::{filling, more_filled};
use flashscope_model::finding::AreaKind;
use flashscope_model::plan::{FastArea, OpenUnits, Purpose, Throughput};
use flashscope_model::{Data, DeviceFacts, Direction, Estimate, Experiment, Order};
use flashscope_units::Bytes;

/// Rounds of a trial of several units: two that pay for what was open before, and eight that count.
const ROUNDS: u32 = 10;

/// From so many units on each round is a mean of many writes, and fewer rounds serve.
const MANY_UNITS: u32 = 12;
const ROUNDS_OF_MANY: u32 = 5;
const MOST_MANY_UNITS: u32 = 32;
const ROUNDS_OF_MOST: u32 = 4;

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

/// From so much on that may be written, blocks may be three times as large to be safe.
const LARGE_PURSE: Bytes = Bytes::mib(256);

/// Rounds of a single unit, whose rounds hold one write only.
const ROUNDS_OF_ONE: u32 = 26;

/// Where so little may be written, beside what fills a blank device, searches are short of it: blocks are no longer than
/// must be, and rounds as few as still make a median, so that the limit is reached rather than one count be told well.
const SHORT_PURSE: Bytes = Bytes::mib(192);
const SHORT_ROUNDS_OF_ONE: u32 = 12;
const SHORT_ROUNDS: u32 = 5;

/// Units at the start that are looked at first, and by how many the search goes on while they differ.
const SUSPECTS: usize = 4;

/// The piece in front of the first whole unit is compared where it holds this many blocks.
const LEAST_OF_FRONT: u64 = 6;

/// No area at the start is followed further than this.
const MOST_SUSPECTS: usize = 32;

/// Block size, order and requests to each unit of the fast-area trials: large blocks show the rate of the flash, small
/// ones the cost of a request.
const AREA_TRIALS: [(Bytes, Order, u32); 3] =
    [(Bytes::kib(128), Order::InOrder, 16), (Bytes::kib(4), Order::Random, 24), (Bytes::kib(32), Order::Random, 12)];

/// Block size, order and requests of the writing cells, cheapest first.
const WRITE_CELLS: [(Bytes, Order, u32); 8] = [
    (Bytes::kib(4), Order::InOrder, 256),
    (Bytes::kib(4), Order::Random, 64),
    (Bytes::kib(16), Order::InOrder, 256),
    (Bytes::kib(16), Order::Random, 64),
    (Bytes::kib(128), Order::InOrder, 96),
    (Bytes::kib(128), Order::Random, 48),
    (Bytes::mib(1), Order::InOrder, 24),
    (Bytes::mib(1), Order::Random, 16),
];

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
    Experiment::Throughput(Throughput { direction, order, block, start, length, requests, purpose })
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
    if (three || !now.unit_is_measured()) && now.purse >= LARGE_PURSE && SAFEST_BLOCK * LEAST_BLOCKS <= now.unit() {
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
    now.purse.saturating_sub(filled) < SHORT_PURSE
}

/// How often each of so many units is written.
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

/// The most units that trials can have: the first round of a trial, which does not count, begins a unit anew that was
/// written before.
fn most_units(pool: &Pool) -> u32 {
    u32::try_from(pool.size()).unwrap_or(u32::MAX).clamp(1, search::MOST_UNITS)
}

/// The next count of units to write in turn.
pub(crate) fn open_units(now: &Situation, order: Order) -> Option<Choice> {
    let pool = now.pool();
    let trial = search::next_trial(now.observations, order, trial_blocks(now)[0], bounds(now, order, &pool))?;
    more_filled(now, trial.count).or_else(|| one_trial(now, order, trial, &pool))
}

/// The limits again at a second block size.
pub(crate) fn other_block(now: &Situation) -> Option<Choice> {
    let pool = now.pool();
    [Order::InOrder, Order::Random].into_iter().find_map(|order| {
        let bounds = bounds(now, order, &pool);
        let trial = search::second_trial(now.observations, order, trial_blocks(now), bounds)?;
        more_filled(now, trial.count).or_else(|| one_trial(now, order, trial, &pool))
    })
}

fn bounds(now: &Situation, order: Order, pool: &Pool) -> search::Bounds {
    let most = filling(now).map_or(most_units(pool), |(ready, more)| (ready + more).clamp(1, search::MOST_UNITS));
    search::Bounds::of(now.observations, order, trial_blocks(now)[0], most, !is_short(now))
}

fn one_trial(now: &Situation, order: Order, trial: search::Trial, pool: &Pool) -> Option<Choice> {
    let subject = u64::from(trial.count) * 2 + u64::from(order == Order::Random);
    let units = pool.take(trial.count as usize, &mut now.rng(subject))?;
    let times = if trial.again && is_short(now) { 2 } else { 1 };
    let rounds = (rounds_of(now, trial.count) * times).min(u32::try_from(now.unit() / trial.block).unwrap_or(u32::MAX));
    let units_in_words = if trial.count == 1 { "one unit".to_owned() } else { format!("{} units", trial.count) };
    let why = format!("{units_in_words} {}: {}", open_units::words(order), trial.why);
    let plan = OpenUnits { order, unit: now.unit(), block: trial.block, rounds, units, first_offset: Bytes::ZERO };
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

/// What the first look at the area at the start takes; nothing once it was looked at.
pub(crate) fn left_for_area(now: &Situation) -> Bytes {
    if now.has(|data| matches!(data, Data::FastArea(_))) {
        return Bytes::ZERO;
    }
    let each = |(block, order, requests): &(Bytes, Order, u32)| {
        area_block(now, *block, *order) * u64::from(area_requests(now, *requests))
    };
    AREA_TRIALS.iter().map(each).sum::<Bytes>() * (2 * SUSPECTS as u64)
}

/// Block sizes that are tried beyond the open units, where every write that does not take another way costs a copy.
const ESCAPE_BLOCKS: [Bytes; 4] = [Bytes::kib(32), Bytes::kib(16), Bytes::kib(8), Bytes::kib(4)];

/// Small writes beyond the open units: a way of their own shows there even where one unit at random costs nothing.
pub(crate) fn escape(now: &Situation) -> Option<Choice> {
    if small_write::estimate(now.observations).value().is_some() {
        return None;
    }
    let (order, count) = [Order::Random, Order::InOrder].into_iter().find_map(|order| {
        let limit = open_units::estimate(now.observations, order).value()?;
        Some((order, limit + 1))
    })?;
    let tried = open_units::live_counts(now.observations, order);
    let block = ESCAPE_BLOCKS.iter().copied().find(|block| {
        let fits = *block >= now.device.logical_block && *block * u64::from(ROUNDS) <= now.unit();
        fits && !tried.iter().any(|trial| (trial.block, trial.count) == (*block, count))
    })?;
    let pool = now.pool();
    let units = pool.take(count as usize, &mut now.rng(block.get() + 2))?;
    let rounds = rounds_of(now, count.max(2));
    let plan = OpenUnits { order, unit: now.unit(), block, rounds, units, first_offset: Bytes::ZERO };
    let why =
        format!("{count} units {} are too many: do writes of {block} escape the copies?", open_units::words(order));
    Some(Choice { experiment: Experiment::OpenUnits(plan), why })
}

/// The next group of suspects against controls.
pub(crate) fn area(now: &Situation) -> Option<Choice> {
    if open_units::estimate(now.observations, Order::InOrder).value() == Some(1) {
        return area_one_by_one(now);
    }
    AREA_TRIALS.iter().find_map(|trial| area_trial(now, *trial))
}

/// Where only one unit can be open, suspects and controls cannot be written in turn: one unit after the other, then,
/// controls between suspects.
fn area_one_by_one(now: &Situation) -> Option<Choice> {
    let (block, order, requests) = AREA_TRIALS[0];
    let block = area_block(now, block, order);
    let units = suspects_wanted(now).min((now.device.capacity / now.unit() / 8) as usize) as u64;
    let done = fast_area::singles(now.observations, now.unit(), block);
    let (suspects, controls): (Vec<Bytes>, Vec<Bytes>) = done.partition(|at| *at < now.unit() * MOST_SUSPECTS as u64);
    let piece = front_piece(now, block);
    let wanted = (0..units).map(|index| now.first_unit() + now.unit() * index).chain(piece);
    let left = wanted.into_iter().find(|start| !suspects.contains(start));
    let start = match left {
        Some(start) if suspects.len() <= controls.len() => start,
        _ if controls.len() < SUSPECTS => now.close_pool().middle(1, now.device.capacity, &suspects)?[0],
        left => left?,
    };
    let length = if start < now.first_unit() { now.first_unit() - start } else { now.unit() };
    let requests = u64::from(requests).min(length / block);
    Some(Choice {
        experiment: throughput(Direction::Write, order, block, (start, length), requests, Purpose::OneUnit),
        why: format!("whether the first units differ from others, one after the other: {block} in order at {start}"),
    })
}

fn area_trial(now: &Situation, (block, order, requests): (Bytes, Order, u32)) -> Option<Choice> {
    let block = area_block(now, block, order);
    let pool = now.close_pool();
    let wanted = suspects_wanted(now).min((now.device.capacity / now.unit() / 8) as usize);
    let compared: Vec<Bytes> = compared(now, block, order);
    let left: Vec<Bytes> = (0..wanted as u64)
        .map(|index| now.first_unit() + now.unit() * index)
        .filter(|start| !compared.contains(start))
        .collect();
    let (group, controls) = group_sizes(now, order, block);
    let suspects: Vec<Bytes> = left.into_iter().take(group).collect();
    if suspects.is_empty() {
        return front_trial(now, block, order, requests);
    }
    let controls = pool.middle(controls, now.device.capacity, &suspects)?;
    let requests = area_requests(now, requests).min(u32::try_from(now.unit() / block).unwrap_or(u32::MAX));
    let why = format!("whether the first units differ from others: {block} {}", open_units::words(order));
    Some(Choice { experiment: compare(now, now.unit(), suspects, controls, (block, order, requests)), why })
}

/// The piece of a unit in front of the first whole one, once whole units were compared: an area may begin there, or end.
fn front_trial(now: &Situation, block: Bytes, order: Order, requests: u32) -> Option<Choice> {
    let start = front_piece(now, area_block(now, AREA_TRIALS[0].0, AREA_TRIALS[0].1))?;
    let reach = now.first_unit() - start;
    if compared(now, block, order).contains(&start) {
        return None;
    }
    let (_, controls) = group_sizes(now, order, block);
    let controls = now.close_pool().middle(controls, now.device.capacity, &[start])?;
    let requests = area_requests(now, requests).min(u32::try_from(reach / block).unwrap_or(u32::MAX));
    let why = format!(
        "whether the piece in front of the first whole unit differs from others: {block} {}",
        open_units::words(order)
    );
    let experiment = compare(now, reach, vec![start], controls, (block, order, requests));
    Some(Choice { experiment, why })
}

/// Where blocks begin that end with the piece in front of the first whole unit, so that they lie on pages as elsewhere;
/// `None` where it holds few of them, or where what is written as a unit is less.
fn front_piece(now: &Situation, block: Bytes) -> Option<Bytes> {
    let front = now.first_unit();
    (front >= block * LEAST_OF_FRONT && front < now.unit()).then(|| front % block)
}

fn compare(
    now: &Situation,
    reach: Bytes,
    suspects: Vec<Bytes>,
    controls: Vec<Bytes>,
    (block, order, requests): (Bytes, Order, u32),
) -> Experiment {
    let unit = now.unit();
    Experiment::FastArea(FastArea {
        unit,
        reach,
        suspects,
        controls,
        block,
        direction: Direction::Write,
        order,
        requests,
    })
}

/// Block size of one trial of the area at the start: whole pages where they are large, several to a unit, and smaller
/// where little may be written.
fn area_block(now: &Situation, block: Bytes, order: Order) -> Bytes {
    let times = match now.purse {
        purse if purse < Bytes::mib(192) => 1,
        purse if purse < Bytes::mib(512) => 2,
        _ => 4,
    };
    let large = order == Order::InOrder;
    let lead = trial_blocks(now)[0];
    // What a request costs beside the flash hides less in a longer one.
    let lead = if lead < LEAST_TRIAL_BLOCK * 2 { lead * 2 } else { lead };
    let block = if large { lead * times } else { block };
    now.block(block.min((now.unit() / 16).align_down(now.device.logical_block)))
}

/// Requests to each unit of one trial of the area at the start, fewer where little may be written.
fn area_requests(now: &Situation, requests: u32) -> u32 {
    if is_short(now) { requests * 5 / 8 } else { requests }
}

/// How many units from the start to compare: more while the last one that was compared still differs.
fn suspects_wanted(now: &Situation) -> usize {
    let unit = Estimate::known(now.unit(), 1.0, "assumed", &[]);
    let found = fast_area::estimate(now.observations, &unit).value().filter(|area| area.kind != AreaKind::None);
    let end = found.map_or(0, |area| (area.end / now.unit()) as usize);
    (end + 2).clamp(SUSPECTS, MOST_SUSPECTS)
}

fn compared(now: &Situation, block: Bytes, order: Order) -> Vec<Bytes> {
    let runs = now.observations.runs.iter().filter_map(|run| match &run.data {
        Data::FastArea(data) if (data.block, data.order, data.unit) == (block, order, now.unit()) => Some(data),
        _ => None,
    });
    runs.flat_map(|data| data.suspects.iter().map(|times| times.at)).collect()
}

/// Suspects and controls that are written in turn: together no more than can be open, or all would be slow alike. But at
/// random and beyond any small write, all may as well be slow: what escapes the copies there is mapped otherwise.
fn group_sizes(now: &Situation, order: Order, block: Bytes) -> (usize, usize) {
    const ALL: (usize, usize) = (SUSPECTS, 3);
    let limit = open_units::estimate(now.observations, order);
    match limit.value().or(limit.least()) {
        _ if order == Order::Random && block > Bytes::kib(4) => ALL,
        Some(open) if open >= 7 => ALL,
        Some(open) if open >= 4 => (2, 2),
        Some(3) => (1, 2),
        _ => (1, 1),
    }
}

/// The next cell of the performance table that was not written.
pub(crate) fn performance(now: &Situation) -> Option<Choice> {
    let (block, order, requests) = WRITE_CELLS
        .iter()
        .map(|(block, order, requests)| (now.block(*block), *order, *requests))
        .filter(|(block, ..)| *block * 64 <= now.device.capacity)
        .find(|(block, order, _)| !now.has_throughput(Purpose::Performance, Direction::Write, *order, *block))?;
    let pool = now.pool();
    let wanted = match order {
        Order::InOrder => block * u64::from(requests),
        // Spread over several units, as an application would, and not over the whole device.
        Order::Random => (now.unit() * 16).max(block * u64::from(requests)),
    };
    let length = wanted.min(now.device.capacity / 8).align_down(block).max(block);
    let start = pool.stretch(length, now.device.capacity, &mut now.rng(block.get() + 1))?;
    let experiment =
        throughput(Direction::Write, order, block, (start, length), u64::from(requests), Purpose::Performance);
    Some(Choice { experiment, why: "a cell of the performance table".into() })
}

/// What each subject can write at worst, before anything is known of the device.
pub(crate) fn most_written(device: &DeviceFacts, unit: Bytes, purse: Bytes) -> Vec<(&'static str, Bytes)> {
    // Blocks of whole pages, of up to twice the usual size where the page is not known.
    let lead = (unit / LEAST_BLOCKS).min(Bytes::kib(96)).max(device.logical_block);
    let trials = lead * (search_units(search::MOST_UNITS) * u64::from(ROUNDS_OF_MANY));
    vec![
        ("a region to read, only on a blank device", most_fill(device, unit)),
        ("open units in order", trials),
        ("open units at random", trials),
        ("one unit in order and at random", most_one_unit(Bytes(u64::MAX))),
        ("small writes beyond the open units", most_escape()),
        ("the first units against others", most_area()),
        ("bursts into the write buffer", memory::wanted::most_written()),
        ("speed of writes", most_cells()),
        ("long writes, for a cache of fast cells", slc_cache::most_on(device, purse)),
    ]
}

/// Writes per round of a whole search among so many units: the bracket doubles up to the most units, a bisection takes
/// six more trials at the worst, a confirmation four, and the second block size two of twice the size.
fn search_units(most: u32) -> u64 {
    (2 + 6 + 4 + 2 * 2) * u64::from(most)
}

/// What the search for open units can still write: no more units than the pool holds, nor than have fallen already.
pub(crate) fn most_trials(now: &Situation, order: Order) -> Bytes {
    let pool = now.pool();
    let [lead, _] = trial_blocks(now);
    let seen = open_units::state(&open_units::live_counts(now.observations, order), lead, order);
    let most = seen.fallen.unwrap_or(search::MOST_UNITS).min(most_units(&pool));
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

/// What the first units against others take at the worst.
pub(crate) fn most_area() -> Bytes {
    let group: Bytes = AREA_TRIALS.iter().map(|(block, _, requests)| *block * u64::from(*requests)).sum();
    group * (2 * MOST_SUSPECTS as u64)
}

/// What the writing half of the table takes.
pub(crate) fn most_cells() -> Bytes {
    WRITE_CELLS.iter().map(|(block, _, requests)| *block * u64::from(*requests)).sum()
}
