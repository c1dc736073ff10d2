//! Devices that are known by their record of `inspect`: a twin is fitted, and how far to trust it is found out by inspecting
//! the twin itself and fitting twins to that.

use crate::hybrid::open;
use crate::{ExplainError, Side, Watch};
use flashscope_device::{Target, WriteGrant};
use flashscope_model::envelope::{Envelope, Kind, Tool};
use flashscope_model::run::{Plan, Step};
use flashscope_model::{ExperimentName, RunRecord};
use flashscope_session::{
    Ahead, Options, SoFar, Watcher, inspect, inspect_for_twin, twin_write_budget, usual_write_budget,
};
use flashscope_stats::rng::stream;
use flashscope_twin::{FitError, Measured, Part};

/// Twins of a twin.
const REFITS: u32 = 4;

/// A device as its record has it.
#[derive(Clone, Debug)]
pub struct Known {
    /// The twin, and those that the same measurement of it led to.
    pub side: Side,
    /// Share of the measured figures that the twin gives within 15 %.
    pub within: f64,
    /// What the twin is not, where it is of another kind than the device.
    pub caution: Option<String>,
}

/// Fits a twin to the record of a whole `inspect`, which is called `name`; then the twin is inspected as the device was, and a
/// twin fitted to that, a few times over. How far these lie from the first is what a measurement and a fit add of their own.
///
/// # Errors
/// Where the record is of another kind of run or says too little, or the operator stops.
pub fn of_record(name: &str, record: RunRecord, watch: &mut dyn Watch) -> Result<Known, ExplainError> {
    if record.envelope.kind != Kind::Inspect {
        return Err(ExplainError::Record(format!(
            "{name} is a record of {}, which measures too little to stand for the device",
            record.envelope.kind.word()
        )));
    }
    let plan = record.plan.clone();
    let measured = Measured::of(vec![Part::of_record(name.to_owned(), record)])?;
    let fit = flashscope_twin::fit(&measured, &title(name), &mut Fitting(watch))?;
    let mut refits = Vec::new();
    for number in 1..=REFITS {
        watch.progress("twins of the twin", number, REFITS);
        let again = inspected(&fit.model, &plan, stream(plan.seed, u64::from(number)), watch)?;
        match refitted(name, again, watch) {
            Ok(model) => refits.push(model),
            Err(FitError::Stopped) => return Err(ExplainError::Stopped),
            // A measurement that happens to say too little is none that the twin could have come of.
            Err(_) => {}
        }
    }
    Ok(Known {
        within: fit.goodness.within(),
        caution: fit.caution,
        side: Side { error: fit.goodness.error(), model: fit.model, refits },
    })
}

/// One title for all twins of a device, as a title that differs is no difference.
fn title(name: &str) -> String {
    format!("twin of {name}")
}

fn refitted(name: &str, record: RunRecord, watch: &mut dyn Watch) -> Result<String, FitError> {
    let measured = Measured::of(vec![Part::of_record(name.to_owned(), record)])?;
    Ok(flashscope_twin::fit_model(&measured, &title(name), &mut Fitting(watch))?.text)
}

/// What `inspect` finds of a model, within the limits of the plan.
fn inspected(model: &str, plan: &Plan, seed: u64, watch: &mut dyn Watch) -> Result<RunRecord, ExplainError> {
    let mut target = open(model, seed).map_err(|why| FitError::Model(why.to_string()))?;
    target.check_always(false);
    let for_twin = plan.steps.iter().any(|step| step.experiment == ExperimentName::Patterns.word());
    let usual = if for_twin { twin_write_budget } else { usual_write_budget }(target.facts().capacity);
    let writes = if plan.budget.write.get() > 0 { plan.budget.write } else { usual };
    let mut grant = WriteGrant::simulated(target.facts(), writes);
    let options = Options { seed, budget: plan.budget };
    let report = match for_twin {
        true => inspect_for_twin(&mut target, grant.as_mut(), options, &mut Inspecting(watch)),
        false => inspect(&mut target, grant.as_mut(), options, &mut Inspecting(watch)),
    };
    let envelope = Envelope {
        device: Some(target.facts().clone()),
        path: Some(target.path()),
        stop: report.stop,
        ..Envelope::new(Kind::Inspect, Tool::default(), "inspect", "the twin")
    };
    Ok(RunRecord { envelope, plan: report.plan, observations: report.observations, findings: report.findings })
}

/// Hands a stop on to a fit.
struct Fitting<'w>(&'w mut dyn Watch);

impl flashscope_twin::Watch for Fitting<'_> {
    fn progress(&mut self, _what: &str, _done: u32, _total: u32) {}

    fn stop(&mut self) -> bool {
        self.0.stop()
    }
}

/// Hands a stop on to an inspection.
struct Inspecting<'w>(&'w mut dyn Watch);

impl Watcher for Inspecting<'_> {
    fn step(&mut self, _number: u32, _step: &Step, _ahead: &dyn Fn() -> Ahead) {}

    fn progress(&mut self, _done: u64, _total: u64) {}

    fn measured(&mut self, _so_far: &dyn SoFar) {}

    fn stop(&mut self) -> bool {
        self.0.stop()
    }
}
