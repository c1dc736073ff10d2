//! `probe NAME`: one experiment, with flashbench's parameters.

mod drive;

use crate::args::{Format, Probe, ProbeCommon, ProbeKind, ReportFormat};
use crate::commands::{history, report};
use crate::envelope;
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use crate::progress::Progress;
use crate::target::{self, Opened, Writes};
use crate::whose::Whose;
use anyhow::anyhow;
use flashscope_device::{Refusal, RefusalKind, Target, WriteGrant};
use flashscope_host::Surroundings;
use flashscope_model::plan::{self, Budget};
use flashscope_model::{DeviceFacts, Direction, Experiment, Kind, Order, RunRecord};
use flashscope_probe::{PlanError, ProbeError};
use flashscope_record::AnyRecord;
use flashscope_session::Options;
use flashscope_units::{Bytes, Nanos};

pub(crate) fn run(args: Probe) -> Result<Outcome, Failure> {
    let kind = args.experiment;
    let common = common(&kind);
    let cost = |facts: &DeviceFacts| {
        let experiment = resolve(&kind, facts);
        flashscope_probe::validate(&experiment, facts)
            .map_err(|error| unfit(&common.target.target, &experiment, facts, error))?;
        let written = flashscope_probe::cost(&experiment, facts).written;
        match common.target.consent.max_write {
            Some(most) if written > most => Err(Failure::Cannot(anyhow!(
                "this experiment writes {written}, which is more than --max-write allows ({most})\n\
                 hint: allow more, or choose larger blocks or fewer units"
            ))),
            _ => Ok(written),
        }
    };
    let mut door = output::door(common.replace.force, [&common.target.target]);
    let output = common.output.as_ref().map(|path| output::plan(&mut door, path)).transpose()?;
    if let Some(path) = &common.output {
        report::format_of(path, ReportFormat::Json)?;
    }
    if let Some(output) = &output {
        Whose::named(&common.target.target).guard(common.replace.force, output)?;
    }
    let record = match target::open(&common.target, Writes::Exactly(&cost))? {
        Opened::Simulated { mut target, mut grant } => {
            let experiment = resolve(&kind, target.facts());
            measure(common, experiment, target.as_mut(), grant.as_mut(), None)?
        }
        Opened::Host { mut target, mut grant, here } => {
            let experiment = resolve(&kind, target.facts());
            measure(common, experiment, target.as_mut(), grant.as_mut(), Some(*here))?
        }
    };
    let mut saved = Saved::default();
    if let Some(output) = &output {
        let name = if report::format_of(output.path(), ReportFormat::Json)? == ReportFormat::Json {
            "Record"
        } else {
            "Report"
        };
        saved.add(output, name, report::file(&AnyRecord::Run(Box::new(record.clone())), output.path()));
    }
    history::keep(|| flashscope_record::to_json(&record));
    saved.after(print(common, &record))?;
    envelope::exit(&record.envelope.stop)
}

