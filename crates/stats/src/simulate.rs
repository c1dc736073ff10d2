//! Draws from named distributions, for the tests only.

use crate::Rng;

/// `n` normal values.
pub(crate) fn normals(rng: &mut Rng, n: usize, mean: f64, sd: f64) -> Vec<f64> {
    (0..n).map(|_| mean + sd * rng.normal()).collect()
}

/// Asserts closeness with a message that shows both values.
#[track_caller]
pub(crate) fn close(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance, "got {got}, want {want} ± {tolerance}");
}
