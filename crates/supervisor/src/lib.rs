//! The queue of a lab on one host, in one SQLite file; the directory that it lies in; workers, processes that measure; and what a
//! queue says of its lab; how many cards the host holds. The program beside it is what `flashscope lab` starts.

#[cfg(test)]
mod alike;
mod folder;
pub mod limits;
mod queue;
mod told;
pub mod worker;

pub use folder::{Folder, Lock};
pub use queue::{Queue, QueueError};
pub use told::{IDENTITIES, NAMES, devices, status, time_of, told, tool, verdicts};
