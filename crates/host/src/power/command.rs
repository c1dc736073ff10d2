//! A command of the operator's that switches the power: a program with its arguments, run without a shell, with a limit of time.

use flashscope_units::Nanos;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fmt;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerCommand {
    words: Vec<String>,
}

/// Most of what a command says that is kept for the message when it fails.
const MOST_SAID: u64 = 4096;
/// How often it is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(5);
/// How long its complaint may take to arrive after it has ended.
const LAST_WORDS: Duration = Duration::from_millis(100);

impl PowerCommand {
    /// `None` where there is no program.
    pub fn new(words: Vec<String>) -> Option<PowerCommand> {
        (!words.is_empty()).then_some(PowerCommand { words })
    }

    /// Starts it, in a process group of its own: Ctrl-C is for us, and what it starts ends with it.
    pub(super) fn start(&self) -> Result<Running, String> {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("cannot start {self}: {error}"))?;
        let said = Arc::new(Mutex::new(Vec::new()));
        if let Some(pipe) = child.stderr.take() {
            let into = Arc::clone(&said);
            // Never waited for: what the command leaves behind may keep the pipe open.
            thread::spawn(move || read(pipe, &into));
        }
        Ok(Running { what: self.to_string(), child, said, begun: Instant::now() })
    }

    /// Starts it and waits until it has ended well.
    pub(super) fn run(&self, limit: Nanos) -> Result<(), String> {
        let mut running = self.start()?;
        while !running.has_ended()? {
            running.within(limit)?;
            thread::sleep(LOOK);
        }
        Ok(())
    }
}

impl fmt::Display for PowerCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.words.join(" "))
    }
}

/// A command that was started.
#[derive(Debug)]
pub(super) struct Running {
    what: String,
    child: Child,
    said: Arc<Mutex<Vec<u8>>>,
    begun: Instant,
}

impl Running {
    /// Whether it has ended, and well.
    pub(super) fn has_ended(&mut self) -> Result<bool, String> {
        match self.child.try_wait() {
            Ok(None) => Ok(false),
            Ok(Some(status)) if status.success() => Ok(true),
            Ok(Some(status)) => Err(self.complaint(status)),
            Err(error) => Err(format!("cannot wait for {}: {error}", self.what)),
        }
    }

    /// Since it was started.
    pub(super) fn age(&self) -> Nanos {
        Nanos(self.begun.elapsed().as_nanos() as u64)
    }

    /// An error where it takes longer than that; it is ended then.
    pub(super) fn within(&mut self, limit: Nanos) -> Result<(), String> {
        if self.age() < limit {
            return Ok(());
        }
        self.end();
        Err(format!("{} had not ended after {limit}, and was killed", self.what))
    }

    fn end(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }

    fn complaint(&self, status: ExitStatus) -> String {
        let until = Instant::now() + LAST_WORDS;
        let said = || String::from_utf8_lossy(&self.said.lock().unwrap_or_else(PoisonError::into_inner)).into_owned();
        while said().is_empty() && Instant::now() < until {
            thread::sleep(LOOK);
        }
        let said = said();
        let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("without a word");
        format!("{} ended with {status}: {}", self.what, first.trim())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.end();
        }
    }
}

fn read(pipe: impl Read, into: &Mutex<Vec<u8>>) {
    let mut part = [0; 512];
    let mut pipe = pipe.take(MOST_SAID);
    while let Ok(length @ 1..) = pipe.read(&mut part) {
        into.lock().unwrap_or_else(PoisonError::into_inner).extend(&part[..length]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str], limit: Nanos) -> Result<(), String> {
        PowerCommand::new(words.iter().map(|word| (*word).to_owned()).collect()).unwrap().run(limit)
    }

    #[test]
    fn what_fails_or_hangs_is_told_and_ended() {
        let limit = Nanos::secs(20);
        assert_eq!(run(&["true"], limit), Ok(()));
        let said = run(&["sh", "-c", "echo; echo no such hub >&2; exit 3"], limit).unwrap_err();
        assert!(said.contains("exit status: 3: no such hub"), "{said}");
        assert!(run(&["/nowhere/at/all"], limit).unwrap_err().contains("cannot start `/nowhere/at/all`"));
        let begun = Instant::now();
        // What it started ends with it.
        let said = run(&["sh", "-c", "sleep 100 & sleep 100"], Nanos::millis(200)).unwrap_err();
        assert!(said.contains("had not ended after 200 ms"), "{said}");
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn arguments_are_passed_as_they_are() {
        // A shell would make two words of it, and look for files.
        assert_eq!(run(&["test", "a *", "=", "a *"], Nanos::secs(20)), Ok(()));
        assert!(PowerCommand::new(Vec::new()).is_none());
    }
}
