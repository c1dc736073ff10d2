//! What came of it, for people.

use flashscope_model::bench::{BenchRecord, CacheVerdict, Evidence, JobEnded, JobRun, Moved, PhaseRun, Times};
use flashscope_units::Nanos;
use std::fmt::Write;

/// A table per phase: one line per job, run and direction, then what must be known of it.
pub(super) fn text(record: &BenchRecord) -> String {
    let mut text = String::new();
    let name = record.device.as_ref().map_or(record.target.as_str(), |device| device.name.as_str());
    let time = if record.virtual_time { "   virtual time" } else { "" };
    let _ = writeln!(text, "{name}   {}{time}", record.target);
    for phase in &record.phases {
        let Some(first) = phase.runs.first() else { continue };
        let _ = writeln!(
            text,
            "\n{:<18} {:>6} {:>11} {:>11}  {:>9} {:>9} {:>9} {:>9} {:>9}  what",
            "job", "", "MB/s", "IOPS", "mean", "p50", "p99", "p99.9", "max"
        );
        for run in &phase.runs {
            run.jobs.iter().for_each(|job| job_lines(&mut text, job));
        }
        for summary in &phase.summary {
            if !summary.figure.ends_with("_bytes_per_s") {
                continue;
            }
            let direction = summary.figure.trim_end_matches("_bytes_per_s");
            let (name, count) = (&summary.job, summary.values.len());
            let median = summary.median / 1e6;
            let _ = match summary.interval {
                Some((low, high, confidence)) => writeln!(
                    text,
                    "  {name}, {direction}: median of {count} runs {median:.2} MB/s, {:.1} % interval {:.2} to {:.2}",
                    confidence * 100.0,
                    low / 1e6,
                    high / 1e6
                ),
                None => writeln!(
                    text,
                    "  {name}, {direction}: median of {count} runs {median:.2} MB/s; too few for an interval"
                ),
            };
        }
        first.jobs.iter().for_each(|job| job_notes(&mut text, job));
        phase.runs.iter().for_each(|run| run_notes(&mut text, run));
    }
    text
}

fn job_lines(text: &mut String, job: &JobRun) {
    let mut name = job.name.as_str();
    for (direction, moved) in [("read", &job.read), ("write", &job.write)] {
        let Some(moved) = moved else { continue };
        line(text, name, direction, Some(moved), &moved.service, "service");
        name = "";
        for (times, what) in [(&moved.queue, "queue"), (&moved.response, "response")] {
            if let Some(times) = times {
                line(text, "", "", None, times, what);
            }
        }
    }
    if let Some(times) = &job.flush {
        line(text, name, "flush", None, times, "service");
    }
}

fn line(text: &mut String, name: &str, direction: &str, moved: Option<&Moved>, times: &Times, what: &str) {
    let rate = |pick: fn(&Moved) -> f64| moved.map_or_else(String::new, |moved| format!("{:.2}", pick(moved)));
    let at = |of: f64| {
        times
            .percentiles
            .iter()
            .find(|(other, _)| *other == of)
            .map_or_else(|| "–".to_owned(), |(_, time)| time.to_string())
    };
    let _ = writeln!(
        text,
        "{name:<18} {direction:>6} {:>11} {:>11}  {:>9} {:>9} {:>9} {:>9} {:>9}  {what}",
        rate(|moved| moved.bytes_per_s / 1e6),
        rate(|moved| moved.requests_per_s),
        Nanos(times.mean as u64).to_string(),
        at(0.5),
        at(0.99),
        at(0.999),
        times.max.to_string(),
    );
}

fn job_notes(text: &mut String, job: &JobRun) {
    let setting = |name: &str| {
        job.settings.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value.trim_matches('"'))
    };
    let depth = format!("{} × {} outstanding", job.workers, job.path.queue_depth);
    let flags = match &job.path.flags[..] {
        [] => String::new(),
        flags => format!(" ({})", flags.join(", ")),
    };
    let _ = writeln!(
        text,
        "  {}: {} of {} bytes, {depth}, {}{flags}, mode {}",
        job.name,
        setting("pattern"),
        setting("bs").trim_end_matches(":1"),
        job.path.engine,
        setting("mode"),
    );
    for note in &job.path.fallbacks {
        let _ = writeln!(text, "  note: {note}");
    }
}

fn run_notes(text: &mut String, run: &PhaseRun) {
    for job in &run.jobs {
        if let (Some(cpu), true) = (job.cpu, job.cpu.is_some_and(|cpu| cpu.requests > 0)) {
            let each = |time: Nanos| Nanos(time.get() / cpu.requests);
            let _ = writeln!(
                text,
                "  processor: {} in the program and {} in the kernel per request",
                each(cpu.user),
                each(cpu.system)
            );
        }
        if let Some(stall) = job.stall {
            let _ = writeln!(text, "  longest stall: {} at {}", stall.time, stall.from);
        }
        if let Some((count, bytes)) = job.read_back {
            let _ = writeln!(text, "  read back: {count} blocks ({bytes}) were right");
        }
        if let Some(seen) = job.steady {
            let word = if seen.steady { "steady" } else { "NOT steady" };
            let _ = writeln!(text, "  {word} after {} rounds", seen.rounds);
        }
        trouble(text, job);
    }
    evidence(text, &run.evidence);
}

fn trouble(text: &mut String, job: &JobRun) {
    if job.failed > 0 {
        let _ = writeln!(text, "  {} requests FAILED (they count in no rate)", job.failed);
    }
    if job.mismatched > 0 {
        let _ = writeln!(text, "  {} reads found OTHER BYTES than were written", job.mismatched);
    }
    for failure in job.failures.iter().take(5) {
        let _ =
            write!(text, "    {} of {} at {}: {}", failure.kind, failure.length, failure.offset.get(), failure.reason);
        let _ = match &failure.mismatch {
            Some((position, expected, found)) => {
                writeln!(text, ": at {} expected {expected}, found {found}", position.get())
            }
            None => writeln!(text),
        };
    }
    let said = match &job.ended {
        JobEnded::Complete => return,
        JobEnded::Stopped => "stopped before its end".to_owned(),
        JobEnded::BudgetSpent => "stopped: the write budget is used up".to_owned(),
        JobEnded::Failing => "given up: nothing but failures".to_owned(),
        JobEnded::DeviceLost(why) => format!("ended early: {why}"),
    };
    let _ = writeln!(text, "  {}: {said}", job.name);
}

fn evidence(text: &mut String, evidence: &Evidence) {
    let verdict = match evidence.verdict {
        CacheVerdict::Device => "the device's",
        CacheVerdict::Mixed => "partly the PAGE CACHE's",
        CacheVerdict::Cache => "MEMORY's, not a device's",
        CacheVerdict::Unknown => "nobody can tell whose",
    };
    let _ = writeln!(text, "  this result is {verdict}: {}", evidence.why);
}
