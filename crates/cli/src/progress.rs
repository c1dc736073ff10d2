//! Progress of a session on stderr: answers as they settle, which experiment runs, and the time that is left in all.

use crate::{interrupt, output};
use flashscope_model::run::Step;
use flashscope_report::foreign;
use flashscope_report::live::{self, Settled};
use flashscope_session::{Ahead, SessionReport, SoFar, Watcher};
use flashscope_units::Nanos;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Draws the progress of a session, and keeps what was measured as it goes. Where stderr is no terminal it is silent, or with
/// `--verbose` says the answers alone.
pub(crate) struct Progress<'a> {
    bar: ProgressBar,
    keep: Option<Box<dyn FnMut(SessionReport) + 'a>>,
    turn: Turn,
    course: Course,
    settled: Settled,
    /// Whether answers are said where nothing is drawn.
    told: bool,
    /// What lies ahead is worked out, and answers are looked for, when it is their turn.
    look: Turn,
    news: Turn,
}

/// Says when something that takes time is to be done again, so that it takes a small part of the run's time at most.
pub(crate) struct Turn {
    due: Instant,
    every: Duration,
    share: u32,
}

impl Turn {
    /// For what was measured so far, kept so that it outlives a run that is killed: no more often than every other second.
    /// The first one is due at once.
    pub(crate) fn now() -> Turn {
        Turn { due: Instant::now(), every: Duration::from_secs(2), share: 30 }
    }

    /// For what is shown while the run goes on: as often as its share of the time allows. A simulated run is over soon.
    fn shown() -> Turn {
        Turn { due: Instant::now(), every: Duration::ZERO, share: 20 }
    }

    /// Does it if it is due.
    pub(crate) fn take(&mut self, act: impl FnOnce()) {
        let begun = Instant::now();
        if begun >= self.due {
            act();
            let took = begun.elapsed();
            self.due = begun + took + self.every.max(took * self.share);
        }
    }
}

/// A bar over a number of things that are done one after the other; the first interrupt is then a wish to stop.
pub(crate) fn bar(cases: u64, name: &str) -> ProgressBar {
    interrupt::arm();
    let bar = ProgressBar::new(cases);
    bar.set_draw_target(if output::quiet() {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(5)
    });
    let style = ProgressStyle::with_template(&format!("{{pos}} of {{len}} {name} {{wide_bar}} {{eta}} left"));
    bar.set_style(style.expect("the template is a constant"));
    bar
}

/// Parts of the bar.
const PARTS: u64 = 1000;

impl<'a> Progress<'a> {
    /// With `keep`, what was measured is handed to it now and then.
    pub(crate) fn new(quiet: bool, keep: Option<Box<dyn FnMut(SessionReport) + 'a>>) -> Progress<'a> {
        interrupt::arm();
        let bar = ProgressBar::new(PARTS);
        bar.set_draw_target(if quiet || output::quiet() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(5)
        });
        let style = ProgressStyle::with_template("{msg}\n{wide_bar} {percent:>3} %{prefix}");
        bar.set_style(style.expect("the template is a constant"));
        Progress {
            bar,
            keep,
            turn: Turn::now(),
            course: Course::new(),
            settled: Settled::default(),
            told: output::verbose() && !quiet,
            look: Turn::shown(),
            news: Turn::shown(),
        }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn draw(&self) {
        let left = self.course.left().map_or_else(String::new, |left| format!("  about {} left", whole(left)));
        self.bar.set_prefix(left);
        self.bar.set_position((self.course.share() * PARTS as f64) as u64);
    }
}

impl Watcher for Progress<'_> {
    fn step(&mut self, number: u32, step: &Step, ahead: &dyn Fn() -> Ahead) {
        if self.bar.is_hidden() {
            return;
        }
        let mut seen = None;
        self.look.take(|| seen = Some(ahead()));
        self.course.begin(number, seen);
        let text = live::step(number, self.course.steps(), step, columns());
        let lines: Vec<_> = text.lines().map(foreign::line).collect();
        self.bar.set_message(lines.join("\n"));
        self.draw();
    }

    fn progress(&mut self, done: u64, total: u64) {
        if !self.bar.is_hidden() {
            self.course.done = done as f64 / total.max(1) as f64;
            self.draw();
        }
    }

