//! Hands a probe's progress on to the session's watcher, and ends an experiment when the time is used up.

use crate::Watcher;
use flashscope_probe::{Observer, Progress};
use flashscope_units::Nanos;
use std::ops::ControlFlow;

/// A [`Watcher`] as the probes see it.
pub(crate) struct Adapter<'a> {
    watcher: &'a mut dyn Watcher,
    time: Option<Nanos>,
    out_of_time: bool,
}

impl<'a> Adapter<'a> {
    /// An adapter for one experiment that may take so much time.
    pub(crate) fn new(watcher: &'a mut dyn Watcher, time: Option<Nanos>) -> Self {
        Adapter { watcher, time, out_of_time: false }
    }

    /// Whether the experiment was ended because its time was used up.
    pub(crate) fn out_of_time(&self) -> bool {
        self.out_of_time
    }
}

impl Observer for Adapter<'_> {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        self.watcher.progress(progress.done, progress.total);
        if self.watcher.stop() {
            return ControlFlow::Break(());
        }
        self.out_of_time = self.time.is_some_and(|time| progress.elapsed >= time);
        if self.out_of_time { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
