//! What is wrong with a table, where, and what to do.

use std::fmt;

/// A table that cannot be read, or in more than one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableError {
    /// Line in the file, from 1.
    pub line: Option<u64>,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub hint: String,
}

impl TableError {
    pub(crate) fn new(what: impl Into<String>, hint: impl Into<String>) -> TableError {
        TableError { line: None, what: what.into(), hint: hint.into() }
    }

    pub(crate) fn at(line: u64, what: impl Into<String>, hint: impl Into<String>) -> TableError {
        TableError { line: Some(line), ..TableError::new(what, hint) }
    }

    pub(crate) fn of_csv(error: csv::Error) -> TableError {
        let line = error.position().map(csv::Position::line);
        let what = match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("{len} cells, and the headings are {expected_len}")
            }
            csv::ErrorKind::Utf8 { .. } => "bytes that are no UTF-8 text".to_owned(),
            _ => error.to_string(),
        };
        TableError { line, ..TableError::new(what, "cells that hold the separator are put into double quotes") }
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}\nhint: {}", self.what, self.hint)
    }
}

impl std::error::Error for TableError {}
