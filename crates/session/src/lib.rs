//! One adaptive run on one target: choose an experiment, run it, draw conclusions, choose again.
//!
//! The only place where the loop from findings back to experiments closes. [`inspect`] lets
//! [`flashscope_infer::next`] choose until nothing is left that the budget covers; [`single`] runs one
//! experiment that the operator chose. Neither prints: a [`Watcher`] is told what happens, and is
//! asked whether to stop. Whatever happens, everything measured so far comes back.

mod adapter;
mod budget;
mod wear;

use adapter::Adapter;
pub use budget::usual_write_budget;

use flashscope_device::{DeviceError, Target, WriteGrant};
use flashscope_infer::{Choice, Memo};
use flashscope_model::finding::{Note, NoteKind};
use flashscope_model::plan::Budget;
use flashscope_model::run::{Cost, Plan, Step};
use flashscope_model::{Experiment, StopReason};
use flashscope_model::{Findings, Observations};
use flashscope_probe::{Context, HOPELESS_FAILURES, ProbeError, Report};
use flashscope_stats::rng::stream;
use flashscope_units::Bytes;

/// What the run is allowed and how its random choices begin.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Seed of every random choice.
    pub seed: u64,
    /// Limit on device time; bytes are limited by the grant.
    pub budget: Budget,
}

/// Told what happens; never called inside a timed section.
pub trait Watcher {
    /// An experiment begins; `number` counts from 1.
    fn step(&mut self, number: u32, step: &Step);

    /// So many of the step's requests are done.
    fn progress(&mut self, done: u64, total: u64);

    /// An experiment is over; `so_far` puts together what the run has yielded until now, as if it were interrupted here. That
    /// takes time, so it is for the watcher to say how often.
    fn measured(&mut self, so_far: &dyn Fn() -> SessionReport);

    /// Whether the operator wants to stop.
    fn stop(&mut self) -> bool;
}

/// Everything that a run yields, whether it came to its end or not.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionReport {
    /// What was done and why.
    pub plan: Plan,
    /// What was seen.
    pub observations: Observations,
    /// What was concluded.
    pub findings: Findings,
    /// What it cost.
    pub cost: Cost,
    /// Why it stopped.
    pub stop: StopReason,
}

/// No adaptive run needs more experiments than this; a plan that does is going in circles.
const MOST_STEPS: u32 = 400;

/// The full characterisation. Without a grant only reads are done.
pub fn inspect<T: Target>(
    target: &mut T,
    grant: Option<&mut WriteGrant>,
    options: Options,
    watcher: &mut dyn Watcher,
) -> SessionReport {
    let mut session = Session::new(target, grant, options);
    let mut stop = StopReason::Complete;
    loop {
        if watcher.stop() {
            stop = StopReason::Interrupted;
            break;
        }
        let budget = session.budget();
        if budget.time.is_some_and(|time| time.get() == 0) {
            stop = StopReason::BudgetSpent;
            break;
        }
        let seed = session.seed_for(Purpose::Choice);
        let Some(choice) =
            flashscope_infer::next(session.target.facts(), &session.observations, &session.memo, budget, seed)
        else {
            break;
        };
        if session.number == MOST_STEPS {
            stop = StopReason::InternalError(too_many_steps(&choice));
            break;
        }
        match session.run(choice, watcher) {
            Ok(None) => watcher.measured(&|| session.so_far()),
            Ok(Some(early)) => {
                stop = early;
                break;
            }
            Err(error) => {
                // A plan that does not fit the device is a fault of ours; what was measured is still good.
                stop = StopReason::InternalError(format!("the next experiment does not fit this device: {error}"));
                break;
            }
        }
    }
    let left =
        flashscope_infer::left_open(session.target.facts(), &session.observations, &session.memo, session.budget());
    session.notes.extend(left);
    session.finish(stop)
}

/// One experiment that the operator chose. `Err` means that it makes no sense here and nothing was done.
pub fn single<T: Target>(
    experiment: Experiment,
    target: &mut T,
    grant: Option<&mut WriteGrant>,
    options: Options,
    watcher: &mut dyn Watcher,
) -> Result<SessionReport, ProbeError> {
    let mut session = Session::new(target, grant, options);
    let choice = Choice { experiment, why: "asked for".to_owned() };
    let stop = session.run(choice, watcher)?.unwrap_or(StopReason::Complete);
    Ok(session.finish(stop))
}

fn too_many_steps(choice: &Choice) -> String {
    let (next, why) = (choice.experiment.name(), &choice.why);
    format!(
        "no end after {MOST_STEPS} experiments, more than any plan should need; the next would have been {next} ({why})"
    )
}

/// What a seed is drawn for.
#[derive(Clone, Copy)]
enum Purpose {
    /// Which experiment comes next, and where.
    Choice,
    /// The experiment itself.
    Run,
}

