//! Why a trace cannot be read.

use std::fmt;

/// Why a trace cannot be read or written.
#[derive(Debug)]
pub enum TraceError {
    /// The file itself could not be read or written.
    Io(std::io::Error),
    /// The file ends before the trace does; so many requests before that are whole.
    Truncated {
        /// Requests that could be read.
        whole: u64,
    },
    /// Something in it cannot be.
    Broken {
        /// Where: a line from 1 of a text, else the offset of a byte.
        place: Place,
        /// What is wrong.
        what: String,
    },
    /// It is no trace of a format that is known, or needs to be told more.
    Unclear {
        /// What is not clear.
        what: String,
        /// What to do.
        hint: String,
    },
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a text, from 1.
    Line(u64),
    /// A byte, from 0.
    Byte(u64),
}

impl TraceError {
    pub(crate) fn line(number: u64, what: impl Into<String>) -> TraceError {
        TraceError::Broken { place: Place::Line(number), what: what.into() }
    }

    pub(crate) fn byte(at: u64, what: impl Into<String>) -> TraceError {
        TraceError::Broken { place: Place::Byte(at), what: what.into() }
    }

    pub(crate) fn unclear(what: impl Into<String>, hint: impl Into<String>) -> TraceError {
        TraceError::Unclear { what: what.into(), hint: hint.into() }
    }
}

impl From<std::io::Error> for TraceError {
    fn from(error: std::io::Error) -> TraceError {
        TraceError::Io(error)
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::Io(error) => write!(f, "{error}"),
            TraceError::Truncated { whole } => write!(
                f,
                "the trace ends early: {whole} requests before that are whole\nhint: `flashscope trace cut FILE -o PART \
                 --keep-whole` keeps those"
            ),
            TraceError::Broken { place: Place::Line(line), what } => write!(f, "line {line}: {what}"),
            TraceError::Broken { place: Place::Byte(at), what } => write!(f, "byte {at}: {what}"),
            TraceError::Unclear { what, hint } => write!(f, "{what}\nhint: {hint}"),
        }
    }
}

impl std::error::Error for TraceError {}
