//! A target that keeps an eye on its wear, and a watcher that notes it where one experiment ends and the next begins.

use flashscope_device::{DeviceError, Request, Target, Wear, forward};
use flashscope_model::run::Step;
use flashscope_session::{Ahead, SoFar, Watcher};
use flashscope_units::Instant;
use std::cell::Cell;

/// Passes everything on, and leaves the wear in a cell.
pub(crate) struct Metered<'a, T> {
    inner: T,
    wear: &'a Cell<Wear>,
}

impl<'a, T: Target> Metered<'a, T> {
    pub(crate) fn new(inner: T, wear: &'a Cell<Wear>) -> Self {
        Metered { inner, wear }
    }
}

impl<T: Target> Target for Metered<'_, T> {
    forward!(inner: facts, capabilities, path, now, reap, wear);

    fn submit(&mut self, batch: &[Request]) -> Result<(), DeviceError> {
        let submitted = self.inner.submit(batch);
        self.wear.set(self.inner.wear().unwrap_or_default());
        submitted
    }

    fn wait_until(&mut self, at: Instant) {
        self.inner.wait_until(at);
        self.wear.set(self.inner.wear().unwrap_or_default());
    }
}

/// Notes the wear at the start of every step, and stops when it is told to.
pub(crate) struct StepWatch<'a> {
    wear: &'a Cell<Wear>,
    stop: &'a dyn Fn() -> bool,
    pub(crate) at_steps: Vec<Wear>,
    pub(crate) stopped: bool,
}

impl<'a> StepWatch<'a> {
    pub(crate) fn new(wear: &'a Cell<Wear>, stop: &'a dyn Fn() -> bool) -> Self {
        StepWatch { wear, stop, at_steps: Vec::new(), stopped: false }
    }
}

impl Watcher for StepWatch<'_> {
    fn step(&mut self, _number: u32, _step: &Step, _ahead: &dyn Fn() -> Ahead) {
        self.at_steps.push(self.wear.get());
    }

    fn progress(&mut self, _done: u64, _total: u64) {}

    fn measured(&mut self, _so_far: &dyn SoFar) {}

    fn stop(&mut self) -> bool {
        self.stopped |= (self.stop)();
        self.stopped
    }
}
