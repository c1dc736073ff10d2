//! The log of writes as a file, for other people's replay tools.

use crate::args::Integrity;
use crate::error::Failure;
use crate::{output, target};
use anyhow::anyhow;
use flashscope_host::power::stands_on;
use flashscope_host::{Output, Outputs, SysRoot, payload};
use flashscope_integrity::log_writes::{LogWrites, Sink};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Where the log goes, if there is to be one; nothing is written yet.
///
/// # Errors
/// It would lie on the device that is tested, or may not be written.
pub(super) fn planned(args: &Integrity, door: &mut Outputs) -> Result<Option<Output>, Failure> {
    let Some(path) = &args.log_writes else { return Ok(None) };
    let device = Path::new(&args.target.target);
    let is_real = !args.target.target.starts_with("sim:");
    if is_real && stands_on(&SysRoot::live(), path, device).map_err(target::failure)? {
        return Err(Failure::Cannot(anyhow!(
            "the log {} would lie on {}, which loses its power\nhint: name a file on another disk",
            path.display(),
            device.display()
        )));
    }
    output::plan(door, path).map(Some)
}

/// Begins it.
///
/// # Errors
/// Of the file.
pub(super) fn begun(place: Option<&Output>) -> Result<Option<LogWrites<LogFile>>, Failure> {
    let Some(place) = place else { return Ok(None) };
    let file = LogFile(place.begin().map_err(target::failure)?);
    LogWrites::new(file, payload::fill).map(Some).map_err(|why| Failure::Cannot(anyhow!(why)))
}

/// The file of a log.
pub(super) struct LogFile(File);

impl Sink for LogFile {
    fn put(&mut self, at: u64, bytes: &[u8]) -> Result<(), String> {
        self.0.write_all_at(bytes, at).map_err(|error| format!("cannot write the log of writes: {error}"))
    }
}
