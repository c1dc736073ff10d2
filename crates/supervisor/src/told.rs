//! What a queue says of its lab, as a record: for whoever asks while a program works on it, and after.

use crate::folder::Folder;
use crate::{Queue, QueueError};
use flashscope_lab::{Engine, Entry, Phase, RunState};
use flashscope_model::envelope::Tool;
use flashscope_model::lab::{LabDevice, LabPhase, LabRecord, LabRun, LabRunState};
use flashscope_model::{Envelope, Kind};
use flashscope_units::Nanos;

/// The record of a lab as its queue has it at this moment. Nothing is changed.
///
/// # Errors
/// There is no queue in the directory, or it cannot be read.
pub fn status(folder: &Folder) -> Result<LabRecord, QueueError> {
    let queue = Queue::open(&folder.queue(), false)?;
    let entries = queue.list()?;
    let fact = |name: &str| queue.fact(name).map(Option::unwrap_or_default);
    let at_work = match folder.is_locked() {
        true => "a program is at work on it".to_owned(),
        false => "no program is at work on it; `flashscope lab run` goes on".to_owned(),
    };
    Ok(LabRecord {
        envelope: Envelope::new(Kind::Lab, tool(), "lab status", fact("plan_file")?),
        plan: fact("plan")?,
        plan_sha256: fact("plan_sha256")?,
        busy_at_once: 0,
        waiting_at_once: 0,
        devices: devices(&entries),
        shared: Vec::new(),
        neighbours: Vec::new(),
        runs: entries.iter().map(told).collect(),
        notes: vec![at_work],
    })
}

/// The devices as far as the queue knows them.
pub fn devices(entries: &[Entry]) -> Vec<LabDevice> {
    let mut devices: Vec<LabDevice> = Vec::new();
    for entry in entries.iter().filter(|entry| !entry.device.is_empty()) {
        if !devices.iter().any(|device| device.name == entry.device) {
            devices.push(LabDevice {
                name: entry.device.clone(),
                identity: entry.identity.clone(),
                simulated: entry.identity.starts_with("sim:"),
                seed: 0,
                parts: Vec::new(),
                host_limited: None,
            });
        }
    }
    devices
}

/// This program.
pub fn tool() -> Tool {
    Tool { version: env!("CARGO_PKG_VERSION").to_owned(), commit: None, target: None }
}

/// A run as the queue has it.
pub fn told(entry: &Entry) -> LabRun {
    LabRun {
        id: entry.run.id.clone(),
        device: entry.device.clone(),
        work: entry.work.clone(),
        command: entry.run.words.join(" "),
        phase: match entry.run.phase {
            Phase::Alone(_) => LabPhase::Alone,
            Phase::Beside(_) => LabPhase::Beside,
            Phase::Timed => LabPhase::Timed,
            Phase::Wear => LabPhase::Wear,
        },
        state: match entry.state {
            RunState::Waiting => LabRunState::Waiting,
            RunState::Leased => LabRunState::Leased,
            RunState::Done => LabRunState::Done,
            RunState::Failed => LabRunState::Failed,
            RunState::Dropped => LabRunState::Dropped,
        },
        attempts: entry.attempts,
        failures: entry.failures,
        record: record_of(entry),
        sha256: entry.sha256.clone(),
        time: if entry.state == RunState::Done { time_of(entry) } else { None },
        host_limited: false,
        why: entry.why.clone(),
    }
}

/// The record of a run below the lab's directory, where it has one.
fn record_of(entry: &Entry) -> Option<String> {
    entry.sha256.as_ref().map(|_| Folder::record_below(&entry.run.id))
}

/// How long a run took that is done.
pub fn time_of(entry: &Entry) -> Option<Nanos> {
    let time = entry.ended?.checked_sub(entry.began?)?;
    Some(Nanos(time.saturating_mul(1_000_000)))
}
