//! `app` on block devices and on simulated ones: consent, the file system that is made, what the device is given, and what every
//! kind of end leaves behind: nothing.

use crate::app::{player_of, record, until, with_player};
use crate::devices::{Loop, Mounted, alone};
use crate::harness::{Run, flashscope, interrupt, left_out, scratch};
use crate::presets::with_transactions;
use crate::under;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const DONE: i32 = 0;
const FAILED: i32 = 1;
const CANNOT: i32 = 2;
const REFUSED: i32 = 3;
pub(crate) const CARD: &str = "sim:sd-4mib,capacity=256MiB";

/// Whether a simulated device can be emulated and given a file system; said where it cannot.
pub(crate) fn can_emulate() -> bool {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    let has_all = ["/dev/fuse", "/dev/loop-control", "/usr/sbin/mkfs.ext4"].iter().all(|path| Path::new(path).exists());
    if !is_root || !has_all {
        left_out("apps on simulated devices (not root, or no /dev/fuse, loop devices or mkfs.ext4)");
    }
    is_root && has_all
}

/// What is left of apps on devices: loop devices on the file of an emulator, and mounts of this device in any process.
pub(crate) fn left(node: &str) -> Vec<String> {
    let loops = Command::new("losetup").args(["--noheadings", "--output", "NAME,BACK-FILE"]).output().expect("it runs");
    let loops = String::from_utf8_lossy(&loops.stdout).into_owned();
    let emulated = loops.lines().filter(|line| line.split_whitespace().nth(1) == Some("/disk")).map(str::to_owned);
    let mounts = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).filter_map(|process| {
        let table = std::fs::read_to_string(process.path().join("mountinfo")).ok()?;
        table.lines().find(|line| line.split(' ').any(|word| word == node)).map(str::to_owned)
    });
    emulated.chain(mounts).collect()
}

/// Reads and writes by class of sizes.
type Counts = BTreeMap<(String, String), (u64, u64)>;

fn class_of(length: u64) -> &'static str {
    match length {
        0..=8192 => "small",
        8193..=65_536 => "middle",
        65_537..=524_288 => "large",
        _ => "huge",
    }
}

/// Reads and writes of a trace in the words of `blkparse`: when each was issued, in ns, which it was, and how long.
fn requests(table: &str) -> Vec<(u64, &'static str, u64)> {
    let request = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let ["D", letters] = fields.get(5..7)? else { return None };
        let kind = match letters.as_bytes()[0] {
            b'R' => "read",
            b'W' => "write",
            _ => return None,
        };
        let (seconds, rest) = fields[3].split_once('.')?;
        let at = seconds.parse::<u64>().ok()? * 1_000_000_000 + rest.parse::<u64>().ok()?;
        Some((at, kind, fields[9].parse::<u64>().ok()? * 512))
    };
    table.lines().filter_map(request).collect()
}

/// Counts those that were issued within these times.
fn counted(table: &str, from: u64, to: u64) -> Counts {
    let mut counts = Counts::new();
    for (_, kind, length) in requests(table).into_iter().filter(|(at, ..)| (from..to).contains(at)) {
        let count = counts.entry((kind.to_owned(), class_of(length).to_owned())).or_default();
        *count = (count.0 + 1, count.1 + length);
    }
    counts
}

/// The same as a record has it.
fn told(classes: &Value, kind: &str, size: &str) -> Counts {
    let word = |class: &Value, name: &str| class[name].as_str().expect("a word").to_owned();
    let count = |class: &Value, name: &str| class[name].as_u64().expect("a count");
    let row =
        |class: &Value| ((word(class, kind), word(class, size)), (count(class, "requests"), count(class, "bytes")));
    classes.as_array().expect("classes").iter().map(row).collect()
}

/// A trace as a table.
fn table(trace: &Path) -> String {
    let to = trace.with_extension("txt");
    let paths = [trace, &to].map(|path| path.to_str().expect("a plain path").to_owned());
    flashscope(&["trace", "export", &paths[0], "--as", "blkparse", "-o", &paths[1]]).run().expect(DONE);
    std::fs::read_to_string(to).expect("exported")
}

