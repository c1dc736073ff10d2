//! A fleet over many hosts: the program beside this one hands it in and fetches what came of it, this one joins the parts. So no
//! network is in this program, and no fleet in that one.

use super::Progress;
use crate::beside::Program;
use crate::envelope;
use crate::error::Failure;
use crate::{interrupt, output};
use anyhow::anyhow;
use flashscope_console::Server;
use flashscope_fleet::{Fleet, Joined, MaxWrite, Plan, Watch};
use flashscope_units::Nanos;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// That program.
const PROGRAM: Program = Program { name: "flashscope-lab", folder: "supervisor", does: "speaks to labs" };
/// How soon a wish to stop is handed on.
const LOOK: Duration = Duration::from_millis(100);

/// The version that every part of a fleet has to be of: commits may differ in what they find.
pub(super) fn version() -> String {
    let tool = envelope::tool();
    tool.commit.map_or(tool.version.clone(), |commit| format!("{}+{commit}", tool.version))
}

/// Has agents find a fleet. Answers what came of it until it was done or stopped, and why devices are missing, where some are.
///
/// # Errors
/// The lab cannot be spoken to, or answers with something else.
pub(super) fn sail(
    plan: Plan,
    server: &Server,
    progress: &Progress,
) -> Result<(Fleet, Option<anyhow::Error>), Failure> {
    let program = PROGRAM.found()?;
    let mut child = Command::new(&program)
        .args(output::manner().words())
        .args(words(plan, server))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| anyhow!("cannot start {}: {error}", program.display()))?;
    let lines = lines(&mut child);
    let mut joined = Joined::new(plan, &version());
    let (mut end, mut stopping) = (None, false);
    loop {
        // Ctrl-C at a terminal goes to both; whoever asks this program alone asks the other one by it.
        if interrupt::asked() && !std::mem::replace(&mut stopping, true) {
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            let _ = pid.map(|pid| kill_process(pid, Signal::INT));
        }
        let line = match lines.recv_timeout(LOOK) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        match ended(&line) {
            Some(told) => end = Some(told),
            None => {
                let new = joined.add(&line).map_err(|error| {
                    let _ = child.kill();
                    anyhow!("{error}\nhint: every agent has to have this version, {}", version())
                })?;
                new.into_iter().for_each(|device| progress.done(device));
            }
        }
    }
    let status = child.wait().map_err(|error| anyhow!("nobody can tell how {} ended: {error}", PROGRAM.name))?;
    match (end, status.code()) {
        (Some(left), _) => Ok((joined.fleet(), left)),
        // It has said why itself.
        (None, Some(3)) => Err(Failure::Refused { target: server.server.clone(), writing: true, refusals: Vec::new() }),
        (None, _) => Err(Failure::Cannot(anyhow!("the lab could not be spoken to"))),
    }
}

/// What is typed for the program that speaks to the lab. A plan is data: names and numbers that are known there.
fn words(plan: Plan, server: &Server) -> Vec<String> {
    let limits = plan.limits;
    let time = |time: Nanos| format!("{}ns", time.get());
    let options = [
        Some(("generator", plan.generator.name().to_owned())),
        plan.noise.map(|noise| ("noise", noise.name().to_owned())),
        match limits.max_write {
            MaxWrite::Usual => None,
            MaxWrite::Size(size) => Some(("max-write", size.get().to_string())),
            MaxWrite::Times(times) => Some(("overwrite", times.to_string())),
        },
        limits.max_time.map(|limit| ("max-time", time(limit))),
        Some(("max-work", time(limits.most_work))),
        (!limits.by_hand).then(|| ("no-naive", "true".to_owned())),
    ];
    let mut words = vec!["fleet".to_owned(), format!("--server={}", server.server)];
    words.push(format!("--token={}", server.token.display()));
    words.extend(server.ca.as_ref().map(|ca| format!("--ca={}", ca.display())));
    words.push(format!("--of-version={}", version()));
    words.extend([format!("--seed={}", plan.seed), format!("--first={}", plan.first)]);
    words.push(format!("--devices={}", plan.devices));
    words.extend(options.into_iter().flatten().map(|(name, value)| format!("--option={name}={value}")));
    words
}

fn lines(child: &mut Child) -> Receiver<String> {
    let (tell, told) = channel();
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| tell.send(line))
        });
    }
    told
}

/// What the last line says: why devices are missing, where some are. `None` for the line of a part.
fn ended(line: &str) -> Option<Option<anyhow::Error>> {
    if !line.starts_with("{\"left\"") {
        return None;
    }
    let told: Value = serde_json::from_str(line).ok()?;
    let failed = told["failed"].as_object().cloned().unwrap_or_default();
    if let Some((range, why)) = failed.iter().next() {
        let more = if failed.len() > 1 { format!(", and {} ranges more", failed.len() - 1) } else { String::new() };
        let why = why.as_str().unwrap_or_default();
        return Some(Some(anyhow!("{range} have no result{more}: {why}\nhint: the same command tries them again")));
    }
    let left = told["left"].as_u64().unwrap_or_default();
    Some((left > 0).then(|| {
        anyhow!(
            "interrupted with {left} ranges to come, which the agents go on with\nhint: the same command fetches them"
        )
    }))
}
