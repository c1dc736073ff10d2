//! The coordinator: hands out runs, judges what comes back, and keeps it. It knows no network; whoever has one passes asks in.
//!
//! Everything that it answers is kept by its [`Archive`] before. What it has in memory besides (who was heard of when) may go at
//! any moment: leases then hold a lease's time longer, and no result is lost or counted twice. Only its own clock counts.

use crate::ask::{AgentAnswer, AgentAsk, AgentTold, End, OperatorAnswer, OperatorAsk, RunTold};
use crate::engine::{AttemptEnd, Claim, Completion, Engine, Entry, RunState};
use crate::fleet::FleetPlan;
use crate::ledger::{LIED, agent_of};
use crate::order::Order;
use crate::plan::{Address, Plan, PlanError};
use crate::run::{Device, expand};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// An engine that keeps plans and records as well, by their hashes.
pub trait Archive: Engine {
    /// Keeps a record; one of the same run and hash is the same record.
    ///
    /// # Errors
    /// It is not kept; here as below.
    fn keep_record(&mut self, id: &str, sha256: &str, record: &[u8]) -> Result<(), Self::Error>;

    /// A record that is kept.
    fn record(&self, id: &str, sha256: &str) -> Result<Option<Vec<u8>>, Self::Error>;

    /// Keeps the text of a plan.
    fn keep_plan(&mut self, sha256: &str, text: &str) -> Result<(), Self::Error>;

    /// Keeps that an agent's record of a run was not what its hash said. Answers whether that is new.
    fn keep_lie(&mut self, id: &str, agent: &str) -> Result<bool, Self::Error>;

    /// All plans in the order in which they were kept first.
    fn plans(&self) -> Result<Vec<String>, Self::Error>;
}

/// What may be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How long a lease holds, in milliseconds.
    pub lease: u64,
    /// The failure of a run that is the last.
    pub tries: u32,
    /// So many records of an agent may not be what their hash says before it is given no more work.
    pub lies: u32,
}

/// Says of bytes why they are not the record of a run, from the order that it was given out by.
pub type Judge = fn(&[u8], &Order) -> Result<(), String>;

/// The most runs on one real device, or rows of a status, in one message.
const AT_ONCE: usize = 1000;

/// What is known of an agent.
#[derive(Clone, Debug, Default)]
struct Agent {
    incarnation: String,
    heard: u64,
    lies: u32,
}

/// A run that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hold {
    owner: String,
    attempt: u32,
    until: u64,
}

/// A run as the coordinator knows it besides its entry.
#[derive(Clone, Debug)]
struct Known {
    order: Order,
    place: usize,
    failures: u32,
    /// The hash of its record.
    sha256: Option<String>,
    /// Agents that it was ever handed to.
    given: BTreeSet<String>,
}

/// The coordinator of one server.
#[derive(Debug)]
pub struct Coordinator<A> {
    archive: A,
    terms: Terms,
    judge: Judge,
    known: BTreeMap<String, Known>,
    /// What waits, by device (all simulated ones count as one), in the order of submission.
    waiting: BTreeMap<Option<String>, BTreeMap<usize, String>>,
    held: BTreeMap<String, Hold>,
    agents: BTreeMap<String, Agent>,
}

