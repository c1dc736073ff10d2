//! `bench`: load on a target, and what came of it.
//!
//! What was typed becomes a [`JobSet`], checked against the target, then run: on a simulated device in virtual time
//! ([`simulated`]), on a real one by threads ([`host`]). Both give the same plain data, shown by [`table`] or as JSON.

mod host;
mod simulated;
mod table;
mod trace;
mod watch;

use crate::args::Bench;
use crate::error::{Failure, Outcome};
use crate::{interrupt, output};
use anyhow::{Context, anyhow};
use flashscope_device::WriteGrant;
use flashscope_load::file::{self, to_toml};
use flashscope_load::job::{JobSet, Phase};
use flashscope_load::plan::{Limits, Resolved, resolve_set};
use flashscope_model::bench::{BenchPhase, BenchRecord, JobEnded, JobRun, PhaseRun};
use flashscope_model::run::{Ended, HostFacts};
use flashscope_model::{DeviceFacts, bench};
use flashscope_units::{Bytes, Nanos};

pub(crate) fn run(args: &Bench) -> Result<Outcome, Failure> {
    if args.schema {
        output::data(&flashscope_record::bench_schema())?;
        return Ok(Outcome::Done);
    }
    let set = jobs(args)?;
    match args.target.target.strip_prefix("sim:") {
        Some(spec) => simulated::run(args, &set, spec),
        None => host::run(args, &set),
    }
}

/// The jobs of the file, or the one of the command line.
fn jobs(args: &Bench) -> Result<JobSet, Failure> {
    let text = args.text();
    let mut set = match &args.job {
        Some(path) => {
            let file = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            file::parse(&file, &text).map_err(|error| anyhow!("{}: {error}", path.display()))?
        }
        None => {
            let job = text.job("bench").map_err(|error| anyhow!("{error}"))?;
            JobSet { phases: vec![Phase { jobs: vec![job], pause: Nanos::ZERO }] }
        }
    };
    // Every job draws by the seed of the command line, unless its file names one.
    for job in set.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
        if job.seed == 1 {
            job.seed = args.target.seed;
        }
    }
    Ok(set)
}

/// Checks the jobs against the target.
fn resolve(set: &JobSet, limits: Limits) -> Result<Vec<Vec<Resolved>>, Failure> {
    resolve_set(set, |_| limits).map_err(|error| Failure::Cannot(anyhow!("{error}")))
}

/// Prints what would be done.
fn dry_run(set: &JobSet, plans: &[Vec<Resolved>], args: &Bench) -> Result<Outcome, Failure> {
    let phases = plans
        .iter()
        .zip(&set.phases)
        .map(|(plans, phase)| Phase { jobs: plans.iter().map(|plan| plan.job.clone()).collect(), pause: phase.pause });
    let resolved = JobSet { phases: phases.collect() };
    let written = match most_written(plans, args.repeat) {
        Some(bytes) => format!("writes at most {bytes}"),
        None => "writes until its time is over".to_owned(),
    };
    output::data(&format!("# {} runs, {written}\n{}", args.repeat, to_toml(&resolved)))?;
    Ok(Outcome::Done)
}

/// All that is written at most; `None` where only time ends it.
fn most_written(plans: &[Vec<Resolved>], repeat: u32) -> Option<Bytes> {
    let each: Option<Vec<Bytes>> = plans.iter().flatten().map(Resolved::most_written).collect();
    Some(each?.into_iter().sum::<Bytes>() * u64::from(repeat))
}

/// The right to write that the jobs need. Without an end by bytes it is bounded by --max-write alone.
fn budget(plans: &[Vec<Resolved>], args: &Bench) -> Result<Bytes, Failure> {
    let asked = most_written(plans, args.repeat);
    match (asked, args.target.max_write) {
        (Some(asked), Some(most)) if asked > most => Err(Failure::Cannot(anyhow!(
            "the jobs write {asked}, which is more than --max-write allows ({most})\nhint: allow more, or end them earlier"
        ))),
        (Some(asked), _) => Ok(asked),
        (None, Some(most)) => Ok(most),
        (None, None) => Ok(UNBOUNDED),
    }
}

/// More than any device takes in a lifetime.
const UNBOUNDED: Bytes = Bytes(1 << 62);

