//! What an experiment is given besides its parameters, and what it says besides its figures.

use flashscope_device::WriteGrant;
use flashscope_model::StopReason;
use flashscope_units::Nanos;
use std::ops::ControlFlow;

/// The surroundings of one [`run`](crate::run).
pub struct Context<'a> {
    /// The right to write; experiments that only read do without.
    pub grant: Option<&'a mut WriteGrant>,
    /// Seed of every random choice: the same seed does the same requests in the same order.
    pub seed: u64,
    /// Who watches, and may stop.
    pub observer: &'a mut dyn Observer,
    /// Filled in by the run.
    pub report: Report,
}

/// How a run went, beyond its figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Why the run is not complete, where it stopped early although the device is there: [`StopReason::Interrupted`] by
    /// the observer, [`StopReason::BudgetSpent`] where the next write is not covered by the write budget, or
    /// [`StopReason::Failing`] after [`HOPELESS_FAILURES`] failed requests in a row.
    pub stop: Option<StopReason>,
    /// How many requests failed in all; `Run::failures` keeps the first [`KEPT_FAILURES`].
    pub failed: u64,
}

/// Number of failed requests that are kept one by one; the last one kept says how many more there were.
pub const KEPT_FAILURES: usize = 100;

/// Number of failed requests in a row, with no good one in between, after which a run stops early.
pub const HOPELESS_FAILURES: u64 = 200;

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Requests done.
    pub done: u64,
    /// Requests in all.
    pub total: u64,
    /// Time since the experiment began, on the target's clock.
    pub elapsed: Nanos,
}

/// Watches a run. Called between requests, never inside a timed part, and not after every one: about every 50 ms of the
/// target's time.
pub trait Observer {
    /// Takes note of the progress; `Break` ends the run early, with everything measured so far.
    fn progress(&mut self, progress: Progress) -> ControlFlow<()>;
}

/// Watches nothing and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn progress(&mut self, _progress: Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<'a> Context<'a> {
    /// Surroundings without the right to write.
    pub fn reading(seed: u64, observer: &'a mut dyn Observer) -> Context<'a> {
        Context { grant: None, seed, observer, report: Report::default() }
    }

    /// Surroundings with the right to write.
    pub fn writing(grant: &'a mut WriteGrant, seed: u64, observer: &'a mut dyn Observer) -> Context<'a> {
        Context { grant: Some(grant), seed, observer, report: Report::default() }
    }
}
