//! The figures of a record that can be compared from run to run, and what must be the same for that.
//!
//! One place for all who compare runs or keep them: a rate is that of one run, a time is a percentile of one run.

use crate::bench::words::whose;
use crate::table::{direction_word, work};
use flashscope_model::app::AppRecord;
use flashscope_model::bench::{BenchRecord, JobRun, Moved, Times};
use flashscope_model::comparison::{Better, Metric};
use flashscope_model::envelope::{Conditions, Envelope};
use flashscope_model::iozone::IozoneRecord;
use flashscope_model::preset::{Played, PresetRun, Unit};
use flashscope_model::{AnyRecord, Direction, RunRecord};
use flashscope_units::{Bytes, Nanos};

/// What was measured, and under which settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The figures of each run, in the order in which they were taken.
    pub runs: Vec<Vec<Figure>>,
    /// What was set, and what surrounded it.
    pub settings: Vec<Setting>,
}

/// One figure of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What it is. Units are `B/s`, `IOPS`, `TPS` and `ns`.
    pub metric: Metric,
    /// Its value in that unit.
    pub value: f64,
}

/// Something about runs that may not be the same elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// What (`bench: bs`, `scheduler`).
    pub what: String,
    /// How it was.
    pub value: String,
    /// Whether figures mean another thing where it differs.
    pub decisive: bool,
}

/// Requests of at least this size are counted in bytes per second, as people do, smaller ones in requests per second.
pub(crate) const LARGE: Bytes = Bytes::kib(64);
/// Settings of a job that say nothing of its load: names, and what the target or chance decides.
const NO_LOAD: [&str; 6] = ["name", "target", "targets", "seed", "span", "offset"];
/// The percentile that is kept of times.
const PERCENTILE: f64 = 0.99;

/// The figures of a record; none where its kind has no figures of runs.
pub fn measured(record: &AnyRecord) -> Measured {
    let mut measured = match record {
        AnyRecord::Run(run) => of_run(run),
        AnyRecord::App(app) => of_app(app),
        AnyRecord::Bench(bench) => of_bench(bench, LARGE),
        AnyRecord::Iozone(iozone) => of_iozone(iozone),
        AnyRecord::Memory(memory) => crate::memory::measured(memory),
        AnyRecord::Capacity(_)
        | AnyRecord::Integrity(_)
        | AnyRecord::Fleet(_)
        | AnyRecord::Twin(_)
        | AnyRecord::Comparison(_)
        | AnyRecord::Sweep(_)
        | AnyRecord::Trace(_)
        | AnyRecord::Explanation(_) => Measured::default(),
    };
    measured.runs.retain(|run| !run.is_empty());
    measured.settings.extend(surroundings(record.envelope()));
    measured
}

/// The figures of a load's runs with every rate in bytes: where the size of requests differs from run to run, their number says
/// little.
pub fn measured_in_bytes(bench: &BenchRecord) -> Vec<Vec<Figure>> {
    of_bench(bench, Bytes::ZERO).runs
}

fn rate(name: String, value: f64) -> Figure {
    Figure { metric: Metric { name, unit: "B/s".to_owned(), better: Better::Higher }, value }
}

fn per_second(name: String, value: f64) -> Figure {
    Figure { metric: Metric { name, unit: "IOPS".to_owned(), better: Better::Higher }, value }
}

fn time(name: String, value: Nanos) -> Figure {
    Figure { metric: Metric { name, unit: "ns".to_owned(), better: Better::Lower }, value: value.as_f64() }
}

/// Bytes or requests per second, whichever people count of requests of this size.
fn speed(name: String, (mean_size, large): (f64, Bytes), bytes_per_s: f64, requests_per_s: f64) -> Figure {
    if mean_size >= large.as_f64() { rate(name, bytes_per_s) } else { per_second(name, requests_per_s) }
}

fn of_run(run: &RunRecord) -> Measured {
    let mut figures = Vec::new();
    for cell in &run.findings.performance {
        let depth = if cell.queue_depth > 1 { format!(" QD{}", cell.queue_depth) } else { String::new() };
        let name = format!("{} {}{depth}", work(cell.direction, cell.order), cell.block);
        figures.push(speed(name.clone(), (cell.block.as_f64(), LARGE), cell.mean_rate.get(), cell.iops.0));
        figures.extend(cell.service_time_p99.map(|p99| time(format!("{name} p99"), p99)));
    }
    Measured { runs: vec![figures], settings: Vec::new() }
}

/// The run time of each app, and the mean response time of each operation, run by run. A run that was cut short has none.
fn of_app(record: &AppRecord) -> Measured {
    let mut runs: Vec<Vec<Figure>> = Vec::new();
    for run in record.runs.iter().filter(|run| run.ended.is_none()) {
        let at = run.number.saturating_sub(1) as usize;
        if runs.len() <= at {
            runs.resize_with(at + 1, Vec::new);
        }
        let case =
            if record.plan.sequence.len() > 1 { format!(" ({} {})", run.case, run.place) } else { String::new() };
        runs[at].push(time(format!("{}{case} run time", run.app), run.run_time()));
        for operation in run.operations.iter().filter(|operation| !operation.times.is_empty()) {
            let total: Nanos = operation.times.iter().copied().sum();
            let mean = Nanos(total.get() / operation.times.len() as u64);
            runs[at].push(time(format!("{}{case} {}", run.app, operation.name), mean));
        }
    }
    let rounds = record.plan.apps.iter().map(|app| Setting {
        what: format!("{}: rounds", app.name),
        value: app.rounds.to_string(),
        decisive: true,
    });
    Measured { runs, settings: rounds.collect() }
}

