//! `history show`: a record again. Its forms are the main program's, which is handed the record on its stdin.

use super::{main_program, missing};
use crate::args::Show;
use anyhow::Result;
use flashscope_console::{self as console, Manner};
use flashscope_store::{Access, Store};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{ExitCode, Stdio};

pub(crate) fn run(file: &Path, show: &Show, manner: Manner) -> Result<ExitCode> {
    let record = Store::open(file, Access::Read)?.record(show.id)?;
    if show.json {
        console::bytes(record.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut command = main_program()?;
    command.args(["report", "/dev/stdin"]).args(&show.report);
    command.args(Manner { quiet: false, ..manner }.words());
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
