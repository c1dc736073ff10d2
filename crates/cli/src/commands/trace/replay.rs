//! A trace given to a device again.

use super::show::told;
use super::source::{Source, unreadable};
use crate::args::{ReplayMode, TraceReplay};
use crate::commands::report;
use crate::error::{Failure, Outcome};
use crate::progress;
use crate::target::{self, Opened, Writes};
use crate::{envelope, interrupt, output};
use anyhow::anyhow;
use flashscope_device::{Capabilities, Target, WriteGrant};
use flashscope_host::load::{LaneKind, LaneOptions, LoadFile, Opening, SlotFill};
use flashscope_host::{HostTarget, MonotonicClock, SysRoot};
use flashscope_model::run::PathTaken;
use flashscope_model::trace::{Replay, TraceFigures, TraceRecord, TraceSource};
use flashscope_model::{DeviceFacts, Kind, StopReason};
use flashscope_sim::SimTarget;
use flashscope_trace::filter::{Addresses, Filtered, Filters, placed};
use flashscope_trace::replay::{Mode, Plan, Player, ReplayError, along, in_virtual_time};
use flashscope_trace::{Figures, Op, TraceError, Traced};
use flashscope_units::{Bytes, Nanos};
use std::cell::Cell;

/// Requests outstanding at most on a simulated device: more wait in the trace, and are issued late.
const ROOM: u32 = 4096;
/// The same on a real one, where each has a buffer.
const MOST_ROOM: u32 = 256;
/// What these buffers take at most.
const MOST_MEMORY: Bytes = Bytes::mib(512);
/// A device that answers no request for so long hangs.
const HANG_AFTER: Nanos = Nanos::secs(30);

pub(super) fn run(args: &TraceReplay) -> Result<Outcome, Failure> {
    let mut door = output::door(args.results.replace.force, [&args.file]);
    let outputs = report::outputs(&mut door, None, &args.results.output)?;
    let filters = filters(args)?;
    let looked = look(args)?;
    let largest = Cell::new(Bytes::ZERO);
    let cost = |facts: &DeviceFacts| {
        let needs = needs(args, filters, addresses(args, &looked), facts)?;
        largest.set(needs.largest);
        Ok(needs.written)
    };
    let opened = target::open(&args.target, Writes::Exactly(&cost))?;
    let (source, figures) = (looked.source.clone(), looked.figures.clone());
    let record = match opened {
        Opened::Simulated { mut target, grant } => {
            let envelope = envelope::of(Kind::Trace, "trace replay", &args.target, target.as_ref(), None);
            let plan = plan(args, &looked, target.facts(), target.capabilities(), ROOM);
            let (replay, stop) = virtually(args, filters, plan, (target.as_mut(), grant), looked.figures.requests)?;
            TraceRecord {
                envelope: flashscope_model::Envelope { stop, ..envelope },
                source,
                figures,
                replay: Some(replay),
            }
        }
        Opened::Host { target, grant, here } => {
            let mut envelope = envelope::of(Kind::Trace, "trace replay", &args.target, target.as_ref(), Some(&here));
            let room = (MOST_MEMORY / largest.get().max(Bytes::kib(4))).clamp(1, u64::from(MOST_ROOM)) as u32;
            // A lane has no discards.
            let plan = Plan { discard: false, ..plan(args, &looked, target.facts(), target.capabilities(), room) };
            let lane = (target.as_ref(), largest.get());
            let (replay, stop, path) = really(args, filters, plan, lane, grant, looked.figures.requests)?;
            envelope.path = Some(path);
            envelope.stop = stop;
            envelope::seal(&mut envelope, Some(&here));
            TraceRecord { envelope, source, figures, replay: Some(replay) }
        }
    };
    told(record, args.results.json, &outputs)
}

/// What a first pass over a trace found: all of it is read before a device is touched.
struct Looked {
    source: TraceSource,
    figures: TraceFigures,
}

fn look(args: &TraceReplay) -> Result<Looked, Failure> {
    let mut source = Source::open_one(&args.file, &args.input)?;
    let mut figures = Figures::new();
    for request in source.by_ref() {
        figures.add(&request.map_err(|error| unreadable(&args.file, &error))?);
    }
    if source.is_stopped() {
        return Err(Failure::Cannot(anyhow!("interrupted while the trace was looked through; nothing was replayed")));
    }
    let dropped = source.tail().map_or(0, |tail| tail.dropped);
    Ok(Looked { source: source.described(&args.file), figures: figures.finish(dropped) })
}

fn filters(args: &TraceReplay) -> Result<Filters, Failure> {
    let TraceReplay { align, split, max_request, merge, .. } = *args;
    for (name, size) in [("--align", align), ("--split", split), ("--max-request", max_request)] {
        if size.is_some_and(|size| size < Bytes::SECTOR || !size.is_multiple_of(Bytes::SECTOR)) {
            return Err(Failure::Cannot(anyhow!(
                "{name} must be a multiple of {}\nhint: as in {name} 8KiB",
                Bytes::SECTOR
            )));
        }
    }
    Ok(Filters { align, split, merge, max_request })
}

fn addresses(args: &TraceReplay, looked: &Looked) -> Addresses {
    match (args.scale, args.wrap) {
        (true, _) => Addresses::Scale { from: looked.source.capacity.unwrap_or(looked.figures.working_set.end) },
        (_, true) => Addresses::Wrap,
        _ => Addresses::Refuse,
    }
}

/// What the device is to be given, in the words of the record.
fn changes(args: &TraceReplay, filters: Filters) -> Vec<String> {
    let mut changes = filters.words();
    changes.extend(args.scale.then(|| "addresses scaled to this device".to_owned()));
    changes.extend(args.wrap.then(|| "addresses begin anew at the end of this device".to_owned()));
    changes
}

