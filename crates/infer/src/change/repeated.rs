//! What was read alike in two runs of live probes must take alike.
//!
//! Much may change the time of a read and nothing of the device: another part of it, a filled region beside a blank one,
//! a pause before each read, a host that is busy by up to 150 µs. So only runs of the same kind, state, block, pause
//! and stretch are compared, and only what differs by more than a host does.

use super::{changed, roles};
use crate::numbers::{digits, median};
use flashscope_model::observation::{AreaState, BoundariesData, FloorData, ThroughputData};
use flashscope_model::plan::Purpose;
use flashscope_model::{Data, Direction, Observations};
use flashscope_units::{Bytes, Nanos};

/// Reads differ by this factor where something changed.
const FACTOR: f64 = 1.3;

/// A drifting host makes reads this much slower, or less: some 150 µs, and a margin.
const HOST_SECONDS: f64 = 250e-6;

/// What two runs read alike and found unlike, in words.
pub(super) fn contradiction(observations: &Observations) -> Option<String> {
    let runs = &observations.runs;
    runs.iter().enumerate().find_map(|(at, later)| {
        runs[..at].iter().filter(|earlier| earlier.state == later.state).find_map(|earlier| {
            match (&earlier.data, &later.data) {
                (Data::Boundaries(one), Data::Boundaries(two)) => boundaries(one, two, later.state),
                (Data::Floor(one), Data::Floor(two)) => floors(one, two),
                (Data::Throughput(one), Data::Throughput(two)) => cells(one, two),
                _ => None,
            }
        })
    })
}

fn boundaries(one: &BoundariesData, two: &BoundariesData, state: AreaState) -> Option<String> {
    let alike = one.block == two.block && one.rest == two.rest && state != AreaState::Blank && same_stretch(one, two);
    let factor = if alike { apart(&beside(one), &beside(two))? } else { return None };
    Some(format!(
        "reads of {} beside boundaries took {}× as long when they were measured again",
        two.block,
        digits(factor)
    ))
}

/// The time of a place is that of the faster neighbour of the boundary: the other may cross one of another kind.
fn beside(data: &BoundariesData) -> Vec<f64> {
    let places = data.candidates.iter().flat_map(|one| &one.places);
    places
        .filter_map(|place| {
            let [pre, _, post] = roles(place);
            let middle = |times: &[Nanos]| median(&seconds(times));
            Some(middle(pre)?.min(middle(post)?))
        })
        .collect()
}

/// A map of a small stretch may be at hand where that of the whole device is not.
fn same_stretch(one: &BoundariesData, two: &BoundariesData) -> bool {
    let ends = |data: &BoundariesData| {
        let places = || data.candidates.iter().flat_map(|one| &one.places).map(|place| place.at);
        Some((places().min()?, places().max()?))
    };
    let (Some((from, to)), Some((start, end))) = (ends(one), ends(two)) else { return false };
    let common = to.min(end).saturating_sub(from.max(start));
    let longer = to.saturating_sub(from).max(end.saturating_sub(start));
    common * 4 >= longer * 3
}

fn floors(one: &FloorData, two: &FloorData) -> Option<String> {
    let factor = apart(&seconds(&one.times), &seconds(&two.times)).filter(|_| one.block == two.block)?;
    Some(format!("one block of {} took {}× as long to read when it was read again", two.block, digits(factor)))
}

/// Cells of the table of speeds that only read: what is written again may meet a full log, or a full cache.
fn cells(one: &ThroughputData, two: &ThroughputData) -> Option<String> {
    let key = |data: &ThroughputData| (data.order, data.block, data.start, data.length);
    let reads = |data: &ThroughputData| data.direction == Direction::Read && data.purpose == Purpose::Performance;
    let alike = reads(one) && reads(two) && key(one) == key(two) && two.block > Bytes::ZERO;
    let factor = if alike { apart(&seconds(&one.times), &seconds(&two.times))? } else { return None };
    Some(format!("reads of {} took {}× as long when they were measured again", two.block, digits(factor)))
}

fn apart(early: &[f64], late: &[f64]) -> Option<f64> {
    let beyond_the_host = (median(late)? - median(early)?).abs() > HOST_SECONDS;
    changed(early, late, FACTOR).filter(|_| beyond_the_host)
}

fn seconds(times: &[Nanos]) -> Vec<f64> {
    times.iter().map(|time| time.as_secs_f64()).collect()
}
