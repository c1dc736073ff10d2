//! What must be said of a result, in words.

use crate::figures::LARGE;
use flashscope_model::StopReason;
use flashscope_model::bench::{CacheVerdict, Evidence, JobRun, PhaseRun, SteadyAhead};
use flashscope_model::preset::{Figure, Judged, LimitVerdict, PresetRun, Unit};
use flashscope_units::{ByteRate, Bytes, Iops, Nanos};

/// Whether the device or a cache served the requests.
pub fn whose(verdict: CacheVerdict) -> &'static str {
    match verdict {
        CacheVerdict::Device => "device",
        CacheVerdict::Mixed => "partly the PAGE CACHE",
        CacheVerdict::Cache => "MEMORY, no device",
        CacheVerdict::Unknown => "cannot tell",
    }
}

/// The same of one run, as a sentence with its reason.
pub fn cached(evidence: &Evidence) -> String {
    let said = match evidence.verdict {
        CacheVerdict::Device => "not cached",
        CacheVerdict::Mixed => "PARTLY CACHED",
        CacheVerdict::Cache => "CACHED",
        CacheVerdict::Unknown => "cached or not: cannot tell",
    };
    format!("{said}: {}", evidence.why)
}

/// What served all figures of a preset but transactions, of which nobody counts it; `None` where they differ in that.
pub fn served_by(preset: &PresetRun) -> Option<CacheVerdict> {
    let of_jobs = preset.figures.iter().filter(|figure| figure.unit != Unit::TransactionsPerSecond);
    let mut verdicts = of_jobs.map(|figure| figure.whose);
    let first = verdicts.next()??;
    verdicts.all(|verdict| verdict == Some(first)).then_some(first)
}

/// What a preset comes to, in one sentence: which limits are met and missed, or the fastest and the slowest figure where it sets
/// none.
pub fn conclusion(preset: &PresetRun) -> Option<String> {
    let judged: Vec<(&Figure, &Judged)> =
        preset.figures.iter().flat_map(|figure| figure.limits.iter().map(move |limit| (figure, limit))).collect();
    let mut names: Vec<&str> = Vec::new();
    for name in judged.iter().flat_map(|(_, limit)| limit.name.split(", ")) {
        names.extend((!names.contains(&name)).then_some(name));
    }
    if names.is_empty() {
        return fastest_and_slowest(preset);
    }
    let of = |name: &str, wanted: LimitVerdict| {
        judged.iter().find(|(_, limit)| limit.verdict == wanted && limit.name.split(", ").any(|other| other == name))
    };
    let (mut met, mut open) = (Vec::new(), Vec::new());
    // Limits that one figure misses are said together, with the least that it is short of.
    let mut missed: Vec<(&Figure, &Judged, Vec<&str>)> = Vec::new();
    for name in names {
        match (of(name, LimitVerdict::Missed), of(name, LimitVerdict::CannotTell)) {
            (Some((found, limit)), _) => match missed.iter_mut().find(|(other, ..)| std::ptr::eq(*other, *found)) {
                Some((.., more)) => more.push(name),
                None => missed.push((found, limit, vec![name])),
            },
            (None, Some(_)) => open.push(name),
            (None, None) => met.push(name),
        }
    }
    let any = judged.iter().any(|(_, limit)| limit.verdict == LimitVerdict::Met);
    let first = match (met.is_empty(), any) {
        (false, _) => format!("meets {}", met.join(", ")),
        (true, true) => "meets no limit in all its figures".to_owned(),
        (true, false) => "meets no limit".to_owned(),
    };
    let misses = missed.into_iter().map(|(found, limit, names)| {
        let value = found.value.map_or("–".to_owned(), |value| figure(value, found.unit));
        let than = if limit.at_least { "at least" } else { "at most" };
        let asked = figure(limit.limit, found.unit);
        format!("misses {} ({} {value}, not {than} {asked})", names.join(", "), found.name)
    });
    let open = (!open.is_empty()).then(|| format!("cannot tell {}", open.join(", ")));
    Some(format!("verdict: {}", std::iter::once(first).chain(misses).chain(open).collect::<Vec<_>>().join("; ")))
}

