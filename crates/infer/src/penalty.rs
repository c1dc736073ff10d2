//! What it costs to write one unit at random instead of in order, per block size.
//!
//! A controller that merges on every out-of-order write shows here, at n = 1, and not as a count of zero open units.

use crate::numbers::{digits, median, probability, rate};
use crate::open_units::is_table;
use crate::survey;
use flashscope_model::finding::{Doubt, Penalty};
use flashscope_model::plan::Purpose;
use flashscope_model::{Data, Direction, Estimate, ExperimentName, Observations, Order, Reason};
use flashscope_stats::location::{MAD_NORMAL_FACTOR, trimmed_mean};
use flashscope_stats::normal_cdf;
use flashscope_units::{ByteRate, Bytes, Nanos};
use std::collections::BTreeMap;

/// What is known of the rates of one unit at one block size: in order, and at random, each with how uncertain it is.
#[derive(Clone, Debug, Default)]
struct Cell {
    in_order: Vec<Rate>,
    random: Vec<Rate>,
}

/// A rate.
#[derive(Clone, Copy, Debug)]
struct Rate {
    /// Bytes per second.
    value: f64,
    /// Standard error of its logarithm, where its samples show it.
    error: Option<f64>,
}

/// Rates by block size.
type Rates = BTreeMap<Bytes, Cell>;

/// A penalty with the standard error of its logarithm.
#[derive(Clone, Copy, Debug)]
struct Measured {
    penalty: Penalty,
    error: f64,
}

impl Measured {
    /// The largest of several is partly the luckiest: what is within its error of one is no penalty.
    fn is_none(&self) -> bool {
        self.penalty.ratio.ln() < NONE_WITHIN.ln().max(2.0 * self.error)
    }
}

/// A penalty is right when it is off by no more than this factor: the confidence is the probability of that.
const TOLERANCE: f64 = 1.25;

/// A ratio nearer to one than this is none, whatever its error: rows that are alike differ by as much.
const NONE_WITHIN: f64 = 1.1;

/// Blocks up to this size must be there: penalties rise towards small blocks, and the largest may lie below what was seen.
const SMALL_ENOUGH: Bytes = Bytes::kib(16);

/// File systems and databases write no smaller blocks than this.
const SYSTEMS_WRITE: Bytes = Bytes::kib(4);

/// What repeats of one figure differ by on another day, as a logarithm: the state of the unit, the phase of collections.
const STATE: f64 = 0.06;

/// Scatter of one printed figure where the table is too short to show its own.
const USUAL_SCATTER: f64 = 0.15;

/// The largest penalty over the block sizes; the others stand in the evidence.
pub(crate) fn estimate(observations: &Observations) -> Estimate<Penalty> {
    let mut found = of_sources(observations);
    if survey::blank_share(observations).is_some_and(|share| share >= survey::BLANK) {
        // Copies cost as much as there is to copy.
        found.doubt(Doubt::Blank);
    }
    if none_of_a_few(observations, &found).is_some() {
        found.doubt(Doubt::FewRequests);
    }
    found
}

/// The small block at which order seems to cost nothing, by no more writes than a log may take before it has to make room:
/// more of them would tell.
pub(crate) fn unsettled(observations: &Observations) -> Option<Bytes> {
    none_of_a_few(observations, &of_sources(observations))
}

fn none_of_a_few(observations: &Observations, found: &Estimate<Penalty>) -> Option<Bytes> {
    let none =
        found.value().or(found.least()).filter(|penalty| penalty.ratio <= 1.0 && penalty.block <= SMALL_ENOUGH)?;
    let timed = seconds(observations);
    let [in_order, random] = timed.get(&none.block)?;
    (in_order.len().min(random.len()) < MANY_WRITES).then_some(none.block)
}

