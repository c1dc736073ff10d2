//! Discard: what discarded places read as, from which size on it takes effect, and whether later writes are faster for it.

use crate::Choice;
use crate::numbers::{SEEN, digits, gcd, median};
use crate::situation::Situation;
use flashscope_model::discard::{Discard, DiscardData, DiscardFound, DiscardReads, DiscardTrial};
use flashscope_model::finding::Doubt;
use flashscope_model::{Data, Estimate, Experiment, ExperimentName, Observations, Reason};
use flashscope_stats::test::{Alternative, cliffs_delta, mann_whitney};
use flashscope_units::{Bytes, Nanos};

/// Sizes go up to this, or to the unit where that is larger.
const LARGEST: Bytes = Bytes::mib(4);

/// No unit above this is discarded whole: that costs more writing than the answer is worth.
const LARGEST_UNIT: Bytes = Bytes::mib(32);

/// Size of reads and random writes, where the logical block is no larger.
const BLOCK: Bytes = Bytes::kib(4);

/// Size of the random writes, as long as a unit holds several: past any separate path for small ones.
const REWRITE_BLOCK: Bytes = Bytes::kib(64);
/// Fewest random writes of that size in a unit; else they are shorter.
const LEAST_OF_UNIT: u64 = 8;

/// How often each size is tried.
const REPEATS: u32 = 2;
/// Random writes to each of two spans.
const REWRITES: u32 = 16;

/// Places that are asked for; fewer serve, and are used again.
const PLACES: [usize; 4] = [14, 8, 5, 3];

/// Number of trials of a size in which it must take effect: all of them.
const ALL: usize = 2;

/// Random writes differ where one span's exceed the other's this clearly (Cliff's δ; 0.474 is called large) …
const CLEARLY: f64 = 0.474;

/// … and where chance alone does so no more often than this (p of Mann and Whitney).
const BY_CHANCE: f64 = 0.001;

/// The one experiment, once everything else is settled.
pub(crate) fn choice(now: &Situation) -> Option<Choice> {
    if now.has(|data| matches!(data, Data::Discard(_))) {
        return None;
    }
    let block = now.block(BLOCK);
    let unit = now.unit().align_down(block).clamp(block, LARGEST_UNIT);
    let places = places(now, unit + block)?;
    let rewrite_block = now.block(REWRITE_BLOCK.min((unit / LEAST_OF_UNIT).align_down(block)));
    let mut sizes: Vec<Bytes> = std::iter::successors(Some(block), |size| Some(*size * 2))
        .take_while(|size| *size <= LARGEST.min(unit))
        .chain([unit])
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    let plan = Discard { block, sizes, repeats: REPEATS, places, span: unit, rewrites: REWRITES, rewrite_block };
    let why = "what discard does, and from which size on".to_owned();
    Some(Choice { experiment: Experiment::Discard(plan), why })
}

/// Places with room for what is written there: behind the last unit of a device there is none for a block more.
fn places(now: &Situation, reach: Bytes) -> Option<Vec<Bytes>> {
    let pool = now.pool();
    PLACES.into_iter().find_map(|count| {
        let mut places = pool.take((count + 1).min(pool.size()), &mut now.rng(0xd15c))?;
        places.retain(|place| *place + reach <= now.device.capacity);
        places.truncate(count);
        (places.len() == count).then_some(places)
    })
}

/// What it takes, where that is no large part of all that may be written: one experiment tells all that discard does.
pub(crate) fn left_for_discard(now: &Situation) -> Bytes {
    let next = most_left(now);
    if next * BUDGET_SHARE <= now.write_budget { next } else { Bytes::ZERO }
}

/// That part.
const BUDGET_SHARE: u64 = 5;

/// What it can still write at the worst.
pub(crate) fn most_left(now: &Situation) -> Bytes {
    choice(now).map_or(Bytes::ZERO, |choice| choice.experiment.bytes_written())
}

