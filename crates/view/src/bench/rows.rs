//! Tables of a run of load.

use super::words;
use crate::table::{Cell, Table};
use flashscope_model::bench::{BenchPhase, JobRun, Moved, Times};
use flashscope_model::preset::{Figure, PresetRun, Statistic, Unit};
use flashscope_units::{ByteRate, Contrast, Iops, Nanos};

/// Rates and times of every run: a row per job and direction, and further rows for what else was timed.
pub fn results(phase: &BenchPhase) -> Table {
    let several = phase.runs.len() > 1;
    let heads = ["job", "run", "", "rate", "IOPS", "mean", "p50", "p99", "p99.9", "longest", "latency"];
    let keep = |at: usize| several || at != 1;
    let mut rows = Vec::new();
    for (number, run) in (1u64..).zip(&phase.runs) {
        for job in &run.jobs {
            rows.extend(job_rows(job, number));
        }
    }
    let pick = |row: Vec<Cell>| row.into_iter().enumerate().filter(|(at, _)| keep(*at)).map(|(_, cell)| cell).collect();
    Table {
        caption: String::new(),
        columns: heads.iter().enumerate().filter(|(at, _)| keep(*at)).map(|(_, head)| (*head).to_owned()).collect(),
        rows: rows.into_iter().map(pick).collect(),
    }
}

fn job_rows(job: &JobRun, number: u64) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    let mut name = job.name.clone();
    for (direction, moved) in [("read", &job.read), ("write", &job.write)] {
        let Some(moved) = moved else { continue };
        rows.push(row(&mut name, number, direction, Some(moved), &moved.service, "service"));
        for (times, what) in [(&moved.queue, "queue"), (&moved.response, "response")] {
            rows.extend(times.as_ref().map(|times| row(&mut String::new(), number, direction, None, times, what)));
        }
    }
    rows.extend(job.flush.as_ref().map(|times| row(&mut name, number, "flush", None, times, "service")));
    rows
}

fn row(name: &mut String, number: u64, direction: &str, moved: Option<&Moved>, times: &Times, what: &str) -> Vec<Cell> {
    let at = |of: f64| {
        let found = times.percentiles.iter().find(|(other, _)| *other == of);
        found.map_or(Cell::Absent, |(_, time)| Cell::Time(*time))
    };
    let some = |time: Cell| if times.count > 0 { time } else { Cell::Absent };
    vec![
        Cell::Text(std::mem::take(name)),
        Cell::Count(number),
        Cell::Text(direction.to_owned()),
        moved.map_or(Cell::Absent, |moved| Cell::Rate(ByteRate(moved.bytes_per_s))),
        moved.map_or(Cell::Absent, |moved| Cell::Iops(Iops(moved.requests_per_s))),
        some(Cell::Time(Nanos(times.mean as u64))),
        at(0.5),
        at(0.99),
        at(0.999),
        some(Cell::Time(times.max)),
        Cell::Text(format!("{what} time")),
    ]
}

/// Medians and intervals over the runs of a phase, a row per job and figure; no rows for a single run.
pub fn summary(phase: &BenchPhase) -> Table {
    let cell = |figure: &str, value: f64| match figure {
        _ if figure.ends_with("_bytes_per_s") => Cell::Rate(ByteRate(value)),
        _ if figure.contains("_ns") => Cell::Contrast(Contrast(value)),
        _ => Cell::Iops(Iops(value)),
    };
    let level = level(phase.summary.iter().filter_map(|summary| summary.interval));
    let rows = phase.summary.iter().map(|summary| {
        let of = |value| cell(&summary.figure, value);
        let (low, high, sure) = match summary.interval {
            Some((low, high, share)) => (of(low), of(high), Cell::Text(percent(share))),
            None => (Cell::Absent, Cell::Absent, Cell::Text("too few runs".to_owned())),
        };
        let direction = if summary.figure.starts_with("read_") { "read" } else { "write" };
        let what = match summary.figure.trim_start_matches("read_").trim_start_matches("write_") {
            "bytes_per_s" => "rate",
            "requests_per_s" => "IOPS",
            _ => "p99",
        };
        let mut row = vec![
            Cell::Text(summary.job.clone()),
            Cell::Text(format!("{direction} {what}")),
            Cell::Count(summary.values.len() as u64),
            of(summary.median),
            low,
            high,
        ];
        row.extend(level.is_none().then_some(sure));
        row
    });
    let heads = ["job", "figure", "runs", "median", "from", "to", "confidence"];
    Table {
        caption: match &level {
            Some(level) => format!("median over all runs, and its {level} interval"),
            None => "median over all runs, and the interval of it".to_owned(),
        },
        columns: heads[..if level.is_some() { 6 } else { 7 }].iter().map(|head| (*head).to_owned()).collect(),
        rows: rows.collect(),
    }
}

