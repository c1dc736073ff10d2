//! Bringing devices into states: files and loop devices that the tests make themselves, and simulated ones.

use crate::devices::Loop;
use crate::harness::{Run, flashscope, interrupt, let_work, scratch};
use serde_json::Value;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

const DONE: i32 = 0;
const MISSED: i32 = 1;
const CANNOT: i32 = 2;
const REFUSED: i32 = 3;
const MIB: u64 = 1 << 20;

fn card(folder: &Path, mib: u64) -> String {
    let path = folder.join("card.img");
    File::create(&path).and_then(|file| file.set_len(mib * MIB)).expect("a file of our own");
    path.to_str().expect("a plain path").to_owned()
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", run.stdout, run.stderr))
}

fn made(record: &Value) -> &Value {
    &record["state"]["made"]
}

#[test]
fn a_simulated_card_is_made_dirty_and_says_how() {
    let spec = "sim:sd-4mib,capacity=64MiB";
    let run = flashscope(&["state", spec, "--make", "dirty", "--json"]).run();
    run.expect(DONE);
    let record = json(&run);
    assert_eq!((&record["kind"], &record["state"]["name"]), (&"state".into(), &"dirty".into()));
    assert_eq!(made(&record)["reached"], true);
    let written: u64 =
        made(&record)["steps"].as_array().unwrap().iter().filter_map(|step| step["written_bytes"].as_u64()).sum();
    assert!((130 * MIB..142 * MIB).contains(&written), "{written}");
    assert_eq!(record["cost"]["written_bytes"], written);
    let again = flashscope(&["state", spec, "--make", "dirty", "--json"]).run();
    assert_eq!(run.stdout, again.stdout, "the same seed gives the same bytes");
    let text = flashscope(&["state", spec, "--make", "clean"]).run();
    text.expect(DONE);
    assert!(text.stdout.contains("state: made clean: purged by discard"), "{}", text.stdout);
    assert!(text.stdout.contains("64 of 64 marks are gone"), "{}", text.stdout);
}

