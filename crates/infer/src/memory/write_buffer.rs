//! The write buffer, from bursts of writes that meet it empty.
//!
//! A write that goes into memory takes what the link takes, so it is no slower than the fastest read. The first write
//! of a burst that has to wait tells how many fit; a second block size tells bytes from entries.

use super::{gains, ns};
use crate::numbers::{SEEN, median, probability};
use flashscope_model::finding::{BufferLimit, Doubt, WriteBuffer};
use flashscope_model::observation::{BufferData, BurstTimes};
use flashscope_model::plan::Then;
use flashscope_model::{Data, Estimate, ExperimentName, Observations, Reason};
use flashscope_stats::location::standard_deviation;
use flashscope_stats::normal_cdf;
use flashscope_units::{Bytes, Nanos};
use std::collections::BTreeMap;

/// The experiment that this rests on.
const METHOD: &[ExperimentName] = &[ExperimentName::Buffer];

/// A write that takes this many times what the first of its burst took had to wait.
const WAITED: f64 = 2.0;

/// A first write this much slower than the fastest reads was not taken into memory.
const NOT_TAKEN: f64 = 1.1;

/// Writes of a burst that a buffer takes, if it takes any.
const FIRST: usize = 4;

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
    /// What a write takes from there on, in nanoseconds, and whether each one waits or only one in several.
    slow: f64,
    pub(super) steady: bool,
    /// Whether a write waits again once as many were written behind the first that did; `None` where no burst was long
    /// enough to see.
    pub(super) again: Option<bool>,
    /// Length of the longest burst.
    pub(super) tried: usize,
    bursts: usize,
    /// Relative standard error of `slow`.
    slow_error: f64,
    /// What each burst found room for by itself, in writes, where it is written out steadily and bursts show it.
    held: Vec<f64>,
}

/// What it holds.
pub(super) fn size(observations: &Observations) -> Estimate<WriteBuffer> {
    let fillings = fillings(observations);
    let Some(first) = fillings.first() else {
        return Estimate::unknown(Reason::NotMeasured, "no burst of writes was observed");
    };
    let (block, fast) = (first.block, Nanos(first.fast as u64));
    let Some(floor) = gains::floor(observations, block) else {
        return Estimate::unknown(Reason::NotMeasured, "what a request takes without the flash was not measured");
    };
    let told = Nanos(floor as u64);
    if !taken_into_memory(observations, first.block) {
        let none = WriteBuffer { size: block, limit: BufferLimit::Unknown, block, writes: 1 };
        let evidence = format!(
            "the first writes of each of {} bursts of {block} wait for the flash already: {fast} against {told} of the \
             fastest reads",
            first.bursts
        );
        return Estimate::at_most(none, SEEN, evidence, METHOD);
    }
    let Some(taken) = first.taken else {
        return Estimate::unknown(
            Reason::Ambiguous,
            format!(
                "{} writes of {block} in a row are taken as fast as the link brings them ({fast}): a larger buffer, or a \
             flash that keeps up",
                first.tried
            ),
        );
    };
    if first.again == Some(false) {
        return Estimate::unknown(
            Reason::Contradicted,
            format!(
                "{taken} writes of {block} after a rest make the next one wait ({}), but {taken} more do not: that is no buffer \
             that was full",
                Nanos(first.slow as u64)
            ),
        );
    }
    let writes = first.holds(taken);
    let second = fillings.get(1).map(|second| (second, taken_into_memory(observations, second.block)));
    let counts_too_many = |limit: BufferLimit| limit == BufferLimit::Entries && writes > MOST_ENTRIES;
    let Some(limit) = limit(first, second).filter(|limit| !counts_too_many(*limit)) else {
        return Estimate::unknown(
            Reason::Contradicted,
            format!(
                "{taken} writes of {block} after a rest make the next one wait, but blocks of another size do so neither after \
             as many bytes nor after as many writes"
            ),
        );
    };
    let size = block * writes;
    let waits = if first.steady { "each one behind it waits" } else { "it makes one write wait" };
    let evidence = format!(
        "bursts of {block} after a rest: {taken} writes take {fast} each, as the fastest reads do, then {waits} ({})",
        Nanos(first.slow as u64)
    );
    let value = WriteBuffer { size, limit, block, writes: u32::try_from(writes).unwrap_or(u32::MAX) };
    let mut found = Estimate::known(value, probability(first.within_one(taken)), evidence, METHOD);
    if first.steady {
        found.doubt(Doubt::Steady);
    }
    // What waits takes hardly longer than what does not.
    if first.steady && first.fast > 0.5 * first.slow {
        found.doubt(Doubt::Blurred);
    }
    if limit == BufferLimit::Unknown {
        found.doubt(Doubt::LimitOpen);
    }
    if second.is_none() {
        found.doubt(Doubt::OneBlock);
    }
    found
}

