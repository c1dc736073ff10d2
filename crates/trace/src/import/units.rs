//! Units of time, and what betrays a wrong one.

use crate::{TraceError, Traced};

/// A unit of the times of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Nanoseconds.
    Ns,
    /// 100 nanoseconds, as Windows counts (`FILETIME`).
    Filetime,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

impl TimeUnit {
    /// Nanoseconds of one.
    pub const fn nanos(self) -> u64 {
        match self {
            TimeUnit::Ns => 1,
            TimeUnit::Filetime => 100,
            TimeUnit::Us => 1000,
            TimeUnit::Ms => 1_000_000,
            TimeUnit::S => 1_000_000_000,
        }
    }
}

/// How the waits of a fio log of version 2 are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Microseconds since what stands before, as fio's manual says.
    SincePrevious,
    /// Milliseconds since the start, as fio 3.33 does.
    SinceStart,
}

/// Requests a second over a whole trace that no single device serves, by a factor of ten.
const MOST_PER_SECOND: f64 = 30e6;
/// Bytes a second of the same kind.
const MOST_BYTES_PER_SECOND: f64 = 250e9;
/// Half of all requests are served within less only where nothing goes over any link.
const LEAST_SERVICE_NS: u64 = 1_000;
/// Half of all requests take longer only on a device that nobody waits for.
const LONGEST_SERVICE_NS: u64 = 60_000_000_000;
/// Fewer requests show no rate.
const ENOUGH: usize = 20;

/// Refuses times that no device has, which are times in another unit.
pub(super) fn check(requests: &[Traced]) -> Result<(), TraceError> {
    let span = requests.last().map_or(0, |last| last.issued.0);
    if requests.len() < ENOUGH || span == 0 {
        return Ok(());
    }
    let seconds = span as f64 / 1e9;
    let rate = requests.len() as f64 / seconds;
    let bytes =
        requests.iter().filter(|request| request.moves_data()).map(|request| f64::from(request.length)).sum::<f64>();
    let mut services: Vec<u64> = requests
        .iter()
        .filter(|request| request.moves_data())
        .filter_map(|request| request.service_time().map(|time| time.get()))
        .collect();
    let middle = services.len() / 2;
    let median = (!services.is_empty()).then(|| *services.select_nth_unstable(middle).1);
    let what = if rate > MOST_PER_SECOND {
        format!("{rate:.3e} requests a second")
    } else if bytes / seconds > MOST_BYTES_PER_SECOND {
        format!("{:.0} GB/s", bytes / seconds / 1e9)
    } else {
        match median {
            Some(ns) if ns < LEAST_SERVICE_NS => format!("half of all requests served within {ns} ns"),
            Some(ns) if ns > LONGEST_SERVICE_NS => {
                format!("half of all requests taking {} s and more", ns / 1_000_000_000)
            }
            _ => return Ok(()),
        }
    };
    Err(TraceError::unclear(
        format!("no device does what its times say: {what}"),
        "the times may be in another unit: say which with --time-unit ns, 100ns, us, ms or s",
    ))
}
