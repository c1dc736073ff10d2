//! Robust statistics for I/O measurements.
//!
//! Pure functions on slices of `f64`: nothing here reads a clock, a device or a file, and the only randomness is the
//! [`Rng`] that the caller seeds. A value keeps whatever unit the caller gave it; where a routine needs logarithms it
//! either says so (and refuses what is not positive) or expects data that are already transformed.
//!
//! Where to start: [`location`] and [`interval`] describe one sample, [`mod@test`] compares samples, [`change`] and
//! [`levels`] look for steps, [`mixture`] looks for hidden structure, [`steady`], [`sustained`], [`mod@line`] and
//! [`sequential`] serve the measurement loop, [`posterior`] turns log likelihoods into probabilities, and [`rng`] is the one
//! place where seeds become numbers.
//!
//! Empty, too small or non-finite input gives `None` (module [`location`], where there is only one way to fail) or a
//! [`StatsError`] (everywhere else); no routine panics on data.

pub mod change;
pub mod interval;
pub mod levels;
pub mod line;
pub mod location;
pub mod mixture;
pub mod posterior;
pub mod rng;
pub mod sequential;
pub mod steady;
pub mod sustained;
pub mod test;

mod counting;
mod distribution;
mod error;
mod pairwise;
mod ranking;
#[cfg(test)]
mod simulate;

pub use distribution::{binomial_cdf, normal_cdf, two_sided_t};
pub use error::StatsError;
pub use interval::Interval;
pub use rng::Rng;
