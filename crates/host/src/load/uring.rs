//! `io_uring`: many requests at once, handed over and reaped in batches, from registered buffers on a registered file.
//!
//! All requests of a turn share the stamp right before the call that hands them over, and all that ended share the one right
//! after it, since nobody saw them earlier; the measuring loop therefore hands over few at a time.
//!
//! To sleep and to be woken takes longer than most requests to a fast device, above all where idle processors halt, and the
//! waking is paid for by whoever serves the requests. So a turn that has to wait may look some times before it sleeps. That
//! costs processor time, and is done where it makes waits much shorter than sleeping does: see [`Looks`].
//!
//! A file system in memory has no asynchronous way at all: each request is done by a worker thread of the kernel. With a
//! queue of one it and ours take turns, and are kept on one processor ([`Together`]).
#![allow(unsafe_code)]

use super::buffers::SlotBuffers;
use super::lane::status_of;
use super::looks::{LOOKS, Looks};
use super::opened::Opened;
use super::together::Together;
use super::{LaneError, LaneOptions};
use crate::clock::MonotonicClock;
use flashscope_device::{DeviceError, FailureDetail, Lane, LaneCompletion, Op, Request, Seal, Status, Wait};
use flashscope_units::{Instant, Nanos};
use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use rustix::fd::AsRawFd;
use rustix::io::Errno;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::Duration;

/// A lane along a ring of its own. It must stay in the thread that made it.
#[derive(Debug)]
pub struct UringLane {
    ring: ManuallyDrop<Ring>,
    /// Kept from being freed where the kernel may still write to them.
    buffers: ManuallyDrop<SlotBuffers>,
    files: Arc<Opened>,
    /// The slot of a flush that was pushed, where it is of several files.
    flushing: Option<u32>,
    /// A flush that failed for another file than the last one.
    unflushed: Option<(u32, Errno)>,
    name: Arc<str>,
    clock: MonotonicClock,
    issued: Vec<Instant>,
    pushed: Vec<u32>,
    outstanding: u32,
    /// Pushed and stamped, but not yet taken by the kernel.
    not_taken: u32,
    hang_after: Option<Nanos>,
    registered: bool,
    looks: Looks,
    /// Whether this turn looked or slept; absent where it did not have to wait.
    waited: Option<bool>,
    together: Option<Together>,
    notes: Vec<String>,
}

struct Ring(IoUring);

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ring")
    }
}

/// `IORING_ENTER_GETEVENTS` of `linux/io_uring.h`: also do the work that ends requests.
const GET_EVENTS: u32 = 1;
/// How long a lane that is dropped waits for what is still outstanding.
const LAST_WAIT: Duration = Duration::from_secs(1);

impl UringLane {
    pub(super) fn new(
        files: Arc<Opened>,
        name: Arc<str>,
        seal: Option<Seal>,
        in_memory: bool,
        options: &LaneOptions,
    ) -> Result<UringLane, LaneError> {
        options.check()?;
        let mut notes = Vec::new();
        let ring = make_ring(options, &mut notes)?;
        let together = if in_memory && options.depth == 1 { Together::with(&ring) } else { None };
        let mut buffers = SlotBuffers::new(options.depth, options.largest.get() as usize, options.fill, seal);
        let registered = register_buffers(&ring, &mut buffers, options.depth, &mut notes)?;
        ring.submitter()
            .register_files(&files.all().iter().map(AsRawFd::as_raw_fd).collect::<Vec<_>>())
            .map_err(|error| LaneError::system("register the file", &error))?;
        Ok(UringLane {
            ring: ManuallyDrop::new(Ring(ring)),
            buffers: ManuallyDrop::new(buffers),
            files,
            flushing: None,
            unflushed: None,
            name,
            clock: options.clock,
            issued: vec![Instant::ORIGIN; options.depth as usize],
            pushed: Vec::with_capacity(options.depth as usize),
            outstanding: 0,
            not_taken: 0,
            hang_after: options.hang_after,
            registered,
            looks: Looks::new(options.depth),
            waited: None,
            together,
            notes,
        })
    }

    /// How the ring and its buffers were set up.
    pub fn flags(&self) -> Vec<String> {
        let buffers = if self.registered { "registered buffers" } else { "plain buffers" };
        let polled = self.ring.0.params().is_setup_iopoll().then_some("polled completions");
        let together = self.together.is_some().then_some("one processor with the kernel's worker");
        [buffers, "registered file"].into_iter().chain(polled).chain(together).map(str::to_owned).collect()
    }

    /// What it could not have of its best setup.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Hands over what was pushed, takes in what ended meanwhile, and returns at once.
    #[inline]
    fn hand_over(&mut self) -> Result<(), DeviceError> {
        loop {
            // SAFETY: nothing is passed but numbers; the entries were pushed, see there.
            let result =
                unsafe { self.ring.0.submitter().enter::<libc::sigset_t>(self.not_taken, 0, GET_EVENTS, None) };
            match result {
                Ok(taken) => {
                    self.not_taken -= taken as u32;
                    if taken == 0 || self.not_taken == 0 {
                        return Ok(());
                    }
                }
                Err(error) => return self.refused(&error).map(|_| ()),
            }
        }
    }

