//! Figures of apps, run by run: run times, response times, and what people notice: stalls and underruns.

use super::{Figure, Measured, Setting, time};
use flashscope_model::app::{AppRecord, AppRun, OperationRun, Stall};
use flashscope_model::comparison::{Better, Metric};
use flashscope_stats::location::{median, quantile};
use flashscope_units::Nanos;

/// The percentiles that are figures, the highest first: an operation has one, the first that so many of its performances in a run
/// lie beyond.
const PERCENTILES: [(f64, &str); 2] = [(0.99, "p99"), (0.9, "p90")];
/// See [`PERCENTILES`].
const BEYOND: f64 = 2.0;

/// The run time of each app, mean and a percentile of the response time of each operation, underruns and stalls, run by run. A run
/// that was cut short has none.
pub(super) fn of_app(record: &AppRecord) -> Measured {
    let mut runs: Vec<Vec<Figure>> = Vec::new();
    for run in record.runs.iter().filter(|run| run.ended.is_none()) {
        let at = run.number.saturating_sub(1) as usize;
        if runs.len() <= at {
            runs.resize_with(at + 1, Vec::new);
        }
        let case =
            if record.plan.sequence.len() > 1 { format!(" ({} {})", run.case, run.place) } else { String::new() };
        runs[at].extend(of_run(run, &format!("{}{case}", run.app)));
    }
    Measured { runs, settings: settings(record) }
}

fn of_run(run: &AppRun, name: &str) -> Vec<Figure> {
    let mut figures = vec![time(format!("{name} run time"), run.run_time())];
    let mut stalls = 0;
    for operation in run.operations.iter().filter(|operation| !operation.times.is_empty()) {
        let times: Vec<f64> = operation.times.iter().map(|time| time.as_f64()).collect();
        let name = format!("{name} {}", operation.name);
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        figures.push(time(name.clone(), Nanos(mean as u64)));
        figures.extend(percentile(&times).map(|(word, at)| time(format!("{name} {word}"), at)));
        figures.extend(late(operation).map(|late| counted(&format!("{name} underruns"), late)));
        let middle = median(&times).unwrap_or_default();
        stalls += operation.times.iter().filter(|time| Stall::times_median(**time, middle).is_some()).count();
    }
    figures.push(counted(&format!("{name} stalls"), stalls));
    figures
}

fn percentile(times: &[f64]) -> Option<(&'static str, Nanos)> {
    let (share, word) = PERCENTILES.into_iter().find(|(share, _)| times.len() as f64 * (1.0 - share) >= BEYOND)?;
    Some((word, Nanos(quantile(times, share)? as u64)))
}

/// Performances that missed their deadline; `None` where there is no deadline.
fn late(operation: &OperationRun) -> Option<usize> {
    let deadline = operation.deadline?;
    Some(operation.times.iter().filter(|time| **time > deadline).count())
}

/// A count and a half, so that a run without any has a ratio to others (Haldane, "The estimation and significance of the logarithm of a
/// ratio of frequencies", Annals of Human Genetics 20, 1956). Its name says so.
fn counted(name: &str, count: usize) -> Figure {
    let metric = Metric { name: format!("{name} + ½"), unit: String::new(), better: Better::Lower };
    Figure { metric, value: count as f64 + 0.5 }
}

/// What response times depend on beside the device. The file system may be what is compared.
fn settings(record: &AppRecord) -> Vec<Setting> {
    let set = |what: &str, value: &str, decisive| Setting { what: what.to_owned(), value: value.to_owned(), decisive };
    let (plan, place) = (&record.plan, &record.place);
    let rounds = plan.apps.iter().map(|app| set(&format!("{}: rounds", app.name), &app.rounds.to_string(), true));
    let replaced = [("journal", &plan.journal), ("synchronous", &plan.synchronous)];
    let replaced = replaced.into_iter().filter_map(|(what, value)| Some(set(what, value.as_deref()?, true)));
    let kind = place.file_system.iter().map(|kind| set("file system", kind, false));
    rounds.chain(replaced).chain(kind).chain([set("sync call", &place.sync_call, true)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(times: Vec<u64>) -> AppRun {
        let operation = OperationRun {
            name: "play".to_owned(),
            times: times.into_iter().map(Nanos::millis).collect(),
            deadline: Some(Nanos::millis(40)),
            ..OperationRun::default()
        };
        AppRun {
            app: "film".to_owned(),
            case: "main".to_owned(),
            place: 1,
            number: 1,
            prepared: Nanos::ZERO,
            elapsed: Nanos::secs(2),
            thinking: Nanos::secs(1),
            own: Nanos::ZERO,
            settled: Nanos::ZERO,
            device: None,
            given: None,
            operations: vec![operation],
            failures: Vec::new(),
            ended: None,
        }
    }

    #[test]
    fn what_people_notice_is_a_figure_and_none_of_it_is_not_zero() {
        let value = |figures: &[Figure], name: &str| {
            figures.iter().find(|figure| figure.metric.name == name).map(|figure| figure.value)
        };
        let smooth = of_run(&run(vec![5; 199]), "film");
        assert_eq!(value(&smooth, "film run time"), Some(1e9));
        assert_eq!(value(&smooth, "film play"), Some(5e6));
        assert_eq!(value(&smooth, "film play underruns + ½"), Some(0.5));
        assert_eq!(value(&smooth, "film stalls + ½"), Some(0.5));
        assert!(value(&smooth, "film play p90").is_some() && value(&smooth, "film play p99").is_none());

        // 45 ms are late and nothing that anybody sees as a stall; 120 ms are both.
        let rough = of_run(&run([vec![5; 197], vec![45, 120, 120]].concat()), "film");
        assert_eq!(value(&rough, "film play underruns + ½"), Some(3.5));
        assert_eq!(value(&rough, "film stalls + ½"), Some(2.5));
        assert!(value(&rough, "film play p99").is_some() && value(&rough, "film play p90").is_none());
    }
}
