//! Whether all was measured on one device in one state.
//!
//! Repeats of one test must agree, and a boundary read again must take as long as before. Where they do not, the device
//! changed under the test, or there are two: whatever is then said of it is no surer than a toss, and says why. A stated
//! size that the places of the tables do not fit is a contradiction of the same kind, and so are printed tables that no
//! one device has ([`printed`]).

pub(crate) mod printed;
mod repeated;

use crate::numbers::{digits, median};
use flashscope_model::finding::SlcCache;
use flashscope_model::observation::{AlignEvidence, BoundariesData, RateEvidence, Run, Straddle};
use flashscope_model::{Data, Estimate, Observations, Order};
use flashscope_stats::test::cliffs_delta;
use flashscope_units::{Bytes, Nanos};
use printed::Disagreement;
use std::collections::{BTreeMap, BTreeSet};

/// What contradicts what.
pub(crate) struct Contradiction {
    /// In words, for a note.
    pub(crate) what: String,
    /// What it puts in doubt.
    pub(crate) scope: Scope,
}

/// How far a contradiction reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// Trials that met a cache of fast cells now empty, now full: nothing changed but that.
    Cache,
    /// Trials of one count of units, whose places may be why: two of them in one unit, or a slow one.
    Counts,
    /// All that was written.
    Writes,
    /// Everything.
    Everything,
    /// Everything, and what rests on tables of writes is of two devices taken together: no answer at all.
    Devices,
}

/// Repeats of writes differ by this factor where something changed: collections come and go, but not in most rounds.
const WRITES_FACTOR: f64 = 2.5;

/// The same of reads, which are far steadier.
const READS_FACTOR: f64 = 1.5;

/// Share of pairs that are on one side.
const CLEAR: f64 = 0.9;

/// Short writes may differ by more than the long ones that a cache was found with.
const CACHE_ROOM: f64 = 1.25;

/// Fewer samples of a repeat tell nothing.
const LEAST_SAMPLES: usize = 6;

/// Seven odd multiples of the largest alignment of a table are read: the device has at least half as many.
const LEAST_ALIGNMENTS: u64 = 3;

/// The first contradiction there is, those of reads first.
pub(crate) fn contradiction(observations: &Observations, cache: &Estimate<SlcCache>) -> Option<Contradiction> {
    if let Some(Disagreement::Devices(what)) = printed::disagreement(observations) {
        return Some(Contradiction { what: format!("{what}: two devices, or two readers"), scope: Scope::Devices });
    }
    let reads = capacity(observations).or_else(|| reads_changed(observations));
    let reads = reads.or_else(|| {
        repeated::contradiction(observations).map(|what| format!("{what}: the device changed under the test"))
    });
    let found = reads.map(|what| Contradiction { what, scope: Scope::Everything });
    found.or_else(|| writes_changed(observations, cache.value().map_or(1.0, slower_when_full)))
}

/// How many times as slow writes are at most where the cache is full, and a bit: what waits for it to be emptied is part.
fn slower_when_full(cache: SlcCache) -> f64 {
    CACHE_ROOM * cache.cached.0 / cache.after.0.max(1.0)
}

/// A stated size that the places which were measured do not fit.
fn capacity(observations: &Observations) -> Option<String> {
    let capacity = observations.capacity?;
    let beyond = observations.runs.iter().filter_map(farthest).max().filter(|end| *end > capacity);
    if let Some(end) = beyond {
        return Some(format!(
            "the device is said to hold {capacity}, yet was measured up to {end}: perhaps two devices"
        ));
    }
    let largest = observations.runs.iter().filter_map(largest_printed_alignment).max()?;
    (largest * LEAST_ALIGNMENTS > capacity).then(|| {
        format!(
            "the device is said to hold {capacity}, but a table of alignments up to {largest} comes from one of {} or more",
            largest * LEAST_ALIGNMENTS
        )
    })
}

/// Where the farthest access of a run with known places lies.
fn farthest(run: &Run) -> Option<Bytes> {
    match &run.data {
        Data::Boundaries(data) => data.candidates.iter().flat_map(|one| &one.places).map(|place| place.at).max(),
        Data::Slide(data) => data.places.iter().map(|place| place.at).max(),
        Data::Survey(data) => data.places.iter().map(|place| place.at).max(),
        Data::OpenUnits(data) => data.units.iter().copied().max(),
        Data::FastArea(data) => data.suspects.iter().chain(&data.controls).map(|unit| unit.at).max(),
        Data::Throughput(data) => Some(data.start + data.length),
        _ => None,
    }
}

