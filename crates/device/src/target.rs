//! The trait that simulated and real devices implement.

use crate::{Completion, Outcome, Request};
use flashscope_model::{DeviceFacts, run::PathTaken};
use flashscope_units::{Bytes, Instant};
use std::fmt;

/// A device that takes requests. One owner drives it; it carries its own clock.
pub trait Target {
    /// What is known of the device before measuring.
    fn facts(&self) -> &DeviceFacts;

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// The way that requests take, for the record.
    fn path(&self) -> PathTaken;

    /// Now, on the target's clock.
    fn now(&self) -> Instant;

    /// Hands over requests in order. A request outside the device, or not aligned to its logical
    /// block, is a [`DeviceError::Invalid`] and nothing of the batch is taken.
    fn submit(&mut self, batch: &[Request]) -> Result<(), DeviceError>;

    /// Waits until at least `min` requests are done (or none is outstanding) and appends all that are.
    fn reap(&mut self, min: usize, into: &mut Vec<Completion>) -> Result<(), DeviceError>;

    /// Lets time pass until `at`; outstanding requests go on.
    fn wait_until(&mut self, at: Instant);

    /// Wear since the target was opened, where the device counts it itself (a simulated one does).
    fn wear(&self) -> Option<Wear>;
}

/// What a target around another one leaves to that: `forward!(inner: facts, capabilities, path, now, wait_until, wear)`
/// stands for these methods of [`Target`], each handed on to the field `inner`.
#[macro_export]
macro_rules! forward {
    (@facts $inner:ident) => {
        fn facts(&self) -> &$crate::model::DeviceFacts {
            self.$inner.facts()
        }
    };
    (@capabilities $inner:ident) => {
        fn capabilities(&self) -> $crate::Capabilities {
            self.$inner.capabilities()
        }
    };
    (@path $inner:ident) => {
        fn path(&self) -> $crate::model::run::PathTaken {
            self.$inner.path()
        }
    };
    (@now $inner:ident) => {
        fn now(&self) -> $crate::units::Instant {
            self.$inner.now()
        }
    };
    (@submit $inner:ident) => {
        fn submit(&mut self, batch: &[$crate::Request]) -> Result<(), $crate::DeviceError> {
            self.$inner.submit(batch)
        }
    };
    (@reap $inner:ident) => {
        fn reap(&mut self, min: usize, into: &mut Vec<$crate::Completion>) -> Result<(), $crate::DeviceError> {
            self.$inner.reap(min, into)
        }
    };
    (@wait_until $inner:ident) => {
        fn wait_until(&mut self, at: $crate::units::Instant) {
            self.$inner.wait_until(at);
        }
    };
    (@wear $inner:ident) => {
        fn wear(&self) -> Option<$crate::Wear> {
            self.$inner.wear()
        }
    };
    ($inner:ident: $($method:ident),+) => {
        $($crate::forward!(@$method $inner);)+
    };
}

/// What a target can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether it can be written to at all.
    pub write: bool,
    /// Whether a flush means something.
    pub flush: bool,
    /// Whether discard is there.
    pub discard: bool,
    /// Requests that may be outstanding.
    pub queue_depth: u32,
    /// Offsets and lengths must be multiples of this.
    pub granularity: Bytes,
}

/// What was done to the flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wear {
    /// Erases of erase blocks or units, as the device defines them.
    pub erases: u64,
    /// Bytes programmed, copies included.
    pub programmed: Bytes,
}

/// The measurement cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceError {
    /// A request that the caller should not have made.
    Invalid(String),
    /// The device is gone.
    Vanished(String),
    /// It did not answer in time.
    Hung(String),
    /// The operating system would not let us.
    System(String),
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(what) => write!(f, "invalid request: {what}"),
            Self::Vanished(what) => write!(f, "the device is gone: {what}"),
            Self::Hung(what) => write!(f, "the device does not answer: {what}"),
            Self::System(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for DeviceError {}

/// One request at a time, for every target.
pub trait ExecuteExt: Target {
    /// Submits one request and waits for it.
    fn execute(&mut self, request: Request) -> Result<Completion, DeviceError> {
        self.submit(&[request])?;
        let mut done = Vec::with_capacity(1);
        self.reap(1, &mut done)?;
        done.pop().ok_or_else(|| DeviceError::Hung(format!("request at {} was lost", request.offset().get())))
    }
}

impl<T: Target + ?Sized> ExecuteExt for T {}

impl Outcome {
    /// Whether it went as asked.
    pub fn is_done(&self) -> bool {
        matches!(self, Outcome::Success)
    }
}
