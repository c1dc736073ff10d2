//! What to measure next of the memory.

use super::read_cache::{self, Reach};
use super::write_buffer;
use crate::Choice;
use crate::reading::readable;
use crate::situation::Situation;
use flashscope_model::plan::{Buffer, Burst, ReadCache, Span, Then};
use flashscope_model::{Data, Experiment};
use flashscope_units::{Bytes, Nanos};

/// Block of the first bursts.
const BLOCK: Bytes = Bytes::kib(4);

/// Blocks of the second size are so many times as large: no power of two, so that the two do not end at the same places.
const SECOND: u64 = 3;

/// Writes in a burst and bursts, while nothing makes a write wait.
const TRIES: [(u32, usize); 3] = [(48, 5), (256, 5), (1024, 3)];

/// Rest before each burst.
const REST: Nanos = Nanos::millis(250);

/// Rests in milliseconds after which a full buffer is tried again.
const PAUSES_MS: [u64; 8] = [1, 2, 5, 10, 20, 50, 100, 200];

/// How often a flush and a read are timed with nothing dirty, and with something.
const COMPARED: usize = 8;

/// Rounds of re-reads and runs.
const ROUNDS: u32 = 12;

/// Blocks in a row behind a jump.
const RUN: u32 = 8;

/// Sizes in blocks, a factor of less than 1.6 apart.
const SIZES: [u64; 14] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];

/// More sizes between two of them are tried at once.
const BETWEEN: u64 = 12;

/// A region need not be longer than this.
const LONGEST_REGION: Bytes = Bytes::mib(4);

/// Regions that are read in turn.
const REGIONS: u64 = 24;

/// Bursts into the write buffer: the size, then bytes or entries, then what the device does with it.
pub(crate) fn buffer(now: &Situation) -> Option<Choice> {
    let fillings = write_buffer::fillings(now.observations);
    let first = match fillings.first() {
        None => {
            return sized(now, now.block(BLOCK), TRIES[0], "bursts of writes: does the device take them into memory?");
        }
        Some(first) if !write_buffer::taken_into_memory(now.observations, first.block) => return None,
        Some(first) => first,
    };
    let Some(taken) = first.taken else {
        let more = TRIES.into_iter().find(|(writes, _)| *writes as usize > first.tried)?;
        return sized(now, first.block, more, "longer bursts: none of the writes had to wait");
    };
    if fillings.len() < 2 {
        // As far as bytes can reach, and some more: what goes on further is counted in entries.
        let writes = u32::try_from(taken as u64 / SECOND + 8).ok()?.max(26);
        return sized(now, first.block * SECOND, (writes, 5), "a larger block: does the buffer count bytes or writes?");
    }
    let compared =
        now.has(|data| matches!(data, Data::Buffer(data) if data.bursts.iter().any(|one| one.then == Then::Read)));
    if compared {
        return None;
    }
    let taken = u32::try_from(taken).ok()?;
    // Few enough that none of them has to wait.
    let some = (taken - 1).clamp(1, 8);
    let burst = |writes, pause, then| Burst { writes, pause, then };
    let mut bursts = Vec::new();
    for then in [Then::Flush, Then::Read] {
        for _ in 0..COMPARED {
            bursts.extend([burst(0, Nanos::ZERO, then), burst(some, Nanos::ZERO, then)]);
        }
    }
    for _ in 0..2 {
        bursts.extend(PAUSES_MS.map(|pause| burst(taken, Nanos::millis(pause), Then::Write)));
    }
    bursting(now, first.block, bursts, "what happens to dirty data on a flush, on a read and when left alone")
}

fn sized(now: &Situation, block: Bytes, (writes, bursts): (u32, usize), why: &str) -> Option<Choice> {
    bursting(now, block, vec![Burst { writes, pause: Nanos::ZERO, then: Then::Flush }; bursts], why)
}

