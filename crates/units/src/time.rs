//! Lengths of time, points in time, and differences of times.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub};
use std::str::FromStr;

/// A length of time in nanoseconds; never negative (see [`Contrast`] for what may be).
///
/// ```
/// use flashscope_units::{Instant, Nanos};
///
/// let stall: Nanos = "1.5 ms".parse().unwrap();
/// assert_eq!(stall, Nanos::micros(1500));
/// // A bare number could be seconds or milliseconds, so it is refused.
/// assert!("30".parse::<Nanos>().is_err());
/// // A point in time and a length of time do not mix: a sum of two points has no meaning, and no `+`.
/// let end: Instant = Instant::ORIGIN + stall;
/// assert_eq!(end.since(Instant::ORIGIN), stall);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The longest that is taken from a user: a year. No run lasts longer, and sums of hundreds of them fit 64 bits.
    pub const LONGEST: Nanos = Nanos(365 * 24 * 3600 * 1_000_000_000);
    /// No time at all.
    pub const ZERO: Nanos = Nanos(0);

    /// `n` microseconds.
    pub const fn micros(n: u64) -> Nanos {
        Nanos(n * 1_000)
    }

    /// `n` milliseconds.
    pub const fn millis(n: u64) -> Nanos {
        Nanos(n * 1_000_000)
    }

    /// `n` seconds.
    pub const fn secs(n: u64) -> Nanos {
        Nanos(n * 1_000_000_000)
    }

    /// The bare number of nanoseconds.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Nanoseconds as a float, for statistics.
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// Seconds as a float, for rates.
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// `self − other`, or zero.
    pub const fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0 - other.0)
    }
}

impl Mul<u64> for Nanos {
    type Output = Nanos;
    fn mul(self, n: u64) -> Nanos {
        Nanos(self.0 * n)
    }
}

impl Div<u64> for Nanos {
    type Output = Nanos;
    fn div(self, n: u64) -> Nanos {
        Nanos(self.0 / n)
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(times: I) -> Nanos {
        Nanos(times.map(|time| time.0).sum())
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&human(self.as_f64()))
    }
}

/// A point in time on one target's clock, in nanoseconds since that clock's origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub u64);

impl Instant {
    /// The origin of the clock.
    pub const ORIGIN: Instant = Instant(0);

    /// The time from `earlier` to `self`, or zero where `earlier` is later.
    pub const fn since(self, earlier: Instant) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Nanos> for Instant {
    type Output = Instant;
    fn add(self, time: Nanos) -> Instant {
        Instant(self.0 + time.0)
    }
}

impl AddAssign<Nanos> for Instant {
    fn add_assign(&mut self, time: Nanos) {
        self.0 += time.0;
    }
}

impl Sub<Instant> for Instant {
    type Output = Nanos;
    fn sub(self, earlier: Instant) -> Nanos {
        Nanos(self.0 - earlier.0)
    }
}

/// A difference of times in nanoseconds, estimated: may be negative and fractional, and stays so.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Contrast(pub f64);

impl Contrast {
    /// The bare number of nanoseconds.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Contrast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0.0 { "−" } else { "" };
        f.pad(&format!("{sign}{}", human(self.0.abs())))
    }
}

/// Three significant digits, with the unit that keeps the number readable.
fn human(ns: f64) -> String {
    let (value, unit) = match ns {
        _ if ns < 999.5 => return format!("{ns:.0} ns"),
        _ if ns < 999.5e3 => (ns / 1e3, "µs"),
        _ if ns < 999.5e6 => (ns / 1e6, "ms"),
        _ if ns < 120e9 => (ns / 1e9, "s"),
        _ if ns < 7200e9 => (ns / 60e9, "min"),
        _ => (ns / 3600e9, "h"),
    };
    match value {
        _ if value < 9.995 => format!("{value:.2} {unit}"),
        _ if value < 99.95 => format!("{value:.1} {unit}"),
        _ => format!("{value:.0} {unit}"),
    }
}

/// Why a text is not a length of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseNanosError {
    /// There is no number.
    NoNumber(String),
    /// Longer than any run.
    TooLong(String),
    /// A number without a unit.
    NoUnit(String),
    /// The unit is not known.
    UnknownUnit(String),
}

impl fmt::Display for ParseNanosError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNumber(text) => {
                write!(f, "'{text}' is not a length of time\nhint: write a number and a unit, like 250us or 30s")
            }
            Self::TooLong(text) => write!(f, "'{text}' is more than a year"),
            Self::NoUnit(text) => {
                write!(
                    f,
                    "'{text}' has no unit\nhint: write {}s for seconds; units are ns, us, ms, s, min, h",
                    text.trim()
                )
            }
            Self::UnknownUnit(unit) => {
                write!(f, "unknown unit of time '{unit}'\nhint: use one of ns, us, ms, s, min, h")
            }
        }
    }
}

impl std::error::Error for ParseNanosError {}

/// A number and a unit: `250us`, `1.5 ms`, `30s`, `2min`, `1h`.
impl FromStr for Nanos {
    type Err = ParseNanosError;

    fn from_str(text: &str) -> Result<Nanos, ParseNanosError> {
        let trimmed = text.trim();
        let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
        let value: f64 = trimmed[..end].parse().map_err(|_| ParseNanosError::NoNumber(text.to_owned()))?;
        let factor = match trimmed[end..].trim() {
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "min" | "m" => 60e9,
            "h" => 3600e9,
            "" => return Err(ParseNanosError::NoUnit(text.to_owned())),
            unit => return Err(ParseNanosError::UnknownUnit(unit.to_owned())),
        };
        let ns = value * factor;
        if ns > Nanos::LONGEST.as_f64() {
            return Err(ParseNanosError::TooLong(text.to_owned()));
        }
        Ok(Nanos(ns.round() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_times() {
        let check = |text: &str, expect: Option<u64>| {
            assert_eq!(text.parse::<Nanos>().ok().map(Nanos::get), expect, "{text}");
        };
        check("250us", Some(250_000));
        check("1.5 ms", Some(1_500_000));
        check("30s", Some(30_000_000_000));
        check("30", None);
        check("s", None);
        check("1 fortnight", None);
    }

    #[test]
    fn prints_times() {
        let check = |ns: u64, expect: &str| assert_eq!(Nanos(ns).to_string(), expect);
        check(0, "0 ns");
        check(535, "535 ns");
        check(249_000, "249 µs");
        check(1_070_000, "1.07 ms");
        check(999_700, "1.00 ms");
        check(96_000_000_000, "96.0 s");
        check(5_400_000_000_000, "90.0 min");
        assert_eq!(Contrast(-2_926.0).to_string(), "−2.93 µs");
    }

    #[test]
    fn points_and_lengths_differ() {
        let start = Instant(5);
        assert_eq!((start + Nanos(7)) - start, Nanos(7));
        assert_eq!(start.since(Instant(9)), Nanos::ZERO);
    }
}
