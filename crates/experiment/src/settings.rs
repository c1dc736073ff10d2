//! What counts as a difference, and how sure a verdict must be.

use flashscope_model::comparison::Family;
use std::fmt;

/// How a comparison decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    confidence: f64,
    margin: f64,
    /// Over which verdicts the chance of a false one is kept.
    pub family: Family,
}

impl Default for Settings {
    /// 95 %, a margin of 5 %, Holm over all.
    fn default() -> Settings {
        Settings { confidence: 0.95, margin: 1.05, family: Family::All }
    }
}

impl Settings {
    /// `confidence` of each interval (0.5 to 0.9999), `margin` as a ratio (above 1, at most 10).
    ///
    /// # Errors
    /// Where one is outside its range.
    pub fn new(confidence: f64, margin: f64, family: Family) -> Result<Settings, SettingsError> {
        if !(0.5..=0.9999).contains(&confidence) {
            return Err(SettingsError::Confidence);
        }
        // Beneath a tenth of a per mille the margin is as good as none, and no number of runs would do.
        if !(1.0001..=10.0).contains(&margin) {
            return Err(SettingsError::Margin);
        }
        Ok(Settings { confidence, margin, family })
    }

    /// Confidence of an interval, 0 to 1.
    pub fn confidence(&self) -> f64 {
        self.confidence
    }

    /// The chance of a false verdict that is allowed for.
    pub fn alpha(&self) -> f64 {
        1.0 - self.confidence
    }

    /// A ratio within 1/margin … margin is no difference that matters.
    pub fn margin(&self) -> f64 {
        self.margin
    }
}

/// A setting that is outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsError {
    /// Of the confidence.
    Confidence,
    /// Of the margin.
    Margin,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SettingsError::Confidence => "the confidence must lie between 50 % and 99.99 %",
            SettingsError::Margin => "the margin must lie between 0.01 % and 900 %",
        })
    }
}

impl std::error::Error for SettingsError {}
