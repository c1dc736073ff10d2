//! The format kept: round trips, the schema, and what a reader is told about a bad file.

use crate::fixture;
use flashscope_model::discard::{DiscardFound, DiscardReads};
use flashscope_model::{Data, Estimate, ExperimentName, Finding, RunRecord, StopReason};
use flashscope_record::{RecordError, SCHEMA, from_json, from_json_many, schema, to_json, to_json_array};
use flashscope_units::Nanos;
use serde_json::Value;

fn all() -> [RunRecord; 3] {
    [fixture::simulated_card(), fixture::lost_device(), fixture::pasted_log()]
}

#[test]
fn every_record_comes_back_whole() {
    for record in all() {
        let text = to_json(&record);
        assert_eq!(from_json::<RunRecord>(&text).unwrap(), record, "{}", record.envelope.target);
        assert_eq!(to_json(&from_json::<RunRecord>(&text).unwrap()), text);
    }
}

#[test]
fn every_reason_to_stop_comes_back() {
    let mut record = fixture::pasted_log();
    let why = || "a reason".to_owned();
    for stop in [
        StopReason::Complete,
        StopReason::BudgetSpent,
        StopReason::Interrupted,
        StopReason::Stopped,
        StopReason::Failing,
        StopReason::DeviceLost(why()),
        StopReason::InternalError(why()),
    ] {
        record.envelope.stop = stop;
        assert_eq!(from_json::<RunRecord>(&to_json(&record)).unwrap(), record);
    }
}

#[test]
fn the_fixture_holds_every_kind_of_data() {
    let runs = fixture::simulated_card().observations.runs;
    let names: Vec<ExperimentName> = runs.iter().map(|run| run.data.name()).collect();
    // What is left out writes the data of another one, or stands beside the runs: see the table in `model`.
    let others = [ExperimentName::OpenUnits, ExperimentName::WriteAlign, ExperimentName::Capacity];
    for name in ExperimentName::ALL.iter().filter(|name| !others.contains(name)) {
        assert!(names.contains(name), "{name}");
    }
}

#[test]
fn every_finding_stands_under_its_name() {
    for record in all() {
        let value: Value = serde_json::from_str(&to_json(&record)).unwrap();
        let geometry = value["geometry"].as_object().unwrap();
        let names: Vec<&str> = Finding::ALL.iter().map(|finding| finding.wire()).collect();
        assert_eq!(geometry.keys().map(String::as_str).collect::<Vec<_>>(), names);
    }
}

#[test]
fn floats_come_back_bit_for_bit() {
    let mut record = fixture::simulated_card();
    let awkward = [0.1 + 0.2, 1.0 / 3.0, 5e-324, 1.797_693_134_862_315_7e14, 8_899_999.999_999_999, -0.0];
    for value in awkward {
        record.findings.geometry.never_written.change_confidence(|_| value);
        let back: RunRecord = from_json(&to_json(&record)).unwrap();
        assert_eq!(
            back.findings.geometry.never_written.confidence().map(f64::to_bits),
            Some(value.to_bits()),
            "{value}"
        );
    }
}

#[test]
fn figures_of_which_a_part_may_be_absent_come_back() {
    let mut record = fixture::simulated_card();
    let none = DiscardFound {
        reads: DiscardReads::Kept,
        granularity: None,
        smallest: None,
        largest: None,
        largest_time: None,
        rewrite_ratio: None,
    };
    for found in [none, DiscardFound { smallest: Some(Nanos(5)), rewrite_ratio: Some(1.0), ..none }] {
        record.findings.geometry.discard = Estimate::known(found, 0.9, "seen", &[ExperimentName::Discard]);
        assert_eq!(from_json::<RunRecord>(&to_json(&record)).unwrap(), record);
    }
    let mut value: Value = serde_json::from_str(&to_json(&record)).unwrap();
    value["geometry"]["discard"]["reads_as"] = Value::Null;
    assert!(from_json::<RunRecord>(&value.to_string()).is_err(), "what may not be absent is");
}

#[test]
fn arrays_hold_what_single_records_hold() {
    let text = to_json_array(&all());
    assert_eq!(from_json_many::<RunRecord>(&text).unwrap(), all());
    assert_eq!(from_json_many::<RunRecord>(&to_json(&all()[0])).unwrap(), all()[..1]);
    assert_eq!(from_json_many::<RunRecord>("[]").unwrap(), []);
}

