//! The JSON Schema of records: made from the wire structs by a test, which holds the file to them, and read from that file
//! where it is asked for. So the program carries no code that makes it.

use flashscope_model::Kind;
use serde_json::{Map, Value, json};

/// The schema of all kinds.
const WHOLE: &str = include_str!("../../../docs/record.schema.json");

/// Where a schema keeps what it refers to.
const DEFINITIONS: &str = "$defs";

/// The JSON Schema (draft 2020-12) of records as written, ending in a newline: of one kind, or of all of them with `kind` to
/// tell them apart. The latter is `docs/record.schema.json`.
///
/// Every field is required, as absent figures are written as `null`; unknown fields are allowed, so that a
/// record of a later flashscope, which may have more, still validates.
pub fn schema(only: Option<Kind>) -> String {
    let Some(only) = only else { return WHOLE.to_owned() };
    let mut schema: Value = serde_json::from_str(WHOLE).expect("the schema is JSON");
    let is_of = |part: &Value| part["if"]["properties"]["kind"]["const"] == only.word();
    schema["allOf"].as_array_mut().expect("a part for each kind").retain(is_of);
    schema["properties"]["kind"] = json!({ "const": only.word() });
    let all = schema[DEFINITIONS].take();
    let mut wanted = Map::new();
    want(&schema, &all, &mut wanted);
    let all = all.as_object().into_iter().flatten();
    schema[DEFINITIONS] = all.filter_map(|(name, _)| Some((name.clone(), wanted.remove(name)?))).collect();
    format!("{schema:#}\n")
}

/// Takes every definition that is referred to, and those that these refer to.
fn want(value: &Value, all: &Value, wanted: &mut Map<String, Value>) {
    match value {
        Value::Object(fields) => fields.values().for_each(|inner| want(inner, all, wanted)),
        Value::Array(items) => items.iter().for_each(|inner| want(inner, all, wanted)),
        Value::String(text) => {
            let Some(name) = text.strip_prefix("#/$defs/").filter(|name| !wanted.contains_key(*name)) else { return };
            wanted.insert(name.to_owned(), all[name].clone());
            want(&all[name], all, wanted);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recorded;
    use crate::wire::Envelope;
    use flashscope_model::RunRecord;
    use flashscope_model::bench::BenchRecord;
    use flashscope_model::fleet::FleetRecord;
    use flashscope_model::iozone::IozoneRecord;
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
            Kind::Inspect | Kind::Probe | Kind::Infer => generator.subschema_for::<Part<RunRecord>>(),
            Kind::Bench => generator.subschema_for::<Part<BenchRecord>>(),
            Kind::Iozone => generator.subschema_for::<Part<IozoneRecord>>(),
            Kind::Fleet => generator.subschema_for::<Part<FleetRecord>>(),
            Kind::Twin => generator.subschema_for::<Part<TwinRecord>>(),
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
}
