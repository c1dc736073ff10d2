//! What a run left that was killed: the device, held against the journal.

use super::record;
use crate::args::Integrity;
use crate::error::Failure;
use crate::making::subject;
use crate::target::{self, Opened, Writes};
use crate::{envelope, input, output};
use anyhow::anyhow;
use flashscope_device::{Refusal, RefusalKind, Target};
use flashscope_host::SysRoot;
use flashscope_host::power::boot_id;
use flashscope_integrity::ledger::Kept;
use flashscope_integrity::{Plan, judge_kept};
use flashscope_model::Kind;
use flashscope_model::integrity::IntegrityRecord;
use flashscope_units::{Bytes, Nanos};
use std::path::Path;

pub(super) fn run(args: &Integrity) -> Result<IntegrityRecord, Failure> {
    let Some(path) = &args.journal else { return Err(Failure::Cannot(anyhow!("--judge needs --journal FILE"))) };
    let text = input::text(path, "name the journal of a run that was killed")?;
    let kept = Kept::parse(&text).map_err(|why| anyhow!("{} is no journal of integrity: {why}", path.display()))?;
    let mut reading = args.target.clone();
    reading.consent.read_only = true;
    let Opened::Host { mut target, here, .. } = target::open(&reading, Writes::Exactly(&|_| Ok(Bytes::ZERO)))? else {
        return Err(Failure::Cannot(anyhow!(
            "a simulated device is gone with the run that was killed\nhint: the same command and seed does it again"
        )));
    };
    fits(args, path, &kept, target.as_ref())?;
    let is_whole = boot_id(&SysRoot::live()).is_some_and(|boot| boot == kept.head.boot);
    if !is_whole {
        output::talk(
            "the machine has started anew since: newer data than the journal knows of are not held against the device",
        );
    }
    if !kept.is_off {
        output::talk("the run was killed before the power was about to go");
    }
    let envelope = envelope::of(Kind::Integrity, "integrity", &reading, target.as_ref(), Some(&here));
    let begun = target.now();
    let report = judge_kept(target.as_mut(), &kept, is_whole).map_err(|error| anyhow!("{error}"))?;
    let time: Nanos = target.now().since(begun);
    let head = &kept.head;
    let plan = Plan {
        cuts: 1,
        seed: head.seed,
        generation: head.generation,
        offset: head.offset,
        length: head.length,
        slow_after: args.slow_after,
        search: Bytes::ZERO,
    };
    Ok(record((report, time), None, &plan, args, envelope, (None, Some(&here))))
}

/// Whether the journal is of this very device.
fn fits(args: &Integrity, path: &Path, kept: &Kept, target: &impl Target) -> Result<(), Failure> {
    let facts = target.facts();
    let head = &kept.head;
    let what = if subject(&args.target.target, facts).identity != head.identity {
        format!("{} is the journal of another device", path.display())
    } else if facts.capacity != head.capacity {
        format!("the device has {} now, and had {} when the run was killed", facts.capacity, head.capacity)
    } else {
        return Ok(());
    };
    let refusals = vec![Refusal { kind: RefusalKind::Changed, what, release: None }];
    Err(Failure::Refused { target: args.target.target.clone(), writing: false, refusals })
}
