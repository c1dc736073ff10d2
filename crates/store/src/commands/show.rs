//! `history show`: a record again. Its forms are the main program's, which is handed the record on its stdin.

use super::{main_program, missing};
use crate::args::Show;
use crate::output;
use anyhow::Result;
use flashscope_store::{Access, Store};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{ExitCode, Stdio};

pub(crate) fn run(file: &Path, show: &Show, color: Option<String>, verbose: bool) -> Result<ExitCode> {
    let record = Store::open(file, Access::Read)?.record(show.id)?;
    if show.json {
        output::bytes(record.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut command = main_program()?;
    command.args(["report", "/dev/stdin"]).args(&show.report);
    command.args(color.map(|color| format!("--color={color}"))).args(verbose.then_some("--verbose"));
    let mut child = command.stdin(Stdio::piped()).spawn().map_err(|error| missing(&error.to_string()))?;
    if let Some(mut stdin) = child.stdin.take() {
        // Where it does not want all of it, it says why itself.
        stdin.write_all(record.as_bytes()).or_else(|error| match error.kind() {
            ErrorKind::BrokenPipe => Ok(()),
            _ => Err(error),
        })?;
    }
    let code = child.wait()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(2)))
}
