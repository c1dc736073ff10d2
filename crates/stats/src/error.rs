//! The one error type of this crate.

use std::fmt;

/// Why a statistic could not be computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatsError {
    /// Fewer values than the method can work with.
    TooFew {
        /// Smallest number that would do.
        needed: usize,
        /// Number that was given.
        got: usize,
    },
    /// A value is NaN, infinite or so large (beyond ±1e150) that its square would be.
    NotFinite,
    /// A value is zero or negative where a logarithm or a ratio is needed.
    NotPositive,
    /// Two slices that belong together differ in length.
    LengthMismatch {
        /// Length of the first slice.
        left: usize,
        /// Length of the second slice.
        right: usize,
    },
    /// A setting is outside its range; the text names it.
    BadParameter(&'static str),
    /// The data have no spread (or no variation in the explaining variable), so the statistic is not defined.
    NoSpread,
    /// An iterative fit found no usable solution.
    NoFit,
}

impl fmt::Display for StatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { needed, got } => write!(f, "too few values: need {needed}, have {got}"),
            Self::NotFinite => f.write_str("a value is not finite"),
            Self::NotPositive => f.write_str("a value is not positive"),
            Self::LengthMismatch { left, right } => write!(f, "lengths differ: {left} and {right}"),
            Self::BadParameter(name) => write!(f, "parameter out of range: {name}"),
            Self::NoSpread => f.write_str("the values have no spread"),
            Self::NoFit => f.write_str("no fit found"),
        }
    }
}

impl std::error::Error for StatsError {}

/// Values beyond this are as good as infinite: sums of their squares overflow.
const LARGEST: f64 = 1e150;

/// Refuses non-finite values and samples of fewer than `needed` values.
pub(crate) fn check_sample(values: &[f64], needed: usize) -> Result<(), StatsError> {
    if values.len() < needed {
        return Err(StatsError::TooFew { needed, got: values.len() });
    }
    if values.iter().any(|v| v.is_nan() || v.abs() > LARGEST) {
        return Err(StatsError::NotFinite);
    }
    Ok(())
}

/// Refuses slices of different length.
pub(crate) fn check_paired(left: &[f64], right: &[f64]) -> Result<(), StatsError> {
    if left.len() == right.len() {
        Ok(())
    } else {
        Err(StatsError::LengthMismatch { left: left.len(), right: right.len() })
    }
}

/// Refuses anything that is not strictly between 0 and 1 (a NaN included).
pub(crate) fn check_unit_open(value: f64, name: &'static str) -> Result<(), StatsError> {
    if value > 0.0 && value < 1.0 { Ok(()) } else { Err(StatsError::BadParameter(name)) }
}

/// Natural logarithms of a sample of at least `needed` positive values.
pub(crate) fn logs(values: &[f64], needed: usize) -> Result<Vec<f64>, StatsError> {
    check_sample(values, needed)?;
    if values.iter().any(|&v| v <= 0.0) {
        return Err(StatsError::NotPositive);
    }
    Ok(values.iter().map(|v| v.ln()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_refuse_what_they_should() {
        assert_eq!(check_sample(&[1.0], 2), Err(StatsError::TooFew { needed: 2, got: 1 }));
        assert_eq!(check_sample(&[f64::NAN], 1), Err(StatsError::NotFinite));
        assert_eq!(check_paired(&[1.0], &[]), Err(StatsError::LengthMismatch { left: 1, right: 0 }));
        assert_eq!(check_unit_open(f64::NAN, "level"), Err(StatsError::BadParameter("level")));
        assert_eq!(logs(&[0.0], 1), Err(StatsError::NotPositive));
    }

    #[test]
    fn messages_are_lower_case_without_a_full_stop() {
        for error in
            [StatsError::TooFew { needed: 2, got: 1 }, StatsError::NotFinite, StatsError::BadParameter("level")]
        {
            let text = error.to_string();
            assert!(text.starts_with(char::is_lowercase) && !text.ends_with('.'), "{text}");
        }
    }
}
