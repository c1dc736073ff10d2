//! What a run still has before it: the experiments that the open questions ask for next, and how many of their kind follow.
//!
//! For whoever watches a run, and no part of the choice: [`crate::next`] alone decides what is done.

use crate::Want;
use crate::choose::SUBJECTS;
use crate::memo::Memo;
use crate::open_units::is_table;
use crate::situation::Situation;
use flashscope_model::plan::{Budget, Purpose, Throughput};
use flashscope_model::{Data, DeviceFacts, Direction, Experiment, Observations, Order};
use flashscope_units::{Bytes, Nanos};
use std::collections::BTreeSet;

/// What an open question still asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Upcoming {
    /// Its next experiment.
    pub next: Experiment,
    /// How many experiments it needs, this one included.
    pub count: u32,
    /// Whether it needs just so many; else so many are usual.
    pub exact: bool,
}

/// How many experiments a question still needs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Left {
    /// One.
    One,
    /// So many are usual in all, of which so many are done: at least one more.
    Usually(u32, u32),
}

/// The open questions of what is wanted that the budget covers, each with what it still asks for, in the order of the plan. A question that
/// arises from the answer to another is not among them yet.
pub fn ahead(
    want: Want,
    device: &DeviceFacts,
    observations: &Observations,
    memo: &Memo,
    budget: Budget,
    seed: u64,
) -> Vec<Upcoming> {
    if budget.time == Some(Nanos::ZERO) {
        return Vec::new();
    }
    let now = Situation::new(device, observations, memo, budget.write, seed);
    let mut unspent = budget.write;
    let upcoming = SUBJECTS.iter().filter(|subject| want.needs(subject)).filter_map(|subject| {
        let next = (subject.choice)(&now)?.experiment;
        let (count, exact) = match (subject.left)(&now) {
            Left::One => (1, true),
            Left::Usually(usual, done) => (usual.saturating_sub(done).max(1), false),
        };
        // A question asks no further than what may be written reaches.
        let affordable = match next.bytes_written() {
            Bytes::ZERO => u64::from(count),
            each => (unspent / each).min(u64::from(count)),
        };
        unspent = unspent.saturating_sub(next.bytes_written() * affordable);
        let count = u32::try_from(affordable).unwrap_or(count);
        Some(in_turn(next, count, exact))
    });
    upcoming.flatten().collect()
}

/// So many of an experiment and of what takes turns with it: writes to one unit go in either order, and take another time in each.
fn in_turn(next: Experiment, count: u32, exact: bool) -> impl Iterator<Item = Upcoming> {
    let other = match &next {
        Experiment::Throughput(plan) if plan.purpose == Purpose::OneUnit => {
            let order = if plan.order == Order::InOrder { Order::Random } else { Order::InOrder };
            Some((Experiment::Throughput(Throughput { order, ..*plan }), count / 2))
        }
        _ => None,
    };
    let of_other = other.as_ref().map_or(0, |(_, count)| *count);
    let all = [(next, count - of_other)].into_iter().chain(other);
    all.filter(|(_, count)| *count > 0).map(move |(next, count)| Upcoming { next, count, exact })
}

/// One experiment settles it.
pub(crate) fn one(_: &Situation) -> Left {
    Left::One
}

/// Experiments of a question in a usual run: the median of the catalogue's devices at the default seed.
mod usual {
    pub(super) const BOUNDARIES: u32 = 7;
    pub(super) const SEARCH_IN_ORDER: u32 = 7;
    /// It begins at the limit that was found in order.
    pub(super) const SEARCH_AT_RANDOM: u32 = 5;
    pub(super) const ONE_UNIT: u32 = 12;
    /// The limit and one more, in either order.
    pub(super) const OTHER_BLOCK: u32 = 4;
    pub(super) const AREA: u32 = 3;
    pub(super) const READ_CACHE: u32 = 2;
    pub(super) const BUFFER: u32 = 1;
    pub(super) const SLC_CACHE: u32 = 4;
}

pub(crate) fn boundaries(now: &Situation) -> Left {
    Left::Usually(usual::BOUNDARIES, done(now, |data| matches!(data, Data::Boundaries(_) | Data::Slide(_))))
}

pub(crate) fn search(now: &Situation, order: Order) -> Left {
    let usual = match order {
        Order::InOrder => usual::SEARCH_IN_ORDER,
        Order::Random => usual::SEARCH_AT_RANDOM,
    };
    let of_it = |data: &Data| matches!(data, Data::OpenUnits(trial) if trial.order == order && !is_table(trial));
    Left::Usually(usual, done(now, of_it))
}

pub(crate) fn one_unit(now: &Situation) -> Left {
    Left::Usually(usual::ONE_UNIT, throughputs(now, Purpose::OneUnit, Direction::Write))
}

/// The first search settles the block size; trials at another one are of this question.
pub(crate) fn other_block(now: &Situation) -> Left {
    let block = |data: &Data| match data {
        Data::OpenUnits(trial) if !is_table(trial) => trial.rows.first().map(|row| row.block),
        _ => None,
    };
    let first = now.observations.runs.iter().find_map(|run| block(&run.data));
    Left::Usually(usual::OTHER_BLOCK, done(now, |data| block(data).is_some_and(|block| Some(block) != first)))
}

pub(crate) fn area(now: &Situation) -> Left {
    Left::Usually(usual::AREA, done(now, |data| matches!(data, Data::FastArea(_))))
}

pub(crate) fn read_cache(now: &Situation) -> Left {
    Left::Usually(usual::READ_CACHE, done(now, |data| matches!(data, Data::ReadCache(_))))
}

pub(crate) fn buffer(now: &Situation) -> Left {
    Left::Usually(usual::BUFFER, done(now, |data| matches!(data, Data::Buffer(_))))
}

pub(crate) fn slc_cache(now: &Situation) -> Left {
    Left::Usually(usual::SLC_CACHE, done(now, |data| matches!(data, Data::SlcCache(_))))
}

/// The cells of the performance table that are left; one whose rate changes takes several experiments.
pub(crate) fn cells(now: &Situation, direction: Direction, all: usize) -> Left {
    let runs = now.observations.runs.iter().filter_map(|run| match &run.data {
        Data::Throughput(run) if (run.purpose, run.direction) == (Purpose::Performance, direction) => Some(run),
        _ => None,
    });
    let begun: BTreeSet<(bool, Bytes)> = runs.map(|run| (run.order == Order::InOrder, run.block)).collect();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Left::Usually(count(all), count(begun.len()))
}

fn throughputs(now: &Situation, purpose: Purpose, direction: Direction) -> u32 {
    done(now, |data| matches!(data, Data::Throughput(run) if (run.purpose, run.direction) == (purpose, direction)))
}

fn done(now: &Situation, of_it: impl Fn(&Data) -> bool) -> u32 {
    let count = now.observations.runs.iter().filter(|run| of_it(&run.data)).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}
