//! Records of earlier versions stay readable for good: every one that is kept is read, and written as of today.

use flashscope_model::{Kind, StopReason};
use flashscope_record::{AnyRecord, any_to_json, read, schema};
use serde_json::Value;
use std::path::PathBuf;

fn kept() -> Vec<(String, String)> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/records/v1"));
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    let mut all: Vec<_> = files.map(|path| (name(&path), std::fs::read_to_string(&path).unwrap())).collect();
    all.sort();
    all
}

fn one(name: &str) -> (AnyRecord, Value) {
    let (_, text) = kept().into_iter().find(|(other, _)| other == name).unwrap();
    (read(&text).unwrap(), serde_json::from_str(&text).unwrap())
}

#[test]
fn every_kept_record_is_read_and_follows_the_schema_of_today() {
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema(None)).unwrap()).unwrap();
    let mut kinds = Vec::new();
    for (name, text) in kept() {
        let record = read(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        kinds.push(record.envelope().kind);
        assert!(name.starts_with(record.envelope().kind.word()), "{name}: {:?}", record.envelope().kind);
        let today = any_to_json(&record);
        assert_eq!(read(&today).unwrap(), record, "{name}: what is written is what was read");
        let value: Value = serde_json::from_str(&today).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
    let later = [
        Kind::State,
        Kind::Capacity,
        Kind::Integrity,
        Kind::App,
        Kind::Compare,
        Kind::Sweep,
        Kind::Trace,
        Kind::Explanation,
        Kind::Memory,
    ];
    let mut first = Kind::ALL.iter().filter(|kind| !later.contains(kind));
    assert!(first.all(|kind| kinds.contains(kind)), "one of each kind of version 1 is kept: {kinds:?}");
}

/// What a kind's part says is as it was, field by field; only names for people and the words of one list are new.
#[test]
fn nothing_of_an_old_record_is_lost() {
    for (name, text) in kept() {
        let old: Value = serde_json::from_str(&text).unwrap();
        let new: Value = serde_json::from_str(&any_to_json(&read(&text).unwrap())).unwrap();
        // How many devices there are is their count.
        let elsewhere = ["schema", "tool", "host", "devices_done"];
        for (field, value) in old.as_object().unwrap().iter().filter(|(field, _)| !elsewhere.contains(&field.as_str()))
        {
            let field = if (field.as_str(), new["kind"].as_str()) == ("cost", Some("fleet")) {
                "cost_of_a_device"
            } else {
                field
            };
            holds(&new[field], value, &format!("{name}: {field}"));
        }
        for field in ["name", "kernel", "architecture"] {
            assert_eq!(new["host"][field], old["host"][field], "{name}");
        }
        assert_eq!(new["started"], old["host"]["started"], "{name}");
        assert_eq!(new["tool"]["version"], *old["tool"].get("version").unwrap_or(&"0.1.0".into()), "{name}");
        let conditions = old["host"].get("conditions").cloned().unwrap_or_else(|| Vec::<Value>::new().into());
        assert_eq!(new["conditions"]["before"], conditions, "{name}");
    }
}

/// Whether all that was said is still said; more may be.
fn holds(new: &Value, old: &Value, place: &str) {
    match (new, old) {
        // A reason was a sentence; it is a word now, and the sentence its evidence.
        (Value::Object(new), Value::Object(old)) if old.get("reason_unknown").is_some_and(Value::is_string) => {
            let sentence = &old["reason_unknown"];
            let kept =
                new["evidence"] == *sentence || (sentence == "not measured" && new["reason_unknown"] == "not_measured");
            assert!(kept && old["evidence"] == "", "{place}");
        }
        (Value::Object(new), Value::Object(old)) => {
            old.iter()
                .for_each(|(name, old)| holds(new.get(name).unwrap_or(&Value::Null), old, &format!("{place}.{name}")));
        }
        (Value::Array(new), Value::Array(old)) => {
            assert_eq!(new.len(), old.len(), "{place}");
            new.iter().zip(old).for_each(|(new, old)| holds(new, old, place));
        }
        (new, old) if *old == "not-held" => assert_eq!(*new, "not_held", "{place}"),
        (Value::Number(new), Value::Number(old)) => assert_eq!(new.as_f64(), old.as_f64(), "{place}"),
        (new, old) => assert_eq!(new, old, "{place}"),
    }
}

#[test]
fn the_envelope_is_filled_from_what_there_was() {
    let (fleet, old) = one("fleet");
    let cost = fleet.envelope().cost.clone().expect("a fleet counts");
    assert_eq!(cost.written.as_f64(), old["cost"]["inspect"]["written_bytes"]["total"].as_f64().unwrap());
    assert!(fleet.envelope().virtual_time && fleet.envelope().host.is_none());
    let (bench, _) = one("bench");
    assert!(bench.envelope().host.is_some() && bench.envelope().finished.is_none(), "what nobody wrote down is absent");
    let AnyRecord::Bench(bench) = bench else { panic!("a bench") };
    let orders: Vec<u32> = bench.phases.iter().flat_map(|phase| &phase.runs).map(|run| run.order).collect();
    assert_eq!(orders, [1, 2, 3]);
    assert_eq!(bench.envelope.stop, StopReason::Complete);
}
