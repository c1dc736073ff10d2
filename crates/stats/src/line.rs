//! Straight lines: least squares, weighted least squares, Theil–Sen.

use crate::StatsError;
use crate::distribution::two_sided_z;
use crate::error::{check_paired, check_sample, check_unit_open};
use crate::interval::Interval;
use crate::location::{median, sorted};

/// Pairs beyond this many points are thinned in [`theil_sen`], which looks at all of them: 1000 points are half a
/// million slopes.
pub const THEIL_SEN_MAX_POINTS: usize = 1000;

/// A fitted line y = intercept + slope · x.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Unit of y per unit of x.
    pub slope: f64,
    /// Value at x = 0, in the unit of y.
    pub intercept: f64,
    /// Standard error of the slope; `None` with only two points.
    pub slope_error: Option<f64>,
    /// Standard error of the intercept; `None` with only two points.
    pub intercept_error: Option<f64>,
    /// y − fitted, in input order and unit of y.
    pub residuals: Vec<f64>,
    /// Residual standard deviation with n − 2 degrees of freedom (of a point of weight 1); `None` with only two points.
    pub residual_sd: Option<f64>,
    /// Share of the (weighted) variance explained, 0..=1; `None` if y does not vary.
    pub r_squared: Option<f64>,
}

impl Line {
    /// Fitted value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// Ordinary least squares with the usual standard errors (independent errors of equal variance). Two points or more,
/// at two different x.
pub fn ordinary_least_squares(x: &[f64], y: &[f64]) -> Result<Line, StatsError> {
    weighted_least_squares(x, y, &vec![1.0; x.len()])
}

/// Least squares with positive weights proportional to 1/variance; the common scale of the weights does not matter to
/// the line and its errors. Draper and Smith, *Applied Regression Analysis*, section 9.2.
pub fn weighted_least_squares(x: &[f64], y: &[f64], weights: &[f64]) -> Result<Line, StatsError> {
    check_points(x, y)?;
    check_paired(x, weights)?;
    check_sample(weights, 2)?;
    if weights.iter().any(|&w| w <= 0.0) {
        return Err(StatsError::NotPositive);
    }
    let total: f64 = weights.iter().sum();
    let weighted = |values: &mut dyn Iterator<Item = f64>| values.zip(weights).map(|(v, w)| v * w).sum::<f64>();
    let x_mean = weighted(&mut x.iter().copied()) / total;
    let y_mean = weighted(&mut y.iter().copied()) / total;
    let sxx = weighted(&mut x.iter().map(|x| (x - x_mean).powi(2)));
    let syy = weighted(&mut y.iter().map(|y| (y - y_mean).powi(2)));
    let sxy = weighted(&mut x.iter().zip(y).map(|(x, y)| (x - x_mean) * (y - y_mean)));
    if sxx <= 0.0 {
        return Err(StatsError::NoSpread);
    }
    let slope = sxy / sxx;
    let intercept = y_mean - slope * x_mean;
    let residuals: Vec<f64> = x.iter().zip(y).map(|(x, y)| (y - y_mean) - slope * (x - x_mean)).collect();
    let rss = weighted(&mut residuals.iter().map(|r| r * r));
    let variance = (x.len() > 2).then(|| rss / (x.len() - 2) as f64);
    Ok(Line {
        slope,
        intercept,
        slope_error: variance.map(|v| (v / sxx).sqrt()),
        intercept_error: variance.map(|v| (v * (1.0 / total + x_mean * x_mean / sxx)).sqrt()),
        residuals,
        residual_sd: variance.map(f64::sqrt),
        r_squared: (syy > 0.0).then(|| (1.0 - rss / syy).clamp(0.0, 1.0)),
    })
}

/// A line from medians.
#[derive(Debug, Clone, PartialEq)]
pub struct TheilSen {
    /// Median of the pairwise slopes, unit of y per unit of x.
    pub slope: f64,
    /// Interval of the slope.
    pub slope_interval: Interval,
    /// Median of y − slope · x, in the unit of y.
    pub intercept: f64,
    /// y − fitted, in input order and unit of y.
    pub residuals: Vec<f64>,
}

/// The Theil–Sen line: median of the slopes of all pairs at different x, with Sen's interval from the variance of
/// Kendall's sum (Journal of the American Statistical Association 63, 1968; normal approximation, ties in y not
/// corrected for, which is conservative). Bears 29 % of wild points. Beyond [`THEIL_SEN_MAX_POINTS`] the slopes come
/// from evenly spaced points in order of x. Three points or more.
pub fn theil_sen(x: &[f64], y: &[f64], confidence: f64) -> Result<TheilSen, StatsError> {
    check_unit_open(confidence, "confidence")?;
    check_points(x, y)?;
    check_sample(x, 3)?;
    let mut points: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    if points.len() > THEIL_SEN_MAX_POINTS {
        let last = points.len() - 1;
        points = (0..THEIL_SEN_MAX_POINTS).map(|i| points[i * last / (THEIL_SEN_MAX_POINTS - 1)]).collect();
    }
    let slopes: Vec<f64> = points
        .iter()
        .enumerate()
        .flat_map(|(i, a)| points[i + 1..].iter().map(move |b| (b.0 - a.0, b.1 - a.1)))
        .filter(|(dx, _)| *dx > 0.0)
        .map(|(dx, dy)| dy / dx)
        .collect();
    let slopes = sorted(&slopes).ok_or(StatsError::NoSpread)?;
    let slope = median(&slopes).ok_or(StatsError::NoSpread)?;
    let offsets: Vec<f64> = x.iter().zip(y).map(|(x, y)| y - slope * x).collect();
    let intercept = median(&offsets).ok_or(StatsError::NotFinite)?;
    let n = points.len() as f64;
    let reach = two_sided_z(confidence) * (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let count = slopes.len() as f64;
    let low = (0.5 * (count - reach)).floor().max(0.0) as usize;
    let high = ((0.5 * (count + reach)).ceil() as usize).min(slopes.len() - 1);
    Ok(TheilSen {
        slope,
        slope_interval: Interval { low: slopes[low], high: slopes[high], confidence },
        intercept,
        residuals: offsets.into_iter().map(|o| o - intercept).collect(),
    })
}

fn check_points(x: &[f64], y: &[f64]) -> Result<(), StatsError> {
    check_paired(x, y)?;
    check_sample(x, 2)?;
    check_sample(y, 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::simulate::{close, normal};

    #[test]
    fn anscombe_first_set() {
        // Anscombe 1973: intercept 3.0001 (error 1.1247), slope 0.5001 (error 0.1179), residual error 1.237, R² 0.6665.
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let line = ordinary_least_squares(&x, &y).unwrap();
        close(line.intercept, 3.0001, 5e-5);
        close(line.slope, 0.5001, 5e-5);
        close(line.intercept_error.unwrap(), 1.1247, 5e-5);
        close(line.slope_error.unwrap(), 0.1179, 5e-5);
        close(line.residual_sd.unwrap(), 1.237, 5e-4);
        close(line.r_squared.unwrap(), 0.6665, 5e-5);
        close(line.residuals.iter().sum::<f64>(), 0.0, 1e-12);
        close(line.at(10.0), 8.001, 5e-4);
    }

    #[test]
    fn weights_equal_repetition() {
        let line = weighted_least_squares(&[0.0, 1.0, 2.0], &[1.0, 2.0, 5.0], &[1.0, 2.0, 1.0]).unwrap();
        let repeated = ordinary_least_squares(&[0.0, 1.0, 1.0, 2.0], &[1.0, 2.0, 2.0, 5.0]).unwrap();
        close(line.slope, repeated.slope, 1e-12);
        close(line.intercept, repeated.intercept, 1e-12);
        let scaled = weighted_least_squares(&[0.0, 1.0, 2.0], &[1.0, 2.0, 5.0], &[10.0, 20.0, 10.0]).unwrap();
        close(line.slope_error.unwrap(), scaled.slope_error.unwrap(), 1e-12);
    }

    #[test]
    fn theil_sen_ignores_wild_points_and_its_interval_covers() {
        let mut rng = Rng::new(51);
        let runs = 300;
        let mut hits = 0;
        for _ in 0..runs {
            let x: Vec<f64> = (0..30).map(f64::from).collect();
            let y: Vec<f64> = x.iter().map(|x| 5.0 + 0.3 * x + normal(&mut rng)).collect();
            hits += u32::from(theil_sen(&x, &y, 0.9).unwrap().slope_interval.contains(0.3));
        }
        close(f64::from(hits) / f64::from(runs), 0.9, 0.05);
        let x: Vec<f64> = (0..3000).map(f64::from).collect();
        let mut y: Vec<f64> = x.iter().map(|x| 2.0 * x + normal(&mut rng)).collect();
        for i in (0..3000).step_by(7) {
            y[i] += 1e5;
        }
        let got = theil_sen(&x, &y, 0.95).unwrap();
        close(got.slope, 2.0, 0.01);
        close(got.intercept, 0.0, 5.0);
    }

    #[test]
    fn degenerate_points() {
        let exact = ordinary_least_squares(&[0.0, 2.0], &[1.0, 5.0]).unwrap();
        assert_eq!((exact.slope, exact.intercept, exact.slope_error), (2.0, 1.0, None));
        assert_eq!(ordinary_least_squares(&[1.0, 1.0], &[1.0, 2.0]), Err(StatsError::NoSpread));
        assert_eq!(theil_sen(&[1.0; 3], &[1.0, 2.0, 3.0], 0.9), Err(StatsError::NoSpread));
        assert!(matches!(ordinary_least_squares(&[1.0], &[1.0, 2.0]), Err(StatsError::LengthMismatch { .. })));
        assert_eq!(weighted_least_squares(&[0.0, 1.0], &[0.0, 1.0], &[1.0, 0.0]), Err(StatsError::NotPositive));
    }
}
