//! Steps of the level under a loss that a wild value cannot exceed.

use super::{ChangeSettings, Changes, noise_for};
use crate::StatsError;
use crate::error::check_sample;
use crate::location::sorted;

/// Deviation in standard deviations beyond which a value costs no more (the value Fearnhead and Rigaill recommend).
const CUT: f64 = 3.0;
/// Levels are tried at this spacing, in noise standard deviations, where there are data: a level a quarter of that off
/// at most costs 1/64 of a value's variance.
const SPACING: f64 = 0.25;
/// Largest number of levels tried; a range wider than what they span is covered at data quantiles.
const MAX_LEVELS: usize = 512;

/// The segmentation that minimises the biweight loss min((x − level)²/σ², 9) plus the penalty per change (Fearnhead and
/// Rigaill, "Changepoint detection in the presence of outliers", Journal of the American Statistical Association 114,
/// 2019). They prune functions; here the levels are a grid laid over the data and the minimum over paths is found by
/// dynamic programming, at n × 512 steps at most. Runs shorter than about 2·penalty/9 values (four, for a BIC at
/// n = 5000) are outliers by construction, not segments. The length term of [`super::Penalty::Mbic`] is not applied.
pub fn biweight_changes(series: &[f64], settings: ChangeSettings) -> Result<Changes, StatsError> {
    check_sample(series, 3)?;
    let n = series.len();
    let per_change = settings.penalty.per_change(n)?;
    let Some(noise_sd) = noise_for(series, &settings)? else {
        return Ok(Changes { starts: vec![0], len: n, noise_sd: 0.0 });
    };
    let levels = level_grid(series, noise_sd)?;
    let mut cost = vec![0.0; levels.len()];
    let mut start = vec![0usize; levels.len()];
    let mut best_start = vec![0; n + 1];
    let mut best = 0.0;
    for (i, value) in series.iter().enumerate() {
        let switched = best + per_change;
        let (mut least, mut least_start) = (f64::INFINITY, 0);
        for ((level, cost), start) in levels.iter().zip(&mut cost).zip(&mut start) {
            if i > 0 && switched < *cost {
                *cost = switched;
                *start = i;
            }
            let z = (value - level) / noise_sd;
            *cost += (z * z).min(CUT * CUT);
            if *cost < least {
                (least, least_start) = (*cost, *start);
            }
        }
        best = least;
        best_start[i + 1] = least_start;
    }
    Ok(Changes::from_predecessors(&best_start, noise_sd))
}

/// Data values at least [`SPACING`] apart, thinned to evenly many ranks if too many.
fn level_grid(series: &[f64], noise_sd: f64) -> Result<Vec<f64>, StatsError> {
    let mut grid = sorted(series).ok_or(StatsError::NotFinite)?;
    let mut last = f64::NEG_INFINITY;
    grid.retain(|&v| {
        let keep = v - last >= SPACING * noise_sd;
        if keep {
            last = v;
        }
        keep
    });
    if grid.len() > MAX_LEVELS {
        let all = sorted(series).ok_or(StatsError::NotFinite)?;
        grid = (0..MAX_LEVELS).map(|i| all[i * (all.len() - 1) / (MAX_LEVELS - 1)]).collect();
        grid.dedup();
    }
    Ok(grid)
}

#[cfg(test)]
mod tests {
    use super::super::{Penalty, pelt};
    use super::*;
    use crate::Rng;
    use crate::simulate::normals;

    const BIC: ChangeSettings = ChangeSettings { penalty: Penalty::Bic, noise_sd: None };

    #[test]
    fn spikes_are_not_segments() {
        let mut rng = Rng::new(121);
        let mut right = 0;
        for _ in 0..20 {
            let mut series = normals(&mut rng, 150, 0.0, 1.0);
            series.extend(normals(&mut rng, 150, 3.0, 1.0));
            for _ in 0..12 {
                let at = rng.below(series.len());
                series[at] = 40.0 + 10.0 * rng.unit();
            }
            let found = biweight_changes(&series, BIC).unwrap();
            right += u32::from(found.starts.len() == 2 && found.starts[1].abs_diff(150) <= 4);
            assert!(pelt(&series, 1, BIC).unwrap().starts.len() > 5);
        }
        assert!(right >= 18, "{right} of 20");
    }

    #[test]
    fn constant_noiseless_and_wide_series() {
        assert_eq!(biweight_changes(&[4.0; 20], BIC).unwrap().starts, [0]);
        let mut series = vec![1.0; 30];
        series.extend(vec![2.0; 30]);
        assert_eq!(biweight_changes(&series, BIC).unwrap().starts, [0, 30]);
        // A range of many thousand standard deviations: the grid falls back to quantiles.
        let mut rng = Rng::new(122);
        let wide: Vec<f64> = (0..10).flat_map(|i| normals(&mut rng, 100, 1000.0 * f64::from(i), 1.0)).collect();
        let starts = biweight_changes(&wide, BIC).unwrap().starts;
        assert_eq!(starts, (0..10).map(|i| 100 * i).collect::<Vec<_>>());
    }
}
