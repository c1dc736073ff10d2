//! Others who hold a device or file under another name, by a mapping without a descriptor, by a lock, or from above or below: all
//! are found by number. Provoked on loop devices and files made here, by child processes of this test program.
#![allow(unsafe_code)]

use crate::support::{Finally, Loop, Scratch, can_loop, machine, skip, try_run};
use flashscope_device::{Refusal, RefusalKind};
use flashscope_host::{SysRoot, safety};
use flashscope_units::Bytes;
use rustix::fs::{FlockOperation, fcntl_lock, flock};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const MIB: usize = 1 << 20;

/// What speaks against writing, by kind and words.
fn refusals(path: &Path) -> Vec<Refusal> {
    safety(&SysRoot::live(), path, Bytes::kib(64)).unwrap_or_else(|error| panic!("{error}")).report.refusals
}

fn expect(path: &Path, kind: RefusalKind, words: &str) {
    let found = refusals(path);
    let fits = |refusal: &Refusal| refusal.kind == kind && refusal.what.contains(words);
    assert!(found.iter().any(fits), "no {kind:?} with '{words}' among {found:#?}");
}

const HOW: &str = "FLASHSCOPE_TEST_HOLD";
const WHAT: &str = "FLASHSCOPE_TEST_HELD";

/// Not a test of its own: what the children of the tests below do. They hold a file in one way until they are ended.
#[test]
fn child() {
    let (Ok(how), Ok(what)) = (std::env::var(HOW), std::env::var(WHAT)) else { return };
    let file = File::options().read(true).write(how != "locked, read only").open(what).unwrap();
    match how.as_str() {
        "open" => {}
        "flock" => flock(&file, FlockOperation::LockExclusive).unwrap(),
        "posix lock" => fcntl_lock(&file, FlockOperation::LockExclusive).unwrap(),
        "locked, read only" => flock(&file, FlockOperation::LockShared).unwrap(),
        "map" => {
            // SAFETY: a new mapping at a place of the kernel's choice, never touched.
            unsafe { mmap(std::ptr::null_mut(), 4096, ProtFlags::READ, MapFlags::SHARED, &file, 0) }.unwrap();
        }
        other => panic!("{other}"),
    }
    let _held = (how != "map").then_some(file);
    say_so_and_wait();
}

#[allow(clippy::print_stdout)]
fn say_so_and_wait() {
    println!("\nholding");
    loop {
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
}

/// A child that holds a file, ended with this.
struct Holder(Child);

impl Holder {
    fn new(how: &str, what: &Path) -> Holder {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "openers::child", "--nocapture"])
            .env(HOW, how)
            .env(WHAT, what)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "holding"), "the child does not hold {}", what.display());
        Holder(child)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A node for the same device outside `/dev`.
fn another_node(scratch: &Scratch, device: &Loop) -> Option<PathBuf> {
    let node = scratch.0.join("node");
    let number = fs::read_to_string(device.sysfs().join("dev")).unwrap();
    let (major, minor) = number.trim().split_once(':').unwrap();
    let made = try_run("mknod", &[node.to_str().unwrap(), "b", major, minor]) && File::open(&node).is_ok();
    made.then_some(node)
}

#[test]
fn a_node_outside_dev() {
    let test = "a_node_outside_dev";
    if !can_loop(test) {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let device = Loop::new(&scratch.file("disk", 4 * MIB));
    let Some(node) = another_node(&scratch, &device) else { return skip(test, "no node can be made or opened here") };
    for how in ["open", "map"] {
        let _holder = Holder::new(how, &node);
        expect(&device.path, RefusalKind::Busy, "opened for writing by");
    }
    // By name there is nothing left to find.
    let _holder = Holder::new("map", &node);
    fs::remove_file(&node).unwrap();
    expect(&device.path, RefusalKind::Busy, "by a shared mapping");
}

#[test]
fn a_loop_device_over_a_node_that_is_gone() {
    let test = "a_loop_device_over_a_node_that_is_gone";
    if !can_loop(test) {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let below = Loop::new(&scratch.file("disk", 4 * MIB));
    let Some(node) = another_node(&scratch, &below) else { return skip(test, "no node can be made or opened here") };
    let above = Loop::new(&node);
    fs::remove_file(&node).unwrap();
    expect(&below.path, RefusalKind::LoopBacked, &format!("backs the loop device {}", above.name()));
    // From above: what it stands on is found, and is not in use by anyone else yet.
    assert_eq!(refusals(&above.path), []);
    let _third = Loop::new(&below.path);
    expect(&above.path, RefusalKind::LoopBacked, "stands on something that is in use");
}

#[test]
fn mapped_without_a_descriptor() {
    let scratch = Scratch::new();
    let file = scratch.file("plain", MIB);
    assert_eq!(refusals(&file), []);
    let _holder = Holder::new("map", &file);
    expect(&file, RefusalKind::Busy, "by a shared mapping");
}

#[test]
fn open_under_another_name() {
    let scratch = Scratch::new();
    let file = scratch.file("plain", MIB);
    let link = scratch.0.join("hard link");
    fs::hard_link(&file, &link).unwrap();
    {
        let _holder = Holder::new("open", &link);
        expect(&file, RefusalKind::Busy, "opened for writing by");
    }
    let (test, elsewhere) = ("open_under_another_name", scratch.directory("elsewhere"));
    let binds = ["--bind", scratch.0.to_str().unwrap(), elsewhere.to_str().unwrap()];
    if !try_run("mount", &binds) {
        return skip(test, "the part on bind mounts: nothing can be mounted");
    }
    let _umount = Finally::run(&["umount", "--lazy", elsewhere.to_str().unwrap()]);
    let _holder = Holder::new("open", &elsewhere.join("plain"));
    expect(&file, RefusalKind::Busy, "opened for writing by");
}

#[test]
fn locked_by_another_process() {
    let scratch = Scratch::new();
    let file = scratch.file("plain", MIB);
    for how in ["flock", "posix lock", "locked, read only"] {
        let _holder = Holder::new(how, &file);
        expect(&file, RefusalKind::Busy, "locked by");
    }
    assert_eq!(refusals(&file), []);
}

#[test]
fn the_file_below_a_loop_device() {
    if !can_loop("the_file_below_a_loop_device") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let file = scratch.file("disk", 4 * MIB);
    let device = Loop::new(&file);
    let above = Loop::new(&device.path);
    for (how, words) in [
        ("open", "opened for writing by"),
        ("map", "by a shared mapping"),
        ("flock", "locked by"),
        ("locked, read only", "locked by"),
    ] {
        let _holder = Holder::new(how, &file);
        expect(&device.path, RefusalKind::Busy, words);
        expect(&above.path, RefusalKind::Busy, words);
        expect(&device.path, RefusalKind::Busy, &format!("{}, which {} stands on", file.display(), device.name()));
    }
    drop(above);
    assert_eq!(refusals(&device.path), []);
}
