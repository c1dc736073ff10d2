//! The limit from trials: rounds of writes, one block in each of n fresh units per round, with every time kept.
//!
//! A count has fallen where its rounds are slower than those of all smaller good counts together by Cliff's δ and by
//! factor; p values play no part, since a thousand rounds make any trifle significant.

use super::in_both::Split;
use super::search::likely;
use super::{COLLAPSE, Limit, SMALLEST_FALL, WhyNot, is_table, runs};
use crate::numbers::median;
use flashscope_model::finding::Doubt;
use flashscope_model::plan::Purpose;
use flashscope_model::{Data, Direction, Observations, Order, Reason, observation::RateEvidence};
use flashscope_stats::test::cliffs_delta;
use flashscope_units::{Bytes, Nanos};
use std::collections::BTreeMap;

/// Share of pairs by which the rounds of a fallen count must be slower.
const CLEAR_DELTA: f64 = 0.6;

/// A smaller fall counts as well where nearly all pairs show it: copies of a small unit cost little beside long writes.
const SLIGHT_FALL: f64 = 1.3;
/// Share of pairs that must show a smaller fall.
const SHARP_DELTA: f64 = 0.9;

/// Rates that fall by this factor, though no count stands out, may hide a limit beyond which little has to be copied.
const DECLINE: f64 = 1.15;

/// What was seen with one count at one block size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LiveCount {
    /// Size of each write.
    pub(crate) block: Bytes,
    /// Units written in turn.
    pub(crate) count: u32,
    /// Runs that it was tried in.
    pub(crate) runs: u32,
    /// Seconds of one write, as the mean of each round; rounds that pay for earlier runs are left out, and runs that
    /// disagree with the rest.
    pub(crate) seconds: Vec<f64>,
    /// Whether the runs disagree.
    pub(crate) torn: bool,
    /// Seconds of the single writes of these rounds.
    pub(crate) writes: Vec<f64>,
    /// The same of each run that disagrees with these.
    pub(crate) others: Vec<Vec<f64>>,
}

/// Runs of one count whose middles differ by this factor disagree: two places of one of them may lie in the same unit, or
/// something was collected all the while.
pub(super) const DISAGREE: f64 = 1.5;

/// How far the search has come at one block size.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    /// Largest count that has not fallen, with no fallen one below.
    pub(crate) good: Option<u32>,
    /// Smallest count that has fallen, with no good one above.
    pub(crate) fallen: Option<u32>,
    /// Counts that were tried.
    pub(crate) tried: usize,
    /// How often the good count was tried.
    pub(crate) good_runs: u32,
    /// How often the fallen count was tried.
    pub(crate) fallen_runs: u32,
    /// Whether every write of the fallen count is many times as slow as those of the good one: two places in one unit, or
    /// something that is collected meanwhile, make some of them slow.
    pub(crate) plain: bool,
    /// Seconds of one write before and after.
    pub(crate) seconds: (f64, f64),
    /// Whether the verdicts do not rise with the count.
    pub(crate) muddled: bool,
    /// Whether runs of one of the two counts disagree, and no third one told which is right.
    pub(crate) torn: bool,
}

impl State {
    /// Whether what was seen at another block size fits a limit of units.
    pub(super) fn agrees_with(&self, other: &State) -> bool {
        let goes_on = self.fallen.is_some_and(|fallen| other.good.is_some_and(|good| good >= fallen));
        let ends_before = self.good.is_some_and(|good| other.fallen.is_some_and(|fallen| fallen <= good));
        !goes_on && !ends_before
    }

    /// Seconds of one write to the largest good count.
    pub(super) fn seconds_of_good(&self) -> f64 {
        if self.fallen.is_some() { self.seconds.0 } else { self.seconds.1 }
    }
}

