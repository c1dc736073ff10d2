//! The inside of a controller beyond units and pages.

mod cells;
mod channels;
mod chip_page;
mod fans;
mod kinds_page;
mod map_reach;
mod mapping;
mod other_page;
mod overwrite;
mod parallel;
pub(crate) mod slc_cache;

pub use channels::plan as channels_plan;
pub use map_reach::plan as map_reach_plan;
pub use overwrite::plan as overwrite_plan;
pub use parallel::plan as parallel_plan;

pub(crate) use cells::choice as cells_choice;
pub(crate) use map_reach::choice as map_reach_choice;
pub(crate) use overwrite::{
    choice as overwrite_choice, most_within as overwritten_within, most_written as most_overwritten,
};

use crate::Choice;
use crate::alignment::Kinds;
use crate::memo::Memo;
use crate::situation::Situation;
use flashscope_model::{DeviceFacts, Geometry, Observations};
use flashscope_units::Contrast;

/// How addresses are dealt out to chips, then which of those share a channel.
pub(crate) fn parallel_choice(now: &Situation) -> Option<Choice> {
    parallel::choice(now).or_else(|| channels::choice(now))
}

/// All of it, but for what rests on the geometry: the mapping, and what collection costs.
pub(crate) fn estimate(
    geometry: &mut Geometry,
    device: Option<&DeviceFacts>,
    observations: &Observations,
    memo: &Memo,
) {
    let striped = parallel::estimate(device, observations, memo);
    geometry.channels = channels::estimate(&striped, observations);
    (geometry.stripe, geometry.parallel_units) = (striped.stripe, striped.units);
    (geometry.slc_cache, geometry.slc_cache_recovery) = slc_cache::estimate(observations);
    geometry.map_reach = map_reach::estimate(device, observations);
    geometry.bits_per_cell = cells::estimate(observations);
}

/// What rests on geometry and inside together: the page where chips read side by side, whether what looks like a
/// unit is one, and the mapping. `page_step` is what a read across the page's edge takes more, `kinds` what boundaries
/// show of kinds of pages.
pub(crate) fn settle(
    geometry: &mut Geometry,
    page_step: Option<Contrast>,
    kinds: Option<&Kinds>,
    device: Option<&DeviceFacts>,
    observations: &Observations,
    memo: &Memo,
) {
    if let Some(kinds) = kinds {
        kinds_page::settle(geometry, kinds, page_step);
        cells::settle(&mut geometry.bits_per_cell, kinds);
    }
    chip_page::settle(geometry, &parallel::estimate(device, observations, memo), page_step);
    mapping::disown_units(geometry, observations);
    geometry.mapping = mapping::estimate(geometry, observations);
    (geometry.write_amplification, geometry.physical_over_user) =
        overwrite::estimate(observations, geometry.mapping.value());
}
