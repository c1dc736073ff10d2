//! Exact null distributions of the two rank-sum statistics, by counting arrangements in integers.

use crate::distribution::{normal_cdf, normal_quantile};

/// Largest n for which the signed-rank distribution is counted exactly: 2⁵⁰ sign patterns fit a `u64`.
pub(crate) const SIGNED_RANK_EXACT_MAX: usize = 50;

/// Largest n + m for which the Mann–Whitney distribution is counted exactly: C(100, 50) ≈ 1.01e29 fits an `i128`.
pub(crate) const MANN_WHITNEY_EXACT_MAX: usize = 100;

/// A symmetric discrete null distribution on `0..=maximum`: exact, or the normal approximation with the usual half
/// step of continuity.
#[derive(Debug)]
pub(crate) enum RankSum {
    /// `lower[k]` = Pr(S ≤ k).
    Exact { lower: Vec<f64> },
    /// Mean and standard deviation of S.
    Normal { mean: f64, sd: f64, maximum: u64 },
}

impl RankSum {
    /// The signed-rank sum W⁺ of `n` differences (Wilcoxon 1945).
    pub(crate) fn signed_rank(n: usize) -> Self {
        let maximum = n * (n + 1) / 2;
        if n > SIGNED_RANK_EXACT_MAX {
            let size = n as f64;
            let mean = size * (size + 1.0) / 4.0;
            let sd = (size * (size + 1.0) * (2.0 * size + 1.0) / 24.0).sqrt();
            return Self::Normal { mean, sd, maximum: maximum as u64 };
        }
        let mut counts = vec![0u64; maximum + 1];
        counts[0] = 1;
        for rank in 1..=n {
            for sum in (rank..=maximum).rev() {
                counts[sum] += counts[sum - rank];
            }
        }
        Self::Exact { lower: cumulate(counts.into_iter().map(|c| c as f64)) }
    }

    /// The count U of pairs in which the first of two samples of sizes `n` and `m` is the larger (Mann and Whitney
    /// 1947). The counts are the coefficients of the Gaussian binomial, built factor by factor.
    pub(crate) fn mann_whitney(n: usize, m: usize) -> Self {
        let maximum = n * m;
        if n + m > MANN_WHITNEY_EXACT_MAX {
            let (a, b) = (n as f64, m as f64);
            let sd = (a * b * (a + b + 1.0) / 12.0).sqrt();
            return Self::Normal { mean: 0.5 * a * b, sd, maximum: maximum as u64 };
        }
        let (small, large) = (n.min(m), n.max(m));
        let mut counts = vec![0i128; maximum + 1];
        counts[0] = 1;
        for i in 1..=small {
            for u in (large + i..=maximum).rev() {
                counts[u] -= counts[u - large - i];
            }
            for u in i..=maximum {
                counts[u] += counts[u - i];
            }
        }
        Self::Exact { lower: cumulate(counts.into_iter().map(|c| c as f64)) }
    }

    /// Pr(S ≤ k).
    pub(crate) fn cdf(&self, k: u64) -> f64 {
        match self {
            Self::Exact { lower } => lower.get(k as usize).copied().unwrap_or(1.0),
            Self::Normal { mean, sd, maximum } => {
                if k >= *maximum {
                    1.0
                } else {
                    normal_cdf((k as f64 + 0.5 - mean) / sd)
                }
            }
        }
    }

    /// The largest r with Pr(S ≤ r − 1) ≤ `tail`: the r-th smallest pair value is then a confidence limit. 0 if even
    /// the extreme pair is too likely.
    pub(crate) fn limit_rank(&self, tail: f64) -> u64 {
        match self {
            Self::Exact { lower } => lower.partition_point(|&p| p <= tail) as u64,
            Self::Normal { mean, sd, .. } => (mean + sd * normal_quantile(tail) + 0.5).floor().max(0.0) as u64,
        }
    }
}

fn cumulate(counts: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    let mut lower: Vec<f64> = counts
        .map(|c| {
            sum += c;
            sum
        })
        .collect();
    for p in &mut lower {
        *p /= sum;
    }
    lower
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::close;

    #[test]
    fn small_cases_by_hand() {
        // Three differences: 8 sign patterns, sums 0 1 2 3 3 4 5 6.
        let signed = RankSum::signed_rank(3);
        for (k, count) in [1.0, 2.0, 3.0, 5.0, 6.0, 7.0, 8.0].into_iter().enumerate() {
            close(signed.cdf(k as u64), count / 8.0, 1e-15);
        }
        // Two against two: 6 arrangements, U = 0 1 2 2 3 4.
        let ranks = RankSum::mann_whitney(2, 2);
        for (k, count) in [1.0, 2.0, 4.0, 5.0, 6.0].into_iter().enumerate() {
            close(ranks.cdf(k as u64), count / 6.0, 1e-15);
        }
    }

    #[test]
    fn published_critical_values() {
        // Two-sided 5 % critical values as printed in the common tables (reject at or below): n = 10 → 8, n = 20 → 52;
        // 8 against 8 → 13, 10 against 12 → 29. The limit rank is one more.
        assert_eq!(RankSum::signed_rank(10).limit_rank(0.025), 9);
        assert_eq!(RankSum::signed_rank(20).limit_rank(0.025), 53);
        assert_eq!(RankSum::mann_whitney(8, 8).limit_rank(0.025), 14);
        assert_eq!(RankSum::mann_whitney(10, 12).limit_rank(0.025), 30);
        // Five differences cannot reach 5 % two-sided: the extreme pattern has 1/32.
        assert_eq!(RankSum::signed_rank(5).limit_rank(0.025), 0);
    }

    #[test]
    fn exact_and_normal_meet() {
        let exact = RankSum::mann_whitney(50, 50);
        let near = RankSum::mann_whitney(51, 50);
        close(exact.cdf(1000), normal_cdf((1000.5 - 1250.0) / (2500.0f64 * 101.0 / 12.0).sqrt()), 2e-3);
        assert!(near.limit_rank(0.025).abs_diff(exact.limit_rank(0.025)) < 30);
        close(RankSum::signed_rank(50).cdf(637), 0.5, 0.01);
    }
}
