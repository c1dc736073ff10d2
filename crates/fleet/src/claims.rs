//! The counts that make probabilities of scores: what is claimed of devices of a development fleet, and whether it is right.
//!
//! Every device is inspected as a user does it, and every fifth is worked through by hand with flashbench's tests as well,
//! whose log is then read: probes and printed tables are counted apart. Logs are those of two operators, one who writes by
//! what a naive reader sees in the tables of reads, and one who knows the unit, as most did whose logs are published; the
//! latter's log is read once more without its tables of reads, as many are pasted. Wide and adversarial devices take turns, with noise as in the published logs;
//! every fourth device draws a noise of its own. Nothing that judges uses this seed.

use crate::classic::{self, Operator};
use crate::draw::{DrawError, Generator, Noise, draw};
use crate::run::NoResult;
use crate::run::{Inspected, Limits, MaxWrite, inspect, open};
use crate::score::{Parameter, judge};
use flashscope_device::Target;
use flashscope_infer::calibrated::Table;
use flashscope_infer::claims::{self, Claim};
use flashscope_model::{Data, Estimate, Finding, Geometry};
use flashscope_sim::truth::{self, Fact, Truth};
use flashscope_units::Bytes;
use rayon::prelude::*;

/// The development fleet.
pub const TABLE_SEED: u64 = 22_900;

/// Devices of that fleet that stand for all of it where the table is looked at: as few as a test has time for.
const SAMPLED: u32 = 3;

/// One in so many devices is worked through by hand, which takes twice the time of all else.
const BY_HAND: u32 = 5;

/// Counts what is claimed of this number of devices. A device that fails, or takes more processor time than any should, is
/// left out.
///
/// # Errors
/// When no device can be drawn, because the catalogue's models have changed.
pub fn table(seed: u64, devices: u32) -> Result<Table, DrawError> {
    let claimed: Result<Vec<Vec<(Claim, bool)>>, DrawError> =
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

/// What is claimed of one device, by probes and from its log.
fn claimed(seed: u64, index: u32) -> Result<Vec<(Claim, bool)>, DrawError> {
    let generator = if index % 2 == 0 { Generator::Wide } else { Generator::Adversarial };
    let noise = (index % 4 != 3).then_some(Noise::Field);
    let drawn = draw(generator, seed, index, noise)?;
    let truth =
        truth::of("drawn.toml", |_| Ok(drawn.text.clone())).map_err(|error| DrawError::new(error.to_string()))?;
    let limits = Limits { max_write: MaxWrite::Usual, max_time: None, by_hand: true, most_work: Limits::USUAL_WORK };
    let go_on = || false;
    let opened = || open(&drawn.text, drawn.seed).map_err(NoResult::Failed);
    let probed = opened().and_then(|target| {
        let facts = target.facts().clone();
        let Inspected { report, .. } = inspect(target, drawn.seed, limits, 1, &go_on)?;
        Ok(flashscope_infer::scores(Some(&facts), &report.observations))
    });
    let by_hand = |operator: Operator| -> Result<Vec<Geometry>, NoResult> {
        let by_hand = classic::work_through(opened()?, operator, &truth, drawn.seed, &go_on)?;
        // A pasted log: neither the device nor its capacity is known.
        let mut pasted = flashscope_transcript::parse(&by_hand.log).observations;
        let whole = flashscope_infer::scores(None, &pasted);
        if operator == Operator::Naive {
            return Ok(vec![whole]);
        }
        pasted.runs.retain(|run| !matches!(run.data, Data::Align(_)));
        Ok(vec![whole, flashscope_infer::scores(None, &pasted)])
    };
    let operators = [Operator::Naive, Operator::KnowsTheUnit].into_iter().filter(|_| index.is_multiple_of(BY_HAND));
    let read = operators.filter_map(|operator| by_hand(operator).ok()).flatten();
    Ok(probed.into_iter().chain(read).flat_map(|geometry| judged(&truth, &geometry)).collect())
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
