//! The inside of a controller beyond units and pages.

mod cells;
mod fans;
mod map_reach;
mod mapping;
mod parallel;
pub(crate) mod slc_cache;

pub use map_reach::plan as map_reach_plan;
pub use parallel::plan as parallel_plan;

pub(crate) use cells::choice as cells_choice;
pub(crate) use map_reach::choice as map_reach_choice;
pub(crate) use parallel::{Striping, choice as parallel_choice};

use crate::memo::Memo;
use flashscope_model::{DeviceFacts, DriveFindings, Estimate, Geometry, Observations};

/// What nobody asked of a device.
pub(crate) const NOT_ASKED: &str = "not measured";

/// All of it, but for the mapping, which rests on the geometry.
pub(crate) fn estimate(device: Option<&DeviceFacts>, observations: &Observations, memo: &Memo) -> DriveFindings {
    let (stripe, parallel_units) = parallel::estimate(device, observations, memo);
    let (slc_cache, slc_cache_recovery) = slc_cache::estimate(observations);
    DriveFindings {
        mapping: Estimate::unknown(NOT_ASKED),
        stripe,
        parallel_units,
        slc_cache,
        slc_cache_recovery,
        map_reach: map_reach::estimate(observations),
        bits_per_cell: cells::estimate(observations),
        write_amplification: Estimate::unknown(NOT_ASKED),
        physical_over_user: Estimate::unknown(NOT_ASKED),
    }
}

/// The mapping, once the geometry is known.
pub(crate) fn add_mapping(geometry: &mut Geometry, observations: &Observations) {
    geometry.drive.mapping = mapping::estimate(geometry, observations);
}
