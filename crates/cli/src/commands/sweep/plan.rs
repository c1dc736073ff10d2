//! What a sweep would do: checked before anything is changed, and told by `--dry-run`.

use super::vary::{Varied, check_model};
use crate::args::{Sweep as Args, TargetArgs};
use crate::commands::app::Program;
use crate::commands::bench;
use crate::error::Failure;
use crate::progress::whole;
use crate::settings::JobDefaults;
use anyhow::anyhow;
use flashscope_load::file::{JobText, to_toml};
use flashscope_load::job::JobSet;
use flashscope_model::sweep::{Condition, KnobPlace};
use flashscope_units::{Bytes, Nanos};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// The jobs of a run under a condition.
pub(super) fn jobs(args: &Args, varied: &Varied, condition: &Condition, seed: u64) -> Result<JobSet, Failure> {
    let words = varied.words(args, condition)?;
    let mut jobs = match &args.preset {
        Some(name) => bench::preset_jobs(name, target(args, varied, condition, seed), words, args.quick)?,
        None => bench::jobs(args.job.as_deref(), &words, &JobDefaults::default(), seed)?,
    };
    if let (Some(rest), Some(first)) = (args.turns.pause, jobs.phases.first_mut()) {
        first.pause = rest;
    }
    Ok(jobs)
}

/// The target of a run under a condition.
pub(super) fn target(args: &Args, varied: &Varied, condition: &Condition, seed: u64) -> TargetArgs {
    TargetArgs { target: varied.target(args, condition), seed, ..args.target.clone() }
}

/// Checks every condition as far as that changes nothing.
pub(super) fn check(args: &Args, varied: &Varied) -> Result<(), Failure> {
    if args.apps.are_said() {
        return check_apps(args, varied);
    }
    let is_said = varied.words(args, &varied.conditions[0])? != JobText::default();
    if args.job.is_none() && args.preset.is_none() && !is_said {
        return Err(Failure::Cannot(anyhow!(
            "there is no job to run under these conditions\nhint: say it as for bench (--rw randread --bs 4k --runtime 5), or --job FILE, or --preset NAME"
        )));
    }
    for condition in &varied.conditions {
        let of = |failure: Failure| match failure {
            Failure::Cannot(error) => Failure::Cannot(anyhow!("{}: {error}", condition.label)),
            other => other,
        };
        check_model(&varied.target(args, condition)).map_err(of)?;
        let jobs = jobs(args, varied, condition, args.target.seed).map_err(of)?;
        bench::quiet(target(args, varied, condition, args.target.seed), jobs)
            .map_err(of)?
            .most_written()
            .map_err(of)?;
    }
    Ok(())
}

fn check_apps(args: &Args, varied: &Varied) -> Result<(), Failure> {
    let words = args.words.text();
    Program::of(&args.apps, &args.target.consent, words)?;
    for condition in &varied.conditions {
        check_model(&varied.target(args, condition))?;
        let settings = varied.app_settings(args, condition)?;
        if settings.fs.is_some() && Path::new(&args.target.target).is_dir() {
            return Err(Failure::Cannot(anyhow!(
                "{} is a directory, whose file system is there already\nhint: leave out fs, or name a device or sim:MODEL",
                args.target.target
            )));
        }
    }
    Ok(())
}

/// What would be done, in words, with the jobs of a run or the apps.
pub(super) fn describe(args: &Args, varied: &Varied) -> Result<String, Failure> {
    let mut text = String::new();
    let _ = writeln!(text, "# {} conditions, the first is the baseline:", varied.conditions.len());
    for condition in &varied.conditions {
        let _ = writeln!(text, "#   {}", condition.label);
    }
    text += &match args.apps.are_said() {
        true => runs_of_apps(args, varied)?,
        false => runs_of_jobs(args, varied)?,
    };
    let host: Vec<_> = varied.knobs.iter().filter(|knob| knob.place == KnobPlace::Host).collect();
    if host.is_empty() {
        let _ = writeln!(text, "# changes nothing on this machine");
    }
    for knob in host {
        let now = knob.before.as_deref().unwrap_or("several values");
        let _ = match &knob.paths[..] {
            [] => writeln!(text, "# changes {} of the emulated device, which goes", knob.name),
            paths => writeln!(text, "# changes and puts back: {} (now {now})", paths.join(", ")),
        };
    }
    Ok(text
        + &match args.apps.are_said() {
            true => Program::of(&args.apps, &args.target.consent, args.words.text())?.text(),
            false => to_toml(&jobs(args, varied, &varied.conditions[0], args.target.seed)?),
        })
}

