//! What must be said of a result, in words.

use flashscope_model::bench::{CacheVerdict, JobEnded, JobRun, PhaseRun};
use flashscope_model::preset::{LimitVerdict, PresetRun, Unit};
use flashscope_units::{ByteRate, Iops, Nanos};

/// Whose a result is.
pub fn whose(verdict: CacheVerdict) -> &'static str {
    match verdict {
        CacheVerdict::Device => "the device's",
        CacheVerdict::Mixed => "partly the PAGE CACHE's",
        CacheVerdict::Cache => "MEMORY's, not a device's",
        CacheVerdict::Unknown => "nobody can tell whose",
    }
}

/// What a figure says to a limit.
pub fn verdict(verdict: LimitVerdict) -> &'static str {
    match verdict {
        LimitVerdict::Met => "met",
        LimitVerdict::Missed => "MISSED",
        LimitVerdict::CannotTell => "cannot tell",
    }
}

/// A figure with its unit.
pub fn figure(value: f64, unit: Unit) -> String {
    match unit {
        Unit::BytesPerSecond => ByteRate(value).to_string(),
        Unit::PerSecond if value >= 99.5 => format!("{value:.0} IOPS"),
        Unit::PerSecond => Iops(value).to_string(),
        Unit::Nanoseconds => Nanos(value.max(0.0).round() as u64).to_string(),
    }
}

/// Whether it was run as defined, in one line.
pub fn as_defined(preset: &PresetRun) -> String {
    match (preset.changed.is_empty(), preset.left_out.is_empty()) {
        (true, true) => "run as defined".to_owned(),
        (false, _) => format!("NOT as defined: {}", preset.changed.join("; ")),
        (true, false) => "NOT as defined: jobs were left out".to_owned(),
    }
}

/// How a job was set, in one line.
pub fn job(job: &JobRun) -> String {
    let setting = |name: &str| {
        job.settings.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value.trim_matches('"'))
    };
    let size = setting("bs").trim_end_matches(":1");
    let size =
        size.parse().map_or_else(|_| format!("{size} bytes"), |bytes| flashscope_units::Bytes(bytes).to_string());
    let flags = if job.path.flags.is_empty() { String::new() } else { format!(" ({})", job.path.flags.join(", ")) };
    format!(
        "{}, {size}, {} × {} outstanding, {}{flags}, mode {}",
        setting("pattern"),
        job.workers,
        job.path.queue_depth,
        job.path.engine,
        setting("mode")
    )
}

/// How a job ended, where not as it should.
pub fn ended(job: &JobRun) -> Option<String> {
    match &job.ended {
        JobEnded::Complete => None,
        JobEnded::Stopped => Some("stopped before its end".to_owned()),
        JobEnded::BudgetSpent => Some("stopped: the write budget is used up".to_owned()),
        JobEnded::Failing => Some("given up: nothing but failures".to_owned()),
        JobEnded::DeviceLost(why) => Some(format!("ended early: {why}")),
    }
}

/// What must be known of one run of a phase, line by line: cost, stalls, steadiness, failures.
pub fn notes(run: &PhaseRun) -> Vec<String> {
    run.jobs.iter().flat_map(job_notes).collect()
}

/// Failures that are told one by one.
const FAILURES: usize = 5;

fn job_notes(job: &JobRun) -> Vec<String> {
    let mut notes: Vec<String> = job.path.fallbacks.iter().map(|note| format!("note: {note}")).collect();
    if let Some(cpu) = job.cpu.filter(|cpu| cpu.requests > 0) {
        let each = |time: Nanos| Nanos(time.get() / cpu.requests);
        let (user, system) = (each(cpu.user), each(cpu.system));
        notes.push(format!("processor: {user} in the program and {system} in the kernel per request"));
    }
    notes.extend(job.stall.map(|stall| format!("longest stall: {} at {}", stall.time, stall.from)));
    notes.extend(job.read_back.map(|(count, bytes)| format!("read back: {count} blocks ({bytes}) were right")));
    notes.extend(job.steady.map(|seen| {
        let word = if seen.steady { "steady" } else { "NOT steady" };
        format!("{word} after {} rounds", seen.rounds)
    }));
    if job.failed > 0 {
        notes.push(format!("{} requests FAILED (they count in no rate)", job.failed));
    }
    if job.mismatched > 0 {
        notes.push(format!("{} reads found OTHER BYTES than were written", job.mismatched));
    }
    for failure in job.failures.iter().take(FAILURES) {
        let found = failure.mismatch.as_ref().map_or(String::new(), |(position, expected, found)| {
            format!(": at {} expected {expected}, found {found}", position.get())
        });
        notes.push(format!(
            "  {} of {} at {}: {}{found}",
            failure.kind,
            failure.length,
            failure.offset.get(),
            failure.reason
        ));
    }
    notes.extend(ended(job).map(|said| format!("{}: {said}", job.name)));
    notes
}
