//! The memory between link and flash: write buffer, read buffer, read-ahead; and the stalls of collection.
//!
//! `write_buffer`, `read_cache` and `read_ahead` draw conclusions, `stalls` does for collection; `wanted` and
//! `wanted_reads` say what to measure next.

mod gains;
mod read_ahead;
mod read_cache;
mod stalls;
pub(crate) mod wanted;
pub(crate) mod wanted_reads;
mod write_buffer;

use flashscope_model::finding::Memory;
use flashscope_model::{Estimate, Observations};
use flashscope_units::Bytes;

/// All that was seen of it; `unit` is the allocation unit, `open` how many of them can be open in order.
pub(crate) fn estimate(observations: &Observations, unit: &Estimate<Bytes>, open: &Estimate<u32>) -> Memory {
    Memory {
        write_buffer: write_buffer::size(observations),
        write_buffer_volatile: write_buffer::volatile(observations),
        write_buffer_flushed_by_read: write_buffer::flushed_by_read(observations),
        write_buffer_flush_window: write_buffer::flush_window(observations),
        read_buffer: read_cache::read_buffer(observations),
        read_ahead: read_ahead::read_ahead(observations),
        collection: stalls::estimate(observations, unit, open),
    }
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
