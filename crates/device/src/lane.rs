//! The lean way to a device, for load that is limited by the machine: no allocation, no text, no copy per request.
//!
//! A [`Target`](crate::Target) serves probes, which want to know what a read found. A [`Lane`] serves one load worker
//! that only wants stamps and fates, a few million times per second. What went wrong is put into words afterwards
//! ([`Lane::explain`]). Requests are the same, so that no lane can write without a grant either.

use crate::{DeviceError, Request};
use flashscope_units::Instant;

/// One worker's way to a device or file. It carries its own clock; the lanes of one run share its origin.
pub trait Lane {
    /// Now, on the lane's clock.
    fn now(&self) -> Instant;

    /// Takes a request, whose id is a slot below the depth that the lane was made for and not in use. Payloads are made
    /// here, outside the stamps.
    fn push(&mut self, request: &Request);

    /// Hands all pushed requests over, waits as told, and gives every one that ended to `ended`. Returns the time of its
    /// last look at the clock.
    ///
    /// # Errors
    /// Where the measurement cannot go on. A request that failed is no error: it has its [`Status`].
    fn turn(&mut self, wait: Wait, complete: impl FnMut(LaneCompletion)) -> Result<Instant, DeviceError>;

    /// Sleeps; nothing is outstanding meanwhile.
    fn sleep_until(&mut self, at: Instant);

    /// Puts into words why the request that was last in this slot went wrong; asked before the slot is used again.
    fn explain(&self, slot: u32, status: Status) -> FailureDetail;
}

/// How long a turn waits for requests to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Not at all: only what has ended already is given.
    Not,
    /// Until this number of requests have ended, or all that are outstanding.
    For(u32),
    /// Until one has ended, but no longer than this.
    Until(Instant),
}

/// A request that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneCompletion {
    /// Its slot.
    pub slot: u32,
    /// Right before it was handed over.
    pub issued: Instant,
    /// When its end was seen.
    pub completed: Instant,
    /// How it went.
    pub status: Status,
}

/// How a request went, in a few bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// As asked.
    Success,
    /// It moved only this number of bytes.
    Short(u32),
    /// It failed with this number.
    Errno(i32),
    /// A read found other bytes than expected.
    Mismatch,
}

/// What went wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureDetail {
    /// In words (`EIO: input/output error`).
    pub reason: String,
    /// For a mismatch: where the first wrong byte lies, counted from the start of the request.
    pub at: Option<u64>,
    /// For a mismatch: what stood there instead, in words.
    pub found: Option<String>,
}

/// A target that knows when the next of its outstanding requests will end: every simulated one. With it several
/// workers can be stepped on one clock without missing what happens between two of its ticks.
pub trait Foresight {
    /// When the first outstanding request ends; `None` where none is outstanding.
    fn next_completion(&self) -> Option<Instant>;
}
