//! Other people's programs: found in `PATH`, run with a list of arguments and a limit of time.

use flashscope_device::PurgeError;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Where tools are found, and how long they may take.
#[derive(Clone, Debug)]
pub struct Tools {
    /// The directories to look in, as in `PATH`.
    pub path: OsString,
    /// How long a question may take.
    pub ask: Duration,
    /// How long the work may take.
    pub work: Duration,
    /// How often a device that works by itself is asked how far it is.
    pub look: Duration,
}

impl Tools {
    /// Those of a search path: a minute for a question, and six hours for the work. Drives state minutes for an erase.
    pub fn in_path(path: OsString) -> Tools {
        Tools { path, ask: Duration::from_secs(60), work: Duration::from_secs(6 * 3600), look: Duration::from_secs(2) }
    }

    /// Where a tool is.
    fn find(&self, name: &str) -> Option<PathBuf> {
        std::env::split_paths(&self.path).map(|directory| directory.join(name)).find(|path| path.is_file())
    }

    /// Whether a tool is installed.
    pub(super) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// What a tool answers on stdout.
    pub(super) fn ask(&self, name: &str, arguments: &[&OsStr]) -> Result<String, PurgeError> {
        self.run(name, arguments, self.ask, &mut || true)
    }

    /// What a tool says on stdout, however it ends: some end with a warning about what they tell. `None` where it is not installed, or
    /// does not come to an end.
    pub fn told(&self, name: &str, arguments: &[&OsStr]) -> Option<String> {
        let (_, [said, _]) = self.ended(name, arguments, self.ask, &mut || true).ok()?;
        Some(said)
    }

    /// Has a tool work, and waits for it.
    pub(super) fn work(
        &self,
        name: &str,
        arguments: &[&OsStr],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<String, PurgeError> {
        self.run(name, arguments, self.work, go_on)
    }

    /// Asks again and again until `done` gives an answer.
    pub(super) fn await_end(
        &self,
        name: &str,
        arguments: &[&OsStr],
        go_on: &mut dyn FnMut() -> bool,
        done: impl Fn(&str) -> Option<Result<(), PurgeError>>,
    ) -> Result<(), PurgeError> {
        let begun = Instant::now();
        loop {
            if let Some(end) = done(&self.ask(name, arguments)?) {
                return end;
            }
            if begun.elapsed() >= self.work {
                return Err(PurgeError::Hung(format!("the device was still at it after {} s", self.work.as_secs())));
            }
            pause(self.look, go_on)?;
        }
    }

    fn run(
        &self,
        name: &str,
        arguments: &[&OsStr],
        limit: Duration,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<String, PurgeError> {
        let (status, [said, complaint]) = self.ended(name, arguments, limit, go_on)?;
        if status.success() {
            return Ok(said);
        }
        let first = complaint.lines().chain(said.lines()).find(|line| !line.trim().is_empty());
        Err(PurgeError::Failed(format!("`{name}` ended with {status}: {}", first.unwrap_or("without a word").trim())))
    }

    /// How a tool ended, what it said and what it complained of.
    fn ended(
        &self,
        name: &str,
        arguments: &[&OsStr],
        limit: Duration,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(ExitStatus, [String; 2]), PurgeError> {
        let program = self.find(name).ok_or_else(|| PurgeError::Absent(format!("`{name}` is not installed")))?;
        let failed = |what: &str, error: std::io::Error| PurgeError::Failed(format!("cannot {what} {name}: {error}"));
        let mut child = spawn(&program, arguments).map_err(|error| failed("start", error))?;
        // Read beside it, as a tool that fills a pipe which nobody empties would wait for ever.
        let outputs = [child.stdout.take().map(reader), child.stderr.take().map(reader)];
        let begun = Instant::now();
        let status = loop {
            match child.try_wait().map_err(|error| failed("wait for", error))? {
                Some(status) => break status,
                None if begun.elapsed() >= limit => {
                    end(&mut child);
                    return Err(PurgeError::Hung(format!("`{name}` had not ended after {} s", limit.as_secs_f32())));
                }
                None => pause(Duration::from_millis(20), go_on).inspect_err(|_| end(&mut child))?,
            }
        };
        Ok((status, outputs.map(|output| output.and_then(|thread| thread.join().ok()).unwrap_or_default())))
    }
}

/// Lets time pass, as long as that is wanted.
fn pause(time: Duration, go_on: &mut dyn FnMut() -> bool) -> Result<(), PurgeError> {
    let end = Instant::now() + time;
    loop {
        if !go_on() {
            return Err(PurgeError::Stopped);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        thread::sleep(left.min(Duration::from_millis(100)));
    }
}

fn spawn(program: &Path, arguments: &[&OsStr]) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    // Nobody may be asked anything, and what is said must be in the words that are looked for.
    command.args(arguments).env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn()
}

/// All that comes out of a pipe, up to 1 MiB; no tool says more.
fn reader(pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.take(1 << 20).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
