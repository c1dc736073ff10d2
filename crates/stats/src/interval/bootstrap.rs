//! Bootstrap intervals of an arbitrary statistic (Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993).

use super::Interval;
use crate::distribution::{normal_cdf, normal_quantile};
use crate::error::{check_sample, check_unit_open};
use crate::location::quantile;
use crate::{Rng, StatsError};

/// How a bootstrap is run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// Number of resamples; 1000 or more for a 95 % interval, at least 20.
    pub resamples: usize,
    /// Confidence, strictly between 0 and 1.
    pub confidence: f64,
}

/// The bias-corrected and accelerated interval (Efron, Journal of the American Statistical Association 82, 1987;
/// Efron and Tibshirani, chapter 14): percentiles moved by the median bias of the replicates and by the skewness that
/// a jackknife finds. Costs n further evaluations of `statistic`. Needs three values and some spread among the
/// replicates.
pub fn bca_bootstrap(
    values: &[f64],
    statistic: impl Fn(&[f64]) -> Option<f64>,
    settings: Bootstrap,
    rng: &mut Rng,
) -> Result<Interval, StatsError> {
    check_settings(&settings)?;
    check_sample(values, 3)?;
    let observed = statistic(values).filter(|v| v.is_finite()).ok_or(StatsError::NoFit)?;
    let replicates = resample(values.len(), &statistic, &settings, |drawn| draw(values, drawn, rng))?;
    // Ties with the observed value count half, or a discrete statistic such as a median would look biased.
    let below: f64 = replicates
        .iter()
        .map(|&r| {
            if r < observed {
                1.0
            } else if r == observed {
                0.5
            } else {
                0.0
            }
        })
        .sum();
    let share = below / replicates.len() as f64;
    if share <= 0.0 || share >= 1.0 {
        return Err(StatsError::NoSpread);
    }
    let bias = normal_quantile(share);
    let acceleration = jackknife_acceleration(values, &statistic)?;
    let moved = |z: f64| normal_cdf(bias + (bias + z) / (1.0 - acceleration * (bias + z)));
    let z = normal_quantile(0.5 * (1.0 + settings.confidence));
    between(&replicates, moved(-z), moved(z), settings.confidence)
}

/// Percentile interval for a series whose neighbours depend on each other: resamples are strung together from blocks
/// of `block_length` consecutive values starting anywhere (Künsch, Annals of Statistics 17, 1989). The block should
/// outlast the dependence; [`default_block_length`] is a start, and a block of 1 is the plain percentile bootstrap. Needs two
/// whole blocks. Resamples on which the statistic answers `None` are left out; if that is more than half, the error is
/// `NoFit`.
pub fn moving_block_bootstrap(
    series: &[f64],
    block_length: usize,
    statistic: impl Fn(&[f64]) -> Option<f64>,
    settings: Bootstrap,
    rng: &mut Rng,
) -> Result<Interval, StatsError> {
    check_settings(&settings)?;
    if block_length == 0 {
        return Err(StatsError::BadParameter("block_length"));
    }
    check_sample(series, block_length.saturating_mul(2))?;
    let starts = series.len() - block_length + 1;
    let replicates = resample(series.len(), &statistic, &settings, |drawn| {
        while drawn.len() < series.len() {
            let start = rng.below(starts);
            let taken = block_length.min(series.len() - drawn.len());
            drawn.extend_from_slice(&series[start..start + taken]);
        }
    })?;
    let tail = 0.5 * (1.0 - settings.confidence);
    between(&replicates, tail, 1.0 - tail, settings.confidence)
}

/// ⌈n^⅓⌉, the growth rate that minimises the error of the variance (Hall, Horowitz and Jing, Biometrika 82, 1995) with
/// constant 1. A strongly dependent series needs longer blocks.
pub fn default_block_length(n: usize) -> usize {
    // The tiny deduction keeps perfect cubes from rounding up.
    ((n as f64).cbrt() - 1e-9).ceil().max(1.0) as usize
}

fn check_settings(settings: &Bootstrap) -> Result<(), StatsError> {
    check_unit_open(settings.confidence, "confidence")?;
    if settings.resamples < 20 { Err(StatsError::BadParameter("resamples")) } else { Ok(()) }
}

fn draw(values: &[f64], drawn: &mut Vec<f64>, rng: &mut Rng) {
    drawn.extend((0..values.len()).map(|_| values[rng.below(values.len())]));
}

/// Replicates of the statistic over what `fill` puts into an empty buffer.
fn resample(
    size: usize,
    statistic: impl Fn(&[f64]) -> Option<f64>,
    settings: &Bootstrap,
    mut fill: impl FnMut(&mut Vec<f64>),
) -> Result<Vec<f64>, StatsError> {
    let mut drawn = Vec::with_capacity(size);
    let replicates: Vec<f64> = (0..settings.resamples)
        .filter_map(|_| {
            drawn.clear();
            fill(&mut drawn);
            statistic(&drawn).filter(|v| v.is_finite())
        })
        .collect();
    if replicates.len() * 2 < settings.resamples { Err(StatsError::NoFit) } else { Ok(replicates) }
}

