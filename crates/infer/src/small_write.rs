//! Small writes that take another way through the controller: a buffer or a log of their own.
//!
//! On one way a larger block is never slower: the work per request grows no faster than the request. Where random
//! writes of one size are markedly *faster* than those of twice the size, the smaller ones took another way.

use crate::numbers::{median, probability, rate};
use crate::{open_units, penalty, survey, write_align};
use flashscope_model::finding::Doubt;
use flashscope_model::plan::Purpose;
use flashscope_model::{Data, Direction, Estimate, ExperimentName, Observations, Order, Reason};
use flashscope_stats::test::cliffs_delta;
use flashscope_units::{ByteRate, Bytes};
use std::collections::BTreeMap;

/// A smaller block must beat the next larger one by this factor.
pub(crate) const FASTER: f64 = 1.5;

/// … and in this share of all pairs, less those in which it is the slower one (Cliff's δ).
const APART: f64 = 0.9;

/// Larger writes are not small; and the first, largest rows of a table lie.
const LARGEST: Bytes = Bytes::kib(128);

/// Published cards have ways of their own for writes up to this size. What shows at a larger one may as well be a buffer that
/// takes this many of those writes and fewer of the next size.
const USUAL_LARGEST: Bytes = Bytes::kib(16);

/// The name of tables of writes to several units.
const TABLE: ExperimentName = ExperimentName::OpenAu;

/// Beyond the open units (sequential), larger writes than this say nothing of a separate path.
const SMALL_IN_ORDER: Bytes = Bytes::kib(16);

/// Rates by block size from one kind of evidence.
struct Curve {
    rates: BTreeMap<Bytes, Rate>,
    method: ExperimentName,
    what: &'static str,
    /// How much weaker than random writes to one unit.
    weakness: f64,
}

/// The rate at one block size.
struct Rate {
    /// With everything that some of the writes waited for.
    mean: f64,
    /// Of the middle one.
    middle: f64,
    /// Each of what it comes from: tables, writes, or rounds of a trial.
    each: Vec<f64>,
    /// How many figures stand behind it.
    repeats: usize,
}

impl Rate {
    /// Of figures without samples.
    fn of_repeats(rates: Vec<f64>) -> Option<Rate> {
        let middle = median(&rates)?;
        Some(Rate { mean: middle, middle, repeats: rates.len(), each: rates })
    }

    /// How many times as fast this is as writes of twice the size, by any measure. A few writes that wait for a collection make
    /// a mean, and no way: nearly all of the larger ones must be slower than the smaller ones with all that those wait for.
    /// And where smaller ones are copied for now and then, they only were not so often: nothing is escaped.
    fn beside(&self, larger: &Rate) -> f64 {
        let apart = cliffs_delta(&self.each, &larger.each).is_ok_and(|delta| delta >= APART);
        if apart { self.mean.min(self.middle) / larger.mean.max(larger.middle) } else { 0.0 }
    }
}

/// Up to which size small writes take another way.
pub(crate) fn estimate(observations: &Observations) -> Estimate<Bytes> {
    let curves = [one_unit(observations), single(observations), program(observations), past_the_limit(observations)];
    let found = curves.iter().filter(|curve| curve.rates.len() >= 2).find_map(Curve::upturn).map(|mut found| {
        if survey::blank_share(observations).is_some_and(|share| share >= survey::BLANK) {
            // What a copy costs depends on how much there is to copy, and so on what was written before.
            found.doubt(Doubt::Blank);
        }
        found
    });
    if let Some(found) = found.or_else(|| write_align::small_write_path(observations)) {
        return found;
    }
    match curves.iter().find(|curve| curve.rates.len() >= 2) {
        Some(curve) => {
            let smallest = curve.rates.keys().next().copied().unwrap_or_default();
            Estimate::unknown(
                Reason::NothingShows,
                format!("none seen: rates rise with the block size from {smallest} on ({})", curve.what),
            )
        }
        None => Estimate::unknown(Reason::NotMeasured, "no random writes of several sizes were observed"),
    }
}

impl Curve {
    fn upturn(&self) -> Option<Estimate<Bytes>> {
        let points: Vec<(&Bytes, &Rate)> = self.rates.iter().collect();
        let (pair, factor) = points
            .windows(2)
            .filter(|pair| *pair[1].0 == *pair[0].0 * 2 && *pair[0].0 <= LARGEST)
            .map(|pair| (pair, pair[0].1.beside(pair[1].1)))
            .filter(|(_, factor)| *factor >= FASTER)
            .max_by(|a, b| a.1.total_cmp(&b.1))?;
        let (small, large) = (pair[0], pair[1]);
        let repeats = small.1.repeats.min(large.1.repeats);
        // One spoiled row makes a single factor of three; repeats or a deep step do not come by chance.
        let unusual = *small.0 > USUAL_LARGEST;
        if (repeats < 2 || unusual) && factor < 2.5 {
            return None;
        }
        // Each row of a table finds the unit as the row before left it, which makes such a step of its own.
        if unusual && self.method == TABLE {
            return None;
        }
        let certainty = 1.0 - 0.25 * (-(factor.ln() / FASTER.ln()) * (repeats as f64).sqrt()).exp() - self.weakness;
        let evidence = format!(
            "{}: {} at {}, {} at {}; writes ≤ {} take a separate path",
            self.what,
            ByteRate(small.1.mean),
            small.0,
            ByteRate(large.1.mean),
            large.0,
            small.0
        );
        let mut found = Estimate::known(*small.0, probability(certainty), evidence, &[self.method]);
        if unusual {
            found.doubt(Doubt::Unusual);
        }
        Some(found)
    }
}

