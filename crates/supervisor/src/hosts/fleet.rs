//! A fleet over many hosts, on the side of whoever wants it: hands it in, and prints what came of each range of devices as soon
//! as it is there, a line each, and at the end a line that says how it ended. `flashscope fleet --lab` reads the lines.

use super::connected;
use crate::args::{self, Cli};
use crate::stop;
use anyhow::{Context, Result, anyhow};
use flashscope_console as console;
use flashscope_hosts::{HostsError, Kind, Operator};
use flashscope_lab::ask::RunTold;
use flashscope_lab::{FleetPlan, RunState};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How often the coordinator is asked how far the runs are.
const LOOK: Duration = Duration::from_millis(500);
/// How often it is said that nobody works.
const AGAIN: Duration = Duration::from_secs(60);

/// `lab fleet`.
pub(crate) fn sail(args: &args::Fleet, cli: &Cli) -> Result<u8> {
    stop::arm(|| ())?;
    let plan = plan(args)?;
    let (entries, _) = plan.runs().map_err(|error| anyhow!("{error}"))?;
    let mut left: BTreeSet<String> = entries.iter().map(|entry| entry.run.id.clone()).collect();
    let link = connected(&args.server)?;
    let operator = Operator(&link);
    // What was given up earlier begins anew: whoever types the same again wants it done.
    operator.submit(&plan.text(), true)?;
    let mut talk = Talk { quiet: cli.manner.quiet, ..Talk::default() };
    let mut failed: BTreeMap<String, String> = BTreeMap::new();
    // Places never change: what was submitted before the first of these runs need not be heard of again.
    let mut from = 0;
    loop {
        let stopping = stop::wishes() > 0;
        match operator.status_from(from) {
            Ok((runs, agents)) => {
                from += runs.iter().position(|run| left.contains(&run.id)).unwrap_or(0);
                for run in &runs {
                    if !left.contains(&run.id) {
                        continue;
                    }
                    match run.state() {
                        Some(RunState::Done) => match operator.record(&run.id) {
                            Ok(part) => print(&part)?,
                            Err(error) if error.kind == Kind::Engine => return Err(error.into()),
                            // It is fetched the next time.
                            Err(_) => continue,
                        },
                        Some(RunState::Failed) => drop(failed.insert(run.work.clone(), why(run))),
                        _ => continue,
                    }
                    left.remove(&run.id);
                }
                talk.answered(agents.is_empty() && !left.is_empty());
            }
            Err(error) => talk.silent(&error),
        }
        if left.is_empty() || stopping {
            break;
        }
        link.rest(LOOK);
    }
    console::text(&format!("{}\n", json!({ "left": left.len(), "failed": failed })))?;
    Ok(0)
}

fn why(run: &RunTold) -> String {
    run.why.clone().unwrap_or_default()
}

/// Parts are one line each; whatever came has been judged by the coordinator.
fn print(part: &[u8]) -> Result<()> {
    let text = std::str::from_utf8(part).context("a part of the fleet is no text")?;
    console::text(&format!("{}\n", text.trim_end()))
}

fn plan(args: &args::Fleet) -> Result<FleetPlan> {
    let option = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| anyhow!("'{text}' is no NAME=VALUE"))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    let options = args.options.iter().map(option).collect::<Result<_>>()?;
    Ok(FleetPlan::new(args.of_version.clone(), args.seed, args.first, args.devices, options))
}

/// What is said while it waits, none of it more often than makes sense.
#[derive(Default)]
struct Talk {
    /// Notices are unwanted.
    quiet: bool,
    silent: bool,
    idle: Option<Instant>,
}

impl Talk {
    fn say(&self, text: &str) {
        if !self.quiet {
            console::say(text);
        }
    }

    fn silent(&mut self, error: &HostsError) {
        if !std::mem::replace(&mut self.silent, true) {
            self.say(&format!("{}; it is asked again", error.what));
        }
    }

    fn answered(&mut self, idle: bool) {
        if std::mem::take(&mut self.silent) {
            self.say("the coordinator answers again");
        }
        if idle && self.idle.is_none_or(|said| said.elapsed() >= AGAIN) {
            self.idle = Some(Instant::now());
            self.say("no agent was heard of yet\nhint: `flashscope lab agent` on each host that is to work");
        }
    }
}