/// The hash of bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl<A: Archive> Coordinator<A> {
    /// Goes on with what is kept: plans are expanded again, so that a run that an earlier coordinator had no time for is there.
    ///
    /// # Errors
    /// What is kept cannot be read, or not be added to.
    pub fn open(archive: A, terms: Terms, judge: Judge, now: u64) -> Result<Self, A::Error> {
        let empty = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (known, waiting, held, agents) = empty;
        let mut coordinator = Coordinator { archive, terms, judge, known, waiting, held, agents };
        coordinator.look_again(now)?;
        Ok(coordinator)
    }

    /// Learns anew what is kept, as at the beginning.
    ///
    /// # Errors
    /// As [`Coordinator::open`].
    pub fn look_again(&mut self, now: u64) -> Result<(), A::Error> {
        (self.known, self.waiting, self.held) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for text in self.archive.plans()? {
            // It was read before it was kept.
            if let Ok((entries, orders)) = runs_of(&text) {
                self.archive.submit(&entries)?;
                self.learn(orders);
            }
        }
        let mut last: BTreeMap<String, (String, u32)> = BTreeMap::new();
        self.agents.values_mut().for_each(|agent| agent.lies = 0);
        for attempt in self.archive.attempts()? {
            if attempt.end.as_deref() == Some(LIED) {
                self.agents.entry(agent_of(&attempt.owner).to_owned()).or_default().lies += 1;
            }
            if let Some(known) = self.known.get_mut(&attempt.id) {
                known.given.insert(agent_of(&attempt.owner).to_owned());
            }
            last.insert(attempt.id, (attempt.owner, attempt.number));
        }
        for (place, entry) in self.archive.list()?.into_iter().enumerate() {
            let Some(known) = self.known.get_mut(&entry.run.id) else { continue };
            (known.place, known.failures, known.sha256) = (place, entry.failures, entry.sha256);
            match (entry.state, last.remove(&entry.run.id)) {
                (RunState::Leased, Some((owner, attempt))) => {
                    let until = now + self.terms.lease;
                    self.held.insert(entry.run.id, Hold { owner, attempt, until });
                }
                (RunState::Waiting, _) => self.put_back(&entry.run.id),
                _ => {}
            }
        }
        Ok(())
    }

    fn learn(&mut self, orders: Vec<Order>) {
        for order in orders {
            let new = Known { place: 0, failures: 0, sha256: None, given: BTreeSet::new(), order };
            self.known.entry(new.order.id.clone()).or_insert(new);
        }
    }

    fn put_back(&mut self, id: &str) {
        if let Some(known) = self.known.get(id) {
            let device = (!known.order.simulated).then(|| known.order.identity.clone());
            self.waiting.entry(device).or_default().insert(known.place, id.to_owned());
        }
    }

    /// Answers an agent.
    ///
    /// # Errors
    /// The archive did not keep what has to be kept; nothing is to be answered but that the agent asks again, and
    /// [`Coordinator::look_again`] has to come before anything else.
    pub fn agent(&mut self, name: &str, ask: AgentAsk, record: &[u8], now: u64) -> Result<AgentAnswer, A::Error> {
        match ask {
            AgentAsk::Work { incarnation, holding, room, devices } => {
                self.work(name, incarnation, &holding, room as usize, &devices, now)
            }
            AgentAsk::Ended { id, attempt, end } => {
                self.agents.entry(name.to_owned()).or_default().heard = now;
                self.ended(name, &id, attempt, end, record, now)
            }
        }
    }

    fn work(
        &mut self,
        name: &str,
        incarnation: String,
        holding: &[String],
        room: usize,
        devices: &[String],
        now: u64,
    ) -> Result<AgentAnswer, A::Error> {
        let (lease, lies) = (self.terms.lease, self.terms.lies);
        let owner = format!("{name}/{incarnation}");
        let agent = self.agents.entry(name.to_owned()).or_default();
        agent.heard = now;
        agent.incarnation = incarnation;
        let distrusted = agent.lies >= lies;
        self.bury_earlier(name, &owner, now)?;
        self.archive.heartbeat(&owner, now, lease)?;
        let mut orders = Vec::new();
        for (id, hold) in self.held.iter_mut().filter(|(_, hold)| hold.owner == owner) {
            hold.until = now + lease;
            // An answer of ours was lost: the same claim again.
            if let Some(known) = self.known.get(id).filter(|_| !holding.contains(id)) {
                orders.push(Order { attempt: hold.attempt, ..known.order.clone() });
            }
        }
        self.expire(now);
        if !distrusted {
            let room = room.saturating_sub(orders.iter().filter(|order| order.simulated).count());
            self.hand_out(None, room, &owner, now, &mut orders)?;
            for device in devices {
                self.hand_out(Some(device.clone()), AT_ONCE, &owner, now, &mut orders)?;
            }
        }
        Ok(AgentAnswer::Orders { orders, lease })
    }

    /// What earlier incarnations of an agent held is free: they are dead, and what they left comes from the new one.
    fn bury_earlier(&mut self, name: &str, owner: &str, now: u64) -> Result<(), A::Error> {
        let earlier = self.held.values().map(|hold| &hold.owner).filter(|one| agent_of(one) == name && *one != owner);
        let earlier: BTreeSet<String> = earlier.cloned().collect();
        for dead in earlier {
            self.archive.bury(&dead, now)?;
            let its: Vec<String> =
                self.held.iter().filter(|(_, hold)| hold.owner == dead).map(|(id, _)| id.clone()).collect();
            for id in its {
                self.held.remove(&id);
                self.put_back(&id);
            }
        }
        Ok(())
    }

    fn expire(&mut self, now: u64) {
        let over: Vec<String> =
            self.held.iter().filter(|(_, hold)| hold.until <= now).map(|(id, _)| id.clone()).collect();
        for id in over {
            self.held.remove(&id);
            self.put_back(&id);
        }
    }

    fn hand_out(
        &mut self,
        device: Option<String>,
        most: usize,
        owner: &str,
        now: u64,
        orders: &mut Vec<Order>,
    ) -> Result<(), A::Error> {
        let mut not_now = Vec::new();
        for _ in 0..most {
            let Some((_, id)) = self.waiting.get_mut(&device).and_then(BTreeMap::pop_first) else { break };
            let Some(claim) = self.archive.claim(&id, owner, now, self.terms.lease)? else {
                not_now.push(id);
                continue;
            };
            let Some(known) = self.known.get_mut(&id) else { continue };
            known.given.insert(agent_of(owner).to_owned());
            orders.push(Order { attempt: claim.attempt, ..known.order.clone() });
            let hold = Hold { owner: owner.to_owned(), attempt: claim.attempt, until: now + self.terms.lease };
            self.held.insert(id, hold);
        }
        not_now.iter().for_each(|id| self.put_back(id));
        Ok(())
    }

    fn ended(
        &mut self,
        name: &str,
        id: &str,
        attempt: u32,
        end: End,
        record: &[u8],
        now: u64,
    ) -> Result<AgentAnswer, A::Error> {
        let Some(known) = self.known.get(id).filter(|known| known.given.contains(name)) else {
            return Ok(AgentAnswer::Foreign);
        };
        let End::Done { sha256: told } = end else {
            self.without_result(name, id, attempt, end, now)?;
            return Ok(AgentAnswer::Noted);
        };
        let found = sha256(record);
        let wrong = match found == told {
            true => (self.judge)(record, &known.order).err(),
            false => {
                let is_new = self.archive.keep_lie(id, name)?;
                self.agents.entry(name.to_owned()).or_default().lies += u32::from(is_new);
                Some(format!("the record is not what its hash says: {found}"))
            }
        };
        if let Some(why) = wrong {
            self.without_result(name, id, attempt, End::Failed { why: why.clone() }, now)?;
            return Ok(AgentAnswer::Rejected { why });
        }
        // Before the run is done, so that a run that is done has a record, whenever the power fails.
        self.archive.keep_record(id, &found, record)?;
        let kept = match self.archive.complete(id, attempt, &found, now)? {
            Completion::Kept => found,
            Completion::Already(kept) => kept,
        };
        self.held.remove(id);
        if let Some(known) = self.known.get_mut(id) {
            known.sha256 = Some(kept.clone());
            self.waiting.values_mut().for_each(|of_device| drop(of_device.remove(&known.place)));
        }
        Ok(AgentAnswer::Confirmed { sha256: kept })
    }

    /// Takes a run back, where this very attempt holds it: what comes late or twice changes nothing.
    fn without_result(&mut self, name: &str, id: &str, attempt: u32, end: End, now: u64) -> Result<(), A::Error> {
        let holds = |hold: &&Hold| agent_of(&hold.owner) == name && hold.attempt == attempt;
        if self.held.get(id).filter(holds).is_none() {
            return Ok(());
        }
        let Some(known) = self.known.get_mut(id) else { return Ok(()) };
        let is_last = known.failures + 1 >= self.terms.tries;
        let (end, is_over) = match end {
            End::Failed { why } if is_last => (AttemptEnd::GivenUp(why), true),
            End::GivenUp { why } => (AttemptEnd::GivenUp(why), true),
            End::Failed { why } => (AttemptEnd::Failed(why), false),
            End::Stopped { why } => (AttemptEnd::Stopped(why), false),
            End::Done { .. } => return Ok(()),
        };
        known.failures += u32::from(!matches!(end, AttemptEnd::Stopped(_)));
        self.archive.give_back(&Claim { id: id.to_owned(), attempt }, &end, now)?;
        self.held.remove(id);
        if !is_over {
            self.put_back(id);
        }
        Ok(())
    }

    /// Answers an operator; bytes go beside the answer.
    ///
    /// # Errors
    /// As [`Coordinator::agent`].
    pub fn operator(
        &mut self,
        ask: OperatorAsk,
        text: &[u8],
        version: &str,
        now: u64,
    ) -> Result<(OperatorAnswer, Vec<u8>), A::Error> {
        let alone = |answer| Ok((answer, Vec::new()));
        match ask {
            OperatorAsk::Who => alone(OperatorAnswer::Here { version: version.to_owned() }),
            OperatorAsk::Submit { retry_failed } => alone(self.submit(text, retry_failed, now)?),
            OperatorAsk::Status { from } => alone(self.status(from, now)?),
            OperatorAsk::Record { id } => {
                let kept = self.known.get(&id).and_then(|known| known.sha256.clone());
                let Some(sha256) = kept else { return alone(refused("this run has no record yet")) };
                match self.archive.record(&id, &sha256)? {
                    Some(record) => Ok((OperatorAnswer::Record { sha256 }, record)),
                    None => alone(refused(
                        "the record is not in the engine any more\nhint: its streams were changed by hand",
                    )),
                }
            }
        }
    }

    fn submit(&mut self, text: &[u8], retry_failed: bool, now: u64) -> Result<OperatorAnswer, A::Error> {
        let Ok(text) = std::str::from_utf8(text) else { return Ok(refused("the plan is no text")) };
        let (entries, orders) = match runs_of(text) {
            Ok(runs) => runs,
            Err(error) => return Ok(refused(&error.to_string())),
        };
        self.archive.keep_plan(&sha256(text.as_bytes()), text)?;
        let new = self.archive.submit(&entries)?;
        if retry_failed {
            for entry in &entries {
                self.archive.retry(&entry.run.id)?;
            }
        }
        self.learn(orders);
        self.look_again(now)?;
        Ok(OperatorAnswer::Submitted { new, of: entries.len() })
    }

    fn status(&self, from: usize, now: u64) -> Result<OperatorAnswer, A::Error> {
        let list = self.archive.list()?;
        let agents = self.agents.iter().map(|(name, agent)| AgentTold {
            name: name.clone(),
            heard: now.saturating_sub(agent.heard),
            holds: self.held.values().filter(|hold| agent_of(&hold.owner) == name).count(),
            lies: agent.lies,
        });
        let runs = list.iter().skip(from).take(AT_ONCE).map(RunTold::of).collect();
        Ok(OperatorAnswer::Runs { runs, of: list.len(), agents: agents.collect() })
    }

    /// Its archive, for whoever looks at what is kept.
    pub fn archive(&self) -> &A {
        &self.archive
    }
}

