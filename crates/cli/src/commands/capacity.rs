//! `capacity`: whether a device is as large as it says.

mod files;
mod full;
mod restore;

use crate::args::{Capacity, TargetArgs};
use crate::commands::bench::bar;
use crate::commands::{history, report};
use crate::envelope;
use crate::error::{Failure, Outcome};
use crate::interrupt;
use crate::output::{self, Saved};
use crate::progress::whole;
use crate::target::{self, Opened, Writes};
use anyhow::anyhow;
use flashscope_capacity::{Plan, USUAL_BUDGET, Watch, quick};
use flashscope_device::{Target, WriteGrant};
use flashscope_host::{Bytewise, HostTarget, Output, Surroundings};
use flashscope_model::capacity::CapacityRecord;
use flashscope_model::{DeviceFacts, Envelope, Kind, StopReason};
use flashscope_record::AnyRecord;
use flashscope_stats::rng::mix;
use flashscope_units::{ByteRate, Bytes, Nanos};
use full::{Planned, settle};
use indicatif::ProgressBar;
use restore::Restore;
use std::cell::RefCell;
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) fn run(args: &Capacity) -> Result<Outcome, Failure> {
    let mut door = output::door(args.results.replace.force, [&args.target.target]);
    let outputs = report::outputs(&mut door, None, &args.results.output)?;
    let folder = Path::new(&args.target.target);
    let is_simulated = args.target.target.starts_with("sim:");
    let is_folder = !is_simulated && folder.is_dir();
    if args.hash.is_some() && (is_simulated || !(args.full || is_folder)) {
        return Err(Failure::Cannot(anyhow!(
            "--hash is of all that a full test writes to a device or directory\nhint: add --full; a simulated device has no bytes to hash"
        )));
    }
    let (record, restored) = if is_folder { (files::tested(args, folder)?, Ok(())) } else { of_device(args)? };
    let mut saved = Saved::default();
    report::save(&mut saved, &outputs, &AnyRecord::Capacity(Box::new(record.clone())));
    history::keep(|| flashscope_record::to_json(&record));
    saved.after(output::data(&if args.results.json {
        flashscope_record::to_json(&record)
    } else {
        flashscope_report::capacity::terminal(&record, output::style())
    }))?;
    restored?;
    envelope::exit(&record.envelope.stop)?;
    match (record.is_sound(), record.is_bad()) {
        (true, _) => Ok(Outcome::Done),
        (_, true) => Ok(Outcome::ExpectationFailed),
        _ => Err(Failure::Cannot(anyhow!(
            "it could not be told whether all of it is there\nhint: the report says what is not excluded"
        ))),
    }
}

/// A test of a device, and whether what stood there could be put back.
fn of_device(args: &Capacity) -> Result<(CapacityRecord, Result<(), Failure>), Failure> {
    let planned = RefCell::new((None, None));
    let cost = |facts: &DeviceFacts| {
        if facts.capacity < Plan::LEAST_DEVICE {
            return Err(cannot(flashscope_capacity::PlanError::DeviceTooSmall { least: Plan::LEAST_DEVICE }));
        }
        let full = if args.full { Some(Planned::new(args, facts)?) } else { None };
        let writes = match &full {
            Some(full) => full.budget(args)?,
            None => budget(args).max(flashscope_capacity::LEAST_BUDGET),
        };
        let restore = Restore::new(args, facts, writes)?;
        let back = restore.as_ref().map_or(Bytes::ZERO, Restore::most);
        *planned.borrow_mut() = (full, restore);
        Ok(writes + back)
    };
    let writes = if args.restore { Writes::PutBack(&cost) } else { Writes::Exactly(&cost) };
    let opened = target::open(&args.target, writes)?;
    let (planned, restore) = planned.take();
    match opened {
        Opened::Simulated { mut target, grant } => Ok((tested(args, target.as_mut(), grant, planned, None)?.0, Ok(()))),
        Opened::Host { target, grant, here } => match (restore, grant) {
            (Some(restore), Some(grant)) => restoring(args, restore, (*target, grant), planned, *here),
            (_, grant) => {
                let mut target = target;
                let (mut record, kept) = tested(args, target.as_mut(), grant, planned, Some(*here))?;
                hashed(args, target.as_mut(), &mut record);
                settle(kept.as_ref(), &record.envelope.stop);
                Ok((record, Ok(())))
            }
        },
    }
}

/// Adds the hashes of what was written and of what is read, where they were asked for and the test came to its end.
fn hashed(args: &Capacity, space: &mut dyn Bytewise, record: &mut CapacityRecord) {
    let generation = record.generation;
    let is_over = record.envelope.stop == StopReason::Complete;
    let (Some(hash), Some(full), true) = (args.hash, &mut record.full, is_over) else { return };
    let (mut progress, all) = (Progress::new(args.results.json), full.claimed);
    let mut go_on = |done: Bytes| {
        progress.progress(done, all);
        !interrupt::asked()
    };
    match flashscope_host::hashes(space, hash.into(), generation, &mut go_on) {
        Ok(Some(hashes)) => full.hashes = Some(hashes),
        Ok(None) => record.envelope.stop = StopReason::Interrupted,
        Err(error) => record.envelope.stop = StopReason::DeviceLost(error.to_string()),
    }
    progress.bar.finish_and_clear();
}

