//! Which state a device is in: how much of it holds data, in which order that was written, how much of its life is used,
//! and what sums this up.
//!
//! Content proves nothing: a purged place may still read as it was, and zeros may be data. What tells is time: a place that
//! the map knows to be empty is answered without the flash. Where a device does not show it, the answer is "cannot tell".

mod wanted;

pub use wanted::next;

use crate::survey::{answered, is_blank};
use flashscope_model::{Data, Estimate, Geometry, Observations, Reason};

/// What this says of the state, put among the other findings.
pub(crate) fn estimate(geometry: &mut Geometry, observations: &Observations) {
    let survey = observations.runs.iter().rev().find_map(|run| match &run.data {
        Data::Survey(data) => Some(data),
        _ => None,
    });
    let Some(survey) = survey else { return };
    let (places, uniform) = (answered(survey).count(), answered(survey).filter(|place| is_blank(place)).count());
    let seen = format!("{uniform} of {places} places hold nothing but zeros or ones, and content alone proves nothing");
    geometry.holds_data = Estimate::unknown(Reason::Ambiguous, seen);
    geometry.data_order = Estimate::unknown(Reason::NotMeasured, "");
    geometry.state = Estimate::unknown(Reason::NeedsAnother, "neither what holds data nor its order is known");
}