fn seed_of(seed: u64, number: u32, purpose: Purpose) -> u64 {
    stream(seed, u64::from(number) * 2 + purpose as u64)
}

/// The seed that step `number` (counted from 1) of a session with this seed gave its experiment: whoever does the
/// experiment again with it visits the same places in the same order.
pub fn seed_of_run(seed: u64, number: u32) -> u64 {
    seed_of(seed, number, Purpose::Run)
}

struct Session<'a, T> {
    target: &'a mut T,
    grant: Option<&'a mut WriteGrant>,
    options: Options,
    steps: Vec<Step>,
    observations: Observations,
    memo: Memo,
    notes: Vec<Note>,
    number: u32,
}

impl<'a, T: Target> Session<'a, T> {
    fn new(target: &'a mut T, grant: Option<&'a mut WriteGrant>, options: Options) -> Self {
        let observations = Observations { capacity: Some(target.facts().capacity), runs: Vec::new() };
        Session {
            target,
            grant,
            options,
            steps: Vec::new(),
            observations,
            memo: Memo::default(),
            notes: Vec::new(),
            number: 0,
        }
    }

    /// What is left to spend.
    fn budget(&self) -> Budget {
        let write = self.grant.as_ref().map_or(Bytes::ZERO, |grant| grant.left());
        let used = self.observations.spent().time;
        Budget { write, time: self.options.budget.time.map(|time| time.saturating_sub(used)) }
    }

    /// Each step draws from streams of its own, so that a step more or less leaves the others as they were, and what
    /// is chosen does not go along with what the choice then draws.
    fn seed_for(&self, purpose: Purpose) -> u64 {
        seed_of(self.options.seed, self.number, purpose)
    }

    /// Runs one experiment and keeps what it saw; says how the whole run ends, where it ends here.
    fn run(&mut self, choice: Choice, watcher: &mut dyn Watcher) -> Result<Option<StopReason>, ProbeError> {
        self.number += 1;
        let step = Step {
            experiment: choice.experiment.name().word().to_owned(),
            parameters: choice.experiment.describe(),
            why: choice.why,
        };
        watcher.step(self.number, &step);
        self.steps.push(step);

        let seed = self.seed_for(Purpose::Run);
        let mut adapter = Adapter::new(watcher, self.budget().time);
        let mut context =
            Context { grant: self.grant.as_deref_mut(), seed, observer: &mut adapter, report: Report::default() };
        let outcome = flashscope_probe::run(&choice.experiment, self.target, &mut context);
        let stop = context.report.stop;
        let out_of_time = adapter.out_of_time();
        match outcome {
            Ok(run) => {
                self.observations.runs.push(run);
                Ok(stop.map(|stop| match stop {
                    StopReason::Interrupted if out_of_time => StopReason::BudgetSpent,
                    StopReason::Failing => {
                        StopReason::DeviceLost(format!("{HOPELESS_FAILURES} requests in a row failed"))
                    }
                    stop => stop,
                }))
            }
            Err(ProbeError::Device { error, partial }) => {
                self.observations.runs.push(*partial);
                Ok(Some(match error {
                    // A request that no device could take is a fault of ours.
                    DeviceError::Invalid(_) => StopReason::InternalError(error.to_string()),
                    _ => StopReason::DeviceLost(error.to_string()),
                }))
            }
            Err(nothing_done) => Err(nothing_done),
        }
    }

    fn finish(self, stop: StopReason) -> SessionReport {
        let (findings, cost) = self.conclude(&self.notes);
        let plan = Plan { seed: self.options.seed, budget: self.options.budget, steps: self.steps };
        SessionReport { plan, observations: self.observations, findings, cost, stop }
    }

    fn so_far(&self) -> SessionReport {
        let text = "kept while the run went on, which never came to its end: what would have come later is missing";
        let note = Note::new(NoteKind::Unfinished, text);
        let (findings, cost) = self.conclude(self.notes.iter().chain([&note]));
        let plan = Plan { seed: self.options.seed, budget: self.options.budget, steps: self.steps.clone() };
        SessionReport { plan, observations: self.observations.clone(), findings, cost, stop: StopReason::Interrupted }
    }

    fn conclude<'n>(&self, notes: impl IntoIterator<Item = &'n Note>) -> (Findings, Cost) {
        let mut findings = flashscope_infer::infer_with(Some(self.target.facts()), &self.observations, &self.memo);
        findings.notes.extend(notes.into_iter().cloned());
        let spent = self.observations.spent();
        let erases = wear::erases(self.target.wear(), &self.observations, &findings);
        (findings, Cost { read: spent.read, written: spent.written, time: spent.time, erases })
    }
}
