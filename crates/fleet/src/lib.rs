//! How often `inspect` is right on devices that it has never seen.
//!
//! [`draw()`] makes random devices whose inside is known; [`sail`] inspects each in virtual time on all cores and holds the
//! findings against the truth; [`Summary`] counts. *Can be told* is not declared by the generator: it means found by a
//! noise-free inspection with ten times the budget. A naive reader of flashbench's own tables runs on the same
//! devices as the baseline ([`mod@classic`] in the source). The rules stand in docs/fleet.md.

mod calibration;
mod classic;
mod cost;
mod coverage;
mod draw;
mod html;
mod json;
mod markdown;
mod meter;
mod run;
mod score;
mod summary;
mod text;

pub use calibration::{Bin, Calibration, calibration};
pub use cost::Cost;
pub use coverage::Coverage;
pub use draw::{DrawError, Drawn, Generator, Noise, UnknownName, draw};
pub use html::html;
pub use json::json;
pub use markdown::{Sailed, Target, markdown};
pub use run::{DeviceRun, Limits, Scored};
pub use score::{Judged, Parameter, RATIO_TOLERANCE, Verdict, judge};
pub use summary::{CostSummary, Percentiles, Reader, Row, Summary, WorstCase};
pub use text::text;

use rayon::prelude::*;
use run::NoResult;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How many devices.
    pub devices: u32,
    /// Seed of the fleet.
    pub seed: u64,
    /// Which devices.
    pub generator: Generator,
    /// Noise around all of them; where `None`, each draws its own.
    pub noise: Option<Noise>,
    /// How each is run.
    pub limits: Limits,
}

/// Told how far it is, from any thread.
pub trait Watch: Sync {
    /// A device is done.
    fn done(&self);

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

/// Runs a fleet on all cores. Its outcome depends on the plan alone, not on the number of cores.
///
/// # Errors
/// When no device can be drawn, because the catalogue's models have changed.
pub fn sail(plan: Plan, watch: &dyn Watch) -> Result<Fleet, DrawError> {
    draw(plan.generator, plan.seed, 0, plan.noise)?;
    let devices = (0..plan.devices).into_par_iter().filter_map(|index| {
        if watch.stop() {
            return None;
        }
        let done = one(plan, index, watch);
        watch.done();
        done
    });
    Ok(Fleet { plan, devices: devices.collect() })
}

/// A device on which the program breaks is a result as well, and must not take the others with it.
fn one(plan: Plan, index: u32, watch: &dyn Watch) -> Option<DeviceRun> {
    let drawn = match draw(plan.generator, plan.seed, index, plan.noise) {
        Ok(drawn) => drawn,
        Err(error) => return Some(DeviceRun::failed(index, 0, String::new(), error.to_string())),
    };
    let stop = || watch.stop();
    let outcome = catch_unwind(AssertUnwindSafe(|| run::run(index, &drawn, plan.limits, &stop)));
    let failed = |why: String| DeviceRun::failed(index, drawn.seed, drawn.title.clone(), why);
    match outcome {
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
    /// The command that prints the model file of one of its devices.
    pub fn show_command(&self, index: u32) -> String {
        let noise = self.noise.map_or(String::new(), |noise| format!(" --noise {}", noise.name()));
        let Plan { seed, generator, .. } = self;
        format!("flashscope fleet --generator {} --seed {seed}{noise} --show {index}", generator.name())
    }

    /// The commands that inspect one of its devices again, as the fleet did.
    pub fn replay_command(&self, index: u32, device_seed: u64) -> String {
        let limits = self.limits.max_write.map_or(String::new(), |size| format!(" --max-write {}", size.get()));
        let time = self.limits.max_time.map_or(String::new(), |time| format!(" --max-time {}ns", time.get()));
        format!(
            "{} > device-{index}.toml && flashscope inspect sim:device-{index}.toml --seed {device_seed}{limits}{time}",
            self.show_command(index)
        )
    }
}
