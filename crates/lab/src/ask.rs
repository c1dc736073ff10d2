//! What agents and operators say to a coordinator, and what it answers. Bytes of a record or a plan travel beside these words.

use crate::engine::{Entry, RunState};
use crate::order::Order;
use serde::{Deserialize, Serialize};

/// What an agent says. Who says it is known from elsewhere, as the server lets each speak in its own name alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AgentAsk {
    /// It lives, and takes more.
    Work {
        /// Drawn anew whenever the agent is started: what an earlier one held is free.
        incarnation: String,
        /// The runs that it knows to be its own: under way, or with a result that is not confirmed yet.
        holding: Vec<String>,
        /// So many more on simulated devices.
        room: u32,
        /// Identities of the real devices that are attached to it.
        devices: Vec<String>,
    },
    /// A run has ended. The record, where there is one, comes beside it.
    Ended {
        /// The run.
        id: String,
        /// The number of the attempt.
        attempt: u32,
        /// How.
        end: End,
    },
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "kebab-case", deny_unknown_fields)]
pub enum End {
    /// With a record.
    Done {
        /// Its SHA-256, in hexadecimal digits.
        sha256: String,
    },
    /// With a failure.
    Failed {
        /// Why.
        why: String,
    },
    /// Without a result, and without a failure: the agent was stopped.
    Stopped {
        /// Why.
        why: String,
    },
    /// With something that no further try changes.
    GivenUp {
        /// Why.
        why: String,
    },
}

/// What an agent is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AgentAnswer {
    /// What to do further.
    Orders {
        /// The runs, which are leased to it now.
        orders: Vec<Order>,
        /// How long a lease holds, in milliseconds.
        lease: u64,
    },
    /// The run's record is kept for good.
    Confirmed {
        /// The hash of the record that is kept; that of the first one to come, which may be another agent's.
        sha256: String,
    },
    /// That a run ended without a record is noted.
    Noted,
    /// The record is none of this run.
    Rejected {
        /// Why.
        why: String,
    },
    /// The run was never handed to this agent by this server.
    Foreign,
    /// It cannot be said now: ask again.
    Later {
        /// Why.
        why: String,
    },
}

/// What an operator says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum OperatorAsk {
    /// Whether a coordinator is there.
    Who,
    /// A plan, whose text comes beside it, is to be done.
    Submit {
        /// Whether runs that were given up are tried again.
        retry_failed: bool,
    },
    /// How far the runs are, from a place on.
    Status {
        /// The place in the order of submission.
        from: usize,
    },
    /// The record of a run that is done.
    Record {
        /// The run.
        id: String,
    },
}

/// What an operator is answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case", deny_unknown_fields)]
pub enum OperatorAnswer {
    /// A coordinator of this version is there.
    Here {
        /// Of the program.
        version: String,
    },
    /// The plan is kept.
    Submitted {
        /// So many runs are new.
        new: usize,
        /// Of so many.
        of: usize,
    },
    /// Runs in the order of submission.
    Runs {
        /// As many as fit into a message.
        runs: Vec<RunTold>,
        /// So many there are in all.
        of: usize,
        /// The agents that were heard of.
        agents: Vec<AgentTold>,
    },
    /// The record comes beside this.
    Record {
        /// Its SHA-256.
        sha256: String,
    },
    /// It cannot be done.
    Refused {
        /// Why, and a hint of what to do.
        why: String,
    },
}

/// A run as operators are told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunTold {
    /// The run.
    pub id: String,
    /// What the plan calls its device.
    pub device: String,
    /// The device.
    pub identity: String,
    /// What the plan calls its work.
    pub work: String,
    /// The words of the command line.
    pub words: Vec<String>,
    /// A word of [`RunState`].
    pub state: String,
    /// How often it was begun.
    pub attempts: u32,
    /// How often it failed.
    pub failures: u32,
    /// The hash of its record.
    pub sha256: Option<String>,
    /// When it was handed out, and when its record came, in milliseconds since 1970 by the coordinator's clock.
    pub began: Option<u64>,
    /// See `began`.
    pub ended: Option<u64>,
    /// Why it failed last.
    pub why: Option<String>,
}

/// An agent as operators are told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentTold {
    /// Its name.
    pub name: String,
    /// So many milliseconds ago it was heard of last.
    pub heard: u64,
    /// So many runs it holds.
    pub holds: usize,
    /// So many records came from it that were not what their hash said. At a limit it is given no more work.
    pub lies: u32,
}

impl RunTold {
    /// What is told of a run.
    pub fn of(entry: &Entry) -> RunTold {
        let Entry { device, identity, work, attempts, failures, sha256, began, ended, why, .. } = entry.clone();
        let (id, words, state) = (entry.run.id.clone(), entry.run.words.clone(), entry.state.word().to_owned());
        RunTold { id, device, identity, work, words, state, attempts, failures, sha256, began, ended, why }
    }

    /// Where it is; `None` for a word of another version.
    pub fn state(&self) -> Option<RunState> {
        RunState::of_word(&self.state)
    }
}
