//! A real device or file as a [`Target`].
//!
//! Requests are carried out one at a time. Without a limit for hanging requests the caller's own thread does
//! the system calls: nothing stands between the clock and the kernel, and a request that never returns never
//! returns here either (the kernel's own command timeouts, 30 s and more, then have the last word). With a
//! limit a second thread does them, and the caller waits for a bounded time. That costs nothing inside the
//! stamps, but handing one lone request over takes 8 to 30 µs outside them (`benches/overhead.rs`), so batches pay.

use crate::clock::MonotonicClock;
use crate::engine::{Engine, Files, Ran};
use crate::errno::{self, Verdict};
use flashscope_device::{
    Capabilities, Completion, DeviceError, GrantError, Op, Request, Seal, Target, Wear, WriteGrant,
};
use flashscope_model::{DeviceFacts, run::PathTaken};
use flashscope_units::{Bytes, Instant, Nanos};
use rustix::fs::fdatasync;
use rustix::io::{pread, pwrite};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// An open block device or regular file. Made by [`crate::open_for_reading`] and [`crate::open_for_writing`].
#[derive(Debug)]
pub struct HostTarget {
    facts: DeviceFacts,
    capabilities: Capabilities,
    path: PathTaken,
    clock: MonotonicClock,
    driver: Driver,
    done: Vec<Completion>,
    /// Why it cannot go on; once set it stays.
    broken: Option<DeviceError>,
    /// The grant that this target takes writes under, and how much of it is left.
    authority: Option<Authority>,
}

/// What a target is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) facts: DeviceFacts,
    pub(crate) capabilities: Capabilities,
    pub(crate) path: PathTaken,
    pub(crate) files: Files,
    pub(crate) hang_after: Option<Nanos>,
}

/// The largest transfer that Linux does in one call (`MAX_RW_COUNT`).
const LARGEST: Bytes = Bytes(0x7fff_f000);

/// The grant that a target is bound to.
#[derive(Clone, Copy, Debug)]
struct Authority {
    seal: Seal,
    left: Bytes,
}

#[derive(Debug)]
enum Driver {
    /// The caller's thread does it.
    Own(Box<Engine>),
    /// Another thread does it.
    Other(Guarded),
}

#[derive(Debug)]
struct Guarded {
    /// `None` once it is told to end.
    to: Option<Sender<Vec<Request>>>,
    from: Receiver<Ran>,
    /// Batches under way.
    outstanding: usize,
    /// Counts the requests that came back.
    progress: Arc<AtomicU64>,
    /// How long one request may take.
    hang_after: Duration,
}

impl HostTarget {
    pub(crate) fn new(parts: Parts) -> HostTarget {
        let clock = MonotonicClock::start();
        let Parts { facts, capabilities, path, files, hang_after } = parts;
        let engine = Engine::new(files, clock);
        let driver = match hang_after {
            None => Driver::Own(Box::new(engine)),
            Some(limit) => Driver::Other(Guarded::start(engine, Duration::from_nanos(limit.get()))),
        };
        HostTarget { facts, capabilities, path, clock, driver, done: Vec::new(), broken: None, authority: None }
    }

    /// What is open, for those who open it once more, and the seal of the grant that it takes writes under. `None` where
    /// another thread has it, as requests may hang.
    pub(crate) fn opened(&self) -> Option<(&Files, Option<Seal>)> {
        match &self.driver {
            Driver::Own(engine) => Some((engine.files(), self.authority.map(|authority| authority.seal))),
            Driver::Other(_) => None,
        }
    }

    /// From now on takes writes under this grant, and no more of them than it covers now.
    pub(crate) fn bind(&mut self, grant: &WriteGrant) {
        self.authority = Some(Authority { seal: grant.seal(), left: grant.left() });
    }

    /// The clock that its times are of.
    pub(crate) fn clock(&self) -> MonotonicClock {
        self.clock
    }

    /// From now on counts its times from where another clock does: of the target that this one follows.
    pub(crate) fn keep_time(&mut self, clock: MonotonicClock) {
        self.clock = clock;
        if let Driver::Own(engine) = &mut self.driver {
            engine.keep_time(clock);
        }
    }