/// What discards showed.
pub(crate) fn estimate(observations: &Observations) -> Estimate<DiscardFound> {
    let mut runs = observations.runs.iter().filter_map(|run| match &run.data {
        Data::Discard(data) => Some(data),
        _ => None,
    });
    let Some(data) = runs.next_back() else { return Estimate::not_measured() };
    let method = &[ExperimentName::Discard];
    if !data.supported {
        let absent = DiscardFound {
            reads: DiscardReads::Absent,
            granularity: None,
            smallest: None,
            largest: None,
            largest_time: None,
            rewrite_ratio: None,
        };
        return Estimate::known(absent, SEEN, "the way to the device takes no discard", method);
    }
    let sizes = by_size(data);
    let (Some((least, _)), Some((most, _))) = (sizes.first(), sizes.last()) else {
        return Estimate::unknown(Reason::TooFew, "no discard went well");
    };
    let took: Vec<bool> = sizes.iter().map(|(_, trials)| trials.iter().all(took_effect)).collect();
    let from = took.iter().rposition(|took| !took).map_or(0, |last| last + 1);
    let smallest = sizes.get(from).map(|(size, _)| *size);
    let step = smallest.and_then(|size| step(size, sizes[from..].iter().flat_map(|(_, trials)| trials)));
    let granularity = step.or(smallest);
    let reads = read_as(sizes[from..].iter().flat_map(|(_, trials)| trials));
    // Below the granularity nothing takes effect, and from it on everything does.
    let mixed = sizes[..from].iter().any(|(_, trials)| trials.iter().any(took_effect));
    let repeated = sizes.iter().all(|(_, trials)| trials.len() >= ALL);
    // What was never tried may take effect: eMMC erases in groups that can be larger than its units.
    let too_small = reads == DiscardReads::Kept && *most < LARGEST;
    let doubts = [
        (mixed || reads == DiscardReads::Other).then_some(Doubt::RunsDisagree),
        (!repeated).then_some(Doubt::SeenOnce),
        too_small.then_some(Doubt::NoEnd),
    ];
    let time = |at: usize| median(&sizes[at].1.iter().map(|trial| trial.time.as_f64()).collect::<Vec<_>>());
    let nanos = |time: f64| Nanos(time.round() as u64);
    let found = DiscardFound {
        reads,
        granularity,
        smallest: time(0).map(nanos),
        largest: Some(*most),
        largest_time: time(sizes.len() - 1).map(nanos),
        rewrite_ratio: rewrite_ratio(data),
    };
    let effect = match smallest {
        Some(size) if granularity != smallest => {
            let step = granularity.unwrap_or_default();
            format!(
                "of discards of {size} and more, what holds whole steps of a grid of {step} reads as {}",
                reads.word()
            )
        }
        Some(size) if size == *least => format!("discards of {size} and more read as {} at once", reads.word()),
        Some(size) => format!("discards below {size} change nothing, from {size} on they read as {}", reads.word()),
        None => format!("what was discarded reads as before, up to {most}"),
    };
    let later = found.rewrite_ratio.map_or(String::new(), |ratio| {
        format!("; random {} writes behind one are {}× as fast as without", data.rewrite_block, digits(ratio))
    });
    let found = Estimate::known(found, SEEN, format!("{effect}{later}"), method);
    found.with_doubts(doubts.into_iter().flatten())
}

/// What all ranges that took effect are multiples of, where it explains why `smallest` is the smallest discard that does: of
/// sizes that double, the one that holds a whole step wherever the steps lie. A device without a grid of its own reaches to
/// both ends of each discard.
fn step<'a>(smallest: Bytes, trials: impl Iterator<Item = &'a DiscardTrial>) -> Option<Bytes> {
    let taken = |trial: &DiscardTrial| trial.kept.map(|(start, end)| trial.size.saturating_sub(start + end).get());
    let common = trials.filter_map(taken).reduce(gcd)?;
    (common * MOST_STEPS > smallest.get()).then_some(Bytes(common))
}

