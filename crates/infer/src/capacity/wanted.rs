//! What a quick test does next: places to read that confirm a wrap, or places that narrow the true size down.

use super::shape::{Shape, shape};
use flashscope_model::capacity::{Found, Genuineness, Quick};
use flashscope_units::Bytes;

/// Places of one round: with them an edge between two places of the first pass is known to the block after three rounds.
const PLACES: u64 = 512;
/// Places behind a supposed edge, which are lost where it is one.
const BEHIND: u64 = 24;
/// Reads that confirm where addresses begin anew.
const CHECKS: u64 = 16;
/// Most rounds: each leaves 1/512 of what was open, so that 2^45 blocks take five.
const MOST_ROUNDS: usize = 5;

/// What is done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Reads these places, which were not written to.
    Check(Vec<Bytes>),
    /// Writes these places, then the controls, and reads them.
    Round(Vec<Bytes>, Vec<Control>),
}

/// A place that keeps nothing of its own; where it seems to, a cache answers, and the others of its round may come from it as
/// well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// The place.
    pub at: Bytes,
    /// What is written after it, and overwrites it where addresses begin anew.
    pub then: Option<Bytes>,
}

/// What would settle most next; `None` where nothing would.
pub fn next(quick: &Quick) -> Option<Next> {
    let shape = shape(quick);
    let kind = shape.kind.filter(|kind| !matches!(kind, Genuineness::Genuine | Genuineness::Damaged))?;
    if shape.period.is_some() && quick.checks.is_empty() {
        let places = checks(quick);
        if !places.is_empty() {
            return Some(Next::Check(places));
        }
    }
    let size = shape.size?;
    let unconfirmed = kind == Genuineness::Limbo && quick.rounds.is_empty();
    if (size.is_exact() && !unconfirmed) || quick.rounds.len() >= MOST_ROUNDS {
        return None;
    }
    let controls = controls(quick, &shape);
    if controls.is_empty() {
        return None;
    }
    let mut places = spread(size.low, size.high, quick.block, PLACES);
    if kind == Genuineness::Limbo {
        let end = shape.tail.unwrap_or(quick.claimed);
        places.extend(spread(size.high, end, quick.block, BEHIND));
    }
    places.retain(|place| controls.iter().all(|control| control.at != *place));
    places.sort_unstable();
    places.dedup();
    Some(Next::Round(places, controls))
}

/// Neighbours of places that hold what was written elsewhere: they hold what was written to its neighbours.
fn checks(quick: &Quick) -> Vec<Bytes> {
    let elsewhere = quick.places.iter().filter_map(|place| match place.found {
        Found::Elsewhere(from) => Some((place.at, from)),
        _ => None,
    });
    let elsewhere: Vec<(Bytes, Bytes)> = elsewhere.collect();
    let each = CHECKS.div_ceil(elsewhere.len().max(1) as u64);
    let taken = elsewhere.len().div_ceil(CHECKS as usize).max(1);
    let near = |(at, from): &(Bytes, Bytes)| {
        let (at, from) = (*at, *from);
        let behind = (1..=each).map(move |number| (at + quick.block * number, from + quick.block * number));
        let before = (1..=each).filter_map(move |number| {
            let back = quick.block * number;
            Some((at.checked_sub(back)?, from.checked_sub(back)?))
        });
        behind.chain(before).filter(|(at, from)| *at < quick.claimed && *from < quick.region).take(each as usize)
    };
    let mut places: Vec<Bytes> = elsewhere.iter().step_by(taken).flat_map(near).map(|(at, _)| at).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// So many blocks between two addresses, the first and the last of them included.
fn spread(low: Bytes, high: Bytes, block: Bytes, most: u64) -> Vec<Bytes> {
    let blocks = high.saturating_sub(low).get() / block.get();
    let count = blocks.min(most);
    let number = |index: u64| if count <= 1 { 0 } else { index * (blocks - 1) / (count - 1) };
    (0..count).map(|index| low + block * number(index)).collect()
}

fn controls(quick: &Quick, shape: &Shape) -> Vec<Control> {
    let lost = quick.places.iter().rev().filter(|place| place.found.is_lost());
    let plain: Vec<Control> = lost.map(|place| Control { at: place.at, then: None }).take(2).collect();
    match shape.period {
        Some(period) if plain.is_empty() => vec![Control { at: period, then: Some(Bytes::ZERO) }],
        _ if plain.is_empty() => {
            let region = quick.region_holds.iter().rev().find(|run| run.found.is_lost());
            region.map(|run| Control { at: run.at, then: None }).into_iter().collect()
        }
        _ => plain,
    }
}

impl Control {
    /// Whether what was read there came from a cache.
    pub fn shows_a_cache(found: Found) -> bool {
        found == Found::Kept
    }
}
