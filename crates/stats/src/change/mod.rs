//! Change points in a long series: throughput against bytes written, latency against index.
//!
//! The series must already be on the scale where steps matter and noise is even, normally the logarithm. [`pelt`] is
//! exact for steps of the mean; [`biweight_changes`] is the one to take when single values fly far off (collection
//! spikes in a write stream) and must not count. [`level_shifts`] is for histories: few points that resemble their neighbours,
//! and an interval for each change. Groups of repeats over an ordered axis belong to [`crate::levels`].

mod biweight;
mod noise;
mod pelt;
mod shifts;

pub use biweight::biweight_changes;
pub use noise::difference_noise;
pub use pelt::pelt;
pub use shifts::{SHORTEST, Shift, Shifts, level_shifts};

use crate::StatsError;
use crate::location::{mad, median};
use std::ops::Range;

/// Price of one change, against a cost that is −2 × log likelihood.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Penalty {
    /// 2 ln n: a place and a level (Schwarz 1978).
    Bic,
    /// 3 ln n and ln(length/n) per segment, which spares segments of even length (Zhang and Siegmund, Biometrics 63,
    /// 2007).
    Mbic,
    /// A number of the caller's, in units of −2 × log likelihood; at least 0.
    PerChange(f64),
}

impl Penalty {
    fn per_change(self, n: usize) -> Result<f64, StatsError> {
        let log_n = (n as f64).ln();
        match self {
            Self::Bic => Ok(2.0 * log_n),
            Self::Mbic => Ok(3.0 * log_n),
            Self::PerChange(value) if value >= 0.0 && value.is_finite() => Ok(value),
            Self::PerChange(_) => Err(StatsError::BadParameter("penalty")),
        }
    }
}

/// How changes are looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeSettings {
    /// Price of a change.
    pub penalty: Penalty,
    /// Standard deviation of the noise, in the unit of the series; `None` takes [`difference_noise`].
    pub noise_sd: Option<f64>,
}

/// Where a series splits.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// First index of each segment, ascending; the first is 0.
    pub starts: Vec<usize>,
    /// Length of the series.
    pub len: usize,
    /// Noise standard deviation that was used, in the unit of the series.
    pub noise_sd: f64,
}

/// One stretch without a change.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// Indices covered.
    pub range: Range<usize>,
    /// Median of the values, in the unit of the series.
    pub location: f64,
    /// Scaled median absolute deviation, in the unit of the series.
    pub spread: f64,
}

impl Changes {
    /// Index ranges of the segments.
    pub fn ranges(&self) -> Vec<Range<usize>> {
        let ends = self.starts.iter().skip(1).copied().chain([self.len]);
        self.starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
    }

    /// The segments with their location and spread, taken from the series that was split (or another of its length, for
    /// instance before the logarithm).
    pub fn segments(&self, series: &[f64]) -> Result<Vec<Segment>, StatsError> {
        if series.len() != self.len {
            return Err(StatsError::LengthMismatch { left: self.len, right: series.len() });
        }
        self.ranges()
            .into_iter()
            .map(|range| {
                let values = &series[range.clone()];
                let location = median(values).ok_or(StatsError::NotFinite)?;
                let spread = mad(values).ok_or(StatsError::NotFinite)?;
                Ok(Segment { range, location, spread })
            })
            .collect()
    }

    /// Walks the best predecessor of each end back to the start.
    fn from_predecessors(best_start: &[usize], noise_sd: f64) -> Self {
        let len = best_start.len() - 1;
        let mut starts = Vec::new();
        let mut end = len;
        while end > 0 {
            end = best_start[end];
            starts.push(end);
        }
        starts.reverse();
        Self { starts, len, noise_sd }
    }
}

/// The noise to divide by: the caller's if given, otherwise estimated; `None` if the series is constant.
fn noise_for(series: &[f64], settings: &ChangeSettings) -> Result<Option<f64>, StatsError> {
    match settings.noise_sd {
        Some(sd) if sd > 0.0 && sd.is_finite() => Ok(Some(sd)),
        Some(_) => Err(StatsError::BadParameter("noise_sd")),
        None => Ok(Some(difference_noise(series)?).filter(|&sd| sd > 0.0)),
    }
}