/// A discard of half its size would have held a whole step, if as many went into the smallest that took effect.
const MOST_STEPS: u64 = 4;

/// The trials of each size, rising.
fn by_size(data: &DiscardData) -> Vec<(Bytes, Vec<DiscardTrial>)> {
    let mut sizes: Vec<Bytes> = data.trials.iter().map(|trial| trial.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let of = |size: Bytes| data.trials.iter().filter(|trial| trial.size == size).copied().collect();
    sizes.into_iter().map(|size| (size, of(size))).collect()
}

/// What was written is no single byte throughout.
fn took_effect(trial: &DiscardTrial) -> bool {
    trial.uniform.is_some()
}

fn read_as<'a>(trials: impl Iterator<Item = &'a DiscardTrial>) -> DiscardReads {
    let mut bytes: Vec<u8> = trials.filter_map(|trial| trial.uniform).collect();
    bytes.sort_unstable();
    bytes.dedup();
    match bytes[..] {
        [] => DiscardReads::Kept,
        [0x00] => DiscardReads::Zeros,
        [0xff] => DiscardReads::Ones,
        _ => DiscardReads::Other,
    }
}

/// How many times as fast random writes are behind a discard; 1 where they do not clearly differ.
fn rewrite_ratio(data: &DiscardData) -> Option<f64> {
    let seconds = |times: &[Nanos]| times.iter().map(|time| time.as_f64()).collect::<Vec<f64>>();
    let (behind, control) = (seconds(&data.behind), seconds(&data.control));
    let delta = cliffs_delta(&control, &behind).ok()?;
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    let chance = mann_whitney(&control, &behind, Alternative::TwoSided).ok()?.p_value;
    Some(if delta.abs() >= CLEARLY && chance <= BY_CHANCE { mean(&control) / mean(&behind) } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::Run;
    use flashscope_model::observation::{AreaState, Source, Spent};
    use flashscope_units::Instant;

    fn observed(data: DiscardData) -> Observations {
        let run = Run {
            source: Source::Probe { started: Instant::ORIGIN },
            state: AreaState::Unknown,
            complete: true,
            spent: Spent::default(),
            failures: Vec::new(),
            data: Data::Discard(data),
        };
        Observations { capacity: None, runs: vec![run], ..Observations::default() }
    }

    /// Two trials of each size from 4 KiB to 4 MiB; those of `from` and more read as `byte`.
    fn trials(from: Bytes, byte: u8) -> DiscardData {
        let sizes = (0..=10).map(|power| Bytes::kib(4 << power));
        let trial = |size: Bytes| DiscardTrial {
            size,
            time: Nanos::micros(400),
            uniform: (size >= from).then_some(byte),
            kept: (size >= from).then_some((Bytes::ZERO, Bytes::ZERO)),
            read: Nanos::micros(500),
            read_behind: Nanos::micros(700),
        };
        let trials = sizes.flat_map(|size| [trial(size), trial(size)]).collect();
        DiscardData {
            block: Bytes::kib(4),
            rewrite_block: Bytes::kib(64),
            supported: true,
            trials,
            behind: Vec::new(),
            control: Vec::new(),
        }
    }

    #[test]
    fn random_writes_behind_a_discard_differ_only_where_that_is_hardly_chance() {
        // Of sixteen that rise evenly, those that are later by five ranks exceed the others with δ = 0.53.
        let rising = |from: u64| (from..from + 16).map(|time| Nanos::micros(1000 + 10 * time)).collect::<Vec<_>>();
        let ratio = |control: u64| {
            let data = DiscardData { behind: rising(0), control: rising(control), ..trials(Bytes::kib(4), 0) };
            rewrite_ratio(&data).map(|ratio| (ratio * 100.0).round())
        };
        assert_eq!([0, 5, 16].map(ratio), [Some(100.0), Some(100.0), Some(115.0)]);
    }

    #[test]
    fn the_smallest_size_that_takes_effect_is_told() {
        let check = |from: Bytes, byte: u8, reads: DiscardReads, granularity: Option<Bytes>| {
            let found = estimate(&observed(trials(from, byte))).value().expect("a figure");
            assert_eq!((found.reads, found.granularity), (reads, granularity));
        };
        check(Bytes::kib(1), 0x00, DiscardReads::Zeros, Some(Bytes::kib(4)));
        check(Bytes::kib(64), 0xff, DiscardReads::Ones, Some(Bytes::kib(64)));
        check(Bytes::kib(48), 0x5a, DiscardReads::Other, Some(Bytes::kib(64)));
        check(Bytes::gib(1), 0x00, DiscardReads::Kept, None);
    }

    #[test]
    fn a_grid_that_lies_elsewhere_is_told_from_what_is_kept_at_the_ends() {
        let check = |step: Bytes, shift: Bytes, granularity: Bytes| {
            let mut data = trials(Bytes::kib(1), 0);
            for trial in &mut data.trials {
                // Discards start at multiples of everything; steps start at `shift` and its multiples of `step`.
                let end = shift + trial.size.saturating_sub(shift).align_down(step);
                let taken = end.saturating_sub(shift);
                let middle = trial.size / 2;
                let inside = taken > Bytes::ZERO && (shift..end).contains(&middle);
                trial.uniform = inside.then_some(0);
                trial.kept = inside.then(|| (shift, trial.size.saturating_sub(end)));
            }
            let estimate = estimate(&observed(data));
            assert_eq!(estimate.value().and_then(|found| found.granularity), Some(granularity), "{step} {shift}");
            assert!(!estimate.has_doubt(Doubt::RunsDisagree), "{estimate:?}");
        };
        for shift in [512, 3584, 4096, 15_872] {
            check(Bytes::kib(16), Bytes(shift), Bytes::kib(16));
        }
        check(Bytes::kib(4), Bytes(3584), Bytes::kib(4));
        check(Bytes::kib(12), Bytes::ZERO, Bytes::kib(12));
        check(Bytes::kib(64), Bytes::ZERO, Bytes::kib(64));
    }

    #[test]
    fn ends_that_follow_no_grid_are_no_grid() {
        let mut data = trials(Bytes::kib(64), 0);
        for (index, trial) in data.trials.iter_mut().enumerate().filter(|(_, trial)| trial.uniform.is_some()) {
            trial.kept = Some((Bytes::kib(index as u64), Bytes::ZERO));
        }
        assert_eq!(estimate(&observed(data)).value().and_then(|found| found.granularity), Some(Bytes::kib(64)));
    }

    #[test]
    fn that_nothing_takes_effect_is_sure_only_of_what_was_tried() {
        let mut data = trials(Bytes::gib(1), 0);
        assert!(!estimate(&observed(data.clone())).has_doubt(Doubt::NoEnd));
        data.trials.retain(|trial| trial.size <= Bytes::kib(512));
        assert!(estimate(&observed(data)).has_doubt(Doubt::NoEnd));
    }

    #[test]
    fn what_takes_effect_now_and_then_is_not_sure() {
        let mut data = trials(Bytes::kib(64), 0);
        data.trials[2].uniform = Some(0);
        let found = estimate(&observed(data));
        assert!(found.has_doubt(Doubt::RunsDisagree));
    }

    #[test]
    fn nothing_is_said_where_nothing_was_tried() {
        assert!(estimate(&Observations::default()).is_unknown());
        let none = DiscardData { trials: Vec::new(), ..trials(Bytes::ZERO, 0) };
        assert_eq!(estimate(&observed(none.clone())).reason(), Some(Reason::TooFew));
        let absent = estimate(&observed(DiscardData { supported: false, ..none })).value().expect("a figure");
        assert_eq!(absent.reads, DiscardReads::Absent);
    }
}
