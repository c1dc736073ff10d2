//! What must be said of a result, in words.

use flashscope_model::StopReason;
use flashscope_model::bench::{CacheVerdict, JobRun, PhaseRun};
use flashscope_model::preset::{LimitVerdict, PresetRun, Unit};
use flashscope_units::{ByteRate, Bytes, Iops, Nanos};

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

/// Sizes with their weights, as settings have them (`4096:3,65536:1`).
fn sizes(text: &str) -> String {
    let one = |part: &str| {
        let (size, weight) = part.split_once(':')?;
        Some((Bytes(size.parse().ok()?), weight.to_owned()))
    };
    match text.split(',').map(one).collect::<Option<Vec<_>>>().as_deref() {
        Some([(size, _)]) => size.to_string(),
        // A range of sizes can be thousands.
        Some([(first, _), .., (last, _)]) if text.split(',').count() > 8 => {
            format!("{} sizes of {first} to {last}", text.split(',').count())
        }
        Some(several) => several.iter().map(|(size, weight)| format!("{size}:{weight}")).collect::<Vec<_>>().join(" "),
        None => format!("{text} bytes"),
    }
}

/// How a job was set, in one line.
pub fn job(job: &JobRun) -> String {
    let setting = |name: &str| {
        job.settings.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value.trim_matches('"'))
    };
    let size = sizes(setting("bs"));
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
    match &job.stop {
        StopReason::Complete => None,
        StopReason::Stopped | StopReason::Interrupted => Some("stopped before its end".to_owned()),
        StopReason::BudgetSpent => Some("stopped: the write budget is used up".to_owned()),
        StopReason::Failing => Some("given up: nothing but failures".to_owned()),
        StopReason::DeviceLost(why) => Some(format!("ended early: {why}")),
        StopReason::InternalError(what) => Some(format!("ended by a fault of flashscope itself: {what}")),
    }
}

/// What must be known of one run of a phase, line by line: cost, stalls, steadiness, failures.
pub fn notes(run: &PhaseRun) -> Vec<String> {
    let several = run.jobs.len() > 1;
    run.jobs.iter().flat_map(|job| job_notes(job, several)).collect()
}

/// Failures that are told one by one.
const FAILURES: usize = 5;

/// `several`: it ran beside others, and each line says whose it is.
fn job_notes(job: &JobRun, several: bool) -> Vec<String> {
    let whose = if several { format!("{}: ", job.name) } else { String::new() };
    let mut notes: Vec<String> = job.path.fallbacks.iter().map(|note| format!("{whose}note: {note}")).collect();
    if let Some(cpu) = job.cpu.filter(|cpu| cpu.requests > 0) {
        let each = |time: Nanos| Nanos(time.get() / cpu.requests);
        notes.push(match cpu.split {
            Some((user, system)) => {
                format!(
                    "{whose}processor: {} in the program and {} in the kernel per request",
                    each(user),
                    each(system)
                )
            }
            None => format!("{whose}processor: {} per request", each(cpu.total)),
        });
    }
    notes.extend(job.stall.map(|stall| format!("{whose}longest stall: {} at {}", stall.time, stall.from)));
    notes.extend(job.read_back.map(|(count, bytes)| format!("{whose}read back: {count} blocks ({bytes}) were right")));
    notes.extend(job.steady.map(|seen| {
        let word = if seen.steady { "steady" } else { "NOT steady" };
        format!("{whose}{word} after {} rounds", seen.rounds)
    }));
    if job.failed > 0 {
        notes.push(format!("{whose}{} requests FAILED (they count in no rate)", job.failed));
    }
    if job.mismatched > 0 {
        notes.push(format!("{whose}{} reads found OTHER BYTES than were written", job.mismatched));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_with_their_units() {
        assert_eq!(sizes("4096:1"), "4 KiB");
        assert_eq!(sizes("4096:3,65536:1"), "4 KiB:3 64 KiB:1");
        let range: Vec<String> = (1..=16).map(|times| format!("{}:1", times * 4096)).collect();
        assert_eq!(sizes(&range.join(",")), "16 sizes of 4 KiB to 64 KiB");
        assert_eq!(sizes("odd"), "odd bytes");
    }
}