/// What random order costs whole pages, longer than any small write that takes another way: the largest over the sizes.
pub(crate) fn of_whole_pages(observations: &Observations, page: Bytes, small: Bytes) -> Option<Penalty> {
    let all = measured(&one_unit(observations));
    let whole = all.iter().filter(|found| found.penalty.block.is_multiple_of(page) && found.penalty.block > small);
    let largest = whole.max_by(|a, b| a.penalty.ratio.total_cmp(&b.penalty.ratio))?;
    (!stands_alone(largest, &all)).then_some(largest.penalty)
}

fn of_sources(observations: &Observations) -> Estimate<Penalty> {
    let sources = [
        (one_unit(observations), ExperimentName::Throughput),
        (table(observations), ExperimentName::OpenAu),
        (program(observations), ExperimentName::Program),
    ];
    sources.into_iter().find_map(|(rates, method)| largest(&rates, method)).unwrap_or_else(|| {
        Estimate::unknown(
            Reason::NotMeasured,
            "no unit was written both sequentially and at random at the same block size",
        )
    })
}

fn largest(rates: &Rates, method: ExperimentName) -> Option<Estimate<Penalty>> {
    let mut measured = measured(rates);
    // Of a table, the largest blocks write a unit once or twice: the first rows after an erase lie.
    let unit = rates.keys().next_back().copied()?;
    let telling = |block: Bytes| block * 8 <= unit || block <= Bytes::kib(128);
    if measured.iter().any(|found| telling(found.penalty.block)) {
        measured.retain(|found| telling(found.penalty.block));
    }
    let smallest = measured.iter().map(|found| found.penalty.block).min()?;
    measured.sort_by(|a, b| b.penalty.ratio.total_cmp(&a.penalty.ratio));
    // Where order costs nothing, which size is the largest is luck: one is named that systems write.
    let written = measured.iter().position(|found| found.penalty.block >= SYSTEMS_WRITE);
    if let Some(index) = written.filter(|_| measured[0].is_none()) {
        measured[..=index].rotate_right(1);
    }
    let first = measured[0];
    let mut penalty = first.penalty;
    let mut evidence =
        format!("one unit at {}: {} sequential, {} random", penalty.block, penalty.in_order, penalty.random);
    let others: Vec<String> = measured
        .iter()
        .skip(1)
        .take(4)
        .map(|found| format!("{}× at {}", digits(found.penalty.ratio), found.penalty.block))
        .collect();
    if !others.is_empty() {
        evidence.push_str(&format!("; {}", others.join(", ")));
    }
    let none = first.is_none();
    if none {
        evidence.push_str(&format!("; {}× is within the scatter of none", digits(penalty.ratio)));
        penalty.ratio = 1.0;
    }
    // Rows of a printed table come one right behind the other, and theirs are right as bounds.
    if method == ExperimentName::Throughput && stands_alone(&first, &measured) {
        return Some(Estimate::unknown(
            Reason::Ambiguous,
            format!(
                "{evidence}: the device may have become slower between two trials, or order costs something at this size alone"
            ),
        ));
    }
    // A lone peak may be a single collection; one that its neighbour shares in part is not.
    let second = measured.get(1).map_or(1.0, |found| found.penalty.ratio);
    let lonely = first.penalty.ratio > 8.0 * second && !none;
    let z = TOLERANCE.ln() / first.error;
    let mut confidence = normal_cdf(z) - normal_cdf(-z);
    if lonely {
        confidence -= 0.15;
    }
    if confidence < 0.5 {
        let factor = (2.0 * first.error).exp();
        let ratio = first.penalty.ratio;
        return Some(Estimate::unknown(
            Reason::Ambiguous,
            format!(
                "{evidence}: collections come and go, so that anything from {}× to {}× may be the penalty",
                digits(ratio / factor),
                digits(ratio * factor)
            ),
        ));
    }
    evidence.push_str(&format!("; ± {:.0} %", 100.0 * (TOLERANCE - 1.0)));
    if smallest > SMALL_ENOUGH {
        evidence.push_str(&format!("; no block below {smallest} was written, where it may be larger"));
        return Some(Estimate::at_least(penalty, probability(confidence), evidence, &[method]));
    }
    Some(Estimate::known(penalty, probability(confidence), evidence, &[method]))
}

