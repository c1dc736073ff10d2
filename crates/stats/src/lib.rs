//! Robust statistics for I/O measurements.
//!
//! Pure functions on slices of `f64`: nothing here reads a clock, a device or a file, and the only randomness is the
//! [`Rng`] that the caller seeds. A value keeps whatever unit the caller gave it; where a routine needs logarithms it
//! either says so (and refuses what is not positive) or expects data that are already transformed.
//!
//! Where to start: [`location`] and [`interval`] describe one sample, [`mod@test`] compares samples, [`change`] and
//! [`levels`] look for steps, [`mixture`] and [`period`] look for hidden structure, [`steady`], [`mod@line`] and
//! [`sequential`] serve the measurement loop, and [`posterior`] turns log likelihoods into probabilities.
//!
//! Empty, too small or non-finite input gives `None` (module [`location`], where there is only one way to fail) or a
//! [`StatsError`] (everywhere else); no routine panics on data.

pub mod change;
pub mod interval;
pub mod levels;
pub mod line;
pub mod location;
pub mod mixture;
pub mod period;
pub mod posterior;
pub mod sequential;
pub mod steady;
pub mod test;

mod counting;
mod distribution;
mod error;
mod pairwise;
mod ranking;
mod rng;
#[cfg(test)]
mod simulate;

pub use error::StatsError;
pub use interval::Interval;
pub use rng::Rng;
