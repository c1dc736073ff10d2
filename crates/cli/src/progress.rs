//! Progress on stderr: which experiment runs, why, how far it is, and how long it will take.

use crate::interrupt;
use flashscope_model::run::Step;
use flashscope_report::foreign;
use flashscope_session::Watcher;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Draws the progress of a session; silent where stderr is no terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(crate) fn new(quiet: bool) -> Progress {
        interrupt::arm();
        let bar = ProgressBar::new(0);
        bar.set_draw_target(if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(5) });
        let style =
            ProgressStyle::with_template("{msg:60!} {bar:24} {percent:>3}%  {elapsed} so far, {eta} left in step")
                .expect("the template is a constant");
        bar.set_style(style);
        Progress { bar }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watcher for Progress {
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

    fn stop(&mut self) -> bool {
        interrupt::asked()
    }
}
