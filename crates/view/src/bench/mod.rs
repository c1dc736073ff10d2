//! The figures of tables and plots of a run of load.
//!
//! Where to start: [`bench()`] for plots, [`results`] and [`preset_table`] for tables, [`words`] for verdicts in words.

pub mod plots;
mod rows;
pub mod words;

pub use plots::{BenchView, bench};
pub use rows::{limits, preset_table, results, side_by_side, summary};
