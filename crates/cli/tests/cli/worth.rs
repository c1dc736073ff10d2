//! `inspect --want` and `--max-time`: what is found out for the time, and what more of it would bring.

use crate::harness::{Run, flashscope};
use serde_json::Value;

const DONE: i32 = 0;
const CANNOT: i32 = 2;

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}:\n{}\n{}", run.stdout, run.stderr))
}

fn notes(record: &Value) -> Vec<(String, String)> {
    let text = |note: &Value, key: &str| note[key].as_str().unwrap_or_default().to_owned();
    let notes = record["notes"].as_array().expect("notes");
    notes
        .iter()
        .filter(|note| note["code"] == "left_open")
        .map(|note| (text(note, "text"), text(note, "hint")))
        .collect()
}

fn seconds(record: &Value) -> f64 {
    record["cost"]["time_ns"].as_f64().expect("a time") / 1e9
}

fn steps(record: &Value) -> Vec<String> {
    let steps = record["plan"]["steps"].as_array().expect("steps");
    steps.iter().map(|step| step["experiment"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_limited_run_keeps_its_limit_and_says_what_more_time_would_bring() {
    let run = flashscope(&["inspect", "sim:sd-4mib", "--max-time", "30s", "--json"]).run();
    run.expect(DONE);
    let record = json(&run);
    assert!(seconds(&record) <= 33.0, "{}", seconds(&record));
    assert!(record["geometry"]["allocation_unit"]["bytes"] == 4_194_304, "{record:#}");
    let notes = notes(&record);
    let (text, hint) = notes.first().expect("a word on what was left open");
    assert!(text.contains("--max-time") && text.contains("(about "), "{text}");
    assert!(hint.contains("--max-time") && hint.contains("is enough"), "{hint}");
}

#[test]
fn what_is_not_wanted_is_not_measured() {
    let all = json(&flashscope(&["inspect", "sim:sd-4mib", "--json"]).run());
    let geometry = json(&flashscope(&["inspect", "sim:sd-4mib", "--want", "geometry", "--json"]).run());
    assert!(seconds(&geometry) < 0.8 * seconds(&all), "{} {}", seconds(&geometry), seconds(&all));
    for experiment in ["buffer", "read-cache", "slc-cache", "discard", "capacity"] {
        assert!(!steps(&geometry).iter().any(|step| step == experiment), "{experiment}: {:?}", steps(&geometry));
    }
    for finding in ["allocation_unit", "page", "open_units_linear", "open_units_random", "fast_area"] {
        let said = |record: &Value| {
            let (found, none) = (record["geometry"][finding].clone(), Value::Null);
            let Value::Object(mut found) = found else { return none };
            // Other places are written, whose times differ a little.
            for figures in ["confidence", "alternatives", "evidence", "rate_ratio"] {
                found.remove(figures);
            }
            Value::Object(found)
        };
        assert_eq!(said(&geometry), said(&all), "{finding}");
    }
    let advice = json(&flashscope(&["inspect", "sim:sd-4mib", "--want", "advice", "--json"]).run());
    let texts = |record: &Value| {
        let all = record["advice"].as_array().into_iter().flatten();
        all.map(|advice| advice["text"].as_str().unwrap_or_default().to_owned()).collect::<Vec<String>>()
    };
    assert_eq!(texts(&advice).first(), texts(&all).first(), "where to begin a partition");
    assert!(seconds(&advice) < seconds(&all));
}

#[test]
fn what_cannot_be_meant_is_refused_with_a_way_out() {
    let check = |arguments: &[&str], says: &[&str]| {
        let run = flashscope(&[&["inspect", "sim:sd-4mib"], arguments].concat()).run();
        run.expect(CANNOT);
        for words in says {
            assert!(run.stderr.contains(words), "{arguments:?}: {}", run.stderr);
        }
    };
    check(&["--max-time", "0s"], &["--max-time", "nothing can be measured", "2min"]);
    check(&["--max-time", "0"], &["--max-time"]);
    check(&["--max-time", "soon"], &["--max-time"]);
    check(&["--want", "speed"], &["--want", "geometry, advice and all"]);
    check(&["--want", "advice", "--for-twin"], &["--for-twin"]);
}