    /// Waits for this number of completions, in the way that is the better one here; false where the time ran out first.
    #[inline]
    fn wait(&mut self, want: u32) -> Result<bool, DeviceError> {
        if self.ready() >= want {
            return if self.not_taken > 0 { self.hand_over().map(|()| true) } else { Ok(true) };
        }
        self.waited = Some(self.together.is_none() && self.looks.are_due());
        if self.waited == Some(true) {
            for _ in 0..LOOKS {
                self.hand_over()?;
                if self.ready() >= want {
                    return Ok(true);
                }
            }
        }
        self.sleep(want, self.hang_after)
    }

    #[inline]
    fn ready(&mut self) -> u32 {
        self.ring.0.completion().len() as u32
    }

    /// Hands over what was pushed and sleeps until this number of requests have ended; false where the time ran out first.
    fn sleep(&mut self, want: u32, limit: Option<Nanos>) -> Result<bool, DeviceError> {
        loop {
            let submitter = self.ring.0.submitter();
            let result = match limit {
                None => submitter.submit_and_wait(want as usize),
                Some(limit) => {
                    let time = Timespec::from(Duration::from_nanos(limit.get()));
                    submitter.submit_with_args(want as usize, &SubmitArgs::new().timespec(&time))
                }
            };
            match result {
                Ok(taken) => {
                    self.not_taken -= taken as u32;
                    // That the time ran out is not said where something was handed over in the same call.
                    return Ok(limit.is_none() || self.ready() > 0);
                }
                Err(error) if Errno::from_io_error(&error) == Some(Errno::TIME) => return Ok(false),
                Err(error) if Errno::from_io_error(&error) == Some(Errno::INTR) => {}
                Err(error) => return self.refused(&error),
            }
        }
    }

    /// A flush of several files: of all but the last, whose flush goes through the ring.
    fn flush_others(&self) -> Option<Errno> {
        let all = self.files.all();
        all[..all.len() - 1].iter().find_map(|file| rustix::fs::fdatasync(file).err())
    }

    /// What an error of the ring itself means; true where it goes on.
    #[cold]
    fn refused(&self, error: &std::io::Error) -> Result<bool, DeviceError> {
        match Errno::from_io_error(error) {
            // Its queue is full: what has ended is to be taken first.
            Some(Errno::BUSY | Errno::AGAIN | Errno::INTR) => Ok(true),
            _ => Err(DeviceError::System(format!("io_uring on {}: {error}", self.name))),
        }
    }

    fn entry(&mut self, request: &Request) -> squeue::Entry {
        let slot = request.id() as u32;
        let length = request.length().get() as u32;
        let (file, offset) = match request.op() {
            // The last one's; the others' is made where it is handed over.
            Op::Flush | Op::Discard => (self.files.all().len() - 1, 0),
            Op::Read | Op::Write { .. } => self.files.place(request.offset().get()),
        };
        let file = Fixed(file as u32);
        // Of a file that is open for durable writes it says the same once more.
        let flags = if request.op() == (Op::Write { durable: true }) { libc::RWF_DSYNC } else { 0 };
        let entry = match (request.op(), self.registered) {
            (Op::Read, true) => {
                opcode::ReadFixed::new(file, self.pointer(slot, length), length, slot as u16).offset(offset).build()
            }
            (Op::Read, false) => opcode::Read::new(file, self.pointer(slot, length), length).offset(offset).build(),
            (Op::Write { .. }, true) => opcode::WriteFixed::new(file, self.pointer(slot, length), length, slot as u16)
                .offset(offset)
                .rw_flags(flags)
                .build(),
            (Op::Write { .. }, false) => {
                opcode::Write::new(file, self.pointer(slot, length), length).offset(offset).rw_flags(flags).build()
            }
            (Op::Flush | Op::Discard, _) => opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build(),
        };
        entry.user_data(u64::from(slot))
    }

    #[inline]
    fn pointer(&mut self, slot: u32, length: u32) -> *mut u8 {
        self.buffers.of_mut(slot, length as usize).as_mut_ptr()
    }
}

impl Lane for UringLane {
    #[inline]
    fn now(&self) -> Instant {
        self.clock.now()
    }

    #[inline]
    fn push(&mut self, request: &Request) {
        if !self.buffers.take(request) {
            return;
        }
        let entry = self.entry(request);
        // SAFETY: the entry points to the buffer of its slot, which is `length` bytes or longer, is not used by anyone else
        // until the slot's completion was reaped (a slot is not in use twice), and outlives the request: `Drop` waits
        // for what is outstanding, or gives the buffers up without freeing them. The file is registered.
        let taken = unsafe { self.ring.0.submission().push(&entry) };
        debug_assert!(taken.is_ok(), "there are as many entries as slots");
        self.pushed.push(request.id() as u32);
        if request.op() == Op::Flush && self.files.only().is_none() {
            self.flushing = Some(request.id() as u32);
        }
        self.outstanding += 1;
    }

