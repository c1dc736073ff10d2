//! Which count of units to try next: bracket, bisect, confirm, and repeat at a second block size.

use super::trial::{DISAGREE, LiveCount, State, live_counts, overrules, state};
use super::{COLLAPSE, opened};
use crate::numbers::median;
use flashscope_model::{Observations, Order};
use flashscope_units::Bytes;
use std::collections::BTreeSet;

/// No more than this many units are written in turn: what keeps so many open has no limit that matters.
pub(crate) const MOST_UNITS: u32 = 64;

/// A limit, and the count beyond it where the fall is not plain, are tried this often before they are believed.
const REPLICATES: u32 = 2;

/// A count that was tried so often is not tried again, whatever it says.
const PATIENCE: u32 = 3;

/// A round that takes this many seconds is dear: what is likely for another reason is not tried to be sure of it alone.
const DEAR: f64 = 10.0;

/// Whether a round of writes to so many units is dear.
fn is_dear(seconds_of_each: f64, units: u32) -> bool {
    seconds_of_each * f64::from(units) > DEAR
}

/// Where the most units are slower than one by this, though not too many, fewer may say why.
const SLOWER: f64 = 1.1;

/// A trial to make.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trial {
    /// Units to write in turn.
    pub(crate) count: u32,
    /// Size of each write.
    pub(crate) block: Bytes,
    /// Whether the same was tried before: then for longer, as the first may have met what others left.
    pub(crate) again: bool,
    /// Whether it goes on until what others left must be gone, as only some of its writes were slow before: a controller that
    /// closes any unit, or the oldest, closes some of these until none of the others is left. Seconds of one of its writes.
    pub(crate) settling: Option<f64>,
    /// What it is good for, to follow "8 units in order:".
    pub(crate) why: String,
}

/// How far a search goes, and where it looks first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    /// The largest count to try.
    most: u32,
    /// A count that is as likely the limit as all smaller ones together, and the first that may be too many then.
    hint: Option<(u32, u32)>,
    /// Seconds of a write where each is copied for already, whatever their number.
    copies: Option<f64>,
    /// How often the limit is tried. The count beyond it is tried again even so, where the fall is not plain: what goes wrong in
    /// a trial makes it slower.
    replicates: u32,
}

impl Bounds {
    /// `room` is the largest count that the device has room for. In order it is likely as many as were open when the first was
    /// closed; at random the sequential limit is the likeliest, and where every random write costs a copy already, counts far
    /// beyond it cost much and hardly show more: where copies are dear, none beyond it is tried.
    /// Whether the limit is tried again is a question of what may be written.
    pub(crate) fn of(observations: &Observations, order: Order, lead: Bytes, room: u32, confirm: bool) -> Bounds {
        let room = room.min(MOST_UNITS);
        let replicates = if confirm { REPLICATES } else { 1 };
        let likely = likely(observations, order, lead);
        let (Order::Random, Some((good, fallen))) = (order, likely) else {
            let hint = likely.filter(|(good, _)| *good <= room);
            return Bounds { most: room, hint, copies: None, replicates };
        };
        let in_order = live_counts(observations, Order::InOrder);
        let single = |counts: &[LiveCount]| {
            let one = counts.iter().find(|trial| (trial.block, trial.count) == (lead, 1));
            one.and_then(|trial| median(&trial.seconds))
        };
        let (before, after) = (single(&in_order), single(&live_counts(observations, Order::Random)));
        let copies = after.filter(|after| before.is_some_and(|before| *after > COLLAPSE * before));
        let most = match copies {
            Some(each) if is_dear(each, fallen) => room.min(fallen),
            Some(_) => room.min(good * 2),
            None => room,
        };
        Bounds { most, hint: Some((good, fallen)).filter(|(good, _)| *good <= most), copies, replicates }
    }

    /// Whether each write of rounds of so many units is copied for, whatever their number, and that is dear.
    fn copies_are_dear(self, units: u32) -> bool {
        self.copies.is_some_and(|each| is_dear(each, units))
    }

    /// Where to look first between a good count and a fallen one.
    fn within(self, good: u32, fallen: u32) -> Option<u32> {
        let (hint, too_many) = self.hint?;
        [hint, too_many].into_iter().find(|count| *count > good && *count < fallen)
    }

    /// Where to look while nothing has fallen up to `good`.
    fn beyond(self, good: u32) -> u32 {
        let twice = (good * 2).min(self.most);
        match self.hint {
            // Two first: many a card has one unit at random. What is copied for each time hardly shows more of fewer.
            Some((_, too_many)) if good >= 2 && self.copies_are_dear(too_many) => self.most,
            Some((hint, _)) if good >= 2 && good < hint => hint,
            Some((hint, too_many)) if good == hint => too_many.min(self.most),
            _ => twice,
        }
    }
}