fn refused(why: &str) -> OperatorAnswer {
    OperatorAnswer::Refused { why: why.to_owned() }
}

/// The runs of a plan without any host at hand.
fn runs_of(text: &str) -> Result<(Vec<Entry>, Vec<Order>), PlanError> {
    if let Some(fleet) = FleetPlan::of(text) {
        return fleet?.runs();
    }
    let plan = Plan::read(text)?;
    let refuse = |what: &str, hint: &str| PlanError { what: what.to_owned(), hint: hint.to_owned() };
    if plan.neighbours.is_some() {
        let hint = "do it by `flashscope lab run` on the host, whose shared parts it looks at";
        return Err(refuse("a neighbour check is of one host", hint));
    }
    if let Some(work) = plan.works.iter().find(|work| work.qualification.is_some()) {
        let hint = "do it by `flashscope lab run` on the host that has all of its devices";
        return Err(refuse(&format!("work '{}' holds devices of one host against each other", work.name), hint));
    }
    let device = |device: &crate::plan::DevicePlan| {
        let (identity, simulated) = match &device.address {
            Address::Simulated(target) => (target.clone(), true),
            Address::Identity(identity) => (identity.clone(), false),
            Address::Slot { port, .. } => {
                let hint = "name the device by identity, as `flashscope list` prints it there";
                return Err(refuse(&format!("slot {port} is of one host, and no host is named"), hint));
            }
        };
        Ok(Device { name: device.name.clone(), identity, simulated, seed: device.seed, parts: Vec::new() })
    };
    let devices = plan.devices.iter().map(device).collect::<Result<Vec<_>, _>>()?;
    let runs = expand(&plan, &devices)?;
    let (mut entries, mut orders) = (Vec::new(), Vec::new());
    for run in runs {
        let (device, work) = (&devices[run.device], &plan.works[run.work]);
        let (name, identity, work) = (device.name.clone(), device.identity.clone(), work.name.clone());
        let entry = Entry::waiting(run, name, identity, work);
        orders.push(Order::of(&entry, device.simulated, device.seed, 0));
        entries.push(entry);
    }
    Ok((entries, orders))
}

#[cfg(test)]
#[path = "coordinate_tests.rs"]
mod tests;
