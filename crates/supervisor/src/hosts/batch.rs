//! Orders as a lab of their own: the supervisor of one host does them as it does a plan, with a queue that is only for this batch.
//! What has to outlive anything is in the folders of the runs.

use super::host::{Desk, stopped};
use crate::args::{Agent, Results, Run};
use crate::prepare::Lab;
use crate::screen::Screen;
use crate::shelf;
use crate::supervise::Supervisor;
use anyhow::Result;
use flashscope_host::SysRoot;
use flashscope_hosts::Ended;
use flashscope_lab::ask::End;
use flashscope_lab::work::Work;
use flashscope_lab::{Address, Device, DevicePlan, Entry, HostFile, Limits, Order, Phase, Plan, RunState};
use flashscope_supervisor::Folder;
use flashscope_supervisor::Queue;
use flashscope_units::Nanos;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The entry of an order as it is before it is begun.
pub(crate) fn entry_of(order: &Order) -> Entry {
    let work = Work::of_words(&order.work, &order.words, order.power.clone());
    let run = flashscope_lab::Run {
        id: order.id.clone(),
        device: 0,
        others: Vec::new(),
        work: 0,
        words: order.words.clone(),
        power: order.power.clone(),
        phase: work.map_or(Phase::Timed, |work| work.command.phase()),
    };
    Entry::waiting(run, order.device.clone(), order.identity.clone(), order.work.clone())
}

/// How this host works.
pub(crate) struct Manner<'a> {
    pub(crate) args: &'a Agent,
    pub(crate) host: &'a HostFile,
    pub(crate) consent: &'a [String],
    pub(crate) limits: Limits,
    pub(crate) folder: &'a Folder,
    pub(crate) quiet: bool,
}

/// Does orders, which were checked before, and says at the desk what ended without a record.
///
/// # Errors
/// The directory of the agent cannot be used.
pub(crate) fn work(orders: Vec<Order>, manner: &Manner<'_>, desk: &Desk) -> Result<()> {
    let sys = SysRoot::live();
    let (mut devices, mut plan) = (Vec::<Device>::new(), empty());
    let mut entries = Vec::new();
    for order in &orders {
        let Ok(work) = Work::of_words(&order.work, &order.words, order.power.clone()) else { continue };
        let device = match devices.iter().position(|one| one.identity == order.identity && one.seed == order.seed) {
            Some(place) => place,
            None => match found(&sys, order) {
                Ok(device) => {
                    devices.push(device);
                    devices.len() - 1
                }
                Err(error) => {
                    let end = End::Failed { why: error.to_string() };
                    let mut state = desk.state();
                    state.running.remove(&order.id);
                    state.ended.push(Ended { id: order.id.clone(), attempt: order.attempt, without: Some(end) });
                    continue;
                }
            },
        };
        let mut entry = entry_of(order);
        (entry.run.device, entry.run.work) = (device, plan.works.len());
        plan.works.push(work);
        entries.push(entry);
    }
    let lab = Lab {
        plan,
        plan_sha256: String::new(),
        plan_file: String::new(),
        devices,
        entries,
        host: manner.host.clone(),
        // No order qualifies.
        asked: BTreeMap::new(),
        consent: manner.consent.to_vec(),
        limits: manner.limits,
        folder: manner.folder.clone(),
        sys,
    };
    let ended = supervised(&lab, manner)?;
    told(&orders, &ended, manner.folder, desk);
    Ok(())
}

fn supervised(lab: &Lab, manner: &Manner<'_>) -> Result<Vec<Entry>> {
    let queue = manner.folder.queue();
    for end in ["", "-wal", "-shm"] {
        let mut path = queue.clone().into_os_string();
        path.push(end);
        let _ = std::fs::remove_file(path);
    }
    let args = typed(manner.args);
    let screen = Screen::new(&lab.devices, manner.quiet, manner.limits.busy);
    let mut supervisor = Supervisor::take_over(lab, &args, Queue::open(&queue, true)?, screen)?;
    supervisor.work()?;
    Ok(supervisor.entries)
}

/// Says what ended without a record; what has one was, or will be, seen by itself.
fn told(orders: &[Order], entries: &[Entry], folder: &Folder, desk: &Desk) {
    let mut state = desk.state();
    for order in orders {
        let entry = entries.iter().find(|entry| entry.run.id == order.id);
        if let Some(order) = state.running.remove(&order.id) {
            let ended = match entry {
                Some(entry) if entry.state == RunState::Done => {
                    Ended { id: order.id.clone(), attempt: order.attempt, without: None }
                }
                Some(entry) if entry.state == RunState::Failed => {
                    let why = entry.why.clone().unwrap_or_default();
                    Ended { id: order.id.clone(), attempt: order.attempt, without: Some(End::Failed { why }) }
                }
                _ => stopped(&order),
            };
            state.ended.push(ended);
        }
    }
    drop(state);
    clear(folder, desk);
}

/// Lets go of what the server has confirmed.
pub(crate) fn clear(folder: &Folder, desk: &Desk) {
    let confirmed = std::mem::take(&mut desk.state().confirmed);
    for id in confirmed {
        // Left behind, it would be brought once more, and confirmed again.
        let _ = std::fs::remove_dir_all(folder.of_run(&id));
    }
}

fn found(sys: &SysRoot, order: &Order) -> Result<Device> {
    let address = match order.simulated {
        true => Address::Simulated(order.identity.clone()),
        false => Address::Identity(order.identity.clone()),
    };
    let device = DevicePlan { name: order.device.clone(), address, seed: order.seed, works: Vec::new() };
    let plan = Plan { devices: vec![device], ..empty() };
    shelf::find(sys, &plan)?.pop().ok_or_else(|| anyhow::anyhow!("it is not attached"))
}

fn empty() -> Plan {
    Plan { name: "agent".to_owned(), devices: Vec::new(), works: Vec::new(), neighbours: None }
}

/// What would have been typed for `lab run`. The coordinator counts the tries.
fn typed(args: &Agent) -> Run {
    Run {
        plan: PathBuf::new(),
        dir: None,
        // Whoever is consented to stands in the lab itself.
        here: args.here.clone(),
        cores: None,
        tries: 1,
        retry_after: Nanos::ZERO,
        retry_failed: false,
        dry_run: false,
        sysfs: None,
        results: Results { json: false, output: None },
    }
}
