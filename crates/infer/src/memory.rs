//! The memory between link and flash: write buffer, read buffer, read-ahead; and the stalls of collection.
//!
//! `write_buffer`, `read_cache` and `read_ahead` draw conclusions, `stalls` does for collection; `wanted` and
//! `wanted_reads` say what to measure next.

mod gains;
mod ranks;
mod read_ahead;
mod read_cache;
mod stalls;
pub(crate) mod wanted;
pub(crate) mod wanted_reads;
mod write_buffer;

use flashscope_model::{Geometry, Observations};

/// All that was seen of it. Stalls rest on the allocation unit and on how many units can be open.
pub(crate) fn estimate(geometry: &mut Geometry, observations: &Observations) {
    geometry.write_buffer = write_buffer::size(observations);
    geometry.write_buffer_volatile = write_buffer::volatile(observations, &geometry.write_buffer);
    geometry.write_buffer_flushed_by_read = write_buffer::flushed_by_read(observations, &geometry.write_buffer);
    geometry.write_buffer_flush_window = write_buffer::flush_window(observations);
    geometry.read_buffer = read_cache::read_buffer(observations);
    geometry.read_ahead = read_ahead::read_ahead(observations);
    geometry.collection = stalls::estimate(observations, &geometry.allocation_unit, &geometry.open_units_linear);
}

/// The mean of the fastest quarter of a sample, in nanoseconds: noise only ever adds.
fn low(times: &[f64]) -> Option<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quarter = &sorted[..sorted.len().div_ceil(4)];
    (!quarter.is_empty()).then(|| quarter.iter().sum::<f64>() / quarter.len() as f64)
}

fn ns(times: &[flashscope_units::Nanos]) -> Vec<f64> {
    times.iter().map(|time| time.as_f64()).collect()
}