fn fastest_and_slowest(preset: &PresetRun) -> Option<String> {
    let unit = preset.figures.first()?.unit;
    let mut found: Vec<(f64, &str)> = preset
        .figures
        .iter()
        .filter(|figure| figure.unit == unit)
        .filter_map(|figure| Some((figure.value?, figure.name.as_str())))
        .collect();
    found.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (least, most) = (found.first()?, found.last()?);
    let told = |(value, name): &(f64, &str)| format!("{name}, {}", figure(*value, unit));
    let (low, high) = match unit {
        Unit::Nanoseconds => ("shortest", "longest"),
        _ => ("slowest", "fastest"),
    };
    Some(match found.len() {
        1 => format!("verdict: {}", told(most)),
        _ => format!("verdict: {high} {}; {low} {}", told(most), told(least)),
    })
}

/// Whether the rate of a job changed while it ran, and what it came to.
pub fn trend(job: &JobRun) -> Option<String> {
    let run = job.long_run?;
    let rate = |rate: f64| ByteRate(rate).to_string();
    let interval = format!("{} to {}", rate(run.low), rate(run.high));
    Some(match (run.first, run.settled) {
        (Some(first), settled) => {
            let then = if settled { "then" } else { "still changing at the end, lately" };
            let (before, bytes) = (rate(first.bytes_per_s), first.bytes);
            format!(
                "TREND: {before} for the first {} ({bytes}), {then} {} (95 % interval {interval})",
                first.time,
                rate(run.bytes_per_s)
            )
        }
        (None, false) => format!("TREND: the rate was still changing at the end ({interval})"),
        (None, true) => format!("no trend: {} in the long run (95 % interval {interval})", rate(run.bytes_per_s)),
    })
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
        Unit::TransactionsPerSecond if value >= 99.5 => format!("{value:.0} TPS"),
        Unit::TransactionsPerSecond => format!("{value:.1} TPS"),
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
    let jobs = if job.workers == 1 { "1 job".to_owned() } else { format!("{} jobs", job.workers) };
    format!(
        "{}, {size}, {jobs}, QD{}, {}{flags}, mode {}",
        setting("pattern"),
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

/// The steady rate that is to come; of small requests in requests, as people count them.
fn would_be(job: &JobRun, ahead: SteadyAhead) -> String {
    let each = job.write.as_ref().map_or(Bytes::ZERO, |moved| moved.bytes / moved.requests.max(1));
    let rate = |bytes_per_s: f64| match each < LARGE && each > Bytes::ZERO {
        true => Iops(bytes_per_s / each.as_f64()).to_string(),
        false => ByteRate(bytes_per_s).to_string(),
    };
    let (middle, low, high) = (rate(ahead.bytes_per_s), rate(ahead.low), rate(ahead.high));
    format!("would be steady at about {middle} ({low} to {high}); {} rounds more would show it", ahead.rounds)
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
    notes.extend(trend(job).map(|trend| format!("{whose}{trend}")));
    let gap = |time, from| format!("{whose}longest gap between completions: {time} at {from}");
    notes.extend(job.stall.map(|stall| gap(stall.time, stall.from)));
    notes.extend(job.read_back.map(|(count, bytes)| format!("{whose}read back: {count} blocks ({bytes}) were right")));
    notes.extend(job.steady.map(|seen| {
        let word = if seen.steady { "steady" } else { "NOT steady" };
        let ahead = seen.ahead.map_or_else(String::new, |ahead| format!("; {}", would_be(job, ahead)));
        format!("{whose}{word} after {} rounds{ahead}", seen.rounds)
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
    use flashscope_model::preset::Statistic;

    fn figure_of(name: &str, value: f64, limits: &[(&str, LimitVerdict)]) -> Figure {
        let judged = |(name, verdict): &(&str, LimitVerdict)| Judged {
            name: (*name).to_owned(),
            limit: 1500.0,
            at_least: true,
            verdict: *verdict,
            why: String::new(),
        };
        Figure {
            name: name.to_owned(),
            unit: Unit::PerSecond,
            values: vec![value],
            statistic: Statistic::Median,
            value: Some(value),
            interval: Some((value, value, 0.9375)),
            whose: Some(CacheVerdict::Device),
            device_share: None,
            limits: limits.iter().map(judged).collect(),
        }
    }

    fn preset(figures: Vec<Figure>) -> PresetRun {
        let (name, title, source, definition) = Default::default();
        PresetRun {
            name,
            title,
            source,
            changed: Vec::new(),
            left_out: Vec::new(),
            notes: Vec::new(),
            figures,
            rounds: None,
            bounds: Vec::new(),
            played: None,
            definition,
        }
    }

    #[test]
    fn a_preset_ends_in_one_sentence() {
        let check = |figures: &[Figure], expected: &str| {
            assert_eq!(conclusion(&preset(figures.to_vec())).as_deref(), Some(expected));
        };
        let (met, missed, open) = (LimitVerdict::Met, LimitVerdict::Missed, LimitVerdict::CannotTell);
        check(&[figure_of("reads", 1600.0, &[("A1, A2", met)])], "verdict: meets A1, A2");
        let two = [figure_of("reads", 1600.0, &[("A1, A2", met)]), figure_of("writes", 523.0, &[("A2", missed)])];
        check(&two, "verdict: meets A1; misses A2 (writes 523 IOPS, not at least 1500 IOPS)");
        check(&[figure_of("reads", 1600.0, &[("A1", open)])], "verdict: meets no limit; cannot tell A1");
        let one =
            [figure_of("reads", 1600.0, &[("A1", met)]), figure_of("writes", 47.9, &[("A1", missed), ("A2", missed)])];
        let said = "meets no limit in all its figures; misses A1, A2 (writes 47.9 IOPS, not at least 1500 IOPS)";
        check(&one, &format!("verdict: {said}"));
        let none = [figure_of("a", 10.0, &[]), figure_of("b", 300.0, &[])];
        check(&none, "verdict: fastest b, 300 IOPS; slowest a, 10.0 IOPS");
    }

    #[test]
    fn reads_and_writes_stand_side_by_side_where_each_has_its_counterpart() {
        let names = ["SEQ1M Q8T1 read", "RND4K Q1T1 read", "RND4K Q1T1 read IOPS"];
        let mut figures: Vec<Figure> = names.iter().map(|name| figure_of(name, 100.0, &[])).collect();
        assert!(crate::bench::side_by_side(&preset(figures.clone())).is_none());
        figures.extend(names.iter().map(|name| figure_of(&name.replace("read", "write"), 200.0, &[])));
        let table = crate::bench::side_by_side(&preset(figures)).expect("each has its counterpart");
        assert_eq!(table.columns, ["test", "read", "write", "read IOPS", "write IOPS"]);
        let row: Vec<String> = table.rows[0].iter().map(ToString::to_string).collect();
        assert_eq!(row, ["SEQ1M Q8T1", "100 IOPS", "200 IOPS", "–", "–"]);
    }

    #[test]
    fn the_level_and_the_device_are_said_once() {
        let table =
            crate::bench::preset_table(&preset(vec![figure_of("a", 5.0, &[]), figure_of("b", 5.07, &[])]), false);
        assert_eq!(table.columns[4..], ["93.8 % interval"]);
        assert_eq!(table.rows[1][4].to_string(), "within 5.07 IOPS");
        let mut mixed = preset(vec![figure_of("a", 5.0, &[]), figure_of("b", 5.0, &[])]);
        mixed.figures[1].whose = Some(CacheVerdict::Cache);
        assert_eq!(crate::bench::preset_table(&mixed, false).columns[5], "device or cache?");
    }

    #[test]
    fn sizes_are_told_with_their_units() {
        assert_eq!(sizes("4096:1"), "4 KiB");
        assert_eq!(sizes("4096:3,65536:1"), "4 KiB:3 64 KiB:1");
        let range: Vec<String> = (1..=16).map(|times| format!("{}:1", times * 4096)).collect();
        assert_eq!(sizes(&range.join(",")), "16 sizes of 4 KiB to 64 KiB");
        assert_eq!(sizes("odd"), "odd bytes");
    }
}
