//! How many units are open when the first of them is closed for another: trials in order begin one fresh unit after the other,
//! and each costs a copy from there on.
//!
//! It says where the limit is likely to lie, before any count is too many. No more than that: what others left open, or what the
//! controller closes by itself, shifts it.

use super::{COLLAPSE, is_table};
use crate::numbers::median;
use flashscope_model::observation::{OpenUnitsData, RateEvidence};
use flashscope_model::{Data, Observations, Order};
use flashscope_units::{Bytes, Nanos};
use std::collections::BTreeSet;

/// The units that were begun before the first that closed another, of the trials before any at random.
pub(super) fn before_a_close(observations: &Observations) -> Option<u32> {
    let mut known: BTreeSet<Bytes> = BTreeSet::new();
    let mut usual = f64::INFINITY;
    // Seconds that it took to begin each of them, one after the other.
    let mut begun: Vec<f64> = Vec::new();
    for (trial, times) in first_in_order(observations) {
        let seconds: Vec<f64> = times.iter().map(|time| time.as_secs_f64()).collect();
        let (first, rest) = seconds.split_at(seconds.len().min(trial.units.len()));
        // Of a count that is too many all writes are slow: what is usual was seen before.
        usual = usual.min(median(rest).unwrap_or(f64::INFINITY));
        begun.extend(first);
        // In which order the units of a trial were begun, it does not say.
        if !trial.units.iter().all(|unit| known.insert(*unit)) {
            return None;
        }
        let fast = |limit: f64| begun.iter().rposition(|seconds| *seconds <= limit).map_or(0, |last| last + 1);
        // What is collected now and then takes less than a copy.
        let copy = median(&begun[fast(COLLAPSE * usual)..]).unwrap_or(0.0);
        let open = fast((COLLAPSE * usual).max(copy / COLLAPSE));
        if begun.len() - open >= FEWEST_CLOSES {
            let before = begun[..open].iter().filter(|seconds| **seconds > copy / COLLAPSE).count();
            return u32::try_from(open).ok().filter(|open| *open > 0 && before < FEWEST_CLOSES);
        }
    }
    None
}

/// So many units in a row, each of which closes another, are no chance; and where so many are as slow before, it is another thing.
const FEWEST_CLOSES: usize = 2;

/// Trials in order with the times of their writes, up to the first at random.
fn first_in_order(observations: &Observations) -> impl Iterator<Item = (&OpenUnitsData, &[Nanos])> {
    let trials = observations.runs.iter().filter_map(|run| match &run.data {
        Data::OpenUnits(data) if !is_table(data) => Some(data),
        _ => None,
    });
    trials.take_while(|data| data.order == Order::InOrder).filter_map(|data| match &data.rows.first()?.rate {
        RateEvidence::Times(times) => Some((data, times.as_slice())),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run;
    use flashscope_model::observation::OpenUnitsRow;

    /// Trials in order of so many units of their own each, of a device that keeps `open` of them open and closes the one that
    /// rested for longest, after others had `before` of its logs.
    fn trials(counts: &[u32], open: usize, before: usize) -> Observations {
        let mut held: Vec<u64> = (0..before as u64).map(|unit| 1_000_000 + unit).collect();
        let mut next = 0;
        let mut trial = |count: u32| {
            let units: Vec<u64> = (next..next + u64::from(count)).collect();
            next += u64::from(count);
            let write = |unit: &u64| {
                let known = held.iter().position(|other| other == unit).map(|at| held.remove(at)).is_some();
                let closes = !known && held.len() == open;
                held.drain(..usize::from(closes));
                held.push(*unit);
                Nanos::millis(if closes { 80 } else { 4 })
            };
            let times = units.iter().cycle().take(4 * units.len()).map(write).collect();
            run(Data::OpenUnits(OpenUnitsData {
                order: Order::InOrder,
                count: Some(count),
                unit: Some(Bytes::mib(4)),
                units: units.iter().map(|unit| Bytes::mib(4) * *unit).collect(),
                rows: vec![OpenUnitsRow { block: Bytes::kib(64), rate: RateEvidence::Times(times) }],
            }))
        };
        Observations { runs: counts.iter().map(|count| trial(*count)).collect(), ..Observations::default() }
    }

    #[test]
    fn the_first_unit_that_closes_another_tells_how_many_are_open() {
        assert_eq!(before_a_close(&trials(&[1, 2, 4, 8, 16, 32], 61, 0)), Some(61));
        assert_eq!(before_a_close(&trials(&[1, 2, 4, 8, 16], 22, 0)), Some(22));
        // Right between two trials, and one before that; too few to tell; and what others left takes its part.
        assert_eq!(before_a_close(&trials(&[1, 2, 4, 8, 16], 15, 0)), Some(15));
        assert_eq!(before_a_close(&trials(&[1, 2, 4, 8, 16], 14, 0)), Some(14));
        assert_eq!(before_a_close(&trials(&[1, 2, 4, 8, 16], 40, 0)), None);
        assert_eq!(before_a_close(&trials(&[1, 2, 4, 8, 16], 22, 5)), Some(17));
    }

    #[test]
    fn what_is_slow_now_and_then_closes_nothing() {
        let check = |slow: &[usize], millis: u64, expect: Option<u32>| {
            let mut seen = trials(&[1, 2, 4, 8, 16], 22, 0);
            let Data::OpenUnits(data) = &mut seen.runs[3].data else { unreachable!() };
            let RateEvidence::Times(times) = &mut data.rows[0].rate else { unreachable!() };
            slow.iter().for_each(|write| times[*write] = Nanos::millis(millis));
            assert_eq!(before_a_close(&seen), expect);
        };
        check(&[3], 80, Some(22));
        check(&[1, 3], 80, None);
        // Far less than a copy takes.
        check(&[1, 3], 20, Some(22));
    }
}
