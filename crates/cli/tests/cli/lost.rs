//! Results that are not to be lost: by a full disk, a kill, a hanging device, a closed or full stdout.

use crate::bench_devices::Emulated;
use crate::harness::{Run, flashscope, heard, interrupt, left_out, scratch};
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

const DONE: i32 = 0;
const EXPECTATION: i32 = 1;
const CANNOT: i32 = 2;

/// A file system of so many bytes; unmounted when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn new(test: &str, bytes: u64) -> Option<SmallDisk> {
        let point = scratch();
        let size = format!("size={bytes}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "none"]).arg(&point).output();
        if !mounted.is_ok_and(|output| output.status.success()) {
            left_out(&format!("{test} (no tmpfs can be mounted: not root?)"));
            return None;
        }
        Some(SmallDisk(point))
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a plain path").to_owned()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}

fn json(path: impl AsRef<Path>) -> Value {
    serde_json::from_slice(&fs::read(path).expect("it is there")).expect("it is whole")
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn a_page_that_does_not_fit_costs_no_record() {
    let folder = scratch();
    flashscope(&["inspect", "-o", "card"]).current_dir(&folder).run().expect(DONE);
    assert_eq!(names(&folder), ["card.html", "card.json"], "what was kept on the way is gone");
    let size = |name: &str| fs::metadata(folder.join(name)).unwrap().len().next_multiple_of(4096);
    // The record is written first, and the page beside it is what does not fit.
    let room = size("card.json") + size("card.html") - 4096;
    let Some(disk) = SmallDisk::new("inspect on a full disk", room) else { return };
    let run = flashscope(&["inspect", "-o", &disk.path("card")]).env("TMPDIR", "/proc/nowhere").run();
    run.expect(CANNOT);
    assert!(run.stdout.contains("Geometry"), "the answer itself is printed");
    assert!(run.stderr.contains("card.html") && run.stderr.contains("ENOSPC"), "{}", run.stderr);
    assert_eq!(json(disk.path("card.json")), json(folder.join("card.json")));
    assert_eq!(names(&disk.0), ["card.json"], "nothing that is not whole stays");

    // Where there is room elsewhere, nothing at all is lost.
    fs::remove_file(disk.path("card.json")).unwrap();
    let elsewhere = scratch();
    let run = flashscope(&["inspect", "-o", &disk.path("card")]).env("TMPDIR", &elsewhere).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("kept in"), "{}", run.stderr);
    assert_eq!(names(&elsewhere).len(), 1);
}

#[test]
fn a_trace_that_does_not_fit_costs_no_result() {
    let Some(disk) = SmallDisk::new("a trace on a full disk", 8192) else { return };
    let folder = scratch();
    let load =
        ["bench", "sim:sd-4mib", "--size", "4M", "--count", "5000", "--trace", "5000", "-o", "b.json", "--trace-to"];
    let run = flashscope(&[&load[..], &[&disk.path("t.csv")]].concat()).current_dir(&folder).run();
    run.expect(CANNOT);
    assert!(run.stdout.contains("IOPS"), "{}", run.stdout);
    assert!(run.stderr.contains("trace") && run.stderr.contains("not whole"), "{}", run.stderr);
    assert_eq!(json(folder.join("b.json"))["phases"][0]["runs"][0]["jobs"][0]["read"]["count"], 5000);
}

#[test]
fn a_reader_that_goes_costs_no_file() {
    let folder = scratch();
    let load = ["bench", "sim:sd-4mib", "--size", "4M", "--count", "20", "-o", "b.json"];
    let mut child = flashscope(&load).current_dir(&folder).command().stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(DONE));
    assert_eq!(json(folder.join("b.json"))["kind"], "bench");
}

#[test]
fn a_full_stdout_is_said() {
    for arguments in
        [&["--help"][..], &["--version"], &["bench", "--help"], &["sim", "list"], &["bench", "iozone", "-h"]]
    {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let run = Run::from(flashscope(arguments).command().stdout(full).output().unwrap());
        run.expect(CANNOT);
        assert!(run.stderr.contains("cannot write to stdout"), "{arguments:?}: {}", run.stderr);
        let mut child = flashscope(arguments).command().stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(DONE), "{arguments:?}");
    }
}

