//! The schema made from the wire structs, which the file is held to. A module of `src/schema.rs`, as it needs what only the crate
//! sees; it lies here because it writes the file.

use super::*;
use crate::Recorded;
use crate::wire::Envelope;
use flashscope_model::RunRecord;
use flashscope_model::app::AppRecord;
use flashscope_model::bench::BenchRecord;
use flashscope_model::capacity::CapacityRecord;
use flashscope_model::comparison::ComparisonRecord;
use flashscope_model::explanation::ExplanationRecord;
use flashscope_model::fleet::FleetRecord;
use flashscope_model::integrity::IntegrityRecord;
use flashscope_model::iozone::IozoneRecord;
use flashscope_model::memory::MemoryRecord;
use flashscope_model::sweep::SweepRecord;
use flashscope_model::trace::TraceRecord;
use flashscope_model::twin::TwinRecord;
use schemars::generate::{SchemaGenerator, SchemaSettings};

/// The schema as the structs have it.
fn made(only: Option<Kind>) -> String {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let parts: Vec<Value> = Kind::ALL
        .into_iter()
        .filter(|kind| only.is_none_or(|only| only == *kind))
        .map(|kind| {
            let part = part_of(kind, &mut generator);
            json!({ "if": { "properties": { "kind": { "const": kind.word() } } }, "then": part })
        })
        .collect();
    let mut schema = generator.into_root_schema_for::<Envelope>();
    schema.insert("title".to_owned(), crate::SCHEMA.into());
    schema.insert("$id".to_owned(), "urn:flashscope:record:2".into());
    schema.insert("allOf".to_owned(), parts.into());
    let mut value = schema.to_value();
    if let Some(only) = only {
        value["properties"]["kind"] = json!({ "const": only.word() });
        // Nothing refers to the words of all kinds any more.
        value[DEFINITIONS].as_object_mut().unwrap().remove("Kind");
    }
    format!("{value:#}\n")
}

fn part_of(kind: Kind, generator: &mut SchemaGenerator) -> Value {
    type Part<R> = <R as Recorded>::Part;
    let schema = match kind {
        Kind::Inspect | Kind::Probe | Kind::Infer | Kind::State => generator.subschema_for::<Part<RunRecord>>(),
        Kind::Capacity => generator.subschema_for::<Part<CapacityRecord>>(),
        Kind::Integrity => generator.subschema_for::<Part<IntegrityRecord>>(),
        Kind::App => generator.subschema_for::<Part<AppRecord>>(),
        Kind::Bench => generator.subschema_for::<Part<BenchRecord>>(),
        Kind::Iozone => generator.subschema_for::<Part<IozoneRecord>>(),
        Kind::Fleet => generator.subschema_for::<Part<FleetRecord>>(),
        Kind::Twin => generator.subschema_for::<Part<TwinRecord>>(),
        Kind::Compare => generator.subschema_for::<Part<ComparisonRecord>>(),
        Kind::Sweep => generator.subschema_for::<Part<SweepRecord>>(),
        Kind::Trace => generator.subschema_for::<Part<TraceRecord>>(),
        Kind::Explanation => generator.subschema_for::<Part<ExplanationRecord>>(),
        Kind::Memory => generator.subschema_for::<Part<MemoryRecord>>(),
    };
    schema.to_value()
}

#[test]
fn the_checked_in_schema_is_current() {
    let hint = "stale: run `cargo test -p flashscope-record -- --ignored write_the_schema`";
    assert!(made(None) == schema(None), "{hint}");
}

#[test]
fn the_schema_of_one_kind_is_a_part_of_the_whole() {
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    for kind in Kind::ALL {
        assert!(value(&made(Some(kind))) == value(&schema(Some(kind))), "{}", kind.word());
    }
}

#[test]
#[ignore = "writes docs/record.schema.json"]
fn write_the_schema() {
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/record.schema.json"), made(None)).unwrap();
}
