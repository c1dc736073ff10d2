//! The course of a sweep: conditions that hold, blocks of runs until every knob is told, and the machine as it was.

use super::hold::Hold;
use super::plan::jobs;
use super::runs::{Bench, Ran};
use super::vary::Varied;
use super::venues::Venues;
use crate::args::Sweep as Args;
use crate::commands::app::Program;
use crate::commands::bench;
use crate::commands::campaign::{Keep, left};
use crate::envelope;
use crate::error::Failure;
use crate::progress::whole;
use crate::{interrupt, output};
use anyhow::anyhow;
use flashscope_experiment::sweep::{answers, decided, effects};
use flashscope_experiment::{Campaign, Settings};
use flashscope_host::knob::KnobError;
use flashscope_host::{Output, Surroundings, SysRoot};
use flashscope_load::file::to_toml;
use flashscope_model::comparison::{CampaignEnd, Campaigned, ComparisonRecord, Group, Source};
use flashscope_model::sweep::{Condition, Effect, Layout, Sweep, SweepRecord};
use flashscope_model::{Envelope, Kind, StopReason};
use indicatif::ProgressBar;
use std::path::Path;

/// A condition whose runs were void so many times in a row is given up: another program wants it otherwise.
const MOST_VOID: u32 = 3;

/// Measures until every knob is told, or something else ends it. With the record comes why a run could not be done.
pub(super) fn run(
    args: &Args,
    settings: &Settings,
    sys: &SysRoot,
    varied: &mut Varied,
    outputs: &[Output],
) -> Result<(SweepRecord, Option<Failure>), Failure> {
    interrupt::arm();
    let (mut venues, mut refused) = (None, Vec::new());
    if args.apps.are_said() {
        let program = Program::of(&args.apps, &args.target.consent, args.words.text())?;
        let (opened, lost) = Venues::open(args, &program, sys, varied)?;
        (venues, refused) = (Some((program, opened)), lost);
    }
    // The machine as it is before anything is changed.
    let emulated = venues.as_ref().and_then(|(_, venues)| venues.device());
    let below = match args.target.target.strip_prefix("sim:") {
        Some(_) => emulated,
        None => Some(Path::new(&args.target.target)),
    };
    let here = below.map(|path| Surroundings::of(&SysRoot::live(), path));
    let envelope = match &here {
        Some(here) => envelope::begin(Kind::Sweep, "sweep", &args.target.target, here),
        None => envelope::simulated(Kind::Sweep, "sweep", &args.target.target, args.target.seed),
    };
    let hold = Hold::take(sys, varied.host.clone())?;
    let (program, mut venues) = venues.unzip();
    refused.extend(rehearse(args, &hold, varied, venues.as_mut())?);
    let mut bench = Bench::new(args, varied, &hold, venues);
    let metrics = bench.first()?;
    let envelope = Envelope { state: bench.state(), ..envelope };
    let labels = varied.conditions.iter().map(|condition| condition.label.clone()).collect();
    let campaign = Campaign::new(labels, metrics, *settings, args.target.seed);
    let mut course = Course {
        args,
        settings,
        here: here.as_ref(),
        envelope,
        campaign,
        conditions: varied.conditions.clone(),
        refused,
        varied,
        job: match program {
            Some(program) => program.text(),
            None => to_toml(&jobs(args, varied, &varied.conditions[0], args.target.seed)?),
        },
        unused: 0,
    };
    let ended = course.measure(&mut bench, outputs);
    let restored = hold.restore();
    let (end, mut failure) = match ended {
        Ended::By(end) => (end, None),
        Ended::Early(end, stop) => {
            course.envelope.stop = stop;
            (end, None)
        }
        Ended::Failed(failure) => {
            course.envelope.stop = StopReason::DeviceLost(failure.to_string());
            (CampaignEnd::Failed, Some(failure))
        }
    };
    // That the machine is not as it was weighs more than how the sweep ended.
    for error in [bench.close(), restored].into_iter().filter_map(Result::err) {
        failure = Some(error);
    }
    Ok((course.record(end), failure))
}