/// Penalties by rising size.
fn measured(rates: &Rates) -> Vec<Measured> {
    let scatter = scatter(rates);
    rates.iter().filter_map(|(block, cell)| cell.penalty(*block, scatter)).collect()
}

/// What a copy costs changes little from one size to the next. Where order costs something at one size and nothing at half and
/// twice of it, the device may have become slower between the two trials, as one does whose fast cells are full.
fn stands_alone(found: &Measured, all: &[Measured]) -> bool {
    let at = |block: Bytes| all.iter().map(|other| other.penalty).find(|other| other.block == block);
    let Some((half, twice)) = at(found.penalty.block / 2).zip(at(found.penalty.block * 2)) else { return false };
    let beside = half.ratio.max(twice.ratio);
    beside <= TOLERANCE && found.penalty.ratio > TOLERANCE * TOLERANCE * beside.max(1.0)
}

/// Whether the device may have become slower between two trials of one unit.
pub(crate) fn slowed_down(observations: &Observations) -> bool {
    let all = measured(&one_unit(observations));
    all.iter().any(|found| stands_alone(found, &all))
}

impl Cell {
    fn penalty(&self, block: Bytes, scatter: f64) -> Option<Measured> {
        let (in_order, random) = (middle(&self.in_order)?, middle(&self.random)?);
        let error = error(&self.in_order, scatter).hypot(error(&self.random, scatter));
        let ratio = in_order / random;
        let penalty = Penalty { ratio, block, in_order: ByteRate(in_order), random: ByteRate(random) };
        Some(Measured { penalty, error })
    }
}

fn middle(rates: &[Rate]) -> Option<f64> {
    median(&rates.iter().map(|rate| rate.value).collect::<Vec<_>>())
}

/// Standard error of the logarithm of the middle of some repeats: what they or their samples show, and what no repeat of
/// the same run can show.
fn error(rates: &[Rate], scatter: f64) -> f64 {
    let count = (rates.len().max(1) as f64).sqrt();
    let within = rates.iter().map(|rate| rate.error.unwrap_or(scatter)).fold(0.0, f64::max);
    let logs: Vec<f64> = rates.iter().map(|rate| rate.value.ln()).collect();
    let spread = logs.iter().copied().fold(f64::MIN, f64::max) - logs.iter().copied().fold(f64::MAX, f64::min);
    let between = if rates.len() > 1 { spread / 1.128 } else { 0.0 };
    (within.max(between) / count).hypot(STATE)
}

/// Scatter of printed figures around a smooth curve over the block sizes, as a logarithm; a bend of three figures has
/// √6 of it. Cliffs of the curve are few, so that the median passes them by.
fn scatter(rates: &Rates) -> f64 {
    let bends = |pick: fn(&Cell) -> &Vec<Rate>| -> Vec<f64> {
        let logs: Vec<f64> = rates.values().filter_map(|cell| Some(middle(pick(cell))?.ln())).collect();
        logs.windows(3).map(|three| (three[0] - 2.0 * three[1] + three[2]).abs()).collect()
    };
    let mut all = bends(|cell| &cell.in_order);
    // A table of fewer rows shows its scatter by accident only.
    if all.len() < 4 {
        return USUAL_SCATTER;
    }
    all.extend(bends(|cell| &cell.random));
    let typical = median(&all).map_or(USUAL_SCATTER, |middle| MAD_NORMAL_FACTOR * middle / 6f64.sqrt());
    typical.clamp(0.02, USUAL_SCATTER)
}

fn push(rates: &mut Rates, block: Bytes, order: Order, rate: Rate) {
    let cell = rates.entry(block).or_default();
    match order {
        Order::InOrder => cell.in_order.push(rate),
        Order::Random => cell.random.push(rate),
    }
}

