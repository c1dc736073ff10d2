//! Small writes that take another way through the controller: a buffer or a log of their own.
//!
//! On one way a larger block is never slower: the work per request grows no faster than the request. Where random
//! writes of one size are markedly *faster* than those of twice the size, the smaller ones took another way.

use crate::numbers::{median, probability, rate};
use crate::{caution, open_units, penalty, survey, write_align};
use flashscope_model::plan::Purpose;
use flashscope_model::{Data, Direction, Estimate, Observations, Order};
use flashscope_units::{ByteRate, Bytes};
use std::collections::BTreeMap;

/// A smaller block must beat the next larger one by this factor.
const FASTER: f64 = 1.5;

/// Larger writes are not small; and the first, largest rows of a table lie.
const LARGEST: Bytes = Bytes::kib(128);

/// Beyond the open units in order, larger writes than this say nothing of a way of their own.
const SMALL_IN_ORDER: Bytes = Bytes::kib(16);

/// On a blank device a step of the rates is no surer than this.
const ON_A_BLANK_DEVICE: f64 = 0.6;

/// Rates by block size from one kind of evidence.
struct Curve {
    rates: BTreeMap<Bytes, Vec<f64>>,
    method: &'static str,
    what: &'static str,
    /// How much weaker than random writes to one unit.
    weakness: f64,
}

/// Up to which size small writes take another way.
pub(crate) fn estimate(observations: &Observations) -> Estimate<Bytes> {
    let curves = [one_unit(observations), single(observations), program(observations), past_the_limit(observations)];
    let found = curves.iter().filter(|curve| curve.rates.len() >= 2).find_map(Curve::upturn).map(|mut found| {
        if survey::blank_share(observations).is_some_and(|share| share >= survey::BLANK) {
            // What a copy costs depends on how much there is to copy, and so on what was written before.
            caution::cap(&mut found, ON_A_BLANK_DEVICE);
        }
        found
    });
    if let Some(found) = found.or_else(|| write_align::small_write_path(observations)) {
        return found;
    }
    match curves.iter().find(|curve| curve.rates.len() >= 2) {
        Some(curve) => {
            let smallest = curve.rates.keys().next().copied().unwrap_or_default();
            Estimate::unknown(format!("none seen: rates rise with the block size from {smallest} on ({})", curve.what))
        }
        None => Estimate::unknown("no random writes of several sizes were observed"),
    }
}

impl Curve {
    fn upturn(&self) -> Option<Estimate<Bytes>> {
        let points: Vec<(Bytes, f64, usize)> =
            self.rates.iter().filter_map(|(block, rates)| Some((*block, median(rates)?, rates.len()))).collect();
        let (at, factor) = points
            .windows(2)
            .enumerate()
            .filter(|(_, pair)| pair[1].0 == pair[0].0 * 2 && pair[0].0 <= LARGEST)
            .map(|(at, pair)| (at, pair[0].1 / pair[1].1))
            .filter(|(_, factor)| *factor >= FASTER)
            .max_by(|a, b| a.1.total_cmp(&b.1))?;
        let (small, large) = (points[at], points[at + 1]);
        let repeats = small.2.min(large.2);
        // One spoiled row makes a single factor of three; repeats or a deep step do not come by chance.
        if repeats < 2 && factor < 2.5 {
            return None;
        }
        let certainty = 1.0 - 0.25 * (-(factor.ln() / FASTER.ln()) * (repeats as f64).sqrt()).exp() - self.weakness;
        let evidence = format!(
            "{}: {} at {}, {} at {}: blocks up to {} take another way",
            self.what,
            ByteRate(small.1),
            small.0,
            ByteRate(large.1),
            large.0,
            small.0
        );
        Some(Estimate::known(small.0, probability(certainty.min(0.995)), evidence, &[self.method]))
    }
}

/// Random writes within one unit, every request timed.
fn one_unit(observations: &Observations) -> Curve {
    let mut rates: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    for run in &observations.runs {
        let Data::Throughput(data) = &run.data else { continue };
        if (data.purpose, data.direction, data.order) == (Purpose::OneUnit, Direction::Write, Order::Random)
            && let Some(rate) = penalty::usual_rate(data.block, &data.times)
        {
            // A middle of many samples stands for repeats of its own.
            rates.entry(data.block).or_default().extend([rate; 2]);
        }
    }
    Curve { rates, method: "throughput", what: "random writes to one unit", weakness: 0.0 }
}

/// Random writes to one unit of a table of several counts.
fn single(observations: &Observations) -> Curve {
    Curve {
        rates: table_rates(observations, |order, count| order == Order::Random && count == 1),
        method: "open-au",
        what: "random writes to one unit",
        weakness: 0.005,
    }
}

/// Writes beyond the limit of open units: the copies show at every size that does not escape them.
fn past_the_limit(observations: &Observations) -> Curve {
    let mut rates = BTreeMap::new();
    let mut method = "open-au";
    let mut in_order = false;
    for order in [Order::Random, Order::InOrder] {
        let estimate = open_units::estimate(observations, order);
        let Some(limit) = estimate.value.or(estimate.at_most) else { continue };
        if rates.len() < 2 {
            rates = table_rates(observations, |other, count| other == order && count > limit);
            in_order = order == Order::InOrder;
            let trials = trial_rates(observations, order, limit + 1);
            if !trials.is_empty() {
                method = "open-units";
                rates = trials;
            }
        }
    }
    // A table's rows there are single figures; a trial's are medians.
    let weakness = if method == "open-units" { 0.01 } else { 0.05 };
    if in_order {
        // Writes in order are joined to larger ones on their way, each size up to another limit: only small ones tell.
        rates.retain(|block, _| *block <= SMALL_IN_ORDER * 2);
    }
    Curve { rates, method, what: "writes beyond the open units", weakness }
}

fn table_rates(observations: &Observations, pick: impl Fn(Order, u32) -> bool) -> BTreeMap<Bytes, Vec<f64>> {
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
    rates
}

/// Trials of one count, each a median of many rounds, so that it stands for repeats of its own.
fn trial_rates(observations: &Observations, order: Order, count: u32) -> BTreeMap<Bytes, Vec<f64>> {
    open_units::live_counts(observations, order)
        .into_iter()
        .filter(|trial| trial.count == count)
        .filter_map(|trial| Some((trial.block, vec![trial.block.as_f64() / median(&trial.seconds)?; 2])))
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
    rates.retain(|_, found| !found.is_empty());
    Curve { rates, method: "program", what: "random writes", weakness: 0.005 }
}
