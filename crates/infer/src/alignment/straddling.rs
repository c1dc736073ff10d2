//! Reads around boundaries: what every such experiment has in common, whatever it is to settle.

use flashscope_model::DeviceFacts;
use flashscope_model::plan::Boundaries;
use flashscope_units::{Bytes, Nanos};

/// A candidate needs room for so many places.
const FEWEST_PLACES: u64 = 4;

/// The smallest read that can straddle a boundary by half.
pub(super) fn small_block(device: &DeviceFacts) -> Bytes {
    device.logical_block * 2
}

/// Candidates in rising order that are aligned, not below the block, and leave room for places.
pub(super) fn tidy(device: &DeviceFacts, block: Bytes, sizes: impl Iterator<Item = Bytes>) -> Vec<Bytes> {
    let fits = |size: &Bytes| {
        *size >= block
            && size.is_multiple_of(device.logical_block)
            && size.get() <= device.capacity.get() / (FEWEST_PLACES + 2)
    };
    let mut candidates: Vec<Bytes> = sizes.filter(fits).collect();
    candidates.sort_unstable();
    candidates.dedup();
    candidates
}

/// Reads at random multiples of the candidates, shifted by `offset`, that are multiples of no other candidate and of none of `also`.
pub(super) fn plan(
    block: Bytes,
    candidates: Vec<Bytes>,
    also: &[Bytes],
    (places, rounds): (u32, u32),
    offset: Bytes,
) -> Boundaries {
    let mut exclude: Vec<Bytes> = candidates.iter().chain(also).copied().collect();
    exclude.sort_unstable();
    exclude.dedup();
    Boundaries { block, candidates, exclude, places, rounds, offset, within: None, rest: Nanos::ZERO }
}
