//! `bench --preset`: a definition, run on a target, with figures and verdicts.

use super::keep::Kept;
use super::run::{Enough, Setup, prepare};
use super::{apps, finish, host, in_state, order, setup};
use crate::args::{Bench, TargetArgs};
use crate::error::{Failure, Outcome};
use crate::{input, near, output, target};
use anyhow::anyhow;
use flashscope_device::Target;
use flashscope_load::file::JobText;
use flashscope_load::job::JobSet;
use flashscope_model::bench::BenchRecord;
use flashscope_model::preset::LimitVerdict;
use flashscope_suite::{Definition, Ground, Ran, Wish, answers_to, evaluate};
use std::fmt::Write;
use std::path::Path;

/// `--presets`.
pub(super) fn list() -> Result<Outcome, Failure> {
    let mut text = String::new();
    for name in flashscope_suite::names() {
        let title = flashscope_suite::preset(name).map_or_else(String::new, |preset| preset.title().to_owned());
        let _ = writeln!(text, "{}", output::named(&format!("{name:<19}"), &title));
    }
    output::data(&text)?;
    Ok(Outcome::Done)
}

pub(super) fn run(args: &Bench, name: &str) -> Result<Outcome, Failure> {
    let definition = definition(name)?;
    apps::check(&definition)?;
    if args.explain {
        output::data(&definition.text)?;
        return Ok(Outcome::Done);
    }
    if let Some(limit) = args.require.as_deref().filter(|limit| !definition.has_limit(limit)) {
        return Err(Failure::Cannot(anyhow!(
            "the definition has no limit called '{limit}'\nhint: --explain shows its limits"
        )));
    }
    let ground = ground(&setup(args))?;
    let definition = definition.for_claim(ground.claimed_unit);
    let wish = Wish { quick: args.quick, over: args.text(), repeat: args.repeat, seed: args.target.seed };
    let schedule = definition.schedule(ground, &wish).map_err(|error| anyhow!("{error}"))?;
    // One reason for several jobs is said once.
    for same in schedule.left_out.chunk_by(|one, other| one.1 == other.1) {
        let jobs: Vec<&str> = same.iter().map(|(job, _)| job.as_str()).collect();
        output::talk(&format!("left out: {}: {}", jobs.join("; "), same[0].1));
    }
    let enough = {
        let (definition, schedule) = (definition.clone(), schedule.clone());
        Enough::when(move |phases| definition.is_enough(&schedule, phases))
    };
    let setup = Setup { repeat: schedule.repeat, prepare: schedule.prepare, enough, ..setup(args) };
    let order = order(args);
    let prepared = prepare(in_state::setup(setup, order.as_ref(), 1)?, schedule.set.clone())?;
    if args.around.dry_run {
        let apps: Vec<&str> = definition.apps().collect();
        let then = if apps.is_empty() { String::new() } else { format!("# then the apps {}\n", apps.join(", ")) };
        output::data(&(in_state::describe(&prepared, order.as_ref())? + &then))?;
        return Ok(Outcome::Done);
    }
    let read = if is_path(name) { vec![name.into()] } else { Vec::new() };
    let kept = Kept::plan(&args.around, &prepared, &read)?;
    let mut record = in_state::run_once(prepared, order, &kept)?;
    record.envelope.command = format!("bench --preset {}", definition.name());
    record.preset = Some(evaluate(&definition, Ran { schedule: &schedule, record: &record }));
    apps::play(&definition, args, schedule.repeat, &mut record);
    let outcome = finish(&record, &args.around, &kept)?;
    match &args.require {
        Some(limit) if !is_met(&record, limit) => Ok(Outcome::ExpectationFailed),
        _ => Ok(outcome),
    }
}

/// The jobs that a preset asks for on a target, each phase once.
pub(crate) fn jobs(name: &str, target: TargetArgs, over: JobText, quick: bool) -> Result<JobSet, Failure> {
    let definition = definition(name)?;
    let seed = target.seed;
    let ground = ground(&super::once(target))?;
    let wish = Wish { quick, over, repeat: Some(1), seed };
    let schedule = definition.for_claim(ground.claimed_unit).schedule(ground, &wish);
    schedule.map(|schedule| schedule.set).map_err(|error| Failure::Cannot(anyhow!("{error}")))
}

/// What is known beforehand of what it runs on.
fn ground(setup: &Setup) -> Result<Ground, Failure> {
    match setup.target.target.strip_prefix("sim:") {
        Some(spec) => {
            let target = target::open_model(spec, setup.target.seed)?;
            let claimed_unit = target.facts().claims.allocation_unit;
            Ok(Ground { simulated: true, block: target.capabilities().granularity, claimed_unit })
        }
        None => {
            let (block, claimed_unit) = host::ground(setup)?;
            Ok(Ground { simulated: false, block, claimed_unit })
        }
    }
}

/// The preset of this name, or the definition in this file.
fn definition(name: &str) -> Result<Definition, Failure> {
    if !is_path(name) {
        return flashscope_suite::preset(name).ok_or_else(|| {
            let hint = near::hint(name, flashscope_suite::names());
            Failure::Cannot(anyhow!("there is no preset '{name}'\n{hint}; or a path with a slash in it"))
        });
    }
    let text =
        input::text(Path::new(name), "name a preset of --presets, or a file like the one that --explain prints")?;
    Definition::parse(&text).map_err(|error| Failure::Cannot(anyhow!("{name}: {error}")))
}

fn is_path(name: &str) -> bool {
    name.contains('/') || name.ends_with(".toml")
}

/// Whether every limit of this name is met.
fn is_met(record: &BenchRecord, name: &str) -> bool {
    let figures = record.preset.iter().flat_map(|preset| &preset.figures);
    let mut limits = figures.flat_map(|figure| &figure.limits).filter(|limit| answers_to(&limit.name, name));
    limits.all(|limit| limit.verdict == LimitVerdict::Met)
}
