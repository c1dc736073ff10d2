//! Devices for the tests of the other crates: one that takes as long as a test says, and wrappers
//! that fail, vanish or remember.
//!
//! [`ScriptedTarget`] is a device without an inside: a virtual clock and a function from request to
//! service time. It is no flash model (that is the simulator's job), so a test that uses it states
//! exactly what the device does. [`Failing`], [`Vanishing`] and [`Recording`] wrap any target.
//!
//! [`Targets`] are of another kind: what a capability is to reach, beside what it was found to reach.

mod chance;
mod content;
mod scripted;
mod targets;
mod wrappers;

pub use chance::{exact_interval, may_be_chance};
pub use scripted::{History, ScriptedTarget};
pub use targets::Targets;
pub use wrappers::{Failing, Recorded, Recording, Vanishing};