/// The limit that trials of one order show; `Err(None)` where there are none.
pub(super) fn limit(observations: &Observations, order: Order) -> Result<Limit, Option<WhyNot>> {
    let counts = live_counts(observations, order);
    let mut blocks: Vec<Bytes> = counts.iter().map(|count| count.block).collect();
    blocks.dedup();
    // A block size that was tried with one count only compares with nothing.
    if blocks.len() > 1 {
        blocks.retain(|block| counts.iter().filter(|count| count.block == *block).count() > 1);
    }
    let mut states: Vec<(Bytes, State)> = blocks.iter().map(|block| (*block, state(&counts, *block, order))).collect();
    // The block size at which most counts were tried leads.
    states.sort_by_key(|(block, _)| std::cmp::Reverse(counts.iter().filter(|c| c.block == *block).count()));
    // What goes wrong in a trial makes it slower, never faster.
    for (block, state) in &states {
        if let Some(lead) = states.iter().find(|(lead, first)| overrules((*lead, first), (*block, state))) {
            return Ok(overruled((lead.0, &lead.1), (*block, state)));
        }
    }
    let Some(((block, first), others)) = states.split_first() else { return Err(None) };
    let (Some(good), true) = (first.good, first.tried >= 2) else {
        return Err(Some((
            Reason::TooFew,
            "only one count of units was tried: there is nothing to compare with".into(),
        )));
    };
    if order == Order::InOrder && first.fallen.is_none() && copied_for(observations, &counts, *block) {
        return without_a_fall(&counts, *block, good);
    }
    if first.fallen.is_none() && first.seconds.1 > COLLAPSE * first.seconds.0 {
        return Err(Some((
            Reason::Ambiguous,
            format!(
                "writes of {block} to one unit are now fast, now slow, and those to {good} in turn are slow: where each may be \
             copied for already, no count can be too many"
            ),
        )));
    }
    let mut limit = assemble(*block, first, good, others, order);
    // What is likely for another reason was seen twice: in order only where it is plain, as what others left shifts that.
    if (first.plain || order == Order::Random)
        && likely(observations, order, *block) == first.fallen.map(|fallen| (good, fallen))
    {
        limit.doubts.retain(|doubt| *doubt != Doubt::SeenOnce);
    }
    if order == Order::Random && limit.doubts.contains(&Doubt::OneBlock) && is_that_in_order(observations, &limit) {
        limit.doubts.retain(|doubt| *doubt != Doubt::OneBlock);
    }
    // Where a number is too many in order there are logs of one unit each, whatever happens at random.
    let in_order = (order == Order::Random && limit.fallen.is_none())
        .then(|| state(&live_counts(observations, Order::InOrder), *block, Order::InOrder))
        .filter(|in_order| in_order.fallen.is_some());
    if let Some(limit) = in_order.as_ref().and_then(|in_order| as_in_order(&counts, in_order)) {
        return Ok(limit);
    }
    if limit.fallen.is_none() && in_order.is_none() && starts_differ(observations, good) {
        return Err(Some((
            Reason::Ambiguous,
            format!(
                "{good} units are not too many at {block}, but each that is begun in order is copied for at once, and none at \
                 random: a log that all units share takes what is too much, and may not have been full"
            ),
        )));
    }
    if order == Order::InOrder && limit.fallen.is_none() && limit.doubts.contains(&Doubt::LimitElsewhere) {
        return Err(Some((
            Reason::Contradicted,
            format!(
                "{good} units are not too many at {block}{}: a log that all units share takes a number of bytes, and may not \
                 have been full",
                limit.remark
            ),
        )));
    }
    Ok(limit)
}

/// The limit in order, where all that lies beyond it is slower at random as well.
fn as_in_order(at_random: &[LiveCount], in_order: &State) -> Option<Limit> {
    let good = in_order.good?;
    let sharp =
        |split: &Split| split.rounds >= PLAINLY_MANY && split.factor() > STANDS_OUT && split.delta > SHARP_DELTA;
    let split = Split::all(at_random, good).into_iter().find(sharp)?;
    Some(Limit {
        good,
        fallen: in_order.fallen,
        score: clearness(split.factor()),
        doubts: vec![Doubt::Slight],
        alternatives: Vec::new(),
        row: row(split.block, split.seconds),
        remark: ", of all counts up to it and beyond; as in order".to_owned(),
    })
}

/// Whether writes in order have the same limit, at two block sizes.
fn is_that_in_order(observations: &Observations, limit: &Limit) -> bool {
    let same = |other: Limit| {
        limit.fallen.is_some()
            && (other.good, other.fallen) == (limit.good, limit.fallen)
            && !other.doubts.contains(&Doubt::OneBlock)
    };
    self::limit(observations, Order::InOrder).is_ok_and(same)
}

