//! One adaptive run on one target: choose an experiment, run it, draw conclusions, choose again.
//!
//! The only place where the loop from findings back to experiments closes. [`inspect`] lets
//! [`flashscope_infer::next`] choose until nothing is left that the budget covers; [`diagnose`] does the same for the one
//! question of which state a device is in; [`single`] runs one experiment that the operator chose. Neither prints: a [`Watcher`] is told what happens, and is
//! asked whether to stop. Whatever happens, everything measured so far comes back.

mod adapter;
mod ahead;
mod budget;
mod capacity;
mod wear;

use adapter::Adapter;
pub use ahead::Ahead;
use ahead::Paces;
pub use budget::{twin_write_budget, usual_diagnosis_budget, usual_write_budget};

use flashscope_device::{DeviceError, Target, WriteGrant};
use flashscope_infer::{Aim, Choice, Memo, Want};
use flashscope_model::finding::{Note, NoteKind};
use flashscope_model::plan::Budget;
use flashscope_model::run::{Cost, Plan, Step};
use flashscope_model::{Experiment, StopReason};
use flashscope_model::{Findings, Observations};
use flashscope_probe::{Context, HOPELESS_FAILURES, ProbeError, Report};
use flashscope_stats::rng::stream;
use flashscope_units::{Bytes, Nanos};
use std::cell::OnceCell;

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
    /// An experiment begins; `number` counts from 1. `ahead` works out what the run has before it, this experiment included.
    /// That takes time, so it is for the watcher to say how often.
    fn step(&mut self, number: u32, step: &Step, ahead: &dyn Fn() -> Ahead);

    /// So many of the step's requests are done.
    fn progress(&mut self, done: u64, total: u64);

    /// An experiment is over. What `so_far` is asked for takes time, so it is for the watcher to say how often.
    fn measured(&mut self, so_far: &dyn SoFar);

    /// Whether the operator wants to stop.
    fn stop(&mut self) -> bool;
}

/// What a run has yielded where one experiment is over and the next one not chosen yet. Both rest on the same inference, which
/// is worked out when first asked for and shares its dear parts with the choice.
pub trait SoFar {
    /// What is known.
    fn findings(&self) -> &Findings;

    /// Everything, as if the run were interrupted here.
    fn report(&self) -> SessionReport;
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
    inspect_wanted(target, grant, (options, Want::All), watcher)
}

/// The same for a part of the findings, and what they lean on.
pub fn inspect_wanted<T: Target>(
    target: &mut T,
    grant: Option<&mut WriteGrant>,
    (options, want): (Options, Want),
    watcher: &mut dyn Watcher,
) -> SessionReport {
    whole(Session { want, ..Session::new(target, grant, options) }, watcher)
}

/// The same, and behind it the experiments that a twin is fitted to. What they write is kept back for them, so that what comes
/// before is what [`inspect`] does with so much less.
pub fn inspect_for_twin<T: Target>(
    target: &mut T,
    grant: Option<&mut WriteGrant>,
    options: Options,
    watcher: &mut dyn Watcher,
) -> SessionReport {
    let most = flashscope_infer::most_for_twin(target.facts());
    let kept_back = grant.as_ref().map_or(Bytes::ZERO, |grant| most.min(grant.left() / 2));
    whole(Session { kept_back, for_twin: true, ..Session::new(target, grant, options) }, watcher)
}

fn whole<T: Target>(mut session: Session<'_, T>, watcher: &mut dyn Watcher) -> SessionReport {
    let mut stop = session.go_on(Session::most_worth, watcher);
    if stop == StopReason::Complete && session.for_twin {
        stop = session.measure_for_twin(watcher);
    }
    if stop == StopReason::Complete && session.want == Want::All {
        stop = session.test_capacity(watcher);
    }
    let left = session.left_open();
    if stop == StopReason::Complete && session.options.budget.time.is_some() && !left.is_empty() {
        stop = StopReason::BudgetSpent;
    }
    session.notes.extend(left);
    session.finish(stop)
}

/// Which state the target is in. Without a grant only reads are done.
pub fn diagnose<T: Target>(
    target: &mut T,
    grant: Option<&mut WriteGrant>,
    options: Options,
    watcher: &mut dyn Watcher,
) -> SessionReport {
    let mut session = Session { alone: true, ..Session::new(target, grant, options) };
    let stop = session.go_on(Session::of_the_state, watcher);
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
    let mut session = Session { alone: true, ..Session::new(target, grant, options) };
    let choice = Choice { experiment, why: "asked for".to_owned() };
    let stop = session.run(choice, watcher)?.unwrap_or(StopReason::Complete);
    Ok(session.finish(stop))
}

