//! The experiments of a measurement, done again on a model: the same tests with the same geometry, in the same order.

use crate::original;
use flashscope_device::{Target, WriteGrant};
use flashscope_model::Data;
use flashscope_model::observation::{
    AlignData, AlignEvidence, BoundariesData, FatData, IntervalData, IntervalEvidence, OpenUnitsData, ProgramData,
    RateEvidence, Run, ScatterData, Source,
};
use flashscope_model::plan::{
    Align, Boundaries, FastArea, Fat, Floor, Interval, OpenAu, OpenUnits, Pattern, Patterns, Program, Scatter, Span,
    Throughput,
};
use flashscope_model::{DeviceFacts, Direction, Experiment, Order};
use flashscope_probe::{Context, Unobserved, classic};
use flashscope_sim::SimTarget;
use flashscope_units::{Bytes, Nanos};
use std::fmt;

/// The same command again, with another number.
const SHORT_PAUSE: Nanos = Nanos::secs(1);
/// Somebody reads the tables and types another command. How long the pauses of a published log were is not known;
/// these are assumed.
const LONG_PAUSE: Nanos = Nanos::secs(60);

/// A measurement and the experiments that it shows.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// What was measured, in order; only what can be done again.
    pub measured: Vec<Run>,
    /// The experiment of each.
    pub experiments: Vec<Experiment>,
    /// The seed of each, where it is known: then the visiting order is the very same.
    pub seeds: Vec<Option<u64>>,
    /// Whether the random offsets of logged open-au tables come in flashbench's own order, or in our probe's.
    pub original_order: bool,
}

/// Why an experiment could not be done again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayError(String);

impl ReplayError {
    pub(crate) fn new(why: impl fmt::Display) -> ReplayError {
        ReplayError(why.to_string())
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the measurement cannot be done again on the model: {}", self.0)
    }
}

impl std::error::Error for ReplayError {}

impl Replay {
    /// The experiments of these runs; `seeds` are those of our own runs, where they are known.
    pub fn of(runs: &[Run], seeds: &[Option<u64>]) -> Replay {
        let mut replay = Replay { original_order: true, ..Replay::default() };
        for (index, run) in runs.iter().enumerate() {
            if let Some(experiment) = experiment(&run.data) {
                replay.measured.push(run.clone());
                replay.experiments.push(experiment);
                replay.seeds.push(seeds.get(index).copied().flatten());
            }
        }
        replay
    }

    /// The same, but only the tests that `keep` wants; what came before a test is left out, pauses included.
    pub fn only(&self, keep: impl Fn(&Experiment) -> bool) -> Replay {
        let mut kept = Replay { original_order: self.original_order, ..Replay::default() };
        for (index, experiment) in self.experiments.iter().enumerate().filter(|(_, experiment)| keep(experiment)) {
            kept.measured.push(self.measured[index].clone());
            kept.experiments.push(experiment.clone());
            kept.seeds.push(self.seeds[index]);
        }
        kept
    }

    /// The patterns of requests that a twin is fitted to, and those that are held out.
    pub(crate) fn patterns(&self) -> (Replay, Replay) {
        let is = |experiment: &Experiment, held_out: bool| match experiment {
            Experiment::Patterns(plan) => plan.patterns.iter().all(Pattern::is_mixed) == held_out,
            _ => false,
        };
        (self.only(|experiment| is(experiment, false)), self.only(|experiment| is(experiment, true)))
    }