/// A figure without samples.
fn printed(value: f64) -> Rate {
    Rate { value, error: None }
}

/// Seconds of the writes within one unit, sequentially and randomly, by block size; the first of each run pay for what was
/// open before.
fn seconds(observations: &Observations) -> BTreeMap<Bytes, [Vec<f64>; 2]> {
    let mut seconds: BTreeMap<Bytes, [Vec<f64>; 2]> = BTreeMap::new();
    for run in &observations.runs {
        let Data::Throughput(data) = &run.data else { continue };
        if (data.purpose, data.direction) == (Purpose::OneUnit, Direction::Write) {
            let steady = data.times[data.times.len() / 4..].iter().map(|time| time.as_secs_f64());
            let order = usize::from(data.order == Order::Random);
            seconds.entry(data.block).or_default()[order].extend(steady.filter(|seconds| *seconds > 0.0));
        }
    }
    seconds
}

/// Writes within one unit, every request timed.
fn one_unit(observations: &Observations) -> Rates {
    let mut rates = Rates::new();
    for (block, [in_order, random]) in seconds(observations) {
        if fills(observations, block, &in_order, &random) || mostly_waits(&in_order) || mostly_waits(&random) {
            continue;
        }
        // Where nearly every write out of order is copied for, the middle one shows it, whatever is collected meanwhile.
        // Elsewhere copies are what some writes pay, and their mean counts.
        let factor = median(&random).zip(median(&in_order)).map_or(1.0, |(random, in_order)| random / in_order);
        let centre = if factor > EVERY_WRITE { middle_seconds } else { trimmed_seconds };
        for (order, times) in [(Order::InOrder, trimmed_seconds(&in_order)), (Order::Random, centre(&random))] {
            if let Some((seconds, error)) = times {
                push(&mut rates, block, order, Rate { value: block.as_f64() / seconds, error: Some(error) });
            }
        }
    }
    rates
}

/// Whether many writes spend more than a tolerable share of their time waiting for what few of them wait for: then the ratio
/// is that of these waits, as where a log makes room once in many writes, and trials of this length tell it badly.
fn mostly_waits(times: &[f64]) -> bool {
    let Some(most) = median(times).map(|middle| COLLECTION * middle).filter(|_| times.len() >= MANY_WRITES) else {
        return false;
    };
    let usual: Vec<f64> = times.iter().copied().filter(|seconds| *seconds <= most).collect();
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len().max(1) as f64;
    mean(times) > TOLERANCE * mean(&usual)
}

/// From this many writes on, waits of few of them are no accident.
const MANY_WRITES: usize = 100;

/// Whether writes of this size fill a log on their way, so that the trials of the two orders met it in different states: then
/// their ratio tells when it was full, and not what the order costs. Some of the writes of one trial are as fast as can be
/// there and many times as slow behind; or the same sequential writes, measured again later, are.
fn fills(observations: &Observations, block: Bytes, in_order: &[f64], random: &[f64]) -> bool {
    let (Some(usual), Some(scattered)) = (median(in_order), median(random)) else { return false };
    let share = |times: &[f64], pick: &dyn Fn(f64) -> bool| {
        times.iter().filter(|time| pick(**time)).count() as f64 / times.len().max(1) as f64
    };
    let begins_fast = scattered > COLLECTION * usual && share(random, &|time| time < AS_FAST * usual) >= FEW;
    let collects = share(in_order, &|time| time > COLLECTION * usual) >= FEW;
    let later = observations.runs.iter().any(|run| match &run.data {
        Data::Throughput(data) => {
            let same =
                (data.purpose, data.direction, data.order) == (Purpose::Performance, Direction::Write, Order::InOrder);
            // As many as the trial had and some more: any log is full in the end.
            let times: Vec<f64> = data.times.iter().take(LATER).map(|time| time.as_secs_f64()).collect();
            same && data.block == block && share(&times, &|time| time > COLLECTION * usual) >= FEW
        }
        _ => false,
    });
    begins_fast || collects || later || full_on_the_way(in_order)
}

