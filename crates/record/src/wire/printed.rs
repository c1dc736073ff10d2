//! Figures that a log printed, and rates that are samples or such a figure.

use super::Statistic;
use crate::RecordError;
use flashscope_model::observation::{self as seen, Printed};
use flashscope_units::{ByteRate, Contrast, Nanos};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A time that a log printed: what is left of samples that are gone.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct PrintedTime {
    /// The time; a difference of times may be negative.
    pub value_ns: f64,
    /// The last printed digit: half of this either way is lost to rounding.
    pub quantum_ns: f64,
    /// What it is a statistic of.
    pub statistic: Statistic,
    /// Over how many places; null where unknown.
    pub places: Option<u32>,
    /// Over how many tries per place; null where unknown.
    pub tries: Option<u32>,
}

/// A throughput that a log printed.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct PrintedRate {
    /// The rate.
    pub value_bytes_per_s: f64,
    /// The last printed digit: half of this either way is lost to rounding.
    pub quantum_bytes_per_s: f64,
    /// What it is a statistic of.
    pub statistic: Statistic,
    /// Over how many places; null where unknown.
    pub places: Option<u32>,
    /// Over how many tries per place; null where unknown.
    pub tries: Option<u32>,
}

/// A throughput: either every request's service time, or what a log printed; the other is null.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Rate {
    /// Service time of each request of one block, in the order of issue.
    pub service_time_ns: Option<Vec<u64>>,
    /// What a log printed.
    pub printed: Option<PrintedRate>,
}

/// A row of an align table as a log printed it; a cut-off figure is null.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct PrintedAlign {
    /// Ending at the boundary.
    pub pre: Option<PrintedTime>,
    /// Straddling it by half.
    pub on: Option<PrintedTime>,
    /// Starting at it.
    pub post: Option<PrintedTime>,
    /// `on − (pre + post)/2` as printed.
    pub diff: Option<PrintedTime>,
}

/// A row of an interval table as a log printed it.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct PrintedInterval {
    /// Smallest.
    pub min: Option<PrintedTime>,
    /// Mean.
    pub avg: Option<PrintedTime>,
    /// Largest.
    pub max: Option<PrintedTime>,
}

impl PrintedTime {
    pub(crate) fn from_model(printed: &Printed<Contrast>) -> PrintedTime {
        PrintedTime {
            value_ns: printed.value.get(),
            quantum_ns: printed.quantum.get(),
            statistic: printed.statistic.into(),
            places: printed.places,
            tries: printed.tries,
        }
    }

    pub(crate) fn into_model(self) -> Printed<Contrast> {
        Printed {
            value: Contrast(self.value_ns),
            quantum: Contrast(self.quantum_ns),
            statistic: self.statistic.into(),
            places: self.places,
            tries: self.tries,
        }
    }
}

impl PrintedRate {
    fn from_model(printed: &Printed<ByteRate>) -> PrintedRate {
        PrintedRate {
            value_bytes_per_s: printed.value.get(),
            quantum_bytes_per_s: printed.quantum.get(),
            statistic: printed.statistic.into(),
            places: printed.places,
            tries: printed.tries,
        }
    }

    fn into_model(self) -> Printed<ByteRate> {
        Printed {
            value: ByteRate(self.value_bytes_per_s),
            quantum: ByteRate(self.quantum_bytes_per_s),
            statistic: self.statistic.into(),
            places: self.places,
            tries: self.tries,
        }
    }
}

impl Rate {
    pub(crate) fn from_model(rate: &seen::RateEvidence) -> Rate {
        match rate {
            seen::RateEvidence::Times(times) => Rate { service_time_ns: Some(ns(times)), printed: None },
            seen::RateEvidence::Printed(printed) => {
                Rate { service_time_ns: None, printed: Some(PrintedRate::from_model(printed)) }
            }
        }
    }

    pub(crate) fn into_model(self, field: &str) -> Result<seen::RateEvidence, RecordError> {
        match (self.service_time_ns, self.printed) {
            (Some(times), None) => Ok(seen::RateEvidence::Times(nanos(times))),
            (None, Some(printed)) => Ok(seen::RateEvidence::Printed(printed.into_model())),
            (samples, _) => Err(not_one_of(field, samples.is_some())),
        }
    }
}

/// Samples as bare numbers.
pub(crate) fn ns(times: &[Nanos]) -> Vec<u64> {
    times.iter().map(|time| time.get()).collect()
}

/// Bare numbers as samples.
pub(crate) fn nanos(times: Vec<u64>) -> Vec<Nanos> {
    times.into_iter().map(Nanos).collect()
}

/// Samples and printed figures are both there, or both missing.
pub(crate) fn not_one_of(field: &str, both: bool) -> RecordError {
    let what = if both { "both samples and printed figures" } else { "neither samples nor printed figures" };
    RecordError::contradiction(field, what)
}
