//! `integrity`: whether a device keeps what it acknowledged when its power is cut.

mod endurance;
mod journal;
mod killed;
mod log;
mod real;
mod simulated;
mod under;

use crate::args::Integrity;
use crate::commands::{history, report};
use crate::envelope;
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use crate::{interrupt, progress};
use anyhow::anyhow;
use flashscope_device::{PowerSwitch, WriteGrant};
use flashscope_host::{Output, Surroundings};
use flashscope_integrity::ledger::Ledger;
use flashscope_integrity::verdict::{shipped, verdict};
use flashscope_integrity::{Ended, Plan, Report, Watcher, usual_region};
use flashscope_model::endurance::Endurance;
use flashscope_model::integrity::{Blame, Cut, IntegrityPlan, IntegrityRecord, SwitchedBy, Under};
use flashscope_model::run::Cost;
use flashscope_model::{DeviceFacts, Envelope, StopReason};
use flashscope_record::AnyRecord;
use flashscope_units::{Bytes, Nanos};
use indicatif::ProgressBar;
pub(crate) use simulated::opened as tracked;
pub(crate) use under::{WORKER, worker};

pub(crate) fn run(args: &Integrity) -> Result<Outcome, Failure> {
    if args.target.consent.read_only && !args.judge {
        return Err(Failure::Cannot(anyhow!("integrity writes\nhint: leave out --read-only")));
    }
    if args.endurance.dry_run {
        output::data(&endurance::dry_run(args)?)?;
        return Ok(Outcome::Done);
    }
    let mut door = output::door(args.results.replace.force, [&args.target.target]);
    let outputs = report::outputs(&mut door, None, &args.results.output)?;
    let record = match args.target.target.strip_prefix("sim:") {
        _ if args.judge => killed::run(args)?,
        _ if args.endurance.endurance => endurance::run(args)?,
        Some(spec) => simulated::run(args, spec, log::planned(args, &mut door)?.as_ref())?,
        None => real::run(args, log::planned(args, &mut door)?.as_ref())?,
    };
    shown(args, &record, &outputs)
}

fn shown(args: &Integrity, record: &IntegrityRecord, outputs: &[Output]) -> Result<Outcome, Failure> {
    let mut saved = Saved::default();
    report::save(&mut saved, outputs, &AnyRecord::Integrity(Box::new(record.clone())));
    history::keep(|| flashscope_record::to_json(record));
    saved.after(output::data(&if args.results.json {
        flashscope_record::to_json(record)
    } else {
        flashscope_report::integrity::terminal(record, output::style())
    }))?;
    let wears = record.endurance.as_ref().is_some_and(Endurance::is_broken);
    let lost_above = record.under.as_ref().is_some_and(|under| matches!(under.blame, Blame::Above | Blame::Both));
    let broken = record.verdict.broken > 0 || lost_above || wears;
    match &record.envelope.stop {
        // What was found stands, however it ended.
        _ if broken => Ok(Outcome::ExpectationFailed),
        stop => envelope::exit(stop),
    }
}

/// Where is written, and how often the power is cut. `unit` is what the device takes at least.
fn plan(args: &Integrity, facts: &DeviceFacts, unit: Bytes, generation: u32) -> Result<Plan, Failure> {
    let unit = unit.max(Bytes::kib(4));
    let cannot = |why: String| Err(Failure::Cannot(anyhow!(why)));
    if facts.capacity < Bytes::mib(1) {
        return cannot(format!("{} is too small to be tested: 1 MiB at least", facts.capacity));
    }
    let usual = usual_region(facts.capacity);
    let length = args.size.unwrap_or(usual.1);
    let offset = args.offset.unwrap_or(match args.size {
        Some(_) => (facts.capacity.saturating_sub(length) / 2).align_down(unit),
        None => usual.0,
    });
    if length < Bytes::kib(256) || length > Bytes::gib(1) || !length.is_multiple_of(unit) {
        return cannot(format!("--size {length} must be whole blocks of {unit}, from 256 KiB to 1 GiB"));
    }
    inside(facts, (offset, length), unit)?;
    let (cuts, seed) = (args.replay.unwrap_or(args.cuts), args.target.seed);
    Ok(Plan { cuts, seed, generation, offset, length, slow_after: args.slow_after, search: args.search })
}

/// A range must lie inside the device, in whole blocks.
fn inside(facts: &DeviceFacts, (offset, length): (Bytes, Bytes), unit: Bytes) -> Result<(), Failure> {
    let is_whole = offset.is_multiple_of(unit) && length.is_multiple_of(unit);
    if is_whole && offset.get().checked_add(length.get()).is_some_and(|end| end <= facts.capacity.get()) {
        return Ok(());
    }
    Err(Failure::Cannot(anyhow!(
        "{length} from {} on do not lie inside the device of {}, in whole blocks of {unit}\nhint: name another --offset or --size",
        offset.get(),
        facts.capacity
    )))
}

/// Cuts the power as often as it is to be cut.
fn cuts<T: PowerSwitch>(
    device: &mut T,
    grant: &mut WriteGrant,
    plan: &Plan,
    ledger: &mut dyn Ledger,
) -> (Report, Nanos) {
    let begun = device.now();
    let mut watch = Watch { bar: progress::bar(u64::from(plan.cuts), "cuts") };
    let report = flashscope_integrity::run(device, grant, plan, ledger, &mut watch);
    watch.bar.finish_and_clear();
    (report, device.now().since(begun))
}

/// Puts the record together.
fn record(
    (report, time): (Report, Nanos),
    under: Option<Under>,
    plan: &Plan,
    args: &Integrity,
    mut envelope: Envelope,
    (switched_by, here): (Option<SwitchedBy>, Option<&Surroundings>),
) -> IntegrityRecord {
    envelope.cost = Some(Cost { written: report.written, time, ..Cost::default() });
    envelope.stop = stopped(&report);
    envelope::seal(&mut envelope, here);
    let verdict = verdict(&report, shipped());
    let Plan { cuts, seed, offset, length, slow_after, .. } = *plan;
    let plan = IntegrityPlan { cuts, seed, offset, length, slow_after, searched: report.searched, switched_by };
    let (mut cuts, mut requests) = (report.cuts, report.requests);
    match args.replay {
        Some(_) => drop(cuts.drain(..cuts.len().saturating_sub(1))),
        None => requests.clear(),
    }
    IntegrityRecord { envelope, plan, verdict, cuts, requests, under, endurance: None }
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
