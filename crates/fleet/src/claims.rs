//! The counts that make probabilities of scores: what is claimed of devices of a development fleet, and whether it is right.
//!
//! Devices are inspected as a user does it, wide and adversarial ones in turn, with noise as in the published logs; every
//! fourth draws a noise of its own. As many others are worked through by hand with flashbench's tests, and the log is read:
//! probes and printed tables are counted apart. These are wide, adversarial, and such as the published logs are of, in turn,
//! and each is worked through by two operators: one who writes by what a naive reader sees in the tables of reads, and one
//! who knows the unit, as most did whose logs are published; the latter's log is read once more without its tables of reads,
//! as many are pasted. Nothing that judges uses this seed.

use crate::classic::{self, Operator};
use crate::draw::{DrawError, Drawn, Generator, Noise, draw};
use crate::run::{Inspected, Limits, MaxWrite, inspect, open};
use crate::score::{Parameter, judge};
use flashscope_device::Target;
use flashscope_infer::claims::{self, Claim, Table};
use flashscope_model::{Data, Estimate, Finding, Geometry};
use flashscope_sim::truth::{self, Fact, Truth};
use flashscope_units::Bytes;
use rayon::prelude::*;

/// The development fleet.
pub const TABLE_SEED: u64 = 22_900;

/// Devices of that fleet that stand for all of it where the table is looked at: as few as a test has time for.
const SAMPLED: u32 = 3;

/// Counts what is claimed of this number of devices. A device that fails is left out.
///
/// # Errors
/// When no device can be drawn, because the catalogue's models have changed.
pub fn table(seed: u64, devices: u32) -> Result<Table, DrawError> {
    let claimed: Result<Vec<Claims>, DrawError> =
        (0..devices).into_par_iter().with_max_len(1).map(|index| claimed(seed, index)).collect();
    Ok(claims::table(&claimed?.concat()))
}

/// What was claimed of the first devices of the development fleet, a line for each: device, finding, grounds and score. Where
/// this is not what it was when the table was made, the table is stale.
///
/// # Errors
/// As [`table`].
pub fn samples() -> Result<String, DrawError> {
    let mut text = String::new();
    for index in 0..SAMPLED {
        for (claim, right) in claimed(TABLE_SEED, index)? {
            let (finding, grounds) = (claim.finding.wire(), claim.grounds.name());
            text.push_str(&format!("{index},{finding},{grounds},{:.2},{right}\n", claim.clearness()));
        }
    }
    Ok(text)
}

/// Claims, each with whether it is right.
type Claims = Vec<(Claim, bool)>;

/// What is claimed of one device, and from logs of another.
fn claimed(seed: u64, index: u32) -> Result<Claims, DrawError> {
    Ok([by_probes(seed, index)?, by_hand(seed ^ OTHERS, index)?].concat())
}

/// Tells the devices that are worked through by hand from the others.
const OTHERS: u64 = 0x6279_6861_6e64;

fn by_probes(seed: u64, index: u32) -> Result<Claims, DrawError> {
    let generator = if index.is_multiple_of(2) { Generator::Wide } else { Generator::Adversarial };
    let noise = (index % 4 != 3).then_some(Noise::Field);
    let (drawn, truth) = drawn(generator, seed, index, noise)?;
    let limits = Limits { max_write: MaxWrite::Usual, max_time: None, by_hand: false, most_work: Limits::USUAL_WORK };
    let Ok(target) = open(&drawn.text, drawn.seed) else { return Ok(Claims::new()) };
    let facts = target.facts().clone();
    let Ok(Inspected { report, .. }) = inspect(target, drawn.seed, limits, 1, &|| false) else {
        return Ok(Claims::new());
    };
    Ok(judged(&truth, &flashscope_infer::scores(Some(&facts), &report.observations)))
}

fn by_hand(seed: u64, index: u32) -> Result<Claims, DrawError> {
    let generator = [Generator::Wide, Generator::Adversarial, Generator::Field][index as usize % 3];
    let (drawn, truth) = drawn(generator, seed, index, Some(Noise::Field))?;
    let mut claims = Claims::new();
    for (seed, operator) in (drawn.seed..).zip([Operator::Naive, Operator::KnowsTheUnit]) {
        let Ok(target) = open(&drawn.text, seed) else { continue };
        let Ok(by_hand) = classic::work_through(target, operator, &truth, seed, &|| false) else { continue };
        // A pasted log: neither the device nor its capacity is known.
        let mut pasted = flashscope_transcript::parse(&by_hand.log).observations;
        claims.extend(judged(&truth, &flashscope_infer::scores(None, &pasted)));
        if operator == Operator::KnowsTheUnit {
            pasted.runs.retain(|run| !matches!(run.data, Data::Align(_)));
            claims.extend(judged(&truth, &flashscope_infer::scores(None, &pasted)));
        }
    }
    Ok(claims)
}

fn drawn(generator: Generator, seed: u64, index: u32, noise: Option<Noise>) -> Result<(Drawn, Truth), DrawError> {
    let drawn = draw(generator, seed, index, noise)?;
    let truth =
        truth::of("drawn.toml", |_| Ok(drawn.text.clone())).map_err(|error| DrawError::new(error.to_string()))?;
    Ok((drawn, truth))
}

/// Each claim with whether it is true, of the findings that a truth is known of.
fn judged(truth: &Truth, geometry: &Geometry) -> Vec<(Claim, bool)> {
    let judged = judge(truth, geometry);
    let claims = Claim::all(geometry).into_iter();
    let right = |claim: &Claim| {
        let of = judged.iter().find(|judged| judged.parameter == Parameter::Of(claim.finding))?;
        of.claim.map(|(_, right)| right)
    };
    let mut all: Vec<(Claim, bool)> = claims.filter_map(|claim| right(&claim).map(|right| (claim, right))).collect();
    all.extend(odds(Finding::AllocationUnit, &geometry.allocation_unit, &truth.allocation_unit));
    all.extend(odds(Finding::Page, &geometry.page, &truth.page));
    all
}

/// Sizes that a bound leaves open, and which of them is the true one.
fn odds(finding: Finding, found: &Estimate<Bytes>, truth: &Fact<Bytes>) -> Vec<(Claim, bool)> {
    let right = |size: &Bytes| truth.value == Some(*size) || truth.aliases.contains(size);
    let sizes = found.alternatives().iter().map(|(size, _)| right(size));
    Claim::odds(finding, found).into_iter().zip(sizes).collect()
}
