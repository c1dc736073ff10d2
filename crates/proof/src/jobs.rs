//! A job of `bench` on a simulated device, in virtual time.

use flashscope_device::{Target, WriteGrant};
use flashscope_load::budget::WriteBudget;
use flashscope_load::job::Job;
use flashscope_load::outcome::job_run;
use flashscope_load::plan::{Limits, resolve};
use flashscope_load::record::{Recorder, Trace};
use flashscope_load::simulate::simulate;
use flashscope_load::worker::Worker;
use flashscope_model::StopReason;
use flashscope_model::bench::JobRun;
use flashscope_sim::SimTarget;
use flashscope_units::{Bytes, Nanos};

/// Runs a job until it ends by itself, or `stop` says so, which is told now and then the time and the bytes so far.
///
/// # Errors
/// Where it cannot be run, with the reason.
pub(crate) fn run(target: &mut SimTarget, job: &Job, stop: impl FnMut(Nanos, u64) -> bool) -> Result<JobRun, String> {
    let limits = Limits { capacity: target.facts().capacity, granularity: target.capabilities().granularity };
    let plan = resolve(job, limits).map_err(|error| error.to_string())?;
    let budget =
        WriteBudget::new([(&plan, 1)].into_iter(), Bytes(1), Bytes::ZERO, None).map_err(|error| error.to_string())?;
    let needed = budget.needed([(&plan, 1)].into_iter());
    let mut grant = WriteGrant::simulated(target.facts(), needed).ok_or("no grant for a simulated device")?;
    let mut workers: Vec<Worker> = Vec::new();
    for (index, grant) in budget.parts(&plan, &mut grant).into_iter().enumerate() {
        let worker = Worker::new(&plan, index, grant, true, Trace::new(0, None)).map_err(|error| error.to_string())?;
        workers.push(worker);
    }
    simulate(&mut workers, target, None, stop).map_err(|error| error.to_string())?;
    let notes: Vec<Recorder> = workers.into_iter().map(Worker::into_recorder).collect();
    Ok(job_run(&plan, &notes, target.path(), None, StopReason::Complete, None))
}
