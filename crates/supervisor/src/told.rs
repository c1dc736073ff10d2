//! What a queue says of its lab, as a record: for whoever asks while a program works on it, and after.

use crate::folder::Folder;
use crate::{Queue, QueueError};
use flashscope_lab::{Command, Engine, Entry, Phase, RunState, is_simulated};
use flashscope_model::envelope::Tool;
use flashscope_model::lab::{LabDevice, LabPhase, LabRecord, LabRun, LabRunState};
use flashscope_model::{AnyRecord, Envelope, Kind};
use flashscope_units::Nanos;
use flashscope_view::qualification::answer;

/// Between the names of devices that one run holds against each other.
pub const NAMES: &str = ", ";
/// Between their identities, which may hold anything else.
pub const IDENTITIES: &str = "\n";

/// Names and identities of the devices of an entry.
fn devices_of(entry: &Entry) -> impl Iterator<Item = (&str, &str)> {
    entry.device.split(NAMES).zip(entry.identity.split(IDENTITIES))
}

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
        notes: verdicts(folder, &entries).into_iter().chain([at_work]).collect(),
    })
}

/// The devices as far as the queue knows them.
pub fn devices(entries: &[Entry]) -> Vec<LabDevice> {
    let mut devices: Vec<LabDevice> = Vec::new();
    for (name, identity) in entries.iter().filter(|entry| !entry.device.is_empty()).flat_map(devices_of) {
        if !devices.iter().any(|device| device.name == name) {
            devices.push(LabDevice {
                name: name.to_owned(),
                identity: identity.to_owned(),
                simulated: is_simulated(identity),
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

/// Whether a run holds devices against each other.
fn qualifies(entry: &Entry) -> bool {
    entry.run.words.first().is_some_and(|word| word == Command::Qualify.word())
}

/// A sentence for each qualification that is done.
pub fn verdicts(folder: &Folder, entries: &[Entry]) -> Vec<String> {
    let done = entries.iter().filter(|entry| qualifies(entry) && entry.state == RunState::Done);
    let said = done.filter_map(|entry| {
        let text = std::fs::read_to_string(folder.path().join(Folder::record_below(&entry.run.id))).ok()?;
        match flashscope_record::read(&text).ok()? {
            AnyRecord::Qualification(record) => {
                Some(format!("{} on {}: {}", entry.work, entry.device, answer(&record)))
            }
            _ => None,
        }
    });
    said.collect()
}
