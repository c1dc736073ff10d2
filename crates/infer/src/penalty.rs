//! What it costs to write one unit at random instead of in order, per block size.
//!
//! A controller that merges on every out-of-order write shows here, at n = 1, and not as a count of zero open units.

use crate::numbers::{digits, probability, rate};
use crate::open_units::is_table;
use flashscope_model::finding::Penalty;
use flashscope_model::plan::Purpose;
use flashscope_model::{Data, Direction, Estimate, Observations, Order};
use flashscope_stats::location::trimmed_mean;
use flashscope_units::{ByteRate, Bytes, Nanos};
use std::collections::BTreeMap;

/// Rates of one unit by block size: in order, and at random.
type Rates = BTreeMap<Bytes, (Vec<f64>, Vec<f64>)>;

/// The largest penalty over the block sizes; the others stand in the evidence.
pub(crate) fn estimate(observations: &Observations) -> Estimate<Penalty> {
    let sources: [(Rates, &'static str, f64); 3] = [
        (one_unit(observations), "throughput", 0.99),
        (table(observations), "open-au", 0.97),
        (program(observations), "program", 0.9),
    ];
    sources
        .into_iter()
        .find_map(|(rates, method, confidence)| largest(&rates, method, confidence))
        .unwrap_or_else(|| Estimate::unknown("no unit was written both in order and at random at the same block size"))
}

fn largest(rates: &Rates, method: &'static str, confidence: f64) -> Option<Estimate<Penalty>> {
    let mut penalties: Vec<Penalty> = rates.iter().filter_map(|(block, rates)| penalty(*block, rates)).collect();
    // Of a table, the largest blocks write a unit once or twice: the first rows after an erase lie.
    let unit = rates.keys().next_back().copied()?;
    if penalties.iter().any(|penalty| penalty.block * 8 <= unit) {
        penalties.retain(|penalty| penalty.block * 8 <= unit || penalty.block <= Bytes::kib(128));
    }
    penalties.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    let first = *penalties.first()?;
    let others: Vec<String> =
        penalties.iter().skip(1).take(4).map(|p| format!("{}× at {}", digits(p.ratio), p.block)).collect();
    let mut evidence = format!("one unit at {}: {} in order, {} at random", first.block, first.in_order, first.random);
    if !others.is_empty() {
        evidence.push_str(&format!("; {}", others.join(", ")));
    }
    // A lone peak may be a single collection; one that its neighbour shares in part is not.
    let second = penalties.get(1).map_or(1.0, |penalty| penalty.ratio);
    let lonely = first.ratio > 8.0 * second;
    Some(Estimate::known(first, probability(if lonely { confidence - 0.15 } else { confidence }), evidence, &[method]))
}

fn penalty(block: Bytes, (in_order, random): &(Vec<f64>, Vec<f64>)) -> Option<Penalty> {
    let in_order = crate::numbers::median(in_order)?;
    let random = crate::numbers::median(random)?;
    Some(Penalty { ratio: in_order / random, block, in_order: ByteRate(in_order), random: ByteRate(random) })
}

fn push(rates: &mut Rates, block: Bytes, order: Order, rate: f64) {
    let entry = rates.entry(block).or_default();
    match order {
        Order::InOrder => entry.0.push(rate),
        Order::Random => entry.1.push(rate),
    }
}

/// Writes within one unit, every request timed. The mean counts here: the copies *are* the penalty. But the first
/// requests pay for what was open before, and of so few a single stray collection would make a penalty: the slowest
/// tenth is left out at the upper end, and the fastest at the lower.
fn one_unit(observations: &Observations) -> Rates {
    let mut rates = Rates::new();
    for run in &observations.runs {
        let Data::Throughput(data) = &run.data else { continue };
        if (data.purpose, data.direction) == (Purpose::OneUnit, Direction::Write)
            && let Some(seconds) = steady_seconds(&data.times)
        {
            push(&mut rates, data.block, data.order, data.block.as_f64() / seconds);
        }
    }
    rates
}

/// Trimmed mean of the service time, without the opening quarter.
fn steady_seconds(times: &[Nanos]) -> Option<f64> {
    let steady: Vec<f64> = times[times.len() / 4..].iter().map(|time| time.as_secs_f64()).collect();
    trimmed_mean(&steady, 0.1).filter(|seconds| *seconds > 0.0)
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
                push(&mut rates, row.block, data.order, rate);
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
                    push(&mut rates, row.block, order, rate);
                }
            }
        }
    }
    rates
}
