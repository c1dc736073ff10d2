//! One device: inspected, inspected again without noise to learn what can be told, and worked through by hand.

use crate::classic::{self, Operator};
use crate::cost;
use crate::coverage;
use crate::draw::Drawn;
use crate::meter::{Metered, StepWatch};
use crate::score::{self, Judged};
use flashscope_device::{Target, Wear, WriteGrant};
use flashscope_model::fleet::{Coverage, DeviceCost, Verdict};
use flashscope_model::plan::Budget;
use flashscope_model::run::PathTaken;
use flashscope_model::{DeviceFacts, StopReason};
use flashscope_session::{Options, SessionReport, usual_write_budget};
use flashscope_sim::SimTarget;
use flashscope_sim::truth::{self, Truth};
use flashscope_units::{Bytes, Nanos};
use std::cell::Cell;

/// How every device is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// What a run may write.
    pub max_write: MaxWrite,
    /// Device time that a run may take.
    pub max_time: Option<Nanos>,
    /// Whether the by-hand procedure is done as well.
    pub by_hand: bool,
    /// Processor time that one device may take, all its runs together; one that takes more is given up.
    pub most_work: Nanos,
}

/// What a run may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxWrite {
    /// What `inspect` takes by itself.
    Usual,
    /// This number of bytes.
    Size(Bytes),
    /// All of the device this number of times over: enough for what collection costs, and for whether an SLC cache shrinks as the
    /// device fills.
    Times(u32),
}

impl MaxWrite {
    /// In bytes, on a device of this size.
    pub fn on(self, capacity: Bytes) -> Bytes {
        match self {
            MaxWrite::Usual => usual_write_budget(capacity),
            MaxWrite::Size(size) => size,
            MaxWrite::Times(times) => capacity * u64::from(times),
        }
    }
}

impl Limits {
    /// Processor time that a device may take where nothing else is asked for: a hundred times what one usually does.
    pub const USUAL_WORK: Nanos = Nanos::secs(120);
}

/// What can be told is what is found without noise with this many times the budget.
const REFERENCE_BUDGET: u64 = 10;

/// What came of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceRun {
    /// Number in the fleet.
    pub index: u32,
    /// Seed of its run.
    pub seed: u64,
    /// What it is.
    pub title: String,
    /// Why there is no result, where there is none.
    pub failure: Option<String>,
    /// Every finding, judged, with whether it could be told.
    pub findings: Vec<Scored>,
    /// Readings of the by-hand procedure, judged the same way.
    pub naive: Vec<Scored>,
    /// What `infer` makes of the log that the by-hand procedure leaves, judged the same way.
    pub log: Vec<Scored>,
    /// How often intervals held the truth.
    pub coverage: Coverage,
    /// All that `inspect` did.
    pub cost: DeviceCost,
    /// What of it served the geometry.
    pub geometry_cost: DeviceCost,
    /// The by-hand procedure.
    pub by_hand_cost: Option<DeviceCost>,
    /// Whether the run came to its end.
    pub complete: bool,
    /// Processor time that it took, all its runs together.
    pub work: Nanos,
}

impl DeviceRun {
    /// One without a result.
    pub(crate) fn failed(index: u32, seed: u64, title: String, why: String) -> DeviceRun {
        DeviceRun {
            index,
            seed,
            title,
            failure: Some(why),
            findings: Vec::new(),
            naive: Vec::new(),
            log: Vec::new(),
            coverage: Coverage::default(),
            cost: DeviceCost::default(),
            geometry_cost: DeviceCost::default(),
            by_hand_cost: None,
            complete: false,
            work: Nanos::ZERO,
        }
    }
}

/// A finding and whether it could be told.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The finding against the truth.
    pub judged: Judged,
    /// Whether a noise-free run with ten times the budget found it, and it is not lost in the noise.
    pub can_be_told: bool,
}

/// Why a device has no result.
pub(crate) enum NoResult {
    /// The operator wants to stop.
    Stopped,
    /// The fault is ours.
    Failed(String),
}

/// A device to be judged, whoever made it.
pub struct Subject<'a, T> {
    /// Number in its fleet.
    pub index: u32,
    /// Seed of its run.
    pub seed: u64,
    /// What it is.
    pub title: String,
    /// What is true of it.
    pub truth: Truth,
    /// Opens it anew.
    pub open: &'a dyn Fn(Copied) -> Result<T, String>,
}

/// Which copy of a device is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// As it was drawn.
    AsDrawn,
    /// Without noise.
    Quiet,
    /// As it was drawn, with other noise where it has a choice.
    Again,
}

/// What `inspect` found on a device as it was drawn, with all that it measured.
pub struct Inspection<'a> {
    /// Number of the device in its fleet.
    pub index: u32,
    /// Seed of its run.
    pub seed: u64,
    /// What the device says of itself.
    pub facts: DeviceFacts,
    /// How requests reached it.
    pub path: PathTaken,
    /// Everything else.
    pub report: &'a SessionReport,
}

