//! `probe NAME`: one experiment, with flashbench's parameters.

use super::finish;
use crate::args::{Format, Probe, ProbeCommon, ProbeKind};
use crate::error::{Failure, Outcome};
use crate::output;
use crate::progress::Progress;
use crate::target::{self, Opened, Writes};
use anyhow::anyhow;
use flashscope_device::{Refusal, RefusalKind, Target, WriteGrant};
use flashscope_model::plan::{self, Budget};
use flashscope_model::run::HostFacts;
use flashscope_model::{DeviceFacts, Direction, Experiment, Order, RunRecord};
use flashscope_probe::{PlanError, ProbeError};
use flashscope_report::Style;
use flashscope_session::Options;
use flashscope_units::Bytes;

pub(crate) fn run(args: Probe) -> Result<Outcome, Failure> {
    let (common, experiment) = resolve(args.experiment);
    let cost = |facts: &DeviceFacts| {
        flashscope_probe::validate(&experiment, facts)
            .map_err(|error| unfit(&common.target.target, &experiment, facts, error))?;
        let written = flashscope_probe::cost(&experiment, facts).written;
        match common.target.max_write {
            Some(most) if written > most => Err(Failure::Cannot(anyhow!(
                "this experiment writes {written}, which is more than --max-write allows ({most})\n\
                 hint: allow more, or choose larger blocks or fewer units"
            ))),
            _ => Ok(written),
        }
    };
    let record = match target::open(&common.target, Writes::Exactly(&cost))? {
        Opened::Simulated { mut target, mut grant } => {
            measure(&common, experiment, target.as_mut(), grant.as_mut(), None)?
        }
        Opened::Host { mut target, mut grant, host } => {
            measure(&common, experiment, target.as_mut(), grant.as_mut(), Some(host))?
        }
    };
    print(&common, &record)?;
    if let Some(path) = &common.output {
        output::save_all(&[(path, "Record", &flashscope_record::to_json(&record))])?;
    }
    finish::exit(&record.ended)
}

/// A real device that is too small for what was to be written is refused; all else is a matter of parameters.
fn unfit(target: &str, experiment: &Experiment, facts: &DeviceFacts, error: PlanError) -> Failure {
    let writes = match experiment {
        Experiment::OpenAu(_) | Experiment::Fat(_) | Experiment::Program(_) | Experiment::Buffer(_) => true,
        Experiment::Align(align) => align.direction == Direction::Write,
        _ => false,
    };
    if facts.simulated || !writes || !matches!(error, PlanError::DoesNotFit { .. }) {
        return Failure::Cannot(anyhow!("{error}"));
    }
    let refusal = Refusal { kind: RefusalKind::TooSmall, what: error.to_string(), release: None };
    Failure::Refused { target: target.to_owned(), writing: true, refusals: vec![refusal] }
}

fn measure<T: Target>(
    common: &ProbeCommon,
    experiment: Experiment,
    target: &mut T,
    grant: Option<&mut WriteGrant>,
    host: Option<HostFacts>,
) -> Result<RunRecord, Failure> {
    let command = format!("probe {}", experiment.name());
    let left = grant.as_ref().map_or(Bytes::ZERO, |grant| grant.left());
    let options = Options { seed: common.target.seed, budget: Budget { write: left, time: None } };
    let mut progress = Progress::new(common.json);
    let report = flashscope_session::single(experiment, target, grant, options, &mut progress);
    progress.finish();
    let report = report.map_err(|error| match error {
        ProbeError::NoGrant => anyhow!("{error}\nhint: this target was opened with --read-only"),
        other => anyhow!("{other}"),
    })?;
    Ok(finish::record(command, &common.target.target, target, host, report))
}

