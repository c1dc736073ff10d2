//! Trying: one parameter after the other is moved a little, and what brings the simulated figures nearer stays.
//!
//! Each trial does the measurement's experiments on a virtual device with the same seed, so that nothing but the
//! parameter differs. The number of trials is bounded.

use crate::FitError;
use crate::card::{Card, Origin};
use crate::cells::{self, Cell, Test};
use crate::fit::Watch;
use crate::replay::Replay;
use std::collections::BTreeMap;

/// The seed of every trial.
const SEED: u64 = 1;
/// Factors by which a parameter is moved, one round after the other.
const STEPS: [f64; 4] = [1.3, 1.12, 1.05, 1.02];
/// A figure that is off by more than this (natural logarithm) counts as this: one row that the model cannot give must
/// not spoil the others.
const MOST: f64 = 0.7;
/// A contrast counts as off by its share, or by this many nanoseconds where that is more.
const CONTRAST_NS: f64 = 10e3;
/// The share that stands for [`CONTRAST_NS`].
const CONTRAST_SHARE: f64 = 0.15;
/// An improvement below this share is chance.
const LEAST_GAIN: f64 = 1e-3;
/// The split of a merge is not told by itself, but trying may tell it.
const SPLIT: &str = "mapping.merge.fixed";
/// The shortest and the longest collection are fitted as one.
const COLLECTION: [&str; 2] = ["mapping.small.collect_shortest", "mapping.small.collect_longest"];

/// How far simulated figures are from the measured ones: the mean over tests of the mean over figures.
pub(crate) fn distance(cells: &[Cell]) -> f64 {
    let mut tests: BTreeMap<Test, (f64, u32)> = BTreeMap::new();
    for cell in cells {
        if let Some(off) = off(cell) {
            let pool = tests.entry(cell.test).or_default();
            *pool = (pool.0 + off, pool.1 + 1);
        }
    }
    if tests.is_empty() {
        0.0
    } else {
        tests.values().map(|(sum, n)| sum / f64::from(*n)).sum::<f64>() / tests.len() as f64
    }
}

fn off(cell: &Cell) -> Option<f64> {
    if cell.column == "diff" {
        let unit = (cell.measured.abs() * CONTRAST_SHARE).max(CONTRAST_NS);
        let off = (cell.simulated - cell.measured).abs() / unit * CONTRAST_SHARE;
        return cell.test.is_read().then_some(off.min(MOST));
    }
    let ratio = cell.simulated / cell.measured;
    (ratio > 0.0 && ratio.is_finite()).then(|| ratio.ln().abs().min(MOST))
}

/// The same for a model.
pub(crate) fn distance_of(card: &Card, replay: &Replay) -> Result<f64, FitError> {
    let simulated = replay.simulate(card.open(SEED)?, SEED)?;
    Ok(distance(&cells::all(&replay.measured, &simulated)))
}

/// Moves the parameters until no step helps; at most `STEPS.len()` rounds of two trials each.
pub(crate) fn refine(
    card: &mut Card,
    replay: &Replay,
    parameters: &[&str],
    what: &str,
    watch: &mut dyn Watch,
) -> Result<(), FitError> {
    if replay.experiments.is_empty() {
        return Ok(());
    }
    let free: Vec<&str> = parameters.iter().copied().filter(|path| is_free(card, path)).collect();
    let total = (STEPS.len() * free.len()) as u32;
    let mut best = distance_of(card, replay)?;
    for (round, step) in STEPS.iter().enumerate() {
        for (index, path) in free.iter().enumerate() {
            watch.progress(what, (round * free.len() + index) as u32, total);
            if watch.stop() {
                return Err(FitError::Stopped);
            }
            let from = card.number(path);
            for factor in [*step, 1.0 / step] {
                move_to(card, path, from * factor);
                let found = distance_of(card, replay)?;
                if found < best * (1.0 - LEAST_GAIN) {
                    best = found;
                    break;
                }
                move_to(card, path, from);
            }
        }
    }
    Ok(())
}

/// What the figures told is free to be moved; what they did not show stays as it is.
fn is_free(card: &Card, path: &str) -> bool {
    card.number(path) > 0.0 && (path == SPLIT || matches!(card.origin(path), Some(Origin::Fitted(_))))
}

fn move_to(card: &mut Card, path: &str, value: f64) {
    if path == COLLECTION[0] {
        COLLECTION.iter().for_each(|path| card.change(path, value));
    } else if path.ends_with(".hidden") {
        card.change(path, value.min(1.0));
    } else {
        card.change(path, value);
    }
}
