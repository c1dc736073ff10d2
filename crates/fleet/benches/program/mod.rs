//! A version's own program.

use flashscope_fleet::paired::Sailed;
use std::error::Error;
use std::process::Command;

/// What the program of a version finds, given the options of `flashscope fleet`.
pub(crate) fn found_by(program: &str, options: &[String]) -> Result<Sailed, Box<dyn Error>> {
    let output = Command::new(program).arg("fleet").args(options).arg("--json").output()?;
    let said = || format!("{program} fleet: {}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout).map_err(|_| said())?)
}