/// A count that is likely the limit by other evidence than trials of this order, and the first that may be too many.
pub(super) fn likely(observations: &Observations, order: Order, lead: Bytes) -> Option<(u32, u32)> {
    match order {
        Order::InOrder => opened::before_a_close(observations).map(|open| (open, open + 1)),
        Order::Random => {
            let seen = state(&live_counts(observations, Order::InOrder), lead, Order::InOrder);
            seen.good.zip(seen.fallen)
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
    let trial = |block: Bytes, count: u32, why: &str| {
        let again = runs(block, count) > 0;
        let settling = partly_slow(&counts, block, count).filter(|_| again);
        Trial { count, block, again, settling, why: why.to_owned() }
    };
    let most = bounds.most;
    let seen = state(&counts, lead, order);
    let Some(good) = seen.good else { return (most > 0).then(|| trial(lead, 1, "the yardstick")) };
    let step = match seen.fallen {
        None if good < most => Some((lead, bounds.beyond(good), "no fall yet: more of them")),
        None => {
            let slower = bounds.copies.is_some() && seen.seconds.1 > SLOWER * seen.seconds.0;
            let (hint, too_many) = bounds.hint.filter(|_| slower)?;
            let untried = [hint, too_many].into_iter().find(|count| *count < good && runs(lead, *count) == 0);
            untried.map(|count| (lead, count, "the limit in order, as more are slower"))
        }
        Some(fallen) if fallen > good + 1 => {
            let count = bounds.within(good, fallen).unwrap_or_else(|| between(&counts, lead, good, fallen));
            Some((lead, count, "between a good and a fallen count"))
        }
        Some(fallen) => {
            let confirmed = is_confirmed(&counts, (lead, &seen), order, bounds);
            let ends = [(good, "once more, to confirm the limit"), (fallen, "once more, to confirm the fall")];
            let unsure = ends.into_iter().find(|(count, _)| {
                let wanted = match () {
                    () if confirmed => 1,
                    () if *count == good => bounds.replicates,
                    () if seen.plain => 1,
                    () => REPLICATES,
                };
                runs(lead, *count) < if torn(*count) { PATIENCE } else { wanted }
            });
            unsure.map(|(count, why)| (lead, count, why))
        }
    };
    let (block, count, why) = step?;
    (runs(block, count) < PATIENCE).then(|| trial(block, count, why))
}

/// Whether a limit need not be tried again at the same size: it shows plainly and the second block size agrees, at about the same
/// pace, or has yet to be tried; or it is dear to repeat and lies where it is likely for another reason.
fn is_confirmed(counts: &[LiveCount], (lead, seen): (Bytes, &State), order: Order, bounds: Bounds) -> bool {
    let Some((good, fallen)) = seen.good.zip(seen.fallen) else { return false };
    if !seen.plain {
        return bounds.hint == Some((good, fallen)) && bounds.copies_are_dear(fallen);
    }
    let sizes: BTreeSet<Bytes> = counts.iter().map(|trial| trial.block).filter(|block| *block > lead).collect();
    let mut states =
        sizes.iter().map(|block| (*block, state(counts, *block, order))).filter(|(_, other)| other.tried > 1);
    states.all(|(block, other)| {
        let longer = block.as_f64() / lead.as_f64();
        seen.agrees_with(&other) && other.seconds_of_good() <= DISAGREE * longer * seen.seconds_of_good()
    })
}

/// The count to try between a good one and a fallen one.
///
/// The units of a trial are written in the same order round after round. A controller that keeps what it has open, and
/// copies for the rest, is slow for the same writes in every round: what is not slow is what it keeps. One that closes the
/// unit that rested for longest is slow for all of them, and tells nothing; then small counts are likelier than large ones,
/// and cheaper to try.
fn between(counts: &[LiveCount], lead: Bytes, good: u32, fallen: u32) -> u32 {
    let middle = if fallen > WIDE * good { f64::from(good * fallen).sqrt() as u32 } else { (good + fallen) / 2 };
    kept_open(counts, lead, good, fallen).unwrap_or(middle).clamp(good + 1, fallen - 1)
}

/// Whether a count is slow now and then, beside the smallest that was tried: seconds of one of its writes.
fn partly_slow(counts: &[LiveCount], block: Bytes, count: u32) -> Option<f64> {
    let of_block = || counts.iter().filter(|trial| trial.block == block);
    let usual = of_block().next().and_then(|trial| median(&trial.writes))?;
    of_block().find(|trial| trial.count == count)?.partly_slow(usual)
}

/// Beyond this factor between a good and a fallen count, the middle of their logarithms is tried.
const WIDE: u32 = 3;

/// What is not slow of a fallen count, unless that was tried and found to be too few.
fn kept_open(counts: &[LiveCount], lead: Bytes, good: u32, fallen: u32) -> Option<u32> {
    let of = |count: u32| counts.iter().find(|trial| (trial.block, trial.count) == (lead, count));
    let usual = median(&of(good)?.writes)?;
    let writes = &of(fallen)?.writes;
    let fast = writes.iter().filter(|seconds| **seconds <= COLLAPSE * usual).count();
    let share = fast as f64 / writes.len().max(1) as f64;
    let open = match partly_slow(counts, lead, fallen) {
        // It closes any of those that are open: of L, what is written again has survived `slow` closings by chance, which is
        // (1 - 1/L)^slow.
        Some(_) => f64::from(fallen) * (share - 1.0) / share.ln(),
        None => f64::from(fallen) * share,
    };
    let open = open.round() as u32;
    // Where it was tried and is good, the next one is held against it.
    (open >= good && open < fallen).then_some(open)
}

/// Counts that a search has yet to try, up to the likely limit: nothing but the confirmation once it is between two
/// neighbours.
pub(crate) fn left(observations: &Observations, order: Order, lead: Bytes, likely: u32) -> Vec<u32> {
    let counts = live_counts(observations, order);
    let seen = state(&counts, lead, order);
    match (seen.good, seen.fallen) {
        (Some(good), Some(fallen)) => vec![fallen - 1; (fallen - good).ilog2() as usize],
        _ => {
            let steps: BTreeSet<u32> = [1, 2, likely, likely + 1].into_iter().collect();
            let tried = |count: &u32| counts.iter().any(|trial| (trial.block, trial.count) == (lead, *count));
            steps.into_iter().filter(|count| !tried(count)).collect()
        }
    }
}

/// A trial at the second block size, once the search at the first is over: a limit that moves with it is a buffer. Where the
/// larger blocks do not fall where the smaller ones do, what fell was no limit, and the search goes on with the larger ones.
pub(crate) fn second_trial(
    observations: &Observations,
    order: Order,
    blocks: [Bytes; 2],
    bounds: Bounds,
) -> Option<Trial> {
    let counts = live_counts(observations, order);
    let [lead, second] = blocks;
    let seen = state(&counts, lead, order);
    let good = seen.good?;
    if seen.fallen.is_some_and(|fallen| fallen > good + 1) || bounds.copies_are_dear(good + 1) {
        return None;
    }
    let ends = match seen.fallen {
        Some(fallen) => {
            let expected = seen.plain && bounds.hint == Some((good, fallen));
            // Where no doubt is left, and a round is dear: a limit of bytes shows in the good count.
            let up_to_it = good > 1 && expected && is_dear(seen.seconds.1, fallen);
            if up_to_it { [2.min(good - 1), good] } else { [good, fallen] }
        }
        None => [2.min(good), good],
    };
    let tried = |count: u32| counts.iter().any(|trial| (trial.block, trial.count) == (second, count));
    let Some(count) = ends.into_iter().find(|count| !tried(*count)) else {
        return overrules((lead, &seen), (second, &state(&counts, second, order)))
            .then(|| next_trial(observations, order, second, bounds))?;
    };
    let why = "the same at another block size: a limit that moves with it is a buffer".to_owned();
    Some(Trial { count, block: second, again: false, settling: None, why })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAD: Bytes = Bytes::kib(64);

    /// Six rounds of a trial in which the first units are kept open and the others are copied for.
    fn trial(count: u32, kept: u32) -> LiveCount {
        let round = (0..count).map(|unit| if unit < kept { 1e-3 } else { 80e-3 });
        let writes = (0..6).flat_map(|_| round.clone()).collect();
        LiveCount { block: LEAD, count, runs: 1, seconds: Vec::new(), torn: false, writes, others: Vec::new() }
    }

    #[test]
    fn what_is_slow_now_and_then_may_be_settling() {
        let check = |trial: LiveCount, expect: bool| {
            assert_eq!(partly_slow(&[self::trial(1, 1), trial], LEAD, 8).is_some(), expect);
        };
        // The same units in every round, all of them, and now one and now another.
        [8, 7, 0].into_iter().for_each(|kept| check(trial(8, kept), false));
        let writes = (0..48).map(|write| if write % 9 == 0 { 80e-3 } else { 1e-3 }).collect();
        check(LiveCount { writes, ..trial(8, 8) }, true);
    }

    #[test]
    fn what_is_likely_is_tried_first() {
        let bounds = |copies| Bounds { most: 40, hint: Some((20, 21)), copies, replicates: REPLICATES };
        let next = |bounds: Bounds, good: &[u32]| good.iter().map(|good| bounds.beyond(*good)).collect::<Vec<u32>>();
        assert_eq!(next(bounds(None), &[1, 2, 20, 21]), [2, 20, 21, 40]);
        assert_eq!(bounds(None).within(2, 40), Some(20));
        assert_eq!(bounds(None).within(20, 40), Some(21));
        assert_eq!(bounds(None).within(21, 40), None);
        // What is copied for each time: cheap enough to try fewer, and not.
        assert_eq!(next(bounds(Some(0.1)), &[2]), [20]);
        assert_eq!(next(Bounds { most: 21, ..bounds(Some(2.0)) }, &[1, 2]), [2, 21]);
    }

    /// The same with a block size of its own, and the mean of each round.
    fn tried(block: Bytes, count: u32, kept: u32) -> LiveCount {
        let trial = LiveCount { block, ..trial(count, kept) };
        let mean = |round: &[f64]| round.iter().sum::<f64>() / round.len() as f64;
        LiveCount { seconds: trial.writes.chunks(count as usize).map(mean).collect(), ..trial }
    }

    /// Trials of one unit, of a limit, and of one unit more, of which none is kept.
    fn around(block: Bytes, limit: u32) -> Vec<LiveCount> {
        [(1, 1), (limit, limit), (limit + 1, 0)].into_iter().map(|(count, kept)| tried(block, count, kept)).collect()
    }

    #[test]
    fn what_shows_plainly_is_confirmed_by_the_second_size() {
        let check = |counts: &[LiveCount], hint: Option<(u32, u32)>, expect: bool| {
            let bounds = Bounds { most: 40, hint, copies: None, replicates: REPLICATES };
            let seen = state(counts, LEAD, Order::InOrder);
            assert_eq!(is_confirmed(counts, (LEAD, &seen), Order::InOrder, bounds), expect, "{hint:?}");
        };
        let both = |other: u32| [around(LEAD, 8), around(LEAD * 2, other)].concat();
        check(&around(LEAD, 8), None, true);
        check(&both(8), None, true);
        check(&both(4), None, false);
        check(&both(4), Some((8, 9)), false);
        // The second size up to the limit only, and all of it slow.
        let second = |kept: u32| [2, 8].map(|count| tried(LEAD * 2, count, kept.min(count)));
        check(&[around(LEAD, 8), second(8).to_vec()].concat(), None, true);
        check(&[around(LEAD, 8), second(2).to_vec()].concat(), None, false);
        // All of it slower than longer blocks are: something changed.
        let worn = |trial: LiveCount| {
            let slower = |seconds: Vec<f64>| seconds.into_iter().map(|seconds| 5.0 * seconds).collect();
            LiveCount { seconds: slower(trial.seconds), writes: slower(trial.writes), ..trial }
        };
        let worn: Vec<LiveCount> = around(LEAD * 2, 8).into_iter().map(worn).collect();
        check(&[around(LEAD, 8), worn].concat(), None, false);
        // Some of the fallen ones are as fast as the good ones: it may be others' logs.
        let partly = [tried(LEAD, 1, 1), tried(LEAD, 8, 8), tried(LEAD, 9, 3)];
        check(&partly, Some((8, 9)), false);
    }

    #[test]
    fn what_is_closed_by_chance_tells_how_many_are_open() {
        let slow = |write: u32| (write % 64 + write / 64 * 7) % 64 < 22;
        let writes = (0..6 * 64).map(|write| if slow(write) { 80e-3 } else { 1e-3 }).collect();
        let counts = [trial(40, 40), LiveCount { writes, ..trial(64, 64) }];
        assert_eq!(between(&counts, LEAD, 40, 64), 52);
    }

    #[test]
    fn what_is_not_slow_is_what_is_kept_open() {
        let check = |kept: u32, good: u32, fallen: u32, expect: u32| {
            let counts = [trial(good, kept.max(good)), trial(fallen, kept)];
            assert_eq!(between(&counts, LEAD, good, fallen), expect, "{kept} of {fallen}");
        };
        check(24, 16, 32, 24);
        check(24, 22, 30, 24);
        // Tried and good: the next one; and where that is good as well, the middle.
        check(24, 24, 30, 25);
        check(24, 25, 30, 27);
        // All of them are slow.
        check(0, 16, 32, 24);
        check(0, 2, 32, 8);
    }
}
