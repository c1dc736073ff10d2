//! Limits on confidence that no single family of findings can know of: what was measured may not be one device, or none.

use flashscope_model::{Estimate, Geometry};

/// Most that can be said from tables that contradict each other.
pub(crate) const CONTRADICTED: f64 = 0.6;

/// No answer is surer than `most`.
pub(crate) fn cap<T>(estimate: &mut Estimate<T>, most: f64) {
    estimate.confidence = estimate.confidence.map(|confidence| confidence.min(most));
}

/// What rests on writes is no surer than `most`.
pub(crate) fn of_writes(geometry: &mut Geometry, most: f64) {
    cap(&mut geometry.open_units_linear, most);
    cap(&mut geometry.open_units_random, most);
    cap(&mut geometry.random_order_penalty, most);
    cap(&mut geometry.small_write_path, most);
    cap(&mut geometry.fast_area, most);
}
