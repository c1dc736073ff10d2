//! The experiments: each makes requests on a target and yields observations. No conclusions.
//!
//! One module per variant of [`Experiment`]; [`run`] does one, [`cost`] says beforehand exactly what it will move, and
//! [`validate`] says why it makes no sense on a device. The classic seven (align, write-align, open-au, fat, scatter,
//! interval, program) do what flashbench does, so that tables compare; [`classic`] holds its parameters.
//!
//! Rules that all of them keep: one request outstanding; every write durable, but those that look for a write buffer, for what
//! collection costs or for what applications meet; payload that is different in every
//! write; all choices from the seed; a failed request is noted and its sample left out, so that a list of times may be
//! shorter than the number of requests; whatever ends a run, what was measured until then comes back.
//!
//! Nothing here reads a clock (times are the target's stamps) or knows which kind of target it talks to.

mod align;
mod boundaries;
mod buffer;
mod cells;
mod checks;
pub mod classic;
mod context;
mod discard;
mod error;
mod experiment;
mod fast_area;
mod fat;
mod floor;
mod interval;
mod map_reach;
mod multiples;
mod open_au;
mod open_units;
mod overwrite;
mod parallel;
mod patterns;
mod program;
mod read_cache;
mod rig;
mod rng;
mod scatter;
mod slc_cache;
mod slide;
mod survey;
mod throughput;

pub use context::{Context, HOPELESS_FAILURES, KEPT_FAILURES, Observer, Progress, Report, Unobserved};
pub use error::{PlanError, ProbeError};
pub use experiment::Cost;

use experiment::Probe;
use flashscope_device::Target;
use flashscope_model::{DeviceFacts, Experiment, Run, each_experiment};
use rig::Rig;
use rng::Rng;

/// Why an experiment makes no sense on a device, if it does not.
pub fn validate(experiment: &Experiment, device: &DeviceFacts) -> Result<(), PlanError> {
    each_experiment!(experiment, plan => plan.validate(device))
}

/// What an experiment moves on a device, to the byte. One that [`validate`] refuses moves nothing, because it is not
/// run.
pub fn cost(experiment: &Experiment, device: &DeviceFacts) -> Cost {
    each_experiment!(experiment, plan => match plan.validate(device) {
        Ok(()) => plan.cost(device),
        Err(_) => Cost::default(),
    })
}

/// Does an experiment.
///
/// A run that its observer stopped, that used up the write budget or that met nothing but failures comes back with
/// `complete: false`, and `context.report` says why. `Err` means that nothing was done at all, or that the device is
/// gone; then the error carries what was measured.
pub fn run<T: Target + ?Sized>(
    experiment: &Experiment,
    target: &mut T,
    context: &mut Context<'_>,
) -> Result<Run, ProbeError> {
    context.report = Report::default();
    let facts = facts_for_requests(target);
    validate(experiment, &facts)?;
    let cost = cost(experiment, &facts);
    if cost.written.get() > 0 {
        if !target.capabilities().write {
            return Err(ProbeError::NotWritable);
        }
        if context.grant.is_none() {
            return Err(ProbeError::NoGrant);
        }
    }
    let mut rng = Rng::new(context.seed, experiment.name().word());
    let mut rig = Rig::new(target, context, cost.requests);
    let (data, end) = each_experiment!(experiment, plan => plan.measure(&facts, &mut rng, &mut rig));
    rig.finish(data, each_experiment!(experiment, plan => plan.state()), end)
}

/// The device's facts with the logical block raised to what the way to it demands (direct I/O may want 4096 bytes).
fn facts_for_requests<T: Target + ?Sized>(target: &T) -> DeviceFacts {
    let mut facts = target.facts().clone();
    facts.logical_block = facts.logical_block.max(target.capabilities().granularity);
    facts
}