/// Whether the first writes to units close others where they are in order, and not where they are at random, of trials of
/// fewer units than can be open. Logs of one unit each must be closed for either.
fn starts_differ(observations: &Observations, good: u32) -> bool {
    let [in_order, at_random] = [Order::InOrder, Order::Random].map(|order| {
        let (mut slow, mut all) = (0, 0);
        for (_, count, times) in timed(observations, order).filter(|(_, count, _)| (2..good).contains(count)) {
            let seconds: Vec<f64> = times.iter().map(|time| time.as_secs_f64()).collect();
            let (first, rest) = seconds.split_at(seconds.len().min(count as usize));
            let Some(usual) = median(rest) else { continue };
            slow += first.iter().filter(|seconds| **seconds > COLLAPSE * usual).count();
            all += first.len();
        }
        (slow, all)
    });
    let enough = in_order.0 >= PLAINLY_MANY && at_random.1 >= PLAINLY_MANY;
    enough && at_random.0 * in_order.1 * FAR_MORE_OFTEN <= in_order.0 * at_random.1
}

/// So many times as often is no chance.
const FAR_MORE_OFTEN: usize = 4;

/// Whether writes to several units in turn take about as long whatever their size, and many times what a small one to a
/// single unit does: then each is copied for, and that it never gets worse says nothing.
fn copied_for(observations: &Observations, counts: &[LiveCount], block: Bytes) -> bool {
    let of = |block: Bytes, count: u32| {
        let trial = counts.iter().find(|trial| (trial.block, trial.count) == (block, count))?;
        median(&trial.seconds)
    };
    let several = counts.iter().filter(|trial| trial.block == block && trial.count >= 2);
    // What does not grow with the size, and what does, of the count that shows it best.
    let pairs = several.filter_map(|trial| of(block, trial.count).zip(of(block * 2, trial.count)));
    let fixed = pairs.map(|(lead, twice)| (2.0 * lead - twice, lead)).max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((fixed, lead)) = fixed else { return false };
    let least = observations.runs.iter().filter_map(|run| match &run.data {
        Data::Throughput(data)
            if (data.purpose, data.direction, data.order) == (Purpose::OneUnit, Direction::Write, Order::InOrder) =>
        {
            median(&data.times.iter().map(|time| time.as_secs_f64()).collect::<Vec<f64>>())
        }
        _ => None,
    });
    let copies = least.min_by(f64::total_cmp).is_some_and(|least| fixed > COLLAPSE * least) || fixed > A_COPY;
    fixed > FIXED_SHARE * lead && copies
}

/// Seconds of a write beside what grows with its size: commands and the flash itself take a few thousandths.
const A_COPY: f64 = 0.04;

/// A write of which this much does not depend on its size is hardly one of the flash alone.
const FIXED_SHARE: f64 = 0.5;

/// What can be said where two units in turn are copied for already: one is the limit where it is not.
fn without_a_fall(counts: &[LiveCount], block: Bytes, good: u32) -> Result<Limit, Option<WhyNot>> {
    let typical = |count: u32| {
        let trial = counts.iter().find(|trial| (trial.block, trial.count) == (block, count))?;
        median(&trial.seconds)
    };
    match typical(1).zip(typical(2)) {
        Some((one, two)) if two > SMALLEST_FALL * one => {
            let remark = ", as long as writes of twice the size take".to_owned();
            Ok(Limit {
                good: 1,
                fallen: Some(2),
                score: clearness(two / one),
                doubts: vec![Doubt::ByFixedCost],
                alternatives: Vec::new(),
                row: row(block, (one, two)),
                remark,
            })
        }
        _ => Err(Some((
            Reason::Ambiguous,
            format!(
                "writes of {block} to one unit take as long as to {good} and as writes of twice the size, as where each is copied for"
            ),
        ))),
    }
}

/// A block size with the rates of its writes before and after, in bytes per second.
fn row(block: Bytes, (before, after): (f64, f64)) -> (Bytes, f64, f64) {
    (block, block.as_f64() / before, block.as_f64() / after)
}

/// How clear a fall by this factor is: odds of the factor to one.
fn clearness(factor: f64) -> f64 {
    factor / (1.0 + factor)
}

/// Whether larger blocks show that a count is good at which smaller ones collapsed: they take hardly longer than as much
/// data does with these. A buffer that this many blocks fill would hold fewer of the larger ones.
pub(super) fn overrules((lead, first): (Bytes, &State), (block, other): (Bytes, &State)) -> bool {
    let longer = block.as_f64() / lead.as_f64();
    let collapsed = first.seconds.1 > COLLAPSE * first.seconds.0;
    longer > 1.0
        && collapsed
        && other.seconds_of_good() < SLIGHT_FALL * longer * first.seconds.0
        && first.fallen.zip(other.good).is_some_and(|(fallen, good)| good >= fallen)
}

