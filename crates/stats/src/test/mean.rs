//! Welch's test of two means.

use super::Alternative;
use crate::StatsError;
use crate::distribution::{student_sf, two_sided_t};
use crate::error::check_sample;
use crate::interval::Interval;

/// Result of [`welch_t`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WelchT {
    /// mean(x) − mean(y), in the unit of the data.
    pub difference: f64,
    /// Standard error of the difference, in the unit of the data.
    pub standard_error: f64,
    /// difference / standard_error.
    pub t: f64,
    /// Welch–Satterthwaite degrees of freedom.
    pub freedom: f64,
    /// p value of the chosen alternative.
    pub p_value: f64,
}

impl WelchT {
    /// Two-sided interval of the difference.
    pub fn interval(&self, confidence: f64) -> Result<Interval, StatsError> {
        crate::error::check_unit_open(confidence, "confidence")?;
        let half = two_sided_t(confidence, self.freedom) * self.standard_error;
        Ok(Interval { low: self.difference - half, high: self.difference + half, confidence })
    }
}

/// Welch's t test (Biometrika 34, 1947): equal means, any two variances. Two values each and some spread in one of
/// them. For times, take logarithms first.
pub fn welch_t(x: &[f64], y: &[f64], alternative: Alternative) -> Result<WelchT, StatsError> {
    let (x_mean, x_square) = mean_and_squared_error(x)?;
    let (y_mean, y_square) = mean_and_squared_error(y)?;
    let square = x_square + y_square;
    if square <= 0.0 {
        return Err(StatsError::NoSpread);
    }
    let (x_freedom, y_freedom) = ((x.len() - 1) as f64, (y.len() - 1) as f64);
    // By shares, so that tiny or huge squares stay in range.
    let (x_share, y_share) = (x_square / square, y_square / square);
    let freedom = 1.0 / (x_share * x_share / x_freedom + y_share * y_share / y_freedom);
    let difference = x_mean - y_mean;
    let standard_error = square.sqrt();
    let t = difference / standard_error;
    let p_value = alternative.p_value(student_sf(t, freedom), student_sf(-t, freedom));
    Ok(WelchT { difference, standard_error, t, freedom, p_value })
}

fn mean_and_squared_error(values: &[f64]) -> Result<(f64, f64), StatsError> {
    check_sample(values, 2)?;
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    Ok((mean, squares / (n - 1.0) / n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::close;

    #[test]
    fn students_sleep_data() {
        // R: t.test(extra ~ group, data = sleep): t = −1.8608, df = 17.776, p = 0.07939, −3.3654832 … 0.2054832.
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let got = welch_t(&first, &second, Alternative::TwoSided).unwrap();
        close(got.t, -1.8608, 5e-5);
        close(got.freedom, 17.776, 5e-4);
        close(got.p_value, 0.079_39, 5e-6);
        let interval = got.interval(0.95).unwrap();
        close(interval.low, -3.365_483_2, 1e-6);
        close(interval.high, 0.205_483_2, 1e-6);
        let less = welch_t(&first, &second, Alternative::Less).unwrap();
        close(less.p_value, 0.5 * got.p_value, 1e-12);
    }

    #[test]
    fn refuses_constant_samples() {
        assert_eq!(welch_t(&[1.0; 3], &[2.0; 3], Alternative::TwoSided), Err(StatsError::NoSpread));
        assert!(welch_t(&[1.0], &[2.0, 3.0], Alternative::TwoSided).is_err());
    }
}
