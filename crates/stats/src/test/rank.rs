//! Rank tests of one and two samples.

use super::Alternative;
use crate::StatsError;
use crate::counting::{MANN_WHITNEY_EXACT_MAX, RankSum, SIGNED_RANK_EXACT_MAX};
use crate::distribution::{normal_cdf, normal_sf};
use crate::error::check_sample;
use crate::ranking::rank;

/// Result of [`mann_whitney`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannWhitney {
    /// Pairs (xᵢ, yⱼ) with x above y, ties counting half: 0..=n·m.
    pub u: f64,
    /// p value of the chosen alternative.
    pub p_value: f64,
    /// Whether p comes from the exact distribution and not from the normal approximation.
    pub exact: bool,
}

/// The Mann–Whitney test (Annals of Mathematical Statistics 18, 1947) that `x` and `y` come from one distribution.
/// Exact without ties and with up to 100 values together; otherwise normal with tie and continuity corrections, as in
/// R's `wilcox.test`. All values equal gives p = 1.
pub fn mann_whitney(x: &[f64], y: &[f64], alternative: Alternative) -> Result<MannWhitney, StatsError> {
    check_sample(x, 1)?;
    check_sample(y, 1)?;
    let (n, m) = (x.len(), y.len());
    let joint: Vec<f64> = x.iter().chain(y).copied().collect();
    let ranked = rank(&joint);
    let size = n as f64;
    let u = ranked.ranks[..n].iter().sum::<f64>() - 0.5 * size * (size + 1.0);
    let exact = ranked.tie_sum == 0.0 && n + m <= MANN_WHITNEY_EXACT_MAX;
    let (at_least, at_most) = if exact {
        exact_tails(&RankSum::mann_whitney(n, m), u as u64)
    } else {
        let (pairs, total) = (size * m as f64, (n + m) as f64);
        let variance = pairs / 12.0 * (total + 1.0 - ranked.tie_sum / (total * (total - 1.0)));
        normal_tails(u - 0.5 * pairs, variance)
    };
    Ok(MannWhitney { u, p_value: alternative.p_value(at_least, at_most), exact })
}

/// Result of [`wilcoxon_signed_rank`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    /// Sum of the ranks of the positive differences.
    pub w_plus: f64,
    /// Differences that are not zero, the ones that count.
    pub used: usize,
    /// p value of the chosen alternative.
    pub p_value: f64,
    /// Whether p comes from the exact distribution and not from the normal approximation.
    pub exact: bool,
}

/// The Wilcoxon signed-rank test (Biometrics Bulletin 1, 1945) that differences are symmetric about zero. Zeros are
/// dropped. Exact without ties or zeros and with up to 50 differences; otherwise normal with tie and continuity
/// corrections, as in R's `wilcox.test`. Needs one difference that is not zero.
pub fn wilcoxon_signed_rank(differences: &[f64], alternative: Alternative) -> Result<SignedRank, StatsError> {
    check_sample(differences, 1)?;
    let nonzero: Vec<f64> = differences.iter().copied().filter(|&d| d != 0.0).collect();
    if nonzero.is_empty() {
        return Err(StatsError::NoSpread);
    }
    let sizes: Vec<f64> = nonzero.iter().map(|d| d.abs()).collect();
    let ranked = rank(&sizes);
    let w_plus = ranked.ranks.iter().zip(&nonzero).filter(|(_, d)| **d > 0.0).map(|(r, _)| r).sum::<f64>();
    let used = nonzero.len();
    let exact = ranked.tie_sum == 0.0 && used == differences.len() && used <= SIGNED_RANK_EXACT_MAX;
    let (at_least, at_most) = if exact {
        exact_tails(&RankSum::signed_rank(used), w_plus as u64)
    } else {
        let n = used as f64;
        let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ranked.tie_sum / 48.0;
        normal_tails(w_plus - 0.25 * n * (n + 1.0), variance)
    };
    Ok(SignedRank { w_plus, used, p_value: alternative.p_value(at_least, at_most), exact })
}