/// Told what was found on a device, from any thread.
pub type See<'a> = &'a (dyn Fn(Inspection<'_>) + Sync);

/// Runs one drawn device. `stop` is asked between requests.
pub(crate) fn run(
    index: u32,
    drawn: &Drawn,
    limits: Limits,
    stop: &dyn Fn() -> bool,
    see: See<'_>,
) -> Result<DeviceRun, NoResult> {
    let truth =
        truth::of("drawn.toml", |_| Ok(drawn.text.clone())).map_err(|error| NoResult::Failed(error.to_string()))?;
    let open = |copied: Copied| match copied {
        Copied::AsDrawn => open(&drawn.text, drawn.seed),
        Copied::Quiet => open(&drawn.quiet, drawn.seed),
        Copied::Again => open(&drawn.text, drawn.seed ^ 0x5eed),
    };
    run_subject(&Subject { index, seed: drawn.seed, title: drawn.title.clone(), truth, open: &open }, limits, stop, see)
}

/// Runs one device: with noise, without, and by hand where that is asked for.
pub(crate) fn run_subject<T: Target>(
    subject: &Subject<'_, T>,
    limits: Limits,
    stop: &dyn Fn() -> bool,
    see: See<'_>,
) -> Result<DeviceRun, NoResult> {
    let (truth, seed) = (&subject.truth, subject.seed);
    let open = |copied| (subject.open)(copied).map_err(NoResult::Failed);
    let target = open(Copied::AsDrawn)?;
    let (facts, path) = (target.facts().clone(), target.path());
    let found = inspect(target, seed, limits, 1, stop)?;
    see(Inspection { index: subject.index, seed, facts, path, report: &found.report });
    let reference = inspect(open(Copied::Quiet)?, seed, limits, REFERENCE_BUDGET, stop)?;
    let could = score::judge(truth, &reference.report.findings.geometry);
    let score_all = |judged: Vec<Judged>| -> Vec<Scored> {
        judged.into_iter().zip(&could).map(|(judged, could)| scored(judged, could, truth)).collect()
    };

    let findings = score_all(score::judge(truth, &found.report.findings.geometry));
    let (naive, log, by_hand_cost) = if limits.by_hand {
        let by_hand = classic::work_through(open(Copied::AsDrawn)?, Operator::Naive, truth, seed, stop)?;
        // A pasted log: neither the device nor its capacity is known.
        let pasted = flashscope_transcript::parse(&by_hand.log).observations;
        let read = flashscope_infer::infer(&pasted).geometry;
        (
            score_all(without_claims(score::judge(truth, &by_hand.reading))),
            score_all(score::judge(truth, &read)),
            Some(by_hand.cost),
        )
    } else {
        (Vec::new(), Vec::new(), None)
    };
    let coverage = coverage::of(&found.report, open(Copied::Again)?, stop);
    Ok(DeviceRun {
        index: subject.index,
        seed,
        title: subject.title.clone(),
        failure: None,
        findings,
        naive,
        log,
        coverage,
        cost: found.cost,
        geometry_cost: found.geometry,
        by_hand_cost,
        complete: found.report.stop == StopReason::Complete,
        work: Nanos::ZERO,
    })
}

/// A rule of thumb says nothing of how sure it is.
fn without_claims(judged: Vec<Judged>) -> Vec<Judged> {
    judged.into_iter().map(|judged| Judged { claim: None, ..judged }).collect()
}

fn scored(judged: Judged, could: &Judged, truth: &Truth) -> Scored {
    // A penalty that the reference states at a block without a truth is told all the same.
    let found = matches!(could.verdict, Verdict::Exact | Verdict::Unscored);
    let can_be_told = found && score::stands_out(judged.parameter, truth);
    Scored { judged, can_be_told }
}

/// A device after its inspection.
pub(crate) struct Inspected {
    pub(crate) report: SessionReport,
    cost: DeviceCost,
    geometry: DeviceCost,
}

pub(crate) fn inspect<T: Target>(
    target: T,
    seed: u64,
    limits: Limits,
    times: u64,
    stop: &dyn Fn() -> bool,
) -> Result<Inspected, NoResult> {
    let capacity = target.facts().capacity;
    let budget =
        Budget { write: limits.max_write.on(capacity) * times, time: limits.max_time.map(|time| time * times) };
    let grant = WriteGrant::simulated(target.facts(), budget.write);
    let mut grant = grant.ok_or_else(|| NoResult::Failed("no grant for a simulated device".to_owned()))?;
    let wear = Cell::new(Wear::default());
    let mut target = Metered::new(target, &wear);
    let mut watch = StepWatch::new(&wear, stop);
    let options = Options { seed, budget };
    let report = flashscope_session::inspect(&mut target, Some(&mut grant), options, &mut watch);
    if watch.stopped {
        return Err(NoResult::Stopped);
    }
    if let StopReason::DeviceLost(why) = &report.stop {
        return Err(NoResult::Failed(format!("the device was lost: {why}")));
    }
    let (mut total, mut geometry) = (DeviceCost::default(), DeviceCost::default());
    let ends = watch.at_steps.iter().skip(1).copied().chain([wear.get()]);
    for ((run, before), after) in report.observations.runs.iter().zip(&watch.at_steps).zip(ends) {
        let spent = cost::between(run.spent, *before, after);
        cost::add(&mut total, spent);
        if cost::is_geometry(run) {
            cost::add(&mut geometry, spent);
        }
    }
    Ok(Inspected { report, cost: total, geometry })
}

/// A drawn device.
pub(crate) fn open(text: &str, seed: u64) -> Result<SimTarget, String> {
    flashscope_sim::open_with("drawn.toml", seed, |_| Ok(text.to_owned())).map_err(|error| error.to_string())
}