/// An experiment that takes this many times as long as expected is cut off where time is short …
const OVERDUE: u64 = 3;
/// … unless it has not taken this part of all that was left.
const WORTH_WAITING: u64 = 4;

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
    paces: Paces,
    /// Whether nothing is to be said of what follows: the operator chose one experiment, or few and short ones are to come.
    alone: bool,
    /// Bytes of the grant that are kept for what comes behind the experiments that answer questions.
    kept_back: Bytes,
    /// Whether experiments for a twin come behind them.
    for_twin: bool,
    /// The findings that are wanted.
    want: Want,
}

impl<'a, T: Target> Session<'a, T> {
    fn new(target: &'a mut T, grant: Option<&'a mut WriteGrant>, options: Options) -> Self {
        let observations =
            Observations { capacity: Some(target.facts().capacity), runs: Vec::new(), ..Observations::default() };
        Session {
            target,
            grant,
            options,
            steps: Vec::new(),
            observations,
            memo: Memo::default(),
            notes: Vec::new(),
            number: 0,
            paces: Paces::default(),
            alone: false,
            kept_back: Bytes::ZERO,
            for_twin: false,
            want: Want::All,
        }
    }

    /// Experiment after experiment until nothing is left to choose; says how that ended.
    fn go_on(&mut self, next: fn(&Self) -> Option<Choice>, watcher: &mut dyn Watcher) -> StopReason {
        loop {
            if watcher.stop() {
                return StopReason::Interrupted;
            }
            if self.budget().time.is_some_and(|time| time.get() == 0) {
                return StopReason::BudgetSpent;
            }
            let Some(choice) = next(self) else { return StopReason::Complete };
            if self.number == MOST_STEPS {
                return StopReason::InternalError(too_many_steps(&choice));
            }
            match self.run(choice, watcher) {
                Ok(None) => watcher.measured(&Until { session: self, findings: OnceCell::new() }),
                Ok(Some(early)) => return early,
                // A plan that does not fit the device is a fault of ours; what was measured is still good.
                Err(error) => {
                    return StopReason::InternalError(format!("the next experiment does not fit this device: {error}"));
                }
            }
        }
    }

    /// The next experiment of an inspection.
    fn most_worth(&self) -> Option<Choice> {
        let (facts, seed) = (self.target.facts(), self.seed_for(Purpose::Choice));
        let time_of = |experiment: &Experiment| self.paces.time(experiment, facts);
        let aim = Aim { want: self.want, time_of: &time_of };
        flashscope_infer::next_for(&aim, facts, &self.observations, &self.memo, self.budget(), seed)
    }

    /// The next experiment of a diagnosis.
    fn of_the_state(&self) -> Option<Choice> {
        let seed = self.seed_for(Purpose::Choice);
        flashscope_infer::state::next(self.target.facts(), &self.observations, &self.memo, self.budget(), seed)
    }

    /// What the budget left open, and what would settle it.
    fn left_open(&self) -> Vec<Note> {
        let facts = self.target.facts();
        let time_of = |experiment: &Experiment| self.paces.time(experiment, facts);
        let aim = Aim { want: self.want, time_of: &time_of };
        let mut notes = flashscope_infer::left_open_for(&aim, facts, &self.observations, &self.memo, self.budget());
        notes.extend(self.capacity_left_open());
        notes
    }

    /// How long an experiment may go on: where time is short, one that takes far longer than expected makes way for others.
    fn most_time(&self, experiment: &Experiment) -> Option<Nanos> {
        let left = self.budget().time?;
        let expected = self.paces.time(experiment, self.target.facts());
        Some(if self.alone { left } else { left.min((expected * OVERDUE).max(left / WORTH_WAITING)) })
    }

    /// One experiment for a twin after the other, as far as they may write.
    fn measure_for_twin(&mut self, watcher: &mut dyn Watcher) -> StopReason {
        self.kept_back = Bytes::ZERO;
        let choices = flashscope_infer::for_twin(self.target.facts(), &self.findings().geometry);
        for choice in choices {
            if watcher.stop() {
                return StopReason::Interrupted;
            }
            if choice.experiment.bytes_written() > self.budget().write {
                let text = format!("not measured for a twin: {}: too little may be written (--max-write)", choice.why);
                self.notes.push(Note::new(NoteKind::Unfinished, text));
                continue;
            }
            match self.run(choice, watcher) {
                Ok(None) => {}
                Ok(Some(early)) => return early,
                Err(error) => {
                    return StopReason::InternalError(format!("the next experiment does not fit this device: {error}"));
                }
            }
        }
        StopReason::Complete
    }