    /// What it may still be written of the grant that it was bound to.
    pub(crate) fn granted(&self) -> Bytes {
        self.authority.map_or(Bytes::ZERO, |authority| authority.left)
    }

    /// What is left of the grant after this batch; an error where it was made under another grant, or goes beyond it.
    fn authorise(&self, batch: &[Request]) -> Result<Option<Authority>, DeviceError> {
        let mut authority = self.authority;
        for request in batch {
            let length = match request.op() {
                Op::Read | Op::Flush => continue,
                Op::Write { .. } => request.length(),
                Op::Discard => Bytes::ZERO,
            };
            let ours = authority.as_mut().filter(|authority| request.seal() == Some(authority.seal));
            let Some(ours) = ours else {
                return Err(DeviceError::Invalid("this write was not granted for this target".into()));
            };
            ours.left = ours.left.checked_sub(length).ok_or_else(|| {
                DeviceError::Invalid("more was to be written than the grant for this target covers".into())
            })?;
        }
        Ok(authority)
    }

    /// Reads bytes, aligned in memory and on the device; `false` where they cannot be read.
    ///
    /// # Errors
    /// Where the device is gone, or another thread has it.
    pub(crate) fn read_bytes(&self, at: Bytes, bytes: &mut [u8]) -> Result<bool, DeviceError> {
        match pread(&self.files()?.plain, &mut *bytes, at.get()) {
            Ok(moved) => Ok(moved == bytes.len()),
            Err(error) if errno::judge(error) == Verdict::Failed => Ok(false),
            Err(error) => Err(DeviceError::Vanished(format!("read at {}: {}", at.get(), errno::describe(error)))),
        }
    }

    /// Writes bytes, aligned in memory and on the device, under a grant like any write.
    ///
    /// # Errors
    /// Where the grant does not cover it, or the device does not take it.
    pub(crate) fn write_bytes(&mut self, grant: &mut WriteGrant, at: Bytes, bytes: &[u8]) -> Result<(), DeviceError> {
        let invalid = |error: GrantError| DeviceError::Invalid(error.to_string());
        let length = Bytes(bytes.len() as u64);
        let request = Request::write_any(grant, 0, at, length, false).map_err(invalid)?;
        self.check(&request)?;
        self.authority = self.authorise(&[request])?;
        let failed = |what: &str| DeviceError::System(format!("write of {length} at {}: {what}", at.get()));
        match pwrite(&self.files()?.plain, bytes, at.get()) {
            Ok(moved) if moved == bytes.len() => Ok(()),
            Ok(_) => Err(failed("a part of it only")),
            Err(error) => Err(failed(&errno::describe(error))),
        }
    }

    /// Brings written bytes to the medium.
    ///
    /// # Errors
    /// Where the device says no.
    pub(crate) fn settle_bytes(&self) -> Result<(), DeviceError> {
        let done = fdatasync(&self.files()?.plain);
        done.map_err(|error| DeviceError::System(format!("flush: {}", errno::describe(error))))
    }

    fn files(&self) -> Result<&Files, DeviceError> {
        let opened = self.opened().map(|(files, _)| files);
        opened.ok_or_else(|| DeviceError::System("another thread has the device".to_owned()))
    }

    fn check(&self, request: &Request) -> Result<(), DeviceError> {
        let invalid = |why: String| Err(DeviceError::Invalid(why));
        let (offset, length) = (request.offset(), request.length());
        let can = self.capabilities;
        match request.op() {
            Op::Read => {}
            Op::Write { .. } if !can.write => return invalid("this target was opened for reading".into()),
            Op::Discard if !can.write => return invalid("this target was opened for reading".into()),
            Op::Discard if !can.discard => return invalid("this target has no discard".into()),
            Op::Flush if !can.flush => return invalid("this target was opened for reading".into()),
            Op::Flush => return Ok(()),
            Op::Write { .. } | Op::Discard => {}
        }
        if !offset.is_multiple_of(can.granularity) || !length.is_multiple_of(can.granularity) || length == Bytes::ZERO {
            return invalid(format!(
                "{} bytes at {} are not whole blocks of {}",
                length.get(),
                offset.get(),
                can.granularity
            ));
        }
        if length > LARGEST && request.op() != Op::Discard {
            return invalid(format!("{length} in one request, the kernel takes {LARGEST} at most"));
        }
        match offset.get().checked_add(length.get()) {
            Some(end) if end <= self.facts.capacity.get() => Ok(()),
            _ => invalid(format!(
                "{} bytes at {} lie outside the device of {}",
                length.get(),
                offset.get(),
                self.facts.capacity
            )),
        }
    }

