//! The state certificate: how a device was brought into a state, and what shows that it is in it.

use crate::envelope::ConditionList;
use flashscope_units::{Bytes, Nanos};

/// How a device was brought into a state.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Whether the state was reached.
    pub reached: bool,
    /// By what that was seen, or why it was not reached.
    pub why: String,
    /// The step of the purge ladder that was reached; `None` where the state needs none, or none was to be had.
    pub purge: Option<String>,
    /// The steps of the purge ladder from the strongest down to the one that was reached, each with what came of it.
    pub ladder: Vec<Rung>,
    /// What was done, in order.
    pub steps: Vec<MadeStep>,
    /// Seed of every random choice.
    pub seed: u64,
    /// How often it was begun, the first time included: it goes on where it was stopped.
    pub sessions: u32,
    /// Share of the rated life that was spent, 0…1; `None` where nobody told what is rated.
    pub life_share: Option<f64>,
    /// Who says what is rated.
    pub life_source: String,
    /// Registers and counters of the device before the first step.
    pub registers_before: ConditionList,
    /// The same after the last one.
    pub registers_after: ConditionList,
    /// What else was seen: a device that slowed, places that failed.
    pub notes: Vec<String>,
}

/// One step of the purge ladder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rung {
    /// Its name (`mmc-sanitize`, `discard`).
    pub step: String,
    /// Whether it was reached.
    pub reached: bool,
    /// What came of it: why it is not there, what was done, and what shows that it did something, or nothing.
    pub outcome: String,
}

/// One thing that was done to bring a device into a state.
#[derive(Clone, Debug, PartialEq)]
pub struct MadeStep {
    /// What.
    pub what: String,
    /// Bytes written.
    pub written: Bytes,
    /// Bytes read.
    pub read: Bytes,
    /// Time that the device took.
    pub time: Nanos,
    /// Requests that failed.
    pub failed: u64,
    /// Requests that found other bytes than were written.
    pub mismatched: u64,
    /// How it ended.
    pub end: String,
    /// Bytes written per second, in ten parts of the step or round by round; empty where that says nothing.
    pub rates: Vec<f64>,
}

impl Certificate {
    /// Bytes that were written in all.
    pub fn written(&self) -> Bytes {
        self.steps.iter().map(|step| step.written).sum()
    }

    /// Requests that failed or found other bytes.
    pub fn errors(&self) -> u64 {
        self.steps.iter().map(|step| step.failed + step.mismatched).sum()
    }
}
