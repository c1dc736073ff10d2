//! `trace` from outside: files from one format to another, what a trace shows, replays, and what is refused.

use crate::devices::Loop;
use crate::harness::{fixture, flashscope, left_out, scratch};
use serde_json::Value;
use std::path::Path;

const DONE: i32 = 0;
const CANNOT: i32 = 2;

fn mixed() -> String {
    fixture("traces/mixed.blkparse.txt")
}

fn json(arguments: &[&str], folder: &Path) -> Value {
    let run = flashscope(arguments).current_dir(folder).run();
    run.expect(DONE);
    serde_json::from_str(&run.stdout).expect("one JSON document")
}

/// What is said of a call that cannot be done.
fn refused(arguments: &[&str], folder: &Path) -> String {
    let run = flashscope(arguments).current_dir(folder).run();
    run.expect(CANNOT);
    run.stderr
}

#[test]
fn a_trace_is_the_same_in_every_format_that_holds_it() {
    let folder = scratch();
    let files = [fixture("traces/mixed.blktrace.0"), fixture("traces/mixed.blktrace.1")];
    flashscope(&["trace", "import", &files[0], &files[1], "-o", "a.trace"]).current_dir(&folder).run().expect(DONE);
    let figures = |file: &str| json(&["trace", "show", file, "--json"], &folder)["figures"].clone();
    let shown = figures("a.trace");
    assert_eq!(shown["requests"], 166);
    for format in ["blktrace", "blkparse"] {
        flashscope(&["trace", "export", "a.trace", "--as", format, "-o", format])
            .current_dir(&folder)
            .run()
            .expect(DONE);
        assert_eq!(figures(format), shown, "{format}");
    }
    let told = refused(&["trace", "export", "a.trace", "--as", "spc", "-o", "a.spc"], &folder);
    assert!(told.contains("spc holds no flush") && !folder.join("a.spc").exists(), "{told}");
}

#[test]
fn a_replay_in_virtual_time_is_the_same_to_the_byte() {
    let folder = scratch();
    let arguments = ["trace", "replay", &mixed(), "sim:ssd-consumer,capacity=256MiB", "--mode", "dependent", "--json"];
    let [one, other] = [(); 2].map(|()| flashscope(&arguments).current_dir(&folder).run().stdout);
    assert_eq!(one, other);
    let record: Value = serde_json::from_str(&one).unwrap();
    let replay = &record["replay"];
    assert_eq!(replay["figures"]["requests"], 166);
    assert_eq!(replay["order_violations"], 0, "a dependent replay keeps the order");
    assert_eq!(replay["mode"], "dependent");
    let split =
        json(&["trace", "replay", &mixed(), "sim:ssd-consumer,capacity=256MiB", "--split", "4KiB", "--json"], &folder);
    let figures = &split["replay"]["figures"];
    assert_eq!(figures["requests_of_4kib_ratio"], 1.0);
    assert_eq!(figures["kinds"][0]["bytes"], record["figures"]["kinds"][0]["bytes"], "no byte is lost on the way");
}

#[test]
fn a_larger_device_is_refused_scaled_or_wrapped() {
    let folder = scratch();
    let small = "sim:ssd-consumer,capacity=32MiB";
    let told = refused(&["trace", "replay", &mixed(), small], &folder);
    assert!(told.contains("lies beyond the device") && told.contains("--scale"), "{told}");
    for way in ["--scale", "--wrap"] {
        let record = json(&["trace", "replay", &mixed(), small, way, "--json"], &folder);
        assert_eq!(record["replay"]["figures"]["requests"], 166, "{way}");
    }
}

#[test]
fn a_cut_has_what_was_asked_for_and_a_merge_has_all() {
    let folder = scratch();
    let count = |file: &str| json(&["trace", "show", file, "--json"], &folder)["figures"]["requests"].clone();
    let cut = |arguments: &[&str], output: &str| {
        let mixed = mixed();
        let all = [&["trace", "cut", &mixed, "-o", output][..], arguments].concat();
        flashscope(&all).current_dir(&folder).run().expect(DONE);
        count(output)
    };
    assert_eq!(cut(&["--kinds", "read,write"], "data.trace"), 144);
    assert_eq!(cut(&["--count", "10"], "ten.trace"), 10);
    assert_eq!(cut(&["--kinds", "discard"], "trim.trace"), 4);
    flashscope(&["trace", "merge", "data.trace", "ten.trace", "--side-by-side", "-o", "both.trace"])
        .current_dir(&folder)
        .run()
        .expect(DONE);
    assert_eq!(count("both.trace"), 154);
}

