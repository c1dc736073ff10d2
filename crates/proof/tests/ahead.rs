//! What a run says it has before it, against what then came: the steps, and the device time.

use flashscope_device::{Target, WriteGrant};
use flashscope_model::plan::Budget;
use flashscope_model::run::Step;
use flashscope_session::{Ahead, Options, SoFar, Watcher, inspect, usual_write_budget};
use flashscope_units::Nanos;

/// Takes note of what lies ahead where each experiment begins.
#[derive(Default)]
struct Notes(Vec<Ahead>);

impl Watcher for Notes {
    fn step(&mut self, number: u32, _step: &Step, ahead: &dyn Fn() -> Ahead) {
        let ahead = ahead();
        assert!(ahead.steps >= 1, "the experiment that begins is one: step {number}");
        self.0.push(ahead);
    }
    fn progress(&mut self, _done: u64, _total: u64) {}
    fn measured(&mut self, _so_far: &dyn SoFar) {}
    fn stop(&mut self) -> bool {
        false
    }
}

/// What was said ahead of each step, and the device time that the run took.
fn said(model: &str, time: Option<Nanos>) -> (Vec<Ahead>, Nanos) {
    let mut target = flashscope_sim::open(model, 1).expect("a model");
    let write = usual_write_budget(target.facts().capacity);
    let mut grant = WriteGrant::simulated(target.facts(), write).expect("it is simulated");
    let mut notes = Notes::default();
    let options = Options { seed: 1, budget: Budget { write, time } };
    let report = inspect(&mut target, Some(&mut grant), options, &mut notes);
    (notes.0, report.cost.time)
}

#[test]
fn steps_and_time_are_about_what_they_turn_out_to_be() {
    for model in ["sd-4mib", "emmc-cached", "sd-24mib", "sd-flat"] {
        let (ahead, _) = said(model, None);
        let steps = ahead.len();
        // From a third of the way on, when the search for boundaries is over on most devices.
        for (done, ahead) in ahead.iter().enumerate().skip(steps / 3) {
            let of = (done as u32 + ahead.steps) as f64 / steps as f64;
            assert!((0.6..=1.5).contains(&of), "{model}, step {}: {} ahead, {steps} in all", done + 1, ahead.steps);
        }
        let last = ahead.last().expect("a step");
        assert_eq!((last.steps, last.rest), (1, Nanos::ZERO), "{model}: nothing is behind the last one");
    }
}

#[test]
fn half_way_the_time_left_is_about_what_it_turns_out_to_be() {
    let mut off: Vec<(f64, &str)> = Vec::new();
    for model in flashscope_sim::catalogue() {
        let (ahead, took) = said(model.name, None);
        let middle = ahead[ahead.len() / 2];
        let left = (took.as_f64() - middle.spent.as_f64()).max(1.0);
        off.push(((middle.this + middle.rest).as_f64() / left, model.name));
    }
    off.sort_by(|one, other| one.0.total_cmp(&other.0));
    // Below a third lie the two that keep as many units open as are tried and whose cache fills: the trials at another
    // block size and the search for the end of the cache are only known when they come, and on one of them each small random
    // write of the capacity's test takes six times as long as is assumed while none was made. Three times too long is said of the
    // card whose searches end early, as falls that are plain are not tried again.
    assert!(off.iter().all(|(off, _)| (0.12..=3.0).contains(off)), "times the device time that was left: {off:.2?}");
    let near = off.iter().filter(|(off, _)| (0.4..=2.5).contains(off)).count();
    assert!(near + 2 >= off.len(), "{near} of {} are near: {off:.2?}", off.len());
    let median = off[off.len() / 2].0;
    assert!((0.7..=1.4).contains(&median), "the median is {median:.2}");
}

#[test]
fn no_more_time_is_ahead_than_is_allowed() {
    let limit = Nanos::secs(20);
    for ahead in said("sd-4mib", Some(limit)).0 {
        assert!(ahead.spent + ahead.this + ahead.rest <= limit, "{ahead:?}");
    }
}
