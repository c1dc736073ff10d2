//! From a set of jobs to a record of what they did: the way in for every command that puts load on something.
//!
//! [`prepare`] looks at what the jobs run on and checks them, without changing anything; [`Prepared::run`] opens it with the
//! operator's consent and runs them. What a job means is in [`flashscope_load::job`]; how it is shown is the caller's.

use super::keep::Kept;
use super::{host, simulated};
use crate::args::TargetArgs;
use crate::envelope;
use crate::error::Failure;
use crate::{interrupt, target};
use anyhow::anyhow;
use flashscope_host::Surroundings;
use flashscope_load::budget::{OverBudget, WriteBudget};
use flashscope_load::file::to_toml;
use flashscope_load::job::{EngineChoice, Job, JobSet, Phase};
use flashscope_load::plan::{Limits, Resolved, resolve_set};
use flashscope_model::bench::{BenchPhase, BenchRecord, JobRun, PhaseRun};
use flashscope_model::envelope::Conditions;
use flashscope_model::run::{Cost, Erases};
use flashscope_model::{Envelope, Kind, StopReason};
use flashscope_sim::SimTarget;
use flashscope_units::{Bytes, Nanos};
use std::rc::Rc;

/// Everything about a run but its jobs.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// What jobs run on that name no target of their own, and what the operator consents to.
    pub(crate) target: TargetArgs,
    /// How often each phase runs.
    pub(crate) repeat: u32,
    /// So many phases at the start run the first time only.
    pub(crate) prepare: usize,
    /// Ends the repeating early.
    pub(crate) enough: Enough,
    /// A request that takes longer ends the run.
    pub(crate) timeout: Option<Nanos>,
    /// Leaves what is in the page cache there.
    pub(crate) warm: bool,
    /// Keeps files that the run made.
    pub(crate) keep: bool,
    /// Shows no progress.
    pub(crate) quiet: bool,
}

impl Setup {
    /// How often the phase of this number runs, at most.
    pub(super) fn times(&self, phase: usize) -> u64 {
        if phase < self.prepare { 1 } else { u64::from(self.repeat) }
    }
}

/// What tells from the phases so far.
type Tell = dyn Fn(&[BenchPhase]) -> bool;

/// Tells from what was measured so far whether no repeat is needed any more.
#[derive(Clone)]
pub(crate) struct Enough(Rc<Tell>);

impl Enough {
    /// All repeats are needed.
    pub(crate) fn never() -> Enough {
        Enough(Rc::new(|_| false))
    }

    /// Asked after every repeat.
    pub(crate) fn when(tell: impl Fn(&[BenchPhase]) -> bool + 'static) -> Enough {
        Enough(Rc::new(tell))
    }
}

impl std::fmt::Debug for Enough {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Enough")
    }
}

/// Jobs that were checked against what they run on.
#[derive(Clone)]
pub(crate) struct Prepared {
    pub(super) setup: Setup,
    pub(super) set: JobSet,
    pub(super) plans: Vec<Vec<Resolved>>,
    /// The simulated device that they run on; `None`: files and devices of this machine.
    pub(super) simulated: Option<String>,
    /// What the files cost that are made for them.
    pub(super) files: Bytes,
}

/// Looks at what the jobs run on, and checks them against it. Nothing is made, written or opened for long.
pub(crate) fn prepare(setup: Setup, set: JobSet) -> Result<Prepared, Failure> {
    let names = targets(&set, &setup);
    let simulated = names.iter().find_map(|name| name.strip_prefix("sim:")).map(str::to_owned);
    if simulated.is_some() && names.len() > 1 {
        return Err(Failure::Cannot(anyhow!(
            "the jobs name {} targets, one of them simulated\nhint: a simulated device has a clock of its own; run its jobs alone",
            names.len()
        )));
    }
    let (plans, files) = match &simulated {
        Some(spec) => (simulated::resolve(&setup, &set, spec)?, Bytes::ZERO),
        None => host::resolve(&setup, &set)?,
    };
    Ok(Prepared { setup, set, plans, simulated, files })
}

impl Prepared {
    /// What would be done, as a job file.
    ///
    /// # Errors
    /// Where the run would be refused, as it writes more than it may.
    pub(crate) fn describe(&self) -> Result<String, Failure> {
        let jobs = |plans: &Vec<Resolved>| plans.iter().map(|plan| plan.job.clone()).collect();
        let phases = self
            .plans
            .iter()
            .zip(&self.set.phases)
            .map(|(plans, phase)| Phase { jobs: jobs(plans), pause: phase.pause });
        let written = match self.budget()?.most() {
            Some(bytes) => format!("writes at most {bytes}"),
            None => "writes until its time is over".to_owned(),
        };
        let runs = match self.setup.repeat {
            1 => "1 run".to_owned(),
            more => format!("{more} runs"),
        };
        Ok(format!("# {runs}, {written}\n{}", to_toml(&JobSet { phases: phases.collect() })))
    }

