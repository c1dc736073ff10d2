//! The versioned wire format of every record: JSON, and the JSON Schema that describes it.
//!
//! This crate holds the only serialised form of a result. The structs of [`wire`] mirror the model, so that renaming a field of
//! the model cannot change a published file by accident. A record is an envelope, which is the same for all kinds, and beside
//! it the part of its kind; both stand at the top level of one JSON object. The format is a contract ([`SCHEMA`]): within
//! a version fields may be added, never renamed, removed or given another meaning. Records of earlier versions are brought up
//! to date on reading, in `old` and nowhere else.
//!
//! Where to start: [`to_json`], [`from_json`] for one kind and [`read`] for any. Nothing here reads or writes a file.

mod error;
mod kinds;
mod layout;
mod mirror;
mod old;
mod range;
mod schema;
pub mod wire;

pub use error::RecordError;
pub use flashscope_model::AnyRecord;
pub use kinds::{Recorded, any_to_json};
pub use schema::schema;

use mirror::Mirror;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;

/// Name and version of the format, as it stands in the `schema` field of every record.
pub const SCHEMA: &str = "flashscope.record/2";

/// One record as JSON, ending in a newline: indented for people, with every array of samples on one line, and
/// the same bytes for the same record.
pub fn to_json<R: Recorded>(record: &R) -> String {
    text(&to_value(record))
}

/// Several records as one JSON array, in the layout of [`to_json`].
pub fn to_json_array<R: Recorded>(records: &[R]) -> String {
    text(&Value::Array(records.iter().map(to_value).collect()))
}

/// Reads what [`to_json`] wrote, every sample included, by this version or an earlier one.
///
/// # Errors
/// Where the text is not JSON or ends early, is no record, one of a later version or of another kind, or lacks or
/// contradicts a field. The message says what and where, and a hint what to do.
pub fn from_json<R: Recorded>(text: &str) -> Result<R, RecordError> {
    Source::open(text)?.record()
}

/// Reads one record, or an array of them as [`to_json_array`] wrote it.
///
/// # Errors
/// As [`from_json`]; the first record at fault decides.
pub fn from_json_many<R: Recorded>(text: &str) -> Result<Vec<R>, RecordError> {
    if !text.trim_start().starts_with('[') {
        return Ok(vec![from_json(text)?]);
    }
    let values: Vec<Value> = serde_json::from_str(text).map_err(|error| RecordError::from_parser(&error))?;
    values.into_iter().map(|value| Source::of_value(value)?.record()).collect()
}

/// Reads a record of whatever kind.
///
/// # Errors
/// As [`from_json`], but for the kind.
pub fn read(text: &str) -> Result<AnyRecord, RecordError> {
    kinds::any(&Source::open(text)?)
}

fn text(value: &Value) -> String {
    let mut text = layout::pretty(value);
    text.push('\n');
    text
}

fn to_value<R: Recorded>(record: &R) -> Value {
    const KEYS: &str = "keys of a record are strings";
    let mut whole = serde_json::to_value(wire::Envelope::from_model(record.envelope())).expect(KEYS);
    let part = serde_json::to_value(record.part()).expect(KEYS);
    if let (Value::Object(whole), Value::Object(part)) = (&mut whole, part) {
        whole.extend(part);
    }
    whole
}

/// A record of this version before its fields are read. Always as a text: every type of the format is then read from one kind
/// of source, and compiled once.
pub(crate) struct Source<'a> {
    text: Cow<'a, str>,
    /// Whether it is what stands in the file, so that faults have a line: no record out of an array, nor one brought up to date.
    has_lines: bool,
}

/// What must be right before the rest of a record is worth reading.
#[derive(Deserialize)]
struct Header {
    schema: Option<String>,
}

/// The kind alone.
#[derive(Deserialize)]
struct KindOf {
    kind: String,
}

impl<'a> Source<'a> {
    fn open(text: &'a str) -> Result<Source<'a>, RecordError> {
        match text.trim_start().chars().next() {
            None => return Err(RecordError::Empty),
            Some('[') => return Err(RecordError::Array),
            Some('{') => {}
            Some(_) => return Err(RecordError::NotARecord),
        }
        let header: Header = serde_json::from_str(text).map_err(|error| RecordError::from_parser(&error))?;
        if header.schema.as_deref() == Some(SCHEMA) {
            range::check(text)?;
            return Ok(Source { text: text.into(), has_lines: true });
        }
        Source::of_value(serde_json::from_str(text).map_err(|error| RecordError::from_parser(&error))?)
    }

    fn of_value(value: Value) -> Result<Source<'a>, RecordError> {
        let schema = value.get("schema").and_then(Value::as_str).ok_or(RecordError::NotARecord)?;
        let upgrade = match schema {
            SCHEMA => std::convert::identity,
            other => old::upgrade_of(other).ok_or_else(|| RecordError::other_schema(other))?,
        };
        range::check_value(&value)?;
        Ok(Source { text: upgrade(value).to_string().into(), has_lines: false })
    }

    /// The word of its kind.
    fn kind(&self) -> Result<String, RecordError> {
        self.parse::<KindOf>().map(|found| found.kind)
    }

    /// Some of its fields; others are passed over.
    fn parse<T: DeserializeOwned>(&self) -> Result<T, RecordError> {
        serde_json::from_str(&self.text).map_err(|error| match RecordError::from_parser(&error) {
            RecordError::Field { what, .. } if !self.has_lines => RecordError::Field { line: None, what },
            error => error,
        })
    }

    fn record<R: Recorded>(&self) -> Result<R, RecordError> {
        let kind = self.kind()?;
        if !R::KINDS.iter().any(|wanted| wanted.word() == kind) {
            return Err(RecordError::other_kind(&kind, R::KINDS));
        }
        self.of_this_kind()
    }

    /// As [`Source::record`], once its kind is known.
    fn of_this_kind<R: Recorded>(&self) -> Result<R, RecordError> {
        // Twice over the same text: each time a struct of its own, so that a fault has its line, which serde's `flatten` loses.
        let envelope = self.parse::<wire::Envelope>()?.into_model()?;
        R::of(envelope, self.parse()?)
    }
}