    /// What trials need: each experiment once, and of tables over several units those around the limit.
    pub(crate) fn for_trials(&self, limits: &[u32]) -> Replay {
        let mut seen: Vec<Experiment> = Vec::new();
        let most = self.experiments.iter().filter_map(|experiment| match experiment {
            Experiment::OpenAu(plan) => Some(plan.count),
            _ => None,
        });
        let most = most.max().unwrap_or(0);
        let telling = |count: u32| {
            count <= 2 || count == most || limits.iter().any(|limit| count == *limit || count == limit + 1)
        };
        let mut kept = Replay { original_order: self.original_order, ..Replay::default() };
        for (index, experiment) in self.experiments.iter().enumerate() {
            let (again, wanted) = match experiment {
                // They are tried by themselves.
                Experiment::Patterns(_) => (false, false),
                // Reads are cheap, and every table of them scatters.
                Experiment::OpenAu(plan) => (seen.contains(experiment), telling(plan.count)),
                Experiment::Fat(_) | Experiment::Program(_) => (seen.contains(experiment), true),
                _ => (false, true),
            };
            if wanted && !again {
                seen.push(experiment.clone());
                kept.measured.push(self.measured[index].clone());
                kept.experiments.push(experiment.clone());
                kept.seeds.push(self.seeds[index]);
            }
        }
        kept
    }

    /// The same with the tables of writes ending at blocks of this share of their unit: what chance does to the rows above
    /// does not need the many requests below.
    pub(crate) fn upper_rows(&self, share: u64) -> Replay {
        let mut cut = self.only(|experiment| matches!(experiment, Experiment::OpenAu(_) | Experiment::Fat(_)));
        for experiment in &mut cut.experiments {
            match experiment {
                Experiment::OpenAu(OpenAu { erase, block, .. }) | Experiment::Fat(Fat { erase, block, .. }) => {
                    while *block * share < *erase {
                        *block = *block * 2;
                    }
                }
                _ => {}
            }
        }
        cut
    }

    /// Leaves out what does not fit a device, and says what that was.
    pub(crate) fn fitting(&self, facts: &DeviceFacts) -> (Replay, Vec<String>) {
        let left_out = self.experiments.iter().filter_map(|experiment| {
            let why = flashscope_probe::validate(experiment, facts).err()?;
            Some(format!("{}: {}", experiment.name(), why.to_string().lines().next().unwrap_or_default()))
        });
        let left_out = left_out.collect();
        (self.only(|experiment| flashscope_probe::validate(experiment, facts).is_ok()), left_out)
    }

    /// Does all experiments on one device, one after the other.
    ///
    /// # Errors
    /// Where an experiment cannot be done on it.
    pub fn simulate(&self, mut target: SimTarget, seed: u64) -> Result<Vec<Run>, ReplayError> {
        // What it does inside is audited by its own tests; here it runs hundreds of times.
        target.check_always(false);
        let everything = Bytes(u64::MAX);
        let grant = WriteGrant::simulated(target.facts(), everything);
        let mut grant = grant.ok_or_else(|| ReplayError::new("the model may not be written to"))?;
        let mut observer = Unobserved;
        let mut runs = Vec::new();
        for (index, experiment) in self.experiments.iter().enumerate() {
            target.wait_until(target.now() + self.pause_before(index));
            let seed = self.seeds[index].unwrap_or(seed ^ (index as u64) << 32);
            if let Experiment::OpenAu(plan) = experiment
                && self.original_order
                && matches!(self.measured[index].source, Source::Log { .. })
                && original::is_known(plan)
            {
                runs.push(original::open_au(plan, &mut target, &mut grant, (index as u32) << 24)?);
                continue;
            }
            let mut context = Context::writing(&mut grant, seed, &mut observer);
            match flashscope_probe::run(experiment, &mut target, &mut context) {
                Ok(run) => runs.push(run),
                Err(error) => return Err(ReplayError::new(format_args!("{}: {error}", experiment.name()))),
            }
        }
        Ok(runs)
    }

    /// The pause of a live run is in its record; that of a log is assumed.
    fn pause_before(&self, index: usize) -> Nanos {
        let Some(before) = index.checked_sub(1) else { return Nanos::ZERO };
        match (&self.measured[before], &self.measured[index]) {
            (
                Run { source: Source::Probe { started: first }, spent, .. },
                Run { source: Source::Probe { started }, .. },
            ) if started >= first => started.since(*first).saturating_sub(spent.time),
            _ if self.experiments[before].name() == self.experiments[index].name() => SHORT_PAUSE,
            _ => LONG_PAUSE,
        }
    }
}

