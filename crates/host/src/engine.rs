//! One request at a time through `pread` and `pwrite`, timed.
//!
//! What is timed is the system call and nothing else: payloads are made before the first request of a wave
//! is issued, and what a read found is looked at after its completion stamp.

use crate::buffer::AlignedBuffer;
use crate::clock::MonotonicClock;
use crate::errno::{self, Verdict};
use crate::{ioctl, payload, tags};
use flashscope_device::{Completion, Content, DeviceError, Op, Outcome, Request, Stretch};
use flashscope_units::{Bytes, Instant};
use rustix::fd::OwnedFd;
use rustix::fs::{FallocateFlags, fallocate, fdatasync};
use rustix::io::{Errno, pread, pwrite};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An open device or file, and the memory to talk to it.
#[derive(Debug)]
pub(crate) struct Engine {
    files: Files,
    clock: MonotonicClock,
    /// Every read lands here and is looked at before the next one.
    reads: AlignedBuffer,
    /// The payloads of one wave, one after another.
    writes: AlignedBuffer,
    progress: Arc<AtomicU64>,
}

/// What is open.
#[derive(Debug)]
pub(crate) struct Files {
    /// For everything but durable writes.
    pub(crate) plain: OwnedFd,
    /// The same with `O_DSYNC`; only where it was opened for writing.
    pub(crate) durable: Option<OwnedFd>,
    /// Whether it is a block device; else a regular file.
    pub(crate) block_device: bool,
    /// What to call it in errors.
    pub(crate) name: String,
}

/// What came of a batch: the requests that were carried out, and why the rest was not.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) completions: Vec<Completion>,
    pub(crate) error: Option<DeviceError>,
}

/// Payloads of one wave together, unless a single request is larger: more would only be colder in the cache.
const WAVE: usize = 8 << 20;

impl Engine {
    pub(crate) fn new(files: Files, clock: MonotonicClock) -> Engine {
        let (reads, writes) = (AlignedBuffer::new(1 << 20), AlignedBuffer::new(1 << 20));
        Engine { files, clock, reads, writes, progress: Arc::default() }
    }

    /// What is open.
    pub(crate) fn files(&self) -> &Files {
        &self.files
    }

    /// From now on stamps are of this clock.
    pub(crate) fn keep_time(&mut self, clock: MonotonicClock) {
        self.clock = clock;
    }

