//! A run of load as tables of plain numbers: one per subject in a spreadsheet, one in all as CSV.

use crate::sheet::sheet;
use crate::xlsx::{Cell, Curve, Lines, Sheet};
use flashscope_model::bench::{BenchRecord, JobRun, Moved, Times};
use flashscope_model::preset::{PresetRun, Unit};
use flashscope_view::bench::plots::period_rate;
use flashscope_view::bench::words;

/// Every job of every run, the series, the evidence, and the figures and limits of a preset; a sheet each.
pub fn sheets(record: &BenchRecord) -> Vec<Sheet> {
    let mut sheets = Vec::new();
    if let Some(preset) = &record.preset {
        sheets.push(figures(preset));
        sheets.push(limits(preset));
        sheets.push(definition(preset));
    }
    sheets.push(results(record));
    sheets.push(series(record));
    sheets.push(written(record));
    sheets.push(evidence(record));
    sheets.retain(|sheet| !sheet.rows.is_empty());
    sheets
}

/// Every job of every run as CSV: a line per direction, numbers in the unit of their column, absent figures empty.
pub fn csv(record: &BenchRecord) -> String {
    crate::sheet::csv(&results(record))
}

/// Each job of each run, with the number of its phase and run.
fn jobs(record: &BenchRecord) -> impl Iterator<Item = (u64, u64, &JobRun)> {
    (1u64..).zip(&record.phases).flat_map(|(phase, runs)| {
        (1u64..).zip(&runs.runs).flat_map(move |(number, run)| run.jobs.iter().map(move |job| (phase, number, job)))
    })
}

const RESULTS: [&str; 25] = [
    "phase",
    "run",
    "job",
    "direction",
    "count",
    "bytes",
    "elapsed_ns",
    "rate_bytes_per_s",
    "requests_per_s",
    "service_time_ns_min",
    "service_time_ns_mean",
    "service_time_ns_p50",
    "service_time_ns_p90",
    "service_time_ns_p99",
    "service_time_ns_p99_9",
    "service_time_ns_p99_99",
    "service_time_ns_p99_999",
    "service_time_ns_max",
    "response_time_ns_mean",
    "response_time_ns_p99",
    "response_time_ns_p99_9",
    "longest_stall_ns",
    "failed_count",
    "mismatched_count",
    "settings",
];

fn results(record: &BenchRecord) -> Sheet {
    let mut rows = Vec::new();
    for (phase, run, job) in jobs(record) {
        for (direction, moved) in [("read", &job.read), ("write", &job.write)] {
            if let Some(moved) = moved {
                rows.push(result(phase, run, job, direction, moved));
            }
        }
    }
    sheet("results", &RESULTS, rows)
}

fn result(phase: u64, run: u64, job: &JobRun, direction: &str, moved: &Moved) -> Vec<Cell> {
    let at = |times: &Times, of: f64| {
        times.percentiles.iter().find(|(other, _)| *other == of).map_or(Cell::Empty, |(_, time)| time.get().into())
    };
    let service = |of| at(&moved.service, of);
    let response = |of| moved.response.as_ref().map_or(Cell::Empty, |times| at(times, of));
    let some = |value: f64| if moved.requests > 0 { value.into() } else { Cell::Empty };
    let settings: Vec<String> = job.settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    vec![
        phase.into(),
        run.into(),
        job.name.as_str().into(),
        direction.into(),
        moved.requests.into(),
        moved.bytes.get().into(),
        job.elapsed.get().into(),
        moved.bytes_per_s.into(),
        moved.requests_per_s.into(),
        some(moved.service.min.as_f64()),
        some(moved.service.mean),
        service(0.5),
        service(0.9),
        service(0.99),
        service(0.999),
        service(0.9999),
        service(0.99999),
        some(moved.service.max.as_f64()),
        moved.response.as_ref().map(|times| times.mean).into(),
        response(0.99),
        response(0.999),
        job.stall.map(|stall| stall.time.get()).into(),
        job.failed.into(),
        job.mismatched.into(),
        settings.join("; ").into(),
    ]
}

fn series(record: &BenchRecord) -> Sheet {
    let headings = [
        "phase",
        "run",
        "job",
        "period_start_ns",
        "period_ns",
        "reads",
        "writes",
        "read_bytes",
        "written_bytes",
        "service_time_ns_sum",
        "service_time_ns_max",
        "rate_bytes_per_s",
    ];
    let (mut rows, mut curves) = (Vec::new(), Vec::new());
    for (phase, run, job) in jobs(record) {
        curves.extend(curve(phase, run, job, (rows.len(), job.series.periods.len()), RATE));
        for (at, period) in (0u64..).zip(&job.series.periods) {
            rows.push(vec![
                phase.into(),
                run.into(),
                job.name.as_str().into(),
                (job.series.period * at).get().into(),
                job.series.period.get().into(),
                period.reads.into(),
                period.writes.into(),
                period.read.get().into(),
                period.written.get().into(),
                period.service_sum.get().into(),
                period.service_max.get().into(),
                period_rate(period, job.series.period).into(),
            ]);
        }
    }
    // What no spreadsheet holds is in the record.
    rows.truncate(MOST_ROWS);
    let lines = lines("rate over time", (PERIOD_START, "time since the start"), "rate", curves);
    Sheet { lines, ..sheet("by time", &headings, rows) }
}

