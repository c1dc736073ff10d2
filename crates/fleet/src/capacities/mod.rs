//! How often a quick or a full test of the capacity is right: simulated devices, genuine and fake, tested and held against what
//! is true of their size.
//!
//! `draw.rs` draws a device, what it does beyond its true size, and a cache that hides it (`cache.rs`); [`tested`] tests,
//! [`Figures`] counts, [`rows`] holds the counts against what is wanted, beside a prober that looks at powers of two only
//! (`naive.rs`). [`table`] makes the table of probabilities from a fleet whose seed judges nothing.

mod cache;
mod draw;
mod naive;
mod rows;
mod score;
mod table;

pub use draw::Fake;
pub(crate) use draw::plant;
pub use naive::Said;
pub use rows::{calibration, rows};
pub use score::Figures;
pub use table::{TABLE_SEED, samples, table};

use crate::DrawError;
use cache::Cached;
use draw::Drawn;
use flashscope_capacity::{Filling, FullPlan, Keep, Plan as Test, USUAL_BUDGET, Watch, quick};
use flashscope_device::{Target, WriteGrant};
use flashscope_infer::capacity::{full, verdict};
use flashscope_journal::Subject;
use flashscope_model::capacity::{Full, PassOrder, Quick, Verdict};
use flashscope_sim::SimTarget;
use flashscope_units::Bytes;
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
    /// Which devices.
    pub which: Which,
    /// Which test.
    pub depth: Depth,
}

/// Which test is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Little is written, at chosen places.
    Quick,
    /// All of it is written, of small devices.
    Full,
}

/// Which devices are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that are what they say: some have slow or failing places, or a cache.
    Genuine,
    /// Fakes of all kinds.
    Fakes,
}

/// One test beside the truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What it is.
    pub fake: Fake,
    /// Size that it says it has.
    pub claimed: Bytes,
    /// What a cache in front of it holds.
    pub cache: Bytes,
    /// What a cache may hold that the test excludes.
    pub excluded_cache: Bytes,
    /// Bytes that were written.
    pub written: Bytes,
    /// What was said.
    pub verdict: Verdict,
    /// What the naive prober said.
    pub naive: Said,
}

/// Draws the devices and tests each; in the order of the devices.
///
/// # Errors
/// Where a device cannot be drawn, simulated or tested: the catalogue, the drawing and the test no longer agree.
pub fn tested(plan: Plan) -> Result<Vec<Outcome>, DrawError> {
    (plan.first..plan.first.saturating_add(plan.devices)).into_par_iter().map(|index| outcome(plan, index)).collect()
}

fn outcome(plan: Plan, index: u32) -> Result<Outcome, DrawError> {
    let drawn = draw::draw(plan, index)?;
    let seen = run(&drawn, plan.depth)?;
    let naive = naive::probe(&mut Cached::new(opened(&drawn)?, drawn.cache)).map_err(broken)?;
    let (excluded_cache, written, verdict) = match &seen {
        Seen::Quick(seen) => (seen.region, seen.written, verdict(seen)),
        Seen::Full(seen) => (seen.pushed / 2, seen.written + seen.pushed, full::verdict(seen)),
    };
    Ok(Outcome {
        fake: drawn.fake,
        claimed: drawn.claimed,
        cache: drawn.cache,
        excluded_cache,
        written,
        verdict,
        naive,
    })
}

/// What a test saw.
enum Seen {
    Quick(Quick),
    Full(Full),
}

fn opened(drawn: &Drawn) -> Result<SimTarget, DrawError> {
    open(&drawn.text, drawn.seed)
}

fn open(text: &str, seed: u64) -> Result<SimTarget, DrawError> {
    let open = flashscope_sim::open_with("drawn.toml", seed, |_| Ok(text.to_owned()));
    let mut target = open.map_err(|error| DrawError::new(format!("{error}\n{text}")))?;
    // A fleet looks at answers; what a device must never do is looked at by the simulator's own tests.
    target.check_always(false);
    Ok(target)
}

/// What a test sees.
fn run(drawn: &Drawn, depth: Depth) -> Result<Seen, DrawError> {
    let mut target = Cached::new(opened(drawn)?, drawn.cache);
    let (facts, block) = (target.facts().clone(), target.capabilities().granularity);
    let granted =
        |bytes: Bytes| WriteGrant::simulated(&facts, bytes).ok_or_else(|| DrawError::new("no simulated device"));
    match depth {
        Depth::Quick => Ok(Seen::Quick(quickly(&mut target, drawn.seed)?)),
        Depth::Full => {
            let order = if drawn.shuffled { PassOrder::Shuffled } else { PassOrder::Sequential };
            let plan = FullPlan::new(facts.capacity, block, order, drawn.seed).map_err(broken)?;
            let subject = Subject { identity: facts.name.clone(), capacity_bytes: facts.capacity.get() };
            let mut filling = Filling::new(&plan, subject, 1);
            let mut grant = granted(filling.writes_left(&plan))?;
            flashscope_capacity::full(&plan, &mut filling, (&mut target, &mut grant), &mut Unwatched);
            Ok(Seen::Full(filling.seen(&plan)))
        }
    }
}

/// What a quick test says of a device of a model file.
pub(crate) fn quick_verdict(text: &str, seed: u64) -> Result<Verdict, DrawError> {
    Ok(verdict(&quickly(&mut open(text, seed)?, seed)?))
}

fn quickly(target: &mut impl Target, seed: u64) -> Result<Quick, DrawError> {
    let plan =
        Test::new(target.facts().capacity, target.capabilities().granularity, USUAL_BUDGET, seed).map_err(broken)?;
    let grant = WriteGrant::simulated(target.facts(), plan.budget);
    let mut grant = grant.ok_or_else(|| DrawError::new("no simulated device"))?;
    Ok(quick(&plan, 1, (target, &mut grant), &mut Unwatched).seen)
}

fn broken(error: impl std::fmt::Display) -> DrawError {
    DrawError::new(error.to_string())
}

/// Nobody looks on.
struct Unwatched;

impl Watch for Unwatched {
    fn progress(&mut self, _: Bytes, _: Bytes) {}

    fn stop(&mut self) -> bool {
        false
    }
}

impl Keep for Unwatched {
    fn is_due(&mut self) -> bool {
        false
    }

    fn keep(&mut self, _: &Filling) {}
}
