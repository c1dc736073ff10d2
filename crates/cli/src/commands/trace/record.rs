//! What a device is given, recorded by the kernel.

use super::files::Written;
use super::kernel::{self, EVERY, Recording};
use super::show::told;
use crate::args::TraceRecording;
use crate::error::{Failure, Outcome};
use crate::{envelope, input, interrupt, output, target};
use anyhow::anyhow;
use flashscope_host::{MonotonicClock, SysRoot, Traceable};
use flashscope_model::Kind;
use flashscope_model::trace::{TraceRecord, TraceSource};
use flashscope_trace::Figures;
use flashscope_trace::event::Paired;
use flashscope_trace::file::Head;
use flashscope_units::Instant;
use std::path::Path;
use std::process::{Child, Command};

pub(super) fn run(args: &TraceRecording) -> Result<Outcome, Failure> {
    let has_cleaned = kernel::clean()?;
    let (Some(device), Some(path)) = (&args.device, &args.output) else {
        if !has_cleaned {
            output::talk("nothing was left switched on");
        }
        return Ok(Outcome::Done);
    };
    let mut door = output::door(args.replace.force, [device]);
    let output = output::plan(&mut door, path)?;
    let traced = Traceable::at(&SysRoot::live(), device).map_err(target::failure)?;
    interrupt::arm();
    let recorded = recorded(args, device, &traced)?;
    let paired = recorded.paired;
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
    paired: Paired,
    dropped: u64,
    status: Option<std::process::ExitStatus>,
}

fn recorded(args: &TraceRecording, device: &Path, traced: &Traceable) -> Result<Recorded, Failure> {
    let clock = MonotonicClock::start();
    let mut recording = Recording::start(traced, args.buffer.get())?;
    interrupt::before_end(recording.remover());
    let mut child = started(args)?;
    if child.is_none() && args.time.is_none() {
        output::talk(&format!("recording {} until Ctrl-C", device.display()));
    }
    let begun = clock.now();
    let mut status = None;
    loop {
        let before = clock.now();
        recording.fetch()?;
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
    let (paired, dropped) = recording.finish()?;
    Ok(Recorded { paired, dropped, status })
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
