//! Why a text is not a record.

use crate::SCHEMA;
use flashscope_model::Kind;
use std::fmt;

/// Why a text is not a record that this version can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// There is nothing in it.
    Empty,
    /// It is not a JSON object with a `schema` field.
    NotARecord,
    /// It is an array where one record was asked for.
    Array,
    /// It ends in the middle.
    Truncated {
        /// Line at which it ends, counted from 1.
        line: usize,
    },
    /// It is not JSON.
    Syntax {
        /// Line, counted from 1.
        line: usize,
        /// Column, counted from 1.
        column: usize,
        /// What the parser says.
        what: String,
    },
    /// It is JSON of another kind.
    OtherSchema(String),
    /// It is a record of a version of the format that is not known here.
    OtherVersion(String),
    /// It is a record, but holds something else than what was asked for.
    OtherKind {
        /// The word of its kind.
        found: String,
        /// What was asked for.
        wanted: &'static [Kind],
    },
    /// A field is missing, or of another type than it should be.
    Field {
        /// Line, counted from 1; `None` in an array of records, and in a record of an earlier version.
        line: Option<usize>,
        /// What the parser says.
        what: String,
    },
    /// A number that no device, run or clock gives.
    Range {
        /// Its path in the record.
        field: String,
        /// What it is, and what it may be.
        what: String,
    },
    /// Fields contradict each other.
    Contradiction {
        /// Where.
        field: String,
        /// How.
        what: String,
    },
}

impl RecordError {
    pub(crate) fn from_parser(error: &serde_json::Error) -> RecordError {
        let line = error.line();
        // The parser ends its messages with the position, which the variants carry themselves.
        let message = error.to_string();
        let what = message.split(" at line ").next().unwrap_or_default().to_owned();
        match error.classify() {
            serde_json::error::Category::Eof => RecordError::Truncated { line },
            serde_json::error::Category::Data => RecordError::Field { line: (line > 0).then_some(line), what },
            _ => RecordError::Syntax { line, column: error.column(), what },
        }
    }

    pub(crate) fn other_schema(found: &str) -> RecordError {
        match found.split_once('/') {
            Some(("flashscope.record", _)) => RecordError::OtherVersion(found.to_owned()),
            _ => RecordError::OtherSchema(found.to_owned()),
        }
    }

    pub(crate) fn other_kind(found: &str, wanted: &'static [Kind]) -> RecordError {
        RecordError::OtherKind { found: found.to_owned(), wanted }
    }

    pub(crate) fn contradiction(field: impl Into<String>, what: impl Into<String>) -> RecordError {
        RecordError::Contradiction { field: field.into(), what: what.into() }
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "the record is empty\nhint: was the run stopped before it wrote anything?"),
            Self::NotARecord => write!(
                f,
                "not a flashscope record: there is no \"schema\" field\n\
                 hint: records are what `--json` prints; flashbench logs are read by `flashscope infer`"
            ),
            Self::Array => {
                write!(f, "an array of records where one record is expected\nhint: take one of them: `jq '.[0]'`")
            }
            Self::Truncated { line } => write!(
                f,
                "the record ends in the middle, at line {line}\n\
                 hint: was the run or the copy of the file cut short?"
            ),
            Self::Syntax { line, column, what } => write!(
                f,
                "not valid JSON at line {line}, column {column}: {what}\n\
                 hint: records are what `--json` prints; flashbench logs are read by `flashscope infer`"
            ),
            Self::OtherSchema(found) => {
                write!(f, "schema '{found}' is not a flashscope record\nhint: {SCHEMA} is expected")
            }
            Self::OtherVersion(found) => write!(
                f,
                "record version '{found}' cannot be read by this flashscope, which reads {SCHEMA}\n\
                 hint: read it with the version of flashscope that wrote it (field tool.version), or a later one"
            ),
            Self::OtherKind { found, wanted } if Kind::of_word(found).is_none() => write!(
                f,
                "a record of kind '{found}', which this flashscope does not know (it knows {})\n\
                 hint: read it with the version of flashscope that wrote it (field tool.version), or a later one",
                words(wanted)
            ),
            Self::OtherKind { found, wanted } => write!(
                f,
                "a record of {found} where one of {} is needed\n\
                 hint: `flashscope report FILE` shows a record of any kind",
                words(wanted)
            ),
            Self::Field { line, what } => write!(
                f,
                "{} does not follow {SCHEMA}: {what}\n\
                 hint: was the file edited, or written by a later flashscope (field tool.version)?",
                line.map_or("a field".to_owned(), |line| format!("field at line {line}"))
            ),
            Self::Range { field, what } => {
                write!(f, "{field} is out of its range: {what}\nhint: was the file edited by hand?")
            }
            Self::Contradiction { field, what } => {
                write!(f, "{field} contradicts itself: {what}\nhint: was the file edited by hand?")
            }
        }
    }
}

impl std::error::Error for RecordError {}

fn words(kinds: &[Kind]) -> String {
    let words: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
