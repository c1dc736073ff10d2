//! What an answer is worth: its score and its grounds, made a probability in one place, by counts.
//!
//! A family of findings says what it found, how clear that is (a *score*: any figure that rises with the evidence, 0…1, in
//! the place of the confidence) and which doubts there are ([`Doubt`]). None of that is a probability. Here it becomes one:
//! answers on the same *grounds* (finding, kind of answer, source, what is said, doubts) were counted on simulated devices
//! whose inside is known, those that were right beside all of them, in ranges of scores (`table.csv`, made by the command in
//! its first lines).
//!
//! Grounds of which few were seen borrow from coarser ones: the share of a range is drawn towards that of the grounds
//! without their last doubt, by as many cases as fit the counts best (a beta prior at each step, its strength by the
//! likelihood of cases that were not counted, [`fitted_strength`]), and that of the finding as a whole towards the score.
//! What was never counted keeps its score.

mod grounds;
mod table;

pub use grounds::{Claim, Grounds};
pub use table::{Table, TableError};

use flashscope_model::finding::{Change, Doubt, Figure};
use flashscope_model::{Estimate, Finding, Geometry};
use std::sync::OnceLock;

/// Cases that coarser grounds count for, of which the likeliest is taken.
const STRENGTHS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

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
    let mut table = counted(claims.iter());
    for finding in Finding::ALL {
        let of: Vec<&(Claim, bool)> = claims.iter().filter(|(claim, _)| claim.finding == *finding).collect();
        if !of.is_empty() {
            table.set_strength(finding.wire(), fitted_strength(&of));
        }
    }
    table
}

fn counted<'a>(claims: impl Iterator<Item = &'a (Claim, bool)>) -> Table {
    let mut table = Table::default();
    claims.for_each(|(claim, right)| table.add(claim, *right));
    table
}

/// The strength by which the counts of every other claim on a finding make the rest of them likeliest, both ways round.
fn fitted_strength(claims: &[&(Claim, bool)]) -> u32 {
    let half = |odd: usize| claims.iter().skip(odd).step_by(2).copied();
    let halves = [(counted(half(0)), 1), (counted(half(1)), 0)];
    let likelihood = |strength: u32| -> f64 {
        let of = |table: &Table, odd: usize| -> f64 {
            let shares = half(odd).filter_map(|(claim, right)| {
                let share = share(table, claim, f64::from(strength))?.right;
                Some(if *right { share.ln() } else { (1.0 - share).ln() })
            });
            shares.sum()
        };
        halves.iter().map(|(table, odd)| of(table, *odd)).sum()
    };
    let likelihoods = STRENGTHS.map(|strength| (strength, likelihood(strength)));
    likelihoods.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(STRENGTHS[0], |best| best.0)
}

/// What a claim is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worth {
    /// Probability that it is right.
    pub right: f64,
    /// Right ones, and all, among the cases of the finest grounds of which enough were counted, in its range of scores.
    pub counted: (f64, f64),
}

/// The worth of a claim by a table; `None` of a finding that was never counted.
pub fn worth(table: &Table, claim: &Claim) -> Option<Worth> {
    // What another experiment shows besides was never counted, and keeps its score.
    if claim.grounds.doubts().contains(&Doubt::Indirect) {
        return None;
    }
    let strength = table.strength(claim)?;
    let mut worth = share(table, claim, strength)?;
    // Doubts that were never seen together cost at least what the dearest of them costs alone.
    for alone in claim.uncounted(table) {
        let counted = alone.uncounted(table).is_empty();
        let right = share(table, &alone, strength).filter(|_| counted).map_or(UNCOUNTED, |worth| worth.right);
        worth.right = worth.right.min(right);
    }
    Some(worth)
}

fn share(table: &Table, claim: &Claim, strength: f64) -> Option<Worth> {
    // Nothing is coarser than the finding: there what the family itself thinks of it stands for a case or two.
    let mut worth = Worth { right: claim.score.clamp(LEAST_SCORE, 1.0 - LEAST_SCORE), counted: (0.0, 0.0) };
    let mut drawn = CASES_OF_A_SCORE;
    let mut any = false;
    for grounds in claim.grounds.coarse_to_fine() {
        let Some((right, all)) = table.counted(claim, &grounds) else { break };
        let counted = if all < FEWEST_NAMED { worth.counted } else { (right, all) };
        worth = Worth { right: (right + drawn * worth.right) / (all + drawn), counted };
        (drawn, any) = (strength, true);
    }
    any.then_some(worth)
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
