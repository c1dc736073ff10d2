//! How many units can be half-written at once, sequentially and randomly: two figures that are never mixed.
//!
//! Each is the largest n before the rate falls against smaller n *in the same order*. Two kinds of evidence serve:
//! [`table`] reads rows of throughput for many block sizes (flashbench `-O`, printed or measured), [`trial`] reads
//! rounds of writes at one block size. Start at [`estimate`].

mod in_both;
mod opened;
pub(crate) mod search;
mod table;
mod trial;

pub(crate) use trial::{LAST_ROUNDS, PLAINLY_MANY, live_counts, state};

use crate::numbers::{probability, rates_side_by_side};
use flashscope_model::finding::Doubt;
use flashscope_model::{
    Data, Estimate, ExperimentName, Observations, Order, Reason, observation::OpenUnitsData, observation::RateEvidence,
};
use flashscope_units::Bytes;

/// A drop below this factor is not a limit: a controller that spreads its work over more units may lose as much.
pub(crate) const SMALLEST_FALL: f64 = 1.5;

/// A fall of this factor is a collapse: every request costs a copy of what the unit held.
pub(crate) const COLLAPSE: f64 = 3.0;

/// More rows than this make a table; fewer are trials with samples of their own.
const ROWS_OF_A_TRIAL: usize = 3;

/// Where the rate falls, or does not.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limit {
    /// Largest count before the fall, or the largest count seen to be as good as smaller ones.
    pub(crate) good: u32,
    /// Smallest count seen to have fallen; `None` where none has.
    pub(crate) fallen: Option<u32>,
    /// How clear both are, 0…1.
    pub(crate) score: f64,
    /// What makes them weaker.
    pub(crate) doubts: Vec<Doubt>,
    /// Other limits with their probabilities.
    pub(crate) alternatives: Vec<(u32, f64)>,
    /// The row to show: block size, rate at `good`, rate at `fallen`; or for no fall the rates at the ends.
    pub(crate) row: (Bytes, f64, f64),
    /// What else a reader should know, as the tail of a sentence.
    pub(crate) remark: String,
}

/// Why there is no limit to report.
pub(crate) type WhyNot = (Reason, String);

/// The count of open units for one order.
pub(crate) fn estimate(observations: &Observations, order: Order) -> Estimate<u32> {
    let live = trial::limit(observations, order);
    let printed = table::limit(observations, order);
    // Trials come from disjoint fresh units with samples of their own: where they speak, they speak first.
    let chosen = match (live, printed) {
        (Ok(live), _) => Ok((live, ExperimentName::OpenUnits)),
        (Err(_), Ok(table)) => Ok((table, ExperimentName::OpenAu)),
        (Err(why), Err(None)) => Err(why),
        (Err(_), Err(Some(why))) => Err(Some(why)),
    };
    match chosen {
        Ok((limit, method)) => describe(&limit, method),
        Err(Some((reason, seen))) => Estimate::unknown(reason, seen),
        Err(None) => Estimate::unknown(
            Reason::NotMeasured,
            format!("no writes to several units in turn were observed ({})", words(order)),
        ),
    }
}

/// Trials go by a unit that is this sure; by an assumed one else.
pub(crate) const GOOD_ENOUGH: f64 = 0.8;

/// A unit of cards of a gigabyte and more; larger ones are rare enough to live with.
const USUAL_UNIT: Bytes = Bytes::mib(4);

/// What the count is worth given the allocation unit: starts that were picked all over the device count units only where
/// no two of them lie in the same one. A log says nothing of places, and its operator chose the unit.
pub(crate) fn given_the_unit(
    found: Estimate<u32>,
    observations: &Observations,
    order: Order,
    unit: &Estimate<Bytes>,
) -> Estimate<u32> {
    let Some(apart) = least_distance(observations, order).filter(|_| !found.is_unknown()) else { return found };
    let largest = unit.value().or(unit.least());
    let doubt = match (unit.value(), unit.least()) {
        // The trials went by another unit then, most likely.
        (Some(_), _) => (!unit.is_sure(GOOD_ENOUGH)).then_some(Doubt::UnitUnsure),
        (None, Some(_)) => Some(Doubt::UnitBounded),
        // Writes that do not begin where a unit does may pass for ones at random, and then fewer can be open; and those at
        // random within what is assumed to be a unit may go to two.
        (None, None) => Some(Doubt::UnitUnknown),
    };
    if let Some(size) = largest.filter(|size| *size > apart) {
        return Estimate::unknown(
            Reason::Ambiguous,
            format!(
                "the places that were written in turn lie {apart} apart, so that several share an allocation unit of {size}"
            ),
        );
    }
    if largest.is_none() && apart < USUAL_UNIT {
        return Estimate::unknown(
            Reason::NeedsAnother,
            format!(
                "the allocation unit is not known, and the places that were written in turn lie {apart} apart: several may \
             share one unit"
            ),
        );
    }
    let Some(doubt) = doubt else { return found };
    let mut found = found.but(doubt);
    found.add_evidence("no surer than the allocation unit");
    let fewer = |limit: &u32| estimate(observations, Order::InOrder).value().is_some_and(|in_order| *limit < in_order);
    match found.value().filter(|limit| order == Order::Random && fewer(limit)) {
        Some(limit) => at_least(limit, found),
        None => found,
    }
}

