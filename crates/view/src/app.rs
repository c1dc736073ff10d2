//! Applications in words and tables: how long each took, what users wait for in it, and how much of that was the device's.

mod given;

use crate::answer;
use crate::table::{Cell, Table};
use flashscope_model::app::{AppFigures, AppRecord, SCORE_TIMES, Spread, Underruns};
use flashscope_units::Nanos;

/// A share of flashscope's own time that is worth a word: what is aimed at.
const OWN: f64 = 0.02;
/// The case that fills the file system: its apps are not those of the score.
const FULL: &str = "full";
/// Failures, and runs that ended early, that are told one by one.
const TOLD: usize = 5;

/// What was played where.
pub fn title(record: &AppRecord) -> String {
    let what = match (&record.plan.suite, &record.plan.apps[..]) {
        (Some(suite), _) => format!("Suite {suite}"),
        (None, [app]) => app.title.clone(),
        (None, _) => "Apps".to_owned(),
    };
    let place = &record.place;
    let below = match (&place.file_system, &place.device) {
        (Some(kind), Some(device)) => format!(" ({kind} on {device})"),
        (Some(kind), None) => format!(" ({kind})"),
        _ => String::new(),
    };
    let lies = if place.directory.is_some() { "in" } else { "on" };
    format!("{what}, {lies} {}{below}", record.envelope.target)
}

/// The lines of the first glance, each a name and what it says.
pub fn glance(record: &AppRecord) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for (number, case) in (1_u32..).zip(&record.plan.sequence) {
        let figures: Vec<&AppFigures> = record.figures.iter().filter(|figures| figures.place == number).collect();
        let Some(total) = total(&figures) else { continue };
        let case = if record.plan.sequence.len() > 1 { format!("{case}: ") } else { String::new() };
        let many = if figures.len() > 1 { " for all apps" } else { "" };
        lines.push(("run time", format!("{case}{}{many}", spread(&total))));
        if record.plan.suite.is_some() && figures[0].case != FULL {
            let score = total.mean.as_secs_f64() * SCORE_TIMES;
            lines.push((
                "score",
                format!("{case}{score:.1}: the total in s × {SCORE_TIMES}, as eBench's; lower is better"),
            ));
        }
    }
    let figures: Vec<&AppFigures> = record.figures.iter().collect();
    if let Some(share) = share_of(&figures, |figures| figures.device_share) {
        lines.push(("device", format!("had requests outstanding for {} of the run time", answer::percent(share))));
    } else if record.place.device.is_none() {
        lines.push(("device", "none: the file system is in memory, or hides its device".to_owned()));
    }
    if let Some(share) = share_of(&figures, |figures| figures.own_share).filter(|share| *share > OWN) {
        lines.push(("own time", format!("{} of the run time was flashscope's: not counted", answer::percent(share))));
    }
    let underruns = figures.iter().flat_map(|figures| &figures.operations).filter_map(|operation| operation.underruns);
    let late: Vec<Underruns> = underruns.collect();
    if !late.is_empty() {
        let count: u64 = late.iter().map(|late| late.count).sum();
        let longest = late.iter().map(|late| late.longest).max().unwrap_or(Nanos::ZERO);
        let worst = if count == 0 { String::new() } else { format!(", the longest {longest}") };
        lines.push(("underruns", format!("{count}{worst}")));
    }
    if let Some(stall) = figures.iter().flat_map(|figures| &figures.stalls).max_by_key(|stall| stall.time) {
        let times = stall.times_median;
        lines.push(("longest stall", format!("{} in '{}', {times} times its median", stall.time, stall.operation)));
    }
    let failed: Vec<_> =
        record.runs.iter().flat_map(|run| run.failures.iter().map(move |failure| (run, failure))).collect();
    for (run, failure) in failed.iter().take(TOLD) {
        let (app, operation) = (&run.app, &failure.operation);
        lines.push(("failed", format!("{app}, '{operation}' after {}: {}", failure.at, failure.what)));
    }
    if failed.len() > TOLD {
        lines.push(("failed", format!("{} more: the record has them", failed.len() - TOLD)));
    }
    let ended: Vec<_> = record.runs.iter().filter_map(|run| Some((run, run.ended.as_ref()?))).collect();
    for (run, why) in ended.iter().take(TOLD) {
        lines.push(("ended early", format!("{}, run {}: {why}", run.app, run.number)));
    }
    if ended.len() > TOLD {
        lines.push(("ended early", format!("{} more: the record has them", ended.len() - TOLD)));
    }
    if let Some(why) = answer::cut_short(&record.envelope.stop) {
        lines.push(("cut short", why));
    }
    lines
}

/// The sum over apps: of their means and, as apps vary by themselves, of their variances.
fn total(figures: &[&AppFigures]) -> Option<Spread> {
    let times: Vec<Spread> = figures.iter().map(|figures| figures.run_time).collect::<Option<_>>()?;
    if let [only] = times[..] {
        return Some(only);
    }
    let mean = times.iter().map(|time| time.mean).sum();
    let variance: Option<f64> =
        times.iter().map(|time| time.deviation.map(|deviation| deviation.as_f64().powi(2))).sum();
    let deviation = variance.map(|variance| Nanos(variance.sqrt() as u64));
    (!times.is_empty()).then_some(Spread { mean, deviation, interval: None })
}

/// A share over all apps, each with the weight of its time.
fn share_of(figures: &[&AppFigures], of: impl Fn(&AppFigures) -> Option<f64>) -> Option<f64> {
    let weighed = figures.iter().filter_map(|figures| {
        let weight = figures.run_time?.mean.as_f64() * f64::from(figures.runs);
        Some((of(figures)? * weight, weight))
    });
    let (part, whole) = weighed.fold((0.0, 0.0), |(part, whole), (more, weight)| (part + more, whole + weight));
    (whole > 0.0).then(|| part / whole)
}

