//! Read-ahead, from runs of reads in both orders, and from one read further on after a rest.
//!
//! A rest gives the device the time to fetch all that it will, so that the last of these tells most: how far behind a long
//! run data are at hand, and behind how short a run the next block is.

use super::gains::{First, Gains, Reach, floor};
use super::read_cache::all;
use super::{low, ns, ranks};
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

/// What is at hand saves at least this share of what the flash takes.
const LEAST_SAVED: f64 = 0.7;

/// Reads behind a long run, by their end.
pub(super) struct Behind {
    gains: Gains,
    times: BTreeMap<Bytes, Vec<f64>>,
    /// Reads in falling order, of which nothing is at hand.
    falling: Vec<f64>,
}

impl Behind {
    /// Where they stop being faster. What the fastest of them leave open, all of them may tell.
    pub(super) fn reach(&self) -> Reach {
        match self.gains.reach() {
            clear @ Reach::Between(..) => clear,
            open => self.step().map_or(open, |(held, gone)| Reach::Between(held, gone)),
        }
    }

    /// Where all of them show a step. Neighbours that share a page are fast as well, in whatever order they are read.
    fn step(&self) -> Option<(Bytes, Bytes)> {
        ranks::step(&self.times).filter(|_| ranks::clearly_slower(&self.falling, &self.near()).is_some())
    }

    /// The closest ones.
    fn near(&self) -> Vec<f64> {
        self.times.values().take(2).flatten().copied().collect()
    }

    /// How often what ends there was read.
    pub(super) fn rounds(&self, end: Bytes) -> usize {
        self.times.get(&end).map_or(0, Vec::len)
    }

    /// Whether nothing gains though the flash takes so little beside the link that a gain may be lost in the scatter.
    pub(super) fn may_be_lost(&self) -> bool {
        self.gains.may_be_lost()
    }
}

/// What is read before it is asked for.
pub(super) fn read_ahead(observations: &Observations) -> Estimate<ReadAhead> {
    let (Some(runs), Some(distances)) = (runs(observations), distances(observations)) else {
        return Estimate::unknown(Reason::NotMeasured, "no reads in a row behind a jump were observed");
    };
    let usual = Nanos(runs.usual as u64);
    let none = || {
        let evidence = format!("reads of {} in a row take {usual} in rising order as in falling order", runs.block);
        Estimate::known(ReadAhead { window: Bytes::ZERO, trigger: 0 }, SEEN, evidence, METHOD)
    };
    match (runs.anywhere(), distances.gains.anywhere()) {
        (Some(false), Some(false)) if distances.step().is_none() && first_fast(observations).is_none() => none(),
        _ if saves_nothing(observations, &distances) => none(),
        (Some(true), _) | (_, Some(true)) => there(observations, &runs, &distances),
        _ if matches!(distances.reach(), Reach::Between(..)) => there(observations, &runs, &distances),
        _ => Estimate::unknown(
            Reason::NothingShows,
            "reads in a row are hardly faster in rising order than in falling order, or cannot be",
        ),
    }
}

/// Whether reads in rising order, and those that would be at hand, take so nearly as long as those in falling order that nothing
/// of what the flash takes is saved.
fn saves_nothing(observations: &Observations, distances: &Behind) -> bool {
    let (near, usual) = (distances.near(), &distances.falling);
    let rising: Vec<f64> = rising(observations).into_values().flatten().collect();
    let flash = median(usual).zip(floor(observations, distances.gains.block)).map(|(usual, floor)| usual - floor);
    let saves_less =
        |least: f64| [near, rising].iter().all(|reads| ranks::most_gain(usual, reads).is_some_and(|most| most < least));
    flash.is_some_and(|flash| saves_less(flash * LEAST_SAVED))
        && matches!(distances.reach(), Reach::Nothing | Reach::Unclear)
}

