//! How often `integrity` is right: honest devices with every cache that the promise allows, and devices with planted faults,
//! alone and in pairs, whose power is cut some tens of times in virtual time.
//!
//! [`judged`] draws, cuts and asks, [`Figures`] counts, [`rows`] holds the counts against what is wanted, beside readers that hold
//! devices to something simpler. [`table`] makes the table of probabilities from a fleet whose seed judges nothing.

mod planted;
mod score;
mod table;

pub use planted::Planted;
pub use score::{Figures, rows};
pub use table::{TABLE_SEED, samples, table};

use crate::DrawError;
use crate::draw::draw_for_cuts;
use flashscope_device::{DeviceError, PowerSwitch, Restored, Target, WriteGrant, forward};
use flashscope_integrity::verdict::{shipped, verdict};
use flashscope_integrity::{Report, first_generation, run, usual_region};
use flashscope_model::integrity::Verdict;
use flashscope_sim::{Recovery, SimTarget};
use flashscope_units::{Bytes, Nanos};
use rayon::prelude::*;
use std::collections::BTreeMap;

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
    pub kind: Kind,
    /// Power cuts of each.
    pub cuts: u32,
}

/// Which devices are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Without a fault.
    Honest,
    /// Each with one.
    Alone,
    /// Each with two.
    Pairs,
}

/// What was said of a device beside the truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What is wrong with it.
    pub planted: Vec<Planted>,
    /// How often each of these happened in a cut, where the device knows.
    pub happened: BTreeMap<Planted, u32>,
    /// What was said.
    pub verdict: Verdict,
    /// Cuts after which something was gone, flushed or not: what one says who calls any loss a fault.
    pub lossy: u32,
    /// Why it could not be judged, if it could not.
    pub failed: Option<String>,
}

/// A device that takes longer from power on to its first answer comes back slowly.
const SLOW_AFTER: Nanos = Nanos::secs(10);
/// What is looked through for writes that went elsewhere: all of the largest device that is drawn.
const SEARCH: Bytes = Bytes::gib(2);

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 3] = [Kind::Honest, Kind::Alone, Kind::Pairs];

    /// In a few words.
    pub const fn words(self) -> &'static str {
        match self {
            Kind::Honest => "honest devices",
            Kind::Alone => "devices with one fault",
            Kind::Pairs => "devices with two faults",
        }
    }

    /// The faults of a device: every kind, and every pair, in turn.
    fn planted(self, index: u32) -> Vec<Planted> {
        let all = Planted::ALL;
        let index = index as usize;
        match self {
            Kind::Honest => Vec::new(),
            Kind::Alone => vec![all[index % all.len()]],
            Kind::Pairs => {
                let pairs = || (0..all.len()).flat_map(|one| (one + 1..all.len()).map(move |other| (one, other)));
                let pairs = pairs().filter(|(one, other)| all[*one].goes_with(all[*other]));
                let pairs: Vec<(usize, usize)> = pairs.collect();
                let (one, other) = pairs[index % pairs.len()];
                vec![all[one], all[other]]
            }
        }
    }
}

/// Draws the devices, cuts their power, and asks; in the order of the devices.
///
/// # Errors
/// Where a device cannot be drawn: the catalogue and the drawing no longer agree.
pub fn judged(plan: Plan) -> Result<Vec<Outcome>, DrawError> {
    (plan.first..plan.first.saturating_add(plan.devices)).into_par_iter().map(|index| outcome(plan, index)).collect()
}

fn outcome(plan: Plan, index: u32) -> Result<Outcome, DrawError> {
    let planted = plan.kind.planted(index);
    let (report, happened) = seen(plan, index, &planted)?;
    let verdict = verdict(&report, shipped());
    let lossy = report.cuts.iter().filter(|cut| cut.found > 0 || cut.dropped > Bytes::ZERO).count() as u32;
    let failed = match &report.ended {
        Some(flashscope_integrity::Ended::Harness(why)) => Some(why.clone()),
        _ => None,
    };
    Ok(Outcome { planted, happened, verdict, lossy, failed })
}

/// What was seen of a device, and what really happened in it.
fn seen(plan: Plan, index: u32, planted: &[Planted]) -> Result<(Report, BTreeMap<Planted, u32>), DrawError> {
    let drawn = draw_for_cuts(plan.seed, index, planted)?;
    cut(&drawn.text, drawn.seed, plan.cuts)
}

/// What is said of a device of a model file after so many cuts.
pub(crate) fn verdict_of(text: &str, seed: u64, cuts: u32) -> Result<Verdict, DrawError> {
    Ok(verdict(&cut(text, seed, cuts)?.0, shipped()))
}

fn cut(text: &str, seed: u64, cuts: u32) -> Result<(Report, BTreeMap<Planted, u32>), DrawError> {
    let open = flashscope_sim::open_with("drawn.toml", seed, |_| Ok(text.to_owned()));
    let mut target = open.map_err(|error| DrawError::new(format!("{error}\n{text}")))?;
    // A fleet looks at answers; what a device must never do is looked at by the simulator's own tests.
    target.check_always(false);
    let refused = || DrawError::new("a simulated device grants freely".to_owned());
    let mut grant = WriteGrant::simulated(target.facts(), Bytes(u64::MAX / 2)).ok_or_else(refused)?;
    let (offset, length) = usual_region(target.facts().capacity);
    let cuts = flashscope_integrity::Plan {
        cuts,
        seed,
        generation: first_generation(seed),
        offset,
        length,
        slow_after: SLOW_AFTER,
        search: SEARCH,
    };
    let mut device = Watched { device: target, happened: BTreeMap::new() };
    let report = run(&mut device, &mut grant, &cuts, &mut (), &mut ());
    Ok((report, device.happened))
}

/// A device whose mishaps are counted.
struct Watched {
    device: SimTarget,
    happened: BTreeMap<Planted, u32>,
}

impl PowerSwitch for Watched {
    fn cut_power(&mut self) -> Result<(), DeviceError> {
        PowerSwitch::cut_power(&mut self.device)?;
        let Some(cut) = self.device.last_power_cut() else { return Ok(()) };
        let happened = [
            (Planted::Torn, cut.torn.is_some()),
            (Planted::Shorn, cut.shorn.is_some()),
            (Planted::Neighbours, cut.neighbour.is_some()),
            (Planted::Rollback, cut.rolled_back > Bytes::ZERO),
            (Planted::Shrink, cut.recovery == Recovery::Shrunk),
            (Planted::Dead, cut.recovery == Recovery::Dead),
            (Planted::SlowStart, cut.recovery == Recovery::Slow),
        ];
        for (planted, _) in happened.into_iter().filter(|(_, happened)| *happened) {
            *self.happened.entry(planted).or_default() += 1;
        }
        Ok(())
    }

    fn has_lost_power(&mut self) -> Result<bool, DeviceError> {
        self.device.has_lost_power()
    }

    fn restore_power(&mut self) -> Result<Restored, DeviceError> {
        self.device.restore_power()
    }
}

impl Target for Watched {
    forward!(device: facts, capabilities, path, now, submit, reap, wait_until, wear);
}