#[test]
fn every_sample_array_stands_on_one_line() {
    let text = to_json(&fixture::simulated_card());
    let samples: Vec<&str> = text.lines().filter(|line| line.contains("service_time_ns\": [")).collect();
    assert!(samples.len() > 100);
    assert!(samples.iter().all(|line| line.contains(']')));
    assert!(text.lines().filter(|line| !line.contains("_ns\": [")).all(|line| line.chars().count() < 250));
}

#[test]
fn output_follows_the_schema() {
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema(None)).unwrap()).unwrap();
    for record in all() {
        let value: Value = serde_json::from_str(&to_json(&record)).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

/// The schema says something: records that are wrong in one place each do not pass.
#[test]
fn the_schema_rejects_wrong_records() {
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema(None)).unwrap()).unwrap();
    let good: Value = serde_json::from_str(&to_json(&fixture::simulated_card())).unwrap();
    let check = |pointer: &str, value: Value| {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        assert!(!validator.is_valid(&bad), "{pointer}");
    };
    check("/schema", "flashscope.record/1".into());
    check("/kind", "compare".into());
    check("/kind", "bench".into());
    check("/ended/how", "fine".into());
    check("/geometry/allocation_unit/bytes", "4 MiB".into());
    check("/geometry/allocation_unit/confidence", 99.9.into());
    check("/geometry/open_units_linear/count", (-1).into());
    check("/geometry/fast_area/kind", "quick".into());
    check("/performance/0/direction", Value::Null);
    check("/observations/runs/0/data/service_time_ns/0", 1.5.into());
    let mut bad = good.clone();
    bad["geometry"].as_object_mut().unwrap().remove("page");
    assert!(!validator.is_valid(&bad), "a missing field");
    let mut grown = good.clone();
    grown["geometry"]["colour"] = serde_json::json!({ "name": "green" });
    assert!(validator.is_valid(&grown), "later versions may add fields");
}

#[test]
fn field_names_carry_their_units() {
    let value: Value = serde_json::from_str(&to_json(&fixture::simulated_card())).unwrap();
    let mut names = Vec::new();
    collect_names(&value, &mut names);
    assert!(names.iter().all(|name| !name.contains("latency")));
    assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')));
    assert_eq!(value["geometry"]["allocation_unit"]["bytes"], 4_194_304);
    assert_eq!(value["geometry"]["open_units_linear"]["count"], 8);
    assert_eq!(value["geometry"]["fast_area"]["first_bytes"], 4_194_304);
    assert_eq!(value["geometry"]["random_order_penalty"]["at_block_bytes"], 16_384);
    assert_eq!(value["geometry"]["small_write_path"]["up_to_bytes"], 8_192);
}

#[test]
fn absent_is_null_never_zero() {
    let value: Value = serde_json::from_str(&to_json(&fixture::simulated_card())).unwrap();
    assert!(value["host"].is_null());
    let inner = &value["geometry"]["page_inner"];
    assert!(inner["bytes"].is_null() && inner["confidence"].is_null() && inner["reason_unknown"].is_string());

    let value: Value = serde_json::from_str(&to_json(&fixture::lost_device())).unwrap();
    let open = &value["geometry"]["open_units_linear"];
    assert!(open["count"].is_null() && open["reason_unknown"].is_null());
    assert_eq!(open["at_least"], 7);
    assert!(value["geometry"]["fast_area"]["kind"].is_null());
    assert_eq!(value["ended"]["how"], "device_lost");
    assert_eq!(value["host"]["board"], "Example Board Model 4");
    assert_eq!(value["conditions"]["after"][0]["value"], "powersave");
}

