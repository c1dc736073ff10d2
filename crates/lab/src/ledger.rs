//! Runs in memory: the rules of [`Engine`] without a place to keep them. An engine elsewhere keeps what has changed here, before
//! it answers; so that the rules stand once, and are tested without it.

use crate::engine::{Attempt, AttemptEnd, Claim, Completion, Engine, Entry, RunState};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

/// How an attempt ended whose record was not what its hash said.
pub(crate) const LIED: &str = "lied";

/// The agent of an owner, which is `AGENT/INCARNATION`.
pub(crate) fn agent_of(owner: &str) -> &str {
    owner.split_once('/').map_or(owner, |(agent, _)| agent)
}

/// A run with all that happened to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its place in the order of submission.
    pub place: u64,
    /// The run.
    pub entry: Entry,
    /// Who holds its lease.
    pub owner: Option<String>,
    /// Its attempts, each with the time at which it began.
    pub attempts: Vec<(u64, Attempt)>,
}

/// All runs.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    runs: BTreeMap<String, Kept>,
    /// Ids by place.
    order: BTreeMap<u64, String>,
    /// When leases are over. Not a part of what is kept: whoever reads a ledger back gives every holder a lease's time to say
    /// that it lives.
    until: BTreeMap<String, u64>,
    changed: BTreeSet<String>,
}

impl Ledger {
    /// Takes a run that was kept. Where it is leased, the lease holds until `until`.
    pub fn put(&mut self, kept: Kept, until: u64) {
        let id = kept.entry.run.id.clone();
        if kept.entry.state == RunState::Leased {
            self.until.insert(id.clone(), until);
        }
        self.order.insert(kept.place, id.clone());
        self.runs.insert(id, kept);
    }

    /// A run.
    pub fn get(&self, id: &str) -> Option<&Kept> {
        self.runs.get(id)
    }

    /// The runs that have changed since this was asked last, to be kept.
    pub fn take_changed(&mut self) -> Vec<Kept> {
        let changed = std::mem::take(&mut self.changed);
        changed.iter().filter_map(|id| self.runs.get(id)).cloned().collect()
    }

    /// Changes a run of which `is_to` holds.
    fn change(&mut self, id: &str, is_to: impl Fn(&Kept) -> bool, how: impl FnOnce(&mut Kept)) -> bool {
        match self.runs.get_mut(id).filter(|kept| is_to(kept)) {
            Some(kept) => {
                how(kept);
                self.changed.insert(id.to_owned());
                true
            }
            None => false,
        }
    }

    /// Notes that an agent's record of a run was not what its hash said: at the last attempt that was the agent's, once. Whether
    /// that is new.
    pub fn note_lie(&mut self, id: &str, agent: &str) -> bool {
        let mut is_new = false;
        self.change(
            id,
            |_| true,
            |kept| {
                let its = kept.attempts.iter_mut().rfind(|(_, attempt)| agent_of(&attempt.owner) == agent);
                if let Some((_, attempt)) = its.filter(|(_, attempt)| attempt.end.as_deref() != Some(LIED)) {
                    attempt.end = Some(LIED.to_owned());
                    is_new = true;
                }
            },
        );
        is_new
    }

    fn end_attempt(&mut self, id: &str, number: u32, how: &str) {
        let Some(kept) = self.runs.get_mut(id) else { return };
        let open = kept.attempts.iter_mut().find(|(_, attempt)| attempt.number == number && attempt.end.is_none());
        if let Some((_, attempt)) = open {
            attempt.end = Some(how.to_owned());
            self.changed.insert(id.to_owned());
        }
    }
}

impl Engine for Ledger {
    type Error = Infallible;

    fn submit(&mut self, entries: &[Entry]) -> Result<usize, Infallible> {
        let before = self.runs.len();
        for entry in entries {
            if self.runs.contains_key(&entry.run.id) {
                continue;
            }
            let place = self.order.last_key_value().map_or(0, |(place, _)| place + 1);
            let Entry { run, device, identity, work, .. } = entry.clone();
            let new = Entry::waiting(run, device, identity, work);
            self.changed.insert(entry.run.id.clone());
            self.put(Kept { place, entry: new, owner: None, attempts: Vec::new() }, 0);
        }
        Ok(self.runs.len() - before)
    }

    fn claim(&mut self, id: &str, owner: &str, now: u64, lease: u64) -> Result<Option<Claim>, Infallible> {
        let over = self.until.get(id).is_none_or(|until| *until <= now);
        let mut claim = None;
        let is_free = |kept: &Kept| match kept.entry.state {
            RunState::Waiting => true,
            RunState::Leased => over,
            _ => false,
        };
        self.change(id, is_free, |kept| {
            let number = kept.entry.attempts + 1;
            let entry = &mut kept.entry;
            (entry.state, entry.attempts, entry.began, entry.ended) = (RunState::Leased, number, Some(now), None);
            kept.owner = Some(owner.to_owned());
            kept.attempts.push((now, Attempt { id: id.to_owned(), number, owner: owner.to_owned(), end: None }));
            claim = Some(Claim { id: id.to_owned(), attempt: number });
        });
        if claim.is_some() {
            self.until.insert(id.to_owned(), now.saturating_add(lease));
        }
        Ok(claim)
    }