/// Random writes within what is assumed to be a unit may go to several, where fewer of those seem too many; sequential ones all
/// begin one.
fn at_least(limit: u32, mut found: Estimate<u32>) -> Estimate<u32> {
    found.add_evidence("what is assumed to be a unit may be several, so that more than these can be open");
    let doubts = found.support().map_or(Vec::new(), |support| support.doubts.clone());
    let sure = found.confidence().unwrap_or(0.0);
    Estimate::at_least(limit, sure, found.evidence(), found.method()).with_doubts(doubts)
}

/// The least distance of places that our own probes wrote in turn.
fn least_distance(observations: &Observations, order: Order) -> Option<Bytes> {
    let timed = |data: &&OpenUnitsData| data.rows.iter().any(|row| matches!(row.rate, RateEvidence::Times(_)));
    runs(observations, order)
        .filter(timed)
        .flat_map(|data| {
            let mut starts = data.units.clone();
            starts.sort_unstable();
            starts.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
        })
        .filter(|distance| *distance > Bytes::ZERO)
        .min()
}

/// How repeats of one table of writes contradict each other: then they are perhaps not of one device.
pub(crate) fn contradiction(observations: &Observations) -> Option<String> {
    [Order::InOrder, Order::Random]
        .into_iter()
        .find_map(|order| table::contradiction(observations, order))
        .map(|(_, seen)| seen)
}

/// The unit of the trials so far: those to come must have the same, or they do not compare.
pub(crate) fn trial_unit(observations: &Observations) -> Option<Bytes> {
    observations.runs.iter().find_map(|run| match &run.data {
        Data::OpenUnits(data) if !is_table(data) => data.unit,
        _ => None,
    })
}

/// Whether a run of several units is a table of many block sizes.
pub(crate) fn is_table(data: &OpenUnitsData) -> bool {
    data.rows.len() > ROWS_OF_A_TRIAL || data.rows.iter().any(|row| matches!(row.rate, RateEvidence::Printed(_)))
}

/// All runs of several units in one order.
fn runs(observations: &Observations, order: Order) -> impl Iterator<Item = &OpenUnitsData> {
    observations.runs.iter().filter_map(move |run| match &run.data {
        Data::OpenUnits(data) if data.order == order => Some(data),
        _ => None,
    })
}

/// The order in words.
pub(crate) fn words(order: Order) -> &'static str {
    match order {
        Order::InOrder => "sequential",
        Order::Random => "random",
    }
}

fn describe(limit: &Limit, method: ExperimentName) -> Estimate<u32> {
    let (block, from, to) = limit.row;
    let score = probability(limit.score);
    let mut estimate = match limit.fallen {
        Some(fallen) => {
            let evidence =
                format!("{} → {fallen} units: {} at {block}{}", limit.good, rates_side_by_side(from, to), limit.remark);
            if fallen == limit.good + 1 {
                Estimate::known(limit.good, score, evidence, &[method])
            } else {
                Estimate::between(limit.good, fallen - 1, score, evidence, &[method])
            }
        }
        None => {
            let evidence = format!(
                "no fall up to {} units: {} at {block}{}",
                limit.good,
                rates_side_by_side(from, to),
                limit.remark
            );
            Estimate::at_least(limit.good, score, evidence, &[method])
        }
    };
    limit.doubts.iter().for_each(|doubt| estimate.doubt(*doubt));
    estimate.with_alternatives(limit.alternatives.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run;
    use flashscope_model::observation::{OpenUnitsRow, Run, Source};
    use flashscope_units::Nanos;

    /// Trials around a limit, of units 16 MiB apart.
    fn trials(order: Order, limit: u32) -> impl Iterator<Item = Run> {
        [1, 2, limit, limit + 1].into_iter().map(move |count| {
            let time = Nanos::millis(if count > limit { 90 } else { 4 });
            let rows = vec![OpenUnitsRow {
                block: Bytes::kib(64),
                rate: RateEvidence::Times(vec![time; 10 * count as usize]),
            }];
            let units: Vec<Bytes> = (0..u64::from(count)).map(|unit| Bytes::mib(16) * unit).collect();
            Run {
                source: Source::Log { first_line: 1, last_line: 9 },
                ..run(Data::OpenUnits(OpenUnitsData { order, count: Some(count), unit: None, units, rows }))
            }
        })
    }

    #[test]
    fn fewer_at_random_within_what_is_assumed_to_be_a_unit_is_a_bound() {
        let nothing = Estimate::unknown(Reason::NothingShows, "");
        let known = Estimate::known(Bytes::mib(4), 0.99, "", &[]);
        let check = |in_order: u32, unit: &Estimate<Bytes>, expect: (Option<u32>, Option<u32>)| {
            let runs = trials(Order::InOrder, in_order).chain(trials(Order::Random, 4)).collect();
            let observations = Observations { runs, ..Observations::default() };
            let found = estimate(&observations, Order::Random);
            let found = given_the_unit(found, &observations, Order::Random, unit);
            assert_eq!((found.value(), found.least()), expect, "{in_order} in order");
        };
        check(9, &nothing, (None, Some(4)));
        check(9, &known, (Some(4), None));
        check(4, &nothing, (Some(4), None));
    }
}
