//! What bounds a figure besides the device: how it is attached, who asked it, and through what.

use flashscope_model::bench::{BenchRecord, CacheVerdict, JobRun};

/// Conditions of the host that bound figures, under the names that people know.
const CONDITIONS: [(&str, &str); 9] = [
    ("bus_mode", "bus mode"),
    ("command_queue", "command queue"),
    ("write_cache", "write cache"),
    ("max_sectors_kb", "largest request, KiB"),
    ("scheduler", "scheduler"),
    ("read_ahead_kb", "read-ahead, KiB"),
    ("governor", "governor"),
    ("processors", "processors"),
    ("filesystem", "file system"),
];

/// The facts, each a name and a value; what is not known is said to be so where a limit depends on it.
pub(crate) fn of(record: &BenchRecord) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut add = |name: &str, value: String| {
        let fact = (name.to_owned(), value);
        if !facts.contains(&fact) {
            facts.push(fact);
        }
    };
    match &record.envelope.host {
        Some(host) => {
            let find = |key: &str| record.envelope.conditions.find(key).map(str::to_owned);
            for (at, (key, name)) in CONDITIONS.iter().enumerate() {
                match find(key) {
                    Some(value) => add(name, value),
                    None if at < 3 => add(name, "not known".to_owned()),
                    None => {}
                }
            }
            add("kernel", host.kernel.clone());
        }
        None => add("host", "none: virtual time, no bus, no processor and no page cache in between".to_owned()),
    }
    let jobs = || record.phases.iter().flat_map(|phase| &phase.runs).flat_map(|run| &run.jobs);
    if let Some(depth) = jobs().filter_map(outstanding).max() {
        add("requests outstanding", format!("up to {depth}"));
    }
    if let (true, Some(depth)) = (record.envelope.virtual_time, jobs().map(|job| job.path.queue_depth).max()) {
        add("queue of the device", depth.to_string());
    }
    let mut engines: Vec<String> = jobs().map(|job| job.path.engine.clone()).collect();
    engines.sort();
    engines.dedup();
    add("engine", engines.join(", "));
    for fallback in jobs().flat_map(|job| &job.path.fallbacks) {
        add("not as asked", fallback.clone());
    }
    for user in jobs().flat_map(|job| &job.path.in_use) {
        add("in use by", user.clone());
    }
    add("page cache", cache(record));
    facts
}

/// Requests that a job had outstanding in all.
fn outstanding(job: &JobRun) -> Option<u64> {
    let setting = |name: &str| job.settings.iter().find(|(other, _)| other == name)?.1.parse::<u64>().ok();
    Some(setting("iodepth")? * u64::from(job.workers))
}

/// What the evidence of all phases comes to.
fn cache(record: &BenchRecord) -> String {
    let runs = || record.phases.iter().flat_map(|phase| &phase.runs);
    let count = |verdict| runs().filter(|run| run.evidence.verdict == verdict).count();
    let words = [
        (CacheVerdict::Device, "not cached"),
        (CacheVerdict::Mixed, "partly cached"),
        (CacheVerdict::Cache, "cached"),
        (CacheVerdict::Unknown, "with nothing to tell"),
    ];
    let all = words.iter().map(|(verdict, words)| (count(*verdict), words)).filter(|(count, _)| *count > 0);
    let all: Vec<String> = all.map(|(count, words)| format!("{count} results {words}")).collect();
    all.join(", ")
}