fn bursting(now: &Situation, block: Bytes, bursts: Vec<Burst>, why: &str) -> Option<Choice> {
    let pool = now.pool();
    let start = *pool.take(1, &mut now.rng(block.get() + 3))?.first()?;
    let length = now.unit().min(LONGEST_REGION);
    let plan = Buffer { block, start, length, rest: REST, bursts };
    (length >= block * 2).then(|| Choice { experiment: Experiment::Buffer(plan), why: why.to_owned() })
}

/// Re-reads and runs, then the sizes in between.
pub(crate) fn read_cache(now: &Situation) -> Option<Choice> {
    let block = match now.observations.runs.iter().find_map(|run| match &run.data {
        Data::ReadCache(data) => Some(data.block),
        _ => None,
    }) {
        Some(block) => block,
        None => now.block(now.page().unwrap_or(BLOCK)),
    };
    let region = now.unit().min(LONGEST_REGION).align_down(block * 2);
    // Half of a region is for what was not read for a while.
    let most = (region / 2).saturating_sub(block);
    let fits = |blocks: u64, before: u64| (block * (blocks + before) <= most).then_some(block * blocks);
    let before = u64::from(RUN) + 1;
    let (spans, reaches, run) = if now.has(|data| matches!(data, Data::ReadCache(_))) {
        let between = |reach: Option<Reach>, before: u64| match reach {
            Some(Reach::Between(held, gone)) if gone - held > block => {
                let step = (gone - held) / block;
                let sizes = (1..step).filter(|at| step <= BETWEEN || (at * BETWEEN) % step < BETWEEN);
                sizes.filter_map(|at| fits(held / block + at, before)).collect()
            }
            _ => Vec::new(),
        };
        let spans: Vec<Bytes> = between(read_cache::spans(now.observations).map(|gains| gains.reach()), 0);
        let ahead: Vec<Bytes> = between(read_cache::distances(now.observations).map(|gains| gains.reach()), before);
        if spans.is_empty() && ahead.is_empty() {
            return None;
        }
        let run = if ahead.is_empty() { 0 } else { RUN };
        (spans, ahead, run)
    } else {
        let sizes = |before: u64| SIZES.iter().filter_map(|size| fits(*size, before)).collect::<Vec<Bytes>>();
        (sizes(0), sizes(before), RUN)
    };
    let regions = regions(now, region)?;
    let distances = reaches.into_iter().map(|reach| reach - block).collect();
    let plan = ReadCache { block, regions, region, spans, run, distances, rest: Nanos::millis(20), rounds: ROUNDS };
    let why = "does the device keep what was read, or read what was not asked for yet?".to_owned();
    (region >= block * 2 * (before + 2)).then_some(Choice { experiment: Experiment::ReadCache(plan), why })
}

/// Starts of units that hold data, at random.
fn regions(now: &Situation, region: Bytes) -> Option<Vec<Bytes>> {
    let span = readable(now).unwrap_or(Span { start: Bytes::ZERO, length: now.device.capacity });
    let first = span.start.align_up(now.unit()) / now.unit();
    let count = (span.start + span.length).saturating_sub(region) / now.unit();
    let units = count.checked_sub(first).filter(|units| *units >= 4)?;
    let mut rng = now.rng(region.get() + 5);
    let mut starts: Vec<Bytes> =
        (0..REGIONS.min(units)).map(|_| now.unit() * (first + rng.below(units as usize) as u64)).collect();
    starts.sort_unstable();
    starts.dedup();
    (starts.len() >= 2).then_some(starts)
}

/// What bursts can write at the worst.
pub(crate) fn most_written() -> Bytes {
    let tries: u64 = TRIES.iter().map(|(writes, bursts)| u64::from(*writes) * *bursts as u64).sum();
    BLOCK * (tries + SECOND * 5 * (1024 / SECOND + 8) + 16 * 1024 + 16 * COMPARED as u64)
}
