//! `lab agent`: one thread talks, the main one works, since the kernel takes the end of a thread for the death of its workers'
//! parent.

use super::batch::{Manner, clear, work};
use super::host::{Desk, Host};
use crate::args::{self, Cli};
use crate::{prepare, stop};
use anyhow::{Result, anyhow};
use flashscope_console as console;
use flashscope_hosts::{Pace, Token, now};
use flashscope_lab::Limits;
use flashscope_supervisor::Folder;
use std::sync::Arc;
use std::time::Duration;

/// How often it says at least that it lives.
const BEAT: Duration = Duration::from_secs(10);
/// So many runs on simulated devices are taken for each processor: enough that none idles while a result is brought.
const AHEAD: u32 = 4;

/// `lab agent`.
pub(crate) fn attend(args: &args::Agent, cli: &Cli) -> Result<u8> {
    super::coded(agent(args, cli))
}

fn agent(args: &args::Agent, cli: &Cli) -> Result<u8> {
    let desk = Arc::new(Desk::default());
    let waking = Arc::clone(&desk);
    stop::arm(move || waking.wake())?;
    let file = prepare::host_file(args.here.host.as_deref())?;
    let consent: Vec<String> = args.here.destroy_data.iter().chain(&file.destroy_data).cloned().collect();
    let name = Token::read(&args.server.token)?.name;
    let named = args.dir.clone().unwrap_or_else(|| format!("{name}.agent").into());
    let folder = Folder::of(Some(&named), &name)?;
    folder.make()?;
    let _lock = folder.lock()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let busy = args.cores.map_or(cores, |cores| cores as usize);
    let limits = Limits { busy, waiting: args.here.at_once.or(file.at_once).unwrap_or(64) as usize };
    let Some(link) = super::link(&args.server, true)? else { return Ok(0) };
    let mut host = Host::new(folder.clone(), file.clone(), consent.clone(), busy as u32 * AHEAD, Arc::clone(&desk));
    let idle = args.until_idle.map(|idle| Duration::from_nanos(idle.get()));
    let pace = Pace { beat: BEAT, until_idle: idle };
    let incarnation = format!("{}-{}", std::process::id(), now());
    let (talking, quiet) = (Arc::clone(&desk), cli.manner.quiet);
    let talk = std::thread::spawn(move || {
        let say = &mut |text: &str| {
            if !quiet {
                console::say(text)
            }
        };
        say("ready");
        flashscope_hosts::attend(&link, &mut host, &incarnation, pace, &|| stop::wishes() > 0, say);
        talking.state().over = true;
        talking.wake();
    });
    let manner = Manner { args, host: &file, consent: &consent, limits, folder: &folder, quiet };
    let mut outcome = Ok(());
    loop {
        let orders = desk.next(&|| stop::wishes() > 0 || talk.is_finished());
        if orders.is_empty() {
            break;
        }
        outcome = work(orders, &manner, &desk);
        if outcome.is_err() {
            break;
        }
        let waking = Arc::clone(&desk);
        stop::arm(move || waking.wake())?;
    }
    outcome?;
    talk.join().map_err(|_| anyhow!("the talk with the server ended in a panic"))?;
    clear(&folder, &desk);
    Ok(0)
}
