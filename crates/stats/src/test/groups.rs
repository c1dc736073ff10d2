//! Several samples at once.

use crate::StatsError;
use crate::distribution::chi_squared_sf;
use crate::error::check_sample;
use crate::ranking::rank;

/// Result of [`kruskal_wallis`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KruskalWallis {
    /// The statistic H, corrected for ties.
    pub h: f64,
    /// Degrees of freedom, groups − 1.
    pub freedom: usize,
    /// p value from the chi-square approximation (fair from about five values per group).
    pub p_value: f64,
    /// Share of the variance of the ranks that lies between the groups, H/(n − 1), 0..=1.
    pub explained: f64,
}

/// The Kruskal–Wallis test (Journal of the American Statistical Association 47, 1952) that all groups come from one
/// distribution. Empty groups are left out; two must remain, and not all values may be equal.
pub fn kruskal_wallis<G: AsRef<[f64]>>(groups: &[G]) -> Result<KruskalWallis, StatsError> {
    let groups: Vec<&[f64]> = groups.iter().map(AsRef::as_ref).filter(|g| !g.is_empty()).collect();
    if groups.len() < 2 {
        return Err(StatsError::TooFew { needed: 2, got: groups.len() });
    }
    let joint: Vec<f64> = groups.iter().flat_map(|g| g.iter().copied()).collect();
    check_sample(&joint, 2)?;
    let ranked = rank(&joint);
    let n = joint.len() as f64;
    let ties = 1.0 - ranked.tie_sum / (n * n * n - n);
    if ties <= 0.0 {
        return Err(StatsError::NoSpread);
    }
    let mut rest = ranked.ranks.as_slice();
    let mut between = 0.0;
    for group in &groups {
        let (own, others) = rest.split_at(group.len());
        between += own.iter().sum::<f64>().powi(2) / own.len() as f64;
        rest = others;
    }
    let h = (12.0 / (n * (n + 1.0)) * between - 3.0 * (n + 1.0)) / ties;
    let freedom = groups.len() - 1;
    Ok(KruskalWallis { h, freedom, p_value: chi_squared_sf(h, freedom as f64), explained: h / (n - 1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::close;

    #[test]
    fn mucociliary_data() {
        // Hollander and Wolfe, table 6.1; R: kruskal.test gives H = 0.77143, df = 2, p = 0.68.
        let groups = [vec![2.9, 3.0, 2.5, 2.6, 3.2], vec![3.8, 2.7, 4.0, 2.4], vec![2.8, 3.4, 3.7, 2.2, 2.0], vec![]];
        let got = kruskal_wallis(&groups).unwrap();
        close(got.h, 0.771_43, 5e-6);
        assert_eq!(got.freedom, 2);
        close(got.p_value, 0.68, 5e-4);
    }

    #[test]
    fn ties_raise_the_statistic() {
        // Ranks 1.5 1.5 | 3.5 3.5: uncorrected H = 12/20 · (9/2 + 49/2) − 15 = 2.4, correction 1 − 12/60 = 0.8.
        let got = kruskal_wallis(&[[1.0, 1.0], [2.0, 2.0]]).unwrap();
        close(got.h, 3.0, 1e-12);
        close(got.explained, 1.0, 1e-12);
        assert_eq!(kruskal_wallis(&[[1.0], [1.0]]), Err(StatsError::NoSpread));
        assert_eq!(kruskal_wallis(&[[1.0]]), Err(StatsError::TooFew { needed: 2, got: 1 }));
    }
}