    #[inline]
    fn turn(&mut self, wait: Wait, mut complete: impl FnMut(LaneCompletion)) -> Result<Instant, DeviceError> {
        self.buffers.all_granted()?;
        let mut began = Instant::ORIGIN;
        let issued = (!self.pushed.is_empty()).then(|| self.clock.now());
        if let Some(issued) = issued {
            self.not_taken += self.pushed.len() as u32;
            for slot in self.pushed.drain(..) {
                self.issued[slot as usize] = issued;
            }
            if let Some(slot) = self.flushing.take() {
                self.unflushed = self.flush_others().map(|error| (slot, error)).or(self.unflushed);
            }
        }
        let in_time = match wait {
            Wait::Not => {
                self.hand_over()?;
                true
            }
            Wait::For(count) => {
                // Most turns begin with what they hand over, and have its stamp.
                began = issued.unwrap_or_else(|| self.clock.now());
                self.wait(count.min(self.outstanding))?
            }
            Wait::Until(at) => {
                self.hand_over()?;
                self.ready() > 0 || self.sleep(1, Some(at.since(self.clock.now())))?
            }
        };
        let completed = self.clock.now();
        if let Some(looked) = self.waited.take() {
            self.looks.learn(looked, completed.since(began));
        }
        let mut any = false;
        for entry in self.ring.0.completion() {
            any = true;
            let slot = entry.user_data() as u32;
            self.outstanding -= 1;
            let result = match self.unflushed {
                Some((other, error)) if other == slot => {
                    self.unflushed = None;
                    -error.raw_os_error()
                }
                _ => entry.result(),
            };
            let status = match result {
                moved @ 0.. => self.buffers.judge(slot, moved as usize),
                error => status_of(Errno::from_raw_os_error(-error), self.buffers.request(slot), &self.name)?,
            };
            complete(LaneCompletion { slot, issued: self.issued[slot as usize], completed, status });
        }
        match (wait, self.hang_after) {
            (Wait::For(_), Some(limit)) if !in_time && !any && self.outstanding > 0 => {
                Err(DeviceError::Hung(format!("no request got an answer within {limit}")))
            }
            _ => Ok(completed),
        }
    }

    fn sleep_until(&mut self, at: Instant) {
        self.clock.sleep_until(at);
    }

    fn explain(&self, slot: u32, status: Status) -> FailureDetail {
        self.buffers.explain(slot, status)
    }
}

impl Drop for UringLane {
    fn drop(&mut self) {
        let end = self.clock.now() + Nanos(LAST_WAIT.as_nanos() as u64);
        while self.outstanding > 0 && self.clock.now() < end {
            if self.sleep(1, Some(end.since(self.clock.now()))).is_err() {
                break;
            }
            self.outstanding -= self.ring.0.completion().count() as u32;
        }
        if self.outstanding == 0 {
            // SAFETY: dropped once, here, and not used again; nothing in the kernel points to the buffers any more, as
            // every request has ended. The ring goes first, which ends the registration.
            unsafe {
                ManuallyDrop::drop(&mut self.ring);
                ManuallyDrop::drop(&mut self.buffers);
            }
        }
    }
}

/// With everything that makes a ring lean, or, on kernels before 6.1, without; which of both is noted.
fn make_ring(options: &LaneOptions, notes: &mut Vec<String>) -> Result<IoUring, LaneError> {
    let build = |lean: bool| {
        let mut builder = IoUring::builder();
        if lean {
            builder.setup_single_issuer().setup_defer_taskrun();
        }
        if options.polled {
            builder.setup_iopoll();
        }
        builder.build(options.depth.next_power_of_two())
    };
    let refused = |error: std::io::Error| match Errno::from_io_error(&error) {
        Some(errno @ (Errno::NOSYS | Errno::PERM | Errno::ACCESS)) => {
            LaneError::UringUnavailable { said: crate::errno::describe(errno) }
        }
        _ => LaneError::system("set io_uring up", &error),
    };
    match build(true) {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::INVAL) => {
            notes.push("io_uring without deferred task work (kernel before 6.1)".to_owned());
            build(false).map_err(refused)
        }
        ring => ring.map_err(refused),
    }
}

/// One registered buffer per slot. Where the memory that may be locked is too little, plain buffers do, and it is noted.
fn register_buffers(
    ring: &IoUring,
    buffers: &mut SlotBuffers,
    depth: u32,
    notes: &mut Vec<String>,
) -> Result<bool, LaneError> {
    let vectors: Vec<libc::iovec> = (0..depth)
        .map(|slot| {
            let whole = buffers.whole(slot);
            libc::iovec { iov_base: whole.as_mut_ptr().cast(), iov_len: whole.len() }
        })
        .collect();
    // SAFETY: the vectors describe memory that `buffers` owns and never moves; it is freed only after the ring.
    match unsafe { ring.submitter().register_buffers(&vectors) } {
        Ok(()) => Ok(true),
        Err(error) if Errno::from_io_error(&error) == Some(Errno::NOMEM) => {
            notes.push("buffers not registered: more than this user may lock in memory (ulimit -l)".to_owned());
            Ok(false)
        }
        Err(error) => Err(LaneError::system("register buffers", &error)),
    }
}
