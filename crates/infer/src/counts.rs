//! Files of counts that were made on simulated devices: a line for each count, and lines that begin with `#` for remarks.

use std::fmt;

/// What is wrong with the text of a table of counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableError {
    /// Its line, counted from 1.
    line: usize,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} is no count of a table\nhint: make the table anew", self.line)
    }
}

impl std::error::Error for TableError {}

/// Takes each line that is no remark.
///
/// # Errors
/// The first that is no count: for which `take` has nothing.
pub(crate) fn read(text: &str, mut take: impl FnMut(&str) -> Option<()>) -> Result<(), TableError> {
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        take(line).ok_or(TableError { line: number + 1 })?;
    }
    Ok(())
}

/// What stands at the head of a file.
pub(crate) fn remarks(text: &str) -> String {
    text.lines().map(|line| format!("# {line}\n")).collect()
}

/// Asserts that a text is refused for this line.
#[cfg(test)]
pub(crate) fn assert_refused<T: fmt::Debug + PartialEq>(read: Result<T, TableError>, line: usize) {
    assert_eq!(read, Err(TableError { line }));
}
