//! Memory under stress, alone or together with a storage device: what is written, what differs from it, and whose error that is.
//!
//! Everything here works on slices that are handed in and on a [`PoweredBytes`](flashscope_device::PoweredBytes): no memory is
//! locked, no thread started and no clock read, so that the same code runs in a simulated world whose faults are known
//! ([`world`]) and on a real machine.
//!
//! - [`Pattern`]: what a word of memory holds, as a function of its place; nothing has to be remembered to verify it.
//! - `word`: a wrong word, read and written again; [`groups`]: what wrong words have in common.
//! - [`Journey`]: blocks of data on their way from memory to a device and back, held against what they should be at each border.
//! - [`attributed`]: from what a journey saw to the cause.

mod cause;
mod group;
mod journey;
mod look;
mod pattern;
mod planting;
mod seam;
mod tag;
mod word;
pub mod world;

pub use cause::{Answer, RULES, Rule, attributed, from_words};
pub use group::groups;
pub use journey::{Journey, JourneyPlan, Seen, Watch};
pub use look::{Difference, Looks};
pub use pattern::{Pattern, Sum};
pub use planting::{Planting, Spot};
pub use seam::{Memory, NoSeam, Seam, Slot};
pub use word::{Reader, examined};

/// A number that follows from another one, and looks like none of its neighbours'.
pub fn mixed(number: u64) -> u64 {
    flashscope_stats::rng::mix(number)
}
