//! What to measure next of read buffer and read-ahead: sizes a factor apart, again where they scatter too much, then the
//! sizes between, and runs of other lengths.

use super::gains::{Gains, Reach};
use super::read_ahead::{self, Behind, GRAIN, RUN};
use super::read_cache;
use super::wanted::{BLOCK, LONGEST_REGION};
use crate::reading::readable;
use crate::situation::Situation;
use crate::{Choice, transfer};
use flashscope_model::plan::{ReadCache, Span};
use flashscope_model::{Experiment, Observations};
use flashscope_units::{Bytes, Nanos};
use std::collections::BTreeMap;

/// The longest block of which the longest region has room for a run and what lies behind it: where no unit shows, what was taken
/// for a page may be one of many chips.
const LONGEST_BLOCK: Bytes = Bytes::kib(64);

/// Rounds of re-reads and runs.
const ROUNDS: u32 = 12;
/// Most rounds, where the reads scatter too much.
const MOST_ROUNDS: u32 = 48;

/// No more runs than this, whatever they say.
const MOST_RUNS: usize = 20;

/// Sizes in blocks, a factor of less than 1.6 apart.
const SIZES: [u64; 14] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];

/// Distances in blocks: each costs a rest in each round, so that they are farther apart, and those between come later.
const DISTANCES: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// No more sizes between two of them are tried at once.
const BETWEEN: u64 = 12;

/// Lengths of runs that may be too short to make a device read ahead.
const SHORT_RUNS: [u32; 5] = [1, 2, 3, 4, 6];

/// Steps in which data are fetched are no longer than this.
const LONGEST_STEP: Bytes = Bytes::kib(16);

/// Regions that are read in turn.
const REGIONS: u64 = 24;

/// Shortest rest in which the device fetches what it will.
const LEAST_REST: Nanos = Nanos::millis(20);
/// What a device may fetch in such a rest; at the rate of the link this takes its time.
const FETCHED: Bytes = Bytes::kib(768);
/// Longest rest.
const MOST_REST: Nanos = Nanos::millis(400);

/// What these reads are for, in the plan.
const WHY: &str = "does the device keep what was read, or read what was not asked for yet?";

/// What a plan is made of that depends on what was seen.
struct Wanted {
    spans: Vec<Bytes>,
    run: u32,
    /// Where the reads behind a run end, from its end on.
    ends: Vec<Bytes>,
    why: &'static str,
}

/// The next sizes to try.
pub(crate) fn read_cache(now: &Situation) -> Option<Choice> {
    let block = match read_cache::all(now.observations).next() {
        Some(data) => data.block,
        None => now.block(now.page().unwrap_or(BLOCK).clamp(BLOCK, LONGEST_BLOCK)),
    };
    let region = now.unit().min(LONGEST_REGION).align_down(block * 2);
    // Half of a region is for what was not read for a while; behind the longest run there must be room as well.
    let most = (region / 2).saturating_sub(block);
    let before = block * u64::from(2 * RUN);
    if most < before + block {
        return None;
    }
    let up_to = |most: Bytes, sizes: &[u64]| -> Vec<Bytes> {
        sizes.iter().map(|size| block * *size).filter(|size| *size <= most).collect()
    };
    let base = Wanted { spans: up_to(most, &SIZES), run: RUN, ends: up_to(most - before, &DISTANCES), why: WHY };
    let tried = read_cache::all(now.observations).count();
    if tried == 0 {
        return plan(now, block, region, base);
    }
    // Without samples the reads failed, and would fail again.
    let spans = read_cache::spans(now.observations).filter(|_| tried < MOST_RUNS)?;
    let ahead = read_ahead::distances(now.observations)?;
    let fitting = |ends: Vec<Bytes>| ends.into_iter().filter(|end| *end <= most - before).collect::<Vec<Bytes>>();
    let farthest = (most - before).min(FETCHED).align_down(block);
    let wanted = again(now, &spans, &ahead, base, farthest)
        .or_else(|| {
            let ends = between(ahead.reach(), GRAIN.max(now.device.logical_block));
            // What was read so often says no more.
            let ends = fitting(ends.into_iter().filter(|end| ahead.rounds(*end) < MOST_ROUNDS as usize).collect());
            let wanted = Wanted { spans: between(spans.reach(), block), run: RUN, ends, why: "the sizes in between" };
            (!wanted.spans.is_empty() || !wanted.ends.is_empty()).then_some(wanted)
        })
        .or_else(|| other_runs(now, &ahead, block))?;
    plan(now, block, region, Wanted { ends: fitting(wanted.ends), ..wanted })
}

/// The same once more, where it was not clear; where all was at hand, at the farthest that a device may have fetched as well.
fn again(now: &Situation, spans: &Gains, ahead: &Behind, base: Wanted, farthest: Bytes) -> Option<Wanted> {
    let unclear = |reach: Reach, may_be_lost: bool, rounds: u32| {
        (reach == Reach::Unclear && rounds < MOST_ROUNDS) || (may_be_lost && rounds < ROUNDS * 2)
    };
    let again = unclear(spans.reach(), spans.may_be_lost(), rounds_of_spans(now.observations));
    let spans = if again { base.spans } else { Vec::new() };
    let rounds = rounds_of_runs(now.observations);
    // No device reads ahead that far behind every read: where it ends may be lost in the scatter.
    let reach = ahead.reach();
    let endless = matches!(reach, Reach::Beyond(_)) && rounds < MOST_ROUNDS;
    let again = endless || unclear(reach, ahead.may_be_lost(), rounds);
    let mut ends = if again { base.ends } else { Vec::new() };
    ends.extend(Some(farthest).filter(|farthest| endless && !ends.contains(farthest)));
    let why = "once more, as it was not clear";
    (!spans.is_empty() || !ends.is_empty()).then_some(Wanted { spans, ends, why, ..base })
}