/// `12.3 s (11.9 to 12.7 s at 95 %)`.
pub fn spread(time: &Spread) -> String {
    match (time.interval, time.deviation) {
        (Some((low, high)), _) => format!("{} ({low} to {high} at 95 %)", time.mean),
        (None, Some(deviation)) => format!("{} (standard deviation {deviation})", time.mean),
        (None, None) => time.mean.to_string(),
    }
}

/// Run times of the apps; response times of their operations; stalls.
pub fn tables(record: &AppRecord) -> Vec<Table> {
    let mut tables =
        vec![run_times(record), operations(record), given::of_cases(record), given::of_apps(record), stalls(record)];
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn name(record: &AppRecord, figures: &AppFigures) -> String {
    match record.plan.sequence.len() {
        0 | 1 => figures.app.clone(),
        _ => format!("{} ({} {})", figures.app, figures.case, figures.place),
    }
}

fn run_times(record: &AppRecord) -> Table {
    let row = |name: String, runs: u32, run_time: Option<Spread>, device: Option<f64>| {
        let time = |time: Option<Nanos>| time.map_or(Cell::Absent, Cell::Time);
        vec![
            Cell::Text(name),
            Cell::Count(runs.into()),
            time(run_time.map(|time| time.mean)),
            time(run_time.and_then(|time| time.deviation)),
            run_time.and_then(|time| time.interval).map_or(Cell::Absent, |(low, high)| Cell::Times(low, high)),
            device.map_or(Cell::Absent, |share| Cell::Text(answer::percent(share))),
        ]
    };
    let mut rows = Vec::new();
    for (number, case) in (1_u32..).zip(&record.plan.sequence) {
        let figures: Vec<&AppFigures> = record.figures.iter().filter(|figures| figures.place == number).collect();
        if figures.len() > 1 {
            let label =
                if record.plan.sequence.len() > 1 { format!("total ({case} {number})") } else { "total".into() };
            let runs = figures.iter().map(|figures| figures.runs).min().unwrap_or_default();
            rows.push(row(label, runs, total(&figures), share_of(&figures, |figures| figures.device_share)));
        }
        rows.extend(figures.iter().map(|one| row(name(record, one), one.runs, one.run_time, one.device_share)));
    }
    Table {
        caption: "Run time of each app".to_owned(),
        columns: ["app", "runs", "mean", "deviation", "mean at 95 %", "device"].map(str::to_owned).into(),
        rows,
    }
}

fn operations(record: &AppRecord) -> Table {
    let rows = record.figures.iter().flat_map(|figures| {
        figures.operations.iter().map(|operation| {
            let time = |time: Option<Nanos>| time.map_or(Cell::Absent, Cell::Time);
            vec![
                Cell::Text(name(record, figures)),
                Cell::Text(operation.name.clone()),
                Cell::Count(operation.count),
                Cell::Time(operation.min),
                Cell::Time(operation.time.mean),
                Cell::Time(operation.median),
                time(operation.p90),
                time(operation.p99),
                Cell::Time(operation.max),
            ]
        })
    });
    Table {
        caption: "Response times of its operations".to_owned(),
        columns: ["app", "operation", "count", "min", "mean", "median", "p90", "p99", "max"].map(str::to_owned).into(),
        rows: rows.collect(),
    }
}

fn stalls(record: &AppRecord) -> Table {
    let rows = record.figures.iter().flat_map(|figures| {
        figures.stalls.iter().map(|stall| {
            vec![
                Cell::Text(name(record, figures)),
                Cell::Text(stall.operation.clone()),
                Cell::Count(stall.run.into()),
                Cell::Time(stall.at),
                Cell::Time(stall.time),
                Cell::Count(stall.times_median),
            ]
        })
    });
    Table {
        caption: "Stalls: ten times the median and 100 ms or more".to_owned(),
        columns: ["app", "operation", "run", "after", "took", "times median"].map(str::to_owned).into(),
        rows: rows.collect(),
    }
}

/// What it rests on: where counts and sizes come from, the file system, SQLite.
pub fn notes(record: &AppRecord) -> Vec<String> {
    let place = &record.place;
    let mut notes: Vec<String> =
        record.plan.apps.iter().map(|app| format!("{}: {} rounds; {}", app.name, app.rounds, app.source)).collect();
    if let Some(suite) = &record.plan.suite {
        let delete =
            record.plan.delete_share.map(|share| format!(", {} of the photos deleted", answer::percent(share)));
        let (idle, runs) = (record.plan.idle, record.plan.repeat);
        notes.push(format!(
            "suite {suite}: idle time {idle} before each run{}, {runs} runs",
            delete.unwrap_or_default()
        ));
    }
    notes.extend(place.remarks.iter().cloned());
    let free = format!("{} of {} free before the first run", place.free, place.capacity);
    notes.push(match &place.file_system {
        Some(kind) => format!("{kind} ({}), {free}", place.options.join(",")),
        None => free,
    });
    let settings = [("journal_mode", &record.plan.journal), ("synchronous", &record.plan.synchronous)];
    let said: Vec<String> = settings
        .into_iter()
        .filter_map(|(name, value)| Some(format!(", {name}={} in the place of the apps' own", value.as_ref()?)))
        .collect();
    notes.push(format!("{}{}; seed {}", place.database(), said.concat(), record.plan.seed));
    notes.push(
        "run time: from the first operation to the end of the last, thinking and flashscope's own time left out"
            .to_owned(),
    );
    notes
}