fn largest_printed_alignment(run: &Run) -> Option<Bytes> {
    let Data::Align(table) = &run.data else { return None };
    let printed = |evidence: &AlignEvidence| matches!(evidence, AlignEvidence::Printed { .. });
    // One odd row may be a slip of the pen; the row below it belongs to the same table.
    let rows: Vec<Bytes> = table.rows.iter().filter(|row| printed(&row.evidence)).map(|row| row.align).collect();
    let largest = rows.iter().copied().max()?;
    rows.contains(&(largest / 2)).then_some(largest)
}

/// Reads of the same place that take longer, or less long, in later rounds than in earlier ones, nearly everywhere.
fn reads_changed(observations: &Observations) -> Option<String> {
    observations.runs.iter().find_map(|run| match &run.data {
        Data::Boundaries(data) => drifted(data),
        _ => None,
    })
}

fn drifted(data: &BoundariesData) -> Option<String> {
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for times in data.candidates.iter().flat_map(|one| &one.places).flat_map(roles) {
        if let ([first, .., last], true) = (times.as_slice(), times.len() >= 3) {
            early.push(first.as_secs_f64());
            late.push(last.as_secs_f64());
        }
    }
    changed(&early, &late, READS_FACTOR).map(|factor| {
        format!("reads of the same places took {}× as long at the end of a test as at its beginning", digits(factor))
    })
}

fn roles(place: &Straddle) -> [&Vec<Nanos>; 3] {
    [&place.pre, &place.on, &place.post]
}

/// Trials of the same count, order and block size that do not agree. A device that changed takes another time for more than
/// one of them; where others agree, or there are none, the places may be why. Where a cache takes writes that are `when_full`
/// times as slow without it, and no trial differs by more, it is the cache.
fn writes_changed(observations: &Observations, when_full: f64) -> Option<Contradiction> {
    type Trials<'a> = BTreeMap<(bool, Bytes, usize), Vec<f64>>;
    let mut before = Trials::new();
    let mut first: Option<String> = None;
    let mut changed_trials = BTreeSet::new();
    let mut most: f64 = 1.0;
    for run in observations.runs.iter().filter(|run| run.spent.written > Bytes::ZERO) {
        let Data::OpenUnits(data) = &run.data else { continue };
        for row in &data.rows {
            let RateEvidence::Times(times) = &row.rate else { continue };
            let seconds = steady(times, data.units.len());
            let key = (data.order == Order::Random, row.block, data.units.len());
            if let Some(earlier) = before.get(&key)
                && let Some(factor) = changed(earlier, &seconds, WRITES_FACTOR)
            {
                changed_trials.insert(key);
                most = most.max(factor.max(1.0 / factor));
                first.get_or_insert_with(|| {
                    format!(
                        "{} units at {} were {}× as slow when they were tried again",
                        data.units.len(),
                        row.block,
                        digits(factor)
                    )
                });
            }
            before.insert(key, seconds);
        }
    }
    let scope = match changed_trials.len() {
        _ if most <= when_full => Scope::Cache,
        0 | 1 => Scope::Counts,
        _ => Scope::Writes,
    };
    let what = match scope {
        Scope::Cache => first?,
        _ => format!("{}: the device changed under the test", first?),
    };
    Some(Contradiction { what, scope })
}

/// Times of single writes without the first two rounds, which pay for what was open before.
fn steady(times: &[Nanos], count: usize) -> Vec<f64> {
    times.iter().skip(2 * count).map(|time| time.as_secs_f64()).collect()
}

/// How many times as long the later samples are, where nearly all are on one side of the earlier ones and by enough.
fn changed(early: &[f64], late: &[f64], factor: f64) -> Option<f64> {
    if early.len().min(late.len()) < LEAST_SAMPLES {
        return None;
    }
    let ratio = median(late)? / median(early)?;
    let clear = || cliffs_delta(late, early).is_ok_and(|delta| delta.abs() > CLEAR);
    (ratio.ln().abs() > factor.ln() && clear()).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_on_one_side_by_enough_have_changed() {
        let samples = |mean: f64| -> Vec<f64> { (0..20).map(|i| mean * (1.0 + 0.01 * f64::from(i))).collect() };
        let check = |early: f64, late: f64, expect: bool| {
            assert_eq!(changed(&samples(early), &samples(late), 1.5).is_some(), expect, "{early} {late}");
        };
        check(1.0, 1.0, false);
        check(1.0, 1.4, false);
        check(1.0, 2.0, true);
        check(2.0, 1.0, true);
        assert_eq!(changed(&[1.0; 3], &[9.0; 3], 1.5), None, "too few");
    }
}
