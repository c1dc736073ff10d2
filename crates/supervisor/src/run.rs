//! `lab run`: prepares, takes the lab for itself, works, and says what came of it.

use crate::args::{self, Cli};
use crate::prepare::{Lab, prepare};
use crate::screen::Screen;
use crate::supervise::Supervisor;
use crate::{output, qualify};
use anyhow::Result;
use flashscope_console as console;
use flashscope_host::{Surroundings, SysRoot, wall_clock};
use flashscope_lab::{Device, Entry, RunState, topology};
use flashscope_model::envelope::StopReason;
use flashscope_model::lab::{LabDevice, LabRecord, LabRun, Neighbour, SharedPart};
use flashscope_model::{Envelope, Kind};
use flashscope_supervisor::{Queue, told, tool, verdicts};

pub(crate) fn run(args: &args::Run, cli: &Cli) -> Result<u8> {
    let lab = prepare(args)?;
    let missing = lab.unconsented();
    if args.dry_run {
        let mut record = record(&lab, &lab.entries, &[], envelope(&lab, None));
        record.notes.extend(
            missing.iter().map(|one| {
                format!("{} writes to {}, which needs --destroy-data={}", one.work, one.device, one.identity)
            }),
        );
        record.notes.extend(lab.devices.iter().map(|device| format!("{} is {}", device.name, device.identity)));
        print(&record, &args.results, cli)?;
        return Ok(0);
    }
    if !missing.is_empty() {
        lab.refuse(&missing);
        return Ok(3);
    }
    lab.folder.make()?;
    let _lock = lab.folder.lock()?;
    let mut queue = Queue::open(&lab.folder.queue(), true)?;
    queue.set_fact("plan", &lab.plan.name)?;
    queue.set_fact("plan_file", &lab.plan_file)?;
    queue.set_fact("plan_sha256", &lab.plan_sha256)?;
    let began = wall_clock();
    let screen = Screen::new(&lab.devices, cli.manner.quiet, lab.limits.busy);
    let mut supervisor = Supervisor::take_over(&lab, args, queue, screen)?;
    let neighbours = supervisor.work()?;
    let mut envelope = envelope(&lab, Some(began));
    envelope.finished = Some(wall_clock());
    let entries = &supervisor.entries;
    let is_over = entries.iter().all(|entry| entry.state.is_over());
    envelope.stop = if is_over { StopReason::Complete } else { StopReason::Interrupted };
    let record = record(&lab, entries, &neighbours, envelope);
    output::save(&lab.folder.record(), flashscope_record::to_json(&record).as_bytes())?;
    print(&record, &args.results, cli)?;
    if !is_over {
        console::say("error: interrupted; what was measured is kept\nhint: the same command goes on");
        return Ok(2);
    }
    Ok(u8::from(entries.iter().any(|entry| entry.state == RunState::Failed)))
}

/// Prints the record, and keeps it where that was asked for.
pub(crate) fn print(record: &LabRecord, results: &args::Results, cli: &Cli) -> Result<()> {
    let json = flashscope_record::to_json(record);
    if let Some(path) = &results.output {
        output::save(path, json.as_bytes())?;
    }
    match results.json {
        true => console::text(&json),
        false => console::report(&flashscope_report::lab::terminal(record, cli.manner.style()), cli.manner),
    }
}

fn envelope(lab: &Lab, began: Option<String>) -> Envelope {
    let mut envelope = Envelope::new(Kind::Lab, tool(), "lab run", lab.plan_file.clone());
    envelope.started = began;
    envelope.host = Some(Surroundings::on(&SysRoot::live(), None).host());
    envelope
}

/// Everything that is known of a lab.
fn record(lab: &Lab, entries: &[Entry], neighbours: &[Neighbour], envelope: Envelope) -> LabRecord {
    let limited = |device: &Device| neighbours.iter().find(|one| one.device == device.name).map(|one| !one.undisturbed);
    let parts: Vec<Vec<String>> = lab.devices.iter().map(|device| device.parts.clone()).collect();
    let shared = topology::shared(&parts).into_iter().map(|(path, places)| SharedPart {
        name: topology::part_name(&path),
        path,
        devices: places.into_iter().map(|place| lab.devices[place].name.clone()).collect(),
    });
    let devices = lab.devices.iter().map(|device| LabDevice {
        name: device.name.clone(),
        identity: device.identity.clone(),
        simulated: device.simulated,
        seed: device.seed,
        parts: device.parts.clone(),
        host_limited: limited(device),
    });
    let is_limited = |entry: &Entry| entry.run.devices().any(|place| limited(&lab.devices[place]) == Some(true));
    let runs = entries.iter().map(|entry| LabRun { host_limited: is_limited(entry), ..told(entry) });
    LabRecord {
        envelope,
        plan: lab.plan.name.clone(),
        plan_sha256: lab.plan_sha256.clone(),
        busy_at_once: lab.limits.busy as u32,
        waiting_at_once: lab.limits.waiting as u32,
        devices: devices.collect(),
        shared: shared.collect(),
        neighbours: neighbours.to_vec(),
        runs: runs.collect(),
        notes: verdicts(&lab.folder, entries)
            .into_iter()
            .chain(qualify::missing(&lab.plan, &lab.asked, &lab.host))
            .collect(),
    }
}
