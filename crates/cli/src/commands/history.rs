//! `history`: handed on to a program of its own beside this one, whose database would cost this one its size.

use crate::args::{self, HandedOn};
use crate::beside::Program;
use crate::error::{Failure, Outcome};
use crate::input::said;
use crate::output;
use anyhow::anyhow;
use std::io::{ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// That program.
const PROGRAM: Program = Program { name: "flashscope-history", folder: "store", does: "keeps the history" };

/// Whether the settings ask for every record to be kept.
static KEEPS: AtomicBool = AtomicBool::new(false);

/// Takes what the settings say of keeping records, before there is one.
pub(crate) fn set_keeping(keeps: bool) {
    KEEPS.store(keeps, Ordering::Relaxed);
}

/// Keeps the record of a run in the history, where the settings ask for it. Whatever becomes of that, the run's own result
/// stands: a failure is a warning.
pub(crate) fn keep(record: impl FnOnce() -> String) {
    if !KEEPS.load(Ordering::Relaxed) {
        return;
    }
    if let Err(why) = hand_over(&record()) {
        output::talk(&format!("warning: the record is not kept in the history: {why}"));
    }
}

fn hand_over(record: &str) -> Result<(), String> {
    let mut command = Command::new(PROGRAM.place().map_err(|error| error.to_string())?);
    command.args(["--quiet", "add", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| said(&error))?;
    // Where it does not want all of it, it says why itself.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(record.as_bytes()));
    let ended = child.wait_with_output().map_err(|error| said(&error))?;
    let words = String::from_utf8_lossy(&ended.stderr);
    if ended.status.success() { Ok(()) } else { Err(words.trim().trim_start_matches("error: ").to_owned()) }
}

pub(crate) fn run(asked: &HandedOn) -> Result<Outcome, Failure> {
    hand_on("history", &PROGRAM, asked)
}

/// Has a program beside this one take its place, for the command of this name.
pub(super) fn hand_on(command: &str, beside: &Program, asked: &HandedOn) -> Result<Outcome, Failure> {
    let program = beside.place()?;
    // It takes this one's place, so that its exit code, its signals and its terminal are its own.
    let error = Command::new(&program).args(output::manner().words()).args(&asked.words).exec();
    if error.kind() == ErrorKind::NotFound && asked.asks_for_help() {
        return output::data(&args::help_of(command)).map(|()| Outcome::Done);
    }
    let shown = program.display();
    Err(match error.kind() {
        ErrorKind::NotFound => beside.missing(&shown.to_string()),
        _ => Failure::Cannot(anyhow!("cannot start {shown}: {error}")),
    })
}
