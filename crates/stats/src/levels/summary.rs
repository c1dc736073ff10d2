//! From a group's samples to a location with its uncertainty.

use crate::StatsError;
use crate::change::difference_noise;
use crate::error::check_sample;
use crate::location::{hodges_lehmann, median, qn_scale};

/// Weight of the common scale, in degrees of freedom (the shape of Smyth's moderated variance, Statistical Applications
/// in Genetics and Molecular Biology 3, 2004, with a fixed prior).
const PRIOR_FREEDOM: f64 = 4.0;
/// Efficiency of Qₙ on normal data: its degrees of freedom per sample.
const QN_EFFICIENCY: f64 = 0.82;
/// Standard error of a Hodges–Lehmann location over that of the mean on normal data, √(π/3).
const HODGES_LEHMANN_INEFFICIENCY: f64 = 1.023_326_707_946_489;
/// Scale assumed when nothing shows any, as a share of the range of the locations.
const NOISELESS: f64 = 1e-6;

/// What is kept of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Summary {
    /// Hodges–Lehmann location, in the unit of the data.
    pub(super) location: f64,
    /// Standard error of the location, above 0, in the unit of the data.
    pub(super) error: f64,
    /// Degrees of freedom behind the error.
    pub(super) freedom: f64,
}

/// Summarises the groups; the scales help each other out.
pub(super) fn summarise<G: AsRef<[f64]>>(groups: &[G], noise_floor: f64) -> Result<Vec<Summary>, StatsError> {
    if groups.is_empty() {
        return Err(StatsError::TooFew { needed: 1, got: 0 });
    }
    let mut locations = Vec::with_capacity(groups.len());
    let mut scales = Vec::with_capacity(groups.len());
    for group in groups.iter().map(AsRef::as_ref) {
        check_sample(group, 1)?;
        locations.push(hodges_lehmann(group).ok_or(StatsError::NotFinite)?);
        scales.push(qn_scale(group));
    }
    let known: Vec<f64> = scales.iter().flatten().copied().collect();
    let high = locations.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let low = locations.iter().copied().fold(f64::INFINITY, f64::min);
    // Without repeats, neighbours stand in for them.
    let common = median(&known).or_else(|| difference_noise(&locations).ok()).unwrap_or(0.0);
    // All equal: any positive scale gives the same answer, one level.
    let least = noise_floor.max((high - low) * NOISELESS);
    let least = if least > 0.0 { least } else { 1.0 };
    let summary = |((group, location), scale): ((&G, f64), Option<f64>)| {
        let n = group.as_ref().len() as f64;
        let own_freedom = scale.map_or(0.0, |_| QN_EFFICIENCY * (n - 1.0));
        let freedom = PRIOR_FREEDOM + own_freedom;
        let own = scale.unwrap_or(0.0);
        let variance = (PRIOR_FREEDOM * common * common + own_freedom * own * own) / freedom;
        let inefficiency = if n > 2.0 { HODGES_LEHMANN_INEFFICIENCY } else { 1.0 };
        Summary { location, error: variance.sqrt().max(least) * inefficiency / n.sqrt(), freedom }
    };
    Ok(groups.iter().zip(locations).zip(scales).map(summary).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::simulate::{close, normals};

    #[test]
    fn standard_errors_are_honest() {
        // (location − truth)/error must behave like Student's t: its 90 % points at that freedom are about ±1.9.
        let mut rng = Rng::new(141);
        let (mut inside, mut total) = (0, 0);
        for _ in 0..150 {
            let groups: Vec<Vec<f64>> = (0..8).map(|_| normals(&mut rng, 7, 3.0, 2.0)).collect();
            for s in summarise(&groups, 0.0).unwrap() {
                close(s.freedom, 4.0 + 0.82 * 6.0, 1e-12);
                inside += u32::from(((s.location - 3.0) / s.error).abs() < 1.838);
                total += 1;
            }
        }
        close(f64::from(inside) / f64::from(total), 0.9, 0.03);
    }

    #[test]
    fn groups_of_one_and_groups_without_spread() {
        let single = summarise(&[[1.0], [1.2], [0.9], [5.0]], 0.0).unwrap();
        assert!(single.iter().all(|s| s.error > 0.05 && s.freedom == PRIOR_FREEDOM));
        let constant = summarise(&[[1.0, 1.0], [2.0, 2.0]], 0.0).unwrap();
        close(constant[0].error, 1e-6 / 2f64.sqrt(), 1e-12);
        close(summarise(&[[1.0, 1.0]], 0.5).unwrap()[0].error, 0.5 / 2f64.sqrt(), 1e-12);
        assert!(summarise(&[[1.0, 1.0]], 0.0).unwrap()[0].error > 0.0);
        assert!(summarise::<[f64; 1]>(&[], 0.0).is_err());
        assert!(summarise(&[vec![1.0], vec![]], 0.0).is_err());
    }
}
