//! The area at the start: the first units against others, interleaved.

use super::{COPIED_FOR, LEAST_TRIAL_BLOCK, is_short, throughput, trial_blocks};
use crate::situation::Situation;
use crate::{Choice, fast_area, open_units};
use flashscope_model::finding::AreaKind;
use flashscope_model::plan::{Enough, FastArea, Purpose};
use flashscope_model::{Data, Direction, Estimate, Experiment, Order};
use flashscope_units::Bytes;

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

/// Requests to each unit of a trial at random that show what is copied for.
const LEAST_OF_AREA: u32 = 4;

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
    // What escapes copies at random differs by far, so that some of the requests tell where writes are copied for; what
    // transfers differ by does not show in as few.
    let rounds = LEAST_OF_AREA.min(requests);
    let all = u64::from(rounds) * (suspects.len() + controls.len()) as u64;
    let enough =
        (order == Order::Random).then_some(Enough { slow: COPIED_FOR, rounds, requests: all, fast_rounds: None });
    Experiment::FastArea(FastArea {
        unit,
        reach,
        suspects,
        controls,
        block,
        direction: Direction::Write,
        order,
        requests,
        enough,
    })
}

/// Block size of one trial of the area at the start: whole pages where they are large, several to a unit, and smaller
/// where little may be written.
fn area_block(now: &Situation, block: Bytes, order: Order) -> Bytes {
    let times = match now.write_budget {
        write_budget if write_budget < Bytes::mib(192) => 1,
        write_budget if write_budget < Bytes::mib(512) => 2,
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
    let found =
        fast_area::estimate(now.observations, &unit, now.memo).value().filter(|area| area.kind != AreaKind::None);
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
    /// Suspects and controls where all of them may be open.
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

/// What the first units against others take at the worst.
pub(crate) fn most_area() -> Bytes {
    let group: Bytes = AREA_TRIALS.iter().map(|(block, _, requests)| *block * u64::from(*requests)).sum();
    group * (2 * MOST_SUSPECTS as u64)
}
