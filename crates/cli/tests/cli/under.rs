//! `integrity --under`: a real file system and a real database on devices whose faults are known. Who is to blame must be told: the
//! device, what stands on it, or nobody.

use crate::devices::alone;
use crate::harness::{Run, flashscope, interrupt, left_out};
use crate::power::Card;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const KEPT: i32 = 0;
const BROKEN: i32 = 1;
const CANNOT: i32 = 2;
const CARD: &str = "sim:sd-4mib,capacity=64MiB";
const LARGE: &str = "sim:sd-4mib,capacity=512MiB";
/// A cache that loses everything that was not flushed, in any order: the hardest that the promise allows.
const HONEST: &str = "write_cache=1MiB,drain_after=never,reordered=true";

/// Whether there can be one, with all that these need; said where there cannot.
pub(crate) fn can(program: &str, file_system: &str) -> bool {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    let has_devices = ["/dev/fuse", "/dev/loop-control"].iter().all(|path| Path::new(path).exists());
    let has_program =
        ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].iter().any(|folder| Path::new(folder).join(program).exists());
    let kernel = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let has_kernel = kernel.lines().any(|line| line.trim() == file_system);
    let missing = match (is_root, has_devices, has_program, has_kernel) {
        (false, ..) => "not root",
        (_, false, ..) => "no /dev/fuse, or no loop devices",
        (_, _, false, _) => "its program is not installed",
        (.., false) => "this kernel has no such file system",
        _ => return true,
    };
    left_out(&format!("power cuts under {file_system} by {program} ({missing})"));
    false
}

fn run(target: &str, under: &str, cuts: u32, more: &[&str]) -> Run {
    // It takes whichever loop device is free, which another test may just have given back to take it again.
    let _alone = alone();
    let cuts = cuts.to_string();
    flashscope(&[&["integrity", target, "--under", under, "-n", &cuts, "--json"], more].concat()).run()
}

fn record(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}\n{}", run.stdout, run.stderr))
}

/// Expects who is to blame, by the exit code as well, and that every cut was judged.
fn expect(run: &Run, blame: &str, cuts: usize) -> Value {
    run.expect(if blame == "nobody" { KEPT } else { BROKEN });
    let record = record(run);
    let under = &record["under"];
    assert_eq!(under["blame"], blame, "{under:#}\n{}", record["verdict"]);
    assert_eq!((under["cuts"].as_array().unwrap().len(), &record["verdict"]["ended"]), (cuts, &Value::Null));
    assert!(under["acknowledged_steps"].as_u64() >= Some(4 * cuts as u64), "{under:#}");
    let device_broke = record["verdict"]["broken_cuts"].as_u64() > Some(0);
    assert_eq!(device_broke, blame == "device", "{}", record["verdict"]);
    record
}

#[test]
fn honest_devices_are_not_accused_and_neither_is_what_stands_on_them() {
    for (program, file_system, under, target, caches) in [
        ("mkfs.ext4", "ext4", "ext4", CARD, &[HONEST, "write_cache=1MiB,drain_after=5s", "write_cache=none"][..]),
        ("sqlite3", "ext4", "sqlite", CARD, &[HONEST]),
        ("mkfs.xfs", "xfs", "xfs", LARGE, &[HONEST]),
        ("mkfs.btrfs", "btrfs", "btrfs", LARGE, &[HONEST]),
    ] {
        for cache in caches.iter().filter(|_| can(program, file_system)) {
            let run = run(&format!("{target},{cache}"), under, 4, &[]);
            expect(&run, "nobody", 4);
        }
    }
}

#[test]
fn a_device_that_breaks_its_promise_is_told_from_the_file_system_on_it() {
    if !can("mkfs.ext4", "ext4") {
        return;
    }
    for fault in ["lost=0.1", "write_cache=1MiB,drain_after=never,lying_flush=true"] {
        let run = run(&format!("{CARD},{fault}"), "ext4", 4, &[]);
        let record = expect(&run, "device", 4);
        assert!(record["verdict"]["faults"].to_string().contains("lost_flushed"), "{fault}: {}", record["verdict"]);
    }
    if can("sqlite3", "ext4") {
        expect(&run(&format!("{CARD},lost=0.1"), "sqlite", 4, &[]), "device", 4);
    }
}

