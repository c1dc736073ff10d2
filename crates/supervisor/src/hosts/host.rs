//! This host as the agent's talk sees it: takes orders that its own rules allow, says what has ended, and keeps records until they
//! are confirmed.

use super::batch::entry_of;
use crate::result;
use flashscope_host::{SysRoot, list};
use flashscope_hosts::{Ended, Shelf};
use flashscope_lab::ask::End;
use flashscope_lab::keep::Fate;
use flashscope_lab::{HostFile, Order};
use flashscope_supervisor::Folder;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How often records are looked for.
const LOOK: Duration = Duration::from_millis(100);
/// How long a list of the attached devices is good for.
const LISTED: Duration = Duration::from_secs(5);

/// What the thread that talks and the one that works share.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// Taken, and not begun.
    pub(crate) pending: BTreeMap<String, Order>,
    /// In the batch that is under way.
    pub(crate) running: BTreeMap<String, Order>,
    /// To be told to the server.
    pub(crate) ended: Vec<Ended>,
    /// Records of the batch that the server has confirmed: its supervisor may still look for them.
    pub(crate) confirmed: Vec<String>,
    /// The talk is over.
    pub(crate) over: bool,
}

impl Desk {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // Whoever panicked while holding it has ended the program.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn wake(&self) {
        self.changed.notify_all();
    }

    /// Waits until there is something to begin; nothing where it is to stop.
    pub(crate) fn next(&self, stop: &dyn Fn() -> bool) -> Vec<Order> {
        let mut state = self.state();
        loop {
            if stop() || state.over {
                let left = std::mem::take(&mut state.pending);
                state.ended.extend(left.into_values().map(|order| stopped(&order)));
                return Vec::new();
            }
            if !state.pending.is_empty() {
                state.running = std::mem::take(&mut state.pending);
                return state.running.values().cloned().collect();
            }
            let waited = self.changed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }
}

pub(crate) fn stopped(order: &Order) -> Ended {
    let why = "stopped by the operator of the agent".to_owned();
    Ended { id: order.id.clone(), attempt: order.attempt, without: Some(End::Stopped { why }) }
}

/// The host.
pub(crate) struct Host {
    folder: Folder,
    sys: SysRoot,
    file: HostFile,
    consent: Vec<String>,
    room: u32,
    desk: Arc<Desk>,
    looked: Option<Instant>,
    devices: Option<(Instant, Vec<String>)>,
    /// Ends that were found, and that the server has not answered for.
    untold: BTreeSet<String>,
}

impl Host {
    /// Begins with what an earlier life of the agent left: its records are brought first.
    pub(crate) fn new(folder: Folder, file: HostFile, consent: Vec<String>, room: u32, desk: Arc<Desk>) -> Host {
        let mut host = Host {
            folder,
            sys: SysRoot::live(),
            file,
            consent,
            room,
            desk,
            looked: None,
            devices: None,
            untold: BTreeSet::new(),
        };
        let left = host.left();
        host.untold.extend(left.iter().map(|ended| ended.id.clone()));
        host.desk.state().ended.extend(left);
        host
    }

    /// Records that are whole and that nobody has confirmed.
    fn left(&self) -> Vec<Ended> {
        let folders = fs::read_dir(self.folder.path().join("runs")).into_iter().flatten().flatten();
        let ended = folders.filter_map(|folder| {
            let order: Order = serde_json::from_slice(&fs::read(folder.path().join("order.json")).ok()?).ok()?;
            let is_its = folder.file_name().to_str() == Some(order.id.as_str());
            let whole = result::look(&folder.path().join("record.json"), &entry_of(&order), order.simulated).is_ok();
            (is_its && whole).then_some(Ended { id: order.id, attempt: order.attempt, without: None })
        });
        ended.collect()
    }

    /// Writes down what is begun, so that a later life of this agent knows whose record it finds.
    fn note(&self, order: &Order) -> io::Result<()> {
        let folder = self.folder.of_run(&order.id);
        fs::create_dir_all(&folder)?;
        let new = folder.join("order.new");
        fs::write(&new, serde_json::to_vec(order).map_err(io::Error::other)?)?;
        fs::rename(new, folder.join("order.json"))
    }
}

impl Shelf for Host {
    fn devices(&mut self) -> Vec<String> {
        match &self.devices {
            Some((listed, devices)) if listed.elapsed() < LISTED => devices.clone(),
            _ => {
                let found: Vec<String> = list(&self.sys).into_iter().map(|device| device.identity.0).collect();
                self.devices = Some((Instant::now(), found.clone()));
                found
            }
        }
    }

    fn room(&mut self) -> u32 {
        let state = self.desk.state();
        let simulated = state.pending.values().chain(state.running.values()).filter(|order| order.simulated).count();
        self.room.saturating_sub(simulated as u32)
    }

    fn begin(&mut self, orders: Vec<Order>) {
        let powers: Vec<&str> = self.file.power.keys().map(String::as_str).collect();
        for order in orders {
            let noted =
                order.check(&self.consent, &powers).map_err(|refusal| End::GivenUp { why: refusal.to_string() });
            let noted = noted.and_then(|_| {
                let why = |error: io::Error| format!("the agent's directory cannot be written to: {error}");
                self.note(&order).map_err(|error| End::Failed { why: why(error) })
            });
            let mut state = self.desk.state();
            if state.running.contains_key(&order.id) || self.untold.contains(&order.id) {
                continue;
            }
            match noted {
                Ok(()) => drop(state.pending.insert(order.id.clone(), order)),
                Err(end) => state.ended.push(Ended { id: order.id, attempt: order.attempt, without: Some(end) }),
            }
        }
        self.desk.wake();
    }

    fn under_way(&mut self) -> Vec<String> {
        let state = self.desk.state();
        state.pending.keys().chain(state.running.keys()).chain(state.ended.iter().map(|one| &one.id)).cloned().collect()
    }

    fn ended(&mut self) -> Vec<Ended> {
        let mut state = self.desk.state();
        let mut ended = std::mem::take(&mut state.ended);
        if self.looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
            self.looked = Some(Instant::now());
            let done: Vec<String> = state
                .running
                .values()
                .filter(|order| {
                    let record = self.folder.of_run(&order.id).join("record.json");
                    result::look(&record, &entry_of(order), order.simulated).is_ok()
                })
                .map(|order| order.id.clone())
                .collect();
            for id in done {
                if let Some(order) = state.running.remove(&id) {
                    self.untold.insert(id.clone());
                    ended.push(Ended { id, attempt: order.attempt, without: None });
                }
            }
        }
        ended
    }

    fn record(&mut self, id: &str) -> io::Result<Vec<u8>> {
        fs::read(self.folder.of_run(id).join("record.json"))
    }

    fn settle(&mut self, id: &str, fate: Fate) {
        self.untold.remove(id);
        let folder = self.folder.of_run(id);
        match fate {
            Fate::Keep => {}
            Fate::SetAside(_) => drop(fs::rename(folder.join("record.json"), folder.join("set-aside.json"))),
            Fate::Remove => self.desk.state().confirmed.push(id.to_owned()),
        }
    }
}
