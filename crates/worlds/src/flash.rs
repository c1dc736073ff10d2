//! What every mapping is to the target around it, and what flash takes.

use crate::chance::Chance;
use flashscope_device::Wear;
use flashscope_units::{Bytes, Instant, Nanos};

/// A controller with its flash: takes requests of at most the longest length, in virtual time.
pub(crate) trait Controller {
    /// When a read that is issued at `now` is done.
    fn read(&mut self, now: Instant, start: u64, length: u64) -> Instant;

    /// When a write is done, and safe.
    fn write(&mut self, now: Instant, start: u64, length: u64) -> Instant;

    /// What lies in this range is not needed any more.
    fn forget(&mut self, start: u64, end: u64);

    /// Nothing is asked of it between these times.
    fn rest(&mut self, from: Instant, until: Instant);

    /// Erases and bytes programmed so far.
    fn wear(&self) -> Wear;

    /// Checks what must always be true.
    fn check(&self) -> Result<(), String>;
}

/// How long an operation of the flash takes: gamma about its typical time, as the number of program pulses and retries
/// differs from page to page. Exact without a shape.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    shape: Option<f64>,
    chance: Chance,
}

impl Spread {
    pub(crate) fn new(shape: Option<f64>, chance: Chance) -> Spread {
        Spread { shape, chance }
    }

    pub(crate) fn around(&mut self, time: Nanos) -> Nanos {
        match self.shape {
            Some(shape) if time > Nanos::ZERO => Nanos((time.as_f64() * self.chance.gamma(shape)) as u64),
            _ => time,
        }
    }

    /// The sum of `count` such times: a gamma of so many times the shape.
    pub(crate) fn around_all(&mut self, time: Nanos, count: u64) -> Nanos {
        match self.shape {
            Some(shape) if count > 0 => {
                Nanos((time.as_f64() * count as f64 * self.chance.gamma(shape * count as f64)) as u64)
            }
            _ => time * count,
        }
    }
}

/// Counts what is done to the flash.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter {
    pub(crate) erases: u64,
    pub(crate) programmed: u64,
}

impl Meter {
    pub(crate) fn wear(self) -> Wear {
        Wear { erases: self.erases, programmed: Bytes(self.programmed) }
    }
}

/// Time that a number of bytes takes at a rate in bytes per second.
pub(crate) fn transfer(bytes: u64, rate: f64) -> Nanos {
    Nanos((bytes as f64 / rate * 1e9) as u64)
}
