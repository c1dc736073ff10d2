//! Tables of a run of load.

use super::words;
use crate::table::{Cell, Table};
use flashscope_model::bench::{BenchPhase, JobRun, Moved, Times};
use flashscope_model::preset::{Figure, PresetRun, Statistic};
use flashscope_units::{ByteRate, Contrast, Iops, Nanos};

/// Rates and times of every run: a row per job and direction, and further rows for what else was timed.
pub fn results(phase: &BenchPhase) -> Table {
    let several = phase.runs.len() > 1;
    let heads = ["job", "run", "", "rate", "IOPS", "mean", "p50", "p99", "p99.9", "longest", "time of"];
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
        Cell::Text(what.to_owned()),
    ]
}

/// Medians and intervals over the runs of a phase, a row per job and figure; no rows for a single run.
pub fn summary(phase: &BenchPhase) -> Table {
    let cell = |figure: &str, value: f64| match figure {
        _ if figure.ends_with("_bytes_per_s") => Cell::Rate(ByteRate(value)),
        _ if figure.contains("_ns") => Cell::Contrast(Contrast(value)),
        _ => Cell::Iops(Iops(value)),
    };
    let rows = phase.summary.iter().map(|summary| {
        let of = |value| cell(&summary.figure, value);
        let confidence = |share: f64| Cell::Text(format!("{:.1} %", share * 100.0));
        let (low, high, sure) = match summary.interval {
            Some((low, high, share)) => (of(low), of(high), confidence(share)),
            None => (Cell::Absent, Cell::Absent, Cell::Text("too few runs".to_owned())),
        };
        let direction = if summary.figure.starts_with("read_") { "read" } else { "write" };
        let what = match summary.figure.trim_start_matches("read_").trim_start_matches("write_") {
            "bytes_per_s" => "rate",
            "requests_per_s" => "IOPS",
            _ => "p99",
        };
        vec![
            Cell::Text(summary.job.clone()),
            Cell::Text(format!("{direction} {what}")),
            Cell::Count(summary.values.len() as u64),
            of(summary.median),
            low,
            high,
            sure,
        ]
    });
    Table {
        caption: "median over all runs, and where the median of all such runs lies".to_owned(),
        columns: ["job", "figure", "runs", "median", "from", "to", "confidence"].map(str::to_owned).into(),
        rows: rows.collect(),
    }
}

/// The figures of a preset with their intervals, and whose they are; `simulated`: on a device that is no matter of shares.
pub fn preset_table(preset: &PresetRun, simulated: bool) -> Table {
    // Of rounds a window counts: the steady one, or else the last.
    let window = preset.rounds.as_ref().filter(|rounds| rounds.run >= 5).map(|rounds| match rounds.steady_at {
        Some(_) => "of the steady rounds",
        None => "NOT steady: of the last rounds",
    });
    let row = |figure: &Figure| {
        let shown = |value: f64| words::figure(value, figure.unit);
        let text = |text: String| Cell::Text(text);
        let interval = match (figure.interval, figure.statistic) {
            (Some((low, high, share)), _) => format!("{} to {} ({:.1} %)", shown(low), shown(high), share * 100.0),
            (None, _) => window.unwrap_or("–").to_owned(),
        };
        let statistic = match figure.statistic {
            Statistic::Median => "median",
            Statistic::Mean => "mean",
            Statistic::Smallest => "smallest",
            Statistic::Largest => "largest",
        };
        vec![
            text(figure.name.clone()),
            text(figure.value.map_or("–".to_owned(), shown)),
            text(statistic.to_owned()),
            match window {
                Some(_) => text(format!("5 of {}", figure.values.len())),
                None => Cell::Count(figure.values.len() as u64),
            },
            text(interval),
            text(figure.whose.map_or("–".to_owned(), |verdict| match figure.device_share {
                Some(share) if !simulated => format!("{} ({:.0} % moved by it)", words::whose(verdict), share * 100.0),
                _ => words::whose(verdict).to_owned(),
            })),
        ]
    };
    Table {
        caption: words::as_defined(preset),
        columns: ["figure", "measured", "statistic", "runs", "interval of the median", "whose figure it is"]
            .map(str::to_owned)
            .into(),
        rows: preset.figures.iter().map(row).collect(),
    }
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
