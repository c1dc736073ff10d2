//! What an answer is worth: its score and its grounds, made a probability in one place, by counts.
//!
//! A family of findings says what it found, how clear that is (a *score*: any figure that rises with the evidence, 0…1, in
//! the place of the confidence) and which doubts there are ([`Doubt`]). None of that is a probability. Here it becomes one:
//! answers on the same *grounds* (finding, source, kind of answer, what is said, doubts) were counted on simulated devices
//! whose inside is known, those that were right beside all of them, in ranges of scores (`table.csv`, made by the command in
//! its first lines).
//!
//! Grounds of which few were seen borrow from coarser ones: the share of a range is drawn towards that of the grounds
//! without their last doubt, by as many cases as fit the counts best (a beta prior at each step, its strength by the
//! likelihood of each case by all others), and that of all that a source says of a finding towards the score.
//! What was never counted keeps its score.

mod grounds;
mod table;

pub use grounds::{Claim, Grounds};
use table::Cases;
pub use table::Table;

use flashscope_model::finding::{Change, Doubt, Figure};
use flashscope_model::{Estimate, Finding, Geometry};
use std::sync::OnceLock;

/// Cases that coarser grounds count for, of which the likeliest is taken. Cases of one device come together (three logs, or the
/// sizes that a bound leaves open), so that leaving one out still leaves its like: fewer than these would be too few.
const STRENGTHS: [u32; 4] = [8, 16, 32, 64];

/// An answer with a doubt that no device of the development fleet had is no surer than one that contradicts itself.
const UNCOUNTED: f64 = 0.6;

/// Cases that a score counts for beside the counts of its finding.
const CASES_OF_A_SCORE: f64 = 2.0;

/// Scores are taken for no more certain than this.
const LEAST_SCORE: f64 = 0.001;

/// Below this share the counts are named beside the answer, as a reader will ask why.
const NAMED_BELOW: f64 = 0.95;

/// Fewer cases are no ground to name.
const FEWEST_NAMED: f64 = 20.0;

/// The table that goes with this version.
///
/// # Panics
/// Where the file in the repository is damaged, which a test looks at.
pub fn shipped() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| Table::parse(include_str!("table.csv")).expect("the table in the repository is well-formed"))
}

/// Counts claims, each with whether it was right, under all of its grounds, and adds how much coarser ones weigh.
pub fn table(claims: &[(Claim, bool)]) -> Table {
    let mut table = Table::default();
    claims.iter().for_each(|(claim, right)| table.add(claim, *right));
    table.fit(&STRENGTHS, |cases, strength| likelihood(cases, f64::from(strength)));
    table
}

/// Logarithm of how likely the cases of one kind are by all others: each is left out in turn.
fn likelihood(Cases { score, levels }: &Cases, strength: f64) -> f64 {
    let [right, wrong] = levels.last().copied().unwrap_or_default();
    let without = |one: [f64; 2]| -> Vec<[f64; 2]> {
        levels.iter().map(|[right, wrong]| [right - one[0], wrong - one[1]]).collect()
    };
    let share = |one: [f64; 2]| share(&without(one), *score, strength);
    let of_right = if right > 0.0 { right * share([1.0, 0.0]).ln() } else { 0.0 };
    let of_wrong = if wrong > 0.0 { wrong * (1.0 - share([0.0, 1.0])).ln() } else { 0.0 };
    of_right + of_wrong
}

/// What a claim is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worth {
    /// Probability that it is right.
    pub right: f64,
    /// Right ones, and all, among the cases on the same grounds with such a score.
    pub counted: (f64, f64),
}

/// The worth of a claim by a table; `None` of a finding that was never counted.
pub fn worth(table: &Table, claim: &Claim) -> Option<Worth> {
    // What another experiment shows besides was never counted, and keeps its score.
    if claim.grounds.doubts().contains(&Doubt::Indirect) {
        return None;
    }
    let strength = table.strength(claim)?;
    let share = |claim: &Claim| {
        let levels = table.levels(claim);
        (share(&levels, claim.score, strength), levels.last().copied().unwrap_or_default())
    };
    let (mut right, [good, bad]) = share(claim);
    let uncounted = claim.uncounted(table);
    let counted = if uncounted.is_empty() { (good, good + bad) } else { (0.0, 0.0) };
    // Doubts that were never seen together cost at least what the dearest of them costs alone.
    for alone in uncounted {
        let of_it = if alone.uncounted(table).is_empty() { share(&alone).0 } else { UNCOUNTED };
        right = right.min(of_it);
    }
    Some(Worth { right, counted })
}

/// The share of right ones, from right and wrong ones on grounds from the coarsest to the finest, each of which holds those
/// of the next: at each step the cases that are not among the next ones count, so that none counts twice. Nothing is
/// coarser than the finding by its source: there what the family itself thinks of it, its score, stands for a case or two.
fn share(levels: &[[f64; 2]], score: f64, strength: f64) -> f64 {
    let (mut share, mut drawn) = (score.clamp(LEAST_SCORE, 1.0 - LEAST_SCORE), CASES_OF_A_SCORE);
    for (at, [right, wrong]) in levels.iter().enumerate() {
        let [next_right, next_wrong] = levels.get(at + 1).copied().unwrap_or_default();
        let (right, wrong) = (right - next_right, wrong - next_wrong);
        share = (right + drawn * share) / (right + wrong + drawn);
        drawn = strength;
    }
    share
}

/// Makes probabilities of the scores of all answers whose like was counted, and clears their doubts.
pub(crate) fn settle(geometry: &mut Geometry, table: &Table) {
    struct Settle<'a>(&'a Table);
    impl Change for Settle<'_> {
        fn change<F: Figure>(&mut self, finding: Finding, estimate: &mut Estimate<F>) {
            let odds: Vec<Option<Worth>> =
                Claim::odds(finding, estimate).iter().map(|claim| worth(self.0, claim)).collect();
            let worth = Claim::of(finding, estimate).and_then(|claim| worth(self.0, &claim));
            let Some(support) = estimate.support_mut() else { return };
            support.doubts.clear();
            for ((_, share), worth) in support.alternatives.iter_mut().zip(odds) {
                *share = worth.map_or(*share, |worth| worth.right);
            }
            let Some(Worth { right, counted: (good, all) }) = worth else { return };
            support.confidence = right;
            if right < NAMED_BELOW && all >= FEWEST_NAMED {
                estimate.add_evidence(&format!("of {all:.0} such answers on known devices {good:.0} were right"));
            }
        }
    }
    geometry.change(&mut Settle(table));
}

#[cfg(test)]
mod tests;
