//! How often a forecast of the first error is right: simulated devices that wear out, written over until they do.
//!
//! `draw/wearing.rs` draws how long blocks last, how many are kept to replace them, how raw bit errors grow, and how much of its life a
//! device has behind it; [`worn_out`] writes it over until the first error and asks for a forecast at moments before that, with
//! nothing but the registers that a host sees. [`Figures`] counts, [`rows`] holds the counts against what is wanted, beside a
//! reader who draws a line through the first step of a register (`naive.rs`). [`table`] makes the table of quantiles from a
//! fleet whose seed judges nothing.

mod naive;
mod score;
mod table;

pub use score::{Figures, rows};
pub use table::{TABLE_SEED, samples, table};

use crate::DrawError;
use crate::draw::{Wearing, draw_wearing};
use flashscope_device::{Target, WriteGrant};
use flashscope_endurance::{Journal, Look, Plan as Passes, Progress, Watch, endure};
use flashscope_infer::endurance::{Course, forecast};
use flashscope_journal::Subject;
use flashscope_model::Health;
use flashscope_model::endurance::{End, EndKind, Forecast, Milestone, Pass};
use flashscope_sim::SimTarget;
use flashscope_stats::Rng;
use flashscope_stats::rng::{mix, stream};
use flashscope_units::{Bytes, Instant, Nanos};
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
}

/// What was said at one moment of a device's life beside the truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// Whether the device has registers of wear.
    pub has_registers: bool,
    /// Capacity-writes at which the first error came: in the pass between these two.
    pub first_error: (f64, f64),
    /// Capacity-writes at that moment.
    pub now: f64,
    /// What was said.
    pub forecast: Forecast,
    /// What the naive reader said, where a register had moved.
    pub naive: Option<f64>,
}

/// Moments of each device at which a forecast is asked for.
const MOMENTS: u32 = 4;
/// No device lasts longer than it is worth while to look at.
const MOST_PASSES: u32 = 1000;

/// Draws the devices, wears them out, and asks; the moments of the devices in their order. A device that lasts too long says
/// nothing.
///
/// # Errors
/// Where a device cannot be drawn: the catalogue and the drawing no longer agree.
pub fn worn_out(plan: Plan) -> Result<Vec<Said>, DrawError> {
    let indices = (plan.first..plan.first.saturating_add(plan.devices)).into_par_iter().with_max_len(1);
    let all: Result<Vec<Vec<Said>>, DrawError> = indices.map(|index| said(plan.seed, index)).collect();
    Ok(all?.concat())
}

fn said(seed: u64, index: u32) -> Result<Vec<Said>, DrawError> {
    let Some(life) = live(seed, index)? else { return Ok(Vec::new()) };
    let at = |passes: usize| {
        let Life { before, claimed, .. } = life;
        let passes = &life.passes[..passes];
        let course = Course::of(before.as_ref(), passes, claimed);
        Said {
            has_registers: before.is_some(),
            first_error: life.first_error(),
            now: course.written(),
            forecast: forecast(before.as_ref(), passes, claimed, &going_on()),
            naive: naive::first_error(before.as_ref(), passes, claimed),
        }
    };
    Ok(life.moments.iter().map(|passes| at(*passes)).collect())
}

/// The writing goes on.
fn going_on() -> End {
    End { kind: EndKind::Passes, why: None }
}

/// A device until its first error.
struct Life {
    before: Option<Health>,
    claimed: Bytes,
    passes: Vec<Pass>,
    /// Numbers of passes after which a forecast is asked for.
    moments: Vec<usize>,
}

impl Life {
    /// In the last pass.
    fn first_error(&self) -> (f64, f64) {
        let until = |passes: &[Pass]| passes.iter().map(|pass| pass.written).sum::<Bytes>().as_f64();
        let (before, all) = (until(&self.passes[..self.passes.len() - 1]), until(&self.passes));
        (before / self.claimed.as_f64(), all / self.claimed.as_f64())
    }
}

/// Wears a device out; `None` where it lasts too long, or not for two passes.
fn live(seed: u64, index: u32) -> Result<Option<Life>, DrawError> {
    let Wearing { spec, seed: own, passes_before } = draw_wearing(seed, index);
    let mut target = flashscope_sim::open(&spec, own).map_err(|error| DrawError::new(format!("{error}\n{spec}")))?;
    // A fleet looks at answers; what a device must never do is looked at by the simulator's own tests.
    target.check_always(false);
    let (claimed, block) = (target.facts().capacity, target.capabilities().granularity);
    let passes = |most_passes: u32, seed: u64| Passes {
        claimed,
        block,
        seed,
        most_passes: Some(most_passes),
        until: Some(Milestone::FirstError),
        limit: None,
        reread_after: None,
    };
    let earlier = done(&mut target, &passes(passes_before, own ^ 1), 1)?;
    if earlier.0.len() < passes_before as usize || earlier.1.is_death() {
        return Ok(None);
    }
    let before = target.facts().claims.health;
    let (passes, end) = done(&mut target, &passes(MOST_PASSES, own), 1 << 20)?;
    if end == EndKind::Passes || passes.len() < 2 {
        return Ok(None);
    }
    let mut rng = Rng::new(mix(stream(seed, u64::from(index)) ^ 0x656e_6475));
    let moments = (0..MOMENTS).map(|_| 1 + rng.below(passes.len() - 1)).collect();
    Ok(Some(Life { before, claimed, passes, moments }))
}

fn done(target: &mut SimTarget, plan: &Passes, generation: u32) -> Result<(Vec<Pass>, EndKind), DrawError> {
    let subject = Subject { identity: String::new(), capacity_bytes: plan.claimed.get() };
    let refused = || DrawError::new("a simulated device grants freely");
    let mut grant = WriteGrant::simulated(target.facts(), Bytes(u64::MAX / 2)).ok_or_else(refused)?;
    let mut journal = Journal::new(plan, subject, generation);
    let stop = endure(plan, &mut journal, (target, &mut grant), &mut Unwatched);
    let told = journal.told(plan, &stop);
    Ok((told.passes, told.end.kind))
}

/// Nobody looks on.
struct Unwatched;

impl Watch for Unwatched {
    fn progress(&mut self, _: Progress) {}

    fn stop(&mut self) -> bool {
        false
    }

    fn is_due(&mut self) -> bool {
        false
    }

    fn keep(&mut self, _: &Journal) {}

    fn look(&mut self, target: &dyn Target) -> Look {
        Look { health: target.facts().claims.health, capacity: None }
    }

    fn clock(&mut self, target: &dyn Target) -> Nanos {
        target.now().since(Instant::ORIGIN)
    }

    fn wait(&mut self, target: &mut dyn Target, until: Nanos) {
        target.wait_until(Instant::ORIGIN + until);
    }
}
