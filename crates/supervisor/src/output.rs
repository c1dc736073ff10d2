//! The files beside what is printed.

use anyhow::{Result, anyhow};
use flashscope_host::Outputs;
use std::path::Path;

/// Writes a file of flashscope's own whole, or leaves what was there.
pub(crate) fn save(path: &Path, content: &[u8]) -> Result<()> {
    let mut door = Outputs::new(false, flashscope_report::is_ours);
    let written = door.plan(path).and_then(|output| output.write(content));
    written.map_err(|error| anyhow!("{error}"))
}
