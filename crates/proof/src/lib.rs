//! Ground-truth tests: simulated devices, probes and inference together.
//!
//! The product's crates keep apart (a probe cannot see a simulated device); here they meet, so that
//! known devices go in and right answers must come out. Holds helpers for those tests and no product code.

pub mod agreement;
pub mod explain;
pub mod inspected;
mod jobs;
pub mod predicted;
pub mod steady;
pub mod twins;

use flashscope_model::run::Step;
use flashscope_session::{Ahead, SoFar, Watcher};

/// Watches a run without a word, and never stops it.
pub struct Nobody;

impl Watcher for Nobody {
    fn step(&mut self, _number: u32, _step: &Step, _ahead: &dyn Fn() -> Ahead) {}
    fn progress(&mut self, _done: u64, _total: u64) {}
    fn measured(&mut self, _so_far: &dyn SoFar) {}
    fn stop(&mut self) -> bool {
        false
    }
}
