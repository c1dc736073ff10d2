//! ATA, through `hdparm`: the sanitise by block erase. Its older security erase is left alone: it sets a password first, and
//! a drive that is cut off meanwhile stays locked.

use super::Tools;
use flashscope_device::{Availability, PurgeError};
use std::ffi::OsStr;
use std::path::Path;

const TOOL: &str = "hdparm";

/// What the drive says that it has.
pub(super) fn offer(tools: &Tools, disk: &Path) -> Availability {
    if !tools.has(TOOL) {
        return Availability::Absent("`hdparm` is not installed".to_owned());
    }
    match tools.ask(TOOL, &[OsStr::new("-I"), disk.as_os_str()]) {
        // A line that begins with a star is of what is switched on; one without is of what could be.
        Ok(said) if said.lines().any(|line| is_on(line, "BLOCK_ERASE_EXT command")) => Availability::There,
        Ok(_) => Availability::Absent("the drive has no sanitise by block erase".to_owned()),
        Err(error) => Availability::Absent(format!("the drive cannot be asked: {error}")),
    }
}

fn is_on(line: &str, feature: &str) -> bool {
    line.trim().strip_prefix('*').is_some_and(|rest| rest.trim() == feature)
}

/// Block erase of everything, waited for.
pub(super) fn sanitize(tools: &Tools, disk: &Path, go_on: &mut dyn FnMut() -> bool) -> Result<String, PurgeError> {
    let words = ["--yes-i-know-what-i-am-doing", "--sanitize-block-erase"].map(OsStr::new);
    tools.work(TOOL, &[words[0], words[1], disk.as_os_str()], go_on)?;
    let status = [OsStr::new("--sanitize-status"), disk.as_os_str()];
    tools.await_end(TOOL, &status, go_on, |said| {
        let said = said.to_lowercase();
        let failed = |why: &str| Some(Err(PurgeError::Failed(why.to_owned())));
        match () {
            () if said.contains("operation in process") => None,
            () if said.contains("completed without error") || said.contains("operation succeeded") => Some(Ok(())),
            () if said.contains("frozen") => failed("the drive's sanitise is frozen until its next power cycle"),
            () => failed("the drive says that the sanitise failed"),
        }
    })?;
    Ok("hdparm --sanitize-block-erase".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_switched_on_counts() {
        assert!(is_on("\t   *\tBLOCK_ERASE_EXT command", "BLOCK_ERASE_EXT command"));
        assert!(!is_on("\t    \tBLOCK_ERASE_EXT command", "BLOCK_ERASE_EXT command"));
    }
}
