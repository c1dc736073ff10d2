//! Power cuts under a file system or a database.

mod database;
mod stack;
mod subject;
mod worker;

use super::Watch;
use crate::args::Integrity;
use crate::error::Failure;
use crate::progress;
use anyhow::anyhow;
use flashscope_device::PoweredBytes;
use flashscope_integrity::under::{self, Diary, Recorder, UnderReport};
use flashscope_integrity::{Plan, Report};
use flashscope_model::DeviceFacts;
use flashscope_model::integrity::Under;
use flashscope_units::{Bytes, Nanos};
use stack::Standing;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
pub(crate) use subject::Chosen;

/// The word that this program starts itself with as the process that mounts: no command of the operator's.
pub(crate) const WORKER: &str = "--integrity-worker";

/// What stands on the device takes so much of it, unless it is told otherwise: more than the programs that make it need at least, and little
/// enough to be made and looked through again and again.
const USUAL_LENGTH: Bytes = Bytes::mib(512);

/// That process.
pub(crate) fn worker() -> ExitCode {
    let done = worker::work(std::io::stdin().lock(), std::io::stdout().lock());
    if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(2) }
}

/// What is to stand on the device, with its programs found; `None` where nothing is.
pub(super) fn chosen(args: &Integrity) -> Result<Option<Chosen>, Failure> {
    let Some(subject) = args.under else { return Ok(None) };
    if args.replay.is_some() || args.log_writes.is_some() {
        return Err(Failure::Cannot(anyhow!(
            "what a kernel writes never comes again from a seed\nhint: leave out --replay and --log-writes, or --under"
        )));
    }
    Chosen::find(subject, args.under_options.as_deref().unwrap_or_default()).map(Some)
}

/// Where it stands, and how often the power is cut.
pub(super) fn plan(args: &Integrity, chosen: &Chosen, facts: &DeviceFacts, generation: u32) -> Result<Plan, Failure> {
    let unit = facts.logical_block.max(Bytes::kib(4));
    let offset = args.offset.unwrap_or(Bytes::ZERO);
    let room = facts.capacity.saturating_sub(offset);
    let length = args.size.unwrap_or(USUAL_LENGTH.min(room).align_down(unit));
    if length < chosen.file_system.least {
        return Err(Failure::Cannot(anyhow!(
            "{} from {} on is too small for {}: it takes {}\nhint: a larger device, or another --size or --offset",
            length,
            offset.get(),
            chosen.file_system.name,
            chosen.file_system.least
        )));
    }
    super::inside(facts, (offset, length), unit)?;
    Ok(Plan {
        cuts: args.cuts,
        seed: args.target.seed,
        generation,
        offset,
        length,
        slow_after: args.slow_after,
        search: Bytes::ZERO,
    })
}

/// Cuts the power as often as it is to be cut; what was seen, how long it took on the device's clock, and what came of it from above.
pub(super) fn cuts<D: PoweredBytes + 'static>(
    device: D,
    chosen: Chosen,
    plan: &Plan,
    diary: &mut dyn Diary,
    is_real: bool,
) -> ((Report, Nanos), Under) {
    let recorder = Arc::new(Mutex::new(Recorder::new(device, (plan.offset, plan.length))));
    let now = || recorder.lock().unwrap_or_else(PoisonError::into_inner).now();
    let begun = now();
    let subject = chosen.subject;
    let mut stack = Standing::new(chosen, Arc::clone(&recorder), is_real);
    let mut watch = Watch { bar: progress::bar(u64::from(plan.cuts), "cuts") };
    let report = under::run(&recorder, &mut stack, subject, plan, diary, &mut watch);
    watch.bar.finish_and_clear();
    let time = now().since(begun);
    let chosen = stack.into_chosen();
    let UnderReport { device, cuts } = report;
    let under = Under {
        subject: chosen.name.to_owned(),
        file_system: chosen.file_system.name.to_owned(),
        options: chosen.options(),
        programs: chosen.programs,
        blame: under::blame(&cuts),
        acknowledged: cuts.iter().map(|cut| u64::from(cut.acknowledged)).sum(),
        faults: under::faults(&cuts),
        cuts,
    };
    ((device, time), under)
}
