//! Hands a probe's progress on to the session's watcher.

use crate::Watcher;
use flashscope_probe::{Observer, Progress};
use std::ops::ControlFlow;

/// A [`Watcher`] as the probes see it.
pub(crate) struct Adapter<'a> {
    watcher: &'a mut dyn Watcher,
}

impl<'a> Adapter<'a> {
    pub(crate) fn new(watcher: &'a mut dyn Watcher) -> Self {
        Adapter { watcher }
    }
}

impl Observer for Adapter<'_> {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        self.watcher.progress(progress.done, progress.total);
        if self.watcher.stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