/// A real device that is too small for what was to be written is refused; all else is a matter of parameters.
fn unfit(target: &str, experiment: &Experiment, facts: &DeviceFacts, error: PlanError) -> Failure {
    if facts.simulated || experiment.bytes_written() == Bytes::ZERO || !matches!(error, PlanError::DoesNotFit { .. }) {
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
    here: Option<Surroundings>,
) -> Result<RunRecord, Failure> {
    let command = format!("probe {}", experiment.name());
    let left = grant.as_ref().map_or(Bytes::ZERO, |grant| grant.left());
    let options = Options { seed: common.target.seed, budget: Budget { write: left, time: None } };
    let envelope = envelope::of(Kind::Probe, command, &common.target, target, here.as_ref());
    let mut progress = Progress::new(common.json, None);
    let report = flashscope_session::single(experiment, target, grant, options, &mut progress);
    progress.finish();
    let report = report.map_err(|error| match error {
        ProbeError::NoGrant => anyhow!("{error}\nhint: this target was opened with --read-only"),
        other => anyhow!("{other}"),
    })?;
    Ok(envelope::record(envelope, here.as_ref(), report))
}

fn print(common: &ProbeCommon, record: &RunRecord) -> Result<(), Failure> {
    if common.json || common.format == Format::Json {
        return output::data(&flashscope_record::to_json(record));
    }
    let style = output::style();
    for run in &record.observations.runs {
        let table = || flashscope_report::probe_table(run, style);
        let text = match common.format {
            Format::Flashbench => flashscope_transcript::write(&run.data)
                .ok_or_else(|| anyhow!("flashbench has no such experiment\nhint: use --format table or json"))?,
            Format::Table | Format::Json => {
                format!("{}\n{}", table(), flashscope_report::probe_conclusion(run, &record.findings, style))
            }
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

fn common(kind: &ProbeKind) -> &ProbeCommon {
    match kind {
        ProbeKind::Align(args) => &args.common,
        ProbeKind::WriteAlign(args) => &args.common,
        ProbeKind::OpenAu(args) => &args.common,
        ProbeKind::Fat(args) => &args.common,
        ProbeKind::Scatter(args) => &args.common,
        ProbeKind::Interval(args) => &args.common,
        ProbeKind::Program(args) => &args.common,
        ProbeKind::Boundaries(args) => &args.common,
        ProbeKind::Slide(args) => &args.common,
        ProbeKind::Floor(args) => &args.common,
        ProbeKind::Survey(args) => &args.common,
        ProbeKind::Buffer(args) => &args.common,
        ProbeKind::ReadCache(args) => &args.common,
        ProbeKind::SlcCache(args) => &args.common,
        ProbeKind::Parallel(args) => &args.common,
        ProbeKind::MapReach(args) => &args.common,
        ProbeKind::Gc(args) => &args.common,
        ProbeKind::Cells(args) => &args.common,
        ProbeKind::Discard(args) => &args.common,
    }
}

fn resolve(kind: &ProbeKind, facts: &DeviceFacts) -> Experiment {
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
            Experiment::Align(plan)
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
            Experiment::Align(plan)
        }
        ProbeKind::OpenAu(args) => {
            let plan = plan::OpenAu {
                count: args.open_au_nr,
                order: order(args.random),
                erase: args.erase,
                block: args.block,
                offset: args.offset,
            };
            Experiment::OpenAu(plan)
        }
        ProbeKind::Fat(args) => {
            let plan = plan::Fat {
                count: args.fat_nr,
                order: order(args.random),
                erase: args.erase,
                block: args.block,
                offset: args.offset,
            };
            Experiment::Fat(plan)
        }
        ProbeKind::Scatter(args) => {
            let plan = plan::Scatter {
                order: args.scatter_order,
                span: args.scatter_span,
                block: args.block,
                tries: args.count,
                offset: args.offset,
            };
            Experiment::Scatter(plan)
        }
        ProbeKind::Interval(args) => {
            let plan = plan::Interval { order: args.interval_order, places: args.places, offset: args.offset };
            Experiment::Interval(plan)
        }
        ProbeKind::Program(args) => {
            let plan =
                plan::Program { region: args.region, offset: args.offset, largest: args.largest, smallest: args.block };
            Experiment::Program(plan)
        }
        ProbeKind::Boundaries(args) => {
            let mut candidates = args.candidates.clone();
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
                rest: Nanos::ZERO,
            };
            Experiment::Boundaries(plan)
        }
        ProbeKind::Slide(args) => {
            let starts = args.starts.clone();
            Experiment::Slide(plan::Slide {
                block: args.block,
                step: args.step,
                starts,
                places: args.places,
                rounds: args.count,
                descending: args.descending,
            })
        }
        ProbeKind::Floor(args) => {
            Experiment::Floor(plan::Floor { block: args.block, at: args.offset, count: args.count })
        }
        ProbeKind::Survey(args) => {
            let plan = plan::Survey { block: args.block, places: args.places, repeats: args.count, within: None };
            Experiment::Survey(plan)
        }
        ProbeKind::Buffer(args) => {
            let burst = plan::Burst { writes: args.writes, pause: args.pause, then: args.then };
            let plan = plan::Buffer {
                block: args.block,
                start: args.offset,
                length: args.region,
                rest: args.rest,
                bursts: vec![burst; args.count as usize],
                most_time: None,
            };
            Experiment::Buffer(plan)
        }
        ProbeKind::ReadCache(args) => {
            let plan = plan::ReadCache {
                block: args.block,
                regions: (0..u64::from(args.regions)).map(|index| args.offset + args.region * index).collect(),
                region: args.region,
                spans: given(&args.spans, || spans(args.block)),
                run: args.run,
                distances: given(&args.distances, || distances(args.block)),
                rest: args.rest,
                rounds: args.count,
            };
            Experiment::ReadCache(plan)
        }
        ProbeKind::SlcCache(args) => drive::slc_cache(args),
        ProbeKind::Parallel(args) => drive::parallel(args, facts),
        ProbeKind::MapReach(args) => drive::map_reach(args, facts),
        ProbeKind::Gc(args) => drive::gc(args, facts),
        ProbeKind::Cells(args) => drive::cells(args),
        ProbeKind::Discard(args) => Experiment::Discard(args.plan()),
    }
}

fn order(random: bool) -> Order {
    if random { Order::Random } else { Order::InOrder }
}

/// What was typed, else what fits the block.
fn given(typed: &[Bytes], fitting: impl Fn() -> Vec<Bytes>) -> Vec<Bytes> {
    if typed.is_empty() { fitting() } else { typed.to_vec() }
}

/// Powers of two and one and a half times that, from 4 KiB to 1 MiB, of whole blocks; two blocks at the least.
fn spans(block: Bytes) -> Vec<Bytes> {
    const SPANS_KIB: [u64; 15] = [4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024];
    let whole: Vec<Bytes> = SPANS_KIB.map(Bytes::kib).into_iter().filter(|span| span.is_multiple_of(block)).collect();
    if whole.len() > 1 { whole } else { vec![block, block * 2, block * 4] }
}

/// Gaps that each reach twice as far as the one before, in whole blocks: 0, 4 KiB, 12 KiB … 508 KiB for one of 4 KiB.
fn distances(block: Bytes) -> Vec<Bytes> {
    let step = block.max(Bytes::kib(4)).align_up(block);
    (0..8u32).map(|power| step * ((1 << power) - 1)).filter(|gap| *gap < Bytes::kib(512).max(step * 4)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_read_cache_is_probed_with_fits_the_block() {
        let kib = |sizes: Vec<Bytes>| sizes.into_iter().map(|size| size / Bytes::kib(1)).collect::<Vec<_>>();
        assert_eq!(kib(spans(Bytes::kib(4))), [4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024]);
        assert_eq!(kib(distances(Bytes::kib(4))), [0, 4, 12, 28, 60, 124, 252, 508]);
        assert_eq!(kib(spans(Bytes::kib(16))), [16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024]);
        assert_eq!(kib(distances(Bytes::kib(16))), [0, 16, 48, 112, 240, 496]);
        assert_eq!(kib(spans(Bytes::mib(4))), [4096, 8192, 16384]);
        assert!(distances(Bytes::mib(4)).iter().all(|gap| gap.is_multiple_of(Bytes::mib(4))));
    }
}
