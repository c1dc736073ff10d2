//! From what was typed to a page that answers.

use crate::app::{App, Entrance};
use crate::args::Cli;
use crate::guard::{ENTER, Names};
use crate::listen::{self, Door};
use crate::runs::Runs;
use crate::scratch::Scratch;
use crate::secret::Secret;
use crate::web;
use anyhow::{Context, Result, anyhow};
use flashscope_console as console;
use flashscope_supervisor::Folder;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Threads that answer, and threads that read files for them.
const THREADS: usize = 2;
const READERS: usize = 8;

pub(crate) fn run(cli: &Cli) -> Result<ExitCode> {
    check_address(cli)?;
    let tls = match (&cli.certificate, &cli.key) {
        (Some(certificate), Some(key)) => Some(listen::tls(certificate, key)?),
        _ => None,
    };
    let named = cli.store.clone();
    let store = named.or_else(flashscope_store::usual_place).ok_or_else(|| {
        anyhow!(
            "there is no place for a history: neither XDG_DATA_HOME nor HOME is set\nhint: name one with --store FILE"
        )
    })?;
    if let Some(folder) = store.parent().filter(|folder| cli.store.is_none() && !folder.exists()) {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let labs = labs(&cli.lab)?;
    let token = cli.token.as_deref().map_or_else(Secret::new, Secret::of_file)?;
    let socket = std::net::TcpListener::bind(cli.listen).map_err(|error| {
        anyhow!(
            "cannot listen at {}: {error}\nhint: --listen names another address; port 0 takes a free one",
            cli.listen
        )
    })?;
    socket.set_nonblocking(true)?;
    let at = socket.local_addr()?;
    let names = Names::of(at, &cli.name, tls.is_some());
    let url = format!("{}?token={}", names.address(ENTER), token.reveal());
    let scratch = Scratch::new()?;
    // The threads of runs begin before the runtime: they outlive all that it does.
    let runs = Runs::begin(store.clone(), scratch.path.clone(), cli.runs as usize);
    let entrance = Entrance { names, tls: tls.is_some(), port: at.port(), token, form: Secret::new()? };
    let app = Arc::new(App::new(store, labs, runs, scratch.path.clone(), entrance));
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(THREADS).max_blocking_threads(READERS).enable_all().build()?;
    let served = app.clone();
    let outcome = runtime.block_on(async move {
        let door = Door::open(tokio::net::TcpListener::from_std(socket)?, tls)?;
        tell(cli, &url)?;
        let pages = web::pages(served);
        tokio::select! {
            ended = async { axum::serve(door, pages).await } => ended.context("cannot serve"),
            _ = stopped() => Ok(()),
        }
    });
    app.runs.end();
    // Pages that change by themselves would be waited for.
    runtime.shutdown_background();
    outcome.map(|()| ExitCode::SUCCESS)
}

/// Says where it is, once: the token is in it.
fn tell(cli: &Cli, url: &str) -> Result<()> {
    if cli.json {
        return console::text(&format!("{}\n", json!({ "url": url })));
    }
    console::say(&format!("open {url}"));
    if !cli.manner.quiet {
        console::say("whoever has this address may look at everything and start simulated runs; Ctrl-C ends it");
    }
    Ok(())
}

/// Another address than loopback is for others, who may listen on the way.
fn check_address(cli: &Cli) -> Result<()> {
    if !cli.listen.ip().is_loopback() && cli.certificate.is_none() {
        return Err(anyhow!(
            "{} is no address of this machine alone, and without TLS anybody on the way reads the token\nhint: name \
             --certificate FILE and --key FILE, or listen at 127.0.0.1 and come through ssh -L",
            cli.listen
        ));
    }
    if cli.listen.ip().is_unspecified() && cli.name.is_empty() {
        return Err(anyhow!(
            "{} is every address of this machine, and no name says under which one it is asked for\nhint: --name HOST, \
             or --listen one address",
            cli.listen
        ));
    }
    Ok(())
}

/// The labs that were named, else those that lie here.
fn labs(named: &[PathBuf]) -> Result<Vec<Folder>> {
    let is_lab = |path: &Path| path.extension().is_some_and(|ending| ending == "lab") && path.join("lab.db").is_file();
    if let Some(other) = named.iter().find(|path| !path.join("lab.db").is_file()) {
        return Err(anyhow!(
            "{} is no directory of a lab\nhint: `flashscope lab run PLAN.toml` makes one, NAME.lab",
            other.display()
        ));
    }
    let mut found: Vec<PathBuf> = named.to_vec();
    if named.is_empty() {
        let here = std::fs::read_dir(".").into_iter().flatten().flatten().map(|entry| entry.path());
        found = here.filter(|path| is_lab(path)).collect();
        found.sort();
    }
    found.iter().map(|path| Folder::of(Some(path), "")).collect()
}

/// Ctrl-C, or an end that a service manager asks for.
async fn stopped() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut end)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) else {
        return std::future::pending().await;
    };
    tokio::select! { _ = interrupt.recv() => {}, _ = end.recv() => {} }
}
