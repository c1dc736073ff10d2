//! The JSON Schema of a record, made from the wire structs.

use crate::wire::Record;
use schemars::generate::SchemaSettings;

/// The JSON Schema (draft 2020-12) of a record as written, ending in a newline; a copy is kept in
/// `docs/record.schema.json`.
///
/// Every field is required, as absent figures are written as `null`; unknown fields are allowed, so that a
/// record of a later version 1 still validates.
pub fn schema() -> String {
    let schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Record>();
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}