    /// Runs them. What was measured before an interrupt, or before a device was lost, is in the record.
    pub(super) fn run(self, kept: &Kept) -> Result<BenchRecord, Failure> {
        self.run_on(&mut None, kept)
    }

    /// The same on a simulated device that goes on from run to run, as a real one does: `device` is filled by the first one.
    pub(super) fn run_on(self, device: &mut Option<SimTarget>, kept: &Kept) -> Result<BenchRecord, Failure> {
        interrupt::arm();
        let target = self.targets().join(", ");
        let Some(spec) = &self.simulated else { return host::run(&self, &target, kept) };
        let envelope = envelope::simulated(Kind::Bench, "bench", target, self.setup.target.seed);
        let device = match device {
            Some(device) => device,
            none => none.insert(target::open_model(spec, self.setup.target.seed)?),
        };
        simulated::run(&self, device, envelope, kept)
    }

    /// What the jobs run on, each once.
    pub(crate) fn targets(&self) -> Vec<String> {
        targets(&self.set, &self.setup)
    }

    /// What the run may write in all.
    pub(super) fn budget(&self) -> Result<WriteBudget, Failure> {
        let budget = self.budget_within(self.setup.target.consent.max_write);
        budget.map_err(|over| Failure::Cannot(anyhow!("{over}")))
    }

    fn budget_within(&self, limit: Option<Bytes>) -> Result<WriteBudget, OverBudget> {
        // A simulated device has no page cache before it.
        let page = if self.simulated.is_some() { Bytes(1) } else { flashscope_host::page_size() };
        WriteBudget::new(self.all_jobs(), page, self.files, limit)
    }

    /// Every job, and how often it runs at most.
    pub(super) fn all_jobs(&self) -> impl Iterator<Item = (&Resolved, u64)> + Clone {
        let phases = self.plans.iter().enumerate();
        phases.flat_map(move |(index, plans)| plans.iter().map(move |plan| (plan, self.setup.times(index))))
    }

    /// How often phases run in all, at most.
    pub(super) fn steps(&self) -> u64 {
        (0..self.plans.len()).map(|index| self.setup.times(index)).sum()
    }

    /// Runs every phase as often as was asked for, until one is cut short, into a record that begins with this envelope; `pause`
    /// lets time pass.
    pub(super) fn run_all(
        &self,
        kept: &Kept,
        (envelope, here): (Envelope, Option<&Surroundings>),
        mut pause: impl FnMut(Nanos),
        mut phase: impl FnMut(&[Resolved], u64) -> Result<PhaseRun, Failure>,
    ) -> Result<BenchRecord, Failure> {
        let mut phases: Vec<BenchPhase> =
            self.plans.iter().map(|_| BenchPhase { runs: Vec::new(), summary: Vec::new() }).collect();
        let mut stop = StopReason::Complete;
        let (mut left, mut order) = (self.steps(), 0);
        'all: for time in 0..self.setup.repeat {
            for (index, plans) in self.plans.iter().enumerate() {
                if u64::from(time) >= self.setup.times(index) {
                    continue;
                }
                pause(self.set.phases[index].pause);
                let mut run = phase(plans, left)?;
                order += 1;
                run.order = order;
                left -= 1;
                stop = how_ended(&run.jobs);
                phases[index].runs.push(run);
                if interrupt::asked() {
                    stop = StopReason::Interrupted;
                }
                if stop != StopReason::Complete {
                    break 'all;
                }
                if left > 0 {
                    kept.so_far(|| record(envelope.clone(), here, phases.clone(), StopReason::Interrupted));
                }
            }
            if (self.setup.enough.0)(&phases) {
                break;
            }
        }
        Ok(record(envelope, here, phases, stop))
    }
}