/// Columns of the sheet by time that its chart shows.
const PERIOD_START: usize = 3;
const RATE: usize = 11;
/// Columns of the sheet by bytes written that its chart shows.
const WRITTEN: usize = 4;
const WRITTEN_AT: usize = 5;
/// Lines of a chart that can be told apart.
const MOST_CURVES: usize = 12;

/// A line over so many rows from a first one; of a single row there is none.
fn curve(phase: u64, run: u64, job: &JobRun, (first, count): (usize, usize), column: usize) -> Option<Curve> {
    let last = first + count.checked_sub(1)?;
    let name = format!("{}, phase {phase}, run {run}", job.name);
    (count > 1 && last < MOST_ROWS).then_some(Curve { name, column, rows: (first, last) })
}

fn lines(title: &str, x: (usize, &str), y: &str, mut curves: Vec<Curve>) -> Option<Lines> {
    let left_out = curves.len().saturating_sub(MOST_CURVES);
    curves.truncate(MOST_CURVES);
    let title = if left_out > 0 { format!("{title} (the first {MOST_CURVES} runs)") } else { title.to_owned() };
    let lines = Lines { title, x: (x.0, x.1.to_owned()), y: y.to_owned(), logarithmic: false, curves };
    (!lines.curves.is_empty()).then_some(lines)
}

/// Rows of one sheet, its headings apart.
const MOST_ROWS: usize = 1_048_575;

fn written(record: &BenchRecord) -> Sheet {
    let (mut rows, mut curves) = (Vec::new(), Vec::new());
    for (phase, run, job) in jobs(record) {
        for (worker, written) in (1u64..).zip(&job.written) {
            curves.extend(curve(phase, run, job, (rows.len(), written.times.len()), WRITTEN));
            for (step, time) in (1u64..).zip(&written.times) {
                let bytes = (written.step * step).get();
                rows.push(vec![
                    phase.into(),
                    run.into(),
                    job.name.as_str().into(),
                    worker.into(),
                    bytes.into(),
                    time.get().into(),
                ]);
            }
        }
    }
    rows.truncate(MOST_ROWS);
    let lines = lines("bytes written over time", (WRITTEN_AT, "time since the start"), "bytes written", curves);
    Sheet { lines, ..sheet("by bytes written", &["phase", "run", "job", "worker", "written_bytes", "at_ns"], rows) }
}

fn evidence(record: &BenchRecord) -> Sheet {
    let mut rows = Vec::new();
    for (phase, runs) in (1u64..).zip(&record.phases) {
        for (number, run) in (1u64..).zip(&runs.runs) {
            let names: Vec<&str> = run.jobs.iter().map(|job| job.name.as_str()).collect();
            rows.push(vec![
                phase.into(),
                number.into(),
                names.join(", ").into(),
                words::whose(run.evidence.verdict).into(),
                run.evidence.device_share.into(),
                run.evidence.why.as_str().into(),
            ]);
        }
    }
    sheet("evidence", &["phase", "run", "jobs", "the result is", "device_share_ratio", "why"], rows)
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::BytesPerSecond => "bytes_per_s",
        Unit::PerSecond => "requests_per_s",
        Unit::TransactionsPerSecond => "transactions_per_s",
        Unit::Nanoseconds => "ns",
    }
}

fn figures(preset: &PresetRun) -> Sheet {
    let row = |figure: &flashscope_model::preset::Figure| {
        let (low, high, confidence) = figure
            .interval
            .map_or((None, None, None), |(low, high, confidence)| (Some(low), Some(high), Some(confidence)));
        let mut row: Vec<Cell> = vec![
            figure.name.as_str().into(),
            unit(figure.unit).into(),
            figure.value.into(),
            low.into(),
            high.into(),
            confidence.into(),
            figure.whose.map(words::whose).into(),
            figure.device_share.into(),
        ];
        row.extend(figure.values.iter().map(|value| Cell::from(*value)));
        row
    };
    let headings = [
        "figure",
        "unit",
        "measured",
        "interval_low",
        "interval_high",
        "confidence",
        "device or cache",
        "device_share_ratio",
        "every run, in order",
    ];
    sheet("figures", &headings, preset.figures.iter().map(row).collect())
}

fn limits(preset: &PresetRun) -> Sheet {
    let rows = preset.figures.iter().flat_map(|figure| {
        figure.limits.iter().map(|limit| {
            vec![
                figure.name.as_str().into(),
                unit(figure.unit).into(),
                figure.value.into(),
                limit.name.as_str().into(),
                if limit.at_least { "at least" } else { "at most" }.into(),
                limit.limit.into(),
                words::verdict(limit.verdict).into(),
                limit.why.as_str().into(),
            ]
        })
    });
    sheet("limits", &["figure", "unit", "measured", "limit", "asks for", "value", "verdict", "why"], rows.collect())
}

fn definition(preset: &PresetRun) -> Sheet {
    let facts = [("name", &preset.name), ("title", &preset.title), ("source", &preset.source)];
    let mut rows: Vec<Vec<Cell>> =
        facts.iter().map(|(name, value)| vec![(*name).into(), value.as_str().into()]).collect();
    rows.push(vec!["as defined".into(), words::as_defined(preset).into()]);
    rows.extend(preset.rounds.iter().map(|rounds| vec!["rounds".into(), rounds.why.as_str().into()]));
    rows.extend(preset.bounds.iter().map(|(name, value)| vec![name.as_str().into(), value.as_str().into()]));
    rows.extend(preset.notes.iter().map(|note| vec!["note".into(), note.as_str().into()]));
    sheet("what it is", &["", ""], rows)
}
