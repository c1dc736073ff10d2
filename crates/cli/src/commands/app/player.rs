//! The program that plays an app once, started beside this one.

use super::cannot;
use crate::error::Failure;
use crate::interrupt;
use flashscope_app::wire::{Line, Order, Run};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Name of that program.
const PROGRAM: &str = "flashscope-player";

/// What it came to, and the version of its SQLite.
pub(super) struct Answer {
    pub(super) run: Run,
    pub(super) sqlite: String,
}

/// Has an app played; `progress` is told how many performances are done. Where the operator asks to stop, what was done until
/// then comes back.
pub(super) fn play(order: &Order, mut progress: impl FnMut(u64)) -> Result<Answer, Failure> {
    let program = std::env::current_exe()
        .map(|own| own.with_file_name(PROGRAM))
        .map_err(|error| cannot(format!("cannot tell where this program lies: {error}")))?;
    let mut child = started(&program)?;
    let mut stdin = child.stdin.take();
    let text = serde_json::to_string(order).expect("an order is plain data") + "\n";
    // Where it does not read, it says why on the other side.
    let _ = stdin.as_mut().map(|stdin| stdin.write_all(text.as_bytes()));
    let stdout = BufReader::new(child.stdout.take().expect("its stdout is a pipe"));
    let (tell, told) = mpsc::channel();
    let reader = std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
    let (mut sqlite, mut run, mut error) = (String::new(), None, None);
    loop {
        if interrupt::asked() {
            // With its stdin gone it stops, and says what it has.
            stdin = None;
        }
        let line = match told.recv_timeout(Duration::from_millis(100)) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        match serde_json::from_str(&line) {
            Ok(Line::Sqlite(version)) => sqlite = version,
            Ok(Line::Progress(done, _)) => progress(done),
            Ok(Line::Run(done)) => run = Some(*done),
            Ok(Line::Error(why)) => error = Some(why),
            Err(_) => error = Some(format!("{PROGRAM} said what is not understood: {line}")),
        }
    }
    drop(stdin);
    let _ = reader.join();
    let mut words = String::new();
    let _ = child.stderr.take().map(|mut stderr| stderr.read_to_string(&mut words));
    let status = child.wait().map_err(|error| cannot(format!("cannot wait for {PROGRAM}: {error}")))?;
    match (run, error) {
        (Some(run), None) => Ok(Answer { run, sqlite }),
        (_, Some(why)) => Err(cannot(why)),
        (None, None) => Err(cannot(format!("{PROGRAM} ended with {status}: {}", words.trim()))),
    }
}

fn started(program: &Path) -> Result<Child, Failure> {
    let mut command = Command::new(program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Ctrl-C is for this program, which has it stop in good order.
    command.process_group(0);
    command.spawn().map_err(|error| {
        let shown = program.display();
        cannot(match error.kind() {
            ErrorKind::NotFound => format!(
                "there is no {shown}, which plays apps\nhint: build it with `cargo build --release -p flashscope-player`"
            ),
            _ => format!("cannot start {shown}: {error}"),
        })
    })
}