    fn measured(&mut self, so_far: &dyn SoFar) {
        let drawn = !self.bar.is_hidden();
        if drawn || self.told {
            let (bar, settled) = (&self.bar, &mut self.settled);
            self.news.take(|| {
                for line in settled.news(&so_far.findings().geometry, columns()) {
                    match drawn {
                        true => bar.println(foreign::line(&line)),
                        false => output::talk(&line),
                    }
                }
            });
        }
        if let Some(keep) = &mut self.keep {
            self.turn.take(|| keep(so_far.report()));
        }
    }

    fn stop(&mut self) -> bool {
        interrupt::asked()
    }
}

/// Columns to write in. The last one stays free: what fills it makes some terminals begin another line.
fn columns() -> usize {
    output::stderr_width() - 1
}

/// How far a run is, and how long it still takes by this machine's clock.
struct Course {
    begun: Instant,
    /// The experiment that runs.
    number: u32,
    /// The last experiment by the latest look ahead, and whether that is just so.
    last: (u32, bool),
    /// Device time until the experiment began, of the experiment, and of those behind it.
    spent: Nanos,
    this: Nanos,
    rest: Nanos,
    /// The part of the experiment that is done.
    done: f64,
}

/// The first moments of a run tell little of its pace.
const TOO_EARLY: Duration = Duration::from_millis(200);

impl Course {
    fn new() -> Course {
        let (spent, this, rest) = (Nanos::ZERO, Nanos::ZERO, Nanos::ZERO);
        Course { begun: Instant::now(), number: 0, last: (0, false), spent, this, rest, done: 0.0 }
    }

    /// An experiment begins. Where nobody looked ahead, it is taken for one like those behind it.
    fn begin(&mut self, number: u32, seen: Option<Ahead>) {
        self.number = number;
        match seen {
            Some(ahead) => {
                self.last = (number - 1 + ahead.steps, ahead.exact);
                (self.spent, self.this, self.rest) = (ahead.spent, ahead.this, ahead.rest);
            }
            None => {
                self.spent += self.this;
                self.this = self.rest / u64::from((self.last.0 + 1).saturating_sub(number).max(1));
                self.rest = self.rest.saturating_sub(self.this);
            }
        }
        self.done = 0.0;
    }

    fn steps(&self) -> (u32, bool) {
        self.last
    }

    /// Device time that is over, and that is left.
    fn device_time(&self) -> (f64, f64) {
        let done = self.this.as_f64() * self.done;
        (self.spent.as_f64() + done, self.rest.as_f64() + self.this.as_f64() - done)
    }

    fn share(&self) -> f64 {
        let (over, left) = self.device_time();
        if over > 0.0 { over / (over + left) } else { 0.0 }
    }

    /// Time that is left: that of the device, at the pace at which it went by until now.
    fn left(&self) -> Option<Nanos> {
        let (over, left) = self.device_time();
        let elapsed = self.begun.elapsed();
        let known = elapsed >= TOO_EARLY && over > 0.0;
        known.then(|| Nanos((elapsed.as_nanos() as f64 * (left / over)) as u64))
    }
}

/// Times that are left are no more exact than seconds.
pub(crate) fn whole(time: Nanos) -> String {
    let seconds = time.get().div_ceil(1_000_000_000);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ahead(steps: u32, spent: u64, this: u64, rest: u64) -> Ahead {
        let [spent, this, rest] = [spent, this, rest].map(Nanos::secs);
        Ahead { steps, exact: false, this, rest, spent }
    }

    #[test]
    fn the_course_goes_on_where_nobody_looked_ahead() {
        let mut course = Course::new();
        course.begin(1, Some(ahead(5, 0, 10, 40)));
        assert_eq!((course.steps(), course.share()), ((5, false), 0.0));
        course.done = 0.5;
        assert_eq!(course.share(), 0.1);
        course.begin(2, None);
        assert_eq!((course.spent, course.this, course.rest), (Nanos::secs(10), Nanos::secs(10), Nanos::secs(30)));
        course.begin(3, Some(ahead(1, 60, 20, 0)));
        assert_eq!((course.steps(), course.share()), ((3, false), 0.75));
    }

    #[test]
    fn time_left_is_the_devices_at_the_pace_of_this_machine() {
        let mut course = Course { begun: Instant::now() - Duration::from_secs(2), ..Course::new() };
        course.begin(2, Some(ahead(2, 100, 50, 50)));
        let left = course.left().expect("it is known").as_secs_f64();
        assert!((2.0..2.5).contains(&left), "virtual time passes fifty times as fast: {left} s");
        assert_eq!([whole(Nanos::secs(59)), whole(Nanos::secs(250))], ["59 s", "4 min 10 s"]);
        assert_eq!(whole(Nanos::secs(7_260)), "2 h 01 min");
    }
}