/// Probabilities of a statistic at least and at most as large as the one seen.
fn exact_tails(null: &RankSum, statistic: u64) -> (f64, f64) {
    let below = if statistic == 0 { 0.0 } else { null.cdf(statistic - 1) };
    (1.0 - below, null.cdf(statistic))
}

/// The same from the normal approximation, half a step of continuity against the alternative.
fn normal_tails(excess: f64, variance: f64) -> (f64, f64) {
    if variance <= 0.0 {
        return (1.0, 1.0);
    }
    let sd = variance.sqrt();
    (normal_sf((excess - 0.5) / sd), normal_cdf((excess + 0.5) / sd))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::simulate::{close, normals};

    #[test]
    fn exact_mann_whitney_by_counting() {
        // 3 against 3, complete separation: 1 of 20 arrangements.
        let check = |x: &[f64], y: &[f64], alternative, u: f64, p: f64| {
            let got = mann_whitney(x, y, alternative).unwrap();
            assert!(got.exact);
            close(got.u, u, 1e-12);
            close(got.p_value, p, 1e-12);
        };
        let (low, high) = ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]);
        check(&high, &low, Alternative::Greater, 9.0, 0.05);
        check(&high, &low, Alternative::Less, 9.0, 1.0);
        check(&high, &low, Alternative::TwoSided, 9.0, 0.1);
        check(&low, &high, Alternative::Less, 0.0, 0.05);
        // Hollander and Wolfe, example 4.1 (permeability of human chorioamnion): W = 35, one-sided p = 0.1272.
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let early = [1.15, 0.88, 0.90, 0.74, 1.21];
        let got = mann_whitney(&term, &early, Alternative::Greater).unwrap();
        assert_eq!(got.u, 35.0);
        close(got.p_value, 0.1272, 5e-5);
    }

    #[test]
    fn ties_fall_back_to_the_corrected_normal() {
        // By hand: ranks of x are 1.5 1.5 3.5 5, so U = 11.5 − 10 = 1.5; Σ(t³ − t) = 6 + 6 + 6,
        // variance = 16/12 · (9 − 18/56) = 11.5714; z = (1.5 − 8 + 0.5)/3.40168 = −1.76383.
        let got = mann_whitney(&[1.0, 1.0, 2.0, 3.0], &[2.0, 5.0, 5.0, 7.0], Alternative::TwoSided).unwrap();
        assert!(!got.exact);
        close(got.u, 1.5, 1e-12);
        close(got.p_value, 0.07776, 5e-5);
        assert_eq!(mann_whitney(&[1.0; 3], &[1.0; 4], Alternative::TwoSided).unwrap().p_value, 1.0);
    }

    #[test]
    #[expect(clippy::approx_constant, reason = "a measurement that happens to be 3.14")]
    fn depression_data_signed_rank() {
        // Hollander and Wolfe, example 3.1: T⁺ = 40 of 45 for before − after, one-sided p = 0.01953.
        let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let differences: Vec<f64> = before.iter().zip(after).map(|(b, a)| b - a).collect();
        let got = wilcoxon_signed_rank(&differences, Alternative::Greater).unwrap();
        assert_eq!((got.w_plus, got.used, got.exact), (40.0, 9, true));
        close(got.p_value, 0.019_53, 5e-6);
        assert_eq!(wilcoxon_signed_rank(&[0.0, 0.0], Alternative::Less), Err(StatsError::NoSpread));
        let with_zero = wilcoxon_signed_rank(&[0.0, 1.0, 2.0, 3.0], Alternative::TwoSided).unwrap();
        assert_eq!((with_zero.used, with_zero.exact), (3, false));
    }

    #[test]
    fn levels_hold_under_the_null() {
        let mut rng = Rng::new(71);
        let runs = 1000;
        for (n, m) in [(8, 11), (60, 55)] {
            let mut rejected = 0;
            for _ in 0..runs {
                let (x, y) = (normals(&mut rng, n, 0.0, 1.0), normals(&mut rng, m, 0.0, 1.0));
                rejected += u32::from(mann_whitney(&x, &y, Alternative::TwoSided).unwrap().p_value <= 0.05);
            }
            close(f64::from(rejected) / f64::from(runs), 0.048, 0.022);
        }
    }
}
