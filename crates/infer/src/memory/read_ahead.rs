//! Read-ahead, from runs of reads in both orders, and from one read further on after a rest.
//!
//! A rest gives the device the time to fetch all that it will, so that the last of these tells most: how far behind a long
//! run data are at hand, and behind how short a run the next block is.

use super::gains::{First, Gains, Reach};
use super::read_cache::all;
use super::{low, ns};
use crate::numbers::{SEEN, median};
use flashscope_model::finding::{Doubt, ReadAhead};
use flashscope_model::observation::ReadCacheData;
use flashscope_model::{Estimate, ExperimentName, Observations, Reason};
use flashscope_units::{Bytes, Nanos};
use std::collections::BTreeMap;

/// The experiment that this rests on.
const METHOD: &[ExperimentName] = &[ExperimentName::ReadCache];

/// Blocks in a row that make any device read ahead that does.
pub(super) const RUN: u32 = 8;

/// Windows are whole multiples of this.
pub(super) const GRAIN: Bytes = Bytes::kib(4);

/// The first read of a run that finds something may still have to wait for some of it.
const FIRST_GAIN: f64 = 0.3;

/// What is read before it is asked for.
pub(super) fn read_ahead(observations: &Observations) -> Estimate<ReadAhead> {
    let (Some(runs), Some(distances)) = (runs(observations), distances(observations)) else {
        return Estimate::unknown(Reason::NotMeasured, "no reads in a row behind a jump were observed");
    };
    let usual = Nanos(runs.usual as u64);
    match (runs.anywhere(), distances.anywhere()) {
        (Some(true), _) | (_, Some(true)) => there(observations, &runs, &distances),
        (Some(false), Some(false)) => {
            let evidence = format!("reads of {} in a row take {usual} in rising order as in falling order", runs.block);
            Estimate::known(ReadAhead { window: Bytes::ZERO, trigger: 0 }, SEEN, evidence, METHOD)
        }
        _ => Estimate::unknown(
            Reason::NothingShows,
            "reads in a row are hardly faster in rising order than in falling order, or cannot be",
        ),
    }
}

fn there(observations: &Observations, runs: &Gains, distances: &Gains) -> Estimate<ReadAhead> {
    let Some((trigger, exact)) = trigger(observations, runs, distances) else {
        return Estimate::unknown(Reason::Ambiguous, "it reads ahead, but behind how many reads is not clear");
    };
    let of = |window: Bytes| ReadAhead { window, trigger };
    let evidence = |far: String| {
        format!(
            "behind {trigger} in a row, the next read of {} is {} faster than {}, which falling order never is; {far}",
            runs.block,
            Nanos(runs.best().max(distances.best()) as u64),
            Nanos(runs.usual as u64)
        )
    };
    // Runs of other lengths were not tried.
    let blurred = (!exact).then_some(Doubt::Blurred);
    let found = match distances.reach() {
        Reach::Between(held, gone) if gone - held <= GRAIN => {
            Estimate::known(of(held), SEEN, evidence(format!("{held} behind the last one are at hand")), METHOD)
        }
        Reach::Between(held, gone) => {
            let far = format!("{held} behind the last one are at hand, {gone} are not");
            Estimate::between(of(held), of(gone), SEEN, evidence(far), METHOD)
        }
        // Then the reads in falling order waited for what was fetched behind the ones before, and nothing is known to be
        // not at hand. So it is where only the last of a run stand out: those before them waited as well.
        Reach::Beyond(_) if trigger <= 1 || trigger >= RUN - 1 => Estimate::unknown(
            Reason::NothingShows,
            "it reads ahead behind every read, but how far does not show: all reads behind a run take about as long",
        ),
        Reach::Beyond(held) => {
            Estimate::at_least(of(held), SEEN, evidence(format!("even {held} behind the last one are at hand")), METHOD)
        }
        Reach::Nothing | Reach::Unclear => {
            Estimate::unknown(Reason::TooNoisy, "reads in rising order are faster, but nothing behind them is at hand")
        }
    };
    found.with_doubts(blurred)
}

/// Reads in a row that it takes, and whether runs of that length were tried.
fn trigger(observations: &Observations, runs: &Gains, distances: &Gains) -> Option<(u32, bool)> {
    if let Some(shortest) = shortest_run(observations, distances) {
        return Some((shortest, true));
    }
    let best = runs.best();
    let first = runs.by_size.iter().find(|(_, gain)| **gain > FIRST_GAIN * best && runs.anywhere() == Some(true))?;
    Some((u32::try_from(first.0.get()).unwrap_or(u32::MAX), false))
}

/// The shortest run behind which the next block is at hand, of those that were tried.
pub(super) fn shortest_run(observations: &Observations, distances: &Gains) -> Option<u32> {
    let behind = behind_runs(observations);
    let at_hand = |times: &Vec<f64>| low(times).is_some_and(|low| distances.usual - low > distances.half_way());
    behind.iter().find(|(_, times)| at_hand(times)).map(|(run, _)| *run)
}

/// Times of the next block, by the length of the run before it; of runs too short to be sure of anything.
pub(super) fn behind_runs(observations: &Observations) -> BTreeMap<u32, Vec<f64>> {
    let mut behind: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (data, pace) in paced(observations).filter(|(data, _)| run_length(data) < RUN) {
        for ahead in data.ahead.iter().filter(|ahead| ahead.distance == Bytes::ZERO) {
            behind.entry(run_length(data)).or_default().extend(ns(&ahead.times).iter().map(|time| time * pace));
        }
    }
    behind
}

