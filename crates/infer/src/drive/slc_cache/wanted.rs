//! What to write next, and what that can come to.

use super::series::{
    FULL, FULLER, Fall, LEAST_AFTER, Series, fall, fill_at_end, is_slow, split_at_fuller, stretches, writes_to_see,
};
use crate::drive::overwrite::{self, ASKED};
use crate::situation::Situation;
use crate::{Choice, open_units};
use flashscope_model::plan::{self, Overwrite, Span, Stretch};
use flashscope_model::{DeviceFacts, Experiment, Order};
use flashscope_units::{Bytes, Nanos};

/// Size of a write.
const BLOCK: Bytes = Bytes::mib(1);

/// A burst is extended by this much at a time, and looked at in between.
const PIECE: Bytes = Bytes::mib(32);

/// Rest before the first burst, before the one that measures what it filled, and before one more where the two
/// differ. Each is much longer than the one before: what a rest brings back in part grows with it, and is not the size.
const RESTS: [Nanos; 3] = [Nanos::secs(10), Nanos::secs(30), Nanos::secs(90)];

/// Longest run at a stretch.
const MOST: Bytes = Bytes::gib(1);

/// Share of the write budget (a quarter) that one run may take, where that is more.
const SHARE_OF_BUDGET: u64 = 4;

/// Shortest run: less shows no cache.
const LEAST: Bytes = Bytes::mib(32);

/// Part of the device (a sixteenth) that one run may take.
const SHARE: u64 = 16;

/// That share on a device with a limit of open units, where such caches are rare and writes slow.
const SHARE_OF_UNITS: u64 = 64;

/// Longest run on a device with a limit of open units.
const MOST_OF_UNITS: Bytes = Bytes::mib(160);

/// The next piece of a burst, or the next burst.
pub(crate) fn choice(now: &Situation) -> Option<Choice> {
    let all = stretches(now.observations);
    let most = most(now);
    let (burst, why) = match split_at_fuller(&all) {
        ([], _) => {
            let pool = now.pool();
            let start = pool.stretch(most, now.device.capacity, &mut now.rng(7))?;
            let span = Span { start, length: PIECE.min(most) };
            (Stretch { idle: RESTS[0], span }, "long writes after a rest: is there a cache of fast cells?")
        }
        ([first], []) => match fall(first) {
            // To the end of the first look, which is all that is kept for it, and on from there.
            None => (go_on(first, first_look(now, most)).or_else(|| go_on(first, most))?, GO_ON),
            Some(fall) => {
                let burst = next_burst(first, fall, RESTS[1], now);
                (burst, "the rate fell: does a rest bring it back, and for how much?")
            }
        },
        ([.., before, last], []) => match (fall(before), fall(last)) {
            (Some(first), Some(fall)) if all.len() < RESTS.len() && !fall.is_as_long_as(&first) => (
                next_burst(last, fall, RESTS[2], now),
                "it did not take as much as before: what does it take after a longer rest?",
            ),
            (Some(_), Some(_)) => return fuller(now, last, most),
            (_, None) if before.seconds.len() >= LEAST_AFTER && !last.seconds.is_empty() => {
                (go_on(last, (before.span.length * 2).min(most * 2))?, GO_ON)
            }
            _ => return None,
        },
        ([.., before], [first]) => match fall(first) {
            None if fall(before).is_some_and(|fall| is_slow(first, fall.fast, fall.slow)) => return None,
            None => (go_on(first, most)?, GO_ON),
            Some(fall) => {
                let burst = next_burst(first, fall, RESTS[1], now);
                (burst, "the rate fell: how much does it take on the fuller device?")
            }
        },
        (_, [.., first, second]) => {
            fall(second).is_none().then_some(())?;
            (go_on(second, (first.span.length * 2).min(most * 2))?, GO_ON)
        }
    };
    let fits = burst.span.start + burst.span.length <= now.device.capacity;
    (most >= LEAST && fits).then(|| Choice {
        experiment: Experiment::SlcCache(plan::SlcCache { block: BLOCK, bursts: vec![burst] }),
        why: why.to_owned(),
    })
}

