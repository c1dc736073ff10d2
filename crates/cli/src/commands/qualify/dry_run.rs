//! What would be run, and what that takes.

use super::work::{job_file, state};
use crate::args::{QualifyCourse, TargetArgs};
use crate::commands::bench;
use crate::error::Failure;
use crate::progress::whole;
use crate::settings::JobDefaults;
use anyhow::anyhow;
use flashscope_load::file::{JobText, parse};
use flashscope_model::qualification::{Access, Part};
use flashscope_qualify::schedule::{Way, most_runs};
use flashscope_qualify::{Plan, Task, Workload};
use flashscope_units::{Bytes, Nanos};

/// A line per workload: how often it is run at most, how long that takes, what it writes; then the whole.
pub(super) fn text(plan: &Plan, parts: &[Part], args: &QualifyCourse, way: &Way) -> Result<String, Failure> {
    let runs = most_runs(plan, parts, way);
    let longest = plan.workloads.iter().map(|workload| workload.name.chars().count()).max().unwrap_or(0);
    let mut lines = vec![format!("# {}: at most", plan.title)];
    let (mut time, mut written, mut unknown) = (Nanos::ZERO, Some(Bytes::ZERO), Vec::new());
    for (workload, runs) in plan.workloads.iter().zip(runs) {
        let (one, bytes) = cost(workload, &parts[parts.len() - 1], args)?;
        let all = |one: u64| one.saturating_mul(u64::from(runs));
        match one {
            Some(one) => time += Nanos(all(one.get())),
            None => unknown.push(workload.name.as_str()),
        }
        written = written.zip(bytes).map(|(sum, one)| Bytes(sum.get().saturating_add(all(one.get()))));
        let said = [
            format!("{runs:>4} runs"),
            one.map_or("time known after the first".to_owned(), |one| format!("{} each", whole(one))),
            bytes.map_or("writes as much as its time allows".to_owned(), |bytes| format!("writes {bytes} each")),
            format!("state: {}", state(workload.state)),
        ];
        lines.push(format!("{:longest$}  {:9}  {}", workload.name, workload.task.work().word(), said.join(", ")));
    }
    lines.push(format!(
        "in all: {} and the time of {}{}",
        whole(time),
        if unknown.is_empty() { "nothing else".to_owned() } else { unknown.join(", ") },
        args.max_time.or(plan.time).map_or_else(String::new, |most| format!("; no block begins after {}", whole(most)))
    ));
    lines.extend(wear(written, parts, args));
    lines.push("states that are made take time and writes beside that: `flashscope state --make STATE --dry-run` says how much".to_owned());
    lines.extend(plan.cannot_decide.iter().map(|what| format!("the short form does not decide {what}")));
    Ok(lines.join("\n"))
}

/// What is written in all, and which share of a part's life that is. Both sides share the runs.
fn wear(written: Option<Bytes>, parts: &[Part], args: &QualifyCourse) -> Option<String> {
    let part = parts.iter().rfind(|part| part.access != Access::Simulated)?;
    let Some(written) = written else {
        return Some("writes: only the time limits them, and --max-write SIZE".to_owned());
    };
    let share = match (args.rated_writes, part.capacity) {
        (Some(rated), _) => format!("{:.2} % of the rated life", 100.0 * written.as_f64() / rated.as_f64()),
        (None, Some(capacity)) if capacity > Bytes::ZERO => {
            format!(
                "{:.2} × the capacity; --rated-writes tells the share of its life",
                written.as_f64() / capacity.as_f64()
            )
        }
        _ => return Some(format!("writes {written} to all parts together")),
    };
    Some(format!("writes {written} to all parts together: {share}"))
}

/// Time and bytes of one run, where they are known before.
fn cost(workload: &Workload, part: &Part, args: &QualifyCourse) -> Result<(Option<Nanos>, Option<Bytes>), Failure> {
    let Task::Bench { jobs, preset } = &workload.task else {
        let reads_only = matches!(workload.task, Task::Inspect | Task::Memory { .. });
        return Ok((None, reads_only.then_some(Bytes::ZERO)));
    };
    if part.access == Access::Files || preset.is_some() {
        return Ok((None, None));
    }
    let mut target = TargetArgs {
        target: part.target.clone(),
        seed: args.seed,
        consent: args.consent.clone(),
        allow_cached: args.allow_cached,
    };
    target.consent.read_in_use = true;
    let text = job_file(jobs)?;
    let JobDefaults { words, .. } = JobDefaults::default();
    let set = parse(&text, &JobText::default(), &words).map_err(|error| anyhow!("{error}"))?;
    let time = jobs
        .iter()
        .filter_map(|job| job.runtime.as_ref())
        .filter_map(|text| text.to_string().parse::<Nanos>().ok())
        .sum();
    let most = match part.access {
        Access::Simulated => Some(Bytes::ZERO),
        _ => bench::quiet(target, set)?.most_written()?,
    };
    Ok((Some(time), most))
}
