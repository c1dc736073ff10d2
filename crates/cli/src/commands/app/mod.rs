//! `app`: applications on a file system.

mod place;
mod player;
mod room;
mod sequence;
mod venue;
mod witness;

use crate::args::{App, AppArgs, AppCommand, AppSettings, AppSuite, InState, TargetArgs};
use crate::commands::{history, report};
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use crate::{envelope, near};
use anyhow::anyhow;
use flashscope_app::catalogue;
use flashscope_app::definition::{Definition, Journal, Synchronous};
use flashscope_app::suite::{Case, SUITES, Suite};
use flashscope_model::app::{AppPlan, AppRecord, PlannedApp};
use flashscope_record::AnyRecord;
use flashscope_units::Nanos;
use sequence::Playing;
use std::fmt::Write;
pub(crate) use venue::{Program, Venue};

pub(crate) fn run(asked: &App) -> Result<Outcome, Failure> {
    match (&asked.command, &asked.one.app) {
        (Some(AppCommand::List), _) => list(),
        (Some(AppCommand::Suite(suite)), _) => of_suite(suite),
        (None, Some(app)) if asked.one.explain => output::data(&definition(app)?.text).map(|()| Outcome::Done),
        (None, Some(app)) => of_one(&asked.one, app),
        (None, None) => Err(cannot("say which app\nhint: `flashscope app list` has them".to_owned())),
    }
}

/// Plays apps as they are defined for somebody else's record, each so often.
///
/// # Errors
/// There is no such app or no player, or nothing can be played there.
pub(crate) fn beside(
    target: &TargetArgs,
    in_state: InState,
    names: &[&str],
    repeat: u32,
    quiet: bool,
) -> Result<AppRecord, Failure> {
    // Before a device is given a file system for nothing.
    player::program()?;
    let apps = names.iter().map(|name| definition(name).map(|app| (app.clone(), app.rounds)));
    let apps: Vec<(Definition, u64)> = apps.collect::<Result<_, _>>()?;
    let settings = AppSettings::as_defined(target, in_state, repeat);
    let plan = plan(&settings, None, &apps, &[Case::Main]);
    let place = place::find(&target.target, &settings)?;
    Playing::new(place, None, plan, apps, false, quiet)?.all("app", &[Case::Main])
}

/// Looks whether all these apps are there, and have these operations.
///
/// # Errors
/// One is not, or has not.
pub(crate) fn look(name: &str, operations: &[&str]) -> Result<(), Failure> {
    let app = definition(name)?;
    let known: Vec<&str> = app.operations.iter().map(|operation| operation.name.as_str()).collect();
    match operations.iter().find(|operation| !known.contains(operation)) {
        None => Ok(()),
        Some(other) => {
            let hint = near::hint(other, known);
            Err(cannot(format!("the app {name} has no operation '{other}'\n{hint}")))
        }
    }
}

fn list() -> Result<Outcome, Failure> {
    let mut text = String::new();
    for app in catalogue::names().filter_map(catalogue::app) {
        let _ = writeln!(text, "{:<18} {:>4} rounds  {}", app.name, app.rounds, app.title);
    }
    for suite in SUITES {
        let apps: Vec<String> =
            suite.apps.iter().filter(|(_, count)| *count > 0).map(|(app, count)| format!("{app} {count}")).collect();
        let _ = writeln!(text, "suite {:<24} {}", suite.name, apps.join(", "));
    }
    output::data(&text).map(|()| Outcome::Done)
}

/// The app of this name, or of the file of this name.
fn definition(name: &str) -> Result<Definition, Failure> {
    if let Some(app) = catalogue::app(name) {
        return Ok(app);
    }
    if !name.ends_with(".toml") && !name.contains('/') {
        let hint = near::hint(name, catalogue::names());
        return Err(cannot(format!(
            "there is no app called '{name}', and no file of an app ends otherwise than in .toml\n{hint}"
        )));
    }
    let text = std::fs::read_to_string(name).map_err(|error| {
        cannot(format!("cannot read {name}: {error}\nhint: `flashscope app list` has the apps that come along"))
    })?;
    Definition::parse(&text).map_err(|error| cannot(format!("{name} is no definition of an app: {error}")))
}

