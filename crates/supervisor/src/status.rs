//! `lab status`: what the queue says.

use crate::args::{Cli, Status};
use crate::folder::Folder;
use crate::prepare::{devices_of, plan_name};
use crate::qualify;
use crate::run::{print, told, tool};
use anyhow::Result;
use flashscope_lab::{Engine, Entry};
use flashscope_model::lab::{LabDevice, LabRecord};
use flashscope_model::{Envelope, Kind};
use flashscope_supervisor::Queue;

pub(crate) fn run(args: &Status, cli: &Cli) -> Result<u8> {
    let name = match (&args.dir, &args.plan) {
        (Some(_), _) | (None, None) => String::new(),
        (None, Some(plan)) => plan_name(plan)?,
    };
    let folder = Folder::of(args.dir.as_deref(), &name)?;
    let queue = Queue::open(&folder.queue(), false)?;
    let entries = queue.list()?;
    let fact = |name: &str| queue.fact(name).map(Option::unwrap_or_default);
    let at_work = match folder.is_locked() {
        true => "a program is at work on it".to_owned(),
        false => "no program is at work on it; `flashscope lab run` goes on".to_owned(),
    };
    let record = LabRecord {
        envelope: Envelope::new(Kind::Lab, tool(), "lab status", fact("plan_file")?),
        plan: fact("plan")?,
        plan_sha256: fact("plan_sha256")?,
        busy_at_once: 0,
        waiting_at_once: 0,
        devices: devices(&entries),
        shared: Vec::new(),
        neighbours: Vec::new(),
        runs: entries.iter().map(told).collect(),
        notes: qualify::verdicts(&folder, &entries).into_iter().chain([at_work]).collect(),
    };
    print(&record, &args.results, cli)?;
    Ok(0)
}

/// The devices as far as the queue knows them.
fn devices(entries: &[Entry]) -> Vec<LabDevice> {
    let mut devices: Vec<LabDevice> = Vec::new();
    for entry in entries.iter().filter(|entry| !entry.device.is_empty()) {
        for (name, identity) in devices_of(entry) {
            if !devices.iter().any(|device| device.name == name) {
                devices.push(LabDevice {
                    name: name.to_owned(),
                    identity: identity.to_owned(),
                    simulated: identity.starts_with("sim:"),
                    seed: 0,
                    parts: Vec::new(),
                    host_limited: None,
                });
            }
        }
    }
    devices
}
