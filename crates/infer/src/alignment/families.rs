//! Which odd factors of sizes are worth weighing: rare ones make most of the hypotheses, and most devices have none of them.

use super::classes::Fit;
use super::noise::Sample;
use super::places::{Group, Place, Places};
use super::prior;
use flashscope_units::Bytes;
use std::collections::BTreeMap;

/// Factors that are weighed whatever is measured: those of most units and pages that are known.
const USUAL: u64 = 3;

/// Levels that lie this many standard errors apart differ.
const DIFFERS: f64 = 2.5;

/// Factors of [`prior::ODD`] that places speak for, or that are usual. A size that begins something makes its multiples differ
/// from other places that lie on as large a power of two; where none of a factor's do, none of its sizes begins anything.
pub(super) fn worth_weighing(places: &Places, phase: Bytes) -> Vec<u64> {
    let by_power: Vec<BTreeMap<u32, Vec<&Place>>> = places.groups.iter().map(|group| by_power(group, phase)).collect();
    let kinds = || by_power.iter().flat_map(BTreeMap::values);
    let changes = places.seen.changes().filter(|changes| changes.support(changes.size, phase));
    let of_changes = changes.map(|changes| prior::split(changes.size).0);
    let stands_out = |odd: u64| kinds().any(|kind| differ(kind, odd, phase));
    prior::ODD.into_iter().filter(|odd| *odd <= USUAL || of_changes == Some(*odd) || stands_out(*odd)).collect()
}

/// The places of a group by the largest power of two that divides their address.
fn by_power(group: &Group, phase: Bytes) -> BTreeMap<u32, Vec<&Place>> {
    let mut kinds: BTreeMap<u32, Vec<&Place>> = BTreeMap::new();
    for place in &group.places {
        kinds.entry(place.from(phase).trailing_zeros()).or_default().push(place);
    }
    kinds
}

/// Whether the places at multiples of an odd factor have another level than the rest.
fn differ(kind: &[&Place], odd: u64, phase: Bytes) -> bool {
    let (multiples, others): (Vec<&Place>, Vec<&Place>) =
        kind.iter().partition(|place| place.from(phase).is_multiple_of(odd));
    let level = |places: &[&Place]| Fit::of(&Sample::of(places.iter().map(|place| (place.share, place.scale))));
    multiples.len().min(others.len()) > 1 && level(&multiples).errors_from(&level(&others)) > DIFFERS
}
