//! Where addresses begin anew, from places that hold what was written elsewhere.

use crate::numbers::gcd;
use flashscope_model::capacity::{Found, Quick};
use flashscope_units::Bytes;
use std::collections::BTreeSet;

/// Differences that are tried, smallest first: the period is the smallest where every wrap is covered.
const TRIED: usize = 64;
/// Share of the places that hold what belongs elsewhere which a period must explain.
const EXPLAINED: f64 = 0.9;

/// A period that explains what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) period: Bytes,
    /// Places that it explains.
    pub(super) explained: usize,
    /// Places that speak against it.
    pub(super) against: usize,
}

/// The period that explains most, if one explains nearly everything.
pub(super) fn of(quick: &Quick) -> Option<Period> {
    let differences = differences(quick);
    let smallest: BTreeSet<u64> = differences.iter().copied().collect();
    let common = differences.iter().copied().reduce(gcd)?;
    let tried = smallest.into_iter().take(TRIED).chain([common]);
    let judged = tried.filter(|period| Bytes(*period) >= quick.block).map(|period| judge(quick, &differences, period));
    let best = judged.max_by_key(|found| (found.explained as i64 - found.against as i64, found.period))?;
    let all = (differences.len() + best.against) as f64;
    (best.explained as f64 >= EXPLAINED * all).then_some(best)
}

fn differences(quick: &Quick) -> Vec<u64> {
    let places = quick.places.iter().chain(&quick.checks).map(|place| (place.at, place.found));
    let region = quick.region_holds.iter().map(|run| (run.at, run.found));
    let elsewhere = places.chain(region).filter_map(|(at, found)| match found {
        Found::Elsewhere(other) => Some(at.get().abs_diff(other.get())).filter(|difference| *difference > 0),
        _ => None,
    });
    elsewhere.collect()
}

/// Against a period speak places that it would have overwritten, and which kept what was written to them; and places that
/// were read to confirm it, and did not.
fn judge(quick: &Quick, differences: &[u64], period: u64) -> Period {
    let explained = differences.iter().filter(|difference| **difference % period == 0).count();
    let in_region = |at: Bytes| at.get() >= period && at.get() % period < quick.region.get().min(period);
    let survived = quick.places.iter().filter(|place| place.found == Found::Kept && in_region(place.at)).count();
    let confirmed = quick.checks.iter().filter(|place| matches!(place.found, Found::Elsewhere(_))).count();
    let unconfirmed = quick.checks.len() - confirmed;
    // Some of them may lie where nothing is.
    let doubted = if unconfirmed > confirmed { unconfirmed } else { 0 };
    Period { period: Bytes(period), explained, against: differences.len() - explained + survived + doubted }
}