    fn keep(&mut self, ran: Ran) {
        if self.done.is_empty() {
            self.done = ran.completions;
        } else {
            self.done.extend(ran.completions);
        }
        self.broken = self.broken.take().or(ran.error);
    }
}

impl Target for HostTarget {
    fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn path(&self) -> PathTaken {
        self.path.clone()
    }

    fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Without a limit for hanging requests, returns when all are done.
    fn submit(&mut self, batch: &[Request]) -> Result<(), DeviceError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        batch.iter().try_for_each(|request| self.check(request))?;
        self.authority = self.authorise(batch)?;
        match &mut self.driver {
            Driver::Own(engine) => {
                let ran = engine.run(batch, std::mem::take(&mut self.done));
                self.keep(ran);
                Ok(())
            }
            Driver::Other(guarded) => guarded.submit(batch),
        }
    }

    fn reap(&mut self, min: usize, into: &mut Vec<Completion>) -> Result<(), DeviceError> {
        while self.broken.is_none() {
            let Driver::Other(guarded) = &mut self.driver else { break };
            match guarded.next(self.done.len() < min) {
                Ok(Some(ran)) => self.keep(ran),
                Ok(None) => break,
                Err(error) => self.broken = Some(error),
            }
        }
        into.append(&mut self.done);
        match &self.broken {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    }

    fn wait_until(&mut self, at: Instant) {
        self.clock.sleep_until(at);
    }

    fn wear(&self) -> Option<Wear> {
        None
    }
}

impl Guarded {
    fn start(mut engine: Engine, hang_after: Duration) -> Guarded {
        let progress = engine.progress();
        let (to, requests) = channel::<Vec<Request>>();
        let (answers, from) = channel::<Ran>();
        // Never joined: a thread that hangs in the kernel cannot be. It owns all that it touches.
        thread::spawn(move || {
            for batch in requests {
                let ran = engine.run(&batch, Vec::new());
                if answers.send(ran).is_err() {
                    return;
                }
            }
            // In this order: when the channel closes, so has the device.
            drop(engine);
            drop(answers);
        });
        Guarded { to: Some(to), from, outstanding: 0, progress, hang_after }
    }

    fn submit(&mut self, batch: &[Request]) -> Result<(), DeviceError> {
        if batch.is_empty() {
            return Ok(());
        }
        self.outstanding += 1;
        let sent = self.to.as_ref().map(|to| to.send(batch.to_vec()));
        sent.and_then(Result::ok).ok_or_else(lost)
    }

    /// The next batch that is done; `None` where none is outstanding, or none is done and it shall not `wait`.
    fn next(&mut self, wait: bool) -> Result<Option<Ran>, DeviceError> {
        while self.outstanding > 0 {
            let before = self.progress.load(Ordering::Relaxed);
            let limit = if wait { self.hang_after } else { Duration::ZERO };
            match self.from.recv_timeout(limit) {
                Ok(ran) => {
                    self.outstanding -= 1;
                    return Ok(Some(ran));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(lost()),
                Err(RecvTimeoutError::Timeout) if !wait => return Ok(None),
                // A long batch is no hang as long as its requests come back.
                Err(RecvTimeoutError::Timeout) if self.progress.load(Ordering::Relaxed) != before => {}
                Err(RecvTimeoutError::Timeout) => {
                    let limit = Nanos(self.hang_after.as_nanos() as u64);
                    return Err(DeviceError::Hung(format!("a request got no answer within {limit}")));
                }
            }
        }
        Ok(None)
    }
}

/// Waits until the device is closed, so that whoever opens it next finds it free; not for a thread that hangs.
impl Drop for Guarded {
    fn drop(&mut self) {
        self.to = None;
        while let Ok(Some(_)) = self.next(true) {}
        if self.outstanding == 0 {
            let _ = self.from.recv_timeout(self.hang_after);
        }
    }
}

fn lost() -> DeviceError {
    DeviceError::System("the thread that does the requests ended unexpectedly".into())
}
