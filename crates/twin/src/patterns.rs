//! Trying by patterns: parameters that no table tells are moved until requests as applications mix them take what they took.
//!
//! A record of `inspect --for-twin` has such patterns. Here sizes and counts are tried as well as times, since what a small-write
//! log holds, or when a log is merged, shows in nothing but how long a mixture takes. One lever after the other is moved, in steps
//! that get smaller; what brings the means of the patterns nearer stays.

use crate::FitError;
use crate::card::{Card, Origin};
use crate::cells::{self, Cell};
use crate::fit::Watch;
use crate::replay::Replay;
use flashscope_units::Bytes;

/// The seed of every trial.
const SEED: u64 = 1;
/// Factors by which times are moved, one round after the other.
const STEPS: [f64; 8] = [4.0, 2.0, 1.5, 1.25, 1.12, 1.06, 1.03, 1.015];
/// In the first rounds, sizes and counts are tried as well.
const COUNTED: usize = 4;
/// A time of nothing cannot be scaled: these are tried in its place, in nanoseconds.
const INSTEAD_OF_NOTHING: [f64; 5] = [20e3, 200e3, 2e6, 20e6, 100e6];
/// A figure that is off by more than this (natural logarithm) counts as this.
const MOST: f64 = 2.0;
/// An improvement below this share is chance.
const LEAST_GAIN: f64 = 2e-3;
/// A step that helps is done again, so often at most.
const AGAIN: u32 = 3;

/// What is moved.
#[derive(Clone, Debug)]
pub(crate) enum Lever {
    /// Times and shares that go together.
    Time(&'static [&'static str]),
    /// One of these sizes.
    Size(&'static str, Vec<Bytes>),
    /// One of these numbers.
    Count(&'static str, Vec<u64>),
    /// One of these forms.
    Form(Vec<fn(&mut Card)>),
}

/// A model in the making, and what keeps it whole after a move.
pub(crate) struct Tuned<'t> {
    pub(crate) levers: Vec<Lever>,
    /// Sets what follows from other parameters.
    pub(crate) settle: fn(&mut Card),
    pub(crate) replay: &'t Replay,
}

/// How far means of patterns are off: the mean of the sizes of their logarithms.
pub(crate) fn distance(cells: &[Cell]) -> f64 {
    let off = |cell: &Cell| {
        let ratio = cell.simulated / cell.measured;
        if ratio > 0.0 && ratio.is_finite() { ratio.ln().abs().min(MOST) } else { MOST }
    };
    cells.iter().map(off).sum::<f64>() / cells.len().max(1) as f64
}

/// The patterns' figures on a model, each beside the measured one; `None` where it is no model, or cannot do them.
pub(crate) fn figures(card: &Card, replay: &Replay) -> Option<Vec<Cell>> {
    let simulated = replay.simulate(card.open(SEED).ok()?, SEED).ok()?;
    Some(cells::all(&replay.measured, &simulated))
}

fn origin() -> Origin {
    Origin::Fitted("to requests as applications mix them".to_owned())
}

impl Tuned<'_> {
    fn off(&self, card: &Card) -> f64 {
        figures(card, self.replay).map_or(f64::MAX, |cells| distance(&cells))
    }

    /// Moves levers until the last round is over; says how far the figures are off then.
    pub(crate) fn refine(&self, card: &mut Card, watch: &mut dyn Watch) -> Result<f64, FitError> {
        (self.settle)(card);
        let mut best = self.off(card);
        let total = (STEPS.len() * self.levers.len()) as u32;
        for (round, step) in STEPS.iter().enumerate() {
            for (index, lever) in self.levers.iter().enumerate() {
                watch.progress("patterns", (round * self.levers.len() + index) as u32, total);
                if watch.stop() {
                    return Err(FitError::Stopped);
                }
                match lever {
                    Lever::Time(paths) => self.scale(card, paths, (round, *step), &mut best),
                    _ if round < COUNTED => self.choose(card, lever, &mut best),
                    _ => {}
                }
            }
        }
        Ok(best)
    }

    /// Takes a changed model where it is nearer.
    fn take(&self, card: &mut Card, mut changed: Card, best: &mut f64) -> bool {
        (self.settle)(&mut changed);
        let off = self.off(&changed);
        let nearer = off < *best * (1.0 - LEAST_GAIN);
        if nearer {
            (*best, *card) = (off, changed);
        }
        nearer
    }

    fn scale(&self, card: &mut Card, paths: &[&str], (round, step): (usize, f64), best: &mut f64) {
        if paths.iter().all(|path| card.number(path) == 0.0) {
            for time in INSTEAD_OF_NOTHING.iter().filter(|_| round < COUNTED) {
                let mut changed = card.clone();
                paths.iter().for_each(|path| changed.replace(path, *time, origin()));
                self.take(card, changed, best);
            }
            return;
        }
        let nothing = (round == 0).then_some(0.0);
        for factor in [step, 1.0 / step].into_iter().chain(nothing) {
            for again in 0..AGAIN {
                let mut changed = card.clone();
                paths.iter().for_each(|path| changed.replace(path, card.number(path) * factor, origin()));
                if !self.take(card, changed, best) {
                    break;
                }
                if again + 1 == AGAIN {
                    break;
                }
            }
        }
    }

    fn choose(&self, card: &mut Card, lever: &Lever, best: &mut f64) {
        let from = card.clone();
        let changed: Vec<Card> = match lever {
            Lever::Size(path, sizes) => sizes
                .iter()
                .filter(|size| from.size(path) != Some(**size))
                .map(|size| from.with(|card| card.set_size(path, *size, origin())))
                .collect(),
            Lever::Count(path, counts) => counts
                .iter()
                .filter(|count| from.number(path) != **count as f64)
                .map(|count| from.with(|card| card.set_count(path, *count, origin())))
                .collect(),
            Lever::Form(forms) => forms.iter().map(|form| from.with(form)).collect(),
            Lever::Time(_) => Vec::new(),
        };
        for changed in changed {
            self.take(card, changed, best);
        }
    }
}
