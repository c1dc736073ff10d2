//! Many hosts with the real server: the same records as on one host, consent on the host alone, kills, and lies.
//! `scripts/prove hosts` does the same with thousands of runs.

use crate::harness::{Place, flashscope};
use crate::server::{Server, there_is_one};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

const PLAN: &str = "name = \"h\"\n[[device]]\nname = \"card\"\nsim = \"sim:sd-4mib\"\ncount = 3\n\
                    [[work]]\nname = \"fake\"\nrun = \"capacity\"\n[[work]]\nname = \"speed\"\nrun = \"bench\"\n\
                    options = { rw = \"randread\", size = \"16MiB\", runtime = \"1s\" }\n";
const COORDINATOR: [&str; 3] = ["coordinator", "--lease", "3s"];

/// Records by the ids of their runs.
fn records(place: &Place, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let folders = std::fs::read_dir(place.path(folder).join("runs")).into_iter().flatten().flatten();
    let read = |folder: std::fs::DirEntry| {
        let record = std::fs::read(folder.path().join("record.json")).ok()?;
        Some((folder.file_name().to_string_lossy().into_owned(), record))
    };
    folders.filter_map(read).collect()
}

#[test]
fn records_are_those_of_one_host_and_come_back_confirmed() {
    if !there_is_one() {
        return;
    }
    let place = Place::new();
    flashscope();
    place.plan(PLAN);
    let server = Server::start(&place);
    let mut coordinator = server.stays(&COORDINATOR, "coordinator");
    let mut agent = server.stays(&["agent"], "a");
    let submitted = server.run(&["submit", "plan.toml"], "operator");
    submitted.expect(0);
    assert_eq!(submitted.stdout, "6 new runs of 6 in plan.toml\n");
    let again = server.run(&["submit", "plan.toml"], "operator");
    assert_eq!(again.stdout, "0 new runs of 6 in plan.toml\n", "{}", again.stderr);
    server.until("all are done", || server.done() == 6);
    let status = server.run(&["status"], "operator");
    status.expect(0);
    assert!(status.stdout.starts_with("6 of 6 runs on 3 devices are done"), "{}", status.stdout);
    assert!(status.stdout.contains("agent a was heard of"), "{}", status.stdout);
    server.run(&["results", "--into", "results"], "operator").expect(0);
    let other = server.run(&COORDINATOR, "coordinator");
    other.expect(2);
    assert!(other.stderr.contains("another coordinator is at work"), "{}", other.stderr);
    assert_eq!((agent.stop(), coordinator.stop()), (Some(0), Some(0)));
    // What the server has confirmed, the agent has let go of.
    assert!(records(&place, "a.agent").is_empty());
    place.record(&["run", "plan.toml"], 0);
    assert_eq!(records(&place, "results"), records(&place, "h.lab"));
    assert_eq!(records(&place, "results").len(), 6);
}

#[test]
fn kills_of_agent_coordinator_and_server_lose_nothing_and_double_nothing() {
    if !there_is_one() {
        return;
    }
    let place = Place::new();
    flashscope();
    place.plan(&PLAN.replace("count = 3", "count = 6"));
    let mut server = Server::start(&place);
    let mut coordinator = server.stays(&COORDINATOR, "coordinator");
    let mut agent = server.stays(&["agent", "--cores", "2"], "a");
    server.run(&["submit", "plan.toml"], "operator").expect(0);
    server.until("some are done", || server.done() >= 1);
    agent.kill();
    server.kill();
    coordinator.kill();
    server.again();
    coordinator = server.stays(&COORDINATOR, "coordinator");
    agent = server.stays(&["agent", "--cores", "2"], "a");
    server.until("more are done", || server.done() >= 4);
    server.kill();
    server.again();
    server.until("all are done", || server.done() == 12);
    server.run(&["results", "--into", "results"], "operator").expect(0);
    let status = server.status().unwrap();
    for run in status["lab_runs"].as_array().unwrap() {
        assert_eq!((run["state"].as_str(), run["failures"].as_u64()), (Some("done"), Some(0)), "{run}");
    }
    drop((agent, coordinator));
    place.record(&["run", "plan.toml"], 0);
    assert_eq!(records(&place, "results"), records(&place, "h.lab"));
}

#[test]
fn nobody_writes_to_a_device_that_was_not_consented_to_on_its_host_and_tokens_say_who_speaks() {
    if !there_is_one() {
        return;
    }
    let place = Place::new();
    flashscope();
    let server = Server::start(&place);
    let _coordinator = server.stays(&COORDINATOR, "coordinator");
    // An agent neither hands in plans nor reads results, and an operator is no agent.
    place.plan(PLAN);
    for who in ["a", "b"] {
        server.run(&["submit", "plan.toml"], who).expect(2);
    }
    std::fs::write(place.path("open"), "operator:0123").unwrap();
    let refused = place.run(&["status", "--server", "nats://127.0.0.1:1", "--token", "open"]);
    refused.expect(3);
    assert!(refused.stderr.contains("others may read"), "{}", refused.stderr);
    let plain = place.run(&["status", "--server", "nats://192.0.2.1:4222", "--token", "open"]);
    plain.expect(3);
    let Some(device) = Loop::new(&place) else {
        eprintln!("LEFT OUT: consent to a loop device over hosts (losetup gave none: not root, or none left)");
        return;
    };
    let plan = "name = \"w\"\n[[device]]\nname = \"real\"\nidentity = \"IDENTITY\"\n[[work]]\nname = \"fill\"\n\
                run = \"bench\"\noptions = { rw = \"write\", size = \"4MiB\" }\n";
    place.plan(&plan.replace("IDENTITY", &device.identity));
    let mut agent = server.stays(&["agent"], "a");
    server.run(&["submit", "plan.toml"], "operator").expect(0);
    let run = |state: &str| {
        let mut run = serde_json::Value::Null;
        server.until(&format!("the run is {state}"), || {
            run = server.status().map_or(serde_json::Value::Null, |status| status["lab_runs"][0].clone());
            run["state"] == state
        });
        run
    };
    let refused = run("failed");
    let why = refused["why"].as_str().unwrap();
    assert!(why.contains("nobody on the device's host allowed to destroy its content"), "{why}");
    let folder = place.path("a.agent/runs").join(refused["id"].as_str().unwrap());
    assert!(!folder.join("stderr.txt").exists(), "no worker was started");
    assert!(device.content().iter().all(|byte| *byte == 0));
    agent.stop();
    // The same plan where the host itself consents.
    let _agent = server.stays(&["agent", &format!("--destroy-data={}", device.identity)], "a");
    server.run(&["submit", "plan.toml", "--retry-failed"], "operator").expect(0);
    run("done");
    assert!(device.content().iter().any(|byte| *byte != 0));
}

/// A loop device on a file of the test's own.
struct Loop {
    node: String,
    identity: String,
    backing: PathBuf,
}

impl Loop {
    fn new(place: &Place) -> Option<Loop> {
        let backing = place.path("backing");
        std::fs::write(&backing, vec![0; 16 << 20]).unwrap();
        let found = Command::new("losetup").args(["--find", "--show"]).arg(&backing).output().ok()?;
        let node = String::from_utf8(found.stdout).ok()?.trim().to_owned();
        let identity = format!("loop:{}", backing.display());
        found.status.success().then_some(Loop { node, identity, backing })
    }

    fn content(&self) -> Vec<u8> {
        std::fs::read(&self.backing).unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.node]).output();
    }
}
