//! fio's job files and command lines, read by fio's own rules.
//!
//! [`read`] takes what fio would be given and makes a [`JobSet`] of it. Whatever changes a result is either carried out, or
//! refused by name with its file and line; what is carried out in another way than fio does it is told in
//! [`Jobs::notes`], and what changes no result in [`Jobs::without_effect`]. Nothing is dropped in silence.
//!
//! No file, variable or device is looked at here: [`World`] answers for them. Where fio's documentation leaves a rule open, what
//! fio 3.33 does decides; `crates/cli/tests/cli/fio.rs` runs both side by side.

mod job;
mod options;
mod text;
mod value;

use crate::job::JobSet;
use flashscope_units::Bytes;
use std::fmt;

/// What is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A job file of this name.
    File {
        /// As it was named; files that it includes are looked for beside it.
        name: String,
        /// Its text.
        text: String,
    },
    /// The words of a command line, without the program's name.
    Words(Vec<String>),
}

/// What jobs may ask about the machine.
pub struct World<'a> {
    /// The text of a file that is included.
    pub file: &'a dyn Fn(&str) -> Result<String, String>,
    /// An environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Size of a file or device; `None` where there is nothing of that name.
    pub size: &'a dyn Fn(&str) -> Option<Bytes>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Jobs {
    /// The jobs, each with a target of its own.
    pub set: JobSet,
    /// What is done in another way than fio does it, in words.
    pub notes: Vec<String>,
    /// Options that change no result here, each once.
    pub without_effect: Vec<String>,
    /// Whether the page cache is left as it is (`invalidate=0`).
    pub warm: bool,
}

/// Why it cannot be run. Prints as one line, and a hint on its own line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioError {
    /// File and line, or that it was on the command line.
    pub at: Place,
    /// What is wrong; names the option.
    pub what: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Where something was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the file; `None` on the command line.
    pub file: Option<String>,
    /// Its line, from 1.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{file}, line {}", self.line),
            None => write!(f, "fio's command line"),
        }
    }
}

impl fmt::Display for FioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.what)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

impl std::error::Error for FioError {}

/// Reads all inputs in their order, as fio does; of their jobs only those named in `sections`, where any are.
///
/// # Errors
/// What is not understood, makes no sense, or cannot be done here, by name and place.
pub fn read(inputs: &[Input], sections: &[String], world: &World<'_>) -> Result<Jobs, FioError> {
    let mut parsed = text::Parsed::default();
    for input in inputs {
        match input {
            Input::File { name, text } => text::read_file(&mut parsed, name, text, world)?,
            Input::Words(words) => text::read_words(&mut parsed, words, world)?,
        }
    }
    parsed.sections.extend_from_slice(sections);
    job::assemble(parsed, world)
}

#[cfg(test)]
mod tests;