/// The limit that larger blocks show, where smaller ones fell below it.
fn overruled((lead, first): (Bytes, &State), (block, other): (Bytes, &State)) -> Limit {
    Limit {
        good: other.good.unwrap_or(1),
        fallen: other.fallen,
        score: clearness(other.seconds.1 / other.seconds.0),
        doubts: [Doubt::Overruled].into_iter().chain(doubts_of(other)).collect(),
        alternatives: first.good.map(|good| (good, 0.1)).into_iter().collect(),
        row: row(block, other.seconds),
        remark: format!("; at {lead} fewer are too many, which no limit of units explains"),
    }
}

/// A fall that would be no more than this at another block size may not show there.
const SHOWS_BESIDE: f64 = 1.8;

/// What the trials of one block size have against them.
fn doubts_of(state: &State) -> impl Iterator<Item = Doubt> + use<> {
    let torn = state.torn.then_some(Doubt::RunsDisagree);
    torn.into_iter().chain(state.muddled.then_some(Doubt::Muddled))
}

fn assemble(block: Bytes, first: &State, good: u32, others: &[(Bytes, State)], order: Order) -> Limit {
    let factor = first.seconds.1 / first.seconds.0;
    // What did not fall is the clearer the less it declined.
    let score = if first.fallen.is_some() { clearness(factor) } else { clearness(COLLAPSE / factor) };
    let mut doubts: Vec<Doubt> = doubts_of(first).collect();
    let mut remark = String::new();
    let mut alternatives = Vec::new();
    if first.fallen.is_some() && factor < COLLAPSE {
        doubts.push(Doubt::Slight);
    }
    if first.fallen.is_some() && (first.good_runs < 2 || (first.fallen_runs < 2 && !first.plain)) {
        doubts.push(Doubt::SeenOnce);
    }
    if others.is_empty() {
        doubts.push(Doubt::OneBlock);
    }
    for (other_block, other) in others {
        if first.agrees_with(other) {
            if other.good == Some(good) && other.fallen == first.fallen && first.fallen.is_some() {
                doubts.retain(|doubt| *doubt != Doubt::SeenOnce);
                remark = format!(", the same at {other_block}");
            }
        } else {
            // What a copy adds to a write is less beside a larger one, and may not show there.
            let beside = 1.0 + (factor - 1.0) * block.as_f64() / other_block.as_f64();
            let hidden = other.fallen.is_none() && beside < SHOWS_BESIDE;
            doubts.push(if hidden { Doubt::HiddenBeside } else { Doubt::LimitElsewhere });
            remark = match hidden {
                true => format!("; at {other_block} there is no telling"),
                false => format!("; at {other_block} the limit lies elsewhere, as that of a buffer would"),
            };
            alternatives.extend(other.good.map(|n| (n, 0.15)));
        }
    }
    // One stream in order has a privilege that two lose: that it declines says little, unless it is by much.
    let least = if order == Order::Random { DECLINE } else { SMALLEST_FALL };
    if first.fallen.is_none() && factor > least {
        doubts.push(Doubt::Declines);
        remark.push_str(&format!("; they decline to {:.0} %, so that a limit may cost little here", 100.0 / factor));
    }
    if first.torn {
        remark.push_str("; two runs of one count disagree");
    }
    if first.muddled {
        remark.push_str("; some larger counts did not fall");
    }
    Limit { good, fallen: first.fallen, score, doubts, alternatives, row: row(block, first.seconds), remark }
}

/// All trials of one order, by block size and count.
pub(crate) fn live_counts(observations: &Observations, order: Order) -> Vec<LiveCount> {
    let mut found: BTreeMap<(Bytes, u32), Vec<Rounds>> = BTreeMap::new();
    for (block, count, times) in timed(observations, order) {
        let rounds = Rounds::new(times, count);
        if !rounds.means.is_empty() {
            found.entry((block, count)).or_default().push(rounds);
        }
    }
    found.into_iter().map(|((block, count), runs)| LiveCount::of(block, count, runs)).collect()
}