#[test]
fn bad_files_are_explained() {
    let text = to_json(&fixture::simulated_card());
    let check = |text: &str, expect: &str| {
        let error = from_json::<RunRecord>(text).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(expect), "{message}");
        assert!(message.contains("\nhint: "), "{message}");
        error
    };
    assert_eq!(check("", "the record is empty"), RecordError::Empty);
    assert_eq!(check("align 4194304 pre 694us on 937us", "not a flashscope record"), RecordError::NotARecord);
    assert_eq!(check("{}", "there is no \"schema\" field"), RecordError::NotARecord);
    assert_eq!(check("[]", "an array of records"), RecordError::Array);
    check(&text[..text.len() / 2], "ends in the middle, at line ");
    check(&text.replace("\"plan\": {", "\"plan\": {,"), "not valid JSON at line ");
    check(&text.replace(SCHEMA, "fio+json"), "schema 'fio+json' is not a flashscope record");
    let newer = check(&text.replace("record/2", "record/3"), "record version 'flashscope.record/3' cannot be read");
    assert_eq!(newer, RecordError::OtherVersion("flashscope.record/3".into()));
    check(&text.replace("\"seed\": 7", "\"seed\": \"x\""), "invalid type: string \"x\", expected u64");
    check(
        &text.replace("\"kind\": \"inspect\"", "\"kind\": \"bench\""),
        "a record of bench where one of inspect, probe, infer or state",
    );
    check(&text.replace("\"kind\": \"inspect\"", "\"kind\": \"quantum\""), "a record of kind 'quantum'");
    check(&text.replace("\"kind\": \"floor\"", "\"kind\": \"unheard-of\""), "unknown variant `unheard-of`");
}

#[test]
fn contradictions_are_named() {
    let good: Value = serde_json::from_str(&to_json(&fixture::simulated_card())).unwrap();
    let check = |change: &dyn Fn(&mut Value), expect: &str| {
        let mut bad = good.clone();
        change(&mut bad);
        let message = from_json::<RunRecord>(&bad.to_string()).unwrap_err().to_string();
        assert!(message.starts_with(expect), "{message}");
    };
    check(&|bad| bad["geometry"]["page"]["bytes"] = Value::Null, "geometry.page contradicts itself: neither");
    let unknown = |bad: &mut Value| bad["geometry"]["page"]["reason_unknown"] = "too_noisy".into();
    check(&unknown, "geometry.page contradicts itself: a figure");
    let word = |bad: &mut Value| bad["geometry"]["page"]["reason_unknown"] = "?".into();
    check(&word, "geometry.page contradicts itself: no reason is named '?'");
    let method = |bad: &mut Value| bad["geometry"]["page"]["method"][0] = "dowsing".into();
    check(&method, "geometry.page contradicts itself: no experiment is named 'dowsing'");
    check(&|bad| bad["geometry"]["fast_area"]["kind"] = Value::Null, "geometry.fast_area contradicts itself: some");
    let open_units = |run: &Value| run["data"]["kind"] == "open_units";
    let at = good["observations"]["runs"].as_array().unwrap().iter().position(open_units).unwrap();
    check(
        &|bad| bad["observations"]["runs"][at]["data"]["rows"][0]["rate"]["service_time_ns"] = Value::Null,
        &format!("observations.runs[{at}].data contradicts itself: neither samples nor printed figures"),
    );
}

/// Cutting a record anywhere gives an error, never a panic or half a record.
#[test]
fn no_prefix_of_a_record_is_a_record() {
    let mut record = fixture::pasted_log();
    record.observations.runs.retain(|run| matches!(run.data, Data::Align(_)));
    let text = to_json(&record);
    for end in (0..text.trim_end().len()).filter(|end| text.is_char_boundary(*end)) {
        assert!(from_json::<RunRecord>(&text[..end]).is_err(), "cut at {end}");
    }
}

/// The page that explains the format names every field of the outer two levels.
#[test]
fn the_documentation_names_every_part() {
    let page = include_str!("../../../docs/record.md");
    let value: Value = serde_json::from_str(&to_json(&fixture::simulated_card())).unwrap();
    let mut names: Vec<&String> = value.as_object().unwrap().keys().collect();
    names.extend(value["geometry"].as_object().unwrap().keys());
    for figure in value["geometry"].as_object().unwrap().values() {
        names.extend(figure.as_object().unwrap().keys());
    }
    for name in names {
        assert!(page.contains(&format!("`{name}`")) || page.contains(&format!("\"{name}\"")), "{name}");
    }
}

fn collect_names(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                names.push(name.clone());
                collect_names(inner, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_names(item, names)),
        _ => {}
    }
}
