//! One run of a sweep: its condition brought about, verified before and after, measured by `bench` or played by `app`.

use super::hold::Hold;
use super::plan::{jobs, target};
use super::vary::Varied;
use super::venues::Venues;
use crate::args::Sweep as Args;
use crate::commands::bench;
use crate::commands::campaign::{Done, Meter, add_metrics, asked_for};
use crate::envelope;
use crate::error::Failure;
use crate::making::{Keeper, Order};
use anyhow::anyhow;
use flashscope_model::StopReason;
use flashscope_model::comparison::Metric;
use flashscope_model::envelope::State;
use flashscope_model::sweep::Condition;
use flashscope_sim::SimTarget;
use flashscope_stats::rng::stream;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Runs under conditions, one at a time.
pub(super) struct Bench<'a> {
    args: &'a Args,
    varied: &'a Varied,
    hold: &'a Hold,
    /// Where apps are played; `None` where jobs are run.
    venues: Option<Venues>,
    /// Simulated devices by their targets: each goes on from run to run, as a real one does.
    devices: BTreeMap<String, Option<SimTarget>>,
    /// What keeps each target in the state that was asked for.
    keepers: BTreeMap<String, Option<Keeper>>,
    runs: u64,
    blocks: u64,
    pub(super) meter: Meter,
}

/// What came of a run.
pub(super) enum Ran {
    Done(Box<Done>),
    /// The condition was not in force throughout.
    Void(String),
    /// The condition could not be brought about.
    Refused(String),
    /// It ended early, and its record says why.
    Early(StopReason),
    Failed(Failure),
}

impl<'a> Bench<'a> {
    pub(super) fn new(args: &'a Args, varied: &'a Varied, hold: &'a Hold, venues: Option<Venues>) -> Bench<'a> {
        Bench {
            args,
            varied,
            hold,
            venues,
            devices: BTreeMap::new(),
            keepers: BTreeMap::new(),
            runs: 0,
            blocks: 0,
            meter: Meter::new(args.turns, args.target.consent.max_write),
        }
    }

    /// The next run under a condition.
    pub(super) fn one(&mut self, condition: &Condition) -> Ran {
        let wanted = self.varied.wanted(self.args, condition);
        if let Err(error) = self.hold.set(&wanted) {
            return Ran::Refused(error.to_string());
        }
        if let Some(Err(why)) = self.venues.as_mut().map(|venues| venues.set(self.args, self.varied, condition)) {
            return Ran::Refused(why.to_string());
        }
        let done = match self.measured(condition) {
            Ok(done) => done,
            Err(failure) => return Ran::Failed(failure),
        };
        self.meter.count(&done);
        if done.stop != StopReason::Complete {
            return Ran::Early(done.stop);
        }
        if let Err(error) = self.hold.check(&wanted) {
            return Ran::Void(error.to_string());
        }
        // What is no knob of this sweep must not change either.
        match done.spoiled.clone() {
            Some(why) => Ran::Void(why),
            None => Ran::Done(Box::new(done)),
        }
    }

    /// Runs the jobs with a seed of their own; or plays the apps, which do the same acts in every run of a block: so these do not
    /// differ by what chance has them write.
    fn measured(&mut self, condition: &Condition) -> Result<Done, Failure> {
        let (args, varied) = (self.args, self.varied);
        if let Some(venues) = &mut self.venues {
            let seed = stream(args.target.seed, self.blocks);
            return venues.run(args, varied, condition, seed).map(Done::of_apps);
        }
        let seed = stream(args.target.seed, self.runs);
        self.runs += 1;
        let prepared = bench::quiet(target(args, varied, condition, seed), jobs(args, varied, condition, seed)?)?;
        let name = varied.target(args, condition);
        let place = args.results.output.first().map(PathBuf::as_path);
        let order = || {
            let asked = target(args, varied, condition, args.target.seed);
            Order::before(&args.in_state, &asked, place, args.results.json).map(Keeper::new)
        };
        let keeper = self.keepers.entry(name.clone()).or_insert_with(order);
        let device = self.devices.entry(name).or_default();
        let record = prepared.run_kept(device, keeper.as_mut())?;
        Ok(Done::of_jobs(record, varied.varies_sizes()))
    }

    /// A block is over.
    pub(super) fn block_done(&mut self) {
        self.meter.block_done();
        self.blocks += 1;
    }

    /// The end; what was made for the runs goes.
    pub(super) fn close(self) -> Result<(), Failure> {
        self.venues.map_or(Ok(()), Venues::close)
    }

    /// The state that the baseline was brought into.
    pub(super) fn state(&self) -> Option<State> {
        let baseline = self.varied.conditions.first()?;
        match &self.venues {
            Some(venues) => venues.state(&self.varied.venue(self.args, baseline)).cloned(),
            None => self.keepers.get(&self.varied.target(self.args, baseline))?.as_ref()?.state().cloned(),
        }
    }

    /// A run of the baseline that counts for nothing, and one on every other device: what would go wrong goes wrong early, and each
    /// device has been used. That of the baseline tells the figures.
    pub(super) fn first(&mut self) -> Result<Vec<Metric>, Failure> {
        let mut metrics: Vec<Metric> = Vec::new();
        let mut used = BTreeSet::new();
        for (at, condition) in self.varied.conditions.iter().enumerate() {
            if !used.insert(self.varied.venue(self.args, condition)) {
                continue;
            }
            let done = match self.one(condition) {
                Ran::Done(done) => *done,
                Ran::Failed(failure) => return Err(failure),
                Ran::Early(stop) => {
                    envelope::exit(&stop)?;
                    return Err(Failure::Cannot(anyhow!(
                        "the first run of {} ended early ({stop:?})\nhint: try its job with `flashscope bench`",
                        condition.label
                    )));
                }
                Ran::Void(why) if self.venues.is_some() => {
                    return Err(Failure::Cannot(anyhow!(
                        "the first run of {} does not count: {why}\nhint: try it with `flashscope app`",
                        condition.label
                    )));
                }
                Ran::Void(why) | Ran::Refused(why) => {
                    return Err(Failure::Cannot(anyhow!(
                        "{} cannot be held: {why}\nhint: stop the program that changes it, and sweep again",
                        condition.label
                    )));
                }
            };
            if at == 0 {
                add_metrics(&mut metrics, &done.figures);
            }
        }
        self.block_done();
        if metrics.is_empty() {
            return Err(Failure::Cannot(anyhow!(
                "the job has no figure to compare\nhint: let it read or write something"
            )));
        }
        asked_for(&metrics, &self.args.figure)
    }
}