/// The record of these phases, as they were run until now.
fn record(
    mut envelope: Envelope,
    here: Option<&Surroundings>,
    phases: Vec<BenchPhase>,
    stop: StopReason,
) -> BenchRecord {
    envelope.stop = stop;
    envelope.cost = cost(&phases);
    envelope::seal(&mut envelope, here);
    let phases = phases.into_iter().map(|phase| {
        let jobs: Vec<Vec<JobRun>> = phase.runs.iter().map(|run| run.jobs.clone()).collect();
        BenchPhase { summary: flashscope_load::outcome::summaries(&jobs), ..phase }
    });
    BenchRecord { envelope, phases: phases.collect(), preset: None }
}

/// The records of the same jobs, run one after another, as one; `None` of none.
pub(super) fn joined(records: Vec<BenchRecord>) -> Option<BenchRecord> {
    let mut records = records.into_iter();
    let mut whole = records.next()?;
    for record in records {
        let base = whole.phases.iter().flat_map(|phase| &phase.runs).map(|run| run.order).max().unwrap_or(0);
        for (phase, more) in whole.phases.iter_mut().zip(record.phases) {
            phase.runs.extend(more.runs.into_iter().map(|run| PhaseRun { order: run.order + base, ..run }));
        }
        whole.envelope = Envelope {
            started: whole.envelope.started,
            conditions: Conditions { before: whole.envelope.conditions.before, ..record.envelope.conditions.clone() },
            cost: whole.envelope.cost.zip(record.envelope.cost.clone()).map(|(one, other)| Cost {
                read: one.read + other.read,
                written: one.written + other.written,
                time: one.time + other.time,
                erases: None,
            }),
            ..record.envelope
        };
    }
    for phase in &mut whole.phases {
        let jobs: Vec<Vec<JobRun>> = phase.runs.iter().map(|run| run.jobs.clone()).collect();
        phase.summary = flashscope_load::outcome::summaries(&jobs);
    }
    Some(whole)
}

/// What a job runs on.
pub(super) fn target_of<'a>(job: &'a Job, setup: &'a Setup) -> &'a str {
    job.target.as_deref().unwrap_or(&setup.target.target)
}

/// What the jobs run on, each once, in the order in which they name it.
pub(super) fn targets(set: &JobSet, setup: &Setup) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for job in set.phases.iter().flat_map(|phase| &phase.jobs) {
        for name in std::iter::once(target_of(job, setup)).chain(job.more.iter().map(String::as_str)) {
            if !names.iter().any(|other| other == name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

/// As which files a job uses what it runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// As one.
    One,
    /// As so many that are made in it, laid end to end.
    Laid(u32),
    /// With these others, laid end to end.
    Named(Vec<String>),
    /// As a folder in which every request has a file of its own.
    Whole,
}

/// What a job runs on, and as which files.
pub(super) fn key_of<'a>(job: &'a Job, setup: &'a Setup) -> (&'a str, Shape) {
    let shape = match (job.engine, job.files) {
        (EngineChoice::Whole, _) => Shape::Whole,
        (_, Some(files)) => Shape::Laid(files),
        (_, None) if !job.more.is_empty() => Shape::Named(job.more.clone()),
        (_, None) => Shape::One,
    };
    (target_of(job, setup), shape)
}

/// Checks the jobs against their targets.
pub(super) fn resolved(set: &JobSet, limits: impl Fn(&Job) -> Limits) -> Result<Vec<Vec<Resolved>>, Failure> {
    resolve_set(set, limits).map_err(|error| Failure::Cannot(anyhow!("{error}")))
}

/// What all runs cost together; `None` where one of them did not count.
fn cost(phases: &[BenchPhase]) -> Option<Cost> {
    let all: Option<Vec<&Cost>> = phases.iter().flat_map(|phase| &phase.runs).map(|run| run.cost.as_ref()).collect();
    let all = all?;
    let erases = all.iter().map(|cost| cost.erases.as_ref().map(|erases| erases.units)).sum::<Option<u64>>();
    Some(Cost {
        read: all.iter().map(|cost| cost.read).sum(),
        written: all.iter().map(|cost| cost.written).sum(),
        time: all.iter().map(|cost| cost.time).sum(),
        erases: erases.filter(|_| !all.is_empty()).map(|units| Erases { units, counted: true, assumption: None }),
    })
}

/// How a phase ended: the gravest of its jobs counts.
fn how_ended(jobs: &[JobRun]) -> StopReason {
    let grave = |job: &&JobRun| matches!(job.stop, StopReason::DeviceLost(_) | StopReason::InternalError(_));
    match jobs.iter().find(grave) {
        Some(job) => job.stop.clone(),
        None if jobs.iter().any(|job| job.stop == StopReason::BudgetSpent) => StopReason::BudgetSpent,
        None => StopReason::Complete,
    }
}
