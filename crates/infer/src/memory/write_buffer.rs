//! The write buffer, from bursts of writes that meet it empty.
//!
//! A write that goes into memory takes what the link takes, so it is no slower than the fastest read. The first write
//! of a burst that has to wait tells how many fit; a second block size tells bytes from entries.

use super::ns;
use crate::numbers::{median, probability};
use flashscope_model::finding::{BufferLimit, WriteBuffer};
use flashscope_model::observation::{BufferData, BurstTimes};
use flashscope_model::plan::Then;
use flashscope_model::{Data, Estimate, Observations};
use flashscope_units::{Bytes, Nanos};
use std::collections::BTreeMap;

const METHOD: &[&str] = &["buffer"];

/// A write that takes so many times what the first of its burst took had to wait.
const WAITED: f64 = 2.0;

/// A first write so much slower than the fastest reads was not taken into memory.
const NOT_TAKEN: f64 = 1.1;

/// A step counts where this share of the bursts has it.
const AGREED: f64 = 0.8;

/// Shorter bursts tell other things.
const LEAST_WRITES: usize = 24;

/// How one block size fills the buffer.
pub(super) struct Filling {
    pub(super) block: Bytes,
    /// What a write takes that is taken into memory, in nanoseconds.
    fast: f64,
    /// Writes until the first one that waits.
    pub(super) taken: Option<usize>,
    /// What a write takes from there on, in nanoseconds, and whether each one waits or only one in so many.
    slow: f64,
    steady: bool,
    /// Length of the longest burst.
    pub(super) tried: usize,
    bursts: usize,
}

/// What it holds.
pub(super) fn size(observations: &Observations) -> Estimate<WriteBuffer> {
    let fillings = fillings(observations);
    let Some(first) = fillings.first() else { return Estimate::unknown("no burst of writes was observed") };
    let (block, fast) = (first.block, Nanos(first.fast as u64));
    let Some(floor) = floor(observations) else {
        return Estimate::unknown("what a request takes without the flash was not measured");
    };
    let told = Nanos(floor as u64);
    if !taken_into_memory(observations, first.block) {
        let none = WriteBuffer { size: block, limit: BufferLimit::Unknown, block, writes: 1 };
        let evidence = format!(
            "the first write of each of {} bursts of {block} waits for the flash already: {fast} against {told} of the \
             fastest reads",
            first.bursts
        );
        return Estimate::at_most(none, 0.98, evidence, METHOD);
    }
    let Some(taken) = first.taken else {
        return Estimate::unknown(format!(
            "{} writes of {block} in a row are taken as fast as the link brings them ({fast}): a larger buffer, or a \
             flash that keeps up",
            first.tried
        ));
    };
    let writes = first.holds(taken);
    let (limit, certainty) = limit(first, fillings.get(1));
    let size = block * writes;
    let waits = if first.steady { "each one behind it waits" } else { "it makes one write wait" };
    let evidence = format!(
        "bursts of {block} after a rest: {taken} writes take {fast} each, as the fastest reads do, then {waits} ({})",
        Nanos(first.slow as u64)
    );
    let value = WriteBuffer { size, limit, block, writes: u32::try_from(writes).unwrap_or(u32::MAX) };
    let ratio = first.fast / first.slow.max(1.0);
    let blurred = if first.steady && ratio > 0.5 { 0.85 } else { 0.985 };
    Estimate::known(value, probability(certainty * blurred), evidence, METHOD)
}

/// Whether a power cut loses it: a flush then takes the longer the more is dirty.
pub(super) fn volatile(observations: &Observations) -> Estimate<bool> {
    let (clean, dirty) = behind(observations, Then::Flush);
    let Some((clean, dirty, writes)) = pair(clean, dirty) else {
        return Estimate::unknown("no flush was timed with and without dirty data");
    };
    compared(clean, dirty, |clean, dirty| {
        format!("a flush takes {clean} with nothing dirty, {dirty} behind {writes} writes")
    })
}

/// Whether a read waits until it is written out.
pub(super) fn flushed_by_read(observations: &Observations) -> Estimate<bool> {
    let (clean, dirty) = behind(observations, Then::Read);
    let Some((clean, dirty, writes)) = pair(clean, dirty) else {
        return Estimate::unknown("no read was timed with and without dirty data");
    };
    let steady = fillings(observations).first().is_some_and(|filling| filling.steady);
    if steady {
        return Estimate::unknown("it is written out all the time, so that a read may have to wait either way");
    }
    compared(clean, dirty, |clean, dirty| {
        format!("a read elsewhere takes {clean} with nothing dirty, {dirty} right behind {writes} writes")
    })
}

