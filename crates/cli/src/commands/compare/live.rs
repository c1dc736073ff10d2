//! Sides that are measured in turns while it decides.

use super::readings::Settings as Compared;
use super::sides::Side;
use super::work::{Jobs, Work};
use super::{allow, finish};
use crate::args::Compare as Args;
use crate::commands::app::Program;
use crate::commands::bench;
use crate::commands::campaign::{Done, Keep, Meter, add_metrics, asked_for, left};
use crate::envelope;
use crate::error::{Failure, Outcome};
use crate::progress::whole;
use crate::{interrupt, output};
use anyhow::anyhow;
use flashscope_experiment::{Block, Campaign, Settings};
use flashscope_host::{Output, Surroundings, SysRoot};
use flashscope_model::comparison::{
    CampaignEnd, Campaigned, ComparisonRecord, Difference, Group, Metric, Source, Verdict,
};
use flashscope_model::{Envelope, Kind, StopReason};
use flashscope_units::Bytes;
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};

/// What would be done, in words, with the jobs of a run.
pub(super) fn describe(args: &Args, sides: &[Side]) -> Result<String, Failure> {
    let per_block = if sides.len() == 2 { 4 } else { sides.len() + 1 };
    let turns = format!(
        "# {} sides in turns: one run each that counts for nothing, then at most {} blocks of {per_block} runs\n",
        sides.len(),
        args.turns.blocks
    );
    if args.apps.are_said() {
        let program = Program::of(&args.apps, &args.consent, args.text())?;
        let line = program.line();
        let written = "# devices are given a file system; writes as much as the apps do (--max-write ends the runs)";
        return Ok(format!("{turns}# each run plays {line}\n{written}\n{}", program.text()));
    }
    let mut jobs = Jobs::new(args, sides);
    let mut most = Some(Bytes::ZERO);
    for side in 0..sides.len() {
        let one = jobs.prepare(side)?.most_written()?;
        // The baseline has two runs in a block; so has the other side, where there is one.
        let runs =
            1 + u64::from(side == 0 || sides.len() == 2) * u64::from(args.turns.blocks) + u64::from(args.turns.blocks);
        most = most.zip(one).map(|(sum, one)| Bytes(sum.get().saturating_add(one.get().saturating_mul(runs))));
    }
    let written = most.map_or("an amount that only their time limits".to_owned(), |most| format!("at most {most}"));
    Ok(format!("{turns}# writes {written}\n{}", jobs.text()?))
}

/// Measures until every figure is decided, or something else ends it.
pub(super) fn run(args: &Args, settings: &Settings, sides: &[Side], outputs: &[Output]) -> Result<Outcome, Failure> {
    interrupt::arm();
    let mut bench = Bench::new(args, sides)?;
    let emulated = || bench.work.device().map(Path::to_owned);
    let below = host_side(sides).map(PathBuf::from).or_else(emulated);
    let here = below.map(|path| Surroundings::of(&SysRoot::live(), &path));
    let mut envelope = begin(args, sides, here.as_ref());
    let first = bench.first_runs()?;
    envelope.state = bench.work.state().cloned();
    allow(args, &first.differences)?;
    let labels: Vec<String> = sides.iter().map(|side| side.label.clone()).collect();
    let mut campaign = Campaign::new(labels, first.metrics.clone(), *settings, args.seed);
    let frame = Frame { args, sides, here: here.as_ref(), first, job: bench.work.text()?, envelope };
    let bar = bench::bar("compare", args.results.json);
    let mut kept = Keep::new(outputs, args.results.replace.force);
    let mut unused = 0;
    let end = loop {
        if let Some(end) = bench.meter.end_before_block(campaign.blocks()) {
            break (end, None);
        }
        let block = campaign.next_block();
        let done = bench.block(&block, &frame.first.metrics, &bar, &campaign);
        campaign.push(&block, &done.values);
        if let Some(end) = done.end {
            unused = u32::try_from(done.values.len()).unwrap_or(u32::MAX);
            break end;
        }
        if campaign.decided() {
            break (CampaignEnd::Decided, None);
        }
        let so_far = || frame.record(&campaign, 0, CampaignEnd::Interrupted, None);
        kept.so_far(|| flashscope_record::to_json(&so_far()));
    };
    bar.finish_and_clear();
    let (end, mut failure) = end;
    if let (Err(why), None) = (bench.work.close(), &failure) {
        failure = Some(Stopped::Failure(why));
    }
    let record = frame.record(&campaign, unused, end, failure.as_ref());
    kept.forget();
    let shown = finish(args, &record, outputs);
    // Why a run could not be done says more than that the record is cut short.
    match failure {
        Some(Stopped::Failure(failure)) => Err(failure),
        _ => shown,
    }
}