fn there(observations: &Observations, runs: &Gains, distances: &Behind) -> Estimate<ReadAhead> {
    let Some((trigger, exact)) = trigger(observations, runs, distances) else {
        return Estimate::unknown(Reason::Ambiguous, "it reads ahead, but behind how many reads is not clear");
    };
    let of = |window: Bytes| ReadAhead { window, trigger };
    let evidence = |far: String| {
        format!(
            "behind {trigger} in a row, the next read of {} is {} faster than {}, which falling order never is; {far}",
            runs.block,
            Nanos(runs.best().max(distances.gains.best()) as u64),
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
fn trigger(observations: &Observations, runs: &Gains, distances: &Behind) -> Option<(u32, bool)> {
    if let Some(shortest) = shortest_run(observations, distances) {
        return Some((shortest, true));
    }
    if let Some(first) = first_fast(observations) {
        return Some((first, false));
    }
    let best = runs.best();
    let first = runs.by_size.iter().find(|(_, gain)| **gain > FIRST_GAIN * best && runs.anywhere() == Some(true))?;
    Some((u32::try_from(first.0.get()).unwrap_or(u32::MAX), false))
}

/// The shortest run behind which the next block is at hand, of those that were tried.
pub(super) fn shortest_run(observations: &Observations, distances: &Behind) -> Option<u32> {
    let (behind, first) = (behind_runs(observations), first_fast(observations));
    let gains = &distances.gains;
    let at_hand = |times: &Vec<f64>| low(times).is_some_and(|low| gains.usual - low > gains.half_way());
    behind.iter().find(|(run, times)| may_trigger(**run, first) && at_hand(times)).map(|(run, _)| *run)
}

/// Whether a device may read ahead behind a run of this length where so many reads of long runs are slow before the first fast one:
/// that one may still wait for what is fetched behind the one before it.
pub(super) fn may_trigger(run: u32, first_fast: Option<u32>) -> bool {
    first_fast.is_none_or(|first| run == first || run + 1 == first)
}

/// How many reads of a run come before the first fast one, where all of them show a step there, and enough of them lie behind it
/// to be no pattern of pages.
pub(super) fn first_fast(observations: &Observations) -> Option<u32> {
    let backwards = |index: u32| Bytes((RUN - index).into());
    let times = rising(observations).into_iter().filter(|(index, _)| *index < RUN);
    let (held, gone) = ranks::step(&times.map(|(index, times)| (backwards(index), times)).collect())?;
    (gone - held == Bytes(1) && held >= LEAST_FAST).then_some(RUN - u32::try_from(held.get()).unwrap_or(RUN))
}

/// So many reads at the end of a run are fast.
const LEAST_FAST: Bytes = Bytes(3);

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
pub(super) fn distances(observations: &Observations) -> Option<Behind> {
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
    let mut by_end: BTreeMap<Bytes, Vec<Vec<f64>>> = BTreeMap::new();
    by_run.into_iter().for_each(|((end, _), times)| by_end.entry(end).or_default().push(times));
    let farthest = |runs: &Vec<Vec<f64>>| {
        let lows = runs.iter().filter_map(|times| Some((times, low(times)?)));
        lows.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(Vec::new(), |(times, _)| times.clone())
    };
    let times: BTreeMap<Bytes, Vec<f64>> = by_end.iter().map(|(end, runs)| (*end, farthest(runs))).collect();
    // Few reads are the fastest by chance: all runs count that are not clearly slower.
    let like = |runs: &Vec<Vec<f64>>, fastest: &[f64]| {
        runs.iter().filter(|times| !ranks::are_slower(times, fastest)).flatten().copied().collect::<Vec<f64>>()
    };
    let pooled = by_end.iter().map(|(end, runs)| (*end, like(runs, &times[end]))).collect();
    let gains = Gains::new(observations, block?, times, falling(observations), First::Smallest)?;
    Some(Behind { gains, times: pooled, falling: falling(observations).concat() })
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
    let block = all(observations).next()?.block;
    let times = rising(observations).into_iter().map(|(index, times)| (Bytes(index.into()), times)).collect();
    Gains::new(observations, block, times, falling(observations), First::Largest)
}

/// Falling runs by index, the jump left out.
pub(super) fn falling(observations: &Observations) -> Vec<Vec<f64>> {
    by_index(observations, |data| &data.falling).into_values().collect()
}

/// Rising runs by index, the jump left out.
fn rising(observations: &Observations) -> BTreeMap<u32, Vec<f64>> {
    by_index(observations, |data| &data.rising)
}

fn by_index(observations: &Observations, runs: fn(&ReadCacheData) -> &[Vec<Nanos>]) -> BTreeMap<u32, Vec<f64>> {
    let mut by_index: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (data, pace) in paced(observations) {
        for (index, times) in by_place(runs(data)) {
            by_index.entry(index).or_default().extend(times.into_iter().map(|time| time * pace));
        }
    }
    by_index
}

/// Times of the runs of one experiment by index, the jump left out.
fn by_place(runs: &[Vec<Nanos>]) -> BTreeMap<u32, Vec<f64>> {
    let mut by_index: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for run in runs {
        for (index, time) in (0..).zip(run).skip(1) {
            by_index.entry(index).or_default().push(time.as_f64());
        }
    }
    by_index
}

/// All experiments, and what brings the times of each to the pace of the median one: falling order is read in all of them,
/// and a host or a device that is slower for a while is slower for that as well. Reads that wait for what is fetched behind the
/// ones before scatter by more than a pace: there reads in rising order tell it, where a run has some.
fn paced(observations: &Observations) -> impl Iterator<Item = (&ReadCacheData, f64)> {
    let falls: Vec<Option<f64>> = all(observations).map(|data| level(&data.falling)).collect();
    let rises: Vec<Option<f64>> = all(observations).map(|data| level(&data.rising)).collect();
    let waits =
        |(rising, falling): (&Option<f64>, &Option<f64>)| rising.zip(*falling).is_some_and(|(r, f)| r < WAITS * f);
    let levels = if rises.iter().zip(&falls).any(waits) { rises } else { falls };
    let usual = median(&levels.iter().copied().flatten().collect::<Vec<f64>>());
    all(observations)
        .zip(levels)
        .map(move |(data, here)| (data, usual.zip(here).map_or(1.0, |(usual, here)| usual / here)))
}

/// What a read of these runs takes, the jump left out.
fn level(runs: &[Vec<Nanos>]) -> Option<f64> {
    let lows: Vec<f64> = by_place(runs).values().filter_map(|times| low(times)).collect();
    median(&lows)
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

    #[test]
    fn where_a_run_becomes_fast_shows_in_all_its_reads_and_pages_make_no_such_place() {
        let first = |slow: fn(usize) -> bool| {
            let time = |round: u64, index: usize| {
                let slow = if slow(index) { 60 } else { 0 };
                Nanos::micros(900 + (round * 7 + index as u64 * 5) % 40 + slow)
            };
            let runs = (0..24).map(|round| (0..8).map(|index| time(round, index)).collect()).collect();
            let data = ReadCacheData {
                block: Bytes::kib(4),
                spans: Vec::new(),
                rising: runs,
                falling: vec![vec![Nanos::micros(960); 8]; 24],
                ahead: Vec::new(),
            };
            first_fast(&Observations { runs: vec![run(Data::ReadCache(data))], ..Observations::default() })
        };
        assert_eq!(first(|index| index < 4), Some(4));
        assert_eq!(first(|index| index < 1), None);
        // Two blocks of a page, and four.
        assert_eq!(first(|index| index % 2 == 0), None);
        assert_eq!(first(|index| index % 4 == 0), None);
    }
}