/// The block size, the number of units and the time of each write, of all trials of one order.
fn timed(observations: &Observations, order: Order) -> impl Iterator<Item = (Bytes, u32, &[Nanos])> {
    runs(observations, order).filter(|data| !is_table(data)).flat_map(|data| {
        let count = data.count.or(u32::try_from(data.units.len()).ok()).filter(|count| *count > 0);
        data.rows.iter().filter_map(move |row| match (&row.rate, count) {
            (RateEvidence::Times(times), Some(count)) => Some((row.block, count, times.as_slice())),
            _ => None,
        })
    })
}

/// The steady rounds of one run.
struct Rounds {
    /// Mean seconds of one write in each round.
    means: Vec<f64>,
    /// Seconds of each write.
    writes: Vec<f64>,
}

/// Rounds in a row without a write that stands out, from which on a trial has come to rest.
const AT_REST: usize = 5;

/// More rounds than this need not pass until most trials are by themselves.
const MOST_SKIPPED: usize = 4;

/// Rounds that count of a trial that went on for long.
pub(crate) const LAST_ROUNDS: u32 = 12;

impl LiveCount {
    fn of(block: Bytes, count: u32, mut runs: Vec<Rounds>) -> LiveCount {
        let middle = |run: &Rounds| median(&run.means).unwrap_or(f64::INFINITY);
        runs.sort_by(|a, b| middle(a).total_cmp(&middle(b)));
        let tried = u32::try_from(runs.len()).unwrap_or(u32::MAX);
        let disagree = runs.len() > 1 && middle(&runs[runs.len() - 1]) > DISAGREE * middle(&runs[0]);
        // What goes wrong makes a run slower, never faster: one that came to rest has all of its units open, whatever others met.
        // Else of two the faster one counts, of three the middle one.
        let at_rest = disagree && fastest_came_to_rest(&runs);
        let counted = if at_rest { 0 } else { (runs.len() - 1) / 2 };
        let (kept, others): (Vec<_>, Vec<_>) =
            runs.into_iter().enumerate().partition(|(index, _)| !disagree || *index == counted);
        let seconds = kept.iter().flat_map(|(_, run)| run.means.iter().copied()).collect();
        let writes = kept.iter().flat_map(|(_, run)| run.writes.iter().copied()).collect();
        let others = others.into_iter().map(|(_, run)| run.writes).collect();
        LiveCount { block, count, runs: tried, seconds, torn: disagree && !at_rest, writes, others }
    }

    /// Whether some writes of a run are slow and others are not, beside a usual one, and now these and now those: where the same
    /// units are slow in every round, the others are kept, and it will not change. Then, seconds of a write on average.
    pub(crate) fn partly_slow(&self, usual: f64) -> Option<f64> {
        let runs = std::iter::once(&self.writes).chain(&self.others);
        runs.filter_map(|writes| partly_slow(writes, self.count as usize, usual)).max_by(f64::total_cmp)
    }
}

fn partly_slow(writes: &[f64], count: usize, usual: f64) -> Option<f64> {
    let mut slow = vec![0; count];
    for (index, _) in writes.iter().enumerate().filter(|(_, seconds)| **seconds > COLLAPSE * usual) {
        slow[index % count] += 1;
    }
    let (all, rounds): (usize, usize) = (slow.iter().sum(), writes.len() / count);
    let now_and_then: usize = slow.into_iter().filter(|times| *times < rounds).sum();
    let some = all > 0 && 4 * all < 3 * writes.len() && 2 * now_and_then >= all;
    some.then(|| mean(writes))
}

fn mean(seconds: &[f64]) -> f64 {
    seconds.iter().sum::<f64>() / seconds.len() as f64
}

/// Whether the fastest run, the first, had all of its units open in the end, and the others had some of theirs closed: where
/// those had all of them closed throughout, it may be another card.
fn fastest_came_to_rest(runs: &[Rounds]) -> bool {
    let Some((fastest, others)) = runs.split_first() else { return false };
    let usual = median(&fastest.writes).unwrap_or(0.0);
    fastest.is_at_rest(usual)
        && others.iter().all(|run| run.is_copied_for_beside(usual) || run.is_usual_now_and_then(usual))
        && others.iter().any(|run| run.writes.iter().any(|seconds| *seconds <= DISAGREE * usual))
}

