//! One whole run: who, what, how, what was seen, what was concluded, what it cost and how it ended.

use crate::{DeviceFacts, Findings, Observations, plan::Budget};
use flashscope_units::{Bytes, Nanos};

/// Everything about one run; the `record` crate stores it, the `report` crate shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Version of the tool.
    pub tool_version: String,
    /// The command (`inspect`, `probe align`, `infer`).
    pub command: String,
    /// What was asked about, as typed.
    pub target: String,
    /// Where and when; `None` in a virtual run, so that the same seed gives the same bytes.
    pub host: Option<HostFacts>,
    /// The device; `None` where a log does not tell.
    pub device: Option<DeviceFacts>,
    /// How requests reached the device; `None` where a log does not tell.
    pub path: Option<PathTaken>,
    /// What the run was allowed and set out to do.
    pub plan: Plan,
    /// What was seen.
    pub observations: Observations,
    /// What was concluded.
    pub findings: Findings,
    /// What it cost.
    pub cost: Cost,
    /// How it ended.
    pub ended: Ended,
}

/// Where and when a run took place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFacts {
    /// Host name.
    pub name: String,
    /// Kernel release.
    pub kernel: String,
    /// Machine architecture.
    pub architecture: String,
    /// Start in RFC 3339, UTC.
    pub started: String,
    /// Conditions that change results, each a name and a value (`governor`, `scheduler`, `read_ahead_kb`).
    pub conditions: Vec<(String, String)>,
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
#[derive(Clone, Debug, PartialEq)]
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

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It did all it set out to do.
    Complete,
    /// The budget was used up first.
    BudgetSpent,
    /// The operator stopped it.
    Interrupted,
    /// The device went away or stopped answering.
    DeviceLost(String),
}