/// Every run of a record has the counts that its trace has in its time, and the app has their sum.
fn expect_counts(record: &Value, table: &str) {
    let mut sum = Counts::new();
    for run in record["app_runs"].as_array().expect("runs") {
        let given = &run["given"];
        let time = |name: &str| given[name].as_u64().expect("a time");
        let counts = told(&given["chunk_classes"], "op", "class");
        assert_eq!(counts, counted(table, time("from_ns"), time("to_ns")), "{given}");
        assert!(counts.keys().any(|(kind, _)| kind == "write"), "{given}");
        for (class, (requests, bytes)) in counts {
            let all = sum.entry(class).or_default();
            *all = (all.0 + requests, all.1 + bytes);
        }
    }
    assert_eq!(told(&record["figures"][0]["chunk_classes"], "kind", "size"), sum);
}

#[test]
fn a_device_is_given_a_file_system_with_consent_alone_and_nothing_is_left() {
    with_player();
    let Some(device) = Loop::new("app on a loop device", 256) else { return };
    let before = device.content();
    let words = ["app", "contacts", &device.node, "--rounds", "10", "--repeat", "2"];
    let run = flashscope(&words).run();
    run.expect(REFUSED);
    assert!(run.stderr.contains("--destroy-data"), "{}", run.stderr);
    let consent = format!("--destroy-data={}", device.identity());
    let of_xfs = if under::can("mkfs.xfs", "xfs") { "it takes 300 MiB" } else { "xfs" };
    for (fs, said) in [("zfs", "hint: one of ext4, xfs"), ("xfs", of_xfs), ("f2fs", "f2fs")] {
        let run = flashscope(&[&words[..], &[&consent, "--fs", fs]].concat()).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(said) && run.stderr.contains("hint: "), "{fs}: {}", run.stderr);
    }
    assert!(device.content() == before, "not one byte may change");
    drop(before);

    let trace = scratch().join("app.trace");
    let more = [&consent, "--trace", trace.to_str().unwrap(), "--fs-options", "noatime", "--json"];
    let run = flashscope(&[&words[..], &more].concat()).run();
    run.expect(DONE);
    let told = record(&run);
    let place = &told["place"];
    assert_eq!((&place["file_system"], &place["directory"]), (&"ext4".into(), &Value::Null), "{place}");
    assert_eq!(place["block_device"], device.node.as_str());
    assert!(place["mount_options"].as_array().unwrap().contains(&"noatime".into()), "{place}");
    expect_counts(&told, &table(&trace));
    assert_eq!(left(&device.node), Vec::<String>::new());

    // A file system stands there now: that is consented to by itself. A suite keeps its file system from run to run.
    flashscope(&[&words[..], &[&consent]].concat()).run().expect(REFUSED);
    let words = ["app", "suite", "light", &device.node, "--repeat", "1", "--sequence", "main,main", "--count", "web=0"];
    let more = [&consent, "--destroy-signatures", "--count", "camera=1", "--count", "contacts=2", "--json"];
    let run = flashscope(&[&words[..], &more].concat()).run();
    run.expect(DONE);
    assert_eq!(record(&run)["app_runs"].as_array().unwrap().len(), 8);
    assert_eq!(left(&device.node), Vec::<String>::new());
}

