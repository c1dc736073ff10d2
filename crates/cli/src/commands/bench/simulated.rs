//! Load on a simulated device, in virtual time.

use super::run::{Done, Prepared, Setup, budget, resolved, split};
use super::trace::Writer;
use super::watch::bar;
use crate::error::Failure;
use crate::{interrupt, target};
use anyhow::anyhow;
use flashscope_device::{DeviceError, Target, WriteGrant};
use flashscope_load::evidence::{Counted, Instead, judge};
use flashscope_load::job::{EngineChoice, JobSet, Payload};
use flashscope_load::outcome::job_run;
use flashscope_load::plan::{Limits, Resolved};
use flashscope_load::record::{Recorder, Trace};
use flashscope_load::simulate::simulate;
use flashscope_load::steady::Judge;
use flashscope_load::worker::{Ending, Worker};
use flashscope_model::bench::{JobEnded, PhaseRun};
use flashscope_report::foreign;
use flashscope_sim::SimTarget;
use flashscope_units::Bytes;
use std::cell::RefCell;

/// Checks the jobs against the model.
pub(super) fn resolve(setup: &Setup, set: &JobSet, spec: &str) -> Result<Vec<Vec<Resolved>>, Failure> {
    let target = target::open_model(spec, setup.target.seed)?;
    let limits = Limits { capacity: target.facts().capacity, granularity: target.capabilities().granularity };
    if set
        .phases
        .iter()
        .flat_map(|phase| &phase.jobs)
        .any(|job| job.files.is_some() || job.engine == EngineChoice::Whole)
    {
        return Err(Failure::Cannot(anyhow!(
            "a simulated device has no files\nhint: leave --files and --engine whole away, or put a file system on an emulated one"
        )));
    }
    if set.phases.iter().flat_map(|phase| &phase.jobs).any(|job| job.payload == Payload::Urandom) {
        return Err(Failure::Cannot(anyhow!("the payload urandom is drawn from a kernel, and virtual time has none")));
    }
    resolved(set, |_| limits)
}

pub(super) fn run(prepared: &Prepared, spec: &str) -> Result<Done, Failure> {
    let target = target::open_model(spec, prepared.setup.target.seed)?;
    let budget = budget(prepared.plans.iter().flatten(), &prepared.setup)?;
    if prepared.setup.target.consent.read_only && budget > Bytes::ZERO {
        return Err(Failure::Cannot(anyhow!("the jobs write, but the target was opened with --read-only")));
    }
    let mut grant = WriteGrant::simulated(target.facts(), budget)
        .ok_or_else(|| Failure::Cannot(anyhow!("the simulated device says that it is a real one")))?;
    let facts = target.facts().clone();
    let target = RefCell::new(target);
    let pause = |time| {
        let mut target = target.borrow_mut();
        let until = target.now() + time;
        target.wait_until(until);
    };
    // Virtual time passes quickly, but not in no time.
    let bar = bar("virtual time", prepared.setup.quiet);
    let steps = prepared.steps();
    let mut number = 0;
    let (phases, ended) = prepared.run_all(pause, |plans, left| {
        let names = plans.iter().map(|plan| plan.job.name.as_str()).collect::<Vec<_>>().join(", ");
        bar.set_message(format!("{}/{steps} {}", steps + 1 - left, foreign::line(&names)));
        bar.tick();
        let writer = prepared.setup.trace_to.as_deref().map(|path| Writer::create(path, number)).transpose()?;
        number += 1;
        phase(&mut target.borrow_mut(), plans, &mut grant, left, writer)
    })?;
    bar.finish_and_clear();
    Ok(Done { device: Some(facts), host: None, phases, ended })
}

fn phase(
    target: &mut SimTarget,
    plans: &[Resolved],
    grant: &mut WriteGrant,
    left: u64,
    writer: Option<Writer>,
) -> Result<PhaseRun, Failure> {
    let mut workers: Vec<Worker> = Vec::new();
    let all: Vec<&Resolved> = plans.iter().collect();
    for (plan, grants) in plans.iter().zip(split(grant, &all, left)) {
        for (index, grant) in grants.into_iter().enumerate() {
            let sink = writer.as_ref().filter(|_| plan.job.trace > 0).map(|writer| writer.sink(workers.len()));
            let worker = Worker::new(plan, index, grant, true, Trace::new(plan.job.trace, sink));
            workers.push(worker.map_err(|error| anyhow!("{error}"))?);
        }
    }
    let mut steady = plans.iter().find_map(|plan| plan.job.stop.steady).map(Judge::new);
    let result = simulate(&mut workers, target, steady.as_mut(), interrupt::asked);
    if let Err(error @ (DeviceError::Invalid(_) | DeviceError::System(_))) = &result {
        return Err(Failure::Cannot(anyhow!("{error}")));
    }
    let endings: Vec<Ending> = workers.iter().map(Worker::ending).collect();
    let mut notes: Vec<Recorder> = workers.into_iter().map(Worker::into_recorder).collect();
    writer.map(Writer::finish).transpose()?;
    let mut jobs = Vec::new();
    let (mut at, mut moved) = (0, (Bytes::ZERO, Bytes::ZERO));
    for plan in plans {
        let rest = notes.split_off(plan.parts.len());
        let ended = how_ended(&endings[at..at + plan.parts.len()], result.as_ref().err());
        at += plan.parts.len();
        let verdict = steady.as_ref().and_then(Judge::verdict).filter(|_| plan.job.stop.steady.is_some());
        let (read, written) = flashscope_load::outcome::moved_in_all(&notes);
        moved = (moved.0 + read, moved.1 + written);
        jobs.push(job_run(plan, &notes, target.path(), None, ended, verdict));
        notes = rest;
    }
    Ok(PhaseRun { jobs, evidence: judge(Counted { asked: moved, device: None, instead: Instead::Simulated }) })
}

/// How the workers of one job ended: the gravest counts.
pub(super) fn how_ended(endings: &[Ending], lost: Option<&DeviceError>) -> JobEnded {
    let any = |ending| endings.contains(&ending);
    match lost {
        Some(error) => JobEnded::DeviceLost(error.to_string()),
        None if any(Ending::Failing) => JobEnded::Failing,
        None if any(Ending::GrantSpent) => JobEnded::BudgetSpent,
        None if any(Ending::Stopped) => JobEnded::Stopped,
        None => JobEnded::Complete,
    }
}
