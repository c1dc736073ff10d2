//! What a run cost, in all and for its geometry alone.

use flashscope_device::Wear;
use flashscope_model::fleet::DeviceCost;
use flashscope_model::observation::Spent;
use flashscope_model::plan::Purpose;
use flashscope_model::{About, Data, Run};

/// Of experiments between two readings of the wear.
pub(crate) fn between(spent: Spent, before: Wear, after: Wear) -> DeviceCost {
    DeviceCost {
        read: spent.read,
        written: spent.written,
        erases: after.erases.saturating_sub(before.erases),
        programmed: after.programmed.saturating_sub(before.programmed),
        time: spent.time,
    }
}

pub(crate) fn add(sum: &mut DeviceCost, other: DeviceCost) {
    sum.read += other.read;
    sum.written += other.written;
    sum.erases += other.erases;
    sum.programmed += other.programmed;
    sum.time += other.time;
}

/// Whether a run serves the geometry; the rest is the table of speeds, and the memory in front of the flash.
pub(crate) fn is_geometry(run: &Run) -> bool {
    match &run.data {
        Data::Throughput(data) => data.purpose != Purpose::Performance,
        other => other.name().about() == About::Geometry,
    }
}