/// Writes of the performance table that are looked at beside a trial.
const LATER: usize = 256;

/// Whether sequential writes begin to wait on their way: none for long, and from then on one in few.
fn full_on_the_way(times: &[f64]) -> bool {
    let Some(usual) = median(times) else { return false };
    let waits: Vec<usize> = (0..times.len()).filter(|&index| times[index] > WAITED * usual).collect();
    let Some(longest) = waits.windows(2).map(|pair| pair[1] - pair[0]).max() else { return false };
    waits.len() >= LEAST_WAITS && waits[0] > SUDDEN * longest
}

/// A write that takes this many times the usual one waits for something that other writes need not wait for.
const WAITED: f64 = 2.0;

/// Number of waits that show how far apart they are.
const LEAST_WAITS: usize = 3;
/// How many times the longest distance of two waits the writes before the first wait must be.
const SUDDEN: usize = 3;

/// Within this factor of the usual time, a write is as fast as usual.
const AS_FAST: f64 = 1.5;

/// From this factor on, a write out of order costs a copy each time.
const EVERY_WRITE: f64 = 3.0;

/// A request that takes this many times the middle one waited for a collection, as long as few do.
const COLLECTION: f64 = 8.0;

/// The share of requests that may be left out as such.
const FEW: f64 = 0.1;

/// Share of the samples that is left out at either end.
const TRIMMED: f64 = 0.1;

/// Bytes per second of writes within one unit, few collections left out: what a buffer makes wait is part of it, though
/// most writes do not.
pub(crate) fn usual_rate(block: Bytes, times: &[Nanos]) -> Option<f64> {
    let seconds: Vec<f64> = times.iter().map(|time| time.as_secs_f64()).filter(|seconds| *seconds > 0.0).collect();
    trimmed_seconds(&seconds).map(|(seconds, _)| block.as_f64() / seconds)
}

/// Median of the service time, and its relative standard error.
fn middle_seconds(steady: &[f64]) -> Option<(f64, f64)> {
    let middle = median(steady)?;
    let away: Vec<f64> = steady.iter().map(|seconds| (seconds - middle).abs()).collect();
    let deviation = MAD_NORMAL_FACTOR * median(&away)?;
    Some((middle, 1.2533 * deviation / (steady.len() as f64).sqrt() / middle))
}

/// Trimmed mean of the service time, and its relative standard error: that of the winsorised sample (Tukey and McLaughlin,
/// 1963). A few requests that take many times as long are collections, a mixture of their own, and stay out.
fn trimmed_seconds(steady: &[f64]) -> Option<(f64, f64)> {
    let most = COLLECTION * median(steady)?;
    let mut kept: Vec<f64> = steady.iter().copied().filter(|seconds| *seconds <= most).collect();
    if (kept.len() as f64) < (1.0 - FEW) * steady.len() as f64 {
        kept = steady.to_vec();
    }
    // Waits of more than the trimmed share are no accident: every write pays its part of them.
    let middle = median(&kept)?;
    let waits = kept.iter().filter(|seconds| **seconds > WAITED * middle).count() as f64;
    let trimmed = if waits > TRIMMED * kept.len() as f64 { 0.0 } else { TRIMMED };
    let mean = trimmed_mean(&kept, trimmed).filter(|seconds| *seconds > 0.0)?;
    kept.sort_by(f64::total_cmp);
    let count = kept.len();
    let cut = (count as f64 * TRIMMED) as usize;
    let (low, high) = (kept[cut], kept[count - 1 - cut]);
    let winsorised: Vec<f64> = kept.iter().map(|seconds| seconds.clamp(low, high)).collect();
    let centre = winsorised.iter().sum::<f64>() / count as f64;
    let squares: f64 = winsorised.iter().map(|seconds| (seconds - centre).powi(2)).sum();
    let deviation = (squares / (count.max(2) - 1) as f64).sqrt();
    Some((mean, deviation / ((1.0 - 2.0 * TRIMMED) * (count as f64).sqrt()) / mean))
}