/// The level of all these intervals, where it is one and the same.
fn level(intervals: impl Iterator<Item = (f64, f64, f64)>) -> Option<String> {
    let mut levels = intervals.map(|(.., share)| percent(share));
    let first = levels.next()?;
    levels.all(|level| level == first).then_some(first)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The figures of a preset with their intervals; whether the device or a cache served them stands in the table where they
/// differ in that, and else is said once ([`words::cached`]). `simulated`: on a device that is no matter of shares.
pub fn preset_table(preset: &PresetRun, simulated: bool) -> Table {
    // Of rounds a window counts: the steady one, or else the last.
    let window = preset.rounds.as_ref().filter(|rounds| rounds.run >= 5).map(|rounds| match rounds.steady_at {
        Some(_) => "of the steady rounds",
        None => "NOT steady: of the last rounds",
    });
    let level = level(preset.figures.iter().filter_map(|figure| figure.interval));
    let mixed = words::served_by(preset).is_none();
    let row = |figure: &Figure| {
        let shown = |value: f64| words::figure(value, figure.unit);
        let text = |text: String| Cell::Text(text);
        let interval = match figure.interval {
            Some((low, high, _)) if level.is_some() => between(figure, low, high),
            Some((low, high, share)) => format!("{} ({})", between(figure, low, high), percent(share)),
            None => window.unwrap_or("–").to_owned(),
        };
        let statistic = match figure.statistic {
            Statistic::Median => "median",
            Statistic::Mean => "mean",
            Statistic::Smallest => "smallest",
            Statistic::Largest => "largest",
        };
        let mut row = vec![
            text(figure.name.clone()),
            text(figure.value.map_or("–".to_owned(), shown)),
            text(statistic.to_owned()),
            match window {
                Some(_) => text(format!("5 of {}", figure.values.len())),
                None => Cell::Count(figure.values.len() as u64),
            },
            text(interval),
        ];
        let served = figure.whose.map_or("–".to_owned(), |verdict| match figure.device_share {
            Some(share) if !simulated => format!("{} ({:.0} % served by it)", words::whose(verdict), share * 100.0),
            _ => words::whose(verdict).to_owned(),
        });
        row.extend(mixed.then(|| text(served)));
        row
    };
    let interval = level.as_ref().map_or("interval".to_owned(), |level| format!("{level} interval"));
    let heads = ["figure", "measured", "statistic", "runs", interval.as_str(), "device or cache?"];
    Table {
        caption: words::as_defined(preset),
        columns: heads[..if mixed { 6 } else { 5 }].iter().map(|head| (*head).to_owned()).collect(),
        rows: preset.figures.iter().map(row).collect(),
    }
}

/// An interval as words; one that is narrower than what is printed of it says so, rather than two times the same.
fn between(figure: &Figure, low: f64, high: f64) -> String {
    let [low, high] = [low, high].map(|value| words::figure(value, figure.unit));
    if low == high { format!("within {low}") } else { format!("{low} to {high}") }
}

/// The figures of a preset with reads and writes side by side, where each has its counterpart (`SEQ1M Q8T1 read` and `SEQ1M Q8T1
/// write`); `None` of others.
pub fn side_by_side(preset: &PresetRun) -> Option<Table> {
    let parts = |figure: &Figure| {
        let (head, tail) = figure.name.split_once(" read").or_else(|| figure.name.split_once(" write"))?;
        Some((head.to_owned(), tail.trim().to_owned()))
    };
    let mut tests: Vec<(String, String)> = Vec::new();
    for figure in preset.figures.iter().filter(|figure| figure.unit != Unit::TransactionsPerSecond) {
        let part = parts(figure)?;
        if !tests.contains(&part) {
            tests.push(part);
        }
    }
    let find = |(head, tail): &(String, String), word: &str| {
        preset.figures.iter().find(|figure| figure.name == format!("{head} {word} {tail}").trim_end())
    };
    if tests.is_empty() || !tests.iter().all(|test| find(test, "read").is_some() && find(test, "write").is_some()) {
        return None;
    }
    let mut rows: Vec<&str> = Vec::new();
    let mut kinds: Vec<&str> = Vec::new();
    for (head, tail) in &tests {
        rows.extend((!rows.contains(&head.as_str())).then_some(head.as_str()));
        kinds.extend((!kinds.contains(&tail.as_str())).then_some(tail.as_str()));
    }
    let shown = |figure: Option<&Figure>| {
        let Some(figure) = figure else { return Cell::Absent };
        figure.value.map_or(Cell::Absent, |value| Cell::Text(words::figure(value, figure.unit)))
    };
    let columns =
        kinds.iter().flat_map(|kind| ["read", "write"].map(|word| format!("{word} {kind}").trim_end().to_owned()));
    let cells = |head: &str| {
        let each =
            kinds.iter().flat_map(|kind| ["read", "write"].map(|word| (word, (head.to_owned(), (*kind).to_owned()))));
        std::iter::once(Cell::Text(head.to_owned())).chain(each.map(|(word, test)| shown(find(&test, word)))).collect()
    };
    Some(Table {
        caption: String::new(),
        columns: std::iter::once("test".to_owned()).chain(columns).collect(),
        rows: rows.into_iter().map(cells).collect(),
    })
}

/// The limits of a preset: figure, limit, verdict and why; no rows where it has none.
pub fn limits(preset: &PresetRun) -> Table {
    let rows = preset.figures.iter().flat_map(|figure| {
        figure.limits.iter().map(|limit| {
            let sign = if limit.at_least { "≥" } else { "≤" };
            vec![
                Cell::Text(figure.name.clone()),
                Cell::Text(figure.value.map_or("–".to_owned(), |value| words::figure(value, figure.unit))),
                Cell::Text(limit.name.clone()),
                Cell::Text(format!("{sign} {}", words::figure(limit.limit, figure.unit))),
                Cell::Text(words::verdict(limit.verdict).to_owned()),
                Cell::Text(limit.why.clone()),
            ]
        })
    });
    Table {
        caption: String::new(),
        columns: ["figure", "measured", "limit", "asks for", "verdict", "why"].map(str::to_owned).into(),
        rows: rows.collect(),
    }
}
