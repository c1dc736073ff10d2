//! An operator's side of the talk.

use crate::OPERATOR;
use crate::error::{HostsError, Kind};
use crate::link::Link;
use flashscope_lab::ask::{AgentTold, OperatorAnswer, OperatorAsk, RunTold};
use flashscope_lab::sha256;

/// Asks a coordinator.
#[derive(Debug)]
pub struct Operator<'a>(pub &'a Link);

impl Operator<'_> {
    fn ask(&self, ask: &OperatorAsk, bytes: &[u8]) -> Result<(OperatorAnswer, Vec<u8>), HostsError> {
        match self.0.ask(OPERATOR.to_owned(), ask, bytes)? {
            (OperatorAnswer::Refused { why }, _) => {
                let (what, hint) = why.split_once("\nhint: ").unwrap_or((&why, "see the coordinator's messages"));
                Err(HostsError::new(Kind::Answer, what, hint))
            }
            answered => Ok(answered),
        }
    }

    /// Hands in a plan; answers how many runs are new, and of how many.
    ///
    /// # Errors
    /// Nobody answers, or the plan is refused; here as below.
    pub fn submit(&self, plan: &str, retry_failed: bool) -> Result<(usize, usize), HostsError> {
        match self.ask(&OperatorAsk::Submit { retry_failed }, plan.as_bytes())?.0 {
            OperatorAnswer::Submitted { new, of } => Ok((new, of)),
            other => Err(odd(&other)),
        }
    }

    /// All runs, in the order of submission, and the agents.
    ///
    /// # Errors
    /// See [`Operator::submit`].
    pub fn status(&self) -> Result<(Vec<RunTold>, Vec<AgentTold>), HostsError> {
        self.status_from(0)
    }

    /// The same from a place in the order of submission on.
    ///
    /// # Errors
    /// See [`Operator::submit`].
    pub fn status_from(&self, from: usize) -> Result<(Vec<RunTold>, Vec<AgentTold>), HostsError> {
        let mut all: Vec<RunTold> = Vec::new();
        loop {
            match self.ask(&OperatorAsk::Status { from: from + all.len() }, &[])?.0 {
                OperatorAnswer::Runs { runs, of, agents } => {
                    let is_last = runs.is_empty() || from + all.len() + runs.len() >= of;
                    all.extend(runs);
                    if is_last {
                        return Ok((all, agents));
                    }
                }
                other => return Err(odd(&other)),
            }
        }
    }

    /// The record of a run, checked against its hash.
    ///
    /// # Errors
    /// See [`Operator::submit`]; or it is not what its hash says.
    pub fn record(&self, id: &str) -> Result<Vec<u8>, HostsError> {
        match self.ask(&OperatorAsk::Record { id: id.to_owned() }, &[])? {
            (OperatorAnswer::Record { sha256: told }, record) if sha256(&record) == told => Ok(record),
            (OperatorAnswer::Record { sha256: told }, record) => {
                let what = format!("the record of {id} is {} and not {told}", sha256(&record));
                Err(HostsError::new(Kind::Engine, what, "the server's files are damaged: look at its log"))
            }
            (other, _) => Err(odd(&other)),
        }
    }
}

fn odd(answer: &OperatorAnswer) -> HostsError {
    let hint = "the programs on both sides have to be of the same version";
    HostsError::new(Kind::Answer, format!("the coordinator answered something else: {answer:?}"), hint)
}
