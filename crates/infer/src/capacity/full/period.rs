//! Where addresses begin anew, from stretches that hold what was written elsewhere.

use crate::numbers::gcd;
use flashscope_model::capacity::{Found, Full};
use std::collections::BTreeSet;

/// Distances that are tried, smallest first.
const TRIED: usize = 64;
/// Share of what belongs elsewhere that a period must explain.
const EXPLAINED: f64 = 0.9;
/// Addresses that share a place keep one of them: more that is kept than a period is long speaks against it, but for this much …
const OVER: f64 = 1.02;
/// … unless most of what was read belongs elsewhere: then a cache keeps the rest.
const MOST: u64 = 2;

/// A period that explains what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) period: u64,
    /// Bytes from elsewhere that it does not explain.
    pub(super) against: u64,
}

/// The longest period that explains most, if one explains nearly everything.
pub(super) fn of(full: &Full) -> Option<Period> {
    let distances: Vec<(u64, u64)> = full
        .bad
        .iter()
        .filter_map(|run| match run.found {
            Found::Elsewhere(from) => Some((run.at.get().abs_diff(from.get()), run.length.get())),
            _ => None,
        })
        .collect();
    let all: u64 = distances.iter().map(|(_, length)| length).sum();
    let different: BTreeSet<u64> = distances.iter().map(|(distance, _)| *distance).filter(|other| *other > 0).collect();
    let common = different.iter().copied().reduce(gcd)?;
    let explained = |period: u64| -> u64 {
        distances.iter().filter(|(distance, _)| distance.is_multiple_of(period)).map(|(_, length)| length).sum()
    };
    let kept = full.totals.kept;
    let mostly_elsewhere = full.totals.elsewhere > kept * MOST;
    let fits = |period: &u64| {
        let leaves_room = mostly_elsewhere || kept.as_f64() <= OVER * *period as f64;
        *period >= full.block.get() && *period < full.claimed.get() && leaves_room
    };
    let tried = different.iter().copied().take(TRIED).chain([common]).filter(fits);
    let (explained, period) = tried.map(|period| (explained(period), period)).max()?;
    (explained as f64 >= EXPLAINED * all as f64).then_some(Period { period, against: all - explained })
}