/// `large` is the size from which on rates are counted in bytes.
fn of_bench(bench: &BenchRecord, large: Bytes) -> Measured {
    let mut measured = Measured::default();
    let mut names: Vec<String> = Vec::new();
    for phase in &bench.phases {
        let jobs = phase.runs.first().map_or(&[][..], |run| &run.jobs);
        // Jobs of several phases may have one name.
        let fresh: Vec<String> = jobs.iter().map(|job| unused(&job.name, &mut names)).collect();
        for (job, name) in jobs.iter().zip(&fresh) {
            measured.settings.extend(load(job, name));
        }
        for (at, run) in phase.runs.iter().enumerate() {
            if measured.runs.len() <= at {
                measured.runs.resize_with(at + 1, Vec::new);
            }
            measured.runs[at].extend(run.jobs.iter().zip(&fresh).flat_map(|(job, name)| of_job(job, name, large)));
        }
        let mut verdicts: Vec<&str> = phase.runs.iter().map(|run| whose(run.evidence.verdict)).collect();
        verdicts.dedup();
        let what = format!("{}: served by", fresh.join(", "));
        measured.settings.push(Setting { what, value: verdicts.join(", then "), decisive: true });
    }
    if let Some(preset) = &bench.preset {
        transactions(preset, &mut measured);
    }
    measured
}

/// Transactions per second, run by run, and what decides what they mean: the file system, and how it is waited for.
fn transactions(preset: &PresetRun, measured: &mut Measured) {
    for figure in preset.figures.iter().filter(|figure| figure.unit == Unit::TransactionsPerSecond) {
        if measured.runs.len() < figure.values.len() {
            measured.runs.resize_with(figure.values.len(), Vec::new);
        }
        for (run, value) in measured.runs.iter_mut().zip(&figure.values) {
            let metric = Metric { name: figure.name.clone(), unit: "TPS".to_owned(), better: Better::Higher };
            run.push(Figure { metric, value: *value });
        }
    }
    let Some(Played { plan, place, .. }) = &preset.played else { return };
    let set = |what: String, value: String| Setting { what, value, decisive: true };
    measured.settings.extend(plan.apps.iter().map(|app| set(format!("{}: rounds", app.name), app.rounds.to_string())));
    measured.settings.extend(place.file_system.iter().map(|kind| set("file system".to_owned(), kind.clone())));
    measured.settings.push(set("sync call".to_owned(), place.sync_call.clone()));
}

/// The name, with a number where it was given before.
fn unused(name: &str, names: &mut Vec<String>) -> String {
    let same = names.iter().filter(|other| *other == name).count();
    names.push(name.to_owned());
    if same == 0 { name.to_owned() } else { format!("{name} ({})", same + 1) }
}

fn load<'a>(job: &'a JobRun, name: &'a str) -> impl Iterator<Item = Setting> + 'a {
    let loads = job.settings.iter().filter(|(what, _)| !NO_LOAD.contains(&what.as_str()));
    loads.map(move |(what, value)| Setting {
        what: format!("{name}: {what}"),
        value: value.trim_matches('"').to_owned(),
        decisive: true,
    })
}

fn of_job(job: &JobRun, name: &str, large: Bytes) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (direction, moved) in [(Direction::Read, &job.read), (Direction::Write, &job.write)] {
        let Some(moved) = moved.as_ref().filter(|moved| moved.requests > 0) else { continue };
        let name = format!("{name} {}", direction_word(direction));
        let size = (mean_size(moved), large);
        figures.push(speed(name.clone(), size, moved.bytes_per_s, moved.requests_per_s));
        figures.extend(percentile(&moved.service).map(|p99| time(format!("{name} p99"), p99)));
    }
    figures
}

fn mean_size(moved: &Moved) -> f64 {
    moved.bytes.as_f64() / moved.requests as f64
}

fn percentile(times: &Times) -> Option<Nanos> {
    times.percentiles.iter().find(|(share, _)| *share == PERCENTILE).map(|(_, time)| *time)
}

fn of_iozone(iozone: &IozoneRecord) -> Measured {
    let whole = iozone.passes.iter().filter(|pass| pass.failure.is_none() && pass.elapsed > Nanos::ZERO);
    let figures = whole.map(|pass| {
        let name = format!("{} {} in {}", pass.figure.word().replace('_', " "), pass.file, pass.record);
        rate(name, pass.moved.as_f64() / pass.elapsed.as_secs_f64())
    });
    Measured { runs: vec![figures.collect()], settings: Vec::new() }
}

/// The state is part of what a figure means; the host's settings are said, as they may be what is compared.
fn surroundings(envelope: &Envelope) -> Vec<Setting> {
    let set = |what: &str, value: String, decisive| Setting { what: what.to_owned(), value, decisive };
    let time = if envelope.virtual_time { "simulated" } else { "real" };
    let state = envelope.state.as_ref().map_or("as it was found", |state| &state.name);
    let mut found = vec![set("time", time.to_owned(), true), set("state", state.to_owned(), true)];
    if let Some(host) = &envelope.host {
        found.push(set("host", host.name.clone(), false));
        found.push(set("kernel", host.kernel.clone(), false));
        found.extend(host.bus_mode.iter().map(|mode| set("bus mode", mode.clone(), false)));
    }
    found.push(set("flashscope", envelope.tool.version.clone(), false));
    let changed = envelope.conditions.changed();
    for (name, value) in envelope.conditions.before.iter().filter(|(name, _)| !Conditions::moves(name)) {
        // A condition that did not hold throughout is none of the run.
        let after = changed.iter().find(|(other, ..)| other == name).map(|(.., after)| format!(", then {after}"));
        found.push(set(&name.replace('_', " "), format!("{value}{}", after.unwrap_or_default()), false));
    }
    found
}