/// Brings every condition about once before anything is measured; gives up those that the kernel refuses, and the baseline for
/// none of them.
fn rehearse(
    args: &Args,
    hold: &Hold,
    varied: &mut Varied,
    mut venues: Option<&mut Venues>,
) -> Result<Vec<Condition>, Failure> {
    let mut refused = Vec::new();
    let mut kept = Vec::new();
    for (at, condition) in std::mem::take(&mut varied.conditions).into_iter().enumerate() {
        match hold.set(&varied.wanted(args, &condition)) {
            Ok(()) => match venues.as_mut().map_or(Ok(()), |venues| venues.set(args, varied, &condition)) {
                Ok(()) => kept.push(condition),
                Err(failure) if at == 0 => return Err(failure),
                Err(failure) => give_up(condition, failure.to_string(), &mut refused),
            },
            Err(error) if at == 0 => return Err(super::hold::failure(error)),
            Err(error @ (KnobError::NotAllowed { .. } | KnobError::Note { .. })) => {
                return Err(super::hold::failure(error));
            }
            Err(error) => give_up(condition, error.to_string(), &mut refused),
        }
    }
    if kept.len() < 2 {
        let why = refused.first().and_then(|condition| condition.ended.clone()).unwrap_or_default();
        return Err(Failure::Cannot(anyhow!("no condition is left to compare with the baseline: {why}")));
    }
    varied.conditions = kept;
    Ok(refused)
}

pub(super) fn give_up(mut condition: Condition, why: String, refused: &mut Vec<Condition>) {
    output::talk(&format!("given up: {}: {why}", condition.label));
    condition.ended = Some(why);
    refused.push(condition);
}

/// Why the runs ended.
enum Ended {
    By(CampaignEnd),
    Early(CampaignEnd, StopReason),
    Failed(Failure),
}

/// A sweep as far as it is.
struct Course<'a> {
    args: &'a Args,
    settings: &'a Settings,
    here: Option<&'a Surroundings>,
    envelope: Envelope,
    campaign: Campaign,
    conditions: Vec<Condition>,
    /// Conditions that were never measured.
    refused: Vec<Condition>,
    varied: &'a Varied,
    job: String,
    /// Runs of a block that was cut short.
    unused: u32,
}

