//! The two clocks of a host: the monotonic one that times requests, and the wall clock for the record.

use crate::date::rfc3339;
use flashscope_units::{Instant, Nanos};
use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::time::{SystemTime, UNIX_EPOCH};

/// `CLOCK_MONOTONIC`, counted from when this clock was made. Reading it costs no system call.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    origin_ns: u64,
}

impl MonotonicClock {
    /// A clock whose origin is now.
    pub fn start() -> MonotonicClock {
        MonotonicClock { origin_ns: monotonic_ns() }
    }

    /// Now.
    pub fn now(&self) -> Instant {
        Instant(monotonic_ns() - self.origin_ns)
    }

    /// A time of this clock as the kernel's tracing has it: since the machine began.
    pub fn monotonic(&self, at: Instant) -> Instant {
        Instant(at.0 + self.origin_ns)
    }

    /// Sleeps until `at`; returns at once where that is past.
    pub fn sleep_until(&self, at: Instant) {
        let ns = at.0.saturating_add(self.origin_ns);
        let deadline = Timespec { tv_sec: (ns / NS_PER_S) as i64, tv_nsec: (ns % NS_PER_S) as _ };
        while clock_nanosleep_absolute(ClockId::Monotonic, &deadline) == Err(Errno::INTR) {}
    }
}

/// The smallest difference that the clock was seen to make, from `n` back-to-back readings.
pub fn clock_resolution(n: u32) -> Option<Nanos> {
    let mut last = monotonic_ns();
    let mut smallest = None;
    for _ in 0..n {
        let now = monotonic_ns();
        if now > last {
            let step = now - last;
            smallest = Some(smallest.map_or(step, |least: u64| least.min(step)));
        }
        last = now;
    }
    smallest.map(Nanos)
}

/// The wall clock in RFC 3339, UTC, to the second: `2025-11-20T22:44:05Z`.
pub fn wall_clock() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    rfc3339(seconds)
}

/// Nanoseconds of a second.
const NS_PER_S: u64 = 1_000_000_000;

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * NS_PER_S + now.tv_nsec as u64
}
