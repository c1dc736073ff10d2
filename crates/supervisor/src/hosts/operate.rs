//! What an operator asks for: submit, status, results.

use super::connected;
use crate::args::{self, Cli};
use crate::run::print;
use crate::{output, prepare, result};
use anyhow::{Context, Result};
use flashscope_console::{self as console, Server};
use flashscope_hosts::Operator;
use flashscope_lab::ask::{AgentTold, RunTold};
use flashscope_lab::work::Work;
use flashscope_lab::{Entry, Phase, Run, RunState};
use flashscope_model::lab::LabRecord;
use flashscope_model::{Envelope, Kind};
use flashscope_supervisor::{devices, told, tool};

/// `lab submit`.
pub(crate) fn submit(args: &args::Submit) -> Result<u8> {
    let text = prepare::read(&args.plan)?;
    let link = connected(&args.server)?;
    let (new, of) = Operator(&link).submit(&text, args.retry_failed)?;
    console::text(&format!("{new} new runs of {of} in {}\n", args.plan.display()))?;
    Ok(0)
}

/// `lab status --server`.
pub(crate) fn status(server: &Server, results: &args::Results, cli: &Cli) -> Result<u8> {
    let link = connected(server)?;
    let (runs, agents) = Operator(&link).status()?;
    print(&record("lab status", server, &entries(&runs), &agents), results, cli)?;
    Ok(0)
}

/// `lab results`.
pub(crate) fn results(args: &args::OfServer, cli: &Cli) -> Result<u8> {
    let link = connected(&args.server)?;
    let operator = Operator(&link);
    let (runs, agents) = operator.status()?;
    let entries = entries(&runs);
    let mut fetched = 0;
    for entry in &entries {
        let Some(sha256) = &entry.sha256 else { continue };
        let folder = args.into.join("runs").join(&entry.run.id);
        let path = folder.join("record.json");
        if std::fs::read(&path).is_ok_and(|bytes| result::sha256(&bytes) == *sha256) {
            continue;
        }
        let record = operator.record(&entry.run.id)?;
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        output::save(&path, &record)?;
        fetched += 1;
    }
    console::say(&format!("{fetched} records fetched into {}", args.into.display()));
    print(&record("lab results", &args.server, &entries, &agents), &args.results, cli)?;
    Ok(u8::from(entries.iter().any(|entry| entry.state == RunState::Failed)))
}

/// Runs as the engine has them.
fn entries(runs: &[RunTold]) -> Vec<Entry> {
    let entry = |told: &RunTold| {
        let phase = Work::of_words(&told.work, &told.words, None).map_or(Phase::Timed, |work| work.command.phase());
        Entry {
            run: Run {
                id: told.id.clone(),
                device: 0,
                work: 0,
                others: Vec::new(),
                words: told.words.clone(),
                power: None,
                phase,
            },
            device: told.device.clone(),
            identity: told.identity.clone(),
            work: told.work.clone(),
            state: told.state().unwrap_or(RunState::Waiting),
            failures: told.failures,
            attempts: told.attempts,
            sha256: told.sha256.clone(),
            began: told.began,
            ended: told.ended,
            why: told.why.clone(),
        }
    };
    runs.iter().map(entry).collect()
}

fn record(command: &str, server: &Server, entries: &[Entry], agents: &[AgentTold]) -> LabRecord {
    let note = |agent: &AgentTold| {
        let AgentTold { name, heard, holds, lies } = agent;
        let lied = if *lies > 0 { format!(", {lies} records were not what their hash said") } else { String::new() };
        format!("agent {name} was heard of {:.1} s ago and holds {holds} runs{lied}", *heard as f64 / 1e3)
    };
    LabRecord {
        envelope: Envelope::new(Kind::Lab, tool(), command, server.server.clone()),
        plan: String::new(),
        plan_sha256: String::new(),
        busy_at_once: 0,
        waiting_at_once: 0,
        devices: devices(entries),
        shared: Vec::new(),
        neighbours: Vec::new(),
        runs: entries.iter().map(told).collect(),
        notes: agents.iter().map(note).collect(),
    }
}
