//! `bench`: load on a target, and what came of it.
//!
//! What was typed becomes a [`JobSet`], which [`run()`] checks and runs: on a simulated device in virtual time
//! ([`simulated`]), on a real one by threads ([`host`]). Both give the same plain data, shown as text or as JSON.

mod apps;
mod fio;
mod host;
mod in_state;
mod iozone;
mod keep;
mod preset;
mod progress;
pub(crate) mod run;
mod simulated;
mod steady;
mod trace;
mod watch;

use crate::args::{Around, Bench, BenchKind, TargetArgs};
use crate::commands::history;
use crate::envelope;
use crate::error::{Failure, Outcome};
use crate::making::{Keeper, Order};
use crate::settings::JobDefaults;
use crate::{input, output};
use anyhow::anyhow;
use flashscope_load::file::{self, JobText};
use flashscope_load::job::{JobSet, Phase, RANDOM_TIME};
use flashscope_model::app::AppRun;
use flashscope_model::bench::{BenchRecord, JobRun};
use flashscope_model::{Kind, StopReason};
use flashscope_sim::SimTarget;
use flashscope_units::{Bytes, Nanos};
use keep::Kept;
pub(crate) use preset::jobs as preset_jobs;
use run::{Enough, Prepared, Setup, prepare};
use std::path::Path;
pub(crate) use watch::bar;

pub(crate) fn run(args: &Bench) -> Result<Outcome, Failure> {
    match &args.kind {
        Some(BenchKind::Fio(fio)) => return fio::run(fio),
        Some(BenchKind::Iozone(args)) => return iozone::run(&args.words),
        None => {}
    }
    if args.schema {
        output::data(&flashscope_record::schema(Some(Kind::Bench)))?;
        return Ok(Outcome::Done);
    }
    if args.presets {
        return preset::list();
    }
    if let Some(name) = &args.preset {
        return preset::run(args, name);
    }
    let jobs = jobs(args.job.as_deref(), &args.text(), &args.defaults, args.target.seed)?;
    let order = order(args);
    let setup = in_state::setup(setup(args), order.as_ref(), args.repeat.unwrap_or(1))?;
    let prepared = prepare(setup, jobs)?;
    if args.around.dry_run {
        output::data(&in_state::describe(&prepared, order.as_ref())?)?;
        return Ok(Outcome::Done);
    }
    let kept = Kept::plan(&args.around, &prepared, args.job.as_slice())?;
    let record = match order {
        Some(order) => in_state::run(prepared, order, &kept)?,
        None => prepared.run(&kept)?,
    };
    finish(&record, &args.around, &kept)
}

/// The state that is asked for before the jobs.
fn order(args: &Bench) -> Option<Order> {
    Order::before(&args.in_state, &args.target, args.around.output.as_deref(), args.around.json)
}

/// What was typed of everything but the jobs.
fn setup(args: &Bench) -> Setup {
    Setup {
        target: args.target.clone(),
        repeat: args.repeat.unwrap_or(1),
        prepare: 0,
        enough: Enough::never(),
        timeout: args.around.timeout,
        warm: args.warm,
        keep: args.around.keep,
        quiet: args.around.json,
    }
}

/// The jobs of the file, or the one that was typed, with what holds where neither says anything.
pub(crate) fn jobs(file: Option<&Path>, text: &JobText, defaults: &JobDefaults, seed: u64) -> Result<JobSet, Failure> {
    let mut set = match file {
        Some(path) => {
            let hint = "name a job file; --dry-run prints one";
            let file = input::text(path, hint)?;
            file::parse(&file, text, &defaults.words).map_err(|error| match error.to_string() {
                said if said.contains("hint: ") => anyhow!("{}: {said}", path.display()),
                said => anyhow!("{}: {}\nhint: {hint}", path.display(), said.trim_end()),
            })?
        }
        None => {
            let job = text.over(&defaults.words).job("bench").map_err(|error| anyhow!("{error}"))?;
            JobSet { phases: vec![Phase { jobs: vec![job], pause: Nanos::ZERO }] }
        }
    };
    for job in set.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
        job.end_when_random(defaults.random_time.unwrap_or(RANDOM_TIME));
    }
    // Every job draws by the seed of the command line, unless its file names one.
    for job in set.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
        if job.seed == 1 {
            job.seed = seed;
        }
    }
    Ok(set)
}

/// Jobs that were checked, to be run once without a word.
pub(crate) struct Quiet(Prepared);

/// Checks jobs against a target; nothing is made, written or opened for long.
pub(crate) fn quiet(target: TargetArgs, jobs: JobSet) -> Result<Quiet, Failure> {
    prepare(once(target), jobs).map(Quiet)
}

/// One run, without a word.
fn once(target: TargetArgs) -> Setup {
    Setup {
        target,
        repeat: 1,
        prepare: 0,
        enough: Enough::never(),
        timeout: None,
        warm: false,
        keep: false,
        quiet: true,
    }
}

impl Quiet {
    /// The most that it writes; `None` where only time limits that.
    pub(crate) fn most_written(&self) -> Result<Option<Bytes>, Failure> {
        Ok(self.0.budget()?.most())
    }

    /// Runs them; a simulated device goes on from run to run.
    pub(crate) fn run(self, device: &mut Option<SimTarget>) -> Result<BenchRecord, Failure> {
        self.0.run_on(device, &Kept::nothing())
    }

    /// The same on a device that is kept in a state, where it is.
    pub(crate) fn run_kept(
        self,
        device: &mut Option<SimTarget>,
        keeper: Option<&mut Keeper>,
    ) -> Result<BenchRecord, Failure> {
        let Some(keeper) = keeper else { return self.run(device) };
        let (jobs, made) = (self.0.set.clone(), keeper.before(device)?);
        let mut record = self.run(device)?;
        keeper.after(&jobs, made, &mut record);
        Ok(record)
    }
}

/// Shows and keeps what came of it, and says how it ended.
fn finish(record: &BenchRecord, around: &Around, kept: &Kept) -> Result<Outcome, Failure> {
    let saved = kept.save(record);
    let wire = || flashscope_record::to_json(record);
    let printed =
        output::data(&if around.json { wire() } else { flashscope_report::bench::terminal(record, output::style()) });
    history::keep(wire);
    saved.after(printed)?;
    outcome(record)
}

/// What a record means for the exit code.
pub(crate) fn outcome(record: &BenchRecord) -> Result<Outcome, Failure> {
    envelope::exit(&record.envelope.stop)?;
    let cut = record.envelope.stop == StopReason::BudgetSpent;
    // Why the exit code is 1 is no notice.
    if cut {
        output::say(
            "cut short: what may be written was used up first; what was measured is kept and marked truncated\n\
             hint: allow more with --max-write, or ask for less",
        );
    }
    let jobs = || record.phases.iter().flat_map(|phase| &phase.runs).flat_map(|run| &run.jobs);
    let failed: u64 = jobs().map(|job: &JobRun| job.failed).sum();
    if failed > 0 {
        output::say(&format!("{failed} requests failed: they are in the result, and part of no rate"));
    }
    let played = || record.preset.iter().filter_map(|preset| preset.played.as_ref()).flat_map(|played| &played.runs);
    let unplayed = played().any(AppRun::has_failed);
    let bad = cut || failed > 0 || unplayed || jobs().any(|job| job.mismatched > 0 || job.stop == StopReason::Failing);
    Ok(if bad { Outcome::ExpectationFailed } else { Outcome::Done })
}
