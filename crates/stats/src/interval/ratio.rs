//! How many times larger one sample is than another.

use super::Interval;
use crate::StatsError;
use crate::distribution::{binomial_cdf, normal_quantile, two_sided_z};
use crate::error::{check_unit_open, logs};
use crate::location::{median, sorted};

/// Smallest sample for which the variance of a median can be read off two order statistics.
const NEEDED: usize = 5;

/// Interval of median(`x`)/median(`y`) for positive data of any shape and any two spreads, each sample of five or
/// more: the log medians with the variances of Price and Bonett ("Distribution-free confidence intervals for difference
/// and ratio of medians", Journal of Statistical Computation and Simulation 72, 2002) and a normal factor. The
/// confidence is nominal. The point estimate is the plain quotient of the medians.
pub fn median_ratio_interval(x: &[f64], y: &[f64], confidence: f64) -> Result<Interval, StatsError> {
    check_unit_open(confidence, "confidence")?;
    let (x, y) = (logs(x, NEEDED)?, logs(y, NEEDED)?);
    let (Some(x_centre), Some(y_centre)) = (median(&x), median(&y)) else {
        return Err(StatsError::NotFinite);
    };
    let half = two_sided_z(confidence) * (median_variance(x)? + median_variance(y)?).sqrt();
    let centre = x_centre - y_centre;
    Ok(Interval { low: (centre - half).exp(), high: (centre + half).exp(), confidence })
}

/// Variance of a sample median: the distance of two order statistics about √n ranks either side of the middle, over
/// the normal distance that their exact binomial tail corresponds to.
fn median_variance(values: Vec<f64>) -> Result<f64, StatsError> {
    let sorted = sorted(&values).ok_or(StatsError::NotFinite)?;
    let n = sorted.len();
    let rank = ((0.5 * (n as f64 + 1.0) - (n as f64).sqrt()).round() as usize).max(1);
    let tail = binomial_cdf(rank as u64 - 1, n as u64, 0.5);
    let distance = sorted[n - rank] - sorted[rank - 1];
    Ok((distance / (-2.0 * normal_quantile(tail))).powi(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::simulate::{close, normals};

    #[test]
    fn covers_for_skewed_samples_of_unequal_spread() {
        let mut rng = Rng::new(31);
        for (n, m) in [(7, 9), (15, 30), (80, 60)] {
            let runs = 1000;
            let mut hits = 0;
            for _ in 0..runs {
                let x: Vec<f64> = normals(&mut rng, n, 2f64.ln(), 0.8).into_iter().map(f64::exp).collect();
                let y: Vec<f64> = normals(&mut rng, m, 0.0, 0.2).into_iter().map(f64::exp).collect();
                hits += u32::from(median_ratio_interval(&x, &y, 0.95).unwrap().contains(2.0));
            }
            close(f64::from(hits) / f64::from(runs), 0.955, 0.025);
        }
    }

    #[test]
    fn refuses_what_has_no_logarithm() {
        let good = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(median_ratio_interval(&good, &[0.0; 5], 0.95), Err(StatsError::NotPositive));
        assert_eq!(median_ratio_interval(&good[..4], &good, 0.95), Err(StatsError::TooFew { needed: 5, got: 4 }));
        let same = median_ratio_interval(&[4.0; 5], &[2.0; 5], 0.95).unwrap();
        close(same.low, 2.0, 1e-12);
        close(same.high, 2.0, 1e-12);
    }
}