const GO_ON: &str = "no fall of the rate yet: go on";

/// A burst that measures what the one before it filled.
fn next_burst(first: &Series, fall: Fall, idle: Nanos, now: &Situation) -> Stretch {
    // A quarter more than the time before, and enough after that to see a fall.
    let length = (first.block * (fall.before + fall.before / 4 + 2 * LEAST_AFTER) as u64).max(LEAST);
    // Elsewhere than that one, or a slow place would be taken for a cache that is full.
    let start = first.span.start + first.block * (fall.before / 2) as u64;
    let start = if start + length <= now.device.capacity { start } else { first.span.start };
    let span = Span { start, length: length.min(first.span.length.max(LEAST)) };
    Stretch { idle, span }
}

/// Once the cache of a device with room was measured, and much more may be written: fill it, and measure again.
fn fuller(now: &Situation, last: &Series, most: Bytes) -> Option<Choice> {
    let capacity = now.device.capacity;
    let room = last.fill.is_some_and(|fill| fill + FULLER < FULL);
    if !room || most < LEAST || now.write_budget < capacity * ASKED {
        return None;
    }
    let block = now.block(BLOCK);
    if fill_at_end(now.observations)? + FULLER / 2.0 < FULL {
        let length = (capacity.as_f64() * FULL) as u64;
        let span = Span { start: Bytes::ZERO, length: Bytes(length).align_down(block) };
        return Some(Choice {
            experiment: Experiment::Overwrite(Overwrite { random: 0, ..overwrite::plan(block, span, 1) }),
            why: "fill the device: does the cache get smaller?".to_owned(),
        });
    }
    let span = Span {
        start: last.span.start.min(capacity.saturating_sub(most * 2)).align_down(block),
        length: PIECE.min(most),
    };
    Some(Choice {
        experiment: Experiment::SlcCache(plan::SlcCache { block, bursts: vec![Stretch { idle: RESTS[0], span }] }),
        why: "long writes after a rest on the fuller device".to_owned(),
    })
}

/// What filling the device for it takes, where the write budget is large enough for it.
pub(crate) fn fill_within(device: &DeviceFacts, write: Bytes) -> Option<Bytes> {
    (write >= device.capacity * ASKED).then_some(device.capacity)
}

/// Where a burst goes on without a rest; `None` where it is long enough.
fn go_on(stretch: &Series, most: Bytes) -> Option<Stretch> {
    let end = stretch.span.start + stretch.span.length;
    let piece = PIECE.max((stretch.span.length / 4).align_down(BLOCK));
    let length = piece.min(most.saturating_sub(stretch.span.length)).align_down(stretch.block);
    (length > Bytes::ZERO).then_some(Stretch { idle: Nanos::ZERO, span: Span { start: end, length } })
}

/// The most that a burst is worth on this device.
fn most(now: &Situation) -> Bytes {
    let limited = open_units::estimate(now.observations, Order::InOrder).value().is_some();
    let (share, most) = if limited { (SHARE_OF_UNITS, MOST_OF_UNITS) } else { (SHARE, most_within(now.write_budget)) };
    (now.device.capacity / share).min(most).align_down(BLOCK.max(now.device.logical_block))
}

/// What it can write before anything is known of the device: two bursts.
pub(crate) fn most_on(device: &DeviceFacts, write_budget: Bytes) -> Bytes {
    (device.capacity / SHARE).min(most_within(write_budget)) * 2
}

fn most_within(write_budget: Bytes) -> Bytes {
    MOST.max(write_budget / SHARE_OF_BUDGET)
}