fn between(replicates: &[f64], low: f64, high: f64, confidence: f64) -> Result<Interval, StatsError> {
    match (quantile(replicates, low), quantile(replicates, high)) {
        (Some(low), Some(high)) => Ok(Interval { low, high, confidence }),
        _ => Err(StatsError::NoFit),
    }
}

/// Efron's acceleration Σd³ / 6(Σd²)^{3/2}, d = mean of the leave-one-out values − each; 0 when they do not differ.
fn jackknife_acceleration(values: &[f64], statistic: impl Fn(&[f64]) -> Option<f64>) -> Result<f64, StatsError> {
    let mut left = values[1..].to_vec();
    let mut estimates = Vec::with_capacity(values.len());
    for i in 0..values.len() {
        estimates.push(statistic(&left).filter(|v| v.is_finite()).ok_or(StatsError::NoFit)?);
        if i < left.len() {
            left[i] = values[i];
        }
    }
    let mean = estimates.iter().sum::<f64>() / estimates.len() as f64;
    let (squares, cubes) = estimates.iter().map(|e| mean - e).fold((0.0, 0.0), |(s, c), d| (s + d * d, c + d * d * d));
    Ok(if squares > 0.0 { cubes / (6.0 * squares.powf(1.5)) } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::median;
    use crate::simulate::{close, normals};

    const SETTINGS: Bootstrap = Bootstrap { resamples: 300, confidence: 0.9 };

    fn mean(values: &[f64]) -> Option<f64> {
        Some(values.iter().sum::<f64>() / values.len() as f64)
    }

    #[test]
    fn mean_of_a_normal_sample_matches_theory() {
        let mut rng = Rng::new(41);
        let values = normals(&mut rng, 400, 10.0, 3.0);
        let centre = mean(&values).unwrap();
        let settings = Bootstrap { resamples: 2000, confidence: 0.95 };
        for got in [
            moving_block_bootstrap(&values, 1, mean, settings, &mut rng).unwrap(),
            bca_bootstrap(&values, mean, settings, &mut rng).unwrap(),
        ] {
            close(got.low, centre - 1.96 * 0.15, 0.04);
            close(got.high, centre + 1.96 * 0.15, 0.04);
        }
    }

    #[test]
    fn covers_skewed_data_better_with_bca() {
        let mut rng = Rng::new(42);
        let runs = 300;
        let (mut plain, mut accelerated) = (0, 0);
        for _ in 0..runs {
            let values: Vec<f64> = (0..25).map(|_| -(1.0 - rng.unit()).ln()).collect();
            plain += u32::from(moving_block_bootstrap(&values, 1, mean, SETTINGS, &mut rng).unwrap().contains(1.0));
            accelerated += u32::from(bca_bootstrap(&values, mean, SETTINGS, &mut rng).unwrap().contains(1.0));
        }
        let (plain, accelerated) = (f64::from(plain) / f64::from(runs), f64::from(accelerated) / f64::from(runs));
        assert!(accelerated >= plain - 0.01, "{accelerated} against {plain}");
        close(accelerated, 0.88, 0.045);
    }

    #[test]
    fn median_with_ties_is_no_bias() {
        let values: Vec<f64> = (0..30).map(|i| f64::from(i / 5)).collect();
        let got = bca_bootstrap(&values, median, SETTINGS, &mut Rng::new(1)).unwrap();
        assert!(got.contains(2.5) && got.low >= 1.0 && got.high <= 4.0, "{got:?}");
    }

    #[test]
    fn blocks_see_the_dependence_that_single_draws_miss() {
        let mut rng = Rng::new(43);
        let mut level = 0.0;
        // First-order autoregression with 0.8: the mean's standard error is three times the naive one.
        let series: Vec<f64> = (0..600)
            .map(|_| {
                level = 0.8 * level + rng.normal();
                level
            })
            .collect();
        let single = moving_block_bootstrap(&series, 1, mean, SETTINGS, &mut rng).unwrap().width();
        let block = moving_block_bootstrap(&series, 30, mean, SETTINGS, &mut rng).unwrap().width();
        close(block / single, 2.7, 0.8);
        assert_eq!(default_block_length(1000), 10);
        assert_eq!(default_block_length(0), 1);
    }

    #[test]
    fn refuses_what_cannot_be_resampled() {
        let mut rng = Rng::new(1);
        assert_eq!(
            moving_block_bootstrap(&[1.0], 1, mean, SETTINGS, &mut rng),
            Err(StatsError::TooFew { needed: 2, got: 1 })
        );
        assert_eq!(moving_block_bootstrap(&[1.0, 2.0], 1, |_| None, SETTINGS, &mut rng), Err(StatsError::NoFit));
        assert_eq!(
            moving_block_bootstrap(&[1.0, 2.0, 3.0], 2, mean, SETTINGS, &mut rng),
            Err(StatsError::TooFew { needed: 4, got: 3 })
        );
        let few = Bootstrap { resamples: 5, confidence: 0.9 };
        assert_eq!(
            moving_block_bootstrap(&[1.0, 2.0], 1, mean, few, &mut rng),
            Err(StatsError::BadParameter("resamples"))
        );
    }
}
