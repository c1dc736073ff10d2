//! How often `inspect` is right on devices that it has never seen.
//!
//! [`draw()`] makes random devices whose inside is known; [`sail`] inspects each in virtual time on all cores and holds the
//! findings against the truth; [`Summary`] counts. *Can be told* is not declared by the generator: it means found by a
//! noise-free inspection with ten times the budget. A naive reader of flashbench's own tables runs on the same
//! devices as the baseline (`classic.rs`). The rules stand in docs/fleet.md.

mod calibration;
pub mod capacities;
pub mod claims;
mod classic;
mod cost;
mod coverage;
pub mod differences;
mod draw;
pub mod endurance;
mod guard;
pub mod histories;
pub mod integrity;
mod markdown;
mod meter;
pub mod paired;
mod part;
pub mod qualify;
mod record;
mod run;
mod score;
pub mod states;
mod summary;
pub mod worth;

pub use calibration::{beyond_chance, calibration, rejected};
pub use draw::{DrawError, Drawn, Generator, Noise, UnknownName, draw};
pub use flashscope_model::fleet::Verdict;
pub use markdown::{ANSWERED, BIN_OFF, CALIBRATION, COST_SHARE, COVERAGE, FULL_BIN, Sailed, Target, markdown};
pub use part::{Joined, PartError, part};
pub use record::record;
pub use run::{Copied, DeviceRun, Inspection, Limits, MaxWrite, Scored, See, Subject};
pub use score::{Judged, Parameter, RATIO_TOLERANCE, judge};
pub use summary::{Reader, Slow, Summary, WorstCase};

use flashscope_device::Target as Device;
use flashscope_units::{Bytes, Nanos};
use guard::Guard;
use rayon::prelude::*;
use run::NoResult;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How many devices.
    pub devices: u32,
    /// Number of the first one: a part of a fleet is the same devices as in the whole.
    pub first: u32,
    /// Seed of the fleet.
    pub seed: u64,
    /// Which devices.
    pub generator: Generator,
    /// Noise around all of them; where `None`, each draws its own.
    pub noise: Option<Noise>,
    /// How each is run.
    pub limits: Limits,
}

/// Told how far it is, from any thread, and asked for the time.
pub trait Watch: Sync {
    /// Processor time of the calling thread: what a device takes is the difference of two readings. One that stands still
    /// bounds nothing.
    fn clock(&self) -> Nanos;

    /// A device is done, or was given up.
    fn done(&self, device: &DeviceRun);

    /// Whether to stop: devices under way are dropped, those done are kept.
    fn stop(&self) -> bool;
}

/// A fleet after its run.
#[derive(Clone, Debug, PartialEq)]
pub struct Fleet {
    /// What was asked for.
    pub plan: Plan,
    /// What came of each device, in order; fewer than asked for where it was stopped.
    pub devices: Vec<DeviceRun>,
}

/// Runs a fleet on all cores. Its outcome depends on the plan alone, not on the number of cores, but for the devices that
/// [`Limits::most_work`] cuts off: each of them is in the outcome as a failure.
///
/// # Errors
/// When no device can be drawn, because the catalogue's models have changed.
pub fn sail(plan: Plan, watch: &dyn Watch) -> Result<Fleet, DrawError> {
    sail_seen(plan, watch, &|_| {})
}

/// The same, and what `inspect` measured on each device is shown to `see`.
///
/// # Errors
/// As [`sail`].
pub fn sail_seen(plan: Plan, watch: &dyn Watch, see: See<'_>) -> Result<Fleet, DrawError> {
    draw(plan.generator, plan.seed, 0, plan.noise)?;
    // Each device is a piece of work of its own, so that no core sits idle while another has several left.
    let devices = numbers(plan).into_par_iter().with_max_len(1).filter_map(|index| watched(plan, index, watch, see));
    Ok(Fleet { plan, devices: devices.collect() })
}

/// The same one device after the other, on the calling thread: where others run beside it, each with devices of its own.
///
/// # Errors
/// As [`sail`].
pub fn sail_alone(plan: Plan, watch: &dyn Watch) -> Result<Fleet, DrawError> {
    draw(plan.generator, plan.seed, 0, plan.noise)?;
    Ok(Fleet { plan, devices: numbers(plan).filter_map(|index| watched(plan, index, watch, &|_| {})).collect() })
}

