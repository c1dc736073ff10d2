//! What one device may take of our time, so that none holds up a fleet.

use crate::Watch;
use flashscope_units::Nanos;
use std::cell::Cell;

/// The clock is read once in this number of questions, as a device answers millions of requests.
const QUESTIONS_PER_READING: u32 = 64;

/// Watches over the work on one device, on the thread that does it.
pub(crate) struct Guard<'a> {
    watch: &'a dyn Watch,
    began: Nanos,
    most: Nanos,
    asked: Cell<u32>,
    overdue: Cell<bool>,
}

impl<'a> Guard<'a> {
    /// From now on, this much time.
    pub(crate) fn new(watch: &'a dyn Watch, most: Nanos) -> Guard<'a> {
        Guard { watch, began: watch.clock(), most, asked: Cell::new(0), overdue: Cell::new(false) }
    }

    /// Processor time so far.
    pub(crate) fn work(&self) -> Nanos {
        self.watch.clock().saturating_sub(self.began)
    }

    /// Whether to stop, because of the operator or of the time.
    pub(crate) fn stop(&self) -> bool {
        let asked = self.asked.get();
        self.asked.set(asked.wrapping_add(1));
        if asked.is_multiple_of(QUESTIONS_PER_READING) && self.work() > self.most {
            self.overdue.set(true);
        }
        self.overdue.get() || self.watch.stop()
    }

    /// Whether it was the time that ended the work.
    pub(crate) fn is_overdue(&self) -> bool {
        self.overdue.get()
    }
}
