//! The experiments of a published log, done again on a model.

use super::original;
use flashscope_device::{Target, WriteGrant};
use flashscope_model::observation::{AlignEvidence, Data, RateEvidence, Run};
use flashscope_model::plan::Align;
use flashscope_model::{Direction, Experiment, Order};
use flashscope_probe::{Context, Unobserved, classic};
use flashscope_units::{Bytes, Nanos};

/// The same command again, with another number.
const SHORT_PAUSE: Nanos = Nanos::secs(1);
/// Somebody reads the tables and types another command. How long the pauses of a published log were is not known;
/// these are assumed.
const LONG_PAUSE: Nanos = Nanos::secs(60);

/// A published log and the experiments that it shows.
#[derive(Clone, Debug)]
pub struct Replay {
    /// What was published, in order.
    pub published: Vec<Run>,
    /// The experiment of each.
    pub experiments: Vec<Experiment>,
    /// Whether open-au's random offsets come in flashbench's own order, or in our probe's.
    pub original_order: bool,
}

impl Replay {
    /// Reads a log.
    pub fn new(log: &str) -> Replay {
        let published = flashscope_transcript::parse(log).observations.runs;
        let experiments = published.iter().map(|run| experiment(&run.data)).collect();
        Replay { published, experiments, original_order: true }
    }

    /// The same log, but only the tables of some tests; what came before a table is left out, pauses included.
    pub fn only(&self, keep: impl Fn(&Experiment) -> bool) -> Replay {
        let (experiments, published) = self
            .experiments
            .iter()
            .zip(&self.published)
            .filter(|(experiment, _)| keep(experiment))
            .map(|(experiment, run)| (experiment.clone(), run.clone()))
            .unzip();
        Replay { published, experiments, original_order: self.original_order }
    }

    /// Does all experiments on one device, one after the other.
    ///
    /// # Panics
    /// Where the model cannot be opened or an experiment cannot be done on it: that is a wrong test.
    pub fn simulate(&self, spec: &str, seed: u64) -> Vec<Run> {
        let mut target = flashscope_sim::open(spec, seed).unwrap_or_else(|error| panic!("{error}"));
        // What it does inside is audited by its own tests; here it runs hundreds of times.
        target.check_always(false);
        let everything = Bytes(u64::MAX);
        let Some(mut grant) = WriteGrant::simulated(target.facts(), everything) else { return Vec::new() };
        let mut observer = Unobserved;
        let mut runs = Vec::new();
        for (index, experiment) in self.experiments.iter().enumerate() {
            if index > 0 {
                let same = self.experiments[index - 1].name() == experiment.name();
                target.wait_until(target.now() + if same { SHORT_PAUSE } else { LONG_PAUSE });
            }
            let seed = seed ^ (index as u64) << 32;
            if let Experiment::OpenAu(plan) = experiment
                && plan.order == Order::Random
                && self.original_order
            {
                runs.push(original::open_au(plan, &mut target, &mut grant, (index as u32) << 24));
                continue;
            }
            let mut context = Context::writing(&mut grant, seed, &mut observer);
            match flashscope_probe::run(experiment, &mut target, &mut context) {
                Ok(run) => runs.push(run),
                Err(error) => panic!("{} on {spec}: {error:?}", experiment.name()),
            }
        }
        runs
    }
}

/// The experiment that would give such a table.
fn experiment(published: &Data) -> Experiment {
    match published {
        Data::Align(data) => {
            let block = data.block.unwrap_or(classic::BLOCK);
            let tries = data.rows.first().and_then(|row| match &row.evidence {
                AlignEvidence::Printed { on, .. } => on.as_ref()?.tries,
                AlignEvidence::Places(_) => None,
            });
            let largest = match data.direction {
                Direction::Read => None,
                // The places of the write test lie 8 MiB apart by its author's account, whatever rows were printed.
                Direction::Write => Some(Bytes::mib(8)),
            };
            let plain = match data.direction {
                Direction::Read => classic::align(block),
                Direction::Write => classic::write_align(block),
            };
            Experiment::Align(Align { tries: tries.unwrap_or(plain.tries), largest, ..plain })
        }
        Data::OpenUnits(data) => {
            let count = data.count.unwrap_or(1);
            Experiment::OpenAu(classic::open_au(count, data.order))
        }
        Data::Fat(data) => Experiment::Fat(classic::fat(data.order.unwrap_or(Order::InOrder))),
        Data::Interval(_) => Experiment::Interval(classic::interval()),
        Data::Program(_) => Experiment::Program(classic::program()),
        other => panic!("no twin was published with a {} table", other.name()),
    }
}

/// Bytes over time, of a figure that holds every sample.
pub(super) fn rate(evidence: &RateEvidence, block: Bytes) -> (f64, u64) {
    match evidence {
        RateEvidence::Times(times) => {
            let total: Nanos = times.iter().copied().sum();
            (block.as_f64() * times.len() as f64 / total.as_secs_f64(), times.len() as u64)
        }
        RateEvidence::Printed(printed) => (printed.value.get(), 0),
    }
}
