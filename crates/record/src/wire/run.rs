//! Who ran what, where, how, at what cost, and how it ended.

use super::EndedHow;
use flashscope_model::{self as model, run};
use flashscope_units::{Bytes, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The program that wrote the record.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Where and when a run took place.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Host name.
    pub name: String,
    /// Kernel release.
    pub kernel: String,
    /// Machine architecture.
    pub architecture: String,
    /// Start of the run in RFC 3339, UTC.
    pub started: String,
    /// Conditions that change results.
    pub conditions: Vec<Condition>,
}

/// One condition of the host.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    /// Its name (`governor`, `scheduler`, `read_ahead_kb`).
    pub name: String,
    /// Its value.
    pub value: String,
}

/// The way that requests actually took.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Path {
    /// `pread/pwrite`, `io_uring`, `virtual time`.
    pub engine: String,
    /// Open flags and the like.
    pub flags: Vec<String>,
    /// Largest number of requests outstanding.
    pub queue_depth: u32,
    /// Anything that was not as asked for.
    pub fallbacks: Vec<String>,
    /// Who used the device while it was read.
    pub in_use: Vec<String>,
}

/// What a run was allowed and set out to do.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Seed of every random choice; may need all 64 bits.
    pub seed: u64,
    /// What it might spend.
    pub budget: Budget,
    /// The experiments in the order in which they were chosen.
    pub steps: Vec<Step>,
}

/// What a run might spend.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// Bytes that it might write; 0 is reading only.
    pub write_bytes: u64,
    /// Device time; null where unlimited.
    pub time_ns: Option<u64>,
}

/// One step of the plan.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Name of the experiment.
    pub experiment: String,
    /// Its parameters in words.
    pub parameters: String,
    /// Why it was chosen.
    pub why: String,
}

/// What a run cost.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Time on the target's clock.
    pub time_ns: u64,
    /// Erases of units; null where nothing can be said.
    pub erases: Option<Erases>,
}

/// Wear caused.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Erases {
    /// Number of unit erases.
    pub units: u64,
    /// Whether the device counted them itself; else they are estimated.
    pub counted: bool,
    /// What an estimate assumes.
    pub assumption: Option<String>,
}

/// How a run ended.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Ended {
    /// In which way.
    pub how: EndedHow,
    /// What happened to a device that was lost; null otherwise.
    pub reason: Option<String>,
}

impl Host {
    pub(crate) fn from_model(host: &run::HostFacts) -> Host {
        let condition = |(name, value): &(String, String)| Condition { name: name.clone(), value: value.clone() };
        Host {
            name: host.name.clone(),
            kernel: host.kernel.clone(),
            architecture: host.architecture.clone(),
            started: host.started.clone(),
            conditions: host.conditions.iter().map(condition).collect(),
        }
    }

    pub(crate) fn into_model(self) -> run::HostFacts {
        run::HostFacts {
            name: self.name,
            kernel: self.kernel,
            architecture: self.architecture,
            started: self.started,
            conditions: self.conditions.into_iter().map(|condition| (condition.name, condition.value)).collect(),
        }
    }
}

impl Path {
    pub(crate) fn from_model(path: &run::PathTaken) -> Path {
        Path {
            engine: path.engine.clone(),
            flags: path.flags.clone(),
            queue_depth: path.queue_depth,
            fallbacks: path.fallbacks.clone(),
            in_use: path.in_use.clone(),
        }
    }

    pub(crate) fn into_model(self) -> run::PathTaken {
        run::PathTaken {
            engine: self.engine,
            flags: self.flags,
            queue_depth: self.queue_depth,
            fallbacks: self.fallbacks,
            in_use: self.in_use,
        }
    }
}

impl Plan {
    pub(crate) fn from_model(plan: &run::Plan) -> Plan {
        Plan {
            seed: plan.seed,
            budget: Budget { write_bytes: plan.budget.write.get(), time_ns: plan.budget.time.map(Nanos::get) },
            steps: plan.steps.iter().map(Step::from_model).collect(),
        }
    }

    pub(crate) fn into_model(self) -> run::Plan {
        run::Plan {
            seed: self.seed,
            budget: model::Budget { write: Bytes(self.budget.write_bytes), time: self.budget.time_ns.map(Nanos) },
            steps: self.steps.into_iter().map(Step::into_model).collect(),
        }
    }
}

impl Step {
    fn from_model(step: &run::Step) -> Step {
        Step { experiment: step.experiment.clone(), parameters: step.parameters.clone(), why: step.why.clone() }
    }

    fn into_model(self) -> run::Step {
        run::Step { experiment: self.experiment, parameters: self.parameters, why: self.why }
    }
}

impl Cost {
    pub(crate) fn from_model(cost: &run::Cost) -> Cost {
        Cost {
            read_bytes: cost.read.get(),
            written_bytes: cost.written.get(),
            time_ns: cost.time.get(),
            erases: cost.erases.as_ref().map(|erases| Erases {
                units: erases.units,
                counted: erases.counted,
                assumption: erases.assumption.clone(),
            }),
        }
    }

    pub(crate) fn into_model(self) -> run::Cost {
        run::Cost {
            read: Bytes(self.read_bytes),
            written: Bytes(self.written_bytes),
            time: Nanos(self.time_ns),
            erases: self.erases.map(|erases| run::Erases {
                units: erases.units,
                counted: erases.counted,
                assumption: erases.assumption,
            }),
        }
    }
}

impl Ended {
    pub(crate) fn from_model(ended: &run::Ended) -> Ended {
        let (how, reason) = match ended {
            run::Ended::Complete => (EndedHow::Complete, None),
            run::Ended::BudgetSpent => (EndedHow::BudgetSpent, None),
            run::Ended::Interrupted => (EndedHow::Interrupted, None),
            run::Ended::DeviceLost(reason) => (EndedHow::DeviceLost, Some(reason.clone())),
        };
        Ended { how, reason }
    }

    pub(crate) fn into_model(self) -> run::Ended {
        match self.how {
            EndedHow::Complete => run::Ended::Complete,
            EndedHow::BudgetSpent => run::Ended::BudgetSpent,
            EndedHow::Interrupted => run::Ended::Interrupted,
            EndedHow::DeviceLost => run::Ended::DeviceLost(self.reason.unwrap_or_default()),
        }
    }
}
