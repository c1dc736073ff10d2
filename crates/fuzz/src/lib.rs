//! Fuzz targets for everything that reads text from outside: whatever the text, it is read or refused, and what was read can
//! be worked with. A target returns; a panic is a finding.
//!
//! [`TARGETS`] names them, `corpus/NAME/` holds what each begins with, [`mutate`] changes that. `tests/corpus.rs` replays the
//! corpus with some changes of each file; `scripts/fuzz SECONDS [TARGET]` goes on for longer. The changes
//! are made here and not by `cargo-fuzz` or `bolero`, whose engines need a nightly compiler or instrumented builds for more than
//! random bytes: these texts are words and numbers, and changing those finds what random bytes never reach.

pub mod mutate;
mod targets;

use std::path::{Path, PathBuf};

/// One parser, and what is done with what it has read.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, and that of its folder in the corpus.
    pub name: &'static str,
    /// Reads a text that may be anything.
    pub run: fn(&[u8]),
}

/// Every target.
pub const TARGETS: [Target; 13] = [
    Target { name: "log", run: targets::log },
    Target { name: "record", run: targets::record },
    Target { name: "any-record", run: targets::any_record },
    Target { name: "table", run: targets::table },
    Target { name: "model", run: targets::model },
    Target { name: "fio", run: targets::fio },
    Target { name: "iozone", run: targets::iozone },
    Target { name: "jobs", run: targets::jobs },
    Target { name: "definition", run: targets::definition },
    Target { name: "integrity-journal", run: targets::integrity_journal },
    Target { name: "quantity", run: targets::quantity },
    Target { name: "trace", run: targets::trace },
    Target { name: "kernel-page", run: targets::kernel_page },
];

/// The corpus of a target: each file's name and bytes, in order of the names.
///
/// # Errors
/// Where the folder cannot be read.
pub fn corpus(target: &str) -> std::io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    paths.into_iter().map(|path| std::fs::read(&path).map(|bytes| (path, bytes))).collect()
}
