//! What to measure next of the write buffer.

use super::write_buffer::{self, Filling};
use crate::Choice;
use crate::reading;
use crate::situation::Situation;
use flashscope_model::plan::{Buffer, Burst, Then};
use flashscope_model::{Data, Experiment, Observations};
use flashscope_units::{Bytes, Nanos};

/// Block of the first bursts, and the shortest of re-reads.
pub(super) const BLOCK: Bytes = Bytes::kib(4);

/// Blocks of the second size are this many times as large: no power of two, so that the two do not end at the same places.
const SECOND: u64 = 3;

/// Writes in a burst and bursts, while nothing makes a write wait.
const TRIES: [(u32, usize); 3] = [(48, 5), (256, 5), (1024, 3)];

/// Longest burst, in writes, whatever the first ones said.
const LONGEST_BURST: usize = 1024;
/// Longest burst of larger blocks, in writes.
const MOST_ENTRIES: usize = 256;

/// Bursts of the larger blocks.
const SIZED_BURSTS: usize = 5;
/// Fewest writes in a burst of larger blocks.
const LEAST_BURST: u32 = 26;

/// Device time of one experiment after which no further burst is begun: where each takes so long, a few say what more would.
const MOST_TIME: Nanos = Nanos::secs(20);

/// Longer bursts are not worth more device time than this.
const MOST_ON_LONGER: Nanos = Nanos::secs(400);

/// Rest before each burst.
const REST: Nanos = Nanos::millis(250);

/// Rests in milliseconds after which a full buffer is tried again.
const PAUSES_MS: [u64; 8] = [1, 2, 5, 10, 20, 50, 100, 200];

/// How often a flush and a read are timed with nothing dirty, and with something.
const COMPARED: usize = 8;

/// A region need not be longer than this.
pub(super) const LONGEST_REGION: Bytes = Bytes::mib(4);

/// Bursts into the write buffer: the size, then bytes or entries, then what the device does with it.
pub(crate) fn buffer(now: &Situation) -> Option<Choice> {
    let fillings = write_buffer::fillings(now.observations);
    let first = match fillings.first() {
        None => {
            return sized(now, now.block(BLOCK), TRIES[0], "bursts of writes: does the device take them into memory?");
        }
        Some(first) if !write_buffer::taken_into_memory(now.observations, first.block) => return floor_again(now),
        Some(first) => first,
    };
    let Some(taken) = first.taken else {
        let more = TRIES.into_iter().find(|(writes, _)| *writes as usize > first.tried);
        let bearable = |(writes, bursts): &(u32, usize)| {
            each_write(now.observations) * (u64::from(*writes) * *bursts as u64) <= MOST_ON_LONGER
        };
        return match more.filter(bearable) {
            Some(more) => sized(now, first.block, more, "longer bursts: none of the writes had to wait"),
            None => compared(now, first, None),
        };
    };
    if first.again.is_none() && !first.steady && 2 * taken <= LONGEST_BURST {
        let writes = u32::try_from(2 * taken + 4).ok()?.max(LEAST_BURST);
        return sized(now, first.block, (writes, 3), "does a write wait again when as many were written once more?");
    }
    if first.again == Some(false) {
        return compared(now, first, None);
    }
    if fillings.len() < 2 {
        // As far as entries can reach, or where that is too much as far as bytes can, and some more.
        let taken = if taken <= MOST_ENTRIES { taken as u64 } else { taken as u64 / SECOND };
        let writes = u32::try_from(taken + 8).ok()?.max(LEAST_BURST);
        return sized(
            now,
            first.block * SECOND,
            (writes, SIZED_BURSTS),
            "a larger block: does the buffer count bytes or writes?",
        );
    }
    compared(now, first, u32::try_from(taken).ok())
}

/// The shortest time of a read once more, where writes take longer than that at the start: all requests may by now.
fn floor_again(now: &Situation) -> Option<Choice> {
    let runs = &now.observations.runs;
    let bursts = runs.iter().position(|run| matches!(run.data, Data::Buffer(_)))?;
    let again = runs[bursts..].iter().any(|run| matches!(run.data, Data::Floor(_)));
    (!again).then(|| reading::floor_now(now, "whether the shortest read takes by now what writes into memory do"))
}

