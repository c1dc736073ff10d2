//! The queue of a lab on one host, in one SQLite file. The program beside it is what `flashscope lab` starts.

#[cfg(test)]
mod alike;
mod queue;

pub use queue::{Queue, QueueError};
