//! Load on a simulated device, in virtual time.

use super::keep::Kept;
use super::progress::Course;
use super::run::{Prepared, Setup, resolved};
use super::steady::foretell;
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
use flashscope_load::worker::Worker;
use flashscope_model::bench::{BenchRecord, PhaseRun};
use flashscope_model::run::{Cost, Erases};
use flashscope_model::{Envelope, StopReason};
use flashscope_report::foreign;
use flashscope_sim::SimTarget;
use flashscope_units::{Bytes, Nanos};
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// How often the progress is drawn.
const DRAW_EVERY: Duration = Duration::from_millis(200);

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

pub(super) fn run(
    prepared: &Prepared,
    target: &mut SimTarget,
    mut envelope: Envelope,
    kept: &Kept,
) -> Result<BenchRecord, Failure> {
    let budget = prepared.budget()?;
    let needed = budget.needed(prepared.all_jobs());
    if prepared.setup.target.consent.read_only && needed > Bytes::ZERO {
        return Err(Failure::Cannot(anyhow!("the jobs write, but the target was opened with --read-only")));
    }
    let mut grant = WriteGrant::simulated(target.facts(), needed)
        .ok_or_else(|| Failure::Cannot(anyhow!("the simulated device says that it is a real one")))?;
    envelope.device = Some(target.facts().clone());
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
    let trace = kept.trace();
    let record = prepared.run_all(kept, (envelope, None), pause, |plans, left| {
        let names = plans.iter().map(|plan| plan.job.name.as_str()).collect::<Vec<_>>().join(", ");
        bar.set_message(format!("{}/{steps} {}", steps + 1 - left, foreign::line(&names)));
        bar.tick();
        let writer = trace.and_then(|trace| trace.writer(number));
        number += 1;
        let parts = plans.iter().map(|plan| budget.parts(plan, &mut grant)).collect();
        let mut course = Course::new(plans);
        let head = format!("{}/{steps} {}", steps + 1 - left, foreign::line(&names));
        let mut drawn = Instant::now();
        let look = |since, moved| {
            // Virtual time passes by the second between two pictures of it.
            if drawn.elapsed() >= DRAW_EVERY {
                bar.set_message(format!("{head}  {}", course.line(since, moved)));
                bar.tick();
                drawn = Instant::now();
            }
            interrupt::asked()
        };
        let done = phase(&mut target.borrow_mut(), plans, parts, writer.as_ref(), look);
        if let (Some(trace), Some(writer)) = (trace, writer) {
            trace.finish(writer);
        }
        done
    })?;
    bar.finish_and_clear();
    Ok(record)
}

fn phase(
    target: &mut SimTarget,
    plans: &[Resolved],
    parts: Vec<Vec<Option<WriteGrant>>>,
    writer: Option<&Writer>,
    look: impl FnMut(Nanos, u64) -> bool,
) -> Result<PhaseRun, Failure> {
    let (began, worn) = (target.now(), target.wear());
    let mut workers: Vec<Worker> = Vec::new();
    for (plan, grants) in plans.iter().zip(parts) {
        for (index, grant) in grants.into_iter().enumerate() {
            let sink = writer.filter(|_| plan.job.trace > 0).map(|writer| writer.sink(workers.len()));
            let worker = Worker::new(plan, index, grant, true, Trace::new(plan.job.trace, sink));
            workers.push(worker.map_err(|error| anyhow!("{error}"))?);
        }
    }
    let mut steady = plans.iter().find_map(|plan| plan.job.stop.steady).map(Judge::new);
    let result = simulate(&mut workers, target, steady.as_mut(), look);
    if let Err(error @ (DeviceError::Invalid(_) | DeviceError::System(_))) = &result {
        return Err(Failure::Cannot(anyhow!("{error}")));
    }
    let stops: Vec<StopReason> = workers.iter().map(|worker| worker.stop_reason().clone()).collect();
    let mut notes: Vec<Recorder> = workers.into_iter().map(Worker::into_recorder).collect();
    let mut jobs = Vec::new();
    let (mut at, mut moved) = (0, (Bytes::ZERO, Bytes::ZERO));
    for plan in plans {
        let rest = notes.split_off(plan.parts.len());
        let stop = how_stopped(&stops[at..at + plan.parts.len()], result.as_ref().err());
        at += plan.parts.len();
        let verdict = steady.as_ref().and_then(Judge::verdict).filter(|_| plan.job.stop.steady.is_some());
        let (read, written) = flashscope_load::outcome::moved_in_all(&notes);
        moved = (moved.0 + read, moved.1 + written);
        jobs.push(foretell(job_run(plan, &notes, target.path(), None, stop, verdict), plan));
        notes = rest;
    }
    let erases = target.wear().zip(worn).map(|(after, before)| after.erases.saturating_sub(before.erases));
    let cost = Cost {
        read: moved.0,
        written: moved.1,
        time: target.now().since(began),
        erases: erases.map(|units| Erases { units, counted: true, assumption: None }),
    };
    let evidence = judge(Counted { asked: moved, device: None, instead: Instead::Simulated });
    let started = Some(began.since(flashscope_units::Instant::ORIGIN));
    Ok(PhaseRun { started, cost: Some(cost), ..PhaseRun::new(jobs, evidence) })
}

/// Why the workers of one job stopped: the gravest reason counts.
pub(super) fn how_stopped(stops: &[StopReason], lost: Option<&DeviceError>) -> StopReason {
    let any = |stop| stops.contains(&stop);
    match lost {
        // A request that no device could take is our doing.
        Some(error @ DeviceError::Invalid(_)) => StopReason::InternalError(error.to_string()),
        Some(error) => StopReason::DeviceLost(error.to_string()),
        None if any(StopReason::Failing) => StopReason::Failing,
        None if any(StopReason::BudgetSpent) => StopReason::BudgetSpent,
        None if any(StopReason::Stopped) => StopReason::Stopped,
        None => StopReason::Complete,
    }
}