/// What comes behind writes that were taken into memory, beside what comes behind none; and rests behind as many as fill it, where
/// that is known.
fn compared(now: &Situation, first: &Filling, full: Option<u32>) -> Option<Choice> {
    // A time limit may end them behind any of them.
    let begun =
        now.has(|data| matches!(data, Data::Buffer(data) if data.bursts.iter().any(|one| one.writes.is_empty())));
    if begun {
        return None;
    }
    // Few enough that none of them has to wait.
    let taken = first.taken.and_then(|taken| u32::try_from(taken).ok()).unwrap_or(u32::MAX);
    let some = (taken - 1).clamp(1, 8);
    let burst = |writes, pause, then| Burst { writes, pause, then };
    let mut bursts = Vec::new();
    // In turn, so that both are seen where there is no time for all.
    for _ in 0..COMPARED {
        for then in [Then::Flush, Then::Read] {
            bursts.extend([burst(0, Nanos::ZERO, then), burst(some, Nanos::ZERO, then)]);
        }
    }
    for full in full.into_iter().flat_map(|full| [full; 2]) {
        bursts.extend(PAUSES_MS.map(|pause| burst(full, Nanos::millis(pause), Then::Write)));
    }
    bursting(now, first.block, bursts, "what happens to dirty data on a flush, on a read and when left alone")
}

/// What a write of the bursts so far took, with what came behind each burst.
fn each_write(observations: &Observations) -> Nanos {
    let runs = observations.runs.iter().filter_map(|run| match &run.data {
        Data::Buffer(data) => Some((run.spent.time, data.bursts.iter().map(|burst| burst.writes.len() as u64).sum())),
        _ => None,
    });
    runs.map(|(time, writes): (Nanos, u64)| time / writes.max(1)).max().unwrap_or(Nanos::ZERO)
}

fn sized(now: &Situation, block: Bytes, (writes, bursts): (u32, usize), why: &str) -> Option<Choice> {
    bursting(now, block, vec![Burst { writes, pause: Nanos::ZERO, then: Then::Flush }; bursts], why)
}

fn bursting(now: &Situation, block: Bytes, bursts: Vec<Burst>, why: &str) -> Option<Choice> {
    let pool = now.pool();
    let start = *pool.take(1, &mut now.rng(block.get() + 3))?.first()?;
    let length = now.unit().min(LONGEST_REGION);
    let plan = Buffer { block, start, length, rest: REST, bursts, most_time: Some(MOST_TIME) };
    (length >= block * 2).then(|| Choice { experiment: Experiment::Buffer(plan), why: why.to_owned() })
}

/// What the next bursts take, where that is a small part of all that may be written: they settle much for it.
pub(crate) fn left_for_buffer(now: &Situation) -> Bytes {
    let next = buffer(now).map_or(Bytes::ZERO, |choice| choice.experiment.bytes_written());
    // The first bursts are worth little without those of another block size.
    let first = write_buffer::fillings(now.observations).is_empty();
    let second = now.block(BLOCK) * SECOND * (u64::from(LEAST_BURST) * SIZED_BURSTS as u64);
    let next = if first && next > Bytes::ZERO { next + second } else { next };
    if next * BUFFER_SHARE <= now.write_budget { next } else { Bytes::ZERO }
}

/// The share of all that may be written, for which bursts go before the dear end of a search.
const BUFFER_SHARE: u64 = 12;

/// What bursts can write at the worst.
pub(crate) fn most_written() -> Bytes {
    let tries: u64 = TRIES.iter().map(|(writes, bursts)| u64::from(*writes) * *bursts as u64).sum();
    BLOCK * (tries + 3 * LONGEST_BURST as u64 + SECOND * 5 * (1024 / SECOND + 8) + 16 * 1024 + 16 * COMPARED as u64)
}
