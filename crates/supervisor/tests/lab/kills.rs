//! `kill -9` of the supervisor and of workers, and Ctrl-C: nothing is lost, nothing is done twice. `scripts/prove lab -- kills`
//! does the same many times at random moments.

use crate::harness::{Place, flashscope};
use flashscope_lab::{Engine, RunState};
use flashscope_supervisor::Queue;
use rustix::process::{Pid, Signal, kill_process};
use std::time::Duration;

const PLAN: &str = "name = \"k\"\n[[device]]\nname = \"card\"\nsim = \"sim:sd-4mib\"\ncount = 4\n\
                    [[work]]\nname = \"look\"\nrun = \"inspect\"\n";
const RUN: [&str; 6] = ["run", "plan.toml", "--retry-after", "10ms", "--tries", "20"];

/// The processes that a process has started.
fn children(pid: u32) -> Vec<i32> {
    let listed = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

#[test]
fn kills_lose_nothing_and_do_nothing_twice() {
    let place = Place::new();
    flashscope();
    place.plan(PLAN);
    let mut killed = 0;
    for (round, rest) in [40, 150, 400].into_iter().enumerate() {
        let mut child = place.command(&RUN).spawn().unwrap();
        // Once there is a worker; that one first, but in the first round.
        for _ in 0..200 {
            if let Some(worker) = children(child.id()).first() {
                if round > 0 {
                    let _ = kill_process(Pid::from_raw(*worker).unwrap(), Signal::KILL);
                }
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(rest));
        killed += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(killed > 0, "no kill came in the middle");
    place.record(&RUN, 0);
    let queue = Queue::open(&place.path("k.lab/lab.db"), false).unwrap();
    let attempts = queue.attempts().unwrap();
    for entry in queue.list().unwrap() {
        assert_eq!(entry.state, RunState::Done);
        let done =
            |attempt: &&flashscope_lab::Attempt| attempt.id == entry.run.id && attempt.end.as_deref() == Some("done");
        assert_eq!(attempts.iter().filter(done).count(), 1, "{attempts:#?}");
        let record = place.path("k.lab/runs").join(&entry.run.id).join("record.json");
        let text = std::fs::read_to_string(record).unwrap();
        assert!(flashscope_record::read(&text).is_ok());
    }
}

#[test]
fn an_interrupt_stops_in_good_order_and_one_lab_has_one_supervisor() {
    let place = Place::new();
    flashscope();
    place.plan(&PLAN.replace("count = 4", "count = 64"));
    let child = place.command(&RUN).spawn().unwrap();
    while children(child.id()).is_empty() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let other = place.run(&RUN);
    other.expect(2);
    assert!(other.stderr.contains("another `flashscope lab run` is at work"), "{}", other.stderr);
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the same command goes on"), "{said}");
    let queue = Queue::open(&place.path("k.lab/lab.db"), false).unwrap();
    let list = queue.list().unwrap();
    assert!(list.iter().all(|entry| matches!(entry.state, RunState::Done | RunState::Waiting)));
    assert!(list.iter().all(|entry| entry.failures == 0), "what the operator stops is no failure");
}
