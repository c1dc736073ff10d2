//! The versioned wire format of a run: JSON, and the JSON Schema that describes it.
//!
//! This crate holds the only serialised form of a result. The structs of [`wire`] mirror
//! [`RunRecord`] by hand: the inner types derive no `Serialize`, so renaming a field of the model cannot
//! change a published file by accident. The format is a contract ([`SCHEMA`]): within version 1 fields may
//! be added, never renamed, removed or given another meaning.
//!
//! Where to start: [`to_json`] and [`from_json`]. Nothing here reads or writes a file.

mod bench;
mod error;
mod iozone;
mod layout;
mod range;
mod schema;
pub mod wire;

pub use bench::{BENCH_SCHEMA, bench_from_json, bench_schema, bench_to_json};
pub use error::RecordError;
pub use iozone::{IOZONE_SCHEMA, iozone_schema, iozone_to_json};
pub use schema::schema;

use flashscope_model::RunRecord;
use serde::Deserialize;

/// Name and version of the format, as it stands in the `schema` field of every record.
pub const SCHEMA: &str = "flashscope.record/1";

/// The name without its version.
pub(crate) const SCHEMA_NAME: &str = "flashscope.record";

/// Which format a text says that it has; `None` where it says none.
pub fn schema_of(text: &str) -> Option<String> {
    serde_json::from_str::<Header>(text).ok()?.schema
}

/// One record as JSON, ending in a newline: indented for people, with every array of samples on one line, and
/// the same bytes for the same record.
pub fn to_json(record: &RunRecord) -> String {
    let mut text = layout::pretty(&to_value(record));
    text.push('\n');
    text
}

/// Several records as one JSON array, in the layout of [`to_json`].
pub fn to_json_array(records: &[RunRecord]) -> String {
    let mut text = layout::pretty(&serde_json::Value::Array(records.iter().map(to_value).collect()));
    text.push('\n');
    text
}

/// Reads what [`to_json`] wrote, every sample included.
///
/// # Errors
/// Where the text is not JSON or ends early, is no record or one of another version, or lacks or contradicts
/// a field. The message says what and where, and a hint what to do.
pub fn from_json(text: &str) -> Result<RunRecord, RecordError> {
    check_header(text, SCHEMA)?;
    range::check(text)?;
    let record: wire::Record = serde_json::from_str(text).map_err(|error| RecordError::from_parser(&error))?;
    record.into_model()
}

/// Reads one record, or an array of them as [`to_json_array`] wrote it.
///
/// # Errors
/// As [`from_json`]; the first record at fault decides.
pub fn from_json_many(text: &str) -> Result<Vec<RunRecord>, RecordError> {
    if !text.trim_start().starts_with('[') {
        return Ok(vec![from_json(text)?]);
    }
    let headers: Vec<Header> = serde_json::from_str(text).map_err(|error| RecordError::from_parser(&error))?;
    headers.iter().try_for_each(|header| header.check(SCHEMA))?;
    range::check(text)?;
    let records: Vec<wire::Record> = serde_json::from_str(text).map_err(|error| RecordError::from_parser(&error))?;
    records.into_iter().map(wire::Record::into_model).collect()
}

fn to_value(record: &RunRecord) -> serde_json::Value {
    serde_json::to_value(wire::Record::from_model(record)).expect("keys of a record are strings")
}

/// What must be right before the rest of a record is worth reading.
#[derive(Deserialize)]
struct Header {
    schema: Option<String>,
}

impl Header {
    fn check(&self, expected: &str) -> Result<(), RecordError> {
        match self.schema.as_deref() {
            Some(found) if found == expected => Ok(()),
            Some(other) => Err(RecordError::other_schema(other)),
            None => Err(RecordError::NotARecord),
        }
    }
}

fn check_header(text: &str, expected: &str) -> Result<(), RecordError> {
    match text.trim_start().chars().next() {
        None => return Err(RecordError::Empty),
        Some('[') => return Err(RecordError::Array),
        Some('{') => {}
        Some(_) => return Err(RecordError::NotARecord),
    }
    serde_json::from_str::<Header>(text).map_err(|error| RecordError::from_parser(&error))?.check(expected)
}
