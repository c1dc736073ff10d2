//! Why one device is slower than another at a workload.
//!
//! Both devices are models ([`Side`]). The workload, a block trace, is replayed on both and on *hybrids*: A with some groups of
//! its parameters ([`GROUPS`]) exchanged for those of B. [`explain()`] shares the difference of the two times out over the
//! groups by Shapley values, with an interval for each share. Nothing here does I/O or knows a clock.

#![forbid(unsafe_code)]

mod error;
mod groups;
mod hybrid;
mod known;
mod players;
mod reason;
mod shapley;
mod shares;
mod workload;

pub use error::ExplainError;
pub use groups::{GROUPS, Group};
pub use hybrid::exchanged;
pub use known::{Known, of_record};
pub use reason::{Answer, Question, Side, explain};
pub use workload::{Workload, time};

/// Told how far it is, and asked whether to stop.
pub trait Watch {
    /// A replay is done; `total` is how many there will be at most.
    fn progress(&mut self, what: &str, done: u32, total: u32);

    /// Whether the operator wants to stop, or the time is over.
    fn stop(&mut self) -> bool;
}

impl Watch for flashscope_twin::Unattended {
    fn progress(&mut self, _what: &str, _done: u32, _total: u32) {}

    fn stop(&mut self) -> bool {
        false
    }
}
