//! `mem`: records that keep to their schema, what is refused, and what an interrupt keeps.

use crate::harness::{Run, flashscope, have_built, interrupt, scratch};
use serde_json::Value;
use std::sync::Once;
use std::time::Duration;

const DONE: i32 = 0;
const CANNOT: i32 = 2;

/// The program that measures lies beside the one under test, as the player does.
fn with_memory() {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| have_built("flashscope-memory"));
}

/// A record that keeps to the schema.
fn record(text: &str) -> Value {
    let record: Value = serde_json::from_str(text).expect("one JSON document");
    let schema = flashscope(&["schema", "memory"]).run();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema.stdout).unwrap()).unwrap();
    let faults: Vec<String> = validator.iter_errors(&record).map(|error| error.to_string()).collect();
    assert!(faults.is_empty(), "{faults:?}");
    record
}

fn measured(words: &[&str]) -> Run {
    with_memory();
    let run = flashscope(&[&["mem"], words].concat()).run();
    run.expect(DONE);
    run
}

#[test]
fn rates_of_every_loop_are_kept_and_shown_in_every_form() {
    let words = ["bandwidth", "--size", "2MiB", "--time", "100ms", "--json"];
    let run = measured(&words);
    let all = record(&run.stdout);
    assert_eq!(all["kind"], "memory");
    let rows = all["bandwidth"].as_array().unwrap();
    for kernel in ["read", "write", "copy", "scale", "add", "triad"] {
        assert!(rows.iter().any(|row| row["kernel"] == kernel), "{kernel}");
    }
    let is_rate = |rate: &Value| rate.as_f64().is_some_and(|rate| rate > 1e6);
    assert!(rows.iter().all(|row| row["rates_bytes_per_s"].as_array().unwrap().iter().all(is_rate)));
    let file = scratch().join("memory.json");
    std::fs::write(&file, &run.stdout).unwrap();
    for format in ["text", "html", "markdown", "csv"] {
        let run = flashscope(&["report", file.to_str().unwrap(), "--format", format]).run();
        run.expect(DONE);
        assert!(run.stdout.contains("triad"), "{format}: {}", run.stdout);
    }
}

#[test]
fn latencies_grow_into_findings() {
    let all = record(&measured(&["inspect", "--size", "8MiB", "--time", "200ms", "--json"]).stdout);
    let quantities =
        |name: &str| all["findings"].as_array().unwrap().iter().filter(|finding| finding["quantity"] == name).count();
    assert_eq!((quantities("line_size"), quantities("memory_latency"), quantities("tlb_reach")), (1, 1, 2));
    assert!(all["latency"].as_array().unwrap().len() > 40);
}

#[test]
fn one_thread_cannot_load_and_chase() {
    let all = record(&measured(&["loaded", "--threads", "1", "--size", "8MiB", "--time", "50ms", "--json"]).stdout);
    assert_eq!(all["loaded_latency"], Value::Array(Vec::new()));
    let notes = all["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().contains("needs two processors")), "{notes:?}");
}

#[test]
fn too_little_memory_is_refused_with_what_is_needed() {
    with_memory();
    for words in [["bandwidth", "--memory", "4MiB"], ["latency", "--memory", "4MiB"], ["inspect", "--memory", "4MiB"]] {
        let run = flashscope(&[&["mem"], &words[..]].concat()).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains("not enough memory") && run.stderr.contains("\nhint: "), "{}", run.stderr);
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn an_interrupt_keeps_what_was_measured() {
    with_memory();
    let words = ["mem", "bandwidth", "--size", "2MiB", "--time", "10min", "--json"];
    let child = flashscope(&words).started();
    std::thread::sleep(Duration::from_secs(2));
    interrupt(&child);
    let run = Run::from(child.wait_with_output().expect("it ends"));
    run.expect(CANNOT);
    let all = record(&run.stdout);
    assert!(!all["bandwidth"].as_array().unwrap().is_empty(), "{all}");
}
