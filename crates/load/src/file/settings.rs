//! A resolved job in the words of a job file, for `--dry-run` and the record.

use super::words::{MODES, pattern_text, payload_text};
use crate::job::{Arrivals, Job, JobSet, Sharing, Sizes, Spacing, Verify};
use flashscope_units::{Bytes, Nanos};

/// A job in the words of a job file, every field that says something: name and value as TOML. Read again it is the
/// same job.
pub fn settings(job: &Job) -> Vec<(&'static str, String)> {
    let mut found: Vec<(&'static str, String)> = Vec::new();
    let mut add = |name: &'static str, value: Option<String>| found.extend(value.map(|value| (name, value)));
    let quoted = |text: String| toml::Value::String(text).to_string();
    let size = |size: Bytes| size.get().to_string();
    let time = |time: Nanos| quoted(format!("{}ns", time.get()));
    let of = |sizes: &Sizes| {
        quoted(sizes.0.iter().map(|(size, weight)| format!("{}:{weight}", size.get())).collect::<Vec<_>>().join(","))
    };
    add("name", Some(quoted(job.name.clone())));
    let all = job.target.iter().chain(&job.more).map(|name| quoted(name.clone())).collect::<Vec<_>>().join(", ");
    match job.more.is_empty() {
        true => add("target", job.target.clone().map(quoted)),
        false => add("targets", Some(format!("[{all}]"))),
    }
    add("files", job.files.map(|files| files.to_string()));
    let base = match (job.mix.has_reads(), job.mix.has_writes()) {
        (true, true) => "rw",
        (true, false) => "read",
        (false, _) => "write",
    };
    add("rw", Some(quoted(if job.pattern.is_random() { format!("rand{base}") } else { base.to_owned() })));
    add("reads", (base == "rw").then(|| format!("{:?}", job.mix.reads * 100.0)));
    add("pattern", Some(quoted(pattern_text(job.pattern))));
    add("bs", Some(of(&job.read_sizes)));
    add("write_bs", (job.write_sizes != job.read_sizes).then(|| of(&job.write_sizes)));
    add("align", job.align.map(size));
    add("offset", Some(size(job.span.start)));
    add("span", job.span.length.map(size));
    add("iodepth", Some(job.queue_depth.to_string()));
    add("batch", job.batch.map(|batch| batch.to_string()));
    add("reap", job.reap.map(|reap| reap.to_string()));
    add("jobs", Some(job.workers.to_string()));
    add("parts", (job.sharing == Sharing::Parts).then(|| "true".to_owned()));
    if let Sharing::Shifted(shift) = job.sharing {
        add("shift", Some(size(shift)));
    }
    match job.arrivals {
        Arrivals::AsFastAsPossible => {}
        Arrivals::Think { time: rest, every } => {
            add("think", Some(time(rest)));
            add("think_every", Some(every.to_string()));
        }
        Arrivals::Rate { per_second, spacing } => {
            add("rate", Some(format!("{per_second:?}")));
            add("spacing", Some(quoted(if spacing == Spacing::Even { "even" } else { "poisson" }.to_owned())));
        }
    }
    add("bytes", job.stop.bytes.map(size));
    add("count", job.stop.requests.map(|count| count.to_string()));
    add("runtime", job.stop.time.map(time));
    add("steady", job.stop.steady.map(|steady| time(steady.round)));
    add("steady_rounds", job.stop.steady.map(|steady| steady.at_most.to_string()));
    add("warm_up", (job.warm_up > Nanos::ZERO).then(|| time(job.warm_up)));
    add("warm_up_count", (job.warm_up_requests > 0).then(|| job.warm_up_requests.to_string()));
    add("flush_every", job.flush.every.map(|every| every.to_string()));
    add("flush_at_end", job.flush.at_end.then(|| "true".to_owned()));
    add("payload", job.mix.has_writes().then(|| quoted(payload_text(job.payload))));
    add("verify", (job.verify == Verify::Written).then(|| "true".to_owned()));
    if let Verify::Generation(generation) = job.verify {
        add("verify_generation", Some(generation.to_string()));
    }
    add("engine", Some(quoted(job.engine.name().to_owned())));
    let mode = MODES.iter().find(|(_, mode)| *mode == job.mode).map_or("direct", |(name, _)| name);
    add("mode", Some(quoted(mode.to_owned())));
    add(
        "processors",
        job.processors.as_ref().map(|list| quoted(list.iter().map(u32::to_string).collect::<Vec<_>>().join(","))),
    );
    add("ends_all", job.ends_all.then(|| "true".to_owned()));
    add("polled", job.polled.then(|| "true".to_owned()));
    add("trace", (job.trace > 0).then(|| job.trace.to_string()));
    add("seed", Some(job.seed.to_string()));
    found
}

/// A value as people write it: a length of time in a larger unit than the record's nanoseconds.
fn legible(value: &str) -> String {
    let time = value.strip_prefix('"').and_then(|value| value.strip_suffix("ns\"")).and_then(|time| time.parse().ok());
    time.map_or_else(|| value.to_owned(), |time| format!("\"{}\"", exactly(Nanos(time))))
}

/// A length of time to the nanosecond, in the largest unit of which it is a whole number.
fn exactly(time: Nanos) -> String {
    const UNITS: [(u64, &str); 4] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
    let fits = |unit: &&(u64, &str)| time.get().is_multiple_of(unit.0);
    UNITS.iter().find(fits).map_or_else(String::new, |(unit, name)| format!("{}{name}", time.get() / unit))
}

/// A set as a job file that says everything.
pub fn to_toml(set: &JobSet) -> String {
    let mut text = String::new();
    for phase in &set.phases {
        for (index, job) in phase.jobs.iter().enumerate() {
            text.push_str("[[job]]\n");
            for (name, value) in settings(job) {
                text.push_str(&format!("{name} = {}\n", legible(&value)));
            }
            if index > 0 {
                text.push_str("beside = true\n");
            } else if phase.pause > Nanos::ZERO {
                text.push_str(&format!("pause = \"{}\"\n", exactly(phase.pause)));
            }
            text.push('\n');
        }
    }
    text
}
