//! Reads around boundaries: what every such experiment has in common, whatever it is to settle.

use flashscope_model::DeviceFacts;
use flashscope_model::plan::Boundaries;
use flashscope_units::{Bytes, Nanos};

/// A candidate needs room for this many places.
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

/// Reads at random multiples of the candidates, shifted by `offset`, that are multiples of no other candidate and of none of
/// `also`, in a part of the device of this length.
pub(super) fn plan(
    room: Bytes,
    block: Bytes,
    candidates: Vec<Bytes>,
    also: &[Bytes],
    (places, rounds): (u32, u32),
    offset: Bytes,
) -> Boundaries {
    let candidates = crowded(room, block, candidates, places);
    let mut exclude: Vec<Bytes> = candidates.iter().chain(also).copied().collect();
    exclude.sort_unstable();
    exclude.dedup();
    Boundaries { block, candidates, exclude, places, rounds, offset, within: None, rest: Nanos::ZERO }
}

/// The candidates, with small ones beside them where they have few places in all: a read buffer has those at hand that were
/// read not long before, and a few fast answers spoil a place.
fn crowded(room: Bytes, block: Bytes, mut candidates: Vec<Bytes>, places: u32) -> Vec<Bytes> {
    /// Four times as many as a read must keep away from.
    const ENOUGH: u64 = 128;
    /// Sizes whose places are read beside those of the candidates.
    const BESIDE: [Bytes; 6] =
        [Bytes::kib(64), Bytes::kib(32), Bytes::kib(128), Bytes::kib(16), Bytes::kib(8), Bytes::kib(4)];
    let count = |size: &Bytes| (room / *size).min(places.into());
    let mut all: u64 = candidates.iter().map(count).sum();
    let fits = |size: &Bytes| *size >= block && size.is_multiple_of(block / 2) && *size * (FEWEST_PLACES + 2) <= room;
    for size in BESIDE.into_iter().filter(fits) {
        if all < ENOUGH && !candidates.contains(&size) {
            all += count(&size);
            candidates.push(size);
        }
    }
    candidates.sort_unstable();
    candidates
}
