//! Power cuts of a simulated device, in virtual time.

use super::{cuts, log, plan, record, under};
use crate::args::Integrity;
use crate::error::Failure;
use crate::target;
use crate::{envelope, interrupt};
use anyhow::anyhow;
use flashscope_device::{Target, WriteGrant};
use flashscope_emulate::DirectDisk;
use flashscope_host::{Output, Surroundings, SysRoot};
use flashscope_integrity::first_generation;
use flashscope_model::Kind;
use flashscope_model::integrity::IntegrityRecord;
use flashscope_sim::SimTarget;
use flashscope_units::Bytes;
use std::path::Path;

pub(super) fn run(args: &Integrity, spec: &str, log: Option<&Output>) -> Result<IntegrityRecord, Failure> {
    if args.power_off.is_some() || args.journal.is_some() {
        return Err(Failure::Cannot(anyhow!(
            "a simulated device needs no command to lose its power, and no journal\nhint: leave out --power-off, --power-on and --journal"
        )));
    }
    let chosen = under::chosen(args)?;
    let mut device = opened(spec, args.target.seed)?;
    let (facts, unit) = (device.facts().clone(), device.capabilities().granularity);
    if let Some(chosen) = chosen {
        return beneath(args, device, chosen);
    }
    let plan = plan(args, &facts, unit, first_generation(args.target.seed))?;
    let budget = args.target.consent.max_write.unwrap_or(Bytes(u64::MAX / 2));
    let mut grant = WriteGrant::simulated(&facts, budget)
        .ok_or_else(|| Failure::Cannot(anyhow!("a simulated device grants freely")))?;
    let envelope = envelope::of(Kind::Integrity, "integrity", &args.target, &device, None);
    let done = cuts(&mut device, &mut grant, &plan, &mut log::begun(log)?);
    Ok(record(done, None, &plan, args, envelope, (None, None)))
}

/// The same under a file system or a database: the kernel's requests reach the simulated device one by one, as fast as it goes.
fn beneath(args: &Integrity, device: SimTarget, chosen: under::Chosen) -> Result<IntegrityRecord, Failure> {
    let plan = under::plan(args, &chosen, device.facts(), first_generation(args.target.seed))?;
    interrupt::arm();
    // Its own time is virtual, and the kernel's is not: no seed brings the same run again.
    let here = Surroundings::of(&SysRoot::live(), Path::new("."));
    let envelope = envelope::of(Kind::Integrity, "integrity", &args.target, &device, Some(&here));
    let (done, above) = under::cuts(DirectDisk::new(device), chosen, &plan, &mut (), false);
    Ok(record(done, Some(above), &plan, args, envelope, (None, Some(&here))))
}

/// A simulated device that keeps track of what is safe: one without faults is given the section in which nothing is wrong.
pub(crate) fn opened(spec: &str, seed: u64) -> Result<SimTarget, Failure> {
    let device = target::open_model(spec, seed)?;
    let mut device = match device.has_faults() {
        true => device,
        false => target::open_model(&format!("{spec},write_cache=mapping"), seed)?,
    };
    // Its own invariants are looked at by its own tests.
    device.check_always(false);
    Ok(device)
}
