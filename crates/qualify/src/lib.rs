//! Qualification: may this part replace that one?
//!
//! A [`Plan`] is a text (TOML): workloads, each one command of this program or of the product, and requirements, each a figure
//! of one of them and a limit. [`schedule`] says which run to do next, [`judge()`] makes a result of each requirement and a
//! verdict of all. Pure: nothing here runs anything, reads a file or knows a clock, and the same runs give the same verdict on
//! any machine.
//!
//! Where to start: [`Plan::parse`], then [`judge()`].

mod catalogue;
mod control;
mod judge;
mod limit;
mod plan;
pub mod schedule;
mod task;
mod verdict;
mod words;

pub use catalogue::{names, shipped, trace};
pub use control::{CONTROL, control_difference};
pub use judge::{Judged, judge};
pub use limit::unit;
pub use plan::{Plan, PlanError, Workload};
pub use task::{Counted, Task};