/// Random writes within one unit, every request timed; the first ones pay for what was open before.
fn one_unit(observations: &Observations) -> Curve {
    let mut rates: BTreeMap<Bytes, Rate> = BTreeMap::new();
    // Where a device may have become slower on its way, sizes that were written before and behind that cannot be compared.
    let runs = if penalty::slowed_down(observations) { &[][..] } else { &observations.runs };
    for run in runs {
        let Data::Throughput(data) = &run.data else { continue };
        if (data.purpose, data.direction, data.order) == (Purpose::OneUnit, Direction::Write, Order::Random) {
            let steady = &data.times[data.times.len() / 4..];
            let of = |seconds: f64| data.block.as_f64() / seconds;
            let middle = median(&steady.iter().map(|time| time.as_secs_f64()).collect::<Vec<f64>>()).map(of);
            if let Some((mean, middle)) = penalty::usual_rate(data.block, steady).zip(middle) {
                // A middle of many samples stands for repeats of its own.
                // The first run of a size counts: a longer one behind it asks for what waits when a log is full.
                let each = || steady.iter().map(|time| of(time.as_secs_f64())).collect();
                rates.entry(data.block).or_insert_with(|| Rate { mean, middle, repeats: 2, each: each() });
            }
        }
    }
    Curve { rates, method: ExperimentName::Throughput, what: "random writes to one unit", weakness: 0.0 }
}

/// Random writes to one unit of a table of several counts.
fn single(observations: &Observations) -> Curve {
    Curve {
        rates: table_rates(observations, |order, count| order == Order::Random && count == 1),
        method: TABLE,
        what: "random writes to one unit",
        weakness: 0.005,
    }
}

/// Writes beyond the limit of open units: the copies show at every size that does not escape them.
fn past_the_limit(observations: &Observations) -> Curve {
    let mut rates = BTreeMap::new();
    let mut method = TABLE;
    let mut in_order = false;
    for order in [Order::Random, Order::InOrder] {
        let estimate = open_units::estimate(observations, order);
        let Some(limit) = estimate.value().or(estimate.most()) else { continue };
        if rates.len() < 2 {
            rates = table_rates(observations, |other, count| other == order && count > limit);
            in_order = order == Order::InOrder;
            let trials = trial_rates(observations, order, limit + 1);
            if !trials.is_empty() {
                method = ExperimentName::OpenUnits;
                rates = trials;
            }
        }
    }
    // A table's rows there are single figures; a trial's are medians.
    let weakness = if method == ExperimentName::OpenUnits { 0.01 } else { 0.05 };
    if in_order {
        // Sequential writes are joined to larger ones on their way, each size up to another limit: only small ones tell.
        rates.retain(|block, _| *block <= SMALL_IN_ORDER * 2);
    }
    Curve { rates, method, what: "writes beyond the open units", weakness }
}

fn table_rates(observations: &Observations, pick: impl Fn(Order, u32) -> bool) -> BTreeMap<Bytes, Rate> {
    let mut rates: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    for run in &observations.runs {
        let Data::OpenUnits(data) = &run.data else { continue };
        if !open_units::is_table(data) || !data.count.is_some_and(|count| pick(data.order, count)) {
            continue;
        }
        for row in &data.rows {
            if let Some(rate) = rate(row.block, &row.rate) {
                rates.entry(row.block).or_default().push(rate);
            }
        }
    }
    of_repeats(rates)
}

fn of_repeats(rates: BTreeMap<Bytes, Vec<f64>>) -> BTreeMap<Bytes, Rate> {
    rates.into_iter().filter_map(|(block, rates)| Some((block, Rate::of_repeats(rates)?))).collect()
}

/// Trials of one count, each a median of many rounds, so that it stands for repeats of its own.
fn trial_rates(observations: &Observations, order: Order, count: u32) -> BTreeMap<Bytes, Rate> {
    open_units::live_counts(observations, order)
        .into_iter()
        .filter(|trial| trial.count == count)
        .filter_map(|trial| {
            let of = |seconds: f64| trial.block.as_f64() / seconds;
            let mean = of(trial.seconds.iter().sum::<f64>() / trial.seconds.len() as f64);
            let each = trial.seconds.iter().map(|seconds| of(*seconds)).collect();
            Some((trial.block, Rate { mean, middle: of(median(&trial.seconds)?), repeats: 2, each }))
        })
        .collect()
}

/// The random writes of flashbench `-p`, of three contents.
fn program(observations: &Observations) -> Curve {
    let mut rates: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    for run in &observations.runs {
        let Data::Program(data) = &run.data else { continue };
        for row in &data.rows {
            let columns = row.columns.iter().skip(4).take(3).filter_map(|column| rate(row.block, column));
            rates.entry(row.block).or_default().extend(columns);
        }
    }
    Curve { rates: of_repeats(rates), method: ExperimentName::Program, what: "random writes", weakness: 0.005 }
}