/// The first side that is a thing of this machine.
fn host_side(sides: &[Side]) -> Option<&str> {
    sides.iter().map(|side| side.items[0].typed.as_str()).find(|typed| !typed.starts_with("sim:"))
}

/// What a run that could not be done came to.
enum Stopped {
    /// It ended early, and its record says why.
    Early(StopReason),
    /// It did not begin.
    Failure(Failure),
}

/// What the first run of each side tells.
struct First {
    metrics: Vec<Metric>,
    differences: Vec<Difference>,
}

/// Runs of the sides, one at a time.
struct Bench<'a> {
    args: &'a Args,
    labels: Vec<&'a str>,
    work: Work<'a>,
    /// Blocks so far, the first runs included.
    blocks: u64,
    meter: Meter,
}

/// What came of a block.
struct BlockDone {
    /// Of each run that was done, in the order of the slots.
    values: Vec<Vec<Option<f64>>>,
    /// Why it was cut short.
    end: Option<(CampaignEnd, Option<Stopped>)>,
}

impl<'a> Bench<'a> {
    fn new(args: &'a Args, sides: &'a [Side]) -> Result<Bench<'a>, Failure> {
        Ok(Bench {
            args,
            labels: sides.iter().map(|side| side.label.as_str()).collect(),
            work: Work::of(args, sides)?,
            blocks: 0,
            meter: Meter::new(args.turns, args.consent.max_write),
        })
    }

    fn one(&mut self, side: usize) -> Result<Done, Stopped> {
        let done = self.work.run(self.args, side, self.blocks).map_err(|failure| match interrupt::asked() {
            // A run that was being prepared when the wish came did not begin.
            true => Stopped::Early(StopReason::Interrupted),
            false => Stopped::Failure(failure),
        })?;
        self.meter.count(&done);
        match &done.stop {
            StopReason::Complete => Ok(done),
            early => Err(Stopped::Early(early.clone())),
        }
    }

    fn block_done(&mut self) {
        self.meter.block_done();
        self.blocks += 1;
    }

    /// One run of each side that counts for nothing: whatever would go wrong goes wrong early, and each side has been used.
    fn first_runs(&mut self) -> Result<First, Failure> {
        let (mut metrics, mut settings): (Vec<Metric>, _) = (Vec::new(), Compared::default());
        for side in 0..self.labels.len() {
            let done = self.one(side).map_err(|stopped| match stopped {
                Stopped::Failure(failure) => failure,
                Stopped::Early(stop) => no_first_run(self.labels[side], &stop),
            })?;
            if let (Some(why), Work::Apps(..)) = (&done.spoiled, &self.work) {
                let label = self.labels[side];
                return Err(Failure::Cannot(anyhow!(
                    "the first run of {label} does not count: {why}\nhint: try it with `flashscope app`"
                )));
            }
            settings.add(self.labels[side], &done.settings);
            add_metrics(&mut metrics, &done.figures);
        }
        self.block_done();
        let metrics = asked_for(&metrics, &self.args.figure)?;
        Ok(First { metrics, differences: settings.differences() })
    }

    fn block(&mut self, block: &Block, metrics: &[Metric], bar: &ProgressBar, campaign: &Campaign) -> BlockDone {
        let mut done = BlockDone { values: Vec::new(), end: None };
        for (at, slot) in block.iter().enumerate() {
            self.show(bar, campaign, (at, block.len()), self.labels[slot.side]);
            let stopped = match self.one(slot.side) {
                Ok(run) => {
                    done.values.push(self.values(slot.side, &run, metrics));
                    continue;
                }
                Err(stopped) => stopped,
            };
            done.end = Some(match stopped {
                Stopped::Early(StopReason::Interrupted) => (CampaignEnd::Interrupted, None),
                Stopped::Early(StopReason::BudgetSpent) => (CampaignEnd::Written, None),
                stopped => (CampaignEnd::Failed, Some(stopped)),
            });
            return done;
        }
        self.block_done();
        done
    }

    fn show(&self, bar: &ProgressBar, campaign: &Campaign, (run, runs): (usize, usize), label: &str) {
        if bar.is_hidden() {
            return;
        }
        let (blocks, most) = (campaign.blocks(), self.args.turns.blocks);
        let rows = campaign.comparison().rows;
        let open = rows.iter().filter(|row| matches!(row.verdict, Verdict::CannotTell(_))).count();
        let left = left(self.meter.elapsed(), (blocks, most), rows.iter().map(|row| row.verdict));
        let left = left.map_or_else(String::new, |left| format!("; about {} left", whole(left)));
        bar.set_message(format!(
            "block {} of at most {most}, run {} of {runs} ({label}); {} of {} decided{left}",
            blocks + 1,
            run + 1,
            rows.len() - open,
            rows.len()
        ));
        bar.tick();
    }

    /// The values of a run; none of one during which a condition did not hold, or an app failed.
    fn values(&self, side: usize, run: &Done, metrics: &[Metric]) -> Vec<Option<f64>> {
        match &run.spoiled {
            Some(why) => {
                output::talk(&format!("a run of {} is void: {why}", self.labels[side]));
                vec![None; metrics.len()]
            }
            None => run.values(metrics),
        }
    }
}

