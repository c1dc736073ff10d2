//! Bytes, times and rates as types.
//!
//! Inside flashscope no number travels without its unit: a size is [`Bytes`], a length of time is
//! [`Nanos`], a point in time is an [`Instant`], a speed is a [`ByteRate`]. A contrast between two
//! times may be negative and fractional: that is a [`Contrast`]. This crate knows how to parse and
//! print them for people; machine formats print plain numbers in the unit of the field's name.

mod bytes;
mod rate;
mod time;

pub use bytes::{Bytes, ParseBytesError};
pub use rate::{ByteRate, Iops};
pub use time::{Contrast, Instant, Nanos, ParseNanosError};