#[test]
fn what_is_told_not_to_keep_its_word_is_to_blame_and_the_device_is_not() {
    if can("mkfs.ext4", "ext4") {
        let target = format!("{CARD},{HONEST}");
        let run = run(&target, "ext4", 4, &["--under-options", "nobarrier"]);
        let record = expect(&run, "above", 4);
        let schema: Value = serde_json::from_str(&flashscope(&["schema", "integrity"]).run().stdout).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let problems: Vec<String> = validator.iter_errors(&record).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{problems:?}");
        let call = ["integrity", &target, "--under", "ext4", "-n", "3", "--under-options", "nobarrier", "-o", "r.html"];
        let folder = crate::harness::scratch();
        let run = flashscope(&call).current_dir(&folder).env("COLUMNS", "80").run();
        run.expect(BROKEN);
        let first: String = run.stdout.lines().take(4).collect::<Vec<_>>().join(" ");
        assert!(first.contains("the device kept its promise") && first.contains("LOST ACKNOWLEDGED DATA"), "{first}");
        assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
        assert!(fs::read_to_string(folder.join("r.html")).unwrap().contains("What ext4 lost"));
    }
    if can("sqlite3", "ext4") {
        // The second one is what SQLite's own manual says of this journal mode.
        for options in ["synchronous=OFF", "journal_mode=DELETE,synchronous=FULL"] {
            expect(&run(&format!("{CARD},{HONEST}"), "sqlite", 8, &["--under-options", options]), "above", 8);
        }
    }
}

#[test]
fn through_the_loop_device_of_an_emulated_card_the_device_is_told_as_well() {
    if !can("mkfs.ext4", "ext4") {
        return;
    }
    let more = ["--under", "ext4", "--size", "32MiB", "-n", "1", "--json"];
    let Some(card) = Card::new("lost=0.3", 1, true) else { return };
    let run = card.integrity(&card.off(), &card.on(), &more);
    expect(&run, "device", 1);
    drop(card);
    let Some(card) = Card::new(HONEST, 1, true) else { return };
    let run = card.integrity(&card.off(), &card.on(), &more);
    expect(&run, "nobody", 1);
    assert!(card.journals().is_empty() && card.answers(), "all is as it was");
}

/// The process that a run has mounted something with, and on which device.
fn worker(run: &Child) -> Option<(u32, String)> {
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", run.id())).ok()?;
    children.split_whitespace().find_map(|child| {
        let mounts = fs::read_to_string(format!("/proc/{child}/mountinfo")).ok()?;
        let line = mounts.lines().find(|line| line.contains(" /mnt ") && line.contains("/dev/loop"))?;
        let device = line.split(" - ").nth(1)?.split(' ').nth(1)?;
        Some((child.parse().ok()?, device.strip_prefix("/dev/")?.to_owned()))
    })
}

fn within(time: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < time, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn whoever_ends_it_leaves_nothing_behind() {
    if !can("mkfs.ext4", "ext4") {
        return;
    }
    for is_killed in [true, false] {
        let target = format!("{CARD},{HONEST}");
        let _alone = alone();
        let mut command = flashscope(&["integrity", &target, "--under", "ext4", "-n", "5000"]).command();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut mounted = None;
        within(Duration::from_secs(60), "it never mounted anything", || {
            mounted = worker(&child);
            mounted.is_some()
        });
        let (worker, device) = mounted.unwrap();
        assert!(
            !fs::read_to_string("/proc/self/mounts").unwrap().contains(&format!("/dev/{device} /mnt")),
            "nobody else sees it"
        );
        if is_killed {
            child.kill().unwrap()
        } else {
            interrupt(&child)
        }
        let ended = child.wait().unwrap();
        assert_eq!(ended.code(), if is_killed { None } else { Some(CANNOT) });
        within(Duration::from_secs(20), "its process stays", || {
            // It has a number until its new parent has asked what became of it.
            fs::read_to_string(format!("/proc/{worker}/cmdline")).is_ok_and(|words| words.is_empty())
                || !Path::new(&format!("/proc/{worker}")).exists()
        });
        let backing = format!("/sys/block/{device}/loop/backing_file");
        within(Duration::from_secs(20), "its loop device stays", || !Path::new(&backing).exists());
    }
}

#[test]
fn what_cannot_be_is_refused_with_a_hint() {
    if !can("mkfs.ext4", "ext4") || !can("mkfs.xfs", "xfs") {
        return;
    }
    let check = |arguments: &[&str], says: &str| {
        let run = flashscope(&[&["integrity", CARD], arguments].concat()).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(says), "{arguments:?}: {}", run.stderr);
    };
    check(&["--under", "ntfs"], "ext4, xfs, btrfs, sqlite");
    check(&["--under", "xfs"], "is too small for xfs: it takes 300 MiB");
    check(&["--under", "ext4", "--offset", "60MiB", "--size", "32MiB"], "do not lie inside");
    check(&["--under", "ext4", "--replay", "3"], "never comes again from a seed");
    check(&["--under", "ext4", "--under-options", "nonsense=1", "-n", "2"], "cannot mount");
    check(&["--under", "sqlite", "--under-options", "fast"], "is no option of SQLite");
    check(&["--under-options", "nobarrier"], "--under");
    let run = flashscope(&["integrity", CARD, "--under", "sqlite"]).env("PATH", "/nowhere").run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("`sqlite3` is not installed\nhint: `apt install sqlite3`"), "{}", run.stderr);
}