/// What the first look still takes; nothing once the rate fell, or where a small part of all that may be written is too
/// little for it.
pub(crate) fn left_for_cache(now: &Situation) -> Bytes {
    let look = first_look(now, most(now));
    let written = match stretches(now.observations).as_slice() {
        [] => Bytes::ZERO,
        [only] if fall(only).is_none() => only.span.length,
        _ => return Bytes::ZERO,
    };
    if look >= LEAST { look.saturating_sub(written) } else { Bytes::ZERO }
}

/// What it takes to say that a device has no such cache: a smaller one than this share of it would be rare, …
const WORTH_SAYING_SHARE: u64 = 256;
/// … and so would be one of this size on the largest.
const WORTH_SAYING: Bytes = Bytes::mib(128);

/// The share of all that may be written, for which a look goes before the dear end of a search.
const CACHE_SHARE: u64 = 6;

/// What a look takes that meets no fall, before others get what is left: no more than what a burst is worth here.
fn first_look(now: &Situation, most: Bytes) -> Bytes {
    let said = (now.device.capacity / WORTH_SAYING_SHARE).min(WORTH_SAYING);
    let look = (BLOCK * writes_to_see(said.align_up(BLOCK) / BLOCK)).max(PIECE);
    look.min(most).min((now.write_budget / CACHE_SHARE).align_down(BLOCK))
}

/// Why no burst was tried, where there is no room for one, and what would help.
pub(crate) fn without_room(now: &Situation) -> Option<(String, String)> {
    let most = most(now);
    if most >= LEAST || !stretches(now.observations).is_empty() {
        return None;
    }
    let limited = open_units::estimate(now.observations, Order::InOrder).value().is_some();
    let share = if limited { SHARE_OF_UNITS } else { SHARE };
    let why = format!(
        "it takes {LEAST} of long writes at a stretch to see one, and the {most} that are a {share}th of this device are less"
    );
    Some((why, format!("probe slc-cache --size {}M is enough", LEAST / Bytes::mib(1))))
}

/// What a run can write for this subject at the worst.
pub(crate) fn most_written(now: &Situation) -> Bytes {
    most(now) * 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::slc_cache;
    use crate::memo::Memo;
    use crate::tests::{of_size, run};
    use flashscope_model::observation::{Run, SlcCacheData, Spent, StretchTimes};
    use flashscope_model::{Data, Observations};

    /// A burst of which all writes take as long.
    fn written(burst: Stretch) -> Run {
        let times = vec![Nanos::millis(20); usize::try_from(burst.span.length / BLOCK).unwrap()];
        let data = SlcCacheData { block: BLOCK, bursts: vec![StretchTimes { burst, times }] };
        Run { spent: Spent { written: burst.span.length, ..Spent::default() }, ..run(Data::SlcCache(data)) }
    }

    #[test]
    fn what_is_kept_for_a_look_is_enough_to_say_that_there_is_no_cache() {
        let check = |gib: u64, budget: u64, expect: u64| {
            let (device, budget) = (of_size(Bytes::gib(gib)), Bytes::mib(budget));
            let mut observations = Observations { capacity: Some(device.capacity), ..Observations::default() };
            let mut kept = None;
            loop {
                let memo = Memo::default();
                let used = observations.spent().written;
                let now = Situation::new(&device, &observations, &memo, budget - used, 1);
                let kept = *kept.get_or_insert_with(|| left_for_cache(&now));
                assert_eq!(left_for_cache(&now), kept - used);
                match choice(&now).map(|choice| choice.experiment) {
                    Some(Experiment::SlcCache(plan)) if used + plan.bursts[0].span.length <= kept => {
                        observations.runs.push(written(plan.bursts[0]));
                    }
                    _ => break,
                }
            }
            let none_up_to = slc_cache::estimate(&observations).0.least().map(|cache| cache.size / Bytes::mib(1));
            assert_eq!(none_up_to, Some(expect), "{gib} GiB");
        };
        check(1, 512, 22);
        check(6, 1024, 24);
        check(16, 1024, 64);
        check(57, 2048, 128);
        // No more than a small part of what may be written.
        check(57, 256, 31);
    }
}