fn numbers(plan: Plan) -> std::ops::Range<u32> {
    plan.first..plan.first.saturating_add(plan.devices)
}

/// A device, where nobody wants to stop.
fn watched(plan: Plan, index: u32, watch: &dyn Watch, see: See<'_>) -> Option<DeviceRun> {
    if watch.stop() {
        return None;
    }
    let guard = Guard::new(watch, plan.limits.most_work);
    let mut done = one(plan, index, &guard, see)?;
    done.work = guard.work();
    watch.done(&done);
    Some(done)
}

/// A device on which the program breaks is a result as well, and must not take the others with it.
fn one(plan: Plan, index: u32, guard: &Guard<'_>, see: See<'_>) -> Option<DeviceRun> {
    let drawn = match draw(plan.generator, plan.seed, index, plan.noise) {
        Ok(drawn) => drawn,
        Err(error) => return Some(DeviceRun::failed(index, 0, String::new(), error.to_string())),
    };
    let run = |stop: &dyn Fn() -> bool| run::run(index, &drawn, plan.limits, stop, see);
    guarded((index, drawn.seed, &drawn.title), plan.limits, guard, run)
}

/// Runs and judges a device that somebody else made, as [`sail`] does those that it draws; `None` where the operator stops it.
pub fn judge_subject<T: Device>(subject: &Subject<'_, T>, limits: Limits, watch: &dyn Watch) -> Option<DeviceRun> {
    let guard = Guard::new(watch, limits.most_work);
    let run = |stop: &dyn Fn() -> bool| run::run_subject(subject, limits, stop, &|_| {});
    let mut done = guarded((subject.index, subject.seed, &subject.title), limits, &guard, run)?;
    done.work = guard.work();
    Some(done)
}

fn guarded(
    (index, seed, title): (u32, u64, &str),
    limits: Limits,
    guard: &Guard<'_>,
    run: impl FnOnce(&dyn Fn() -> bool) -> Result<DeviceRun, NoResult>,
) -> Option<DeviceRun> {
    let stop = || guard.stop();
    let outcome = catch_unwind(AssertUnwindSafe(|| run(&stop)));
    let failed = |why: String| DeviceRun::failed(index, seed, title.to_owned(), why);
    match outcome {
        Ok(_) if guard.is_overdue() => {
            Some(failed(format!("not finished within {} of processor time", limits.most_work)))
        }
        Ok(Ok(run)) => Some(run),
        Ok(Err(NoResult::Stopped)) => None,
        Ok(Err(NoResult::Failed(why))) => Some(failed(why)),
        Err(panic) => Some(failed(format!("the program broke: {}", panic_message(panic.as_ref())))),
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

impl Plan {
    fn capacity(&self, index: u32) -> Option<Bytes> {
        let drawn = draw(self.generator, self.seed, index, self.noise).ok()?;
        Some(run::open(&drawn.text, drawn.seed).ok()?.facts().capacity)
    }

    /// The command that prints the model file of one of its devices.
    pub fn show_command(&self, index: u32) -> String {
        let noise = self.noise.map_or(String::new(), |noise| format!(" --noise {}", noise.name()));
        let Plan { seed, generator, .. } = self;
        format!("flashscope fleet --generator {} --seed {seed}{noise} --show {index}", generator.name())
    }

    /// The commands that inspect one of its devices again, as the fleet did.
    pub fn replay_command(&self, index: u32, device_seed: u64) -> String {
        let limit = match self.limits.max_write {
            MaxWrite::Usual => None,
            limit => self.capacity(index).map(|capacity| limit.on(capacity)),
        };
        let limits = limit.map_or(String::new(), |size| format!(" --max-write {}", size.get()));
        let time = self.limits.max_time.map_or(String::new(), |time| format!(" --max-time {}ns", time.get()));
        format!(
            "{} > device-{index}.toml && flashscope inspect sim:device-{index}.toml --seed {device_seed}{limits}{time}",
            self.show_command(index)
        )
    }
}