    fn heartbeat(&mut self, owner: &str, now: u64, lease: u64) -> Result<(), Infallible> {
        for (id, until) in &mut self.until {
            if self.runs.get(id).is_some_and(|kept| kept.owner.as_deref() == Some(owner)) {
                *until = now.saturating_add(lease);
            }
        }
        Ok(())
    }

    fn bury(&mut self, owner: &str, _now: u64) -> Result<(), Infallible> {
        let open = |kept: &&Kept| kept.attempts.iter().any(|(_, one)| one.owner == owner && one.end.is_none());
        let its: Vec<String> = self.runs.values().filter(open).map(|kept| kept.entry.run.id.clone()).collect();
        for id in its {
            self.change(
                &id,
                |_| true,
                |kept| {
                    for (_, attempt) in
                        kept.attempts.iter_mut().filter(|(_, one)| one.owner == owner && one.end.is_none())
                    {
                        attempt.end = Some("stopped".to_owned());
                    }
                },
            );
            let holds = |kept: &Kept| kept.owner.as_deref() == Some(owner) && kept.entry.state == RunState::Leased;
            if self.change(&id, holds, |kept| (kept.entry.state, kept.owner) = (RunState::Waiting, None)) {
                self.until.remove(&id);
            }
        }
        Ok(())
    }

    fn owners(&self) -> Result<Vec<String>, Infallible> {
        let owners: BTreeSet<&String> = self.runs.values().filter_map(|kept| kept.owner.as_ref()).collect();
        Ok(owners.into_iter().cloned().collect())
    }

    fn complete(&mut self, id: &str, attempt: u32, sha256: &str, now: u64) -> Result<Completion, Infallible> {
        let kept = self.runs.get(id).filter(|kept| kept.entry.state == RunState::Done);
        if let Some(kept) = kept.and_then(|kept| kept.entry.sha256.clone()) {
            return Ok(Completion::Already(kept));
        }
        self.change(
            id,
            |_| true,
            |kept| {
                let entry = &mut kept.entry;
                (entry.state, entry.sha256, entry.ended) = (RunState::Done, Some(sha256.to_owned()), Some(now));
                (entry.why, kept.owner) = (None, None);
            },
        );
        self.until.remove(id);
        self.end_attempt(id, attempt, "done");
        Ok(Completion::Kept)
    }

    fn give_back(&mut self, claim: &Claim, end: &AttemptEnd, now: u64) -> Result<(), Infallible> {
        let (state, word, counted, why) = match end {
            AttemptEnd::Failed(why) => (RunState::Waiting, "failed", 1, why),
            AttemptEnd::Stopped(why) => (RunState::Waiting, "stopped", 0, why),
            AttemptEnd::GivenUp(why) => (RunState::Failed, "failed", 1, why),
        };
        let is_it = |kept: &Kept| kept.entry.state == RunState::Leased && kept.entry.attempts == claim.attempt;
        let changed = self.change(&claim.id, is_it, |kept| {
            let entry = &mut kept.entry;
            entry.failures += counted;
            (entry.state, entry.why, entry.ended, kept.owner) = (state, Some(why.clone()), Some(now), None);
        });
        if changed {
            self.until.remove(&claim.id);
        }
        self.end_attempt(&claim.id, claim.attempt, word);
        Ok(())
    }

    fn discard(&mut self, id: &str, why: &str) -> Result<(), Infallible> {
        let waits = |kept: &Kept| kept.entry.state == RunState::Waiting;
        self.change(id, waits, |kept| {
            (kept.entry.state, kept.entry.why) = (RunState::Dropped, Some(why.to_owned()));
        });
        Ok(())
    }

    fn retry(&mut self, id: &str) -> Result<(), Infallible> {
        let failed = |kept: &Kept| kept.entry.state == RunState::Failed;
        self.change(id, failed, |kept| {
            (kept.entry.state, kept.entry.failures, kept.entry.why) = (RunState::Waiting, 0, None);
        });
        Ok(())
    }

    fn list(&self) -> Result<Vec<Entry>, Infallible> {
        Ok(self.order.values().filter_map(|id| self.runs.get(id)).map(|kept| kept.entry.clone()).collect())
    }

    fn attempts(&self) -> Result<Vec<Attempt>, Infallible> {
        let mut all: Vec<&(u64, Attempt)> = self.runs.values().flat_map(|kept| &kept.attempts).collect();
        all.sort_by(|(one, a), (other, b)| (one, &a.id, a.number).cmp(&(other, &b.id, b.number)));
        Ok(all.into_iter().map(|(_, attempt)| attempt.clone()).collect())
    }
}