fn plan(args: &TraceReplay, looked: &Looked, facts: &DeviceFacts, can: Capabilities, room: u32) -> Plan {
    Plan {
        mode: match args.mode {
            ReplayMode::Open => Mode::Open,
            ReplayMode::Closed => Mode::Closed { depth: args.depth },
            ReplayMode::Dependent => Mode::Dependent,
        },
        addresses: addresses(args, looked),
        capacity: facts.capacity,
        block: can.granularity,
        room,
        discard: can.discard,
    }
}

/// What a replay needs.
struct Needs {
    /// What it writes, to the byte.
    written: Bytes,
    /// Its largest request.
    largest: Bytes,
}

/// Looks the whole trace through as the device would get it. What does not fit the device is refused here, before anything
/// is written.
fn needs(args: &TraceReplay, filters: Filters, addresses: Addresses, facts: &DeviceFacts) -> Result<Needs, Failure> {
    let (mut written, mut largest, mut discards) = (Bytes::ZERO, Bytes::ZERO, false);
    for request in Filtered::new(Source::open_one(&args.file, &args.input)?, filters) {
        let request = request.map_err(|error| unreadable(&args.file, &error))?;
        let Some(request) = placed(request, addresses, facts.capacity, facts.logical_block) else {
            let (offset, length) = (request.offset, Bytes(u64::from(request.length)));
            let error = ReplayError::NoPlace { offset, length, capacity: facts.capacity };
            return Err(Failure::Cannot(anyhow!("{error}")));
        };
        let length = Bytes(u64::from(request.length));
        discards |= request.op == Op::Discard;
        if request.moves_data() {
            largest = largest.max(length);
        }
        if request.op == Op::Write {
            written += length;
        }
    }
    // A discard is free of charge, but needs the right to write.
    let least = if discards && facts.simulated { facts.logical_block } else { Bytes::ZERO };
    let most = args.target.consent.max_write.unwrap_or(Bytes(u64::MAX));
    Ok(Needs { written: written.max(least).min(most), largest })
}

/// On a device of this machine, along a lane of the load engine.
fn really(
    args: &TraceReplay,
    filters: Filters,
    plan: Plan,
    (target, largest): (&HostTarget, Bytes),
    grant: Option<WriteGrant>,
    requests: u64,
) -> Result<(Replay, StopReason, PathTaken), Failure> {
    let opening = Opening { direct: true, durable: false, write: grant.is_some() };
    let sys = SysRoot::live();
    let file = LoadFile::of(&sys, std::slice::from_ref(target), None, opening).map_err(target::failure)?;
    let options = LaneOptions {
        kind: LaneKind::Uring,
        depth: plan.room,
        largest: largest.max(plan.block),
        fill: SlotFill::Incompressible,
        polled: false,
        hang_after: Some(HANG_AFTER),
        clock: MonotonicClock::start(),
    };
    flashscope_host::exact_timers();
    let bar = progress::bar(requests, "requests");
    let mut lane = file.lane(&options).map_err(|error| anyhow!("{error}"))?;
    let mut path = file.path(&lane, plan.room);
    // Where others want the processors, each request would wait for its turn. With but one the kernel's workers need it.
    let several = std::thread::available_parallelism().is_ok_and(|processors| processors.get() > 1);
    match several.then(flashscope_host::run_before_others) {
        Some(Ok(())) => path.flags.push("issued before other threads run".to_owned()),
        Some(Err(why)) => path.fallbacks.push(format!("issued in turn with other threads: {why}")),
        None => {}
    }
    let source = Source::open_one(&args.file, &args.input)?;
    let mut player = Player::new(Filtered::new(source, filters), plan, grant);
    let interrupted = Cell::new(false);
    let outcome = along(&mut player, &mut lane, |so_far| {
        bar.set_position(so_far.requests);
        interrupted.set(interrupt::asked());
        interrupted.get()
    });
    bar.finish_and_clear();
    let (replay, stop) = ended(args, filters, player, outcome, interrupted.get())?;
    Ok((replay, stop, path))
}

fn virtually(
    args: &TraceReplay,
    filters: Filters,
    plan: Plan,
    (target, grant): (&mut SimTarget, Option<WriteGrant>),
    requests: u64,
) -> Result<(Replay, StopReason), Failure> {
    let source = Source::open_one(&args.file, &args.input)?;
    let mut player = Player::new(Filtered::new(source, filters), plan, grant);
    let bar = progress::bar(requests, "requests");
    let interrupted = Cell::new(false);
    let outcome = in_virtual_time(&mut player, target, |so_far| {
        bar.set_position(so_far.requests);
        interrupted.set(interrupt::asked());
        interrupted.get()
    });
    bar.finish_and_clear();
    ended(args, filters, player, outcome, interrupted.get())
}

/// What came of a replay; what went wrong with the trace or the plan is an error, what went wrong with the device is kept.
fn ended<I: Iterator<Item = Result<Traced, TraceError>>>(
    args: &TraceReplay,
    filters: Filters,
    player: Player<I>,
    outcome: Result<(), ReplayError>,
    interrupted: bool,
) -> Result<(Replay, StopReason), Failure> {
    let (replay, error) = player.finish(changes(args, filters));
    let stop = match outcome.err().or(error) {
        Some(ReplayError::Device(error)) => StopReason::DeviceLost(error.to_string()),
        Some(ReplayError::Budget) => StopReason::BudgetSpent,
        Some(error) => return Err(Failure::Cannot(anyhow!("{}: {error}", args.file.display()))),
        None if interrupted => StopReason::Interrupted,
        None => StopReason::Complete,
    };
    Ok((replay, stop))
}