/// Whether a power cut loses it: a flush then takes the longer the more is dirty. Where its size does not show, what a flush has
/// to write was kept in memory all the same, and what it has not may have been on the flash already.
pub(super) fn volatile(observations: &Observations, size: &Estimate<WriteBuffer>) -> Estimate<bool> {
    let (clean, dirty) = behind(observations, Then::Flush);
    let Some((clean, dirty, writes)) = pair(clean, dirty) else {
        return Estimate::unknown(Reason::NotMeasured, "no flush was timed with and without dirty data");
    };
    let least = least_of_wait(&fillings(observations));
    let found = compared(clean, dirty, least, |clean, dirty| {
        format!("a flush takes {clean} with nothing dirty, {dirty} behind {writes} writes")
    });
    given_the_size(found, size)
}

fn given_the_size(volatile: Estimate<bool>, size: &Estimate<WriteBuffer>) -> Estimate<bool> {
    match (size.is_unknown(), volatile.value()) {
        (true, Some(true)) => volatile.but(Doubt::SizeOpen),
        (true, Some(false)) => Estimate::unknown(
            Reason::Ambiguous,
            format!("{}: they may have been on the flash already, as no buffer shows", volatile.evidence()),
        ),
        _ => volatile,
    }
}

/// What writing out what is dirty takes at least, in nanoseconds: a part of what a write that has to wait takes longer than one
/// that does not; zero where none was seen.
fn least_of_wait(fillings: &[Filling]) -> f64 {
    LEAST_OF_WAIT * fillings.first().map_or(0.0, |first| (first.slow - first.fast).max(0.0))
}

/// That part.
const LEAST_OF_WAIT: f64 = 0.1;

/// Whether a read waits until it is written out. Where no buffer shows, it waits for the flash, whatever that does.
pub(super) fn flushed_by_read(observations: &Observations, size: &Estimate<WriteBuffer>) -> Estimate<bool> {
    if size.is_unknown() {
        return Estimate::unknown(Reason::Absent, "no write buffer was found");
    }
    let (clean, dirty) = behind(observations, Then::Read);
    let Some((clean, dirty, writes)) = pair(clean, dirty) else {
        return Estimate::unknown(Reason::NotMeasured, "no read was timed with and without dirty data");
    };
    let fillings = fillings(observations);
    if fillings.first().is_some_and(|filling| filling.steady) {
        return Estimate::unknown(
            Reason::Contradicted,
            "it is written out all the time, so that a read may have to wait either way",
        );
    }
    let least = least_of_wait(&fillings);
    compared(clean, dirty, least, |clean, dirty| {
        format!("a read elsewhere takes {clean} with nothing dirty, {dirty} right behind {writes} writes")
    })
}