#[test]
fn a_plan_is_told_before_anything_is_done() {
    let spec = "sim:sd-4mib,capacity=64MiB";
    let plan = json(&flashscope(&["state", spec, "--make", "steady", "--dry-run", "--json"]).run());
    assert_eq!(plan["steps"].as_array().map(Vec::len), Some(4));
    assert_eq!(plan["ladder"][0]["step"], "discard");
    assert!(plan["write_at_most_bytes"].as_u64().is_some_and(|most| most > 4 * 64 * MIB), "{plan}");
    let folder = scratch();
    let file = card(&folder, 8);
    let run = flashscope(&["state", &file, "--make", "aged", "--dry-run"]).run();
    run.expect(DONE);
    for said in ["writes at most 240 MiB", "share of the rated life: unknown", "needs --accept-wear", "more steps like"]
    {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
    assert_eq!(std::fs::metadata(&file).unwrap().blocks(), 0, "a plan writes nothing");
    let rated = ["state", &file, "--make", "aged", "--dry-run", "--rated-writes", "100GiB"];
    assert!(flashscope(&rated).run().stdout.contains("share of the rated life: 0.234 %"));
}

#[test]
fn what_is_not_consented_to_is_not_done() {
    let folder = scratch();
    let file = card(&folder, 8);
    let check = |options: &[&str], code: i32, said: &str| {
        let run = flashscope(&[&["state", &file, "--make"], options].concat()).run();
        run.expect(code);
        assert!(run.stderr.contains(said) && run.stderr.contains("hint: "), "{said}: {}", run.stderr);
        assert_eq!(std::fs::metadata(&file).unwrap().blocks(), 0, "{options:?} wrote something");
    };
    check(&["dirty"], REFUSED, "not allowed");
    check(&["aged", "--allow-write"], REFUSED, "--accept-wear");
    check(&["aged", "--allow-write", "--rated-writes", "1GiB"], REFUSED, "23.4 % of the rated life");
    check(&["dirty", "--allow-write", "--max-write", "10M"], CANNOT, "more than --max-write allows");
    check(&["young", "--allow-write"], CANNOT, "no device can be made young");
    check(&["dirty", "--read-only"], CANNOT, "--read-only");
}

/// Begins to age a file, and is stopped by `stop` when it has worked for a while.
fn begun(file: &str, folder: &Path, stop: impl FnOnce(&mut std::process::Child)) -> PathBuf {
    let words = ["state", file, "--make", "aged", "--passes", "400", "--allow-write", "--accept-wear"];
    let mut command = flashscope(&words).current_dir(folder).command();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let_work(&child, Duration::from_millis(300));
    stop(&mut child);
    child.wait().expect("it ends");
    let journal = folder.join("flashscope-card.img.making.json");
    assert!(journal.exists(), "a journal is left");
    journal
}

#[test]
fn what_was_killed_goes_on_and_only_on_the_same_part() {
    let folder = scratch();
    let file = card(&folder, 16);
    let journal = begun(&file, &folder, |child| child.kill().expect("SIGKILL"));
    let words = |file: &str, passes: &str| {
        let words = ["state", file, "--make", "aged", "--passes", passes, "--allow-write", "--accept-wear", "--json"];
        flashscope(&words).current_dir(&folder).run()
    };
    let elsewhere = scratch();
    let other = words(&card(&elsewhere, 16), "400");
    other.expect(REFUSED);
    assert!(other.stderr.contains("another part") && other.stderr.contains("hint: "), "{}", other.stderr);
    let another = words(&file, "401");
    another.expect(CANNOT);
    assert!(another.stderr.contains("begun with another passes: 400"), "{}", another.stderr);
    let run = words(&file, "400");
    run.expect(DONE);
    assert!(run.stderr.contains("going on where"), "{}", run.stderr);
    let record = json(&run);
    assert_eq!((&made(&record)["reached"], &made(&record)["sessions"]), (&true.into(), &2.into()));
    assert!(!journal.exists(), "what is over needs no journal");
}

#[test]
fn ctrl_c_keeps_what_was_done() {
    let folder = scratch();
    let file = card(&folder, 16);
    let journal = begun(&file, &folder, |child| interrupt(child));
    let text = std::fs::read_to_string(&journal).unwrap();
    assert!(text.starts_with("{\"schema\":\"flashscope.making/1\""), "{text}");
    std::fs::write(&journal, &text[..text.len() / 2]).unwrap();
    let words = ["state", &file, "--make", "aged", "--passes", "400", "--allow-write", "--accept-wear"];
    let run = flashscope(&words).current_dir(&folder).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("not a journal of this version"), "{}", run.stderr);
}

#[test]
fn a_loop_device_is_purged_by_a_discard() {
    let Some(device) = Loop::new("a_loop_device_is_purged_by_a_discard", 16) else { return };
    let identity = device.identity();
    let before = std::fs::metadata(&device.backing).unwrap().blocks();
    let run = flashscope(&["state", &device.node, "--make", "clean", "--json", "--destroy-data", &identity]).run();
    run.expect(DONE);
    let record = json(&run);
    assert_eq!((&made(&record)["reached"], &made(&record)["purge"]), (&true.into(), &"discard".into()));
    // The stronger step is tried first, and a loop device has none.
    assert_eq!(made(&record)["ladder"][0]["step"], "secure-discard");
    assert_eq!(made(&record)["ladder"][0]["reached"], false);
    let after = std::fs::metadata(&device.backing).unwrap().blocks();
    assert!(after < before / 4, "holes are punched: {before} blocks, then {after}");
    assert!(device.content().iter().all(|byte| *byte == 0));
}

