//! How much longer requests to one unit take than those to its controls, and how well that is known.
//!
//! Times of flash are mixtures: some writes go to a buffer, some wait for a copy. The middle time of a unit then jumps with
//! the share of either, and knows nothing of it. The shift that a rank test speaks of moves with the share, and its interval
//! widens where the samples overlap.

use crate::numbers::median;
use flashscope_model::Order;
use flashscope_model::observation::{FastAreaData, UnitTimes};
use flashscope_stats::interval::shift_interval;
use flashscope_stats::location::{hodges_lehmann_shift, mad};
use flashscope_stats::two_sided_t;

/// Requests to each unit that are left out: the first ones pay for what was open before.
const OPENING: usize = 2;

/// Confidence of the intervals of which errors are made, and how many standard errors of a normal one they reach to each side.
const CONFIDENCE: f64 = 0.95;
const REACH: f64 = 1.96;

/// No shift is known better than this.
const LEAST_ERROR: f64 = 1e-6;

/// Requests to each unit, in seconds, without the first ones.
pub(super) fn seconds(unit: &UnitTimes) -> Vec<f64> {
    let steady = &unit.times[OPENING.min(unit.times.len() / 2)..];
    steady.iter().map(|time| time.as_secs_f64()).filter(|s| *s > 0.0).collect()
}

/// The controls of one run, as logarithms of seconds.
#[derive(Debug)]
pub(super) struct Controls {
    pool: Vec<f64>,
    /// Standard deviation of one request about the mean of its unit, over most units of the run, and its degrees of freedom.
    scatter: (f64, usize),
    /// By how much units differ that ought to be alike, as a standard deviation, and how many of them tell.
    apart: (f64, usize),
}

impl Controls {
    pub(super) fn of(data: &FastAreaData) -> Controls {
        let logs = |unit: &UnitTimes| seconds(unit).into_iter().map(f64::ln).collect::<Vec<f64>>();
        let each: Vec<Vec<f64>> = data.controls.iter().map(logs).collect();
        let all: Vec<Vec<f64>> = each.iter().cloned().chain(data.suspects.iter().map(logs)).collect();
        let freedom = all.iter().map(|times| times.len().saturating_sub(1)).sum();
        let scatter = mad(&all.iter().flat_map(|times| about_mean(times)).collect::<Vec<f64>>()).unwrap_or(0.0);
        let middles: Vec<f64> = each.iter().filter_map(|times| median(times)).collect();
        // What a write out of order costs depends on what lies around it.
        let apart = if data.order == Order::Random { mad(&middles).unwrap_or(0.0) } else { 0.0 };
        Controls { pool: each.concat(), scatter: (scatter, freedom), apart: (apart, middles.len()) }
    }

    /// By how much requests to a unit take longer than those to the controls, as a logarithm, and its standard error.
    pub(super) fn shift(&self, seconds: &[f64]) -> Option<(f64, f64)> {
        let logs: Vec<f64> = seconds.iter().map(|seconds| seconds.ln()).collect();
        let shift = hodges_lehmann_shift(&logs, &self.pool)?;
        let of_requests = match shift_interval(&logs, &self.pool, CONFIDENCE) {
            Ok(interval) => (interval.high - interval.low) / (2.0 * REACH),
            Err(_) => self.error_by_scatter(&logs),
        };
        let (apart, units) = self.apart;
        let of_units = apart * (1.0 + 1.0 / units.max(1) as f64).sqrt();
        Some((shift, of_requests.hypot(of_units).max(LEAST_ERROR)))
    }

    /// What a few requests leave open, by how requests scatter within most units of the run, and within this one.
    fn error_by_scatter(&self, logs: &[f64]) -> f64 {
        let (usual, freedom) = self.scatter;
        let few = two_sided_t(CONFIDENCE, freedom.max(1) as f64) / REACH;
        let own = (about_mean(logs).iter().map(|away| away * away).sum::<f64>() / logs.len() as f64).sqrt();
        (few * usual).max(own) * (1.0 / logs.len() as f64 + 1.0 / self.pool.len() as f64).sqrt()
    }
}

/// Differences from the mean, each as wide as that of a value from a mean that is known: by Bessel's factor.
fn about_mean(values: &[f64]) -> Vec<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let factor = if values.len() > 1 { (count / (count - 1.0)).sqrt() } else { 0.0 };
    values.iter().map(|value| factor * (value - mean)).collect()
}