fn of_one(one: &AppArgs, name: &str) -> Result<Outcome, Failure> {
    let app = definition(name)?;
    let rounds = one.rounds.map_or(app.rounds, u64::from);
    let plan = plan(&one.settings, None, &[(app.clone(), rounds)], &[Case::Main]);
    played("app", &one.target, &one.settings, &one.results, plan, vec![(app, rounds)], &[Case::Main])
}

fn of_suite(asked: &AppSuite) -> Result<Outcome, Failure> {
    let suite: &Suite = SUITES.iter().find(|suite| suite.name == asked.suite).ok_or_else(|| {
        let hint = near::hint(&asked.suite, SUITES.iter().map(|suite| suite.name));
        cannot(format!("there is no suite called '{}'\n{hint}", asked.suite))
    })?;
    let known = |name: &str| suite.apps.iter().any(|(app, _)| *app == name);
    if let Some((name, _)) = asked.count.iter().find(|(name, _)| !known(name)) {
        let hint = near::hint(name, suite.apps.iter().map(|(app, _)| *app));
        return Err(cannot(format!("the suite {} has no app called '{name}'\n{hint}", suite.name)));
    }
    let count =
        |app: &str, own: u64| asked.count.iter().rfind(|(name, _)| name == app).map_or(own, |(_, count)| *count);
    let apps: Vec<(Definition, u64)> = suite
        .apps
        .iter()
        .map(|(app, own)| (*app, count(app, *own)))
        .filter(|(_, rounds)| *rounds > 0)
        .filter_map(|(app, rounds)| Some((catalogue::app(app)?, rounds)))
        .collect();
    if apps.is_empty() {
        return Err(cannot("no app of the suite is left\nhint: --count APP=N with N above 0".to_owned()));
    }
    let mut plan = plan(&asked.settings, Some(suite.name), &apps, &asked.sequence);
    plan.idle = asked.idle;
    plan.delete_share = asked.sequence.contains(&Case::Full).then_some(asked.delete);
    played("app suite", &asked.target, &asked.settings, &asked.results, plan, apps, &asked.sequence)
}

fn plan(settings: &AppSettings, suite: Option<&str>, apps: &[(Definition, u64)], sequence: &[Case]) -> AppPlan {
    let app = |(app, rounds): &(Definition, u64)| PlannedApp {
        name: app.name.clone(),
        title: app.title.clone(),
        source: app.source.clone(),
        rounds: *rounds,
        definition: app.text.clone(),
    };
    AppPlan {
        suite: suite.map(str::to_owned),
        sequence: sequence.iter().map(|case| case.word().to_owned()).collect(),
        apps: apps.iter().map(app).collect(),
        repeat: settings.repeat,
        seed: settings.seed,
        idle: Nanos::ZERO,
        delete_share: None,
        journal: settings.journal.map(|word| Journal::from(word).word().to_owned()),
        synchronous: settings.synchronous.map(|word| Synchronous::from(word).word().to_owned()),
    }
}

fn played(
    command: &str,
    target: &str,
    settings: &AppSettings,
    results: &crate::args::Results,
    plan: AppPlan,
    apps: Vec<(Definition, u64)>,
    sequence: &[Case],
) -> Result<Outcome, Failure> {
    let mut door = output::door(results.replace.force, [target]);
    let outputs = report::outputs(&mut door, None, &results.output)?;
    let trace = settings.trace.as_ref().map(|path| output::plan(&mut door, path)).transpose()?;
    let place = place::find(target, settings)?;
    let record = Playing::new(place, trace, plan, apps, settings.scale, results.json)?.all(command, sequence)?;
    shown(&record, &outputs, results.json)
}

fn shown(record: &AppRecord, outputs: &[flashscope_host::Output], json: bool) -> Result<Outcome, Failure> {
    let mut saved = Saved::default();
    report::save(&mut saved, outputs, &AnyRecord::App(Box::new(record.clone())));
    history::keep(|| flashscope_record::to_json(record));
    saved.after(output::data(&if json {
        flashscope_record::to_json(record)
    } else {
        flashscope_report::app::terminal(record, output::style())
    }))?;
    match envelope::exit(&record.envelope.stop)? {
        Outcome::Done if record.has_failed() => Ok(Outcome::ExpectationFailed),
        outcome => Ok(outcome),
    }
}

fn cannot(why: String) -> Failure {
    Failure::Cannot(anyhow!(why))
}