#[test]
fn what_was_measured_outlives_a_kill() {
    let check = |arguments: &[&str], kept: &str| {
        let folder = scratch();
        let mut command = flashscope(arguments).current_dir(&folder).command();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let kept = folder.join(kept);
        wait_for(&kept, &mut child);
        child.kill().unwrap();
        child.wait().unwrap();
        let record = json(&kept);
        assert_eq!(record["ended"]["how"], "interrupted");
        flashscope(&["report", kept.to_str().unwrap()]).run().expect(DONE);
        (record, kept)
    };
    // Far longer than it takes to look.
    let (record, kept) = check(&["inspect", "sim:ssd-consumer", "-o", "card"], "card.unfinished.json");
    assert!(!record["observations"]["runs"].as_array().unwrap().is_empty());
    flashscope(&["infer", kept.to_str().unwrap()]).run().expect(DONE);
    let long = ["--count", "2000000", "--repeat", "3", "-o", "b.json"];
    let load = [&["bench", "sim:sd-4mib", "--engine", "null"][..], &long].concat();
    let (record, _) = check(&load, "b.unfinished.json");
    assert_eq!(record["phases"][0]["runs"].as_array().unwrap().len(), 1);
}

fn wait_for(path: &Path, child: &mut Child) {
    let began = Instant::now();
    while !path.exists() {
        assert!(began.elapsed() < Duration::from_secs(120), "{} never came", path.display());
        assert!(matches!(child.try_wait(), Ok(None)), "it ended before {} came", path.display());
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_run_that_its_budget_cuts_short_is_no_success() {
    let folder = scratch();
    let load = ["bench", "sim:sd-4mib", "--size", "4M", "--rw", "randwrite", "--runtime", "10s", "--repeat", "3"];
    let run = flashscope(&[&load[..], &["--max-write", "4M", "-o", "b.json"]].concat()).current_dir(&folder).run();
    run.expect(EXPECTATION);
    assert!(run.stderr.contains("cut short") && run.stderr.contains("--max-write"), "{}", run.stderr);
    let record = json(folder.join("b.json"));
    assert_eq!(record["ended"]["how"], "budget_spent");
    assert_eq!(record["phases"][0]["runs"].as_array().unwrap().len(), 1);
}

fn hears(from: &Receiver<String>, word: &str, within: Duration) -> bool {
    let until = Instant::now() + within;
    std::iter::from_fn(|| from.recv_timeout(until.saturating_duration_since(Instant::now())).ok())
        .any(|line| line.contains(word))
}

/// Waits until a thread of a program has waited for a device without a break.
fn wait_until_it_hangs(child: &Child) {
    let waits = || {
        let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).unwrap().flatten();
        let stat = |task: fs::DirEntry| fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        tasks.map(stat).any(|stat| stat.rsplit(") ").next().is_some_and(|state| state.starts_with('D')))
    };
    let (began, mut since) = (Instant::now(), Instant::now());
    while since.elapsed() < Duration::from_secs(1) {
        assert!(began.elapsed() < Duration::from_secs(60), "the device answers");
        std::thread::sleep(Duration::from_millis(20));
        if !waits() {
            since = Instant::now();
        }
    }
}

#[test]
fn an_interrupt_is_heard_while_the_device_hangs() {
    for way in [&["inspect"][..], &["bench", "--rw", "read", "--bs", "128k", "--size", "32M"]] {
        let Some(card) = Emulated::new("sd-flat,capacity=64MiB,hanging=1MiB-63MiB", "1") else { return };
        let folder = scratch();
        let arguments = [&[way[0], &card.device, "-o", "b.json"], &way[1..]].concat();
        let mut command = flashscope(&arguments).current_dir(&folder).command();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let said = heard(&mut child);
        wait_until_it_hangs(&child);
        interrupt(&child);
        assert!(hears(&said, "stopping", Duration::from_secs(2)), "{way:?}: the first one is heard at once");
        if way[0] == "bench" {
            // The kernel keeps the program until the device answers, and the result is there long before.
            let began = Instant::now();
            while !folder.join("b.json").exists() && began.elapsed() < Duration::from_secs(15) {
                std::thread::sleep(Duration::from_millis(50));
            }
            assert_eq!(json(folder.join("b.json"))["ended"]["how"], "interrupted");
        } else {
            std::thread::sleep(Duration::from_millis(400));
            interrupt(&child);
            assert!(hears(&said, "ended", Duration::from_secs(2)), "the second one is heard, too");
        }
        card.kill();
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(if way[0] == "bench" { CANNOT } else { 130 }), "{way:?}");
    }
}
