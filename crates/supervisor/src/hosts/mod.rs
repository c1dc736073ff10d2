//! `lab coordinator`, `agent`, `submit`, `results`, and `status --server`: many hosts.

mod agent;
mod batch;
mod fleet;
mod host;
mod operate;

pub(crate) use agent::attend;
pub(crate) use fleet::sail;
pub(crate) use operate::{results, status, submit};

use crate::args;
use crate::{result, stop};
use anyhow::{Result, anyhow};
use flashscope_console::{self as console, Server};
use flashscope_hosts::{Address, HostsError, Kind, Link, Streams, Token, now, serve};
use flashscope_lab::{Coordinator, Order, Terms};
use std::rc::Rc;
use std::time::Duration;

/// How soon a server is looked for again that is not there yet.
const AGAIN: Duration = Duration::from_secs(1);

/// `lab coordinator`.
pub(crate) fn coordinate(args: &args::Coordinator) -> Result<u8> {
    stop::arm(|| ())?;
    let Some(link) = link(&args.server, true)? else { return Ok(0) };
    let link = Rc::new(link);
    let terms = Terms { lease: (args.lease.get() / 1_000_000).max(100), tries: args.tries, lies: args.lies };
    let streams = Streams::open(Rc::clone(&link), terms.lease)?;
    let mut coordinator = Coordinator::open(streams, terms, judge, now())?;
    let say = &mut |text: &str| console::say(text);
    serve(&link, &mut coordinator, env!("CARGO_PKG_VERSION"), &|| stop::wishes() > 0, say)?;
    Ok(0)
}

/// Why bytes are not the record of a run.
fn judge(record: &[u8], order: &Order) -> Result<(), String> {
    result::judge(record, &order.words, &order.identity, order.simulated).map_err(|why| why.to_string())
}

/// Connects. One that is `patient` waits for a server that is not there yet; `None` where it was stopped meanwhile.
fn link(server: &Server, patient: bool) -> Result<Option<Link>> {
    let address = Address::new(&server.server, server.ca.clone())?;
    let token = Token::read(&server.token)?;
    let mut told = false;
    loop {
        match Link::open(&address, &token) {
            Ok(link) => return Ok(Some(link)),
            Err(error) if patient && error.kind == Kind::Server => {
                if !told {
                    console::say(&format!("{error}\nwaiting for it"));
                    told = true;
                }
            }
            Err(error) => return Err(error.into()),
        }
        if stop::wishes() > 0 {
            return Ok(None);
        }
        std::thread::sleep(AGAIN);
    }
}

/// The exit code of a failure between hosts: what would be unsafe is refused.
pub(crate) fn coded(outcome: Result<u8>) -> Result<u8> {
    match outcome {
        Err(error) if error.downcast_ref::<HostsError>().is_some_and(|error| error.kind == Kind::Unsafe) => {
            console::say(&format!("error: refused for safety: {error}"));
            Ok(3)
        }
        other => other,
    }
}

fn connected(server: &Server) -> Result<Link> {
    link(server, false)?.ok_or_else(|| anyhow!("stopped"))
}
