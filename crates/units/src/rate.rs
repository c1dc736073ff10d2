//! Speeds.

use crate::{Bytes, Nanos};
use std::fmt;

/// A speed in bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct ByteRate(pub f64);

impl ByteRate {
    /// The speed of moving `bytes` in `time`; nothing where no time has passed.
    pub fn of(bytes: Bytes, time: Nanos) -> Option<ByteRate> {
        (time > Nanos::ZERO).then(|| ByteRate(bytes.as_f64() / time.as_secs_f64()))
    }

    /// Bytes per second.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The time that `bytes` take at this speed.
    pub fn time_for(self, bytes: Bytes) -> Nanos {
        Nanos((bytes.as_f64() / self.0 * 1e9).round() as u64)
    }
}

/// Prints with 1000-based units and three digits: `14.7 MB/s`, `340 KB/s`.
impl fmt::Display for ByteRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            rate if rate < 999.5 => (rate, "B/s"),
            rate if rate < 999.5e3 => (rate / 1e3, "KB/s"),
            rate if rate < 999.5e6 => (rate / 1e6, "MB/s"),
            rate => (rate / 1e9, "GB/s"),
        };
        f.pad(&three_digits(value, unit))
    }
}

/// Requests per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Iops(pub f64);

impl fmt::Display for Iops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&if self.0 < 999.5 { three_digits(self.0, "IOPS") } else { three_digits(self.0 / 1e3, "k IOPS") })
    }
}

fn three_digits(value: f64, unit: &str) -> String {
    match value {
        _ if value < 9.995 => format!("{value:.2} {unit}"),
        _ if value < 99.95 => format!("{value:.1} {unit}"),
        _ => format!("{value:.0} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        assert_eq!(ByteRate::of(Bytes(1000), Nanos::ZERO), None);
        assert_eq!(ByteRate::of(Bytes(1000), Nanos::millis(1)), Some(ByteRate(1e6)));
        assert_eq!(ByteRate(14_700_000.0).to_string(), "14.7 MB/s");
        assert_eq!(ByteRate(75_300.0).to_string(), "75.3 KB/s");
        assert_eq!(ByteRate(1e6).time_for(Bytes(500)), Nanos::micros(500));
    }
}