#[test]
fn bad_traces_are_told() {
    let folder = scratch();
    let check = |name: &str, content: &[u8], words: &str| {
        std::fs::write(folder.join(name), content).unwrap();
        let told = refused(&["trace", "show", name], &folder);
        assert!(told.contains(words) && told.contains("hint: "), "{name}: {told}");
    };
    check("empty", b"", "is empty");
    check("text", b"hello\n", "no trace of a known format");
    flashscope(&["trace", "import", &mixed(), "-o", "a.trace"]).current_dir(&folder).run().expect(DONE);
    let whole = std::fs::read(folder.join("a.trace")).unwrap();
    check("cut", &whole[..whole.len() - 10], "the trace ends early: 166 requests before that are whole");
    flashscope(&["trace", "cut", "cut", "--keep-whole", "-o", "kept"]).current_dir(&folder).run().expect(DONE);
    let told = refused(&["trace", "show", "nowhere"], &folder);
    assert!(told.contains("there is no such file"), "{told}");
    let several = refused(&["trace", "show", &fixture("traces/example.spc.csv")], &folder);
    assert!(several.contains("--disk 0"), "{several}");
}

#[test]
fn nothing_is_written_to_a_file_without_consent() {
    let folder = scratch();
    let card = folder.join("card.img");
    std::fs::write(&card, vec![0u8; 128 << 20]).unwrap();
    let run = flashscope(&["trace", "replay", &mixed(), "card.img"]).current_dir(&folder).run();
    run.expect(3);
    assert!(std::fs::read(&card).unwrap().iter().all(|byte| *byte == 0));
}

#[test]
fn a_recording_of_what_is_no_disk_is_refused_and_leaves_nothing_on() {
    if !rustix::process::geteuid().is_root() {
        return left_out("trace record (it needs root)");
    }
    let folder = scratch();
    std::fs::write(folder.join("file"), b"x").unwrap();
    let told = refused(&["trace", "record", "--device", "file", "-o", "a.trace"], &folder);
    assert!(told.contains("no block device"), "{told}");
    flashscope(&["trace", "record", "--clean"]).run().expect(DONE);
}

/// A loop device that may be traced; `None`, with a word on what is left out, where this machine offers none.
fn traceable(test: &str) -> Option<Loop> {
    let device = Loop::new(test, 16)?;
    let folder = scratch();
    let words = ["trace", "record", "--device", &device.node, "-o", "it.trace", "--", "true"];
    let run = flashscope(&words).current_dir(&folder).run();
    // A kernel without tracing, or one that allows it to nobody.
    if run.code == Some(CANNOT) && run.stderr.contains("tracing") {
        left_out(&format!("{test} ({})", run.stderr.lines().next().unwrap_or_default()));
        return None;
    }
    run.expect(DONE);
    Some(device)
}

#[test]
fn what_a_device_is_given_is_recorded_and_given_again() {
    let Some(device) = traceable("trace record and replay on a loop device") else { return };
    let folder = scratch();
    let before = device.content();
    let to = format!("of={}", device.node);
    let dd = [
        "dd",
        "if=/dev/zero",
        &to,
        "bs=64k",
        "count=32",
        "seek=16",
        "oflag=direct",
        "conv=fsync,notrunc",
        "status=none",
    ];
    let record = ["trace", "record", "--device", &device.node, "-o", "dd.trace", "--json", "--"];
    let recorded = json(&[&record[..], &dd[..]].concat(), &folder);
    let of_kind = |figures: &Value, kind: &str| {
        let kinds = figures["kinds"].as_array().unwrap();
        kinds.iter().find(|one| one["op"] == kind).map(|one| (one["requests"].as_u64(), one["bytes"].as_u64()))
    };
    let figures = &recorded["figures"];
    assert_eq!(of_kind(figures, "write"), Some((Some(32), Some(2 << 20))), "{figures}");
    assert_eq!(figures["dropped_events"], 0);

    let consent = format!("--destroy-data={}", device.identity());
    let replay = ["trace", "replay", "dd.trace", &device.node, &consent, "--json"];
    let replayed = json(&replay, &folder)["replay"].clone();
    assert_eq!(of_kind(&replayed["figures"], "write"), Some((Some(32), Some(2 << 20))), "{replayed}");
    let (after, written) = (device.content(), (1 << 20)..(3 << 20));
    assert!(after[written.clone()].iter().any(|byte| *byte != 0), "the replay has written");
    assert_eq!(after[..written.start], before[..written.start], "in front of what the trace wrote");
    assert_eq!(after[written.end..], before[written.end..], "behind it");
}

#[test]
fn a_recording_that_was_killed_is_switched_off_by_the_next() {
    let Some(device) = traceable("trace record and kill -9") else { return };
    let folder = scratch();
    let begun = ["sh", "-c", "touch begun && exec sleep 20"];
    let words = [&["trace", "record", "--device", &device.node, "-o", "it.trace", "--"][..], &begun].concat();
    let mut killed = flashscope(&words).current_dir(&folder).command().spawn().unwrap();
    while !folder.join("begun").exists() {
        assert!(killed.try_wait().unwrap().is_none(), "it ended before its command began");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let clean = || {
        let run = flashscope(&["trace", "record", "--clean"]).run();
        run.expect(DONE);
        run.stdout + &run.stderr
    };
    let ours = format!("flashscope-{}-", killed.id());
    let told = clean();
    assert!(told.contains(&ours), "{told}");
    let told = clean();
    assert!(!told.contains(&ours), "{told}");
}