impl Rounds {
    /// Without the first rounds: they close the units of whatever was written before, and it may take a few of them until
    /// logs of two kinds have changed hands.
    fn new(times: &[Nanos], count: u32) -> Rounds {
        let rounds = times.len() / count as usize;
        let skip = match rounds {
            0..=1 => 0,
            // Three must count: of two, one that waits for a collection makes a fall.
            2..=4 => 1,
            _ if count == 1 => (rounds / 2).min(MOST_SKIPPED),
            // Of one that went on until it was settled, the end.
            _ => (rounds / 2).min(MOST_SKIPPED).max(rounds.saturating_sub(LAST_ROUNDS as usize)),
        };
        let (whole, rest) = times.split_at(rounds * count as usize);
        // A second round that ended before its end is all slow.
        let counted = if rounds == 1 && rest.len() >= PLAINLY_MANY { rest } else { &whole[skip * count as usize..] };
        let writes: Vec<f64> = counted.iter().map(|time| time.as_secs_f64()).collect();
        let means = writes.chunks(count as usize).map(mean);
        Rounds { means: means.collect(), writes }
    }

    /// The writes of each round.
    fn rounds(&self) -> impl Iterator<Item = &[f64]> {
        self.writes.chunks_exact((self.writes.len() / self.means.len().max(1)).max(1))
    }

    /// Whether all of its writes take as long as usual, or as long as copies do: what is slower for another reason, as a cache
    /// that is full, is so by any factor, and a copy of what a unit holds takes more than a collapse.
    fn is_copied_for_beside(&self, usual: f64) -> bool {
        self.writes.iter().all(|seconds| *seconds <= DISAGREE * usual || *seconds > COLLAPSE * COLLAPSE * usual)
    }

    /// Whether most of its writes take as long as usual, some of them in every round: of a cache that is full none does.
    fn is_usual_now_and_then(&self, usual: f64) -> bool {
        let as_usual = |writes: &[f64]| writes.iter().filter(|seconds| **seconds <= DISAGREE * usual).count();
        2 * as_usual(&self.writes) > self.writes.len() && self.rounds().all(|round| as_usual(round) > 0)
    }

    /// Whether no write of its last rounds stands out beside a usual one.
    fn is_at_rest(&self, usual: f64) -> bool {
        let last = self.rounds().skip(self.means.len().saturating_sub(AT_REST));
        self.means.len() >= AT_REST && last.flatten().all(|seconds| *seconds <= COLLAPSE * usual)
    }
}

/// What the trials at one block size say together.
pub(crate) fn state(counts: &[LiveCount], block: Bytes, order: Order) -> State {
    let mut pool: Vec<f64> = Vec::new();
    let mut single = false;
    let mut verdicts: Vec<(&LiveCount, bool)> = Vec::new();
    let mut last: Vec<f64> = Vec::new();
    for trial in counts.iter().filter(|trial| trial.block == block) {
        let fallen = !pool.is_empty() && has_fallen(&pool, &trial.seconds, single) && stands_out(&last, &trial.seconds);
        verdicts.push((trial, fallen));
        if !fallen {
            // One stream in order often has a privilege, which two lose: they are the yardstick then. Random writes
            // are no stream that a controller could recognise.
            if single {
                pool.clear();
            }
            single = trial.count == 1 && order == Order::InOrder;
            pool.extend(&trial.seconds);
            last.clone_from(&trial.seconds);
        }
    }
    let last_good = verdicts.iter().rposition(|(_, fallen)| !fallen);
    let muddled = verdicts.iter().position(|(_, fallen)| *fallen).is_some_and(|at| last_good.is_some_and(|g| g > at));
    let good = last_good.map(|at| verdicts[at].0);
    let fallen = last_good.and_then(|at| verdicts.get(at + 1)).map(|verdict| verdict.0);
    let typical = |trial: Option<&LiveCount>| trial.and_then(|trial| median(&trial.seconds)).unwrap_or(f64::NAN);
    let after = if fallen.is_some() { typical(fallen) } else { typical(good) };
    State {
        good: good.map(|trial| trial.count),
        fallen: fallen.map(|trial| trial.count),
        tried: verdicts.len(),
        good_runs: good.map_or(0, |trial| trial.runs),
        fallen_runs: fallen.map_or(0, |trial| trial.runs),
        plain: good.zip(fallen).is_some_and(|(good, fallen)| is_plain(good, fallen)),
        seconds: (if fallen.is_some() { typical(good) } else { typical(verdicts.first().map(|v| v.0)) }, after),
        muddled,
        torn: [good, fallen].into_iter().flatten().any(|trial| trial.torn && trial.runs < 3),
    }
}