/// Each worker's part of the grant: what it writes at most, or an equal share of what is left.
fn split(grant: &mut WriteGrant, plans: &[Resolved], phases_left: u64) -> Vec<Vec<Option<WriteGrant>>> {
    let open: u64 =
        plans.iter().filter(|plan| plan.most_written().is_none()).map(|plan| u64::from(plan.job.workers)).sum();
    let known = plans.iter().filter_map(Resolved::most_written).sum::<Bytes>();
    let share = grant.left().saturating_sub(known * phases_left) / (open.max(1) * phases_left.max(1));
    let part = |plan: &Resolved| match plan.most_written() {
        Some(bytes) if bytes == Bytes::ZERO => None,
        Some(bytes) => Some(bytes / u64::from(plan.job.workers)),
        None => Some(share),
    };
    let of = |plan: &Resolved, grant: &mut WriteGrant| {
        (0..plan.job.workers).map(|_| part(plan).and_then(|bytes| grant.split(bytes))).collect()
    };
    plans.iter().map(|plan| of(plan, grant)).collect()
}

/// Runs every phase as often as was asked for, until one is cut short; `pause` lets time pass.
fn run_all(
    set: &JobSet,
    plans: &[Vec<Resolved>],
    args: &Bench,
    mut pause: impl FnMut(Nanos),
    mut phase: impl FnMut(&[Resolved], u64) -> Result<PhaseRun, Failure>,
) -> Result<(Vec<BenchPhase>, Ended), Failure> {
    let mut phases: Vec<BenchPhase> =
        plans.iter().map(|_| BenchPhase { runs: Vec::new(), summary: Vec::new() }).collect();
    let mut ended = Ended::Complete;
    let mut left = plans.len() as u64 * u64::from(args.repeat);
    'all: for _ in 0..args.repeat {
        for (index, plans) in plans.iter().enumerate() {
            pause(set.phases[index].pause);
            let run = phase(plans, left)?;
            left -= 1;
            ended = how_ended(&run.jobs);
            phases[index].runs.push(run);
            if interrupt::asked() {
                ended = Ended::Interrupted;
            }
            if !matches!(ended, Ended::Complete) {
                break 'all;
            }
        }
    }
    for phase in &mut phases {
        let jobs: Vec<Vec<JobRun>> = phase.runs.iter().map(|run| run.jobs.clone()).collect();
        phase.summary = flashscope_load::outcome::summaries(&jobs);
    }
    Ok((phases, ended))
}

fn how_ended(jobs: &[JobRun]) -> Ended {
    let lost = jobs.iter().find_map(|job| match &job.ended {
        JobEnded::DeviceLost(why) => Some(why.clone()),
        _ => None,
    });
    match lost {
        Some(why) => Ended::DeviceLost(why),
        None if jobs.iter().any(|job| job.ended == JobEnded::BudgetSpent) => Ended::BudgetSpent,
        None => Ended::Complete,
    }
}

/// Shows and keeps what came of it, and says how it ended.
fn finish(
    args: &Bench,
    device: Option<DeviceFacts>,
    host: Option<HostFacts>,
    (phases, ended): (Vec<BenchPhase>, Ended),
) -> Result<Outcome, Failure> {
    let record = BenchRecord {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "bench".to_owned(),
        target: args.target.target.clone(),
        virtual_time: host.is_none(),
        host,
        device,
        phases,
        ended,
    };
    let json = || flashscope_record::bench_to_json(&record);
    output::data(&if args.json { json() } else { table::text(&record) })?;
    if let Some(path) = &args.output {
        output::save_all(&[(path, "Record", &json())])?;
    }
    exit(&record)
}

fn exit(record: &BenchRecord) -> Result<Outcome, Failure> {
    match &record.ended {
        Ended::Interrupted => {
            return Err(Failure::Cannot(anyhow!("interrupted; what was measured is kept and marked truncated")));
        }
        Ended::DeviceLost(why) => {
            return Err(Failure::Cannot(anyhow!(
                "{why}\nhint: what was measured until then is kept and marked truncated"
            )));
        }
        Ended::Complete | Ended::BudgetSpent => {}
    }
    let jobs = || record.phases.iter().flat_map(|phase| &phase.runs).flat_map(|run| &run.jobs);
    let bad = jobs().any(|job: &bench::JobRun| job.mismatched > 0 || job.ended == JobEnded::Failing);
    Ok(if bad { Outcome::ExpectationFailed } else { Outcome::Done })
}