/// Rounds of re-reads so far, of the span that was tried most.
fn rounds_of_spans(observations: &Observations) -> u32 {
    let mut rounds: BTreeMap<Bytes, usize> = BTreeMap::new();
    for reread in read_cache::all(observations).flat_map(|data| &data.spans) {
        *rounds.entry(reread.span).or_default() += reread.again.len();
    }
    u32::try_from(rounds.into_values().max().unwrap_or(0)).unwrap_or(u32::MAX)
}

/// Rounds of runs so far with a read right behind them.
fn rounds_of_runs(observations: &Observations) -> u32 {
    let long =
        read_cache::all(observations).filter(|data| data.rising.first().is_some_and(|run| run.len() == RUN as usize));
    let behind = long.flat_map(|data| &data.ahead).filter(|ahead| ahead.distance == Bytes::ZERO);
    u32::try_from(behind.map(|ahead| ahead.times.len()).sum::<usize>()).unwrap_or(u32::MAX)
}

/// Sizes that were not tried yet between the last that gains and the first that does not.
fn between(reach: Reach, step: Bytes) -> Vec<Bytes> {
    let Reach::Between(held, gone) = reach else { return Vec::new() };
    let first = held.align_down(step) / step + 1;
    let last = gone.align_up(step) / step;
    let stride = (last.saturating_sub(first)).div_ceil(BETWEEN).max(1);
    (first..last)
        .step_by(stride as usize)
        .map(|index| step * index)
        .filter(|size| *size > held && *size < gone)
        .collect()
}

/// Runs of other lengths, where it reads ahead: the shortest that makes it do so, and those that end elsewhere in the
/// steps in which data are fetched.
fn other_runs(now: &Situation, ahead: &Behind, block: Bytes) -> Option<Wanted> {
    let Reach::Between(held, _) = ahead.reach() else { return None };
    let tried = read_ahead::tried_runs(now.observations);
    let first_fast = read_ahead::first_fast(now.observations);
    let mut untried = SHORT_RUNS.into_iter().filter(|run| !tried.contains(run));
    if read_ahead::shortest_run(now.observations, ahead).is_none()
        && let Some(run) = untried.find(|run| read_ahead::may_trigger(*run, first_fast))
    {
        let why = "how many reads in a row make it read ahead?";
        return Some(Wanted { spans: Vec::new(), run, ends: vec![block], why });
    }
    let phases = u32::try_from(LONGEST_STEP / block).unwrap_or(1);
    let run = (RUN + 1..RUN + phases).find(|run| !tried.contains(run))?;
    let ends = (1..u64::from(phases)).map(|more| held + block * more).collect();
    Some(Wanted { spans: Vec::new(), run, ends, why: "does it reach further where the run ends elsewhere?" })
}

fn plan(now: &Situation, block: Bytes, region: Bytes, wanted: Wanted) -> Option<Choice> {
    let regions = regions(now, block, region)?;
    let Wanted { spans, run, ends, why } = wanted;
    if spans.is_empty() && ends.is_empty() {
        return None;
    }
    // What is small takes as many samples as it took to see it at all.
    let seen = if ends.is_empty() { rounds_of_spans(now.observations) } else { rounds_of_runs(now.observations) };
    let rounds = seen.clamp(ROUNDS, MOST_ROUNDS / 2);
    let run = if ends.is_empty() { 0 } else { run };
    let distances = ends.into_iter().map(|end| end - block).collect();
    let plan = ReadCache { block, regions, region, spans, run, distances, rest: rest(now), rounds };
    Some(Choice { experiment: Experiment::ReadCache(plan), why: why.to_owned() })
}

/// Long enough to fetch all that is looked for.
fn rest(now: &Situation) -> Nanos {
    let fetching = transfer::estimate(now.observations).map_or(0.0, |line| FETCHED.as_f64() / line.rate.0);
    (LEAST_REST + Nanos((fetching * 1e9) as u64)).min(MOST_REST)
}

/// Starts of units that hold data, at random. A region that an edge between two units crosses would ask for both; where edges are
/// not known, regions begin anywhere, so that none lies at the same distance from the start of each.
fn regions(now: &Situation, block: Bytes, region: Bytes) -> Option<Vec<Bytes>> {
    let span = readable(now).unwrap_or(Span { start: Bytes::ZERO, length: now.device.capacity });
    let (unit, origin) = (now.unit(), now.first_unit());
    let first = span.start.saturating_sub(origin).align_up(unit) / unit;
    let count = (span.start + span.length).saturating_sub(origin + region) / unit;
    let units = count.checked_sub(first).filter(|units| *units >= 4)?;
    let mut rng = now.rng(region.get() + 5);
    // Two units for each that begins anywhere in the first of them.
    let (each, within) = if now.edges_are_measured() { (1, 1) } else { (2, (unit / block).max(1)) };
    let places = units / each;
    let mut starts: Vec<u64> = (0..REGIONS.min(places)).map(|_| rng.below(places as usize) as u64).collect();
    starts.sort_unstable();
    starts.dedup();
    let start = |place: u64| origin + unit * (first + each * place) + block * rng.below(within as usize) as u64;
    let starts: Vec<Bytes> = starts.into_iter().map(start).collect();
    (starts.len() >= 2).then_some(starts)
}