/// Whether all that was written in turn to too many units was copied for.
fn is_plain(good: &LiveCount, fallen: &LiveCount) -> bool {
    let usual = median(&good.writes).unwrap_or(f64::INFINITY);
    fallen.writes.len() >= PLAINLY_MANY && fallen.writes.iter().all(|seconds| *seconds > COLLAPSE * usual)
}

/// So many writes that are slow without an exception tell what more would.
pub(crate) const PLAINLY_MANY: usize = 6;

/// Whether these rounds are slower than those of the largest good count as well: what declines from count to count never
/// falls.
fn stands_out(good: &[f64], seconds: &[f64]) -> bool {
    median(good).zip(median(seconds)).is_none_or(|(good, after)| after > STANDS_OUT * good)
}

/// The least factor between a good count and a fallen one.
const STANDS_OUT: f64 = 1.15;

/// Whether these rounds are slower than those of smaller counts; `single` where all of them are of one stream.
fn has_fallen(pool: &[f64], seconds: &[f64], single: bool) -> bool {
    let (Some(before), Some(after)) = (median(pool), median(seconds)) else { return false };
    let least = if single { COLLAPSE } else { SLIGHT_FALL.min(SMALLEST_FALL) };
    if after <= least * before {
        return false;
    }
    let delta = cliffs_delta(seconds, pool).unwrap_or(0.0);
    let factor = match single {
        true => COLLAPSE,
        false if delta > SHARP_DELTA => SLIGHT_FALL,
        false => SMALLEST_FALL,
    };
    after > factor * before && delta > CLEAR_DELTA
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run;
    use flashscope_model::observation::{OpenUnitsData, OpenUnitsRow, Run, Source};

    #[test]
    fn larger_blocks_overrule_a_collapse_of_smaller_ones_and_no_slight_fall() {
        let state = |good: u32, fallen: Option<u32>, seconds: (f64, f64)| State {
            good: Some(good),
            fallen,
            seconds,
            ..State::default()
        };
        let check = |first: &State, block: u64, other: &State, expect: bool| {
            assert_eq!(overrules((Bytes::kib(64), first), (Bytes::kib(block), other)), expect, "{first:?} {other:?}");
        };
        let collapsed = state(3, Some(4), (10e-3, 200e-3));
        let slight = state(3, Some(4), (10e-3, 18e-3));
        let (seen, none) = (state(5, Some(6), (20e-3, 300e-3)), state(4, None, (20e-3, 21e-3)));
        check(&collapsed, 128, &seen, true);
        check(&collapsed, 128, &none, true);
        check(&slight, 128, &seen, false);
        // The same limit; one that smaller blocks show; and larger ones that are slow themselves.
        check(&collapsed, 128, &state(3, Some(4), (20e-3, 300e-3)), false);
        check(&collapsed, 32, &seen, false);
        check(&collapsed, 128, &state(4, None, (20e-3, 90e-3)), false);
    }

    /// A trial of 64 KiB writes: `slow` of the first round, then as many rounds as there are numbers, so many of each slow.
    fn trial(order: Order, count: u32, slow: u32, rounds: &[u32]) -> Run {
        let round =
            |slow: u32| (0..count).map(move |unit| if unit < slow { Nanos::millis(80) } else { Nanos::millis(4) });
        let times = [slow].iter().chain(rounds).flat_map(|slow| round(*slow)).collect();
        let rows = vec![OpenUnitsRow { block: Bytes::kib(64), rate: RateEvidence::Times(times) }];
        Run {
            source: Source::Log { first_line: 1, last_line: 9 },
            ..run(Data::OpenUnits(OpenUnitsData { order, count: Some(count), unit: None, units: Vec::new(), rows }))
        }
    }

    /// The same trial with slow writes of this length.
    fn slow_for(mut run: Run, millis: u64) -> Run {
        let Data::OpenUnits(data) = &mut run.data else { return run };
        let RateEvidence::Times(times) = &mut data.rows[0].rate else { return run };
        times.iter_mut().filter(|time| **time > Nanos::millis(4)).for_each(|time| *time = Nanos::millis(millis));
        run
    }

    fn seen(runs: Vec<Run>) -> Observations {
        Observations { runs, ..Observations::default() }
    }

    #[test]
    fn starts_that_close_units_in_order_only_are_those_of_a_shared_log() {
        let fast = [0; 4];
        let check = |in_order: u32, at_random: u32, expect: bool| {
            let counts = [2, 4, 8, 16];
            let trials = |order: Order, slow: u32| counts.map(|count| trial(order, count, slow.min(count), &fast));
            let runs = [trials(Order::InOrder, in_order), trials(Order::Random, at_random)].concat();
            let limits = [Order::InOrder, Order::Random].map(|order| limit(&seen(runs.clone()), order));
            for limit in limits {
                assert_eq!(
                    limit.is_err_and(|why| why.is_some()),
                    expect,
                    "{in_order} and {at_random} first writes slow"
                );
            }
        };
        check(16, 0, true);
        // Logs of one unit each; and a device that closes nothing.
        check(16, 16, false);
        check(0, 0, false);
        check(1, 0, false);
        // A limit in order is one, whatever is written at random.
        let fallen = trial(Order::InOrder, 17, 17, &[17, 17, 17, 17]);
        let runs = [2, 4, 8, 16].map(|count| trial(Order::InOrder, count, count, &fast)).to_vec();
        let random = [2, 4, 8, 16].map(|count| trial(Order::Random, count, 0, &fast)).to_vec();
        let found = seen([runs, random, vec![fallen]].concat());
        assert_eq!(limit(&found, Order::InOrder).map(|limit| (limit.good, limit.fallen)).ok(), Some((16, Some(17))));
        assert_eq!(limit(&found, Order::Random).map(|limit| (limit.good, limit.fallen)).ok(), Some((16, None)));
    }

    #[test]
    fn what_is_too_many_in_order_is_so_at_random_where_all_beyond_is_slower() {
        let in_order = [trial(Order::InOrder, 4, 4, &[0; 6]), trial(Order::InOrder, 5, 5, &[5; 6])];
        let at_random = |beyond: u64| {
            let copied = |count: u32, millis: u64| slow_for(trial(Order::Random, count, count, &[count; 6]), millis);
            let random = [copied(2, 80), copied(4, 80), copied(5, beyond), copied(8, beyond)];
            limit(&seen([&in_order[..], &random[..]].concat()), Order::Random)
                .map(|limit| (limit.good, limit.fallen))
                .ok()
        };
        assert_eq!(at_random(100), Some((4, Some(5))));
        // As slow as before: no number is too many.
        assert_eq!(at_random(84), Some((8, None)));
    }

    #[test]
    fn a_run_that_came_to_rest_counts_whatever_others_met() {
        let settled = trial(Order::Random, 6, 6, &[4, 3, 1, 0, 0, 0, 0, 0, 0]);
        let short = trial(Order::Random, 6, 6, &[3, 2, 3]);
        let middle = |runs: Vec<Run>| {
            let counts = live_counts(&seen(runs), Order::Random);
            (median(&counts[0].seconds), counts[0].torn)
        };
        assert_eq!(middle(vec![short.clone(), settled, short.clone()]), (Some(0.004), false));
        // None did: the middle one.
        assert!(middle(vec![short.clone(), short.clone(), short]).0 > Some(0.004));
    }

    #[test]
    fn what_is_slow_for_less_than_a_copy_now_and_then_is_no_other_card() {
        let settled = trial(Order::Random, 9, 9, &[2, 3, 0, 0, 0, 0, 0, 0, 0, 0]);
        let middle = |others: &[u32]| {
            let other = || slow_for(trial(Order::Random, 9, 9, others), 20);
            median(&live_counts(&seen(vec![settled.clone(), other(), other()]), Order::Random)[0].seconds)
        };
        assert_eq!(middle(&[5, 2, 3]), Some(0.004));
        // A cache that is full makes all of them slow.
        assert_eq!(middle(&[9, 9, 9]), Some(0.02));
    }

    #[test]
    fn what_was_slow_now_and_then_in_any_run_is_not_settled() {
        let rested = trial(Order::InOrder, 12, 12, &[6, 0, 0, 0]);
        let short = trial(Order::InOrder, 12, 12, &[3, 2, 1]);
        let partly = |runs: Vec<Run>| live_counts(&seen(runs), Order::InOrder)[0].partly_slow(0.004).is_some();
        assert_eq!([partly(vec![rested.clone()]), partly(vec![rested, short])], [false, true]);
    }
}
