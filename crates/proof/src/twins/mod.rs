//! Digital twins: models of published devices, held against the tables that were published.
//!
//! A [`Replay`] of a published log runs the same experiments in the same order on a model with our own probes;
//! [`cells`] puts every published figure beside the simulated one; [`clauses`] says whether a twin is good:
//!
//! - (a) figures over at least 16 operations, interval minima, and align's pre, on and post: per test, at least 95 % of
//!   the cells within 15 %, and the median error at most 7 %;
//! - (b) align's diff: the mean of each plateau within 15 % or 10 µs;
//! - (c) figures that are chance: the published one lies in the central 95 % of 200 seeds, and that band is no
//!   wider than twice the spread of the published replicates;
//! - (d) models that are wrong must fail (in the tests).

pub mod clauses;
mod fitted;
mod known;
pub mod page;

pub use fitted::{FITTED, Fitted};
pub use flashscope_twin::{Cell, Figure, Replay, Test, cells};
pub use known::{EMMC_WRITE_ALIGN, SD_4MIB};

use flashscope_model::Run;

/// The experiments of a published log.
pub fn replay(log: &str) -> Replay {
    Replay::of(&flashscope_transcript::parse(log).observations.runs, &[])
}

/// They, done on the model that `spec` names.
///
/// # Panics
/// Where the model cannot be opened or an experiment cannot be done on it: that is a wrong test.
pub fn simulate(replay: &Replay, spec: &str, seed: u64) -> Vec<Run> {
    let target = flashscope_sim::open(spec, seed).unwrap_or_else(|error| panic!("{error}"));
    replay.simulate(target, seed).unwrap_or_else(|error| panic!("{spec}: {error}"))
}

/// A twin: a model, the log that it is a twin of, and the figures that it is not held to.
#[derive(Clone, Copy, Debug)]
pub struct Twin {
    /// Name of the model.
    pub model: &'static str,
    /// Name of the log, for people.
    pub log: &'static str,
    /// Where the published log lies, relative to the repository.
    pub path: &'static str,
    /// Cells that the twin is not held to, and why.
    pub excluded: &'static [Excluded],
}

/// Cells left out by name.
#[derive(Clone, Copy, Debug)]
pub struct Excluded {
    /// What is left out, in words.
    pub what: &'static str,
    /// Why.
    pub why: &'static str,
    /// Which cells these are.
    pub covers: fn(&Cell) -> bool,
}

impl Twin {
    /// Why a cell is left out, if it is.
    pub fn excludes(&self, cell: &Cell) -> Option<&'static Excluded> {
        self.excluded.iter().find(|excluded| (excluded.covers)(cell))
    }
}
