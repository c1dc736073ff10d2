//! Which count of units to try next: bracket, bisect, confirm, and repeat at a second block size.

use super::COLLAPSE;
use super::trial::{LiveCount, live_counts, state};
use crate::numbers::median;
use flashscope_model::{Observations, Order};
use flashscope_units::Bytes;

/// No more than this many units are written in turn: what keeps so many open has no limit that matters.
pub(crate) const MOST_UNITS: u32 = 64;

/// A limit, and the count beyond it, are tried this often before they are believed.
const REPLICATES: u32 = 2;

/// A count that was tried so often is not tried again, whatever it says.
const PATIENCE: u32 = 3;

/// A trial to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trial {
    /// Units to write in turn.
    pub(crate) count: u32,
    /// Size of each write.
    pub(crate) block: Bytes,
    /// What it is good for, to follow "8 units in order:".
    pub(crate) why: String,
}

/// How far a search goes, and where it looks first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The largest count to try.
    most: u32,
    /// A count that is as likely the limit as all smaller ones together.
    hint: Option<u32>,
}

impl Bounds {
    /// `room` is the largest count that the device has room for. At random the limit in order is the likeliest; and where
    /// every write at random costs a copy already, counts far beyond it cost much and hardly show more.
    pub(crate) fn of(observations: &Observations, order: Order, lead: Bytes, room: u32) -> Bounds {
        let room = room.min(MOST_UNITS);
        let in_order = live_counts(observations, Order::InOrder);
        let seen = state(&in_order, lead, Order::InOrder);
        let known = seen.good.zip(seen.fallen).filter(|(good, fallen)| *fallen == good + 1).map(|(good, _)| good);
        let (Order::Random, Some(limit)) = (order, known) else { return Bounds { most: room, hint: None } };
        let single = |counts: &[LiveCount]| {
            let one = counts.iter().find(|trial| (trial.block, trial.count) == (lead, 1));
            one.and_then(|trial| median(&trial.seconds))
        };
        let (before, after) = (single(&in_order), single(&live_counts(observations, Order::Random)));
        let copies = before.zip(after).is_some_and(|(before, after)| after > COLLAPSE * before);
        let most = if copies { room.min(limit * 2) } else { room };
        Bounds { most, hint: Some(limit).filter(|limit| *limit <= most) }
    }

    /// Where to look while nothing has fallen up to `good`.
    fn beyond(self, good: u32) -> u32 {
        let twice = (good * 2).min(self.most);
        match self.hint {
            // Two first: many a card has one unit at random.
            Some(hint) if good >= 2 && good < hint => hint,
            Some(hint) if good == hint => (hint + 1).min(self.most),
            _ => twice,
        }
    }
}

/// The next trial for one order at the leading block size, or `None` when the search is over.
pub(crate) fn next_trial(observations: &Observations, order: Order, lead: Bytes, bounds: Bounds) -> Option<Trial> {
    let counts = live_counts(observations, order);
    let runs = |block: Bytes, count: u32| {
        counts.iter().find(|trial| (trial.block, trial.count) == (block, count)).map_or(0, |trial| trial.runs)
    };
    let torn = |count: u32| counts.iter().any(|trial| (trial.block, trial.count) == (lead, count) && trial.torn);
    let trial = |block: Bytes, count: u32, why: &str| Trial { count, block, why: why.to_owned() };
    let most = bounds.most;
    let seen = state(&counts, lead, order);
    let Some(good) = seen.good else { return (most > 0).then(|| trial(lead, 1, "the yardstick")) };
    let step = match seen.fallen {
        None if good < most => Some((lead, bounds.beyond(good), "no fall yet: more of them")),
        None => None,
        Some(fallen) if fallen > good + 1 => Some((lead, (good + fallen) / 2, "between a good and a fallen count")),
        Some(fallen) => [(good, "once more, to confirm the limit"), (fallen, "once more, to confirm the fall")]
            .into_iter()
            .find(|(count, _)| runs(lead, *count) < if torn(*count) { PATIENCE } else { REPLICATES })
            .map(|(count, why)| (lead, count, why)),
    };
    let (block, count, why) = step?;
    (runs(block, count) < PATIENCE).then(|| trial(block, count, why))
}

/// A trial at the second block size, once the search at the first is over: a limit that moves with it is a buffer.
pub(crate) fn second_trial(observations: &Observations, order: Order, blocks: [Bytes; 2]) -> Option<Trial> {
    let counts = live_counts(observations, order);
    let [lead, second] = blocks;
    let seen = state(&counts, lead, order);
    let good = seen.good?;
    let ends = match seen.fallen {
        Some(fallen) => [good, fallen],
        None => [2.min(good), good],
    };
    let tried = |count: u32| counts.iter().any(|trial| (trial.block, trial.count) == (second, count));
    let count = ends.into_iter().find(|count| !tried(*count))?;
    let why = "the same at another block size: a limit that moves with it is a buffer".to_owned();
    Some(Trial { count, block: second, why })
}
