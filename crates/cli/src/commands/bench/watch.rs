//! The main thread while workers run: progress, steadiness, Ctrl-C, and a device that does not answer.

use super::progress::Course;
use crate::{interrupt, output};
use flashscope_host::MonotonicClock;
use flashscope_load::control::Control;
use flashscope_load::steady::{Judge, Verdict};
use flashscope_units::Nanos;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// How often it looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How much longer than a hang may last workers have to come back after they were told to stop.
const GRACE: Nanos = Nanos::secs(1);
/// How long they have where the operator wants to stop: more than a working device ever takes for one request.
const PATIENCE: Nanos = Nanos::secs(3);

/// Watches the workers of one phase.
pub(super) struct Watch<'a> {
    pub(super) control: &'a Control,
    pub(super) clock: MonotonicClock,
    pub(super) workers: usize,
    pub(super) timeout: Option<Nanos>,
    pub(super) judge: Option<Judge>,
    pub(super) bar: ProgressBar,
    pub(super) course: Course,
    /// Whether a request took longer than it may.
    pub(super) has_hung: bool,
}

/// A bar that shows what is measured; silent where stderr is no terminal.
pub(crate) fn bar(name: &str, quiet: bool) -> ProgressBar {
    let target =
        if quiet || output::quiet() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(5) };
    let bar = ProgressBar::new_spinner();
    bar.set_draw_target(target);
    bar.set_style(
        ProgressStyle::with_template("{prefix} {spinner} {elapsed}  {wide_msg}").expect("the template is a constant"),
    );
    bar.set_prefix(name.to_owned());
    bar
}

impl Watch<'_> {
    /// Until `finished` says that all workers are back. Workers that did not answer in time are given up.
    pub(super) fn run(&mut self, mut finished: impl FnMut() -> bool) -> Option<Verdict> {
        let start = self.clock.now();
        let mut last = start;
        let mut stopped_at = None;
        while !finished() {
            std::thread::sleep(LOOK_EVERY);
            let now = self.clock.now();
            let bytes: u64 = (0..self.workers).map(|worker| self.control.progress(worker).bytes).sum();
            let steady = self.judge.as_mut().is_some_and(|judge| judge.look(now.since(start), bytes));
            self.has_hung |= stopped_at.is_none() && self.hung();
            if (steady || self.has_hung || interrupt::asked()) && stopped_at.is_none() {
                self.control.stop();
                stopped_at = Some(now);
            }
            let patience =
                if interrupt::asked() { Some(PATIENCE) } else { self.timeout.map(|timeout| timeout + GRACE) };
            if let (Some(at), Some(patience)) = (stopped_at, patience)
                && now.since(at) > patience
            {
                break;
            }
            if now.since(last) >= Nanos::millis(200) {
                self.bar.set_message(self.course.line(now.since(start), bytes));
                self.bar.tick();
                last = now;
            }
        }
        self.bar.finish_and_clear();
        self.judge.as_ref().and_then(Judge::verdict)
    }

    /// Whether a worker was not heard of for longer than a request may take.
    pub(super) fn hung(&self) -> bool {
        let Some(timeout) = self.timeout else { return false };
        let now = self.clock.now();
        (0..self.workers).any(|worker| {
            let alive = self.control.progress(worker).alive;
            alive.is_some_and(|alive| now.since(alive) > timeout)
        })
    }
}
