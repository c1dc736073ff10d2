//! From what was typed to an open target and, where it is due, the right to write.

use crate::args::TargetArgs;
use crate::error::Failure;
use crate::output;
use anyhow::anyhow;
use flashscope_device::{Target, WriteGrant};
use flashscope_host::{HostError, HostTarget, OpenOptions, Surroundings, SysRoot};
use flashscope_model::DeviceFacts;
use flashscope_sim::SimTarget;
use flashscope_stats::rng::mix;
use flashscope_units::Bytes;
use std::path::Path;
use std::time::SystemTime;

/// An open target.
pub(crate) enum Opened {
    /// A simulated device; it may be written to unless the operator said otherwise.
    Simulated {
        /// The device.
        target: Box<SimTarget>,
        /// The right to write.
        grant: Option<WriteGrant>,
    },
    /// A block device or file of this machine.
    Host {
        /// The device.
        target: Box<HostTarget>,
        /// The right to write, where it was asked for and given.
        grant: Option<WriteGrant>,
        /// What surrounds it.
        here: Box<Surroundings>,
    },
}

/// How much a command writes.
pub(crate) enum Writes<'a> {
    /// As much as it needs within the budget; nothing where the operator does not consent. Where nobody says how much, this
    /// says it of a capacity.
    Adaptive(fn(Bytes) -> Bytes),
    /// Exactly what this says of a device; nothing may be zero.
    Exactly(&'a dyn Fn(&DeviceFacts) -> Result<Bytes, Failure>),
    /// The same, and what stood there is put back.
    PutBack(&'a dyn Fn(&DeviceFacts) -> Result<Bytes, Failure>),
}

/// A target that is written to must hold at least this: no experiment that writes makes sense on less.
const LEAST_CAPACITY: Bytes = Bytes::mib(1);

/// Opens the target. For a real one, writing must have been consented to; without consent a command that adapts only reads,
/// and one that must write is refused.
pub(crate) fn open(args: &TargetArgs, writes: Writes<'_>) -> Result<Opened, Failure> {
    match args.target.strip_prefix("sim:") {
        Some(spec) => open_simulated(spec, args, &writes),
        None => open_host(Path::new(&args.target), args, &writes),
    }
}

/// The name of a device that is not there is a slip: a file of that name in /dev would lie in memory, in the device's place.
pub(crate) fn not_among_devices(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    match folder {
        Some(folder) if flashscope_host::is_among_devices(&folder) => Err(Failure::Cannot(anyhow!(
            "there is no device {}, and no file is made among devices\nhint: `flashscope list` shows the devices of this machine",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// The name of a simulated device, without the word that says so, where no file has that name.
pub(crate) fn meant_simulated(path: &Path) -> Result<(), Failure> {
    let spec = path.to_string_lossy();
    let name = spec.split(',').next().unwrap_or_default();
    if path.symlink_metadata().is_err() && flashscope_sim::catalogue().iter().any(|model| model.name == name) {
        return Err(Failure::Cannot(anyhow!("there is no file or device {spec}\nhint: did you mean sim:{spec}?")));
    }
    Ok(())
}

fn open_simulated(spec: &str, args: &TargetArgs, writes: &Writes<'_>) -> Result<Opened, Failure> {
    simulated(open_model(spec, args.seed)?, args, writes)
}

/// A simulated device that something was done to already.
pub(crate) fn simulated(target: SimTarget, args: &TargetArgs, writes: &Writes<'_>) -> Result<Opened, Failure> {
    let budget = budget(target.facts(), args, writes)?;
    let grant = if args.consent.read_only { None } else { WriteGrant::simulated(target.facts(), budget) };
    Ok(Opened::Simulated { target: Box::new(target), grant })
}

/// A simulated device by the name of its model or the path of a model file.
pub(crate) fn open_model(spec: &str, seed: u64) -> anyhow::Result<SimTarget> {
    flashscope_sim::open_from(spec, seed, &flashscope_emulate::SimFiles).map_err(|error| anyhow!("{error}"))
}

fn open_host(path: &Path, args: &TargetArgs, writes: &Writes<'_>) -> Result<Opened, Failure> {
    if path.extension().is_some_and(|extension| extension == "toml") && path.is_file() {
        return Err(Failure::Cannot(anyhow!(
            "{} looks like a model of a simulated device\nhint: name it as sim:{}",
            path.display(),
            if path.is_absolute() || path.starts_with(".") {
                path.display().to_string()
            } else {
                format!("./{}", path.display())
            }
        )));
    }
    meant_simulated(path)?;
    let sys = SysRoot::live();
    let options =
        OpenOptions { read_in_use: args.consent.read_in_use, allow_buffered: args.allow_cached, hang_after: None };
    // Of a file the disk below.
    let here = Surroundings::of(&sys, path);

    let consented = args.consent.allow_write || !args.consent.destroy_data.is_empty();
    let must_write = match writes {
        Writes::Adaptive(_) => false,
        Writes::Exactly(_) | Writes::PutBack(_) => {
            // Looked at like a device in use: this is only about its size.
            let look = OpenOptions { read_in_use: true, ..options };
            let target = flashscope_host::open_for_reading(&sys, path, &look).map_err(failure)?;
            budget(target.facts(), args, writes)? > Bytes::ZERO
        }
    };
    let wants_to_write = must_write || (consented && matches!(writes, Writes::Adaptive(_)));
    if !wants_to_write || args.consent.read_only {
        let target = flashscope_host::open_for_reading(&sys, path, &options).map_err(failure)?;
        warn_of_use(&target);
        return Ok(Opened::Host { target: Box::new(target), grant: None, here: Box::new(here) });
    }

    let checked = flashscope_host::safety(&sys, path, LEAST_CAPACITY).map_err(failure)?;
    let consent = args.consent.to(checked.report.identity.as_deref());
    let look = OpenOptions { read_in_use: true, ..options };
    let facts = flashscope_host::open_for_reading(&sys, path, &look).map_err(failure)?.facts().clone();
    let budget = budget(&facts, args, writes)?;
    let (target, grant) =
        flashscope_host::open_for_writing(&sys, &checked, &consent, budget, &options).map_err(failure)?;
    if let Writes::Exactly(_) = writes {
        output::talk(&format!("writes at most {budget} to {}; what stands there now is destroyed", args.target));
    }
    Ok(Opened::Host { target: Box::new(target), grant: Some(grant), here: Box::new(here) })
}

fn warn_of_use(target: &HostTarget) {
    for user in &target.path().in_use {
        output::talk(&format!("warning: read while in use: {user}; others disturb the figures"));
    }
}

fn budget(facts: &DeviceFacts, args: &TargetArgs, writes: &Writes<'_>) -> Result<Bytes, Failure> {
    match writes {
        Writes::Adaptive(usual) => Ok(args.consent.max_write.unwrap_or(usual(facts.capacity))),
        Writes::Exactly(cost) | Writes::PutBack(cost) => cost(facts),
    }
}

/// A number of this run alone, from the seed and the time: what is written to a real device bears it, so that a device that took to
/// dropping writes is not taken for one that kept those of an earlier run.
pub(crate) fn of_this_run(seed: u64) -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    mix(seed ^ now)
}

pub(crate) fn failure(error: HostError) -> Failure {
    match error {
        HostError::Refused { path, refusals, writing } => {
            Failure::Refused { target: path.display().to_string(), writing, refusals }
        }
        other => Failure::Cannot(anyhow!("{other}")),
    }
}