#[test]
fn a_simulated_device_is_saved_in_the_state_and_found_in_it() {
    let folder = scratch();
    let spec = "sim:sd-4mib,capacity=64MiB,noise=none,state=./made.state";
    let run = |words: &[&str]| flashscope(words).current_dir(&folder).run();
    run(&["state", spec, "--make", "dirty"]).expect(DONE);
    let saved = std::fs::read(folder.join("made.state")).expect("it was saved");
    assert!(saved.starts_with(b"flashscope sim state"));
    assert!(!folder.join("made.state.making.json").exists());
    // What is measured on it leaves the file as it was, and what is made of it again replaces it.
    run(&["bench", spec, "--rw", "randread", "--count", "5", "--state", "clean"]).expect(DONE);
    assert!(std::fs::read(folder.join("made.state")).unwrap() == saved);
    run(&["state", spec, "--make", "clean"]).expect(DONE);
    let clean = std::fs::read(folder.join("made.state")).unwrap();
    assert!(clean != saved, "the same state after a purge");
    std::fs::write(folder.join("made.state"), "somebody else's").unwrap();
    assert_ne!(run(&["state", spec, "--make", "clean"]).code, Some(DONE));
}

#[test]
fn a_bench_runs_in_the_state_that_is_asked_for_each_time() {
    let spec = "sim:sd-4mib,capacity=64MiB";
    let words = ["bench", spec, "--rw", "randwrite", "--bs", "4k", "--count", "50", "--repeat", "3", "--json"];
    let run = flashscope(&[&words[..], &["--state", "clean"]].concat()).run();
    run.expect(DONE);
    let record = json(&run);
    assert_eq!(record["state"]["name"], "clean");
    assert_eq!(record["phases"][0]["runs"].as_array().map(Vec::len), Some(3));
    let orders: Vec<_> =
        record["phases"][0]["runs"].as_array().unwrap().iter().map(|run| run["order"].clone()).collect();
    assert_eq!(orders, [1, 2, 3].map(Value::from));
    // A purge before each of three runs, with 64 marks of 4 KiB.
    assert_eq!(record["cost"]["written_bytes"], 3 * (64 + 50) * 4096);
    let dirty = json(&flashscope(&[&words[..], &["--state", "dirty"]].concat()).run());
    // Random writes leave a dirty device dirty: it is made so once.
    let written = dirty["cost"]["written_bytes"].as_u64().unwrap();
    assert!((130 * MIB..142 * MIB).contains(&written), "{written}");
}

#[test]
fn a_measurement_in_a_state_that_cannot_be_had_is_none() {
    let folder = scratch();
    let model = folder.join("dead.toml");
    let shown = flashscope(&["sim", "show", "sd-4mib,capacity=64MiB"]).run().stdout;
    let text = format!("{shown}\n[discard]\neffect = \"kept\"\ngranularity = \"4KiB\"\ntime = \"1ms\"\n");
    std::fs::write(&model, text).unwrap();
    let spec = format!("sim:{}", model.display());
    let run = flashscope(&["bench", &spec, "--rw", "randread", "--count", "5", "--state", "clean"]).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("nothing was measured") && run.stderr.contains("hint: "), "{}", run.stderr);
    let made = flashscope(&["state", &spec, "--make", "clean"]).run();
    made.expect(MISSED);
    assert!(
        made.stdout.contains("NOT made clean") && made.stdout.contains("did nothing that shows"),
        "{}",
        made.stdout
    );
    let elsewhere =
        ["bench", "sim:sd-4mib", "--state", "clean", "--rw", "randread", "--count", "5", "--max-write", "64K"];
    let run = flashscope(&elsewhere).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("more than --max-write allows"), "{}", run.stderr);
}

#[test]
fn inspect_compare_and_sweep_measure_in_a_state() {
    let spec = "sim:sd-4mib,capacity=64MiB";
    let inspected = json(&flashscope(&["inspect", spec, "--state", "sequential", "--json", "--max-time", "1s"]).run());
    assert_eq!(inspected["state"]["name"], "sequential");
    let job = ["--rw", "randwrite", "--bs", "4k", "--count", "20", "--blocks", "3", "--state", "clean", "--json"];
    let compared = json(&flashscope(&[&["compare", spec, "sim:sd-24mib,capacity=96MiB"], &job[..]].concat()).run());
    assert_eq!(compared["state"]["name"], "clean");
    let swept = json(&flashscope(&[&["sweep", spec, "--vary", "iodepth=1,2"], &job[..]].concat()).run());
    assert_eq!(swept["state"]["name"], "clean");
}
