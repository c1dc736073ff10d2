//! `mem stress`: memory alone, with planted flips, and with devices whose faults are known.

use crate::harness::{Run, flashscope, scratch};
use serde_json::Value;
use std::collections::BTreeSet;

const DONE: i32 = 0;
const FAILED: i32 = 1;
const CANNOT: i32 = 2;
const REFUSED: i32 = 3;

/// A test of a little memory for a moment.
fn stress(more: &[&str]) -> Run {
    let args = ["mem", "stress", "--memory", "16MiB", "--for", "300ms", "--threads", "1"];
    flashscope(&[&args[..], more].concat()).run()
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", run.stdout, run.stderr))
}

/// The causes that are named.
fn causes(record: &Value) -> BTreeSet<String> {
    let errors = record["stress"]["errors"].as_array().expect("errors");
    errors.iter().filter_map(|error| error["cause"].as_str().map(str::to_owned)).collect()
}

#[test]
fn nothing_is_wrong_with_memory_that_nothing_is_planted_in() {
    let run = stress(&[]);
    run.expect(DONE);
    let first = run.stdout.lines().next().unwrap_or_default();
    assert!(first.contains("errors") && first.contains("none"), "{}", run.stdout);
    assert!(run.stdout.contains("left to others"), "{}", run.stdout);
}

#[test]
fn every_planted_flip_is_found_and_named() {
    for (kind, cause) in
        [("cell:3", "memory_cell"), ("buffer:3", "memory_cell"), ("path:3", "memory_path"), ("copy:3", "memory_path")]
    {
        let run = stress(&["--plant", kind, "--json"]);
        run.expect(FAILED);
        let record = json(&run);
        let stress = &record["stress"];
        assert_eq!((stress["planted"].as_u64(), stress["planted_found"].as_u64()), (Some(3), Some(3)), "{kind}");
        assert_eq!(causes(&record), BTreeSet::from([cause.to_owned()]), "{kind}");
    }
}

#[test]
fn faults_of_a_simulated_device_are_the_storage_mediums() {
    for fault in ["write_cache=mapping", "fake=damaged,damaged=0.02", "misdirected=0.2"] {
        let with = format!("sim:sd-4mib,capacity=64MiB,{fault}");
        let run = stress(&["--with", &with, "--size", "4MiB", "--json"]);
        let record = json(&run);
        let is_honest = fault.starts_with("write_cache");
        run.expect(if is_honest { DONE } else { FAILED });
        let expect = if is_honest { BTreeSet::new() } else { BTreeSet::from(["storage_medium".to_owned()]) };
        assert_eq!(causes(&record), expect, "{fault}");
        let storage = &record["stress"]["storage"];
        assert!(storage["rounds"].as_u64() >= Some(1) && storage["power_cuts"].as_u64() >= Some(1), "{storage}");
    }
}

#[test]
fn a_file_takes_part_where_that_is_allowed() {
    let folder = scratch();
    let file = folder.join("device");
    std::fs::write(&file, vec![0; 8 << 20]).unwrap();
    let name = file.to_str().expect("a plain path");
    stress(&["--with", name, "--size", "2MiB", "--allow-cached"]).expect(REFUSED);
    assert!(std::fs::read(&file).unwrap().iter().all(|byte| *byte == 0), "nothing was written");
    let run = stress(&["--with", name, "--size", "2MiB", "--allow-write", "--allow-cached", "--json"]);
    run.expect(DONE);
    assert!(json(&run)["stress"]["storage"]["blocks"].as_u64() >= Some(4), "{}", run.stdout);
}

#[test]
fn what_cannot_be_tested_is_said() {
    for (args, said) in [
        (&["mem", "stress", "--memory", "100000GiB"][..], "not enough memory"),
        (&["mem", "stress", "--plant", "nowhere"], "cell, path, buffer or copy"),
        (&["mem", "stress", "--with", "sim:sd-4mib", "--size", "64KiB"], "hint:"),
        (&["mem", "stress", "--with", "sim:sd-4mib", "--read-only"], "hint:"),
    ] {
        let run = flashscope(args).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(said), "{args:?}: {}", run.stderr);
    }
}
