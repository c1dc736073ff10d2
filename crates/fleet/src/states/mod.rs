//! How often a diagnosis is right: simulated devices of both mappings brought to random states, diagnosed, and held against
//! what is true of their state then.
//!
//! `case` draws a device and what it went through (`bring.rs`), [`diagnosed`] asks, [`Figures`] counts, [`rows`] holds the
//! counts against what is wanted, beside readers that go by one sign (`readers.rs`). [`table`] makes the table of
//! probabilities from a fleet whose seed judges nothing.

mod bring;
mod readers;
mod rows;
mod score;
mod table;
mod truth;

pub use bring::Past;
pub use readers::Read;
pub use rows::rows;
pub use score::{Figures, Question};
pub use table::{TABLE_SEED, samples, table};
pub use truth::Answers;

use crate::DrawError;
use crate::draw::{Drawn, draw_for_a_state};
use flashscope_device::{Target, WriteGrant};
use flashscope_model::plan::Budget;
use flashscope_model::{Geometry, Observations};
use flashscope_session::{Ahead, Options, SoFar, Watcher, usual_diagnosis_budget};
use flashscope_sim::SimTarget;
use flashscope_stats::Rng;
use flashscope_stats::rng::stream;
use rayon::prelude::*;

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Number of the first device.
    pub first: u32,
    /// How many devices.
    pub devices: u32,
    /// The same seed draws the same devices.
    pub seed: u64,
    /// Whether a diagnosis may write for comparison.
    pub writes: bool,
}

/// One diagnosis beside the truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What the device went through.
    pub past: Past,
    /// Whether it maps by unit.
    pub is_card: bool,
    /// What was true before the diagnosis.
    pub truth: Answers,
    /// What was said.
    pub found: Geometry,
    /// What was said where there is no noise: what can be told.
    pub quiet: Geometry,
    /// What others would have said.
    pub readers: Read,
}

/// Draws the devices, brings each to its state, and diagnoses it; in the order of the devices.
///
/// # Errors
/// Where a device cannot be drawn or simulated: the catalogue and the drawing no longer agree.
pub fn diagnosed(plan: Plan) -> Result<Vec<Outcome>, DrawError> {
    (plan.first..plan.first.saturating_add(plan.devices)).into_par_iter().map(|index| outcome(plan, index)).collect()
}

fn outcome(plan: Plan, index: u32) -> Result<Outcome, DrawError> {
    let (drawn, past) = drawn(plan.seed, index)?;
    let is_card = is_card(&drawn);
    let mut noisy = brought(&drawn, &drawn.text, past, plan.seed, index)?;
    let truth = truth::of(&noisy);
    let (found, observations) = diagnose(&mut noisy, drawn.seed, plan.writes);
    let mut quiet = brought(&drawn, &drawn.quiet, past, plan.seed, index)?;
    let quiet = diagnose(&mut quiet, drawn.seed, plan.writes).0;
    let readers = readers::read(&observations);
    Ok(Outcome { past, is_card, truth, found, quiet, readers })
}

fn drawn(seed: u64, index: u32) -> Result<(Drawn, Past), DrawError> {
    let past = Past::draw(&mut Rng::new(stream(seed, u64::from(index))));
    Ok((draw_for_a_state(seed, index, past.starts_blank())?, past))
}

fn is_card(drawn: &Drawn) -> bool {
    !drawn.title.starts_with("page-mapped")
}

/// A device in the state that it was brought to.
fn brought(drawn: &Drawn, text: &str, past: Past, seed: u64, index: u32) -> Result<SimTarget, DrawError> {
    let open = flashscope_sim::open_with("drawn.toml", drawn.seed, |_| Ok(text.to_owned()));
    let mut target = open.map_err(|error| DrawError::new(error.to_string()))?;
    // A fleet looks at answers; what a device must never do is looked at by the simulator's own tests.
    target.check_always(false);
    let mut rng = Rng::new(stream(seed, u64::from(index)) ^ 1);
    past.happen(&mut target, is_card(drawn), &mut rng).map_err(|error| DrawError::new(error.to_string()))?;
    Ok(target)
}

fn diagnose(target: &mut SimTarget, seed: u64, writes: bool) -> (Geometry, Observations) {
    let facts = target.facts().clone();
    let budget = usual_diagnosis_budget(facts.capacity);
    let mut grant = WriteGrant::simulated(&facts, budget).filter(|_| writes);
    let options = Options { seed, budget: Budget { write: budget, time: None } };
    let report = flashscope_session::diagnose(target, grant.as_mut(), options, &mut Unwatched);
    (report.findings.geometry, report.observations)
}

/// Nobody looks on.
struct Unwatched;

impl Watcher for Unwatched {
    fn step(&mut self, _: u32, _: &flashscope_model::run::Step, _: &dyn Fn() -> Ahead) {}
    fn progress(&mut self, _: u64, _: u64) {}
    fn measured(&mut self, _: &dyn SoFar) {}
    fn stop(&mut self) -> bool {
        false
    }
}
