//! What lanes are made with, and one type for all of them.

use super::{AioLane, MapLane, NullLane, SyncLane, UringLane, WholeLane};
use crate::clock::MonotonicClock;
use crate::errno::{self, Verdict};
use flashscope_device::{DeviceError, FailureDetail, Lane, LaneCompletion, Request, Status, Wait};
use flashscope_units::{Bytes, Instant, Nanos};
use rustix::io::Errno;
use std::fmt;

/// How one worker's lane is made.
#[derive(Clone, Copy, Debug)]
pub struct LaneOptions {
    /// Which engine.
    pub kind: LaneKind,
    /// Slots.
    pub depth: u32,
    /// Largest request.
    pub largest: Bytes,
    /// What buffers hold where requests do not bring their own payload.
    pub fill: SlotFill,
    /// Whether completions are polled for (`io_uring` only).
    pub polled: bool,
    /// A request that takes longer ends the run, where the engine can tell (`io_uring`, POSIX); others need a watcher.
    pub hang_after: Option<Nanos>,
    /// The clock that all lanes of a run share.
    pub clock: MonotonicClock,
}

/// The engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneKind {
    /// `pread` and `pwrite`.
    Sync,
    /// `io_uring`.
    Uring,
    /// POSIX asynchronous I/O, through the C library.
    Aio,
    /// A memory map.
    Map,
    /// Whole files.
    Whole,
    /// Nothing.
    Null,
}

/// What buffers hold from the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlotFill {
    /// Incompressible bytes.
    Incompressible,
    /// This share zeros, the rest incompressible.
    Compressible(f64),
    /// One byte.
    Byte(u8),
    /// Incompressible bytes that are drawn from the kernel's generator for every write.
    Urandom,
}

/// Why there is no such lane. Prints as one line, and a hint on its own line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaneError {
    /// The kernel has no `io_uring` or forbids it.
    UringUnavailable {
        /// What it said.
        said: String,
    },
    /// The buffers of all requests of this size do not fit.
    TooMuchMemory {
        /// What it would take.
        needed: Bytes,
    },
    /// Anything else.
    System {
        /// What was tried.
        operation: &'static str,
        /// What the kernel said.
        said: String,
    },
}

impl fmt::Display for LaneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UringUnavailable { said } => write!(
                f,
                "this kernel does not let us use io_uring ({said})\nhint: look at `sysctl kernel.io_uring_disabled`; or \
                 use --engine sync with --jobs for several requests at once"
            ),
            Self::TooMuchMemory { needed } => {
                write!(f, "the buffers of all these requests take {needed}\nhint: a smaller --iodepth or --bs")
            }
            Self::System { operation, said } => write!(f, "cannot {operation}: {said}"),
        }
    }
}

impl std::error::Error for LaneError {}

impl LaneError {
    pub(super) fn system(operation: &'static str, error: &std::io::Error) -> LaneError {
        let said = Errno::from_io_error(error).map_or_else(|| error.to_string(), errno::describe);
        LaneError::System { operation, said }
    }
}

/// Buffers of one lane take this at most.
const MOST_MEMORY: Bytes = Bytes::gib(4);

impl LaneOptions {
    pub(super) fn check(&self) -> Result<(), LaneError> {
        let needed = Bytes(self.largest.get().saturating_mul(u64::from(self.depth)));
        if needed > MOST_MEMORY { Err(LaneError::TooMuchMemory { needed }) } else { Ok(()) }
    }
}

/// The status of a system call that failed; an error where the run cannot go on.
#[cold]
pub(super) fn status_of(error: Errno, request: &Request, name: &str) -> Result<Status, DeviceError> {
    let context = || {
        let said = errno::describe(error);
        format!("{:?} of {} at {} on {name}: {said}", request.op(), request.length(), request.offset().get())
    };
    match errno::judge(error) {
        Verdict::Failed => Ok(Status::Errno(error.raw_os_error())),
        Verdict::Vanished => Err(DeviceError::Vanished(context())),
        Verdict::System => Err(DeviceError::System(context())),
    }
}

/// A lane of any kind: matched once per turn, or unwrapped by its caller to be driven as what it is.
#[derive(Debug)]
pub enum AnyLane {
    /// `pread` and `pwrite`.
    Sync(SyncLane),
    /// `io_uring`.
    Uring(Box<UringLane>),
    /// POSIX asynchronous I/O, through the C library.
    Aio(Box<AioLane>),
    /// A memory map.
    Map(MapLane),
    /// Whole files.
    Whole(Box<WholeLane>),
    /// Nothing.
    Null(NullLane),
}

impl Lane for AnyLane {
    fn now(&self) -> Instant {
        match self {
            Self::Sync(lane) => lane.now(),
            Self::Uring(lane) => lane.now(),
            Self::Aio(lane) => lane.now(),
            Self::Map(lane) => lane.now(),
            Self::Whole(lane) => lane.now(),
            Self::Null(lane) => lane.now(),
        }
    }

    fn push(&mut self, request: &Request) {
        match self {
            Self::Sync(lane) => lane.push(request),
            Self::Uring(lane) => lane.push(request),
            Self::Aio(lane) => lane.push(request),
            Self::Map(lane) => lane.push(request),
            Self::Whole(lane) => lane.push(request),
            Self::Null(lane) => lane.push(request),
        }
    }

    fn turn(&mut self, wait: Wait, complete: impl FnMut(LaneCompletion)) -> Result<Instant, DeviceError> {
        match self {
            Self::Sync(lane) => lane.turn(wait, complete),
            Self::Uring(lane) => lane.turn(wait, complete),
            Self::Aio(lane) => lane.turn(wait, complete),
            Self::Map(lane) => lane.turn(wait, complete),
            Self::Whole(lane) => lane.turn(wait, complete),
            Self::Null(lane) => lane.turn(wait, complete),
        }
    }

    fn sleep_until(&mut self, at: Instant) {
        match self {
            Self::Sync(lane) => lane.sleep_until(at),
            Self::Uring(lane) => lane.sleep_until(at),
            Self::Aio(lane) => lane.sleep_until(at),
            Self::Map(lane) => lane.sleep_until(at),
            Self::Whole(lane) => lane.sleep_until(at),
            Self::Null(lane) => lane.sleep_until(at),
        }
    }

    fn explain(&self, slot: u32, status: Status) -> FailureDetail {
        match self {
            Self::Sync(lane) => lane.explain(slot, status),
            Self::Uring(lane) => lane.explain(slot, status),
            Self::Aio(lane) => lane.explain(slot, status),
            Self::Map(lane) => lane.explain(slot, status),
            Self::Whole(lane) => lane.explain(slot, status),
            Self::Null(lane) => lane.explain(slot, status),
        }
    }
}