fn print(common: &ProbeCommon, record: &RunRecord) -> Result<(), Failure> {
    if common.json || common.format == Format::Json {
        return output::data(&flashscope_record::to_json(record));
    }
    let style = Style { colour: output::colour(), width: output::width() };
    for run in &record.observations.runs {
        let table = || flashscope_report::probe_table(run, style);
        let text = match common.format {
            Format::Flashbench => flashscope_transcript::write(&run.data)
                .ok_or_else(|| anyhow!("flashbench has no such experiment\nhint: use --format table or json"))?,
            Format::Table | Format::Json => table(),
        };
        output::data(&text)?;
        for failure in &run.failures {
            output::talk(&format!(
                "failed: {:?} of {} at {}: {}",
                failure.direction,
                failure.length,
                failure.offset.get(),
                failure.reason
            ));
        }
    }
    Ok(())
}

fn resolve(kind: ProbeKind) -> (ProbeCommon, Experiment) {
    match kind {
        ProbeKind::Align(args) => {
            let plan = plan::Align {
                direction: Direction::Read,
                block: args.block,
                access: 1,
                tries: args.count,
                places: args.places,
                offset: args.offset,
                largest: None,
            };
            (args.common, Experiment::Align(plan))
        }
        ProbeKind::WriteAlign(args) => {
            let plan = plan::Align {
                direction: Direction::Write,
                block: args.block,
                access: args.access,
                tries: args.count,
                places: args.places,
                offset: args.offset,
                largest: None,
            };
            (args.common, Experiment::Align(plan))
        }
        ProbeKind::OpenAu(args) => {
            let plan = plan::OpenAu {
                count: args.open_au_nr,
                order: order(args.random),
                erase: args.erase,
                block: args.block,
                offset: args.offset,
            };
            (args.common, Experiment::OpenAu(plan))
        }
        ProbeKind::Fat(args) => {
            let plan = plan::Fat {
                count: args.fat_nr,
                order: order(args.random),
                erase: args.erase,
                block: args.block,
                offset: args.offset,
            };
            (args.common, Experiment::Fat(plan))
        }
        ProbeKind::Scatter(args) => {
            let plan = plan::Scatter {
                order: args.scatter_order,
                span: args.scatter_span,
                block: args.block,
                tries: args.count,
                offset: args.offset,
            };
            (args.common, Experiment::Scatter(plan))
        }
        ProbeKind::Interval(args) => {
            let plan = plan::Interval { order: args.interval_order, places: args.places, offset: args.offset };
            (args.common, Experiment::Interval(plan))
        }
        ProbeKind::Program(args) => {
            let plan =
                plan::Program { region: args.region, offset: args.offset, largest: args.largest, smallest: args.block };
            (args.common, Experiment::Program(plan))
        }
        ProbeKind::Boundaries(args) => {
            let mut candidates = args.candidates;
            candidates.sort_unstable();
            candidates.dedup();
            let plan = plan::Boundaries {
                block: args.block,
                exclude: candidates.clone(),
                candidates,
                places: args.places,
                rounds: args.count,
                offset: args.offset,
                within: None,
            };
            (args.common, Experiment::Boundaries(plan))
        }
        ProbeKind::Floor(args) => {
            (args.common, Experiment::Floor(plan::Floor { block: args.block, at: args.offset, count: args.count }))
        }
        ProbeKind::Survey(args) => {
            let plan = plan::Survey { block: args.block, places: args.places, repeats: args.count };
            (args.common, Experiment::Survey(plan))
        }
        ProbeKind::Buffer(args) => {
            let burst = plan::Burst { writes: args.writes, pause: args.pause, then: args.then };
            let plan = plan::Buffer {
                block: args.block,
                start: args.offset,
                length: args.region,
                rest: args.rest,
                bursts: vec![burst; args.count as usize],
            };
            (args.common, Experiment::Buffer(plan))
        }
        ProbeKind::ReadCache(args) => {
            let plan = plan::ReadCache {
                block: args.block,
                regions: (0..u64::from(args.regions)).map(|index| args.offset + args.region * index).collect(),
                region: args.region,
                spans: args.spans,
                run: args.run,
                distances: args.distances,
                rest: args.rest,
                rounds: args.count,
            };
            (args.common, Experiment::ReadCache(plan))
        }
    }
}

fn order(random: bool) -> Order {
    if random { Order::Random } else { Order::InOrder }
}
