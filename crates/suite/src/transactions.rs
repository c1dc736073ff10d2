//! Figures in transactions per second, from applications that were played.

use crate::definition::{Definition, TransactionRule};
use crate::evaluate::interval;
use flashscope_model::app::AppRun;
use flashscope_model::preset::{Figure, Played, PresetRun, Statistic, Unit};
use flashscope_stats::location::median;
use flashscope_units::Nanos;

/// Adds what the definition's applications came to. Where none could be played their figures are left out, with the reason
/// (a hint on its own line).
pub fn add_played(definition: &Definition, preset: &mut PresetRun, played: Result<Played, String>) {
    match played {
        Ok(played) => {
            // A definition may name an app by its file; runs bear the name that stands in it.
            for (app, planned) in definition.apps.iter().zip(&played.plan.apps) {
                let runs: Vec<&AppRun> = played.runs.iter().filter(|run| run.app == planned.name).collect();
                preset.figures.extend(app.figures.iter().map(|rule| figure(rule, &runs)));
            }
            let on = played.place.file_system.as_ref().map_or(String::new(), |kind| format!("on {kind} by "));
            preset.notes.push(format!("transactions: {on}{}, in real time", played.place.database()));
            preset.notes.extend(played.place.remarks.iter().cloned());
            preset.played = Some(played);
        }
        Err(why) => {
            let figures = definition.apps.iter().flat_map(|app| &app.figures);
            preset.left_out.extend(figures.map(|rule| (rule.name.clone(), why.clone())));
        }
    }
}

fn figure(rule: &TransactionRule, runs: &[&AppRun]) -> Figure {
    let values: Vec<f64> = runs.iter().filter_map(|run| per_second(run, &rule.operation)).collect();
    Figure {
        name: rule.name.clone(),
        unit: Unit::TransactionsPerSecond,
        statistic: Statistic::Median,
        value: median(&values),
        interval: interval(&values),
        values,
        // Every transaction waits for the medium by its own settings; nobody counts what a cache took of it.
        whose: None,
        device_share: None,
        limits: Vec::new(),
    }
}

/// Transactions by the time that they took together; `None` of a run that ended early or in which some failed.
fn per_second(run: &AppRun, operation: &str) -> Option<f64> {
    if run.ended.is_some() || run.failures.iter().any(|failure| failure.operation == operation) {
        return None;
    }
    let found = run.operations.iter().find(|found| found.name == operation)?;
    let total: Nanos = found.times.iter().copied().sum();
    (total > Nanos::ZERO).then(|| found.times.len() as f64 / total.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ground, Ran, Wish, evaluate, made};
    use flashscope_model::app::{ActFailure, AppPlace, AppPlan, OperationRun, PlannedApp};
    use flashscope_units::Bytes;

    const TEXT: &str = r#"
        [preset]
        name = "mine"
        title = "mine"
        source = "me"
        [[job]]
        name = "w"
        rw = "randwrite"
        [[app]]
        name = "./rows.toml"
        [[app.figure]]
        name = "SQLite insert"
        operation = "insert"
    "#;

    /// A run of the app with inserts of so many milliseconds each.
    fn run(times: &[u64]) -> AppRun {
        let times = times.iter().map(|time| Nanos::millis(*time)).collect();
        AppRun {
            app: "rows".to_owned(),
            case: "main".to_owned(),
            place: 1,
            number: 1,
            prepared: Nanos::ZERO,
            elapsed: Nanos::ZERO,
            thinking: Nanos::ZERO,
            own: Nanos::ZERO,
            settled: Nanos::ZERO,
            device: None,
            given: None,
            operations: vec![OperationRun { name: "insert".to_owned(), times, ..OperationRun::default() }],
            failures: Vec::new(),
            ended: None,
        }
    }

    fn evaluated(played: Result<Vec<AppRun>, String>) -> PresetRun {
        let definition = Definition::parse(TEXT).unwrap();
        let schedule = definition.schedule(Ground::new(true), &Wish::default()).unwrap();
        let record = made::record(Vec::new());
        let mut preset = evaluate(&definition, Ran { schedule: &schedule, record: &record });
        let planned = PlannedApp {
            name: "rows".to_owned(),
            title: String::new(),
            source: String::new(),
            rounds: 1,
            definition: String::new(),
        };
        let plan = AppPlan {
            suite: None,
            sequence: Vec::new(),
            apps: vec![planned],
            repeat: 1,
            seed: 1,
            idle: Nanos::ZERO,
            delete_share: None,
            journal: None,
            synchronous: None,
        };
        let place = AppPlace {
            directory: None,
            file_system: None,
            options: Vec::new(),
            capacity: Bytes::ZERO,
            free: Bytes::ZERO,
            device: None,
            sqlite: String::new(),
            sync_call: String::new(),
            remarks: Vec::new(),
        };
        let played = played.map(|runs| Played { plan, place, runs, figures: Vec::new() });
        add_played(&definition, &mut preset, played);
        preset
    }

    #[test]
    fn transactions_per_second_are_those_of_each_run() {
        let other = AppRun { app: "other".to_owned(), ..run(&[1]) };
        let preset = evaluated(Ok(vec![run(&[10, 30]), other, run(&[5, 5]), run(&[20, 20])]));
        let figure = &preset.figures[0];
        assert_eq!((&figure.values[..], figure.value), (&[50.0, 200.0, 50.0][..], Some(50.0)));
        assert_eq!((figure.unit, figure.whose), (Unit::TransactionsPerSecond, None));
        assert!(preset.left_out.is_empty() && preset.played.is_some());
    }

    #[test]
    fn a_run_that_ended_early_or_failed_counts_for_nothing() {
        let ended = AppRun { ended: Some("no room".to_owned()), ..run(&[10]) };
        let failure = ActFailure { operation: "insert".to_owned(), at: Nanos::ZERO, what: "EIO".to_owned() };
        let failed = AppRun { failures: vec![failure], ..run(&[10]) };
        let preset = evaluated(Ok(vec![ended, failed, run(&[4])]));
        assert_eq!(preset.figures[0].values, [250.0]);
    }

    #[test]
    fn what_could_not_be_played_is_left_out_with_the_reason() {
        let preset = evaluated(Err("there is no player\nhint: build it".to_owned()));
        let expected = ("SQLite insert".to_owned(), "there is no player\nhint: build it".to_owned());
        assert_eq!((&preset.left_out[..], preset.figures.len()), (&[expected][..], 0));
    }

    #[test]
    fn an_app_without_a_figure_is_refused() {
        let text = TEXT.split("[[app.figure]]").next().unwrap();
        let error = Definition::parse(text).expect_err("nothing would come of it").to_string();
        assert!(error.contains("[[app.figure]]"), "{error}");
    }
}
