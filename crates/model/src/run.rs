//! One whole run on a device: what it set out to do, what was seen, what was concluded, and what that cost.

use crate::{Envelope, Findings, Observations, plan::Budget};
use flashscope_units::{Bytes, Nanos};

/// A characterisation, an experiment, or what is concluded from either: the kinds `inspect`, `probe`, `infer` and
/// `state`.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Who, when, where, on what, and how it ended.
    pub envelope: Envelope,
    /// What the run was allowed and set out to do.
    pub plan: Plan,
    /// What was seen.
    pub observations: Observations,
    /// What was concluded.
    pub findings: Findings,
}

/// The way that requests actually took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathTaken {
    /// `pread/pwrite`, `io_uring`, `virtual time`.
    pub engine: String,
    /// Open flags and the like (`O_DIRECT`, `O_SYNC`).
    pub flags: Vec<String>,
    /// Largest number of requests outstanding.
    pub queue_depth: u32,
    /// Anything that was not as asked for; never silent.
    pub fallbacks: Vec<String>,
    /// Whether the device was in use by others while it was read.
    pub in_use: Vec<String>,
}

/// What a run was allowed and set out to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Seed of every random choice.
    pub seed: u64,
    /// What it might spend.
    pub budget: Budget,
    /// The experiments in the order in which they were chosen, and why each.
    pub steps: Vec<Step>,
}

/// One step of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Name of the experiment.
    pub experiment: String,
    /// Its parameters in words.
    pub parameters: String,
    /// Why it was chosen.
    pub why: String,
}

/// What a run cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    /// Bytes read.
    pub read: Bytes,
    /// Bytes written.
    pub written: Bytes,
    /// Time on the target's clock.
    pub time: Nanos,
    /// Erases of units: counted on a simulated device, estimated on a real one; `None` where nothing can be said.
    pub erases: Option<Erases>,
}

/// Wear caused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erases {
    /// Number of unit erases.
    pub units: u64,
    /// Whether the device counted them itself.
    pub counted: bool,
    /// What an estimate assumes.
    pub assumption: Option<String>,
}
