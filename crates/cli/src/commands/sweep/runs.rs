//! One run of a sweep: its condition brought about, verified before and after, measured by `bench`.

use super::hold::Hold;
use super::plan::{jobs, target};
use super::vary::Varied;
use crate::args::Sweep as Args;
use crate::commands::bench;
use crate::commands::campaign::Meter;
use crate::envelope;
use crate::error::Failure;
use crate::making::{Keeper, Order};
use anyhow::anyhow;
use flashscope_model::bench::BenchRecord;
use flashscope_model::comparison::Metric;
use flashscope_model::envelope::State;
use flashscope_model::sweep::Condition;
use flashscope_model::{AnyRecord, StopReason};
use flashscope_sim::SimTarget;
use flashscope_stats::rng::stream;
use flashscope_view::figures::{Figure, measured, measured_in_bytes};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Runs under conditions, one at a time.
pub(super) struct Bench<'a> {
    args: &'a Args,
    varied: &'a Varied,
    hold: &'a Hold,
    /// Simulated devices by their targets: each goes on from run to run, as a real one does.
    devices: BTreeMap<String, Option<SimTarget>>,
    /// What keeps each target in the state that was asked for.
    keepers: BTreeMap<String, Option<Keeper>>,
    runs: u64,
    pub(super) meter: Meter,
}

/// What came of a run.
pub(super) enum Ran {
    Done(Box<BenchRecord>),
    /// The condition was not in force throughout.
    Void(String),
    /// The condition could not be brought about.
    Refused(String),
    /// It ended early, and its record says why.
    Early(StopReason),
    Failed(Failure),
}

impl<'a> Bench<'a> {
    pub(super) fn new(args: &'a Args, varied: &'a Varied, hold: &'a Hold) -> Bench<'a> {
        Bench {
            args,
            varied,
            hold,
            devices: BTreeMap::new(),
            keepers: BTreeMap::new(),
            runs: 0,
            meter: Meter::new(args.turns, args.target.consent.max_write),
        }
    }

    /// The next run under a condition, with a seed of its own.
    pub(super) fn one(&mut self, condition: &Condition) -> Ran {
        let wanted = self.varied.wanted(condition);
        if let Err(error) = self.hold.set(&wanted) {
            return Ran::Refused(error.to_string());
        }
        let seed = stream(self.args.target.seed, self.runs);
        self.runs += 1;
        let prepared = jobs(self.args, self.varied, condition, seed)
            .and_then(|jobs| bench::quiet(target(self.args, self.varied, condition, seed), jobs));
        let name = self.varied.target(self.args, condition);
        let place = self.args.results.output.first().map(PathBuf::as_path);
        let order = || {
            let asked = target(self.args, self.varied, condition, self.args.target.seed);
            Order::before(&self.args.in_state, &asked, place, self.args.results.json).map(Keeper::new)
        };
        let keeper = self.keepers.entry(name.clone()).or_insert_with(order);
        let device = self.devices.entry(name).or_default();
        let record = match prepared.and_then(|prepared| prepared.run_kept(device, keeper.as_mut())) {
            Ok(record) => record,
            Err(failure) => return Ran::Failed(failure),
        };
        self.meter.count(&record);
        if record.envelope.stop != StopReason::Complete {
            return Ran::Early(record.envelope.stop);
        }
        if let Err(error) = self.hold.check(&wanted) {
            return Ran::Void(error.to_string());
        }
        // What is no knob of this sweep must not change either.
        if let Some((what, before, after)) = record.envelope.conditions.changed().first() {
            return Ran::Void(format!("{what} was {before} and then {after}"));
        }
        Ran::Done(Box::new(record))
    }

    /// The state that the baseline was brought into.
    pub(super) fn state(&self) -> Option<State> {
        let baseline = self.varied.target(self.args, self.varied.conditions.first()?);
        self.keepers.get(&baseline)?.as_ref()?.state().cloned()
    }

    pub(super) fn figures(&self, record: BenchRecord) -> Vec<Figure> {
        let runs = match self.varied.varies_sizes() {
            true => measured_in_bytes(&record),
            false => measured(&AnyRecord::Bench(Box::new(record))).runs,
        };
        runs.into_iter().flatten().collect()
    }

    /// A run of the baseline that counts for nothing, and one on every other device: what would go wrong goes wrong early, and each
    /// device has been used. That of the baseline tells the figures.
    pub(super) fn first(&mut self) -> Result<Vec<Metric>, Failure> {
        let mut metrics: Vec<Metric> = Vec::new();
        for (at, condition) in self.varied.conditions.iter().enumerate() {
            if self.devices.contains_key(&self.varied.target(self.args, condition)) {
                continue;
            }
            let record = match self.one(condition) {
                Ran::Done(record) => *record,
                Ran::Failed(failure) => return Err(failure),
                Ran::Early(stop) => {
                    envelope::exit(&stop)?;
                    return Err(Failure::Cannot(anyhow!(
                        "the first run of {} ended early ({stop:?})\nhint: try its job with `flashscope bench`",
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
            for Figure { metric, .. } in self.figures(record).into_iter().filter(|_| at == 0) {
                if !metrics.iter().any(|other| other.name == metric.name) {
                    metrics.push(metric);
                }
            }
        }
        self.meter.block_done();
        if metrics.is_empty() {
            return Err(Failure::Cannot(anyhow!(
                "the job has no figure to compare\nhint: let it read or write something"
            )));
        }
        Ok(metrics)
    }
}
