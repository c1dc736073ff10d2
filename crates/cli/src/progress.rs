//! Progress on stderr: which experiment runs, why, how far it is, and how long it will take.

use crate::{interrupt, output};
use flashscope_model::run::Step;
use flashscope_report::foreign;
use flashscope_session::{SessionReport, Watcher};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Draws the progress of a session, silent where stderr is no terminal, and keeps what was measured as it goes.
pub(crate) struct Progress<'a> {
    bar: ProgressBar,
    keep: Option<Box<dyn FnMut(SessionReport) + 'a>>,
    turn: Turn,
}

/// Says when what was measured so far is to be kept again, so that it outlives a run that is killed.
pub(crate) struct Turn {
    due: Instant,
}

impl Turn {
    /// It is kept no more often than this, and takes no more of the run's time than one part in so many.
    const EVERY: Duration = Duration::from_secs(2);
    const SHARE: u32 = 30;

    /// The first one is due at once.
    pub(crate) fn now() -> Turn {
        Turn { due: Instant::now() }
    }

    /// Keeps it if it is due.
    pub(crate) fn take(&mut self, keep: impl FnOnce()) {
        let begun = Instant::now();
        if begun >= self.due {
            keep();
            let took = begun.elapsed();
            self.due = begun + took + Turn::EVERY.max(took * Turn::SHARE);
        }
    }
}

impl<'a> Progress<'a> {
    /// With `keep`, what was measured is handed to it now and then.
    pub(crate) fn new(quiet: bool, keep: Option<Box<dyn FnMut(SessionReport) + 'a>>) -> Progress<'a> {
        interrupt::arm();
        let bar = ProgressBar::new(0);
        bar.set_draw_target(if quiet || output::quiet() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(5)
        });
        let style =
            ProgressStyle::with_template("{msg:60!} {bar:24} {percent:>3}%  {elapsed} so far, {eta} left in step")
                .expect("the template is a constant");
        bar.set_style(style);
        Progress { bar, keep, turn: Turn::now() }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watcher for Progress<'_> {
    fn step(&mut self, number: u32, step: &Step) {
        self.bar.reset_eta();
        self.bar.set_position(0);
        let what = format!("{number}. {}: {}", step.experiment, step.parameters);
        self.bar.set_message(foreign::line(&what).into_owned());
    }

    fn progress(&mut self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    fn measured(&mut self, so_far: &dyn Fn() -> SessionReport) {
        if let Some(keep) = &mut self.keep {
            self.turn.take(|| keep(so_far()));
        }
    }

    fn stop(&mut self) -> bool {
        interrupt::asked()
    }
}
