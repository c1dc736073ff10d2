//! The queue of runs and who holds which: one trait, so that other engines than the one of this host can keep them.
//!
//! A run is handed out under a lease. Whoever holds it says so now and then; a lease that is over may be taken by somebody else.
//! A run is done when the hash of its record is kept, once: a second result of the same run is answered with the first one's.
//! Times are milliseconds since 1970, passed in.

use crate::run::Run;
use std::fmt;

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Nobody has it.
    Waiting,
    /// Somebody holds its lease.
    Leased,
    /// Its record is there, and its hash is kept.
    Done,
    /// It was given up, and why is kept.
    Failed,
    /// It was not to be done after all: a round of the neighbour check that was broken.
    Dropped,
}

impl RunState {
    /// All of them.
    pub const ALL: [RunState; 5] =
        [RunState::Waiting, RunState::Leased, RunState::Done, RunState::Failed, RunState::Dropped];

    /// Its word in the queue and in records.
    pub const fn word(self) -> &'static str {
        match self {
            RunState::Waiting => "waiting",
            RunState::Leased => "leased",
            RunState::Done => "done",
            RunState::Failed => "failed",
            RunState::Dropped => "dropped",
        }
    }

    /// The state of this word.
    pub fn of_word(word: &str) -> Option<RunState> {
        RunState::ALL.into_iter().find(|state| state.word() == word)
    }

    /// Whether nothing more is to be done.
    pub const fn is_over(self) -> bool {
        matches!(self, RunState::Done | RunState::Failed | RunState::Dropped)
    }
}

/// A run as the engine keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The run; places of device and work are those of the plan that it was submitted with.
    pub run: Run,
    /// What the plan calls its device.
    pub device: String,
    /// The device's identity.
    pub identity: String,
    /// What the plan calls its work.
    pub work: String,
    /// Where it is.
    pub state: RunState,
    /// How often it was tried and failed.
    pub failures: u32,
    /// How often it was begun.
    pub attempts: u32,
    /// SHA-256 of its record, in hexadecimal digits.
    pub sha256: Option<String>,
    /// When the attempt that it was done by, or the last one, began and ended.
    pub began: Option<u64>,
    /// See `began`.
    pub ended: Option<u64>,
    /// Why the last attempt failed, or the run was given up.
    pub why: Option<String>,
}

impl Entry {
    /// A run that nobody has begun, of a device and a work that are called so.
    pub fn waiting(run: Run, device: String, identity: String, work: String) -> Entry {
        Entry {
            run,
            device,
            identity,
            work,
            state: RunState::Waiting,
            failures: 0,
            attempts: 0,
            sha256: None,
            began: None,
            ended: None,
            why: None,
        }
    }
}

/// The right to do a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The run.
    pub id: String,
    /// Number of this attempt, from 1.
    pub attempt: u32,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    /// With a failure: counted.
    Failed(String),
    /// Without one, and without a result: whoever held it was stopped or died. Not counted.
    Stopped(String),
    /// With one that no further try changes.
    GivenUp(String),
}

/// What became of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completion {
    /// It is the run's result from now on.
    Kept,
    /// The run had one already, of this hash.
    Already(String),
}

/// One attempt, for whoever counts what was done how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The run.
    pub id: String,
    /// Its number.
    pub number: u32,
    /// Who held it.
    pub owner: String,
    /// How it ended: `done`, `failed`, `stopped`, `lied`; `None` while it goes on, and where nobody lived to say.
    pub end: Option<String>,
}

/// Keeps runs. Every method is one transaction: it happens whole or not at all, and what it answered outlives a power cut.
pub trait Engine {
    /// Why it cannot answer.
    type Error: fmt::Display;

    /// Takes runs; those that are known already stay as they are. Answers how many are new.
    ///
    /// # Errors
    /// The engine cannot be used; here as below.
    fn submit(&mut self, entries: &[Entry]) -> Result<usize, Self::Error>;

    /// Takes the lease of a run, where nobody holds it and there is something to do. `lease` is how long it holds, in
    /// milliseconds.
    fn claim(&mut self, id: &str, owner: &str, now: u64, lease: u64) -> Result<Option<Claim>, Self::Error>;

    /// Says that an owner lives: its leases hold so long again.
    fn heartbeat(&mut self, owner: &str, now: u64, lease: u64) -> Result<(), Self::Error>;

    /// Says that an owner is dead: its leases are over.
    fn bury(&mut self, owner: &str, now: u64) -> Result<(), Self::Error>;

    /// The owners of leases, the living and the dead.
    fn owners(&self) -> Result<Vec<String>, Self::Error>;

    /// Keeps the hash of a run's record. Also from somebody whose lease is over, as long as nobody was quicker: the work is done.
    fn complete(&mut self, id: &str, attempt: u32, sha256: &str, now: u64) -> Result<Completion, Self::Error>;

    /// Ends an attempt without a result.
    fn give_back(&mut self, claim: &Claim, end: &AttemptEnd, now: u64) -> Result<(), Self::Error>;

    /// Marks a run that is not over as not to be done.
    fn discard(&mut self, id: &str, why: &str) -> Result<(), Self::Error>;

    /// Has a run tried again that was given up, with its failures forgotten.
    fn retry(&mut self, id: &str) -> Result<(), Self::Error>;

    /// All runs in the order in which they were submitted.
    fn list(&self) -> Result<Vec<Entry>, Self::Error>;

    /// All attempts in the order in which they began.
    fn attempts(&self) -> Result<Vec<Attempt>, Self::Error>;
}