/// The experiment that would give such figures; none where the figures do not say enough, or no replay would tell
/// anything.
fn experiment(data: &Data) -> Option<Experiment> {
    Some(match data {
        Data::Floor(data) => {
            Experiment::Floor(Floor { block: data.block, at: data.at, count: count(data.times.len())? })
        }
        Data::Align(data) => Experiment::Align(align(data)?),
        Data::Boundaries(data) => Experiment::Boundaries(boundaries(data)?),
        Data::OpenUnits(data) => open_units(data)?,
        Data::Fat(data) => Experiment::Fat(fat(data)?),
        Data::FastArea(data) => Experiment::FastArea(FastArea {
            unit: data.unit,
            reach: data.reach,
            suspects: data.suspects.iter().map(|unit| unit.at).collect(),
            controls: data.controls.iter().map(|unit| unit.at).collect(),
            block: data.block,
            direction: data.direction,
            order: data.order,
            requests: count(data.suspects.iter().map(|unit| unit.times.len()).max()?)?,
            enough: None,
        }),
        Data::Scatter(data) => Experiment::Scatter(scatter(data)?),
        Data::Interval(data) => Experiment::Interval(interval(data)?),
        Data::Program(data) => Experiment::Program(program(data)?),
        Data::Patterns(data) => {
            let patterns = data.patterns.iter().map(|seen| seen.pattern.clone()).collect();
            Experiment::Patterns(Patterns { patterns })
        }
        Data::Throughput(data) => Experiment::Throughput(Throughput {
            direction: data.direction,
            order: data.order,
            block: data.block,
            start: data.start,
            length: data.length,
            requests: count(data.times.len())?,
            most_time: None,
            purpose: data.purpose,
        }),
        _ => return None,
    })
}

/// Nothing was measured with no request.
fn count(requests: usize) -> Option<u32> {
    u32::try_from(requests).ok().filter(|count| *count > 0)
}

fn align(data: &AlignData) -> Option<Align> {
    let (largest, smallest) =
        (data.rows.iter().map(|row| row.align).max()?, data.rows.iter().map(|row| row.align).min()?);
    // A table that was cut off may end far above twice its block.
    let block = data.block.unwrap_or((smallest / 2).min(classic::BLOCK));
    let plain = match data.direction {
        Direction::Read => classic::align(block),
        // The places of the write test lie 8 MiB apart by its author's account, whatever rows were printed.
        Direction::Write => Align { largest: Some(Bytes::mib(8).max(largest)), ..classic::write_align(block) },
    };
    let sampled = data.rows.iter().filter_map(|row| match &row.evidence {
        AlignEvidence::Places(places) => Some((places.len(), places.iter().map(|place| place.on.len()).min()?)),
        AlignEvidence::Printed { .. } => None,
    });
    let sampled = sampled.max();
    let access = if sampled.is_some() { data.access } else { plain.access };
    let (places, tries) = match (sampled, data.rows.iter().find_map(|row| printed_tries(&row.evidence))) {
        (Some((places, tries)), _) => (count(places)?, count(tries)?),
        (None, Some(tries)) => (plain.places, tries),
        (None, None) => (plain.places, plain.tries),
    };
    let largest = plain.largest.unwrap_or(largest);
    (block > Bytes::ZERO).then_some(Align { places, tries, access, largest: Some(largest), ..plain })
}

fn printed_tries(evidence: &AlignEvidence) -> Option<u32> {
    match evidence {
        AlignEvidence::Printed { on, .. } => on.as_ref()?.tries,
        AlignEvidence::Places(_) => None,
    }
}

