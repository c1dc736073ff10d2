//! Which count of units to try next: bracket, bisect, confirm, and repeat at a second block size.

use super::trial::{live_counts, state};
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

/// The next trial for one order, or `None` when the search is over. `blocks` are the leading and the second block
/// size, `most` the largest count that the device has room for.
pub(crate) fn next_trial(observations: &Observations, order: Order, blocks: [Bytes; 2], most: u32) -> Option<Trial> {
    let counts = live_counts(observations, order);
    let runs = |block: Bytes, count: u32| {
        counts.iter().find(|trial| (trial.block, trial.count) == (block, count)).map_or(0, |trial| trial.runs)
    };
    let trial = |block: Bytes, count: u32, why: &str| Trial { count, block, why: why.to_owned() };
    let [lead, second] = blocks;
    let most = most.min(MOST_UNITS);
    let seen = state(&counts, lead, order);
    let Some(good) = seen.good else { return (most > 0).then(|| trial(lead, 1, "the yardstick")) };
    let step = match seen.fallen {
        None if good < most => Some((lead, (good * 2).min(most), "no fall yet: twice as many")),
        None => None,
        Some(fallen) if fallen > good + 1 => Some((lead, (good + fallen) / 2, "between a good and a fallen count")),
        Some(fallen) => [(good, "once more, to confirm the limit"), (fallen, "once more, to confirm the fall")]
            .into_iter()
            .find(|(count, _)| runs(lead, *count) < REPLICATES)
            .map(|(count, why)| (lead, count, why)),
    };
    let second_step = || {
        let ends = match seen.fallen {
            Some(fallen) => [good, fallen],
            None => [2.min(good), good],
        };
        let untried = ends.into_iter().find(|count| runs(second, *count) == 0)?;
        Some((second, untried, "the same at another block size: a limit that moves with it is a buffer"))
    };
    let (block, count, why) = step.or_else(second_step)?;
    (runs(block, count) < PATIENCE).then(|| trial(block, count, why))
}
