//! The programs beside this one, which hold what would make it too large. It starts them itself.

use crate::error::Failure;
use anyhow::anyhow;
use std::path::PathBuf;

/// One of them.
pub(crate) struct Program {
    /// The name of its file.
    pub(crate) name: &'static str,
    /// The folder of its crate below `crates`.
    pub(crate) folder: &'static str,
    /// What it does, behind "which".
    pub(crate) does: &'static str,
}

impl Program {
    /// Where it has to lie.
    ///
    /// # Errors
    /// This program cannot tell where it lies itself.
    pub(crate) fn place(&self) -> Result<PathBuf, Failure> {
        let own = std::env::current_exe();
        let own = own.map_err(|error| anyhow!("cannot tell where this program lies: {error}"))?;
        Ok(own.with_file_name(self.name))
    }

    /// Where it lies.
    ///
    /// # Errors
    /// It is not there.
    pub(crate) fn found(&self) -> Result<PathBuf, Failure> {
        let place = self.place()?;
        if place.exists() { Ok(place) } else { Err(self.missing(&place.display().to_string())) }
    }

    /// It is not in its place, and how to get it.
    pub(crate) fn missing(&self, place: &str) -> Failure {
        let Program { folder, does, .. } = self;
        Failure::Cannot(anyhow!(
            "there is no {place}, which {does}\nhint: build it with `cargo build --release -p flashscope-{folder}`, or, \
             where this program came by `cargo install`, with `cargo install --path crates/{folder}`; packages hold it"
        ))
    }
}