/// How often apps are played, and where.
fn runs_of_apps(args: &Args, varied: &Varied) -> Result<String, Failure> {
    let program = Program::of(&args.apps, &args.target.consent, args.words.text())?;
    let names: BTreeSet<String> = varied.conditions.iter().map(|condition| varied.venue(args, condition)).collect();
    let mut text = turns(names.len() as u64, varied.conditions.len(), args.turns.blocks);
    let _ = writeln!(text, "# each run plays {}", program.line());
    let _ = writeln!(text, "# takes and writes as much as they do (--max-time and --max-write end the sweep)");
    if !Path::new(&args.target.target).is_dir() {
        let anew = varied.knobs.iter().any(|knob| knob.name == "fs") && !args.target.target.starts_with("sim:");
        let often = if anew { "whenever it is another one" } else { "once" };
        let _ = writeln!(text, "# makes a file system {often}; what stands on the device is destroyed");
    }
    Ok(text)
}

fn turns(devices: u64, conditions: usize, blocks: u32) -> String {
    let per_block = if conditions == 2 { 4 } else { conditions + 1 };
    let first = if devices == 1 { "one run that counts".to_owned() } else { format!("{devices} runs that count") };
    format!("# {first} for nothing, then at most {blocks} blocks of {per_block} runs\n")
}

fn runs_of_jobs(args: &Args, varied: &Varied) -> Result<String, Failure> {
    let (mut written, mut time, mut devices) = (Some(Bytes::ZERO), Some(Nanos::ZERO), 0);
    for (at, condition) in varied.conditions.iter().enumerate() {
        let jobs = jobs(args, varied, condition, args.target.seed)?;
        let longest = longest(&jobs);
        let one = bench::quiet(target(args, varied, condition, args.target.seed), jobs)?.most_written()?;
        // The baseline has two runs in a block, and so has the only other condition; each device has one that counts for nothing.
        let per_block = 1 + u64::from(at == 0 || varied.conditions.len() == 2);
        let name = varied.target(args, condition);
        let is_new = !varied.conditions[..at].iter().any(|other| varied.target(args, other) == name);
        devices += u64::from(is_new);
        let runs = per_block * u64::from(args.turns.blocks) + u64::from(is_new);
        written = written.zip(one).map(|(sum, one)| Bytes(sum.get().saturating_add(one.get().saturating_mul(runs))));
        time = time.zip(longest).map(|(sum, one)| sum + one * runs);
    }
    let mut text = turns(devices, varied.conditions.len(), args.turns.blocks);
    let _ = match time {
        Some(time) => writeln!(text, "# at most {} of measuring", whole(time)),
        None => writeln!(text, "# jobs that end by size take as long as the device does (--max-time ends the sweep)"),
    };
    let _ = match written {
        Some(most) => writeln!(text, "# writes at most {most}"),
        None => writeln!(text, "# writes an amount that only its time limits (--max-write)"),
    };
    Ok(text)
}

/// How long jobs take at most, phase by phase; `None` where only their size ends one.
fn longest(jobs: &JobSet) -> Option<Nanos> {
    let phase = |phase: &flashscope_load::job::Phase| {
        let times = phase.jobs.iter().map(|job| job.stop.time.map(|time| time + job.warm_up));
        Some(times.collect::<Option<Vec<_>>>()?.into_iter().max()? + phase.pause)
    };
    jobs.phases.iter().map(phase).try_fold(Nanos::ZERO, |sum, one| Some(sum + one?))
}