/// Nothing is compared yet, so that there is no record to keep.
fn no_first_run(label: &str, stop: &StopReason) -> Failure {
    let why = match stop {
        StopReason::Interrupted => return Failure::Cannot(anyhow!("interrupted before anything could be compared")),
        StopReason::BudgetSpent => "what it may write was used up",
        StopReason::Failing => "too many requests in a row failed",
        StopReason::DeviceLost(why) | StopReason::InternalError(why) => why,
        StopReason::Complete | StopReason::Stopped => "it was stopped",
    };
    Failure::Cannot(anyhow!(
        "the first run of {label} ended early: {why}\nhint: try its job with `flashscope bench`; nothing was compared yet"
    ))
}

/// Everything of the record but what is still being found out.
struct Frame<'a> {
    args: &'a Args,
    sides: &'a [Side],
    here: Option<&'a Surroundings>,
    first: First,
    job: String,
    /// As it was before the first run.
    envelope: Envelope,
}

fn begin(args: &Args, sides: &[Side], here: Option<&Surroundings>) -> Envelope {
    let typed = args.sides.join(" ");
    match (here, host_side(sides)) {
        (Some(here), Some(path)) => Envelope { target: typed, ..envelope::begin(Kind::Compare, "compare", path, here) },
        _ => envelope::simulated(Kind::Compare, "compare", typed, args.seed),
    }
}

impl Frame<'_> {
    fn record(
        &self,
        campaign: &Campaign,
        unused: u32,
        end: CampaignEnd,
        stopped: Option<&Stopped>,
    ) -> ComparisonRecord {
        let mut envelope = self.envelope.clone();
        envelope.stop = match (end, stopped) {
            (CampaignEnd::Decided | CampaignEnd::Blocks | CampaignEnd::Time, _) => StopReason::Complete,
            (CampaignEnd::Written, _) => StopReason::BudgetSpent,
            (CampaignEnd::Interrupted, _) => StopReason::Interrupted,
            (CampaignEnd::Failed, Some(Stopped::Early(stop))) => stop.clone(),
            (CampaignEnd::Failed, Some(Stopped::Failure(why))) => StopReason::DeviceLost(why.to_string()),
            (CampaignEnd::Failed, None) => StopReason::Failing,
        };
        envelope::seal(&mut envelope, self.here);
        let source = |side: &Side| Source { label: side.label.clone(), from: vec![side.items[0].typed.clone()] };
        ComparisonRecord {
            envelope,
            sources: self.sides.iter().map(source).collect(),
            groups: vec![Group {
                factor: None,
                readings: campaign.readings().clone(),
                comparison: campaign.comparison(),
            }],
            differences: self.first.differences.clone(),
            campaign: Some(Campaigned {
                job: self.job.clone(),
                seed: self.args.seed,
                blocks: campaign.blocks() - u32::from(unused > 0),
                most_blocks: self.args.turns.blocks,
                unused_runs: unused,
                end,
            }),
        }
    }
}
