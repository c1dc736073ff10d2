//! Whether a stated confidence means what it says.

use flashscope_model::fleet::{Bin, Calibration};
use flashscope_stats::binomial_cdf;
use flashscope_stats::test::holm;

/// Edges of the bins: finer where most claims are.
const EDGES: [f64; 8] = [0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999];

/// A claim that was called certain and is false costs this much at most: one in ten thousand.
const LEAST_PROBABILITY: f64 = 1e-4;

/// Claims as (confidence, whether true).
pub fn calibration(claims: impl Iterator<Item = (f64, bool)> + Clone) -> Calibration {
    let highs = EDGES.iter().copied().skip(1).chain([f64::INFINITY]);
    let bins: Vec<Bin> = EDGES.iter().zip(highs).map(|(&low, high)| bin(low, high, claims.clone())).collect();
    let total: u32 = bins.iter().map(|bin| bin.claims).sum();
    let off: f64 =
        bins.iter().filter_map(|bin| Some((bin.share_right()? - bin.stated?).abs() * f64::from(bin.claims))).sum();
    let logs: f64 =
        claims.map(|(stated, right)| (if right { stated } else { 1.0 - stated }).max(LEAST_PROBABILITY).ln()).sum();
    let per_claim = |sum: f64| (total > 0).then(|| sum / f64::from(total));
    Calibration { expected_error: per_claim(off), log_score: per_claim(logs), bins }
}

fn bin(low: f64, high: f64, claims: impl Iterator<Item = (f64, bool)>) -> Bin {
    let mut bin = Bin { low, high: high.min(1.0), claims: 0, right: 0, stated: None };
    let mut sum = 0.0;
    for (stated, right) in claims.filter(|(stated, _)| (low..high).contains(stated)) {
        bin.claims += 1;
        bin.right += u32::from(right);
        sum += stated;
    }
    bin.stated = (bin.claims > 0).then(|| sum / f64::from(bin.claims));
    bin
}

/// The expected calibration error less what claims that mean what they say would show in as many: the mean distance of a
/// share of n from its expectation p is √(2p(1 − p)/πn). Below zero where there is nothing but chance.
pub fn beyond_chance(calibration: &Calibration) -> Option<f64> {
    let total: u32 = calibration.bins.iter().map(|bin| bin.claims).sum();
    let by_chance = |bin: &Bin| {
        let (n, p) = (f64::from(bin.claims), bin.stated?);
        Some(n * (2.0 * p * (1.0 - p) / (std::f64::consts::PI * n)).sqrt())
    };
    let expected: f64 = calibration.bins.iter().filter_map(by_chance).sum();
    calibration.expected_error.map(|error| error - expected / f64::from(total))
}

/// Chance of bins that are told to be off though none is.
const FALSELY: f64 = 0.01;

/// Bins whose share of right claims is off by more than chance: two-sided exact binomial tests of their mean confidence, with
/// Holm's correction. The claims of a bin differ a little among themselves, which makes these tests careful.
pub fn rejected(calibration: &Calibration) -> Vec<Bin> {
    let bins: Vec<(&Bin, f64)> = calibration.bins.iter().filter_map(|bin| Some((bin, bin.stated?))).collect();
    let tails = |(bin, stated): &(&Bin, f64)| {
        let (n, right) = (u64::from(bin.claims), u64::from(bin.right));
        let at_most = binomial_cdf(right, n, *stated);
        let at_least = if right == 0 { 1.0 } else { 1.0 - binomial_cdf(right - 1, n, *stated) };
        (2.0 * at_most.min(at_least)).clamp(0.0, 1.0)
    };
    let adjusted = holm(&bins.iter().map(tails).collect::<Vec<f64>>()).unwrap_or_default();
    bins.into_iter().zip(adjusted).filter(|(_, chance)| *chance <= FALSELY).map(|((bin, _), _)| *bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(stated: f64, right: usize, wrong: usize) -> Vec<(f64, bool)> {
        std::iter::repeat_n((stated, true), right).chain(std::iter::repeat_n((stated, false), wrong)).collect()
    }

    #[test]
    fn honest_claims_have_no_error() {
        let all = [claims(0.75, 75, 25), claims(0.92, 92, 8)].concat();
        let calibration = calibration(all.iter().copied());
        assert!(calibration.expected_error.is_some_and(|error| error < 1e-12), "{calibration:?}");
    }

    #[test]
    fn overconfidence_is_the_gap_weighted_by_claims() {
        let all = [claims(0.95, 70, 30), claims(0.6, 60, 40)].concat();
        let calibration = calibration(all.iter().copied());
        // (0.25 × 100 + 0 × 100) / 200
        assert!(calibration.expected_error.is_some_and(|error| (error - 0.125).abs() < 1e-12), "{calibration:?}");
    }

    #[test]
    fn what_chance_makes_of_honest_claims_is_taken_off_and_no_reason_to_reject() {
        let off_by = |right: usize| calibration(claims(0.92, right, 1000 - right).into_iter());
        // One standard deviation off is 0.0086, and √(2/π) of it the mean.
        let honest = off_by(927);
        assert!(beyond_chance(&honest).is_some_and(|error| error.abs() < 0.002), "{honest:?}");
        assert!(rejected(&honest).is_empty());
        let boastful = off_by(880);
        assert!(beyond_chance(&boastful).is_some_and(|error| (error - 0.033).abs() < 0.002), "{boastful:?}");
        assert_eq!(rejected(&boastful).len(), 1);
        assert_eq!(rejected(&off_by(960)).len(), 1, "too modest is off as well");
    }

    #[test]
    fn certainty_that_is_wrong_costs_much_but_not_everything() {
        let score = |claims: &[(f64, bool)]| calibration(claims.iter().copied()).log_score;
        assert_eq!(score(&[(1.0, true)]), Some(0.0));
        assert_eq!(score(&[(1.0, false)]), Some(LEAST_PROBABILITY.ln()));
        assert_eq!(score(&[]), None);
    }

    #[test]
    fn every_confidence_has_its_bin() {
        for stated in [0.0, 0.5, 0.799, 0.9, 0.9899, 0.999, 1.0] {
            let calibration = calibration([(stated, true)].into_iter());
            assert_eq!(calibration.bins.iter().map(|bin| bin.claims).sum::<u32>(), 1, "{stated}");
        }
    }
}
