//! The queue of a lab on one host, in one SQLite file, and how many cards that host holds. The program beside it is what
//! `flashscope lab` starts.

pub mod limits;
mod queue;

pub use queue::{Queue, QueueError};
