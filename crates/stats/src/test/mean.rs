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
    /// Two-sided p value against a difference of `null` instead of zero.
    pub fn p_value_against(&self, null: f64) -> f64 {
        let t = (self.difference - null) / self.standard_error;
        (2.0 * student_sf(t.abs(), self.freedom)).min(1.0)
    }

    /// Two-sided interval of the difference.
    pub fn interval(&self, confidence: f64) -> Result<Interval, StatsError> {
        crate::error::check_unit_open(confidence, "confidence")?;
        let half = two_sided_t(confidence, self.freedom) * self.standard_error;
        Ok(Interval { low: self.difference - half, high: self.difference + half, confidence })
    }
}

/// What is left of a sample where only its centre and spread were written down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Mean, in the unit of the data.
    pub mean: f64,
    /// Standard deviation with divisor `count` − 1, in the unit of the data.
    pub deviation: f64,
    /// How many values there were.
    pub count: u32,
}

impl Summary {
    /// The summary of two values or more.
    pub fn of(values: &[f64]) -> Result<Summary, StatsError> {
        check_sample(values, 2)?;
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        let count = u32::try_from(values.len()).map_err(|_| StatsError::BadParameter("sample"))?;
        Ok(Summary { mean, deviation: (squares / (n - 1.0)).sqrt(), count })
    }

    /// The summary of the logarithms of such values, taken to be log-normal: variance ln(1 + (deviation/mean)²), mean
    /// ln(mean) − variance/2 (moments of the log-normal distribution; Aitchison and Brown, *The Lognormal Distribution*,
    /// 1957, section 2.3).
    pub fn logarithms(&self) -> Result<Summary, StatsError> {
        if !(self.mean > 0.0 && self.mean.is_finite() && self.deviation >= 0.0 && self.deviation.is_finite()) {
            return Err(StatsError::NotPositive);
        }
        let variance = (self.deviation / self.mean).powi(2).ln_1p();
        Ok(Summary { mean: self.mean.ln() - 0.5 * variance, deviation: variance.sqrt(), count: self.count })
    }

    /// Two-sided Student interval of the mean, for values near normal; of values that do not scatter there is none.
    pub fn interval(&self, confidence: f64) -> Result<Interval, StatsError> {
        t_of(*self, Alternative::TwoSided)?.interval(confidence)
    }

    fn squared_error(&self) -> Result<f64, StatsError> {
        if self.count < 2 {
            return Err(StatsError::TooFew { needed: 2, got: self.count as usize });
        }
        Ok(self.deviation * self.deviation / f64::from(self.count))
    }
}

/// Welch's t test (Biometrika 34, 1947): equal means, any two variances. Two values each and some spread in one of
/// them. For times, take logarithms first.
pub fn welch_t(x: &[f64], y: &[f64], alternative: Alternative) -> Result<WelchT, StatsError> {
    welch_t_of(Summary::of(x)?, Summary::of(y)?, alternative)
}

/// [`welch_t`] where only the summaries of the samples are known; of such it needs no more.
pub fn welch_t_of(x: Summary, y: Summary, alternative: Alternative) -> Result<WelchT, StatsError> {
    let (x_square, y_square) = (x.squared_error()?, y.squared_error()?);
    let square = x_square + y_square;
    if !square.is_finite() {
        return Err(StatsError::NotFinite);
    }
    if square <= 0.0 {
        return Err(StatsError::NoSpread);
    }
    let (x_freedom, y_freedom) = (f64::from(x.count - 1), f64::from(y.count - 1));
    // By shares, so that tiny or huge squares stay in range.
    let (x_share, y_share) = (x_square / square, y_square / square);
    let freedom = 1.0 / (x_share * x_share / x_freedom + y_share * y_share / y_freedom);
    let difference = x.mean - y.mean;
    let standard_error = square.sqrt();
    let t = difference / standard_error;
    let p_value = alternative.p_value(student_sf(t, freedom), student_sf(-t, freedom));
    Ok(WelchT { difference, standard_error, t, freedom, p_value })
}

/// One-sample t test: the mean of two values or more, against zero. `difference` of the result is the mean.
pub fn one_sample_t(values: &[f64], alternative: Alternative) -> Result<WelchT, StatsError> {
    t_of(Summary::of(values)?, alternative)
}

fn t_of(summary: Summary, alternative: Alternative) -> Result<WelchT, StatsError> {
    let Summary { mean, deviation, count } = summary;
    if count < 2 {
        return Err(StatsError::TooFew { needed: 2, got: count as usize });
    }
    if deviation <= 0.0 {
        return Err(StatsError::NoSpread);
    }
    let (freedom, standard_error) = (f64::from(count - 1), deviation / f64::from(count).sqrt());
    let t = mean / standard_error;
    let p_value = alternative.p_value(student_sf(t, freedom), student_sf(-t, freedom));
    Ok(WelchT { difference: mean, standard_error, t, freedom, p_value })
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
    fn one_sample() {
        // R: t.test(c(0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0)): t = 1.3257, df = 9, p = 0.2176,
        // −0.5297804 … 2.0297804.
        let values = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let got = one_sample_t(&values, Alternative::TwoSided).unwrap();
        close(got.t, 1.3257, 5e-5);
        close(got.p_value, 0.2176, 5e-5);
        close(got.interval(0.95).unwrap().low, -0.529_780_4, 1e-6);
        close(got.p_value_against(0.0), got.p_value, 1e-12);
        close(got.p_value_against(2.029_780_4), 0.05, 1e-6);
        assert_eq!(one_sample_t(&[1.0; 4], Alternative::TwoSided), Err(StatsError::NoSpread));
    }

    #[test]
    fn logarithms_of_a_summary() {
        // Of a log-normal sample the summary's logarithms are near those of the values.
        let mut rng = crate::Rng::new(17);
        let logs = crate::simulate::normals(&mut rng, 20_000, 3.0, 0.1);
        let values: Vec<f64> = logs.iter().map(|v| v.exp()).collect();
        let got = Summary::of(&values).unwrap().logarithms().unwrap();
        close(got.mean, 3.0, 0.003);
        close(got.deviation, 0.1, 0.003);
        let none = Summary { mean: 0.0, deviation: 1.0, count: 3 };
        assert_eq!(none.logarithms(), Err(StatsError::NotPositive));
        let one = Summary { mean: 1.0, deviation: 0.0, count: 1 };
        assert!(welch_t_of(one, one, Alternative::TwoSided).is_err());
    }

    #[test]
    fn refuses_constant_samples() {
        assert_eq!(welch_t(&[1.0; 3], &[2.0; 3], Alternative::TwoSided), Err(StatsError::NoSpread));
        assert!(welch_t(&[1.0], &[2.0, 3.0], Alternative::TwoSided).is_err());
    }
}
