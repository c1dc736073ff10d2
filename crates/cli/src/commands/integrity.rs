//! `integrity`: whether a device keeps what it acknowledged when its power is cut.

use crate::args::Integrity;
use crate::commands::{history, report};
use crate::envelope;
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use crate::{interrupt, progress, target};
use anyhow::anyhow;
use flashscope_device::{PowerSwitch, Target, WriteGrant};
use flashscope_integrity::verdict::{shipped, verdict};
use flashscope_integrity::{Ended, Plan, Report, Watcher, usual_region};
use flashscope_model::integrity::{Cut, IntegrityPlan, IntegrityRecord};
use flashscope_model::run::Cost;
use flashscope_model::{Envelope, Kind, StopReason};
use flashscope_record::AnyRecord;
use flashscope_sim::SimTarget;
use flashscope_units::Bytes;
use indicatif::ProgressBar;

pub(crate) fn run(args: &Integrity) -> Result<Outcome, Failure> {
    let Some(spec) = args.target.target.strip_prefix("sim:") else {
        return Err(Failure::Cannot(anyhow!(
            "the power of {} cannot be cut from here\nhint: a simulated device can lose its power: sim:MODEL",
            args.target.target
        )));
    };
    if args.target.consent.read_only {
        return Err(Failure::Cannot(anyhow!("integrity writes\nhint: leave out --read-only")));
    }
    let mut door = output::door(args.results.replace.force, [&args.target.target]);
    let outputs = report::outputs(&mut door, None, &args.results.output)?;
    let mut device = opened(spec, args.target.seed)?;
    let plan = plan(args, &device)?;
    let budget = args.target.consent.max_write.unwrap_or(Bytes(u64::MAX / 2));
    let mut grant = WriteGrant::simulated(device.facts(), budget)
        .ok_or_else(|| Failure::Cannot(anyhow!("a simulated device grants freely")))?;
    let envelope = envelope::of(Kind::Integrity, "integrity", &args.target, &device, None);
    let record = cuts(&mut device, &mut grant, &plan, args, envelope);
    let mut saved = Saved::default();
    report::save(&mut saved, &outputs, &AnyRecord::Integrity(Box::new(record.clone())));
    history::keep(|| flashscope_record::to_json(&record));
    saved.after(output::data(&if args.results.json {
        flashscope_record::to_json(&record)
    } else {
        flashscope_report::integrity::terminal(&record, output::style())
    }))?;
    let broken = record.verdict.broken > 0;
    match &record.envelope.stop {
        // What was found stands, however it ended.
        _ if broken => Ok(Outcome::ExpectationFailed),
        stop => envelope::exit(stop),
    }
}

/// A simulated device that keeps track of what is safe: one without faults is given the section in which nothing is wrong.
fn opened(spec: &str, seed: u64) -> Result<SimTarget, Failure> {
    let device = target::open_model(spec, seed)?;
    let mut device = match device.has_faults() {
        true => device,
        false => target::open_model(&format!("{spec},write_cache=mapping"), seed)?,
    };
    // Its own invariants are looked at by its own tests.
    device.check_always(false);
    Ok(device)
}

fn plan(args: &Integrity, device: &impl Target) -> Result<Plan, Failure> {
    let (facts, unit) = (device.facts(), device.capabilities().granularity.max(Bytes::kib(4)));
    let usual = usual_region(facts.capacity);
    let length = args.size.unwrap_or(usual.1);
    let offset = args.offset.unwrap_or(match args.size {
        Some(_) => (facts.capacity.saturating_sub(length) / 2).align_down(unit),
        None => usual.0,
    });
    let cannot = |why: String| Err(Failure::Cannot(anyhow!(why)));
    if length < Bytes::kib(256) || length > Bytes::gib(1) || !length.is_multiple_of(unit) {
        return cannot(format!("--size {length} must be whole blocks of {unit}, from 256 KiB to 1 GiB"));
    }
    if !offset.is_multiple_of(unit)
        || offset.get().checked_add(length.get()).is_none_or(|end| end > facts.capacity.get())
    {
        let capacity = facts.capacity;
        return cannot(format!(
            "{length} from {} on do not lie inside the device of {capacity}, in whole blocks of {unit}\nhint: name another --offset or --size",
            offset.get()
        ));
    }
    let cuts = args.replay.unwrap_or(args.cuts);
    Ok(Plan { cuts, seed: args.target.seed, offset, length, slow_after: args.slow_after, search: args.search })
}

/// Cuts the power as often as it is to be cut, and puts the record together.
fn cuts<T: PowerSwitch>(
    device: &mut T,
    grant: &mut WriteGrant,
    plan: &Plan,
    args: &Integrity,
    mut envelope: Envelope,
) -> IntegrityRecord {
    let begun = device.now();
    let mut watch = Watch { bar: progress::bar(u64::from(plan.cuts), "cuts") };
    let report = flashscope_integrity::run(device, grant, plan, &mut watch);
    watch.bar.finish_and_clear();
    envelope.cost = Some(Cost { written: report.written, time: device.now().since(begun), ..Cost::default() });
    envelope.stop = stopped(&report);
    let verdict = verdict(&report, shipped());
    let Plan { cuts, seed, offset, length, slow_after, .. } = *plan;
    let plan = IntegrityPlan { cuts, seed, offset, length, slow_after, searched: report.searched };
    let (mut cuts, mut requests) = (report.cuts, report.requests);
    match args.replay {
        Some(_) => drop(cuts.drain(..cuts.len().saturating_sub(1))),
        None => requests.clear(),
    }
    IntegrityRecord { envelope, plan, verdict, cuts, requests }
}

fn stopped(report: &Report) -> StopReason {
    match &report.ended {
        None => StopReason::Complete,
        Some(Ended::Stopped) => StopReason::Interrupted,
        Some(Ended::Device(why) | Ended::Harness(why)) => StopReason::DeviceLost(why.clone()),
    }
}

/// Shows how far it is.
struct Watch {
    bar: ProgressBar,
}

impl Watcher for Watch {
    fn cut(&mut self, _: &Cut) {
        self.bar.inc(1);
    }

    fn stop(&mut self) -> bool {
        interrupt::asked()
    }
}
