//! The range of every number of a model file. [`ranges!`] declares them right below the struct that holds the numbers, and
//! [`Section::check`] goes through all of them once, when a model comes in; behind it no size, count or time is large
//! enough to overflow, to exhaust memory or to keep a simulation busy for hours.

use flashscope_units::{Bytes, Instant, Nanos};
use std::fmt::Debug;
use std::ops::RangeInclusive;

/// A probability, or a part of a whole.
pub(crate) const SHARE: RangeInclusive<f64> = 0.0..=1.0;
/// Bytes per second of a link or bus: from far below the slowest card to far above the fastest drive.
pub(crate) const RATE: RangeInclusive<f64> = 1e3..=1e12;
/// One operation of flash or controller: the slowest known, a collection, takes seconds.
pub(crate) const OPERATION: RangeInclusive<Nanos> = Nanos::ZERO..=Nanos::secs(60);
/// A rest or a pause.
pub(crate) const PAUSE: RangeInclusive<Nanos> = Nanos::ZERO..=Nanos::secs(24 * 3600);
/// A moment on the device's clock: a hundred days.
pub(crate) const MOMENT: RangeInclusive<Instant> = Instant::ORIGIN..=Instant(100 * 24 * 3600 * 1_000_000_000);
/// The number of a request.
pub(crate) const REQUEST: RangeInclusive<u64> = 0..=1 << 48;
/// A device, or a part of one that is there.
pub(crate) const CAPACITY: RangeInclusive<Bytes> = Bytes::SECTOR..=Bytes::gib(64 << 10);
/// What may be as large as a device, or nothing.
pub(crate) const PART: RangeInclusive<Bytes> = Bytes::ZERO..=Bytes::gib(64 << 10);
/// What is moved, mapped or decoded as one.
pub(crate) const BLOCK: RangeInclusive<Bytes> = Bytes::SECTOR..=Bytes::gib(1);
/// The same, or nothing.
pub(crate) const BLOCK_OR_NONE: RangeInclusive<Bytes> = Bytes::ZERO..=Bytes::gib(1);

/// Marks a field that is a section of its own.
pub(crate) struct Inner;

/// A part of a model file, whose numbers have ranges.
pub(crate) trait Section {
    /// Says which number is out of its range, by its path in the file; `key` is that of the section.
    fn check(&self, key: &str) -> Result<(), String>;
}

/// A value, a list of values or a section that can be held against what was declared for it.
pub(crate) trait Within<R> {
    fn within(&self, range: &R, key: &str) -> Result<(), String>;
}

macro_rules! numbers {
    ($($number:ty),+) => { $(
        impl Within<RangeInclusive<$number>> for $number {
            fn within(&self, range: &RangeInclusive<$number>, key: &str) -> Result<(), String> {
                if range.contains(self) {
                    return Ok(());
                }
                let show = <$number as Shown>::shown;
                Err(format!("{key} ({}) must lie between {} and {}", show(self), show(range.start()), show(range.end())))
            }
        }
    )+ };
}

numbers!(u8, u32, u64, f64, Bytes, Nanos, Instant);

/// How a number stands in a message.
trait Shown: Debug {
    fn shown(&self) -> String {
        format!("{self:?}")
    }
}

impl Shown for u8 {}
impl Shown for u32 {}
impl Shown for u64 {}
impl Shown for f64 {}

impl Shown for Bytes {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Shown for Nanos {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Shown for Instant {
    fn shown(&self) -> String {
        self.since(Instant::ORIGIN).to_string()
    }
}

impl<T: Section> Within<Inner> for T {
    fn within(&self, _: &Inner, key: &str) -> Result<(), String> {
        self.check(key)
    }
}

impl<R, T: Within<R>> Within<R> for Option<T> {
    fn within(&self, range: &R, key: &str) -> Result<(), String> {
        self.as_ref().map_or(Ok(()), |value| value.within(range, key))
    }
}

/// Each item has its number in the list in its path.
impl<R, T: Within<R>> Within<R> for Vec<T> {
    fn within(&self, range: &R, key: &str) -> Result<(), String> {
        self.iter().enumerate().try_for_each(|(at, item)| item.within(range, &join(key, &at.to_string())))
    }
}

/// The path of a field of the section at `key`.
pub(crate) fn join(key: &str, field: &str) -> String {
    if key.is_empty() { field.to_owned() } else { format!("{key}.{field}") }
}

/// Declares the ranges of a section: `field: RANGE`, `field: Inner` for a section in it, and the bare name of a field that
/// is no number. The section is taken apart here, so that a field that is missing below does not compile.
macro_rules! ranges {
    ($section:ident { $($field:ident $(: $range:expr)?),+ $(,)? }) => {
        impl $crate::range::Section for $section {
            fn check(&self, key: &str) -> Result<(), String> {
                let $section { $($field),+ } = self;
                $($crate::range::one!(key, $field $(, $range)?);)+
                Ok(())
            }
        }
    };
}

/// One field of [`ranges!`].
macro_rules! one {
    ($key:ident, $field:ident) => {
        let _ = $field;
    };
    ($key:ident, $field:ident, $range:expr) => {
        $crate::range::Within::within($field, &$range, &$crate::range::join($key, stringify!($field)))?;
    };
}

pub(crate) use {one, ranges};

#[cfg(test)]
mod tests {
    use super::*;

    struct Outer {
        name: &'static str,
        rates: Vec<f64>,
        inner: Option<Part>,
    }

    struct Part {
        size: Bytes,
    }

    ranges!(Outer { name, rates: RATE, inner: Inner });
    ranges!(Part { size: BLOCK });

    #[test]
    fn a_number_out_of_its_range_is_named_by_its_path() {
        let check = |rate: f64, size: Option<Bytes>, expect: Result<(), &str>| {
            let outer = Outer { name: "x", rates: vec![1e6, rate], inner: size.map(|size| Part { size }) };
            assert_eq!(outer.check("a"), expect.map_err(str::to_owned), "{}", outer.name);
        };
        check(1e9, Some(Bytes::mib(4)), Ok(()));
        check(1e9, None, Ok(()));
        check(1e-300, None, Err("a.rates.1 (1e-300) must lie between 1000.0 and 1000000000000.0"));
        check(f64::NAN, None, Err("a.rates.1 (NaN) must lie between 1000.0 and 1000000000000.0"));
        check(1e9, Some(Bytes::ZERO), Err("a.inner.size (0 B) must lie between 512 B and 1 GiB"));
    }
}
