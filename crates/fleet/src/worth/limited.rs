//! Runs whose time is limited, beside a naive one that takes the experiments in their fixed order until the time is up.

use super::{Device, wanted};
use crate::DrawError;
use flashscope_device::Target;
use flashscope_infer::{Memo, Want, infer_with, next_of_plan};
use flashscope_model::plan::Budget;
use flashscope_model::run::Step;
use flashscope_model::{Geometry, Observations};
use flashscope_probe::{Context, Observer, Progress, Report};
use flashscope_session::{Ahead, Options, SessionReport, SoFar, Watcher, inspect_wanted, seed_of_run};
use flashscope_units::Nanos;
use rayon::prelude::*;
use std::ops::ControlFlow;

/// What runs of one fleet came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compared {
    /// Wanted findings that are right without a limit.
    pub in_any_time: u32,
    /// The same where the time is limited and experiments are chosen by what they are worth.
    pub by_worth: u32,
    /// The same where they are done in their fixed order until the time is up.
    pub in_order: u32,
    /// Wanted findings that are wrong by either: by worth, and in order.
    pub wrong: [u32; 2],
    /// Device time of each run without a limit, in seconds, with the test of the capacity where there is one.
    pub seconds: Vec<f64>,
    /// Device time of each limited run by worth, in seconds.
    pub limited_seconds: Vec<f64>,
    /// Each experiment of the limited runs.
    pub predicted: Vec<Predicted>,
}

/// What an experiment took beside what was expected before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// Expected seconds.
    pub expected: f64,
    /// Real ones.
    pub real: f64,
}

/// Runs each of so many devices three times for what is wanted: without a limit, with this one, and in the fixed order.
///
/// # Errors
/// When no device can be drawn, because the catalogue's models have changed.
pub fn limited(seed: u64, devices: u32, want: Want, limit: Nanos) -> Result<Compared, DrawError> {
    let one = |index: u32| one(seed, index, want, limit);
    let all: Result<Vec<Compared>, DrawError> = (0..devices).into_par_iter().with_max_len(1).map(one).collect();
    let mut sum = Compared::default();
    for one in all? {
        sum.in_any_time += one.in_any_time;
        sum.by_worth += one.by_worth;
        sum.in_order += one.in_order;
        sum.wrong = [sum.wrong[0] + one.wrong[0], sum.wrong[1] + one.wrong[1]];
        sum.seconds.extend(one.seconds);
        sum.limited_seconds.extend(one.limited_seconds);
        sum.predicted.extend(one.predicted);
    }
    Ok(sum)
}

fn one(seed: u64, index: u32, want: Want, limit: Nanos) -> Result<Compared, DrawError> {
    let device = Device::draw(seed, index)?;
    let mut watch = Watch::default();
    let whole = inspect(&device, want, None, &mut Watch::default())?;
    let short = inspect(&device, want, Some(limit), &mut watch)?;
    let naive = in_order(&device, limit)?;
    let right = |found: &Geometry| wanted(want, &device.right(found));
    let wrong = |found: &Geometry| wanted(want, &device.wrong(found));
    let found = &short.findings.geometry;
    let real = short.observations.runs.iter().map(|run| run.spent.time.as_secs_f64());
    let predicted = watch.expected.iter().zip(real).map(|(expected, real)| Predicted { expected: *expected, real });
    Ok(Compared {
        in_any_time: right(&whole.findings.geometry),
        by_worth: right(found),
        in_order: right(&naive),
        wrong: [wrong(found), wrong(&naive)],
        seconds: vec![seconds(&whole)],
        limited_seconds: vec![seconds(&short)],
        predicted: predicted.collect(),
    })
}

/// All that a run took.
fn seconds(report: &SessionReport) -> f64 {
    report.cost.time.as_secs_f64()
}

fn inspect(device: &Device, want: Want, time: Option<Nanos>, watch: &mut Watch) -> Result<SessionReport, DrawError> {
    let (mut target, mut grant) = device.open()?;
    let options = Options { seed: device.drawn.seed, budget: Budget { write: grant.left(), time } };
    Ok(inspect_wanted(&mut target, Some(&mut grant), (options, want), watch))
}

/// What is found by a run that takes one experiment behind the other as planned for any time, and stops in the midst of one.
fn in_order(device: &Device, limit: Nanos) -> Result<Geometry, DrawError> {
    let (mut target, mut grant) = device.open()?;
    let facts = target.facts().clone();
    let mut observations = Observations { capacity: Some(facts.capacity), ..Observations::default() };
    let (memo, seed) = (Memo::default(), device.drawn.seed);
    for number in 0.. {
        let left = limit.saturating_sub(observations.spent().time);
        let chosen = next_of_plan(&facts, &observations, &memo, grant.left(), seed ^ number);
        let Some((_, choice)) = chosen.filter(|_| left > Nanos::ZERO) else { break };
        let mut context = Context {
            grant: Some(&mut grant),
            seed: seed_of_run(seed, number as u32 + 1),
            observer: &mut Until(left),
            report: Report::default(),
        };
        let Ok(run) = flashscope_probe::run(&choice.experiment, &mut target, &mut context) else { break };
        observations.runs.push(run);
    }
    Ok(infer_with(Some(&facts), &observations, &memo).geometry)
}

/// Ends an experiment after so much time.
struct Until(Nanos);

impl Observer for Until {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        if progress.elapsed >= self.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Keeps what each experiment is expected to take, in seconds.
#[derive(Default)]
struct Watch {
    expected: Vec<f64>,
}

impl Watcher for Watch {
    fn step(&mut self, _number: u32, _step: &Step, ahead: &dyn Fn() -> Ahead) {
        self.expected.push(ahead().this.as_secs_f64());
    }

    fn progress(&mut self, _done: u64, _total: u64) {}

    fn measured(&mut self, _so_far: &dyn SoFar) {}

    fn stop(&mut self) -> bool {
        false
    }
}
