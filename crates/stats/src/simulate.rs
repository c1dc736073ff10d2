//! Draws from named distributions, for the tests only.

use crate::Rng;

/// Standard normal by Box and Muller's transform (one of the pair is thrown away: simplicity over speed).
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

/// `n` normal values.
pub(crate) fn normals(rng: &mut Rng, n: usize, mean: f64, sd: f64) -> Vec<f64> {
    (0..n).map(|_| mean + sd * normal(rng)).collect()
}

/// Asserts closeness with a message that shows both values.
#[track_caller]
pub(crate) fn close(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance, "got {got}, want {want} ± {tolerance}");
}
