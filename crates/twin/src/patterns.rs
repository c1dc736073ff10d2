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
use std::ops::Range;

/// The seed of every trial.
const SEED: u64 = 1;
/// Factors by which times are moved, one round after the other.
const STEPS: [f64; 8] = [4.0, 2.0, 1.5, 1.25, 1.12, 1.06, 1.03, 1.015];
/// In the first rounds, sizes and counts are tried as well.
const COUNTED: usize = 4;
/// Rounds after which the nearest of several models to begin with goes on alone.
const FIRST: usize = 3;
/// What tables of durable writes tell is moved no farther than by this factor.
const NEAR: f64 = 1.5;
/// A time of nothing cannot be scaled: these are tried in its place, in nanoseconds.
const INSTEAD_OF_NOTHING: [f64; 5] = [20e3, 200e3, 2e6, 20e6, 100e6];
/// A figure that is off by more than this (natural logarithm) counts as this.
const MOST: f64 = 2.0;
/// An improvement below this share is chance.
const LEAST_GAIN: f64 = 2e-3;
/// A step that helps is done again, so often at most.
const AGAIN: u32 = 3;

/// A change of a model.
pub(crate) type Change = Box<dyn Fn(&mut Card)>;

/// What is moved.
pub(crate) enum Lever {
    /// Times and shares that go together.
    Time(&'static [&'static str]),
    /// The same, but no farther from where it began than tables leave open.
    Near(&'static str),
    /// A number that is scaled like a time, once it is about right.
    Number(&'static str),
    /// One of these sizes.
    Size(&'static str, Vec<Bytes>),
    /// One of these numbers.
    Count(&'static str, Vec<u64>),
    /// One of these changes.
    Form(Vec<Change>),
}

/// A change as a lever has it.
pub(crate) fn boxed(change: impl Fn(&mut Card) + 'static) -> Change {
    Box::new(change)
}

/// Whether the device was written to before: reads of what never was are answered without the flash.
pub(crate) fn start_lever() -> Lever {
    Lever::Form(
        ["filled", "blank"].map(|start| boxed(move |card| card.set_text("state.start", start, origin()))).into(),
    )
}

/// A model in the making, and what keeps it whole after a move.
pub(crate) struct Tuned<'t> {
    pub(crate) levers: Vec<Lever>,
    /// Sets what follows from other parameters.
    pub(crate) settle: fn(&mut Card),
    /// As the tables have it.
    pub(crate) from: Card,
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

    /// Moves levers of several cards to begin with in the first rounds, and then those of the nearest; says how far the figures
    /// are off then.
    pub(crate) fn refine(&self, starts: Vec<Card>, watch: &mut dyn Watch) -> Result<(Card, f64), FitError> {
        let mut nearest: Option<(Card, f64)> = None;
        for mut card in starts {
            (self.settle)(&mut card);
            let mut off = self.off(&card);
            self.rounds(&mut card, 0..FIRST, &mut off, watch)?;
            if nearest.as_ref().is_none_or(|(_, least)| off < *least) {
                nearest = Some((card, off));
            }
        }
        let (mut card, mut off) = nearest.ok_or(FitError::Nothing)?;
        self.rounds(&mut card, FIRST..STEPS.len(), &mut off, watch)?;
        Ok((card, off))
    }

    fn rounds(
        &self,
        card: &mut Card,
        rounds: Range<usize>,
        best: &mut f64,
        watch: &mut dyn Watch,
    ) -> Result<(), FitError> {
        let total = (STEPS.len() * self.levers.len()) as u32;
        for round in rounds {
            let step = STEPS[round];
            for (index, lever) in self.levers.iter().enumerate() {
                watch.progress("patterns", (round * self.levers.len() + index) as u32, total);
                if watch.stop() {
                    return Err(FitError::Stopped);
                }
                match lever {
                    Lever::Time(paths) => self.scale(card, paths, (round, step), best),
                    Lever::Near(path) => {
                        let from = self.from.number(path);
                        let within = |to: f64| (from / NEAR..=from * NEAR).contains(&to);
                        self.scaled(card, &[path], (step, &within), best);
                    }
                    Lever::Number(path) => self.count(card, path, step, best),
                    _ if round < COUNTED => self.choose(card, lever, best),
                    _ => {}
                }
            }
        }
        Ok(())
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
        self.scaled(card, paths, (step, &|_| true), best);
    }

    fn scaled(&self, card: &mut Card, paths: &[&str], (step, may): (f64, &dyn Fn(f64) -> bool), best: &mut f64) {
        for factor in [step, 1.0 / step] {
            for _ in 0..AGAIN {
                let mut changed = card.clone();
                paths.iter().for_each(|path| changed.replace(path, card.number(path) * factor, origin()));
                if !paths.iter().all(|path| may(changed.number(path))) || !self.take(card, changed, best) {
                    break;
                }
            }
        }
    }

    fn count(&self, card: &mut Card, path: &str, step: f64, best: &mut f64) {
        for factor in [step, 1.0 / step] {
            let from = card.number(path);
            let to = (from * factor).round();
            if to >= 1.0 && to != from {
                let changed = card.with(|card| card.set_count(path, to as u64, origin()));
                self.take(card, changed, best);
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
            Lever::Time(_) | Lever::Near(_) | Lever::Number(_) => Vec::new(),
        };
        for changed in changed {
            self.take(card, changed, best);
        }
    }
}
