//! `bench --state`: the device is brought into a state first, and again between repeats where they have lost it.

use super::keep::Kept;
use super::run::{Prepared, Setup, joined};
use crate::error::Failure;
use crate::making::{Keeper, Order};
use anyhow::anyhow;
use flashscope_model::StopReason;
use flashscope_model::bench::BenchRecord;

/// What is left to the jobs of what may be written, where the state is made once for each repeat.
pub(super) fn setup(setup: Setup, order: Option<&Order>, repeats: u32) -> Result<Setup, Failure> {
    let Some(order) = order else { return Ok(setup) };
    Ok(Setup { target: order.rest(u64::from(repeats))?, ..setup })
}

/// What would be done.
pub(super) fn describe(prepared: &Prepared, order: Option<&Order>) -> Result<String, Failure> {
    let jobs = prepared.describe()?;
    let Some(order) = order else { return Ok(jobs) };
    let plan = order.dry_run(false)?;
    let plan: String = plan.lines().map(|line| format!("# {line}\n")).collect();
    Ok(plan + &jobs)
}

/// Runs the jobs in the state, each repeat in it.
pub(super) fn run(prepared: Prepared, order: Order, kept: &Kept) -> Result<BenchRecord, Failure> {
    check(&prepared, &order)?;
    let mut keeper = Keeper::new(order);
    let mut device = None;
    let mut records: Vec<BenchRecord> = Vec::new();
    for _ in 0..prepared.setup.repeat {
        let made = keeper.before(&mut device)?;
        let mut once = prepared.clone();
        once.setup.repeat = 1;
        let mut record = once.run_on(&mut device, kept)?;
        keeper.after(&prepared.set, made, &mut record);
        let stop = record.envelope.stop.clone();
        records.push(record);
        if stop != StopReason::Complete {
            break;
        }
        if records.len() < prepared.setup.repeat as usize
            && let Some(record) = joined(records.clone())
        {
            kept.so_far(|| BenchRecord { envelope: interrupted(&record), ..record });
        }
    }
    joined(records).ok_or_else(|| Failure::Cannot(anyhow!("nothing was run")))
}

/// Makes the state once, for a preset: its rounds and repeats are its own.
pub(super) fn run_once(prepared: Prepared, order: Option<Order>, kept: &Kept) -> Result<BenchRecord, Failure> {
    let Some(order) = order else { return prepared.run(kept) };
    check(&prepared, &order)?;
    let mut keeper = Keeper::new(order);
    let mut device = None;
    let made = keeper.before(&mut device)?;
    let set = prepared.set.clone();
    let mut record = prepared.run_on(&mut device, kept)?;
    keeper.after(&set, made, &mut record);
    Ok(record)
}

/// One device is in a state, and jobs that run elsewhere say nothing of it.
fn check(prepared: &Prepared, order: &Order) -> Result<(), Failure> {
    match &prepared.targets()[..] {
        [only] if only == order.target() => Ok(()),
        targets => Err(Failure::Cannot(anyhow!(
            "--state is of {}, and the jobs run on {}\nhint: run the jobs of each target by themselves",
            order.target(),
            targets.join(", ")
        ))),
    }
}

fn interrupted(record: &BenchRecord) -> flashscope_model::Envelope {
    flashscope_model::Envelope { stop: StopReason::Interrupted, ..record.envelope.clone() }
}
