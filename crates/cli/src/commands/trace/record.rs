//! What a device is given, recorded by the kernel.

use super::files::Written;
use super::show::told;
use crate::args::TraceRecording;
use crate::error::{Failure, Outcome};
use crate::{envelope, input, interrupt, output, target};
use anyhow::anyhow;
use flashscope_host::{BlockTrace, HostError, MonotonicClock, SysRoot, Traceable, clean_block_traces};
use flashscope_model::Kind;
use flashscope_model::trace::{TraceRecord, TraceSource};
use flashscope_trace::event::{Event, Pairing};
use flashscope_trace::file::Head;
use flashscope_trace::kernel::{Layouts, OF_BIOS, OF_REQUESTS};
use flashscope_trace::{Figures, TraceError};
use flashscope_units::{Instant, Nanos};
use std::path::Path;
use std::process::{Child, Command};

/// How often events are fetched. With 8 MiB of room for each processor that is some 3 million requests per second.
const EVERY: Nanos = Nanos::millis(20);
/// How long an event may take from its time to the page that it stands on: what is older is there.
const MARGIN: Nanos = Nanos::millis(100);

pub(super) fn run(args: &TraceRecording) -> Result<Outcome, Failure> {
    let left = clean_block_traces().map_err(target::failure)?;
    for path in &left {
        output::talk(&format!("removed what a killed recording had left switched on: {}", path.display()));
    }
    let (Some(device), Some(path)) = (&args.device, &args.output) else {
        if left.is_empty() {
            output::talk("nothing was left switched on");
        }
        return Ok(Outcome::Done);
    };
    let mut door = output::door(args.replace.force, [device]);
    let output = output::plan(&mut door, path)?;
    let traced = Traceable::at(&SysRoot::live(), device).map_err(target::failure)?;
    interrupt::arm();
    let recorded = recorded(args, device, &traced)?;
    let paired = recorded.pairing.finish();
    let said = if args.command.is_empty() { String::new() } else { format!(", while {} ran", command(args)) };
    let source = format!("recorded by the kernel from {}{said}", device.display());
    let head = Head { capacity: Some(traced.capacity), source };
    let mut written = Written::begin(output, &head)?;
    let mut figures = Figures::new();
    let first = paired.requests.first().map_or(Instant::ORIGIN, |request| request.issued);
    for mut request in paired.requests {
        request.issued = Instant(request.issued.since(first).get());
        request.completed = request.completed.map(|completed| Instant(completed.since(first).get()));
        figures.add(&request);
        written.add(request)?;
    }
    written.finish(recorded.dropped)?;
    let mut notes = Vec::new();
    if paired.unmatched > 0 {
        notes.push(format!("{} requests had begun before the recording did", paired.unmatched));
    }
    if paired.endless > 0 {
        notes.push(format!("{} had not ended when the recording did", paired.endless));
    }
    let envelope = envelope::bare(Kind::Trace, "trace record", device.display().to_string());
    let origin = head.source;
    let source = TraceSource { file: path.display().to_string(), origin, capacity: head.capacity, notes };
    told(TraceRecord { envelope, source, figures: figures.finish(recorded.dropped), replay: None }, args.json, &[])?;
    match recorded.status {
        Some(status) if !status.success() => {
            Err(Failure::Cannot(anyhow!("{} ended with {status}\nhint: the trace is kept", command(args))))
        }
        _ => Ok(Outcome::Done),
    }
}

/// What came of a recording.
struct Recorded {
    pairing: Pairing,
    dropped: u64,
    status: Option<std::process::ExitStatus>,
}

/// Why a recording cannot go on.
enum Trouble {
    Host(HostError),
    Trace(TraceError),
}

impl From<HostError> for Trouble {
    fn from(error: HostError) -> Trouble {
        Trouble::Host(error)
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Failure {
        match trouble {
            Trouble::Host(error) => target::failure(error),
            Trouble::Trace(error) => Failure::Cannot(anyhow!("{error}")),
        }
    }
}

fn recorded(args: &TraceRecording, device: &Path, traced: &Traceable) -> Result<Recorded, Failure> {
    let wanted: &[_] = if traced.queued { &OF_REQUESTS } else { &OF_BIOS };
    let names: Vec<&str> = wanted.iter().map(|(name, _)| *name).collect();
    let clock = MonotonicClock::start();
    let mut tracing = BlockTrace::start(traced.number, &names, args.buffer.get()).map_err(target::failure)?;
    interrupt::before_end(tracing.remover());
    let mut layouts =
        Layouts::new(&tracing.text("events/header_page").map_err(Trouble::Host)?).map_err(Trouble::Trace)?;
    for (name, step) in wanted {
        let format = tracing.text(&format!("events/block/{name}/format")).map_err(Trouble::Host)?;
        layouts.add(name, *step, &format).map_err(Trouble::Trace)?;
    }
    let mut child = started(args)?;
    if child.is_none() && args.time.is_none() {
        output::talk(&format!("recording {} until Ctrl-C", device.display()));
    }
    let (mut waiting, mut pairing) = (Vec::new(), Pairing::default());
    let begun = clock.now();
    let mut status = None;
    loop {
        let before = clock.now();
        fetch(&mut tracing, &layouts, &mut waiting)?;
        let old = clock.monotonic(before).0.saturating_sub(MARGIN.get());
        settle(&mut waiting, &mut pairing, Instant(old));
        if let Some(child) = &mut child {
            status = child.try_wait().map_err(|error| anyhow!("cannot wait for {}: {error}", command(args)))?;
        }
        let is_over = args.time.is_some_and(|time| before.since(begun) >= time);
        if is_over || status.is_some() || interrupt::asked() {
            break;
        }
        clock.sleep_until(before + EVERY);
    }
    if let (Some(child), None) = (&mut child, status) {
        // It was told by the same Ctrl-C; what it does until it ends is not recorded.
        status = child.wait().ok();
    }
    // Requests in flight end as they would.
    clock.sleep_until(clock.now() + MARGIN);
    tracing.pause().map_err(Trouble::Host)?;
    fetch(&mut tracing, &layouts, &mut waiting)?;
    settle(&mut waiting, &mut pairing, Instant(u64::MAX));
    let dropped = tracing.dropped().map_err(Trouble::Host)?;
    Ok(Recorded { pairing, dropped, status })
}

/// Takes all events that the kernel has.
fn fetch(tracing: &mut BlockTrace, layouts: &Layouts, into: &mut Vec<Event>) -> Result<(), Trouble> {
    tracing.read(|page| layouts.events(page, |event| into.push(event)).map_err(Trouble::Trace)).map(drop)
}

/// Pairs what is old enough that nothing older can come, in order of time over all processors.
fn settle(waiting: &mut Vec<Event>, pairing: &mut Pairing, old: Instant) {
    waiting.sort_by_key(|event| event.at);
    let settled = waiting.partition_point(|event| event.at <= old);
    waiting.drain(..settled).for_each(|event| pairing.add(&event));
}

fn started(args: &TraceRecording) -> Result<Option<Child>, Failure> {
    let Some((program, rest)) = args.command.split_first() else { return Ok(None) };
    let child = Command::new(program).args(rest).spawn();
    child.map(Some).map_err(|error| {
        Failure::Cannot(anyhow!(
            "cannot run {}: {}\nhint: name a program and its arguments behind --",
            program.display(),
            input::said(&error)
        ))
    })
}

/// What was typed behind `--`.
fn command(args: &TraceRecording) -> String {
    args.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
