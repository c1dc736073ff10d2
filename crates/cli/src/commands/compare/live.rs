//! Sides that are measured in turns while it decides.

use super::readings::{Settings as Compared, no_such_figure};
use super::sides::Side;
use super::{allow, finish};
use crate::args::Compare as Args;
use crate::commands::bench;
use crate::commands::campaign::{Keep, Meter, left};
use crate::envelope;
use crate::error::{Failure, Outcome};
use crate::making::{Keeper, Order};
use crate::progress::whole;
use crate::settings::JobDefaults;
use crate::{interrupt, output};
use anyhow::anyhow;
use flashscope_experiment::{Block, Campaign, Settings};
use flashscope_host::{Output, Surroundings, SysRoot};
use flashscope_load::file::{JobText, to_toml};
use flashscope_load::job::{JobSet, Phase};
use flashscope_model::bench::BenchRecord;
use flashscope_model::comparison::{
    CampaignEnd, Campaigned, ComparisonRecord, Difference, Group, Metric, Source, Verdict,
};
use flashscope_model::{AnyRecord, Envelope, Kind, StopReason};
use flashscope_sim::SimTarget;
use flashscope_stats::rng::stream;
use flashscope_units::{Bytes, Nanos};
use flashscope_view::figures::{Figure, measured};
use indicatif::ProgressBar;
use std::path::Path;

/// What would be done, in words, with the jobs of a run.
pub(super) fn describe(args: &Args, sides: &[Side]) -> Result<String, Failure> {
    let mut bench = Bench::new(args, sides);
    let mut most = Some(Bytes::ZERO);
    for side in 0..sides.len() {
        let one = bench.prepare(side)?.most_written()?;
        // The baseline has two runs in a block; so has the other side, where there is one.
        let runs =
            1 + u64::from(side == 0 || sides.len() == 2) * u64::from(args.turns.blocks) + u64::from(args.turns.blocks);
        most = most.zip(one).map(|(sum, one)| Bytes(sum.get().saturating_add(one.get().saturating_mul(runs))));
    }
    let per_block = if sides.len() == 2 { 4 } else { sides.len() + 1 };
    let written = most.map_or("an amount that only their time limits".to_owned(), |most| format!("at most {most}"));
    Ok(format!(
        "# {} sides in turns: one run each that counts for nothing, then at most {} blocks of {per_block} runs\n# writes {written}\n{}",
        sides.len(),
        args.turns.blocks,
        bench.job()?
    ))
}

/// Measures until every figure is decided, or something else ends it.
pub(super) fn run(args: &Args, settings: &Settings, sides: &[Side], outputs: &[Output]) -> Result<Outcome, Failure> {
    interrupt::arm();
    let here = host_side(sides).map(|path| Surroundings::of(&SysRoot::live(), Path::new(path)));
    let mut envelope = begin(args, sides, here.as_ref());
    let mut bench = Bench::new(args, sides);
    let first = bench.first_runs()?;
    envelope.state = bench.keepers[0].as_ref().and_then(Keeper::state).cloned();
    allow(args, &first.differences)?;
    let labels: Vec<String> = sides.iter().map(|side| side.label.clone()).collect();
    let mut campaign = Campaign::new(labels, first.metrics.clone(), *settings, args.seed);
    let frame = Frame { args, sides, here: here.as_ref(), first, job: bench.job()?, envelope };
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
    let (end, failure) = end;
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
    targets: Vec<&'a str>,
    /// Simulated sides, from their first run on.
    devices: Vec<Option<SimTarget>>,
    /// What keeps each side in the state that was asked for.
    keepers: Vec<Option<Keeper>>,
    labels: Vec<&'a str>,
    runs: u64,
    meter: Meter,
}

/// Each side has a journal of its own.
fn keeper(args: &Args, number: usize, side: &Side) -> Option<Keeper> {
    let target = args.target(&side.items[0].typed, args.seed);
    let place = args.results.output.first().map(|path| path.with_extension(format!("{}.json", number + 1)));
    Order::before(&args.in_state, &target, place.as_deref(), args.results.json).map(Keeper::new)
}

/// What came of a block.
struct BlockDone {
    /// Of each run that was done, in the order of the slots.
    values: Vec<Vec<Option<f64>>>,
    /// Why it was cut short.
    end: Option<(CampaignEnd, Option<Stopped>)>,
}

