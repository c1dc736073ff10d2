//! Whether runs over many hosts come home once, whatever is killed, cut, full, out of time or a lie; how fast the engine keeps
//! what it is given, and in how much memory. Exit code 1 where a target is missed.
//!
//! `scripts/prove hosts [--quick]`, or `cargo bench -p flashscope-supervisor --bench hosts [-- kills] [full] [rate] [idle]
//! [--runs N] [--seed N]`. The server is the real one, by `scripts/nats-server`, the coordinator the real program. Workers are
//! none: an agent of this bench (the same program, started with `--agent`) has the talk of a real one and writes each record
//! itself, at once, so that ten thousand runs take minutes.
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

mod network;
mod rate;
mod rig;
mod toy;

use flashscope_hosts::{Address, Link, Streams, Token};
use flashscope_lab::{Archive, Engine, RunState};
use flashscope_stats::Rng;
use flashscope_testkit::Targets;
use rig::Rig;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::Stdout;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::thread::sleep;
use std::time::{Duration, Instant};

type Outcome = Result<(), Box<dyn Error>>;

const PARTS: [&str; 4] = ["kills", "full", "rate", "idle"];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "--agent") {
        return toy::main(&words[1..]).map(|()| ExitCode::SUCCESS);
    }
    let quick = words.iter().any(|word| word == "--quick");
    let after = |name: &str| words.iter().skip_while(|word| *word != name).nth(1);
    let seed = after("--seed").map_or(Ok(1), |text| text.parse())?;
    let runs = after("--runs").map_or(Ok(if quick { 192 } else { 10_048 }), |text| text.parse())?;
    let named = |part: &str| words.iter().any(|word| word == part);
    let all = !PARTS.into_iter().any(named);
    let mut targets = Targets::begin(std::io::stdout())?;
    if !rig::there_is_a_server() {
        targets.left_out("runs over many hosts", "no nats-server of the pinned version can be had; see above")?;
        return Ok(ExitCode::SUCCESS);
    }
    if all || named("kills") {
        kills(runs, seed, &mut targets)?;
    }
    if all || named("full") {
        full(if quick { 64 } else { 256 }, &mut targets)?;
    }
    if !quick && (all || named("rate")) {
        rate::measure(&mut targets)?;
    }
    if !quick && (all || named("idle")) {
        idle(&mut targets)?;
    }
    println!("load {}", fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

const AGENTS: [&str; 4] = ["a", "b", "c", "far"];
/// What is killed or cut, each once in a turn, in an order that is drawn anew for each turn.
const TURNS: [&str; 8] = ["server", "coordinator", "cut", "liar", "a", "b", "c", "far"];

/// Agents, coordinator and server killed at random moments; one agent behind a network that is cut, with a clock three days ahead;
/// one that says everything twice and lies now and then.
fn kills(runs: usize, seed: u64, targets: &mut Targets<Stdout>) -> Outcome {
    let mut rng = Rng::new(seed);
    let network = network::Network::new();
    if network.is_none() {
        targets.left_out("an agent behind a network that is cut", "it needs root and ip(8)")?;
    }
    let mut rig = Rig::new("kills", network)?;
    let shim = rig.clock_shim();
    if shim.is_none() {
        targets.left_out("an agent whose clock is three days ahead", "it needs cc")?;
    }
    rig.server()?;
    rig.coordinator(&["--lease", "2s", "--tries", "1000", "--lies", "1000000"])?;
    let asked = rig.submit(runs)?;
    for name in AGENTS {
        rig.agent(name, &[])?;
    }
    rig.agent("liar", &["--odd"])?;
    let began = Instant::now();
    let (mut killed, mut cuts) = (BTreeMap::<&str, u32>::new(), 0);
    let (mut looked, mut turns) = (Instant::now(), Vec::new());
    loop {
        sleep(Duration::from_millis(rng.below(if runs < 1000 { 200 } else { 1000 }) as u64));
        if turns.is_empty() {
            turns = TURNS.to_vec();
        }
        let what = turns.swap_remove(rng.below(turns.len()));
        if what == "cut" {
            let long = Duration::from_millis(rng.below(3500) as u64);
            cuts += u32::from(rig.cut(long)?);
        } else {
            *killed.entry(what).or_default() += u32::from(rig.kill(what)?);
            sleep(Duration::from_millis(rng.below(300) as u64));
            rig.again(what)?;
        }
        if looked.elapsed() > Duration::from_secs(2) {
            looked = Instant::now();
            let done = rig.done();
            eprintln!(
                "{:.0} s: {} of {asked} done",
                began.elapsed().as_secs_f64(),
                done.map_or("?".to_owned(), |done| done.to_string())
            );
            if done.is_some_and(|done| done >= asked) {
                break;
            }
        }
        if began.elapsed() > Duration::from_secs(if runs < 1000 { 240 } else { 3600 }) {
            eprintln!("it is given up: too slow, or lost");
            rig.print_logs();
            break;
        }
    }
    println!("killed in {:.0} s: {killed:?}; network cut {cuts} times (seed {seed})", began.elapsed().as_secs_f64());
    let memory = rig.memory("coordinator");
    let left = rig.left_at_agents();
    rig.stop_all_but_server();
    judged(&rig, "kills", asked, targets)?;
    let lies = rig.lies();
    println!("lies told: {lies}");
    targets.row("kills: records that agents still keep, unconfirmed", "any", &left.to_string(), true)?;
    if let Some(memory) = memory {
        let what = format!("memory of the coordinator with {asked} runs");
        targets.at_most(&what, 150.0, memory, "MiB")?;
    }
    Ok(())
}

/// Looks into the engine itself: every run done once, with the record that belongs to it.
fn judged(rig: &Rig, part: &str, asked: usize, targets: &mut Targets<Stdout>) -> Outcome {
    let token = Token::read(&rig.path("nats/tokens/coordinator"))?;
    let link = rig.linked(&token)?;
    let streams = Streams::open(Rc::new(link), 1000)?;
    let entries = streams.list()?;
    let attempts = streams.attempts()?;
    let mut done: BTreeMap<&str, u32> = BTreeMap::new();
    for attempt in attempts.iter().filter(|attempt| attempt.end.as_deref() == Some("done")) {
        *done.entry(&attempt.id).or_default() += 1;
    }
    let lost = asked - entries.iter().filter(|entry| entry.state == RunState::Done).count().min(asked);
    let twice = done.values().filter(|times| **times > 1).count();
    let mut wrong = 0;
    for entry in entries.iter().filter(|entry| entry.state == RunState::Done) {
        let record = entry.sha256.as_ref().map(|hash| streams.record(&entry.run.id, hash)).transpose()?.flatten();
        let is_it = record.is_some_and(|record| record == toy::record(&entry.run.id, &entry.identity, rig.filler));
        wrong += u32::from(!is_it);
    }
    let of = format!("0 of {asked}");
    targets.row(&format!("{part}: runs lost"), &of, &lost.to_string(), lost == 0)?;
    targets.row(&format!("{part}: runs counted twice"), &of, &twice.to_string(), twice == 0)?;
    targets.row(&format!("{part}: records that are not the run's"), &of, &wrong.to_string(), wrong == 0)?;
    println!("{} attempts for {asked} runs", attempts.len());
    Ok(())
}

/// The server's disk is a small file system in memory that somebody fills up to the last byte; later there is room again.
fn full(runs: usize, targets: &mut Targets<Stdout>) -> Outcome {
    let mut rig = Rig::new("full", None)?;
    let Some(disk) = rig::Disk::new(&rig.path("nats"), 64) else {
        targets.left_out("a server whose disk is full", "mounting a small tmpfs needs root")?;
        return Ok(());
    };
    // Larger than what a file system has left over in pages that are written to already.
    rig.filler = 48 << 10;
    rig.server()?;
    rig.coordinator(&["--lease", "2s", "--tries", "1000", "--lies", "1000000"])?;
    let asked = rig.submit(runs)?;
    rig.agent("a", &[])?;
    let began = Instant::now();
    while rig.done().is_none_or(|done| done == 0) && began.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(20));
    }
    disk.fill()?;
    rig.agent("b", &[])?;
    sleep(Duration::from_secs(4));
    // Between its tries to reach the engine the coordinator tells nobody anything.
    let stuck = (0..20).find_map(|_| rig.done());
    // Nor does an agent that dies meanwhile lose what it has.
    rig.kill("a")?;
    rig.again("a")?;
    sleep(Duration::from_secs(2));
    disk.clear()?;
    let is_done = |rig: &Rig, long: u64| {
        let began = Instant::now();
        while rig.done().is_none_or(|done| done < asked) && began.elapsed() < Duration::from_secs(long) {
            sleep(Duration::from_millis(300));
        }
        rig.done() == Some(asked)
    };
    let by_itself = is_done(&rig, 20);
    if !by_itself {
        rig.kill("server")?;
        rig.again("server")?;
        is_done(&rig, 120);
    }
    let how = if by_itself { "by itself" } else { "after a restart" };
    println!(
        "with a full disk {} of {asked} were done; the server went on {how}",
        stuck.map_or("?".to_owned(), |n| n.to_string())
    );
    let filled = stuck.is_none_or(|done| done < asked);
    targets.row("full: the disk was full in the middle", "yes", if filled { "yes" } else { "no" }, filled)?;
    rig.stop_all_but_server();
    judged(&rig, "full", asked, targets)?;
    rig.kill("server")?;
    drop(disk);
    Ok(())
}

/// The real agent with nothing to do.
fn idle(targets: &mut Targets<Stdout>) -> Outcome {
    let mut rig = Rig::new("idle", None)?;
    rig.server()?;
    rig.coordinator(&[])?;
    rig.real_agent("a")?;
    sleep(Duration::from_secs(5));
    for (what, most, name) in [("agent", 30.0, "a"), ("coordinator", 150.0, "coordinator")] {
        match rig.memory(name) {
            Some(memory) => targets.at_most(&format!("memory of an idle {what}"), most, memory, "MiB")?,
            None => targets.row(&format!("memory of an idle {what}"), "measured", "it has ended", false)?,
        }
    }
    Ok(())
}

/// Connects to a server of a directory of `scripts/nats-server`.
fn connect(url: &str, authority: &Path, token: &Token) -> Result<Link, Box<dyn Error>> {
    Ok(Link::open(&Address::new(url, Some(authority.to_owned()))?, token)?)
}
