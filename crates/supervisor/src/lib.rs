//! The queue of a lab on one host, in one SQLite file; the directory that it lies in; workers, processes that measure; and what a
//! queue says of its lab. The program beside it is what `flashscope lab` starts.

#[cfg(test)]
mod alike;
mod folder;
mod queue;
mod told;
pub mod worker;

pub use folder::{Folder, Lock};
pub use queue::{Queue, QueueError};
pub use told::{devices, status, time_of, told, tool};