/// Tables of one unit, flashbench `-O --open-au-nr=1`.
fn table(observations: &Observations) -> Rates {
    let mut rates = Rates::new();
    for run in &observations.runs {
        let Data::OpenUnits(data) = &run.data else { continue };
        if data.count != Some(1) || !is_table(data) {
            continue;
        }
        for row in &data.rows {
            if let Some(rate) = rate(row.block, &row.rate) {
                push(&mut rates, row.block, data.order, printed(rate));
            }
        }
    }
    rates
}

/// The writes of flashbench `-p`: three contents in order, and the same at random.
fn program(observations: &Observations) -> Rates {
    let mut rates = Rates::new();
    for run in &observations.runs {
        let Data::Program(data) = &run.data else { continue };
        for row in &data.rows {
            for (column, evidence) in row.columns.iter().enumerate() {
                let order = match column {
                    0..=2 => Order::InOrder,
                    4..=6 => Order::Random,
                    _ => continue,
                };
                if let Some(rate) = rate(row.block, evidence) {
                    push(&mut rates, row.block, order, printed(rate));
                }
            }
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_of_few_among_many_writes_are_no_accident() {
        let check = |writes: usize, every: usize, wait: f64, expect: bool| {
            let times: Vec<f64> = (1..=writes).map(|index| if index % every == 0 { wait } else { 2e-3 }).collect();
            assert_eq!(mostly_waits(&times), expect, "{writes} writes, every {every}th of {wait} s");
        };
        check(400, 30, 200e-3, true);
        check(400, 30, 20e-3, true);
        // They hardly add to the whole; or there are too few writes to say so.
        check(400, 100, 20e-3, false);
        check(60, 30, 200e-3, false);
        check(400, 401, 1.0, false);
    }

    /// What one unit says where writes of this size, twice and four times of it take so many times as long at random as in order.
    fn told(smallest: Bytes, ratios: [f64; 3]) -> Option<Estimate<Penalty>> {
        let rate = |value: f64| vec![Rate { value, error: Some(0.01) }];
        let cells = [1, 2, 4].map(|times| smallest * times).into_iter().zip(ratios);
        let rates =
            cells.map(|(block, ratio)| (block, Cell { in_order: rate(8e6), random: rate(8e6 / ratio) })).collect();
        largest(&rates, ExperimentName::Throughput)
    }

    #[test]
    fn no_penalty_is_named_at_a_size_that_systems_write() {
        let of = |ratios| {
            let found = told(Bytes::kib(2), ratios).and_then(|found| found.value());
            found.map(|found| (found.block, found.ratio.round()))
        };
        assert_eq!(of([1.03, 1.0, 1.02]), Some((Bytes::kib(8), 1.0)));
        // What order does cost is named wherever it costs most.
        assert_eq!(of([3.0, 2.0, 1.0]), Some((Bytes::kib(2), 3.0)));
    }

    #[test]
    fn a_penalty_at_one_size_alone_may_be_a_device_that_became_slower() {
        let of = |ratios| told(Bytes::kib(8), ratios).and_then(|found| Some(found.value()?.ratio.round()));
        assert_eq!(of([1.0, 4.0, 1.1]), None);
        assert_eq!(told(Bytes::kib(8), [1.0, 4.0, 1.1]).and_then(|found| found.reason()), Some(Reason::Ambiguous));
        // The size beside it shares in it; or there is none on one side.
        assert_eq!(of([1.0, 4.0, 3.0]), Some(4.0));
        assert_eq!(of([4.0, 1.0, 1.0]), Some(4.0));
        assert_eq!(of([1.0, 1.0, 1.0]), Some(1.0));
    }
}