/// How long a rest empties it.
pub(super) fn flush_window(observations: &Observations) -> Estimate<Nanos> {
    let fillings = fillings(observations);
    let Some(first) = fillings.first().filter(|first| first.taken.is_some()) else {
        return Estimate::unknown(Reason::Absent, "no write buffer was found");
    };
    if first.steady {
        return Estimate::unknown(Reason::Contradicted, "it is written out all the time");
    }
    let mut waited: BTreeMap<Nanos, Vec<bool>> = BTreeMap::new();
    for burst in bursts(observations).filter(|(_, burst)| burst.then == Then::Write).map(|(_, burst)| burst) {
        if let Some(after) = burst.after {
            waited.entry(burst.pause).or_default().push(after.as_f64() > first.fast * WAITED);
        }
    }
    let (still, empty) = window(&without_a_stray(waited));
    match (still, empty) {
        (Some(still), Some(empty)) => {
            // Writing it out takes time of its own, and the rest must cover that as well.
            let least = still.saturating_sub(Nanos(first.slow as u64));
            let evidence = format!("a full buffer still makes a write wait {still} later, not any more after {empty}");
            Estimate::between(least, empty, SEEN, evidence, METHOD)
        }
        (Some(still), None) => {
            let evidence = format!("a full buffer makes the next write wait even {still} later");
            Estimate::at_least(still.saturating_sub(Nanos(first.slow as u64)), SEEN, evidence, METHOD)
        }
        (None, Some(empty)) => {
            Estimate::at_most(empty, SEEN, format!("{empty} later a full buffer is empty again"), METHOD)
        }
        (None, None) => Estimate::unknown(Reason::NotMeasured, "no full buffer was left alone"),
    }
}

/// The longest rest that does not empty it, and the shortest that does.
fn window(waited: &BTreeMap<Nanos, Vec<bool>>) -> (Option<Nanos>, Option<Nanos>) {
    let all = |pause: &Nanos, is: bool| waited[pause].iter().all(|waited| *waited == is);
    let still = waited.keys().take_while(|pause| all(pause, true)).last().copied();
    let empty = waited.keys().rev().take_while(|pause| all(pause, false)).last().copied();
    (still, empty)
}

