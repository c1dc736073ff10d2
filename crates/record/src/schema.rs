//! The JSON Schema of records: made from the wire structs by a test, which holds the file to them, and read from that file
//! where it is asked for. So the program carries no code that makes it.

use flashscope_model::Kind;
use flate2::read::DeflateDecoder;
use serde_json::{Map, Value, json};

/// The schema of all kinds, compressed by the build script: it is half a megabyte of text that is hardly ever asked for.
const WHOLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/record.schema.deflate"));

/// Where a schema keeps what it refers to.
const DEFINITIONS: &str = "$defs";

/// The JSON Schema (draft 2020-12) of records as written, ending in a newline: of one kind, or of all of them with `kind` to
/// tell them apart. The latter is `docs/record.schema.json`.
///
/// Every field is required, as absent figures are written as `null`; unknown fields are allowed, so that a
/// record of a later flashscope, which may have more, still validates.
pub fn schema(only: Option<Kind>) -> String {
    let whole = std::io::read_to_string(DeflateDecoder::new(WHOLE)).expect("what the build script compressed");
    let Some(only) = only else { return whole };
    let mut schema: Value = serde_json::from_str(&whole).expect("the schema is JSON");
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
#[path = "../tests/inside/schema.rs"]
mod tests;
