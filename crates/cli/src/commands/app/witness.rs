//! Who writes down what the device is given while apps are played, request by request: the emulator, or the kernel.

use crate::commands::trace::{EVERY, Recording, Written, clean};
use crate::error::Failure;
use crate::target;
use anyhow::{Context, anyhow};
use flashscope_emulate::Emulator;
use flashscope_host::{Output, SysRoot, Traceable};
use flashscope_model::app::Given;
use flashscope_trace::event::Paired;
use flashscope_trace::file::Head;
use flashscope_trace::import::Options;
use flashscope_trace::{Figures, Format, Traced, import};
use flashscope_units::{Bytes, Instant, Nanos};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Room for events of each processor between two looks.
const BUFFER: u64 = 8 << 20;

/// The kernel's recording of a device. Dropping it ends it.
pub(super) struct Kernel {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(Paired, u64), Failure>>>,
    head: Head,
}

/// All that a device was given.
pub(super) struct Trace {
    /// In order of issue; the first at 0.
    requests: Vec<Traced>,
    /// When the first one was issued, on the kernel's monotonic clock.
    first: Instant,
    /// Requests or events that had no room.
    pub(super) dropped: u64,
    head: Head,
}

impl Kernel {
    /// Begins.
    ///
    /// # Errors
    /// No right to, a kernel that does not trace, a partition.
    pub(super) fn start(device: &Path) -> Result<Kernel, Failure> {
        clean()?;
        let traced = Traceable::at(&SysRoot::live(), device).map_err(target::failure)?;
        let mut recording = Recording::start(&traced, BUFFER)?;
        let source = format!("recorded by the kernel from {} while apps were played", device.display());
        let head = Head { capacity: Some(traced.capacity), source };
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !asked.load(Ordering::Relaxed) {
                recording.fetch()?;
                std::thread::sleep(Duration::from_nanos(EVERY.get()));
            }
            recording.finish()
        });
        Ok(Kernel { stop, thread: Some(thread), head })
    }

    /// What is to be done where the program has to end at once.
    pub(super) fn ender(&self) -> impl FnOnce() + Send + use<> {
        let stop = Arc::clone(&self.stop);
        move || {
            stop.store(true, Ordering::Relaxed);
            // The thread switches the tracing off as soon as it looks.
            std::thread::sleep(Duration::from_millis(300));
        }
    }

    /// Ends it: all that the device was given.
    ///
    /// # Errors
    /// The kernel gave what is not understood.
    pub(super) fn finish(mut self) -> Result<Trace, Failure> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("it is taken here or when dropped");
        let (paired, dropped) = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let first = paired.requests.first().map_or(Instant::ORIGIN, |request| request.issued);
        let since = |at: Instant| Instant(at.since(first).get());
        let mut requests = paired.requests;
        for request in &mut requests {
            (request.issued, request.completed) = (since(request.issued), request.completed.map(since));
        }
        Ok(Trace { requests, first, dropped, head: std::mem::take(&mut self.head) })
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A log for an emulator, in memory.
///
/// # Errors
/// There is no room.
pub(super) fn log() -> Result<Arc<File>, Failure> {
    let file = rustix::fs::memfd_create("flashscope-app", rustix::fs::MemfdFlags::CLOEXEC);
    Ok(Arc::new(File::from(file.context("cannot make a log in memory")?)))
}

impl Trace {
    /// What an emulator, which has been stopped, wrote to its log.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(super) fn of_emulator(emulator: &Emulator, log: &File, capacity: Bytes, model: &str) -> Result<Trace, Failure> {
        let read = || {
            let mut log = log.try_clone()?;
            log.rewind()?;
            std::io::Result::Ok(BufReader::with_capacity(1 << 18, log))
        };
        let failed = |error: std::io::Error| anyhow!("cannot read the emulator's log: {error}");
        // The log's times count from when the emulation began, those of a trace from its first request.
        let mut first = None;
        for line in read().map_err(failed)?.lines().skip(1) {
            let arrived = line.map_err(failed)?.split(',').next().and_then(|time| time.parse::<u64>().ok());
            first = first.into_iter().chain(arrived).min();
        }
        let first = Instant(emulator.began().0 + first.unwrap_or_default());
        let mut log = read().map_err(failed)?;
        let options = Options { unit: None, waits: None, disk: None };
        let found = import(Format::Emulator, vec![&mut log as &mut dyn BufRead], &options)
            .map_err(|error| anyhow!("the emulator's log: {error}"))?;
        let source = format!("log of the emulated {model} while apps were played");
        let head = Head { capacity: Some(capacity), source };
        Ok(Trace { requests: found.requests, first, dropped: found.dropped, head })
    }

    /// What was given to the device from a time on, on the kernel's monotonic clock, for so long.
    pub(super) fn given(&self, began: Instant, length: Nanos) -> Given {
        let from = began.since(self.first);
        let to = from + length;
        let at = |time: Nanos| self.requests.partition_point(|request| request.issued < Instant(time.get()));
        let mut figures = Figures::new();
        self.requests[at(from)..at(to)].iter().for_each(|request| figures.add(request));
        Given { from, to, classes: figures.finish(0).classes }
    }

    /// Writes it to a file.
    ///
    /// # Errors
    /// Of that file.
    pub(super) fn write(self, output: Output) -> Result<(), Failure> {
        let mut written = Written::begin(output, &self.head)?;
        self.requests.into_iter().try_for_each(|request| written.add(request))?;
        written.finish(self.dropped)
    }
}
