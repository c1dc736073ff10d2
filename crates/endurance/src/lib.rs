//! Passes over a whole device, until it wears out or until somebody's limit: every block is written in shuffled order and read
//! back, registers are looked at after each pass, and what was written last is read again after a time.
//!
//! A pass is a full test of [`flashscope_capacity`], with an order and tags of its own. [`Plan`] says what is asked for,
//! [`Journal`] how far it is, which is kept so that the same command goes on where it was stopped; [`endure`] does it. What it
//! comes to is worked out in [`flashscope_infer::endurance`]. Nothing here knows a clock, a file or a terminal.

mod journal;
mod plan;
mod run;

pub use journal::{Journal, head};
pub use plan::Plan;
pub use run::{Look, Progress, Watch, endure};
