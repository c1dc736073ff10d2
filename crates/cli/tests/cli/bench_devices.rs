//! `bench` on devices of the kernel's that fail, hang and fill up: emulated ones, as loop devices.

use crate::harness::{Run, flashscope, interrupt, left_out, scratch};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const EXPECTATION: i32 = 1;
const CANNOT: i32 = 2;

/// An emulated device, as long as this lives.
pub(crate) struct Emulated {
    emulator: Child,
    pub(crate) device: String,
    folder: PathBuf,
}

impl Emulated {
    /// `None` where the machine has no way to it, which is said.
    pub(crate) fn new(model: &str, speed: &str) -> Option<Emulated> {
        let folder = scratch();
        let arguments = ["emulate", model, "--at", folder.to_str().unwrap(), "--loop", "--speed", speed];
        let mut command = flashscope(&arguments).command();
        let mut emulator = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary starts");
        let mut device = String::new();
        let read = BufReader::new(emulator.stdout.take().expect("it was asked for")).read_line(&mut device);
        if read.unwrap_or(0) == 0 {
            left_out("bench on emulated devices (emulate does not work here)");
            let _ = emulator.wait();
            return None;
        }
        Some(Emulated { emulator, device: device.trim().to_owned(), folder })
    }
}

impl Emulated {
    /// Ends it at once, whatever it still owes the kernel, and removes what it leaves.
    pub(crate) fn kill(mut self) {
        let _ = self.emulator.kill();
        let _ = self.emulator.wait();
        flashscope(&["emulate", "--clean"]).run();
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        if matches!(self.emulator.try_wait(), Ok(None)) {
            interrupt(&self.emulator);
            let _ = self.emulator.wait();
        }
    }
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}:\n{}\n{}", run.stdout, run.stderr))
}

fn first(record: &Value) -> &Value {
    &record["phases"][0]["runs"][0]["jobs"][0]
}

/// The four ways in which requests reach a device, and how each is asked for.
const WAYS: [[&str; 6]; 4] = [
    ["--engine", "sync", "--mode", "direct", "--iodepth", "1"],
    ["--engine", "uring", "--mode", "direct", "--iodepth", "4"],
    ["--engine", "aio", "--mode", "direct", "--iodepth", "4"],
    ["--engine", "mmap", "--mode", "cached", "--iodepth", "1"],
];

#[test]
fn errors_in_the_middle_are_kept_whatever_the_engine_and_the_rest_goes_on() {
    let Some(card) = Emulated::new("sd-flat,capacity=64MiB,failing=16MiB-17MiB", "max") else { return };
    for way in WAYS {
        let load = ["bench", &card.device, "--rw", "read", "--bs", "128k", "--size", "32M", "--json"];
        let run = flashscope(&[&load[..], &way].concat()).run();
        if run.stderr.contains("does not let us use io_uring") {
            left_out("errors under io_uring");
            continue;
        }
        run.expect(EXPECTATION);
        let record = json(&run);
        let job = first(&record);
        let failed = job["failed_count"].as_u64().unwrap();
        // What a map needs is read by the kernel, ahead and in larger pieces where it has more to do: an error is then that of the
        // neighbours as well.
        let most = if way[1] == "mmap" { 32 } else { 8 };
        assert!((8..=most).contains(&failed), "{way:?}: {failed}");
        assert!(run.stderr.contains(&format!("{failed} requests failed")), "{way:?}: {}", run.stderr);
        assert_eq!(job["ended"]["how"], "complete", "{way:?}");
        assert_eq!(job["read"]["count"], 256 - failed, "{way:?}");
        let failure = &job["failures"][0];
        let reason = failure["reason"].as_str().unwrap();
        assert!(reason.starts_with(if way[1] == "mmap" { "SIGBUS" } else { "EIO" }), "{reason}");
        assert!(failure["offset_bytes"].as_u64().is_some_and(|at| (16 << 20..17 << 20).contains(&at)), "{failure}");
    }
    // The same under iozone's tests: the file is the one that the loop device lies on.
    let file = card.folder.join("disk");
    let words = ["bench", "iozone", "-B", "-i", "1", "-s", "32m", "-r", "1m", "--cold", "-f", file.to_str().unwrap()];
    let run = flashscope(&words).run();
    run.expect(EXPECTATION);
    assert!(run.stdout.contains("failed") && run.stdout.contains("SIGBUS"), "{}", run.stdout);
}

#[test]
fn a_device_that_does_not_answer_is_given_up_after_the_timeout_and_figures_are_kept() {
    for way in WAYS {
        let Some(card) = Emulated::new("sd-flat,capacity=64MiB,hanging=16MiB-17MiB", "1") else { return };
        let kept = scratch().join("kept.json");
        let load = ["bench", &card.device, "--rw", "read", "--bs", "128k", "--timeout", "1s", "--size", "32M", "-o"];
        let load = [&load[..], &[kept.to_str().unwrap()], &way].concat();
        let child = flashscope(&load).command().stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        // The result is there long before the kernel lets the program go.
        let began = Instant::now();
        while !kept.exists() && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(50));
        }
        let took = began.elapsed();
        card.kill();
        let run = Run::from(child.wait_with_output().unwrap());
        if run.stderr.contains("does not let us use io_uring") {
            left_out("a hang under io_uring");
            continue;
        }
        run.expect(CANNOT);
        assert!(took < Duration::from_secs(20), "{way:?}: {took:?}");
        assert!(run.stderr.contains("within 1.00 s") && run.stderr.contains("hint"), "{way:?}: {}", run.stderr);
        let record: Value = serde_json::from_slice(&std::fs::read(&kept).unwrap()).unwrap();
        assert_eq!(record["ended"]["how"], "device_lost", "{way:?}");
        let job = first(&record);
        assert!(job["read"]["count"].as_u64().unwrap() > 10, "{way:?}: {}", job["read"]);
        let reason = job["ended"]["reason"].as_str().unwrap();
        assert!(reason.contains("got an answer within") || reason.contains("got no answer within"), "{way:?}");
    }
}
