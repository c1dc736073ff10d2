//! Version 1: five formats, each with its own words for who, when and where.

use serde_json::{Map, Value, json};

/// `flashscope.record/1`: inspect, probe and infer.
pub(super) fn run(mut old: Value) -> Value {
    let command = old["command"].as_str().unwrap_or_default();
    let kind = match command.split(' ').next() {
        Some("probe") => "probe",
        Some("infer") => "infer",
        _ => "inspect",
    };
    let virtual_time = old["device"]["simulated"].as_bool().unwrap_or(false);
    estimates(&mut old["geometry"]);
    for note in old["notes"].as_array_mut().into_iter().flatten() {
        note["code"] = if note["severity"] == "warning" { "other_warning" } else { "other_info" }.into();
    }
    enveloped(&mut old, kind, virtual_time)
}

/// Version 1 gave the reason why a figure is unknown as a sentence, which is what was seen in version 2; only what nobody
/// asked for had one sentence for all.
fn estimates(geometry: &mut Value) {
    for estimate in geometry.as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
        estimate["leans_to"] = Value::Null;
        let Some(sentence) = estimate["reason_unknown"].as_str().map(str::to_owned) else { continue };
        let nobody_asked = ["not measured", "nobody asked"].contains(&sentence.as_str());
        let (reason, evidence) = if nobody_asked { ("not_measured", String::new()) } else { ("in_words", sentence) };
        estimate["reason_unknown"] = reason.into();
        estimate["evidence"] = evidence.into();
    }
}

/// `flashscope.bench/1`.
pub(super) fn bench(mut old: Value) -> Value {
    let virtual_time = old["virtual_time"].as_bool().unwrap_or(false);
    number_runs(&mut old);
    or_null(&mut old, "preset");
    enveloped(&mut old, "bench", virtual_time)
}

/// `flashscope.iozone/1`: it did not say which unit its tables were to have.
pub(super) fn iozone(mut old: Value) -> Value {
    old["table_unit"] = json!("kib_per_s");
    enveloped(&mut old, "iozone", false)
}

/// `flashscope.fleet/1`: parameters had no name for people.
pub(super) fn fleet(mut old: Value) -> Value {
    let of_a_device = take(&mut old, "cost");
    let whole = &of_a_device["inspect"];
    let total = |figure: &str| whole[figure]["total"].as_f64().unwrap_or_default();
    old["cost"] = json!({
        "read_bytes": total("read_bytes") as u64,
        "written_bytes": total("written_bytes") as u64,
        "time_ns": (total("device_time_s") * 1e9) as u64,
        "erases": { "units": total("erases") as u64, "counted": true, "assumption": null },
    });
    old["cost_of_a_device"] = of_a_device;
    for row in old["parameters"].as_array_mut().into_iter().flatten() {
        row["name"] = row["parameter"].as_str().unwrap_or_default().replace('_', " ").into();
    }
    let complete = old["devices_done"] == old["devices_asked"];
    old["ended"] = ended(if complete { "complete" } else { "interrupted" });
    named(&mut old, "fleet", "fleet");
    enveloped(&mut old, "fleet", true)
}

/// `flashscope.twin/1`.
pub(super) fn twin(mut old: Value) -> Value {
    for finding in old["findings"].as_array_mut().into_iter().flatten() {
        if finding["fate"] == "not-held" {
            finding["fate"] = json!("not_held");
        }
    }
    let sources: Vec<&str> = old["sources"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let target = sources.join(", ");
    old["ended"] = ended("complete");
    named(&mut old, "twin fit", &target);
    enveloped(&mut old, "twin", false)
}

/// The envelope around what there was, which comes behind it.
fn enveloped(old: &mut Value, kind: &str, virtual_time: bool) -> Value {
    let mut host = take(old, "host");
    let started = take(&mut host, "started");
    let conditions = match take(&mut host, "conditions") {
        Value::Null => json!([]),
        before => before,
    };
    if !host.is_null() {
        let is_bus = |condition: &&Value| condition["name"] == "bus_mode";
        let bus = conditions.as_array().and_then(|all| all.iter().find(is_bus)).map(|found| found["value"].clone());
        host["board"] = Value::Null;
        host["bus_mode"] = bus.unwrap_or_default();
    }
    let mut tool = match take(old, "tool") {
        Value::Null => json!({ "name": "flashscope", "version": "0.1.0" }),
        tool => tool,
    };
    tool["commit"] = Value::Null;
    tool["target"] = Value::Null;
    let mut device = take(old, "device");
    if !device.is_null() {
        or_null(&mut device, "queue_depth");
    }
    let mut new = json!({
        "schema": crate::SCHEMA,
        "kind": kind,
        "tool": tool,
        "command": take(old, "command"),
        "target": take(old, "target"),
        "virtual_time": virtual_time,
        "started": started,
        "finished": null,
        "session": null,
        "host": host,
        "device": device,
        "path": take(old, "path"),
        "state": null,
        "conditions": { "before": conditions, "after": [] },
        "cost": take(old, "cost"),
        "ended": take(old, "ended"),
    });
    for gone in ["schema", "virtual_time", "devices_done"] {
        take(old, gone);
    }
    if let (Value::Object(new), Value::Object(part)) = (&mut new, std::mem::take(old)) {
        new.extend(part);
    }
    new
}

/// Runs in the order in which version 1 did them: each phase once, then all that repeat again.
fn number_runs(old: &mut Value) {
    let Some(phases) = old["phases"].as_array_mut() else { return };
    let mut runs: Vec<(usize, usize, &mut Map<String, Value>)> = Vec::new();
    for (phase, runs_of) in phases.iter_mut().enumerate() {
        let objects = runs_of["runs"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut);
        runs.extend(objects.enumerate().map(|(time, run)| (time, phase, run)));
    }
    runs.sort_by_key(|(time, phase, _)| (*time, *phase));
    for (order, (.., run)) in (1u32..).zip(runs) {
        run.insert("order".to_owned(), order.into());
        run.insert("started_ns".to_owned(), Value::Null);
        run.insert("conditions".to_owned(), json!([]));
        run.insert("cost".to_owned(), Value::Null);
    }
}

fn named(old: &mut Value, command: &str, target: &str) {
    old["command"] = command.into();
    old["target"] = target.into();
}

fn ended(how: &str) -> Value {
    json!({ "how": how, "reason": null })
}

/// Takes a field out; null where it is not there.
fn take(value: &mut Value, name: &str) -> Value {
    value.as_object_mut().and_then(|fields| fields.shift_remove(name)).unwrap_or_default()
}

/// A field that came to version 1 late.
fn or_null(value: &mut Value, name: &str) {
    if let Some(fields) = value.as_object_mut() {
        fields.entry(name).or_insert(Value::Null);
    }
}