/// How long a rest empties it.
pub(super) fn flush_window(observations: &Observations) -> Estimate<Nanos> {
    let fillings = fillings(observations);
    let Some(first) = fillings.first().filter(|first| first.taken.is_some()) else {
        return Estimate::unknown("no write buffer was found");
    };
    if first.steady {
        return Estimate::unknown("it is written out all the time");
    }
    let mut waited: BTreeMap<Nanos, Vec<bool>> = BTreeMap::new();
    for burst in bursts(observations).filter(|(_, burst)| burst.then == Then::Write).map(|(_, burst)| burst) {
        if let Some(after) = burst.after {
            waited.entry(burst.pause).or_default().push(after.as_f64() > first.fast * WAITED);
        }
    }
    let all = |pause: &Nanos, is: bool| waited[pause].iter().all(|waited| *waited == is);
    let still = waited.keys().take_while(|pause| all(pause, true)).last().copied();
    let empty = waited.keys().rev().take_while(|pause| all(pause, false)).last().copied();
    match (still, empty) {
        (Some(still), Some(empty)) => {
            // Writing it out takes time of its own, and the rest must cover that as well.
            let least = still.saturating_sub(Nanos(first.slow as u64));
            let evidence = format!("a full buffer still makes a write wait {still} later, not any more after {empty}");
            Estimate { at_most: Some(empty), ..Estimate::at_least(least, 0.96, evidence, METHOD) }
        }
        (Some(still), None) => {
            let evidence = format!("a full buffer makes the next write wait even {still} later");
            Estimate::at_least(still.saturating_sub(Nanos(first.slow as u64)), 0.96, evidence, METHOD)
        }
        (None, Some(empty)) => {
            Estimate::at_most(empty, 0.96, format!("{empty} later a full buffer is empty again"), METHOD)
        }
        (None, None) => Estimate::unknown("no full buffer was left alone"),
    }
}

/// How each block size fills it, the one tried first at the front.
pub(super) fn fillings(observations: &Observations) -> Vec<Filling> {
    let mut by_block: Vec<(Bytes, Vec<&BurstTimes>)> = Vec::new();
    for (data, burst) in bursts(observations) {
        if burst.then != Then::Flush || burst.writes.len() < LEAST_WRITES {
            continue;
        }
        match by_block.iter_mut().find(|(block, _)| *block == data.block) {
            Some((_, bursts)) => bursts.push(burst),
            None => by_block.push((data.block, vec![burst])),
        }
    }
    by_block.into_iter().filter_map(|(block, bursts)| Filling::new(block, &bursts)).collect()
}

/// Whether the first write of a burst takes no longer than the fastest reads.
pub(super) fn taken_into_memory(observations: &Observations, block: Bytes) -> bool {
    let first =
        bursts(observations).filter(|(data, _)| data.block == block).filter_map(|(_, burst)| burst.writes.first());
    let fastest = first.map(|time| time.as_f64()).min_by(f64::total_cmp);
    fastest.zip(floor(observations)).is_some_and(|(fastest, floor)| fastest < floor * NOT_TAKEN)
}

impl Filling {
    fn new(block: Bytes, bursts: &[&BurstTimes]) -> Option<Filling> {
        let firsts: Vec<f64> =
            bursts.iter().filter_map(|burst| burst.writes.first()).map(|time| time.as_f64()).collect();
        let fast = median(&firsts)?;
        let tried = bursts.iter().map(|burst| burst.writes.len()).max()?;
        // Share of the bursts that reach so far in which this write waited.
        let waited = |index: usize| {
            let times: Vec<bool> = bursts
                .iter()
                .filter_map(|burst| burst.writes.get(index))
                .map(|time| time.as_f64() > fast * WAITED)
                .collect();
            let count = times.iter().filter(|waited| **waited).count();
            (!times.is_empty()).then(|| count as f64 / times.len() as f64)
        };
        let agreed = |index: usize| waited(index).is_some_and(|share| share >= AGREED);
        let taken = (1..tried).find(|&index| agreed(index) || (waited(index) >= Some(0.5) && agreed(index + 1)));
        let behind: Vec<f64> =
            taken.map_or(Vec::new(), |taken| (taken + 1..tried.min(taken * 2)).filter_map(waited).collect());
        let steady = !behind.is_empty() && behind.iter().sum::<f64>() / behind.len() as f64 > 0.6;
        let slow: Vec<f64> = bursts
            .iter()
            .flat_map(|burst| {
                let from = taken.unwrap_or(burst.writes.len()).min(burst.writes.len());
                ns(if steady { &burst.writes[from..] } else { burst.writes.get(from..from + 1).unwrap_or_default() })
            })
            .collect();
        let slow = median(&slow).unwrap_or(fast);
        Some(Filling { block, fast, taken, slow, steady, tried, bursts: bursts.len() })
    }

