//! The binary on real block devices: loop devices over files that the test makes itself. Nothing else is touched.

use crate::harness::{flashscope, left_out, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

const DONE: i32 = 0;
const REFUSED: i32 = 3;

/// A loop device over a file of our own; gone when dropped.
pub(crate) struct Loop {
    pub(crate) node: String,
    pub(crate) backing: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

/// One test at a time works with loop devices: another one's losetup opens every free one for a moment, which a safety
/// check rightly takes for a user.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static LOOPS: Mutex<()> = Mutex::new(());
    LOOPS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Loop {
    /// `None`, with a word on what is left out, where this machine offers no loop devices.
    pub(crate) fn new(test: &str, mib: usize) -> Option<Loop> {
        let alone = alone();
        let backing = scratch().join("card.img");
        let content: Vec<u8> =
            (0..mib << 18).flat_map(|n: usize| (n as u32).wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        std::fs::write(&backing, content).unwrap();
        let found = Command::new("losetup").args(["--find", "--show", "--direct-io=on"]).arg(&backing).output();
        match found {
            Ok(output) if output.status.success() => {
                Some(Loop { node: String::from_utf8(output.stdout).unwrap().trim().to_owned(), backing, _alone: alone })
            }
            _ => {
                left_out(&format!("{test} (losetup gave no loop device: not root, or none left)"));
                None
            }
        }
    }

    pub(crate) fn content(&self) -> Vec<u8> {
        std::fs::read(&self.backing).unwrap()
    }

    pub(crate) fn identity(&self) -> String {
        format!("loop:{}", self.backing.canonicalize().unwrap().display())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.node).output();
        let _ = Command::new("losetup").args(["--detach", &self.node]).output();
        let _ = std::fs::remove_file(&self.backing);
    }
}

/// A file system of our own, mounted.
pub(crate) struct Mounted {
    pub(crate) point: PathBuf,
    /// Dropped after it is unmounted.
    _device: Loop,
}

impl Mounted {
    pub(crate) fn new(test: &str, mib: usize) -> Option<Mounted> {
        let device = Loop::new(test, mib)?;
        let point = scratch();
        let runs = |program: &str, words: &[&str], last: &Path| {
            Command::new(program).args(words).arg(last).status().is_ok_and(|status| status.success())
        };
        let made = runs("mkfs.ext4", &["-q", "-F", "-m", "0"], Path::new(&device.node));
        if !made || !runs("mount", &[&device.node], &point) {
            left_out(&format!("{test} (mkfs.ext4 or mount did not work)"));
            return None;
        }
        Some(Mounted { point, _device: device })
    }

    pub(crate) fn path(&self) -> &str {
        self.point.to_str().expect("a plain path")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        unmount(&self.point);
    }
}

fn written(json: &str) -> u64 {
    let record: serde_json::Value = serde_json::from_str(json).expect("a record");
    record["cost"]["written_bytes"].as_u64().expect("a number")
}

#[test]
fn list_prints_the_identity_that_consent_needs() {
    let Some(device) = Loop::new("list on a loop device", 8) else { return };
    let run = flashscope(&["list", "--json", &device.node]).run();
    run.expect(DONE);
    let listed: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(listed["devices"][0]["identity"], device.identity());
    assert_eq!(listed["devices"][0]["capacity_bytes"], 8 << 20);
}

#[test]
fn without_consent_a_block_device_is_only_read() {
    let Some(device) = Loop::new("reading a loop device", 16) else { return };
    let before = device.content();
    let run = flashscope(&["inspect", &device.node, "--json", "--max-time", "10s"]).run();
    run.expect(DONE);
    assert_eq!(written(&run.stdout), 0);
    let refused = flashscope(&["probe", "program", &device.node, "--offset", "0"]).run();
    refused.expect(REFUSED);
    assert!(refused.stderr.contains("--destroy-data"), "{}", refused.stderr);
    assert!(device.content() == before, "not one byte may change");
}

#[test]
fn a_wrong_identity_is_refused_and_not_corrected() {
    let Some(device) = Loop::new("a wrong identity", 16) else { return };
    let before = device.content();
    for wrong in ["loop:/some/other/file", "1234:5678", &device.node] {
        let run = flashscope(&["inspect", &device.node, &format!("--destroy-data={wrong}")]).run();
        run.expect(REFUSED);
        assert!(!run.stderr.contains(&device.identity()), "the right identity must be looked up: {}", run.stderr);
    }
    // What serves for files does not serve for block devices.
    flashscope(&["inspect", &device.node, "--allow-write"]).run().expect(REFUSED);
    assert!(device.content() == before, "not one byte may change");
}

#[test]
fn the_right_identity_grants_writing_within_the_budget() {
    // Large enough that there is something to write to whatever a busy host makes look like a unit.
    let Some(device) = Loop::new("writing a loop device", 512) else { return };
    let consent = format!("--destroy-data={}", device.identity());
    let run = flashscope(&["inspect", &device.node, &consent, "--json", "--max-write", "16M"]).run();
    run.expect(DONE);
    assert!((1..=16 << 20).contains(&written(&run.stdout)), "{}", written(&run.stdout));
    assert!(run.stderr.contains("destroyed") && run.stderr.contains("writes at most"), "{}", run.stderr);
}

#[test]
fn a_device_in_use_is_refused_and_read_only_when_asked_by_name() {
    let Some(device) = Loop::new("a mounted loop device", 32) else { return };
    let made = Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&device.node).status();
    let point = scratch();
    let mounted = made.is_ok_and(|status| status.success())
        && Command::new("mount").arg(&device.node).arg(&point).status().is_ok_and(|status| status.success());
    if !mounted {
        left_out("refusal of a mounted device (mkfs.ext4 or mount did not work)");
        return;
    }
    let check = |arguments: &[&str]| {
        let run = flashscope(arguments).run();
        run.expect(REFUSED);
        assert!(run.stderr.contains("umount"), "the command that releases it: {}", run.stderr);
    };
    let consent = format!("--destroy-data={}", device.identity());
    check(&["inspect", &device.node, &consent, "--destroy-signatures"]);
    check(&["inspect", &device.node]);
    let run = flashscope(&["inspect", &device.node, "--read-in-use", "--json"]).run();
    run.expect(DONE);
    assert!(run.stderr.contains("in use"), "{}", run.stderr);
    let record: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(record["path"]["in_use"].as_array().is_some_and(|uses| !uses.is_empty()), "{}", record["path"]);
    unmount(&point);
}

pub(crate) fn unmount(point: &Path) {
    assert!(Command::new("umount").arg(point).status().expect("umount runs").success());
}