    /// What is left to spend.
    fn budget(&self) -> Budget {
        let write = self.grant.as_ref().map_or(Bytes::ZERO, |grant| grant.left().saturating_sub(self.kept_back));
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
            why: choice.why.clone(),
        };
        watcher.step(self.number, &step, &|| self.ahead(&choice.experiment));
        self.steps.push(step);

        let seed = self.seed_for(Purpose::Run);
        let (most_time, left) = (self.most_time(&choice.experiment), self.budget().time);
        let mut adapter = Adapter::new(watcher, most_time);
        let mut context =
            Context { grant: self.grant.as_deref_mut(), seed, observer: &mut adapter, report: Report::default() };
        let outcome = flashscope_probe::run(&choice.experiment, self.target, &mut context);
        let stop = context.report.stop;
        let out_of_time = adapter.out_of_time();
        match outcome {
            Ok(run) => {
                self.paces.note(&choice.experiment, self.target.facts(), run.spent);
                let all_spent = left.is_none_or(|left| run.spent.time >= left);
                self.observations.runs.push(run);
                Ok(match stop {
                    Some(StopReason::Interrupted) if out_of_time => all_spent.then_some(StopReason::BudgetSpent),
                    Some(StopReason::Failing) => {
                        Some(StopReason::DeviceLost(format!("{HOPELESS_FAILURES} requests in a row failed")))
                    }
                    stop => stop,
                })
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

    /// What the run has before it where this experiment begins. One that the operator chose has nothing behind it.
    fn ahead(&self, this: &Experiment) -> Ahead {
        let (device, spent) = (self.target.facts(), self.observations.spent().time);
        let upcoming = match self.alone {
            true => Vec::new(),
            // Chance decides where the next experiment of a question happens, not what it costs.
            false => flashscope_infer::ahead(
                self.want,
                device,
                &self.observations,
                &self.memo,
                self.budget(),
                self.options.seed,
            ),
        };
        let mut ahead = self.paces.ahead(this, &upcoming, device, spent);
        // One experiment that the operator chose has no test behind it, which then is not planned either.
        if !self.alone
            && let Some(test) = self.capacity_ahead()
        {
            ahead.steps += 1;
            ahead.rest += test;
        }
        if let Some(left) = self.budget().time {
            ahead.this = ahead.this.min(left);
            ahead.rest = ahead.rest.min(left.saturating_sub(ahead.this));
        }
        ahead
    }

    fn finish(self, stop: StopReason) -> SessionReport {
        let mut findings = self.findings();
        let cost = self.cost(&findings);
        findings.notes.extend(self.notes);
        let plan = Plan { seed: self.options.seed, budget: self.options.budget, steps: self.steps };
        SessionReport { plan, observations: self.observations, findings, cost, stop }
    }

    fn findings(&self) -> Findings {
        flashscope_infer::infer_with(Some(self.target.facts()), &self.observations, &self.memo)
    }

    fn cost(&self, findings: &Findings) -> Cost {
        let spent = self.observations.spent();
        let erases = wear::erases(self.target.wear(), &self.observations, findings);
        Cost { read: spent.read, written: spent.written, time: spent.time, erases }
    }
}

/// A session between two experiments.
struct Until<'s, 'a, T> {
    session: &'s Session<'a, T>,
    findings: OnceCell<Findings>,
}

impl<T: Target> SoFar for Until<'_, '_, T> {
    fn findings(&self) -> &Findings {
        self.findings.get_or_init(|| self.session.findings())
    }

    fn report(&self) -> SessionReport {
        let session = self.session;
        let text = "kept while the run went on, which never came to its end: what would have come later is missing";
        let mut findings = self.findings().clone();
        findings.notes.extend(session.notes.iter().cloned());
        findings.notes.push(Note::new(NoteKind::Unfinished, text));
        SessionReport {
            plan: Plan { seed: session.options.seed, budget: session.options.budget, steps: session.steps.clone() },
            observations: session.observations.clone(),
            cost: session.cost(&findings),
            findings,
            stop: StopReason::Interrupted,
        }
    }
}
