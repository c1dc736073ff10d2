//! A worker: `flashscope` on one device, in a process of its own.
//!
//! Between this program and `flashscope` stands this program once more ([`become_worker`]): it takes the lock of the run, asks the
//! kernel to be interrupted when its parent dies, and then becomes `flashscope`. So a worker never outlives a supervisor that is
//! killed by more than what an interrupt takes, and while it does, nobody begins the same run beside it. The lock is an open file
//! that goes on into whatever the worker starts itself.

use flashscope_console as console;
use rustix::fs::{FlockOperation, flock};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{
    Pid, PidfdFlags, Signal, getppid, pidfd_open, pidfd_send_signal, set_parent_process_death_signal,
};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

/// The word by which this program is told to become a worker.
pub const BECOME: &str = "--become-worker";
/// Ends so where the run is locked: an earlier worker is still at its end. No exit code of flashscope.
pub const HELD: i32 = 75;
/// Name of the program that measures.
const PROGRAM: &str = "flashscope";

/// A process that is to be stopped some day, whatever becomes of its number.
#[derive(Debug)]
pub struct Handle(OwnedFd);

impl Handle {
    /// Has it stop in good order.
    pub fn interrupt(&self) {
        let _ = pidfd_send_signal(&self.0, Signal::INT);
    }

    /// Ends it.
    pub fn kill(&self) {
        let _ = pidfd_send_signal(&self.0, Signal::KILL);
    }
}

/// Where the program that measures lies: beside this one.
///
/// # Errors
/// It is not there.
pub fn program() -> io::Result<std::path::PathBuf> {
    let program = std::env::current_exe()?.with_file_name(PROGRAM);
    match program.exists() {
        true => Ok(program),
        false => Err(io::Error::other(format!(
            "there is no {}, which measures\nhint: build it with `cargo build --release`",
            program.display()
        ))),
    }
}

/// Starts `flashscope` with these words in a run's folder. To be called by a thread that lives as long as this program: the
/// kernel takes the end of that thread for the death of the parent.
///
/// # Errors
/// It cannot be started.
pub fn start(folder: &Path, program: &Path, words: &[OsString]) -> io::Result<(Child, Handle)> {
    std::fs::create_dir_all(folder)?;
    let talk = File::create(folder.join("stderr.txt"))?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(BECOME).arg(std::process::id().to_string()).arg(folder.join("lock")).arg(program).args(words);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(talk);
    // Ctrl-C is for this program, which has its workers stop in good order.
    command.process_group(0);
    let mut child = command.spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let handle = pid.ok_or(rustix::io::Errno::SRCH).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()));
    match handle {
        Ok(handle) => Ok((child, Handle(handle))),
        Err(error) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(error.into())
        }
    }
}

/// Becomes a worker: the number of the parent, the run's lock, the program, its words.
pub fn become_worker(words: &[OsString]) -> ExitCode {
    let [parent, lock, program, words @ ..] = words else { return ExitCode::from(2) };
    match prepared(parent, Path::new(lock)) {
        Ok(true) => {}
        Ok(false) => return ExitCode::from(HELD as u8),
        Err(error) => {
            console::say(&format!("error: cannot prepare a worker: {error}"));
            return ExitCode::from(2);
        }
    }
    let error = Command::new(program).args(words).exec();
    console::say(&format!("error: cannot start {}: {error}", program.display()));
    ExitCode::from(2)
}

/// Takes the lock and binds this process to its parent; whether the lock was free and the parent lives.
fn prepared(parent: &OsStr, lock: &Path) -> io::Result<bool> {
    let file = File::options().read(true).write(true).create(true).truncate(false).open(lock)?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(false);
    }
    // Kept open for whatever comes in this process's place, and what that starts.
    fcntl_setfd(&file, FdFlags::empty())?;
    std::mem::forget(file);
    set_parent_process_death_signal(Some(Signal::INT))?;
    // It may have died before the kernel was asked.
    let parent: Option<i32> = parent.to_str().and_then(|parent| parent.parse().ok());
    Ok(getppid().map(Pid::as_raw_nonzero).map(|pid| pid.get()) == parent)
}