/// What a quick test may write; of a limit, half is left for what is put back.
fn budget(args: &Capacity) -> Bytes {
    let most = |limit: Bytes| if args.restore { limit / 2 } else { limit };
    args.target.consent.max_write.map_or(USUAL_BUDGET, most)
}

/// A test that keeps what it overwrites, and puts it back however it ends.
fn restoring(
    args: &Capacity,
    restore: Restore,
    (target, mut grant): (HostTarget, WriteGrant),
    planned: Option<Planned>,
    here: Surroundings,
) -> Result<(CapacityRecord, Result<(), Failure>), Failure> {
    interrupt::arm();
    let quick = if planned.is_none() { Some(plan(args, &target)?) } else { None };
    let mut held = restore.hold(args, target, &mut grant)?;
    if let Some(plan) = quick {
        held.keep_ahead(&plan)?;
    }
    let record = tested(args, held.target(), Some(grant), planned, Some(here));
    let restored = held.end(args);
    Ok((record?.0, restored))
}

fn plan(args: &Capacity, target: &(impl Target + ?Sized)) -> Result<Plan, Failure> {
    let block = target.capabilities().granularity;
    Plan::new(target.facts().capacity, block, budget(args), args.target.seed).map_err(cannot)
}

/// Carries the test out; with the journal of one that can be gone on with.
fn tested(
    args: &Capacity,
    target: &mut dyn Target,
    grant: Option<WriteGrant>,
    planned: Option<Planned>,
    here: Option<Surroundings>,
) -> Result<(CapacityRecord, Option<Output>), Failure> {
    let Some(mut grant) = grant else {
        return Err(Failure::Cannot(anyhow!(
            "only writes tell whether a device keeps what it is given\nhint: leave --read-only out"
        )));
    };
    let envelope = envelope::of(Kind::Capacity, "capacity", &args.target, target, here.as_ref());
    let (mut record, kept) = match planned {
        Some(planned) => planned.tested(args, (target, &mut grant), envelope),
        None => (quickly(args, (target, &mut grant), envelope)?, None),
    };
    envelope::seal(&mut record.envelope, here.as_ref());
    Ok((record, kept))
}

/// The quick test.
fn quickly(
    args: &Capacity,
    (target, grant): (&mut dyn Target, &mut WriteGrant),
    envelope: Envelope,
) -> Result<CapacityRecord, Failure> {
    let plan = plan(args, target)?;
    let generation = first_generation(&args.target, target.facts().simulated);
    let mut progress = Progress::new(args.results.json);
    let outcome = quick(&plan, generation, (target, grant), &mut progress);
    progress.bar.finish_and_clear();
    let verdict = match outcome.stop {
        StopReason::Complete => flashscope_infer::capacity::verdict(&outcome.seen),
        _ => Default::default(),
    };
    let envelope = Envelope { cost: Some(outcome.cost), stop: outcome.stop, ..envelope };
    Ok(CapacityRecord { envelope, verdict, generation, quick: Some(outcome.seen), full: None })
}

fn cannot(error: flashscope_capacity::PlanError) -> Failure {
    Failure::Cannot(anyhow!("{error}"))
}

/// Generation of the first tags of a run. On a simulated device the same seed gives the same bytes.
fn first_generation(args: &TargetArgs, simulated: bool) -> u32 {
    let word = if simulated { mix(args.seed) } else { target::of_this_run(args.seed) };
    // Low enough that those behind it are numbers as well.
    (word >> 34) as u32
}

/// How often the progress is drawn.
const DRAW_EVERY: Duration = Duration::from_millis(200);

struct Progress {
    bar: ProgressBar,
    begun: Instant,
    drawn: Option<Instant>,
}

impl Progress {
    fn new(quiet: bool) -> Progress {
        interrupt::arm();
        Progress { bar: bar("capacity", quiet), begun: Instant::now(), drawn: None }
    }
}

impl Watch for Progress {
    fn progress(&mut self, moved: Bytes, most: Bytes) {
        if self.bar.is_hidden() || self.drawn.is_some_and(|drawn| drawn.elapsed() < DRAW_EVERY) {
            return;
        }
        self.drawn = Some(Instant::now());
        let pace = ByteRate::of(moved, Nanos(self.begun.elapsed().as_nanos() as u64)).filter(|pace| pace.get() > 0.0);
        let left = pace.map_or_else(String::new, |pace| format!(", {} left", whole(pace.time_for(most - moved))));
        self.bar.set_message(format!("{:.0} %{left}", moved.as_f64() / most.as_f64().max(1.0) * 100.0));
        self.bar.tick();
    }

    fn stop(&mut self) -> bool {
        interrupt::asked()
    }
}