/// Reads behind a long run, by their end. Data are fetched in steps, so that how far they reach depends on where the run
/// ended: of several lengths of it, the one counts behind which they reach farthest.
pub(super) fn distances(observations: &Observations) -> Option<Gains> {
    let mut by_run: BTreeMap<(Bytes, u32), Vec<f64>> = BTreeMap::new();
    let mut block = None;
    let longest = all(observations).map(run_length).max()?;
    for (data, pace) in paced(observations).filter(|(data, _)| run_length(data) >= RUN.min(longest)) {
        block = block.or(Some(data.block));
        for ahead in &data.ahead {
            let end = ahead.distance + data.block;
            let times = ns(&ahead.times).into_iter().map(|time| time * pace);
            by_run.entry((end, run_length(data))).or_default().extend(times);
        }
    }
    let mut times: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    for ((end, _), samples) in by_run {
        let faster = times.get(&end).is_none_or(|others| low(&samples) < low(others));
        if faster {
            times.insert(end, samples);
        }
    }
    Gains::new(observations, block?, times, falling(observations), First::Smallest)
}

/// Lengths of the runs that were tried, behind each of which something was read.
pub(super) fn tried_runs(observations: &Observations) -> Vec<u32> {
    all(observations).filter(|data| !data.ahead.is_empty()).map(run_length).collect()
}

fn run_length(data: &ReadCacheData) -> u32 {
    data.rising.first().map_or(0, |run| u32::try_from(run.len()).unwrap_or(u32::MAX))
}

/// Rising runs by index.
pub(super) fn runs(observations: &Observations) -> Option<Gains> {
    let mut times: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    let mut block = None;
    for (data, pace) in paced(observations) {
        block = block.or(Some(data.block));
        for run in &data.rising {
            for (index, time) in run.iter().enumerate().skip(1) {
                times.entry(Bytes(index as u64)).or_default().push(time.as_f64() * pace);
            }
        }
    }
    Gains::new(observations, block?, times, falling(observations), First::Largest)
}

/// Falling runs by index, the jump left out.
pub(super) fn falling(observations: &Observations) -> Vec<Vec<f64>> {
    let mut by_index: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (data, pace) in paced(observations) {
        for (index, times) in by_place(data) {
            by_index.entry(index).or_default().extend(times.into_iter().map(|time| time * pace));
        }
    }
    by_index.into_values().collect()
}

/// Times of the falling runs of one experiment by index, the jump left out.
fn by_place(data: &ReadCacheData) -> BTreeMap<usize, Vec<f64>> {
    let mut by_index: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for run in &data.falling {
        for (index, time) in run.iter().enumerate().skip(1) {
            by_index.entry(index).or_default().push(time.as_f64());
        }
    }
    by_index
}

/// All experiments, and what brings the times of each to the pace of the median one: falling order is read in all of them,
/// and a host or a device that is slower for a while is slower for that as well. Reads that wait for what is fetched behind the
/// ones before scatter by more than a pace, and tell none.
fn paced(observations: &Observations) -> impl Iterator<Item = (&ReadCacheData, f64)> {
    let level = |data: &ReadCacheData| {
        let lows: Vec<f64> = by_place(data).values().filter_map(|times| low(times)).collect();
        let level = median(&lows)?;
        in_rising_order(data).is_none_or(|rising| rising >= WAITS * level).then_some(level)
    };
    let levels: Vec<Option<f64>> = all(observations).map(level).collect();
    let usual = median(&levels.iter().copied().flatten().collect::<Vec<f64>>());
    all(observations)
        .zip(levels)
        .map(move |(data, here)| (data, usual.zip(here).map_or(1.0, |(usual, here)| usual / here)))
}

/// What a read right behind another takes in rising order.
fn in_rising_order(data: &ReadCacheData) -> Option<f64> {
    let second: Vec<f64> = data.rising.iter().filter_map(|run| run.get(1)).map(|time| time.as_f64()).collect();
    low(&second)
}

/// Where the second read of a rising run takes less than this share of one in falling order, each fetches what is behind it.
const WAITS: f64 = 0.8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run;
    use flashscope_model::Data;

    /// Runs of three, of which those in falling order take so long, in µs, and those in rising order so long behind the first.
    fn runs(falling: u64, rising: u64) -> Data {
        let run = |rest: u64| vec![Nanos::micros(500), Nanos::micros(rest), Nanos::micros(rest)];
        Data::ReadCache(ReadCacheData {
            block: Bytes::kib(4),
            spans: Vec::new(),
            rising: vec![run(rising); 4],
            falling: vec![run(falling); 4],
            ahead: Vec::new(),
        })
    }

    #[test]
    fn what_is_slower_for_a_while_is_brought_to_one_pace_and_what_waits_tells_none() {
        let paces = |all: [Data; 3]| -> Vec<f64> {
            let observations = Observations { runs: all.map(run).into(), ..Observations::default() };
            paced(&observations).map(|(_, pace)| pace).collect()
        };
        assert_eq!(paces([runs(500, 490), runs(400, 390), runs(500, 490)]), [1.0, 1.25, 1.0]);
        assert_eq!(paces([runs(3000, 1000), runs(2400, 1000), runs(3000, 1000)]), [1.0; 3]);
    }
}