fn boundaries(data: &BoundariesData) -> Option<Boundaries> {
    let all = || data.candidates.iter().flat_map(|candidate| &candidate.places);
    let mut exclude: Vec<Bytes> = data.candidates.iter().flat_map(|candidate| &candidate.excluded).copied().collect();
    exclude.sort_unstable();
    exclude.dedup();
    let (first, last) = (all().map(|place| place.at).min()?, all().map(|place| place.at).max()?);
    // Places that keep to a part of the device were drawn from that part.
    let within = Span { start: first.saturating_sub(data.block), length: last - first + data.block * 3 };
    Some(Boundaries {
        block: data.block,
        candidates: data.candidates.iter().map(|candidate| candidate.size).collect(),
        exclude,
        places: count(data.candidates.iter().map(|candidate| candidate.places.len()).max()?)?,
        rounds: count(all().map(|place| place.on.len()).max()?)?,
        offset: data.offset,
        within: Some(within),
        rest: data.rest,
    })
}

/// A table has one row per block size, a trial of a few rounds has one row and says which units it wrote.
fn open_units(data: &OpenUnitsData) -> Option<Experiment> {
    let row = data.rows.first()?;
    if let (RateEvidence::Times(times), 1, Some(unit), [_, ..]) =
        (&row.rate, data.rows.len(), data.unit, &data.units[..])
    {
        let rounds = count(times.len().div_ceil(data.units.len()))?;
        let whole = row.block == unit;
        let (order, units, first_offset) = (data.order, data.units.clone(), Bytes::ZERO);
        let plan = OpenUnits { order, unit, block: row.block, rounds, units, first_offset, enough: None };
        return (!whole).then_some(Experiment::OpenUnits(plan));
    }
    let largest = data.rows.iter().map(|row| row.block).max()?;
    Some(Experiment::OpenAu(OpenAu {
        count: data.count?,
        order: data.order,
        erase: data.unit.unwrap_or(largest),
        block: data.rows.iter().map(|row| row.block).min()?,
        offset: data.units.first().copied().unwrap_or(classic::WRITE_OFFSET),
    }))
}

fn fat(data: &FatData) -> Option<Fat> {
    Some(Fat {
        count: count(data.rows.iter().map(|row| row.units.len()).max()?)?,
        order: data.order.unwrap_or(Order::InOrder),
        erase: data.unit.or(data.rows.iter().map(|row| row.block).max())?,
        block: data.rows.iter().map(|row| row.block).min()?,
        offset: data.offset.unwrap_or(Bytes::ZERO),
    })
}

fn scatter(data: &ScatterData) -> Option<Scatter> {
    let (first, second) = (data.places.first()?, data.places.get(1)?);
    let block = second.at.checked_sub(first.at).filter(|block| *block > Bytes::ZERO)?;
    Some(Scatter {
        order: data.places.len().checked_ilog2()?,
        span: data.length.map_or(1, |length| (length / block).max(1) as u32),
        block,
        tries: count(first.times.len())?.max(classic::COUNT),
        offset: first.at,
    })
}

fn interval(data: &IntervalData) -> Option<Interval> {
    let largest = data.rows.iter().map(|row| row.size).max()?;
    let places = data.rows.iter().find_map(|row| match &row.evidence {
        IntervalEvidence::Times(times) => count(times.len()),
        IntervalEvidence::Printed { .. } => None,
    });
    let order = (largest / Bytes::SECTOR).checked_ilog2()? + 1;
    Some(Interval { order, places: places.unwrap_or(classic::COUNT), offset: Bytes::ZERO })
}

fn program(data: &ProgramData) -> Option<Program> {
    let plain = classic::program();
    Some(Program {
        region: data.region.unwrap_or(plain.region),
        offset: data.offset.unwrap_or(plain.offset),
        largest: data.rows.iter().map(|row| row.block).max()?,
        smallest: data.rows.iter().map(|row| row.block).min()?,
    })
}
