//! A file system or a database on a device: the device's requests served by this program, the rest by other people's programs and by
//! a process of our own.

use super::WORKER;
use super::subject::Chosen;
use crate::mkfs::{FileSystem, alone};
use flashscope_device::{Known, PoweredBytes};
use flashscope_emulate::{Medium, Relay};
use flashscope_integrity::under::{Found, Recorder, Stack, Step, Subject, Trouble};
use flashscope_units::{Bytes, Nanos};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A device that requests go to one by one, on their way from the kernel.
pub(super) struct Standing<D> {
    chosen: Chosen,
    recorder: Arc<Mutex<Recorder<D>>>,
    relay: Option<Relay>,
    worker: Option<Worker>,
    /// Whether the device lives by this machine's clock.
    is_real: bool,
}

impl<D: PoweredBytes + 'static> Standing<D> {
    pub(super) fn new(chosen: Chosen, recorder: Arc<Mutex<Recorder<D>>>, is_real: bool) -> Standing<D> {
        Standing { chosen, recorder, relay: None, worker: None, is_real }
    }

    pub(super) fn into_chosen(self) -> Chosen {
        self.chosen
    }

    /// The device as the kernel sees it: made where it is not there.
    fn relay(&mut self) -> Result<&Relay, Trouble> {
        let relay = match self.relay.take() {
            Some(relay) => relay,
            None => {
                let block = locked(&self.recorder).sector().get() as u32;
                let medium = Arc::new(Mutex::new(Passing(Arc::clone(&self.recorder))));
                Relay::start(medium, block).map_err(|error| Trouble::Harness(error.to_string()))?
            }
        };
        Ok(self.relay.insert(relay))
    }

    fn worker(&mut self) -> Result<&mut Worker, Trouble> {
        self.worker.as_mut().ok_or_else(|| Trouble::Harness("nothing is mounted".to_owned()))
    }
}

impl<D: PoweredBytes + 'static> Stack for Standing<D> {
    fn form(&mut self) -> Result<(), Trouble> {
        self.fall();
        let device = self.relay()?.path();
        // A cut that is under way is carried through, whoever wants to stop.
        self.chosen.file_system.make(&device, || false).map_err(Trouble::Above)?;
        if self.chosen.subject == Subject::Rows {
            // The database is there, and empty, before the first cut.
            self.raise()?;
            self.lower()?;
        }
        Ok(())
    }

    fn raise(&mut self) -> Result<Nanos, Trouble> {
        let begun = Instant::now();
        let device = self.relay()?.path();
        let mut worker = Worker::start()?;
        let mut none = Found::default();
        let Chosen { file_system: FileSystem { name, .. }, mount, pragmas, database, .. } = &self.chosen;
        let mounted = worker.ask(&format!("mount {name} {} {mount}", device.display()), &mut none);
        let opened = mounted.and_then(|()| match database {
            Some(program) => worker.ask(&format!("open {} {}", program.display(), pragmas.join(",")), &mut none),
            None => Ok(()),
        });
        self.worker = Some(worker);
        opened.map(|()| Nanos(begun.elapsed().as_nanos() as u64))
    }

    fn step(&mut self, step: &Step) -> Result<(), Trouble> {
        self.worker()?.ask(&step.to_string(), &mut Found::default())
    }

    fn look(&mut self, known: Known) -> Result<Found, Trouble> {
        let mut found = Found::default();
        self.worker()?.ask(&format!("look {} {}", known.first, known.last), &mut found)?;
        Ok(found)
    }

    fn lower(&mut self) -> Result<(), Trouble> {
        let ended = self.worker()?.ask("end", &mut Found::default());
        self.worker = None;
        ended
    }

    fn check(&mut self) -> Result<Option<String>, Trouble> {
        let device = self.relay()?.path();
        Ok(self.chosen.file_system.check(&device))
    }

    fn fall(&mut self) {
        // First whoever uses the device, then the device.
        self.worker = None;
        self.relay = None;
    }

    fn pause(&mut self, time: Nanos) {
        if self.is_real {
            std::thread::sleep(Duration::from_nanos(time.get()));
        }
    }
}

/// The way of a request from the kernel to the device.
struct Passing<D>(Arc<Mutex<Recorder<D>>>);

impl<D: PoweredBytes> Medium for Passing<D> {
    fn size(&self) -> u64 {
        locked(&self.0).length().get()
    }

    fn read(&mut self, at: u64, into: &mut [u8]) -> std::io::Result<()> {
        locked(&self.0).read(Bytes(at), into).map_err(std::io::Error::other)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> std::io::Result<()> {
        locked(&self.0).write(Bytes(at), bytes).map_err(std::io::Error::other)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        locked(&self.0).flush().map_err(std::io::Error::other)
    }
}

fn locked<D>(recorder: &Mutex<Recorder<D>>) -> MutexGuard<'_, Recorder<D>> {
    recorder.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The process that has it mounted. When this is dropped it is ended, with all that it started.
struct Worker {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Worker {
    fn start() -> Result<Worker, Trouble> {
        let failed = |what: String| Trouble::Harness(format!("cannot start the process that mounts: {what}"));
        let mut command = Command::new("/proc/self/exe");
        command.arg(WORKER).stdin(Stdio::piped()).stdout(Stdio::piped());
        alone(&mut command);
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (to, from) = pipes.ok_or_else(|| failed("no pipe".to_owned()))?;
        Ok(Worker { child, to, from: BufReader::new(from) })
    }

    /// Tells it what to do and waits until it is done; what it found on the way.
    fn ask(&mut self, line: &str, found: &mut Found) -> Result<(), Trouble> {
        let gone = || Trouble::Harness("the process that has it mounted has ended".to_owned());
        writeln!(self.to, "{line}").and_then(|()| self.to.flush()).map_err(|_| gone())?;
        loop {
            let mut answer = String::new();
            if !matches!(self.from.read_line(&mut answer), Ok(1..)) {
                return Err(gone());
            }
            match answer.trim_end().split_once(' ') {
                None if answer.trim_end() == "ok" => return Ok(()),
                Some(("error", why)) => return Err(Trouble::Above(why.to_owned())),
                _ => {
                    found.take(answer.trim_end()).ok_or_else(|| Trouble::Harness(format!("an odd answer: {answer}")))?
                }
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}
