//! Power cuts of a device of this machine, by commands of the operator's.

use super::journal::{self, JournalFile};
use super::{cuts, log, plan, record, under};
use crate::args::Integrity;
use crate::error::Failure;
use crate::target::{self, Opened, Writes};
use crate::{envelope, interrupt, output};
use anyhow::anyhow;
use flashscope_device::{Target, WriteGrant};
use flashscope_host::power::{PowerCommand, Switch, SwitchedBytes, SwitchedTarget};
use flashscope_host::{HostTarget, OpenOptions, Output, Surroundings, SysRoot};
use flashscope_integrity::{Ended, first_generation, most_written};
use flashscope_model::integrity::{IntegrityRecord, SwitchedBy};
use flashscope_model::{DeviceFacts, DeviceKind, Kind};
use std::path::Path;

pub(super) fn run(args: &Integrity, log: Option<&Output>) -> Result<IntegrityRecord, Failure> {
    let switch = switch(args)?;
    if args.replay.is_some() {
        return Err(cannot(
            "the power of a real device never goes at the same moment again\nhint: --replay is for simulated devices"
                .to_owned(),
        ));
    }
    let chosen = under::chosen(args)?;
    let cost = |facts: &DeviceFacts| {
        has_power_of_its_own(args, facts)?;
        let most = match &chosen {
            Some(chosen) => {
                let plan = under::plan(args, chosen, facts, 0)?;
                flashscope_integrity::under::most_written(plan.length, plan.cuts)
            }
            None => {
                let plan = plan(args, facts, facts.logical_block, 0)?;
                most_written(plan.length, plan.cuts)
            }
        };
        Ok(args.target.consent.max_write.unwrap_or(most))
    };
    match target::open(&args.target, Writes::Exactly(&cost))? {
        Opened::Host { target, grant: Some(grant), here } => {
            tested(args, *target, (grant, log), &here, (switch, chosen))
        }
        _ => Err(cannot("integrity writes\nhint: leave out --read-only, and --max-write 0".to_owned())),
    }
}

fn tested(
    args: &Integrity,
    target: HostTarget,
    (mut grant, log): (WriteGrant, Option<&Output>),
    here: &Surroundings,
    (switch, chosen): (Switch, Option<under::Chosen>),
) -> Result<IntegrityRecord, Failure> {
    let facts = target.facts().clone();
    let generation = first_generation(target::of_this_run(args.target.seed));
    let plan = match &chosen {
        Some(chosen) => under::plan(args, chosen, &facts, generation)?,
        None => plan(args, &facts, target.capabilities().granularity, generation)?,
    };
    let head = journal::head(args, &facts, &plan, chosen.as_ref().map(|chosen| chosen.name));
    let mut ledger = JournalFile::planned(args, &facts, head)?;
    let consent = args.target.consent.to(facts.identity.as_ref().map(|identity| identity.0.as_str()));
    let options = OpenOptions { read_in_use: false, allow_buffered: args.target.allow_cached, hang_after: None };
    let path = Path::new(&args.target.target);
    let mut device = SwitchedTarget::new(SysRoot::live(), path, target, consent, options, switch.clone())
        .map_err(target::failure)?;
    // Before the first thread is started; whoever ends the program at once leaves the power on, too.
    interrupt::arm();
    let at_the_end = switch.clone();
    interrupt::before_end(move || at_the_end.bring_back());
    let envelope = envelope::of(Kind::Integrity, "integrity", &args.target, &device, Some(here));
    let dry = device.dry_cut(&mut grant, &mut || ledger.try_out());
    // Nothing was written yet that it could tell of.
    let dry = dry.inspect_err(|_| ledger.remove()).map_err(cannot)?;
    output::talk(&format!(
        "a dry cut: off after {}, back after {}, nothing else went; the journal is {}",
        dry.off_after,
        dry.on_after,
        ledger.path().display()
    ));
    let switched_by = SwitchedBy {
        off: switch.off.to_string(),
        on: switch.on.to_string(),
        off_after: dry.off_after,
        on_after: dry.on_after,
    };
    let (done, above) = match chosen {
        Some(chosen) => {
            let device = SwitchedBytes::new(device, grant);
            let (done, above) = under::cuts(device, chosen, &plan, &mut ledger, true);
            (done, Some(above))
        }
        None => {
            let done = cuts(&mut device, &mut grant, &plan, &mut (&mut ledger, log::begun(log)?));
            drop(device);
            (done, None)
        }
    };
    match &done.0.ended {
        None | Some(Ended::Stopped) => ledger.remove(),
        Some(Ended::Device(_) | Ended::Harness(_)) => output::talk(&format!(
            "the journal of the last cut is kept: {} (--judge holds the device against it)",
            ledger.path().display()
        )),
    }
    interrupt::before_end(|| {});
    Ok(record(done, above, &plan, args, envelope, (Some(switched_by), Some(here))))
}

/// The commands, as lists of arguments.
fn switch(args: &Integrity) -> Result<Switch, Failure> {
    let (Some(off), Some(on)) = (&args.power_off, &args.power_on) else {
        return Err(cannot(format!(
            "the power of {} cannot be cut from here\nhint: name the commands that do it, --power-off CMD --power-on CMD \
             (docs/integrity.md), or take a simulated device: sim:MODEL",
            args.target.target
        )));
    };
    let command = |option: &str, text: &str| {
        let words = shlex::split(text).and_then(PowerCommand::new);
        words.ok_or_else(|| {
            cannot(format!("{option} '{text}' is no command\nhint: quotes must be closed, as for a shell"))
        })
    };
    let (off, on) = (command("--power-off", off)?, command("--power-on", on)?);
    Ok(Switch { off, on, wait_off: args.wait_off, wait_on: args.wait_on })
}

/// A file on a file system goes with the disk below, and the file system with it.
fn has_power_of_its_own(args: &Integrity, facts: &DeviceFacts) -> Result<(), Failure> {
    let path = Path::new(&args.target.target);
    if facts.kind != DeviceKind::File || flashscope_emulate::seen(path).is_some() {
        return Ok(());
    }
    Err(cannot(format!(
        "{} is a file on a file system, which would lose its power with it\nhint: name the block device (`flashscope list`)",
        path.display()
    )))
}

fn cannot(why: String) -> Failure {
    Failure::Cannot(anyhow!(why))
}
