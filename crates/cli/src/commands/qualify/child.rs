//! One run: this same program once more, told by a list of words, never by a shell.

use crate::error::Failure;
use crate::input;
use anyhow::anyhow;
use flashscope_units::Nanos;
use std::ffi::OsString;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Instant;

/// What came of it.
pub(super) struct Ran {
    /// Its exit code; `None` where a signal ended it.
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) took: Nanos,
}

/// Runs it to its end. What the settings and the environment of this host say of other runs is none of its business: the plan
/// alone decides.
pub(super) fn run(words: &[OsString]) -> Result<Ran, Failure> {
    let program = std::env::current_exe().map_err(|error| anyhow!("cannot tell where this program lies: {error}"))?;
    let mut command = Command::new(program);
    command.args(["--settings", "/dev/null", "--color", "never"]).args(words);
    for variable in ["FLASHSCOPE_SEED", "FLASHSCOPE_MAX_WRITE", "FLASHSCOPE_SETTINGS"] {
        command.env_remove(variable);
    }
    watched(command)
}

/// Starts a command, and waits for it.
pub(super) fn watched(mut command: Command) -> Result<Ran, Failure> {
    let shown = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let begun = Instant::now();
    let mut child = command.spawn().map_err(|error| anyhow!("cannot start {shown}: {}", input::said(&error)))?;
    let stderr = child.stderr.take();
    let talk = std::thread::spawn(move || all(stderr));
    let stdout = all(child.stdout.take());
    let status = child.wait().map_err(|error| anyhow!("cannot wait for {shown}: {error}"))?;
    let took = Nanos(u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX));
    Ok(Ran { code: status.code(), stdout, stderr: talk.join().unwrap_or_default(), took })
}

fn all(from: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // What cannot be read was not said.
    let _ = from.map(|mut from| from.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Ran {
    /// What went wrong, in one line.
    pub(super) fn why(&self) -> String {
        let said = self.stderr.lines().find_map(|line| line.strip_prefix("error: "));
        let last = self.stderr.lines().rfind(|line| !line.trim().is_empty());
        match (said.or(last), self.code) {
            (Some(said), _) => said.trim().to_owned(),
            (None, Some(code)) => format!("it ended with {code} and said nothing"),
            (None, None) => "a signal ended it".to_owned(),
        }
    }
}