impl<'a> Bench<'a> {
    fn new(args: &'a Args, sides: &'a [Side]) -> Bench<'a> {
        Bench {
            args,
            targets: sides.iter().map(|side| side.items[0].typed.as_str()).collect(),
            devices: sides.iter().map(|_| None).collect(),
            keepers: sides.iter().enumerate().map(|(number, side)| keeper(args, number, side)).collect(),
            labels: sides.iter().map(|side| side.label.as_str()).collect(),
            runs: 0,
            meter: Meter::new(args.turns, args.consent.max_write),
        }
    }

    /// The jobs of a run: those that were asked for, else sequential and random reads.
    fn jobs(&self, seed: u64) -> Result<JobSet, Failure> {
        if self.args.job.is_some() || !self.args.words.is_empty() {
            return bench::jobs(self.args.job.as_deref(), self.args.text(), &JobDefaults::default(), seed);
        }
        let phase = |name: &str, rw: &str, size: &str| {
            let words = JobText {
                rw: Some(rw.to_owned()),
                bs: Some(size.into()),
                runtime: Some("2s".into()),
                ..JobText::default()
            };
            let job = words.job(name).map_err(|error| anyhow!("{error}"))?;
            Ok(Phase { jobs: vec![job], pause: Nanos::ZERO })
        };
        let phases = [("sequential", "read", "1MiB"), ("random", "randread", "4KiB")];
        let phases = phases.into_iter().map(|(name, rw, size)| phase(name, rw, size));
        let mut set = JobSet { phases: phases.collect::<Result<_, Failure>>()? };
        set.phases.iter_mut().flat_map(|phase| &mut phase.jobs).for_each(|job| job.seed = seed);
        Ok(set)
    }

    /// The jobs as a job file.
    fn job(&self) -> Result<String, Failure> {
        Ok(to_toml(&self.jobs(self.args.seed)?))
    }

    /// The next run of a side, with a seed of its own.
    fn prepare(&mut self, side: usize) -> Result<bench::Quiet, Failure> {
        let seed = stream(self.args.seed, self.runs);
        self.runs += 1;
        let mut jobs = self.jobs(seed)?;
        if let (Some(rest), Some(first)) = (self.args.turns.pause, jobs.phases.first_mut()) {
            first.pause = rest;
        }
        bench::quiet(self.args.target(self.targets[side], seed), jobs)
    }

    fn one(&mut self, side: usize) -> Result<BenchRecord, Stopped> {
        let prepared = self.prepare(side).map_err(Stopped::Failure)?;
        let keeper = self.keepers[side].as_mut();
        let record = prepared.run_kept(&mut self.devices[side], keeper).map_err(Stopped::Failure)?;
        self.meter.count(&record);
        match &record.envelope.stop {
            StopReason::Complete => Ok(record),
            early => Err(Stopped::Early(early.clone())),
        }
    }

    /// One run of each side that counts for nothing: whatever would go wrong goes wrong early, and each side has been used.
    fn first_runs(&mut self) -> Result<First, Failure> {
        let (mut metrics, mut settings): (Vec<Metric>, _) = (Vec::new(), Compared::default());
        for side in 0..self.targets.len() {
            let record = self.one(side).map_err(|stopped| match stopped {
                Stopped::Failure(failure) => failure,
                Stopped::Early(stop) => match envelope::exit(&stop) {
                    Err(failure) => failure,
                    Ok(_) => Failure::Cannot(anyhow!(
                        "the first run of {} ended early: {stop:?}\nhint: try its job with `flashscope bench`",
                        self.labels[side]
                    )),
                },
            })?;
            let seen = measured(&AnyRecord::Bench(Box::new(record)));
            settings.add(self.labels[side], &seen.settings);
            for Figure { metric, .. } in seen.runs.into_iter().flatten() {
                if !metrics.iter().any(|other| other.name == metric.name) {
                    metrics.push(metric);
                }
            }
        }
        self.meter.block_done();
        let wanted: Vec<Metric> = metrics.iter().filter(|metric| self.args.wants(&metric.name)).cloned().collect();
        if wanted.is_empty() {
            return Err(no_such_figure(&metrics));
        }
        Ok(First { metrics: wanted, differences: settings.differences() })
    }

    fn block(&mut self, block: &Block, metrics: &[Metric], bar: &ProgressBar, campaign: &Campaign) -> BlockDone {
        let mut done = BlockDone { values: Vec::new(), end: None };
        for (at, slot) in block.iter().enumerate() {
            self.show(bar, campaign, (at, block.len()), self.labels[slot.side]);
            let stopped = match self.one(slot.side) {
                Ok(record) => {
                    done.values.push(self.values(slot.side, record, metrics));
                    continue;
                }
                Err(stopped) => stopped,
            };
            done.end = Some(match stopped {
                // A run that was being prepared when the wish came did not begin.
                Stopped::Failure(_) if interrupt::asked() => (CampaignEnd::Interrupted, None),
                Stopped::Early(StopReason::Interrupted) => (CampaignEnd::Interrupted, None),
                Stopped::Early(StopReason::BudgetSpent) => (CampaignEnd::Written, None),
                stopped => (CampaignEnd::Failed, Some(stopped)),
            });
            return done;
        }
        self.meter.block_done();
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

    /// The values of a run; none of one during which a condition did not hold.
    fn values(&self, side: usize, record: BenchRecord, metrics: &[Metric]) -> Vec<Option<f64>> {
        if let Some((what, before, after)) = record.envelope.conditions.changed().first() {
            output::talk(&format!("a run of {} is void: {what} was {before} and then {after}", self.labels[side]));
            return vec![None; metrics.len()];
        }
        let seen = measured(&AnyRecord::Bench(Box::new(record)));
        let figures: Vec<Figure> = seen.runs.into_iter().flatten().collect();
        let value = |metric: &Metric| figures.iter().find(|figure| figure.metric == *metric).map(|figure| figure.value);
        metrics.iter().map(value).collect()
    }
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