    /// Counts the requests that came back, for whoever watches from another thread.
    pub(crate) fn progress(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.progress)
    }

    /// Carries out a batch in order; stops at the first error that is not data.
    pub(crate) fn run(&mut self, batch: &[Request], completions: Vec<Completion>) -> Ran {
        let mut ran = Ran { completions, error: None };
        ran.completions.reserve(batch.len());
        let mut rest = batch;
        while !rest.is_empty() && ran.error.is_none() {
            let (wave, later) = rest.split_at(wave_length(rest));
            self.prepare(wave);
            self.run_wave(wave, &mut ran);
            rest = later;
        }
        ran
    }

    /// Makes room and payloads.
    fn prepare(&mut self, wave: &[Request]) {
        let longest_read = wave.iter().filter(|request| request.op() == Op::Read).map(length).max();
        self.reads.reserve(longest_read.unwrap_or(0));
        self.writes.reserve(wave.iter().map(payload_length).sum());
        let mut at = 0;
        for request in wave {
            let length = payload_length(request);
            if let (1.., Some(fill)) = (length, request.fill()) {
                payload::fill(fill, request.offset().get(), self.writes.part_mut(at, length));
            }
            at += length;
        }
    }

    fn run_wave(&mut self, wave: &[Request], ran: &mut Ran) {
        let mut at = 0;
        for request in wave {
            let (issued, completed, result) = match request.op() {
                Op::Read => self.read(request),
                Op::Write { durable } => self.write(request, durable, at),
                Op::Flush => self.timed(|files| fdatasync(&files.plain).map(|()| 0)),
                Op::Discard => self.timed(|files| discard(files, request).map(|()| length(request))),
            };
            self.progress.fetch_add(1, Ordering::Relaxed);
            at += payload_length(request);
            match self.outcome(request, result) {
                Ok((outcome, content)) => {
                    let stretches = self.examine(request, &outcome);
                    ran.completions.push(Completion {
                        id: request.id(),
                        issued,
                        completed,
                        outcome,
                        content,
                        stretches,
                    });
                }
                Err(error) => {
                    ran.error = Some(error);
                    return;
                }
            }
        }
    }

    fn read(&mut self, request: &Request) -> (Instant, Instant, Result<usize, Errno>) {
        let buffer = self.reads.part_mut(0, length(request));
        let offset = request.offset().get();
        let issued = self.clock.now();
        let result = uninterrupted(|| pread(&self.files.plain, &mut *buffer, offset));
        (issued, self.clock.now(), result)
    }

    fn write(&self, request: &Request, durable: bool, at: usize) -> (Instant, Instant, Result<usize, Errno>) {
        let buffer = self.writes.part(at, length(request));
        let offset = request.offset().get();
        self.timed(|files| {
            let file = if durable { files.durable.as_ref().ok_or(Errno::BADF)? } else { &files.plain };
            uninterrupted(|| pwrite(file, buffer, offset))
        })
    }

    fn timed(&self, work: impl FnOnce(&Files) -> Result<usize, Errno>) -> (Instant, Instant, Result<usize, Errno>) {
        let issued = self.clock.now();
        let result = work(&self.files);
        (issued, self.clock.now(), result)
    }

    fn outcome(&self, request: &Request, result: Result<usize, Errno>) -> Result<(Outcome, Content), DeviceError> {
        match result {
            Ok(moved) if moved == length(request) => Ok(self.look(request)),
            Ok(moved) => Ok((
                Outcome::Failed(format!("short transfer: {moved} of {} bytes", request.length().get())),
                Content::Unknown,
            )),
            Err(error) => self.judge(request, error),
        }
    }

    /// What a read that went well has found.
    fn look(&self, request: &Request) -> (Outcome, Content) {
        if request.op() != Op::Read {
            return (Outcome::Success, Content::Unknown);
        }
        let bytes = self.reads.part(0, length(request));
        let as_expected = request.fill().is_none_or(|fill| payload::matches(fill, request.offset().get(), bytes));
        (if as_expected { Outcome::Success } else { Outcome::Mismatch }, payload::content(bytes))
    }

    /// What a read that went well has found in detail, where it asked for that.
    fn examine(&self, request: &Request, outcome: &Outcome) -> Vec<Stretch> {
        match (request.known(), outcome) {
            (Some(known), Outcome::Success) => {
                tags::stretches(known, request.offset().get(), self.reads.part(0, length(request)))
            }
            _ => Vec::new(),
        }
    }

    fn judge(&self, request: &Request, error: Errno) -> Result<(Outcome, Content), DeviceError> {
        let said = errno::describe(error);
        let context = || {
            format!(
                "{} of {} at {} on {}: {said}",
                verb(request.op()),
                request.length(),
                request.offset().get(),
                self.files.name
            )
        };
        match errno::judge(error) {
            Verdict::Failed => Ok((Outcome::Failed(said.clone()), Content::Unknown)),
            Verdict::Vanished => Err(DeviceError::Vanished(context())),
            Verdict::System => Err(DeviceError::System(context())),
        }
    }
}

/// How many requests fit one wave: at least one.
fn wave_length(batch: &[Request]) -> usize {
    let mut payloads = 0;
    let fits = batch.iter().take_while(|request| {
        payloads += payload_length(request);
        payloads <= WAVE
    });
    fits.count().max(1)
}

fn length(request: &Request) -> usize {
    request.length().get() as usize
}

fn payload_length(request: &Request) -> usize {
    if matches!(request.op(), Op::Write { .. }) { length(request) } else { 0 }
}

fn uninterrupted(mut call: impl FnMut() -> Result<usize, Errno>) -> Result<usize, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            done => return done,
        }
    }
}

fn discard(files: &Files, request: &Request) -> Result<(), Errno> {
    let (offset, length): (Bytes, Bytes) = (request.offset(), request.length());
    if files.block_device {
        ioctl::discard(&files.plain, offset.get(), length.get())
    } else {
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&files.plain, punch, offset.get(), length.get())
    }
}

fn verb(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write { durable: false } => "write",
        Op::Write { durable: true } => "durable write",
        Op::Flush => "flush",
        Op::Discard => "discard",
    }
}