    /// What fits. Where it is written out steadily, some of what was taken was on the flash already.
    fn holds(&self, taken: usize) -> u64 {
        let gone = if self.steady { (taken as f64 * self.fast / self.slow) as u64 } else { 0 };
        (taken as u64).saturating_sub(gone).max(1)
    }
}

/// Bytes or entries, by a block size three times as large; and how sure.
fn limit(first: &Filling, second: Option<&Filling>) -> (BufferLimit, f64) {
    let (Some(second), Some(taken)) = (second, first.taken) else { return (BufferLimit::Unknown, 0.97) };
    let writes = first.holds(taken) as f64;
    let by_bytes = writes * first.block.as_f64() / second.block.as_f64();
    let Some(other) = second.taken.map(|taken| second.holds(taken) as f64) else {
        // It went on further than bytes could take it.
        let clear = second.tried as f64 > by_bytes + 2.0;
        return if clear { (BufferLimit::Entries, 0.99) } else { (BufferLimit::Unknown, 0.9) };
    };
    let (bytes_off, entries_off) = ((other - by_bytes.floor()).abs(), (other - writes).abs());
    match () {
        () if bytes_off == entries_off => (BufferLimit::Unknown, 0.9),
        () if bytes_off < entries_off && bytes_off <= 1.0 => (BufferLimit::Bytes, 1.0),
        () if entries_off < bytes_off && entries_off <= 1.0 => (BufferLimit::Entries, 1.0),
        () => (BufferLimit::Unknown, 0.7),
    }
}

/// The fastest that a request is answered, in nanoseconds.
fn floor(observations: &Observations) -> Option<f64> {
    observations.runs.iter().find_map(|run| match &run.data {
        Data::Floor(floor) => median(&ns(&floor.times)),
        _ => None,
    })
}

fn bursts(observations: &Observations) -> impl Iterator<Item = (&BufferData, &BurstTimes)> {
    observations.runs.iter().flat_map(|run| match &run.data {
        Data::Buffer(data) => data.bursts.iter().map(|burst| (data, burst)).collect(),
        _ => Vec::new(),
    })
}

/// Times behind no writes, and behind some with their number; of the bursts that were done to compare the two.
fn behind(observations: &Observations, then: Then) -> (Vec<f64>, Vec<(usize, f64)>) {
    let (mut clean, mut dirty) = (Vec::new(), Vec::new());
    for run in &observations.runs {
        let Data::Buffer(data) = &run.data else { continue };
        if !data.bursts.iter().any(|burst| burst.writes.is_empty()) {
            continue;
        }
        for burst in data.bursts.iter().filter(|burst| burst.then == then) {
            let Some(after) = burst.after else { continue };
            if burst.writes.is_empty() {
                clean.push(after.as_f64());
            } else {
                dirty.push((burst.writes.len(), after.as_f64()));
            }
        }
    }
    (clean, dirty)
}

fn pair(clean: Vec<f64>, dirty: Vec<(usize, f64)>) -> Option<(Vec<f64>, Vec<f64>, usize)> {
    let writes = dirty.first()?.0;
    (clean.len() >= 4 && dirty.len() >= 4).then(|| (clean, dirty.into_iter().map(|(_, time)| time).collect(), writes))
}

/// Longer where data are dirty: clearly, clearly not, or neither.
fn compared(clean: Vec<f64>, dirty: Vec<f64>, words: impl Fn(Nanos, Nanos) -> String) -> Estimate<bool> {
    let (Some(without), Some(with)) = (median(&clean), median(&dirty)) else {
        return Estimate::unknown("nothing was timed");
    };
    let words = words(Nanos(without as u64), Nanos(with as u64));
    let longer = dirty.iter().filter(|time| **time > without * WAITED).count() as f64 / dirty.len() as f64;
    let usual = clean.iter().filter(|time| **time > without * WAITED).count() as f64 / clean.len() as f64;
    match longer - usual {
        more if more >= 0.7 => Estimate::known(true, 0.98, words, METHOD),
        more if more <= 0.3 && with < without * 1.25 => Estimate::known(false, 0.95, words, METHOD),
        _ => Estimate::unknown(format!("too close to tell: {words}")),
    }
}
