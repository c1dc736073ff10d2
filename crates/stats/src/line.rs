//! Straight lines: least squares, plain and weighted.

use crate::StatsError;
use crate::error::{check_paired, check_sample};

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

fn check_points(x: &[f64], y: &[f64]) -> Result<(), StatsError> {
    check_paired(x, y)?;
    check_sample(x, 2)?;
    check_sample(y, 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::close;

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
    fn degenerate_points() {
        let exact = ordinary_least_squares(&[0.0, 2.0], &[1.0, 5.0]).unwrap();
        assert_eq!((exact.slope, exact.intercept, exact.slope_error), (2.0, 1.0, None));
        assert_eq!(ordinary_least_squares(&[1.0, 1.0], &[1.0, 2.0]), Err(StatsError::NoSpread));
        assert!(matches!(ordinary_least_squares(&[1.0], &[1.0, 2.0]), Err(StatsError::LengthMismatch { .. })));
        assert_eq!(weighted_least_squares(&[0.0, 1.0], &[0.0, 1.0], &[1.0, 0.0]), Err(StatsError::NotPositive));
    }
}