#[test]
fn what_a_simulated_device_is_given_equals_its_emulators_own_account() {
    with_player();
    if !can_emulate() {
        return;
    }
    let _alone = alone();
    let trace = scratch().join("app.trace");
    let trace_path = trace.to_str().unwrap();
    let words = ["app", "camera", CARD, "--rounds", "1", "--repeat", "2", "--speed", "max", "--trace", trace_path];
    let run = flashscope(&[&words[..], &["--json"]].concat()).run();
    run.expect(DONE);
    let told = record(&run);
    let table = table(&trace);
    expect_counts(&told, &table);
    // The emulator counts its requests apart from its log.
    let conditions = &told["conditions"]["after"];
    let condition = |name: &str| {
        let found = conditions.as_array().expect("a list").iter().find(|one| one["name"] == name);
        found.and_then(|one| Some(one["value"].as_str()?.to_owned()))
    };
    let count = |kind: &str| {
        let own = requests(&table).into_iter().filter(|(_, other, _)| *other == kind).count();
        (own.to_string(), condition(&format!("emulation_{kind}s")))
    };
    for kind in ["read", "write"] {
        let (own, emulators) = count(kind);
        assert_eq!(Some(own), emulators, "{conditions}");
    }
    assert_eq!((&told["place"]["file_system"], &told["place"]["directory"]), (&"ext4".into(), &Value::Null));
    assert!(condition("emulated").is_some_and(|model| model.starts_with("sd-4mib")), "{conditions}");
    assert!(told["place"]["remarks"][0].as_str().is_some_and(|said| said.contains("does not keep time")));
    let given: u64 = told["app_runs"][0]["given"]["chunk_classes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|class| class["op"] == "write")
        .map(|class| class["bytes"].as_u64().unwrap())
        .sum();
    // Two photos, five of a burst, and a piece of video: what was written through to the device at least.
    assert!(given > 10 << 20, "{given}");
    assert_eq!(left("nowhere"), Vec::<String>::new());
    // Another device, to which all of it is given.
    flashscope(&["trace", "replay", trace_path, "sim:emmc-phone", "--json"]).run().expect(DONE);
}

#[test]
fn no_room_and_a_device_that_fails_are_said() {
    with_player();
    if !can_emulate() {
        return;
    }
    let _alone = alone();
    let run = flashscope(&["app", "ota", "sim:sd-4mib,capacity=64MiB", "--speed", "max"]).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("not one round has room"), "{}", run.stderr);
    let words = ["app", "camera", "sim:sd-4mib,capacity=128MiB", "--speed", "max", "--rounds", "90", "--repeat", "1"];
    let run = flashscope(&words).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("hint: --scale plays the "), "{}", run.stderr);
    let run = flashscope(&[&words[..], &["--scale", "--json"]].concat()).run();
    run.expect(DONE);
    assert!(record(&run)["plan"]["apps"][0]["rounds"].as_u64().is_some_and(|rounds| rounds < 90));
    // It goes away while the app is played: an outcome, and what was played stands.
    let gone = format!("{CARD},vanish_after=400");
    let run = flashscope(&["app", "contacts", &gone, "--speed", "max", "--json"]).run();
    assert!(matches!(run.code, Some(FAILED | CANNOT)), "{:?}: {}", run.code, run.stderr);
    let told = record(&run);
    assert!(told["app_runs"][0]["ended_by"].is_string() || told["app_runs"][0]["failures"][0].is_object(), "{told}");
    assert_eq!(left("nowhere"), Vec::<String>::new());
}

fn playing(words: &[&str]) -> Child {
    // Long enough not to be over by itself, however long the test is kept waiting.
    let mut command = flashscope(&[&["app", "web", "--repeat", "100"], words].concat()).command();
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    until("it plays", || player_of(child.id()).is_some());
    std::thread::sleep(Duration::from_millis(1500));
    child
}

#[test]
fn neither_an_interrupt_nor_a_kill_leaves_anything() {
    with_player();
    let Some(device) = Loop::new("ends of app on a loop device", 512) else { return };
    let consent = format!("--destroy-data={}", device.identity());
    let on_device = [&device.node[..], &consent, "--destroy-signatures"];
    let simulated = ["sim:sd-4mib,capacity=512MiB", "--speed", "4"];
    for words in [&on_device[..], &simulated].into_iter().take(if can_emulate() { 2 } else { 1 }) {
        let child = playing(words);
        interrupt(&child);
        let run = Run::from(child.wait_with_output().expect("it ends"));
        run.expect(CANNOT);
        assert!(run.stderr.contains("interrupted"), "{}", run.stderr);
        assert_eq!(left(&device.node), Vec::<String>::new(), "{words:?}");

        let mut child = playing(words);
        child.kill().expect("killed");
        child.wait().expect("gone");
        until("something is left after a kill", || left(&device.node).is_empty());
    }
}