/// Without the one rest behind which a write waited for something else, where the others agree but for it.
fn without_a_stray(waited: BTreeMap<Nanos, Vec<bool>>) -> BTreeMap<Nanos, Vec<bool>> {
    let agree = |waited: &BTreeMap<Nanos, Vec<bool>>| {
        let (still, empty) = window(waited);
        let placed = |pause: &Nanos| Some(*pause) <= still || empty.is_some_and(|empty| *pause >= empty);
        waited.keys().all(placed) && empty.is_some()
    };
    if agree(&waited) {
        return waited;
    }
    let without = |stray: &Nanos| {
        let mut others = waited.clone();
        others.remove(stray);
        others
    };
    let strays = waited.iter().rev().filter(|(_, waited)| waited.iter().any(|waited| *waited));
    let found = strays.map(|(pause, _)| without(pause)).find(|others| agree(others));
    found.unwrap_or(waited)
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

/// Whether the first writes of a burst take no longer than the fastest reads: not each of them, as a few may all be slow by chance.
pub(super) fn taken_into_memory(observations: &Observations, block: Bytes) -> bool {
    let of_block = bursts(observations).filter(|(data, _)| data.block == block);
    let first = of_block.flat_map(|(_, burst)| burst.writes.iter().take(FIRST));
    let fastest = first.map(|time| time.as_f64()).min_by(f64::total_cmp);
    fastest.zip(gains::floor(observations, block)).is_some_and(|(fastest, floor)| fastest < floor * NOT_TAKEN)
}

impl Filling {
    fn new(block: Bytes, bursts: &[&BurstTimes]) -> Option<Filling> {
        let firsts: Vec<f64> =
            bursts.iter().filter_map(|burst| burst.writes.first()).map(|time| time.as_f64()).collect();
        let fast = median(&firsts)?;
        let tried = bursts.iter().map(|burst| burst.writes.len()).max()?;
        let limit = fast * waits_from(bursts, fast);
        // Share of the bursts that reach so far in which this write waited.
        let waited = |index: usize| {
            let times: Vec<bool> =
                bursts.iter().filter_map(|burst| burst.writes.get(index)).map(|time| time.as_f64() > limit).collect();
            let count = times.iter().filter(|waited| **waited).count();
            (!times.is_empty()).then(|| count as f64 / times.len() as f64)
        };
        let agreed = |index: usize| waited(index).is_some_and(|share| share >= AGREED);
        let taken = (1..tried).find(|&index| agreed(index) || (waited(index) >= Some(0.5) && agreed(index + 1)));
        let behind: Vec<f64> =
            taken.map_or(Vec::new(), |taken| (taken + 1..tried.min(taken * 2)).filter_map(waited).collect());
        let steady = !behind.is_empty() && behind.iter().sum::<f64>() / behind.len() as f64 > 0.6;
        let waits = |from: usize| -> Vec<Vec<f64>> {
            let part = |writes: &[Nanos]| ns(if steady { writes } else { writes.get(..1).unwrap_or_default() });
            bursts.iter().map(|burst| part(burst.writes.get(from..).unwrap_or_default())).collect()
        };
        let (slow, slow_error) = taken.and_then(|taken| mean_wait(&waits(taken))).unwrap_or((fast, 0.0));
        let held = match taken.filter(|_| steady) {
            Some(taken) => bursts.iter().filter_map(|burst| room(&ns(&burst.writes), taken, fast)).collect(),
            None => Vec::new(),
        };
        let again = taken.filter(|taken| !steady && tried > 2 * taken + 1).map(|taken| {
            // A wait may be noticed one write early or late.
            (2 * taken - 1..=2 * taken + 1).any(|index| index > taken && waited(index) >= Some(0.5))
        });
        Some(Filling { block, fast, taken, slow, steady, again, tried, bursts: bursts.len(), slow_error, held })
    }

    /// What fits. Where it is written out steadily, some of what was taken was on the flash already: each burst tells how
    /// much, since the flash may take another time for each of them.
    fn holds(&self, taken: usize) -> u64 {
        if let Some(middle) = median(&self.held).filter(|_| self.held.len() >= LEAST_BURSTS) {
            return (middle.round() as u64).max(1);
        }
        let gone = if self.steady { (taken as f64 * self.fast / self.slow) as u64 } else { 0 };
        (taken as u64).saturating_sub(gone).max(1)
    }

    /// Probability that what fits is right to one write: of what was on the flash already only the mean is known.
    fn within_one(&self, taken: usize) -> f64 {
        if !self.steady {
            return 1.0;
        }
        if self.held.len() >= LEAST_BURSTS {
            let error = standard_deviation(&self.held).unwrap_or(0.0) / (self.held.len() as f64).sqrt();
            return 2.0 * normal_cdf(1.5 / (error + ROUNDING)) - 1.0;
        }
        let gone = taken as f64 * self.fast / self.slow;
        2.0 * normal_cdf(1.5 / (gone * self.slow_error + ROUNDING)) - 1.0
    }
}

/// How many times what the first write took one that has to wait takes at least. Where the link is slow against the flash, a
/// write that waits takes less than [`WAITED`] times one that does not: half way to what writes take in the end, then.
fn waits_from(bursts: &[&BurstTimes], fast: f64) -> f64 {
    let end = |burst: &&BurstTimes| ns(&burst.writes[burst.writes.len() / 2..]);
    let in_the_end = median(&bursts.iter().flat_map(end).collect::<Vec<_>>()).unwrap_or(fast) / fast;
    if (LEAST_STEP..WAITED * CLOSE).contains(&in_the_end) { 0.5 * (1.0 + in_the_end) } else { WAITED }
}

/// Waits that take no more than so many times what surely is one are not all as long.
const CLOSE: f64 = 1.1;

/// Writes that one burst found room for: those up to the first that waits, less what the flash took meanwhile. `None` where
/// it does not show both.
fn room(writes: &[f64], taken: usize, fast: f64) -> Option<f64> {
    let behind = writes.get(taken + writes.len().saturating_sub(taken) / 4..)?;
    let middle = median(behind).filter(|_| behind.len() >= LEAST_BEHIND)?;
    let usual: Vec<f64> = behind.iter().copied().filter(|time| *time <= COLLECTION * middle).collect();
    let slow = usual.iter().sum::<f64>() / usual.len() as f64;
    if slow < LEAST_STEP * fast {
        return None;
    }
    // The step that leaves least unexplained; one long wait is no more than a wait.
    let off = |from: usize| -> f64 {
        let before = writes[..from].iter().map(|time| (time.min(slow) - fast).abs());
        before.chain(writes[from..].iter().map(|time| (time.min(slow * 1.5) - slow).abs())).sum()
    };
    let from = (1..writes.len()).min_by(|a, b| off(*a).total_cmp(&off(*b)))?;
    let gone = (writes[..from].iter().sum::<f64>() / slow).floor();
    (gone < from as f64).then_some(from as f64 - gone)
}

/// Fewer bursts do not tell what is usual.
const LEAST_BURSTS: usize = 3;

/// Number of writes behind the first that waits which show what such writes take.
const LEAST_BEHIND: usize = 5;
/// How many times the time of other writes they must take.
const LEAST_STEP: f64 = 1.4;

/// Standard error of a count of writes that stands for a time.
const ROUNDING: f64 = 0.4;

/// A wait this many times the middle one is for a collection, not for the next write to leave.
const COLLECTION: f64 = 20.0;

/// Mean of the waits of all bursts, and its relative standard error, by how much the bursts differ. Writes that share a
/// page leave together, so that the middle one would not do.
fn mean_wait(bursts: &[Vec<f64>]) -> Option<(f64, f64)> {
    let middle = median(&bursts.concat())?;
    let mean = |times: &[f64]| {
        let kept: Vec<f64> = times.iter().copied().filter(|time| *time <= COLLECTION * middle).collect();
        (!kept.is_empty()).then(|| kept.iter().sum::<f64>() / kept.len() as f64)
    };
    let means: Vec<f64> = bursts.iter().filter_map(|burst| mean(burst)).collect();
    let all = mean(&bursts.concat())?;
    let square: f64 = means.iter().map(|one| (one / all - 1.0).powi(2)).sum();
    let count = means.len().max(2) as f64;
    Some((all, (square / (count - 1.0) / count).sqrt()))
}

/// Known controllers count up to 64 writes; one in hundreds that waits, whatever their size, waits for a log or a part of the
/// map that is written out now and then.
const MOST_ENTRIES: u64 = 128;

/// Bytes or entries, by a larger block size and whether its writes are taken into memory at all. `None` where it fits
/// neither.
fn limit(first: &Filling, second: Option<(&Filling, bool)>) -> Option<BufferLimit> {
    let (Some((second, in_memory)), Some(taken)) = (second, first.taken) else {
        return Some(BufferLimit::Unknown);
    };
    let writes = first.holds(taken) as f64;
    let by_bytes = writes * first.block.as_f64() / second.block.as_f64();
    if !in_memory {
        // Not even one of them fits.
        return (by_bytes < 1.5).then_some(BufferLimit::Bytes);
    }
    let Some(other) = second.taken.map(|taken| second.holds(taken) as f64) else {
        // It went on further than bytes could take it.
        return match second.tried as f64 {
            tried if tried > writes + 2.0 => None,
            tried if tried > by_bytes + 2.0 => Some(BufferLimit::Entries),
            _ => Some(BufferLimit::Unknown),
        };
    };
    let (bytes_off, entries_off) = ((other - by_bytes.floor()).abs(), (other - writes).abs());
    // What was on the flash already is taken off both, and not exactly.
    let room = |expected: f64| if first.steady { 1.0 + STEADY_ROOM * expected } else { 1.0 };
    match () {
        () if bytes_off == entries_off => Some(BufferLimit::Unknown),
        () if bytes_off < entries_off && bytes_off <= room(by_bytes) => Some(BufferLimit::Bytes),
        () if entries_off < bytes_off && entries_off <= room(writes) => Some(BufferLimit::Entries),
        () => None,
    }
}

/// Counts of writes of two sizes into a buffer that is written out steadily may differ by this share.
const STEADY_ROOM: f64 = 0.1;

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

/// Times that differ by less than this factor are alike.
const ALIKE: f64 = 1.25;

/// Longer where data are dirty: clearly, clearly not (by less than `least`, in nanoseconds, or hardly), or neither.
fn compared(clean: Vec<f64>, dirty: Vec<f64>, least: f64, words: impl Fn(Nanos, Nanos) -> String) -> Estimate<bool> {
    let (Some(without), Some(with)) = (median(&clean), median(&dirty)) else {
        return Estimate::unknown(Reason::NotMeasured, "nothing was timed");
    };
    let words = words(Nanos(without as u64), Nanos(with as u64));
    // What a host adds may be as long as a flush of nothing: what is many times as long is told apart half way to it.
    let limit = (without * WAITED).max((without * with).sqrt());
    let share = |times: &[f64]| times.iter().filter(|time| **time > limit).count() as f64 / times.len() as f64;
    let (longer, usual) = (share(&dirty), share(&clean));
    let alike = with < without * ALIKE || with - without < least;
    match longer - usual {
        more if more >= 0.7 => Estimate::known(true, probability(more), words, METHOD),
        more if more <= 0.3 && alike => Estimate::known(false, probability(1.0 - more), words, METHOD),
        _ => Estimate::unknown(Reason::TooNoisy, format!("too close to tell: {words}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run;
    use flashscope_model::observation::FloorData;

    /// Whether bursts that begin with such times, in µs, are taken into memory where the fastest reads take 100 µs.
    fn taken(first: [u64; 4]) -> bool {
        let block = Bytes::kib(4);
        let writes = first.into_iter().chain([900; 40]).map(Nanos::micros).collect();
        let burst = BurstTimes { writes, pause: Nanos::ZERO, then: Then::Flush, after: None };
        let length = Bytes::mib(4);
        let bursts = BufferData { block, start: Bytes::ZERO, length, rest: Nanos::ZERO, bursts: vec![burst; 3] };
        let floor = FloorData { block, at: Bytes::ZERO, times: vec![Nanos::micros(100); 9] };
        let runs = vec![run(Data::Floor(floor)), run(Data::Buffer(bursts))];
        taken_into_memory(&Observations { runs, ..Observations::default() }, block)
    }

    #[test]
    fn what_is_kept_in_memory_shows_without_a_size_and_what_is_not_does_not() {
        let unknown = || Estimate::unknown(Reason::Ambiguous, "a larger buffer, or a flash that keeps up");
        let none = WriteBuffer { size: Bytes::kib(4), limit: BufferLimit::Unknown, block: Bytes::kib(4), writes: 1 };
        let check = |longer: bool, size: Estimate<WriteBuffer>, expect: Option<bool>, doubted: bool| {
            let found = given_the_size(Estimate::known(longer, 0.99, "a flush", METHOD), &size);
            assert_eq!((found.value(), found.has_doubt(Doubt::SizeOpen)), (expect, doubted), "{longer} {size:?}");
        };
        check(true, unknown(), Some(true), true);
        check(false, unknown(), None, false);
        check(true, Estimate::known(none, 0.99, "bursts", METHOD), Some(true), false);
        check(false, Estimate::known(none, 0.99, "bursts", METHOD), Some(false), false);
    }

    #[test]
    fn the_shortest_read_of_late_tells_what_is_taken_into_memory() {
        let block = Bytes::kib(4);
        let floor = |time| run(Data::Floor(FloorData { block, at: Bytes::ZERO, times: vec![Nanos::micros(time); 9] }));
        let burst =
            BurstTimes { writes: vec![Nanos::micros(210); 8], pause: Nanos::ZERO, then: Then::Flush, after: None };
        let length = Bytes::mib(4);
        let bursts = BufferData { block, start: Bytes::ZERO, length, rest: Nanos::ZERO, bursts: vec![burst; 3] };
        let before = Observations { runs: vec![floor(100), run(Data::Buffer(bursts))], ..Observations::default() };
        let mut slower = before.clone();
        slower.runs.push(floor(200));
        let mut same = before.clone();
        same.runs.push(floor(101));
        assert_eq!([&before, &slower, &same].map(|seen| taken_into_memory(seen, block)), [false, true, false]);
    }

    #[test]
    fn one_slow_write_at_the_start_of_bursts_is_chance_and_four_are_none() {
        assert_eq!([[120, 104, 130, 101], [100, 900, 900, 900], [130; 4]].map(taken), [true, true, false]);
    }
}
