//! `state`: which state a device is in.

use crate::args::State;
use crate::commands::{history, report};
use crate::envelope;
use crate::error::{Failure, Outcome};
use crate::making::{Brought, Order};
use crate::output::{self, Saved};
use crate::progress::Progress;
use crate::target::{self, Opened, Writes};
use flashscope_device::{Target, WriteGrant};
use flashscope_host::Surroundings;
use flashscope_model::plan::Budget;
use flashscope_model::{Kind, RunRecord, StopReason};
use flashscope_record::AnyRecord;
use flashscope_session::{Options, usual_diagnosis_budget};
use flashscope_units::Bytes;
use std::path::PathBuf;

pub(crate) fn run(args: &State) -> Result<Outcome, Failure> {
    let order = args.make.map(|state| {
        let place = args.results.output.first().map(PathBuf::as_path);
        Order::new(&args.target, state, &args.making, place, args.results.json).saved()
    });
    if let Some(order) = order.as_ref().filter(|_| args.dry_run) {
        output::data(&order.dry_run(args.results.json)?)?;
        return Ok(Outcome::Done);
    }
    let mut door = output::door(args.results.replace.force, [&args.target.target]);
    let outputs = report::outputs(&mut door, None, &args.results.output)?;
    let record = match order {
        Some(order) => made(args, &order)?,
        None => found(args)?,
    };
    let mut saved = Saved::default();
    report::save(&mut saved, &outputs, &AnyRecord::Run(Box::new(record.clone())));
    history::keep(|| flashscope_record::to_json(&record));
    saved.after(output::data(&if args.results.json {
        flashscope_record::to_json(&record)
    } else {
        flashscope_report::terminal(&record, output::style())
    }))?;
    envelope::exit(&record.envelope.stop)?;
    let made = record.envelope.state.as_ref().and_then(|state| state.made.as_ref());
    // A state that was not reached, and places that failed on the way to it, are no success.
    Ok(match made.is_some_and(|made| !made.reached || made.errors() > 0) {
        true => Outcome::ExpectationFailed,
        false => Outcome::Done,
    })
}

/// The state as it was found.
fn found(args: &State) -> Result<RunRecord, Failure> {
    Ok(match target::open(&args.target, Writes::Adaptive(usual_diagnosis_budget))? {
        Opened::Simulated { mut target, mut grant } => diagnose(args, target.as_mut(), grant.as_mut(), None),
        Opened::Host { mut target, mut grant, here } => diagnose(args, target.as_mut(), grant.as_mut(), Some(*here)),
    })
}

/// The state as it was made, with the diagnosis as its proof: by reading alone, as writes would change it.
fn made(args: &State, order: &Order) -> Result<RunRecord, Failure> {
    let (brought, made) = order.bring()?;
    let stop = made.stop.clone();
    let mut record = match brought {
        Brought::Simulated(mut target) => diagnose(args, target.as_mut(), None, None),
        Brought::Host(mut target, here) => diagnose(args, target.as_mut(), None, Some(*here)),
    };
    record.envelope.command = format!("state --make {}", order.wished().word());
    if let Some(cost) = &mut record.envelope.cost {
        cost.written += made.certificate.written();
        cost.read += made.certificate.steps.iter().map(|step| step.read).sum();
        cost.time += made.certificate.steps.iter().map(|step| step.time).sum();
        cost.erases = None;
    }
    record.envelope.state = Some(order.state(made));
    // Whatever the diagnosis came to, the state was cut short.
    if stop != StopReason::Complete {
        record.envelope.stop = stop;
    }
    Ok(record)
}

fn diagnose<T: Target>(
    args: &State,
    target: &mut T,
    grant: Option<&mut WriteGrant>,
    here: Option<Surroundings>,
) -> RunRecord {
    let budget = Budget { write: grant.as_ref().map_or(Bytes::ZERO, |grant| grant.left()), time: args.max_time };
    let options = Options { seed: args.target.seed, budget };
    let envelope = envelope::of(Kind::State, "state", &args.target, target, here.as_ref());
    let mut progress = Progress::new(args.results.json, None);
    let report = flashscope_session::diagnose(target, grant, options, &mut progress);
    progress.finish();
    envelope::record(envelope, here.as_ref(), report)
}