#[test]
fn the_transactions_of_a_preset_are_played_on_an_emulated_device() {
    if !can_emulate() {
        return;
    }
    with_player();
    let _alone = alone();
    let folder = scratch();
    with_transactions(&folder);
    let words = ["bench", "sim:emmc-phone,capacity=256MiB", "--preset", "./mine.toml", "--json"];
    let run = flashscope(&words).current_dir(&folder).run();
    run.expect(DONE);
    let preset = &record(&run)["preset"];
    assert_eq!(preset["played"]["place"]["file_system"], "ext4", "{preset}");
    let figures = preset["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 3);
    assert!(
        figures.iter().all(|figure| figure["values"].as_array().is_some_and(|values| values.len() == 2)),
        "{preset}"
    );
    let runs = preset["played"]["app_runs"].as_array().unwrap();
    assert!(runs.iter().all(|run| run["given"]["chunk_classes"].as_array().is_some_and(|given| !given.is_empty())));
}

#[test]
fn an_app_is_played_on_a_device_that_was_brought_into_a_state() {
    if !can_emulate() {
        return;
    }
    with_player();
    let _alone = alone();
    let words = ["app", "contacts", "sim:emmc-phone,capacity=256MiB", "--rounds", "8", "--state", "dirty", "--json"];
    let run = flashscope(&words).run();
    run.expect(DONE);
    let dirty = record(&run);
    assert_eq!((&dirty["state"]["name"], &dirty["state"]["made"]["reached"]), (&"dirty".into(), &true.into()));
    let folder = scratch();
    let run = flashscope(&["app", "contacts", folder.to_str().unwrap(), "--state", "dirty"]).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("leave out --state"), "{}", run.stderr);
}

#[test]
fn in_a_directory_the_kernel_writes_down_what_its_device_is_given() {
    let Some(mounted) = Mounted::new("a trace of an app in a directory", 64) else { return };
    with_player();
    let trace = scratch().join("app.trace");
    let words = ["app", "contacts", mounted.path(), "--rounds", "10", "--repeat", "2", "--json", "--trace"];
    let run = flashscope(&[&words[..], &[trace.to_str().unwrap()]].concat()).run();
    run.expect(DONE);
    let told = record(&run);
    assert_eq!(told["place"]["directory"], mounted.path());
    expect_counts(&told, &table(&trace));
}

#[test]
fn errors_of_the_device_are_outcomes_that_the_app_goes_on_from_until_its_file_system_is_read_only() {
    if !can_emulate() {
        return;
    }
    with_player();
    let _alone = alone();
    let words =
        ["app", "contacts", "sim:emmc-phone,capacity=256MiB,vanish_after=600", "--rounds", "40", "--repeat", "1"];
    let run = flashscope(&[&words[..], &["--json"]].concat()).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("the record holds what was measured until then"), "{}", run.stderr);
    let told = record(&run);
    let app = &told["app_runs"][0];
    let failures = app["failures"].as_array().unwrap();
    // It goes on with further operations after the first that fails, and what came before counts.
    assert!(failures.len() > 1 && failures[0]["what"].as_str().unwrap().contains("disk I/O error"), "{app}");
    assert!(!app["operations"][0]["response_time_ns"].as_array().unwrap().is_empty(), "{app}");
    assert!(app["ended_by"].as_str().unwrap().contains("EROFS"), "{app}");

    // A device on which no file system can be made is said, with what to do.
    let run = flashscope(&["app", "contacts", "sim:emmc-phone,capacity=256MiB,failing=0.02"]).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("mkfs.ext4") && run.stderr.contains("hint: "), "{}", run.stderr);
    assert_eq!(left("/disk"), Vec::<String>::new());

    // A fake that loses what is written makes a file system that cannot be mounted.
    let fake = "sim:emmc-phone,capacity=512MiB,fake=limbo,real_capacity=64MiB,beyond=garbage";
    let run = flashscope(&["app", "install", fake, "--rounds", "1", "--speed", "max"]).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("cannot mount") && run.stderr.contains("flashscope capacity"), "{}", run.stderr);
}
