//! The JSON Schema of records, made from the wire structs.

use crate::Recorded;
use crate::wire::Envelope;
use flashscope_model::bench::BenchRecord;
use flashscope_model::fleet::FleetRecord;
use flashscope_model::iozone::IozoneRecord;
use flashscope_model::twin::TwinRecord;
use flashscope_model::{Kind, RunRecord};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Value, json};

/// The JSON Schema (draft 2020-12) of records as written, ending in a newline: of one kind, or of all of them with `kind` to
/// tell them apart. A copy of the latter is kept in `docs/record.schema.json`.
///
/// Every field is required, as absent figures are written as `null`; unknown fields are allowed, so that a
/// record of a later flashscope, which may have more, still validates.
pub fn schema(only: Option<Kind>) -> String {
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
    }
    format!("{value:#}\n")
}

fn part_of(kind: Kind, generator: &mut SchemaGenerator) -> Value {
    fn of<R: Recorded>(generator: &mut SchemaGenerator) -> Value {
        generator.subschema_for::<R::Part>().to_value()
    }
    match kind {
        Kind::Inspect | Kind::Probe | Kind::Infer => of::<RunRecord>(generator),
        Kind::Bench => of::<BenchRecord>(generator),
        Kind::Iozone => of::<IozoneRecord>(generator),
        Kind::Fleet => of::<FleetRecord>(generator),
        Kind::Twin => of::<TwinRecord>(generator),
    }
}