impl Course<'_> {
    fn measure(&mut self, bench: &mut Bench<'_>, outputs: &[Output]) -> Ended {
        let bar = bench::bar("sweep", self.args.results.json);
        let mut kept = Keep::new(outputs, self.args.results.replace.force);
        let ended = loop {
            if let Some(end) = bench.meter.end_before_block(self.campaign.blocks()) {
                break Ended::By(end);
            }
            if let Some(ended) = self.block(bench, &bar) {
                break ended;
            }
            let left = self.conditions[1..].iter().any(|condition| condition.ended.is_none());
            if decided(&self.effects()) || !left {
                break Ended::By(CampaignEnd::Decided);
            }
            kept.so_far(|| flashscope_record::to_json(&self.record(CampaignEnd::Interrupted)));
        };
        bar.finish_and_clear();
        kept.forget();
        ended
    }

    /// One block; why it was cut short, if it was.
    fn block(&mut self, bench: &mut Bench<'_>, bar: &ProgressBar) -> Option<Ended> {
        let block = self.campaign.next_block();
        let metrics = self.campaign.readings().metrics.clone();
        let mut values: Vec<Vec<Option<f64>>> = Vec::new();
        let mut ended = None;
        for (at, slot) in block.iter().enumerate() {
            let condition = self.conditions[slot.side].clone();
            if condition.ended.is_some() {
                values.push(vec![None; metrics.len()]);
                continue;
            }
            self.show(bar, bench, (at, block.len()), &condition.label);
            let (end, stop) = match bench.one(&condition) {
                Ran::Done(done) => {
                    self.conditions[slot.side].runs += 1;
                    values.push(done.values(&metrics));
                    continue;
                }
                Ran::Void(why) => {
                    output::talk(&format!("a run of {} is void: {why}", condition.label));
                    self.void(slot.side, why);
                    values.push(vec![None; metrics.len()]);
                    continue;
                }
                Ran::Refused(why) => {
                    output::talk(&format!("given up: {}: {why}", condition.label));
                    self.conditions[slot.side].ended = Some(why);
                    values.push(vec![None; metrics.len()]);
                    continue;
                }
                Ran::Early(StopReason::Interrupted) => (CampaignEnd::Interrupted, StopReason::Interrupted),
                Ran::Early(StopReason::BudgetSpent) => (CampaignEnd::Written, StopReason::BudgetSpent),
                Ran::Early(stop) => (CampaignEnd::Failed, stop),
                // A run that was being prepared when the wish came did not begin.
                Ran::Failed(_) if interrupt::asked() => (CampaignEnd::Interrupted, StopReason::Interrupted),
                Ran::Failed(failure) => {
                    ended = Some(Ended::Failed(failure));
                    break;
                }
            };
            ended = Some(Ended::Early(end, stop));
            break;
        }
        if ended.is_some() {
            self.unused = u32::try_from(values.len()).unwrap_or(u32::MAX);
        }
        self.campaign.push(&block, &values);
        bench.block_done();
        let lost = self.conditions[0].ended.clone();
        ended.or_else(|| lost.map(|why| Ended::Failed(Failure::Cannot(anyhow!("the baseline cannot be held: {why}")))))
    }

    fn void(&mut self, side: usize, why: String) {
        let condition = &mut self.conditions[side];
        condition.void.push(why.clone());
        if condition.void.len() as u32 >= MOST_VOID && condition.runs < condition.void.len() as u32 {
            condition.ended = Some(format!("void again and again: {why}"));
        }
    }

    fn effects(&self) -> Vec<Effect> {
        let (readings, comparison) = (self.campaign.readings(), self.campaign.comparison());
        effects(&self.varied.knobs, self.varied.layout, &self.conditions, readings, &comparison, self.settings)
    }

    fn show(&self, bar: &ProgressBar, bench: &Bench<'_>, (run, runs): (usize, usize), label: &str) {
        if bar.is_hidden() {
            return;
        }
        let (blocks, most) = (self.campaign.blocks(), self.args.turns.blocks);
        let effects = self.effects();
        let mains = effects.iter().filter(|effect| effect.terms.len() == 1).map(|effect| effect.verdict);
        let left = left(bench.meter.elapsed(), (blocks, most), mains);
        let left = left.map_or_else(String::new, |left| format!("; about {} left", whole(left)));
        bar.set_message(format!("block {} of at most {most}, run {} of {runs}: {label}{left}", blocks + 1, run + 1));
        bar.tick();
    }

    fn record(&self, end: CampaignEnd) -> SweepRecord {
        let mut envelope = self.envelope.clone();
        envelope.stop = match end {
            CampaignEnd::Decided | CampaignEnd::Blocks | CampaignEnd::Time => StopReason::Complete,
            CampaignEnd::Written => StopReason::BudgetSpent,
            CampaignEnd::Interrupted => StopReason::Interrupted,
            CampaignEnd::Failed => envelope.stop,
        };
        envelope::seal(&mut envelope, self.here);
        let knobs = &self.varied.knobs;
        let factor = if knobs.len() == 1 { Some(knobs[0].name.clone()) } else { None };
        let (readings, comparison) = (self.campaign.readings().clone(), self.campaign.comparison());
        let effects = self.effects();
        let source = |condition: &Condition| Source {
            label: condition.label.clone(),
            from: vec![self.varied.target(self.args, condition)],
        };
        let answers = answers(knobs.len(), readings.metrics.len(), &effects);
        SweepRecord {
            comparison: ComparisonRecord {
                envelope,
                sources: self.conditions.iter().map(source).collect(),
                groups: vec![Group { factor, readings, comparison }],
                differences: Vec::new(),
                campaign: Some(Campaigned {
                    job: self.job.clone(),
                    seed: self.args.target.seed,
                    blocks: self.campaign.blocks() - u32::from(self.unused > 0),
                    most_blocks: self.args.turns.blocks,
                    unused_runs: self.unused,
                    end,
                }),
            },
            sweep: Sweep {
                knobs: knobs.clone(),
                layout: if knobs.len() == 1 { Layout::OneAtATime } else { self.varied.layout },
                conditions: self.conditions.iter().chain(&self.refused).cloned().collect(),
                effects,
                answers,
            },
        }
    }
}
