//! Which stretch to read next, until it is known where units begin.

use super::{Changes, Known, Seen};
use crate::Choice;
use crate::alignment::straddling::small_block;
use flashscope_model::plan::{Slide, Span};
use flashscope_model::{DeviceFacts, Experiment};
use flashscope_units::{Bytes, Nanos};

/// Distance of the places of the first run.
const STEP: Bytes = Bytes::kib(128);

/// Most places of the first run.
const MOST_PLACES: u64 = 2048;

/// Fewest places that show anything.
const FEWEST_PLACES: u32 = 64;

/// As these, of a device that reads ahead behind every read, and so goes on into another unit before the host does: by no
/// more than half of such a step.
const BEYOND_AHEAD: (Bytes, u64) = (Bytes::mib(1), 1024);

/// Where the first runs show nothing, places are this many times as far apart: the same reads meet so many times the changes of
/// large units, which are few in a short stretch.
const WIDER: u64 = 4;

/// Runs with places close to each other before that.
const CLOSE_RUNS: usize = 2;

/// So far behind multiples of the steps the places lie: units begin right before a place, and no read crosses an edge.
const OFF_MULTIPLES: Bytes = Bytes::kib(64);

/// Rounds of the first run, and of those that follow where no unit shows otherwise.
const ROUNDS: [u32; 4] = [4, 4, 8, 16];

/// Places of each unit in the runs that say where it begins.
const PLACES_OF_UNIT: u64 = 8;

/// Reads of each place, all units together, in the runs that say where a unit begins.
const READS: u64 = 192;

/// How often a run that says where a unit begins is done.
const MOST_TIMES: usize = 3;

/// The next run, or `None` where none is worth its reads.
pub(in crate::alignment) fn wanted(
    device: &DeviceFacts,
    seen: &Seen,
    rest: Nanos,
    known: Known,
    within: Option<Span>,
) -> Option<Choice> {
    let part = within.unwrap_or(Span { start: Bytes::ZERO, length: device.capacity });
    let (step, most) = if rest > Nanos::ZERO { BEYOND_AHEAD } else { (STEP, MOST_PLACES) };
    let off = OFF_MULTIPLES + small_block(device);
    let close = descending(device, part, (step, most), off);
    // What is known to hold data may grow meanwhile; the places stay.
    let first = seen.first.as_ref().map_or(close.clone(), |first| Slide {
        starts: first.starts.clone(),
        step: first.step,
        places: first.places,
        ..close.clone()
    });
    let times = seen.times(&first);
    // Runs before those over these places.
    let before = if first.step > step { CLOSE_RUNS } else { 0 };
    let rounds = |runs: usize| ROUNDS.iter().skip(before).take(runs.max(1)).sum();
    let (plan, why) = match (&seen.found, seen.in_turn) {
        (None, _) if times == 0 || !known.unit => {
            let wider = descending(device, part, (step * WIDER, most), off);
            let goes_wider = before == 0 && times == CLOSE_RUNS && wider.places > close.places / 2;
            let plan = if goes_wider { wider } else { first };
            (
                Slide { rounds: *ROUNDS.get(before + times)?, ..plan },
                "whether the first read in a unit takes longer than others",
            )
        }
        (Some(_), None) if seen.again.is_none() => {
            (Slide { rounds: rounds(times), ..first }, "whether the first read in a unit takes longer each time")
        }
        (Some(found), None) if seen.holds() => {
            let plan = in_turn(&first, found.size)?;
            (Slide { rounds: rounds(times.saturating_sub(1)), ..plan }, "whether what stands out is a change of units")
        }
        (Some(found), Some(false)) if rest == Nanos::ZERO => (halve(device, found, known, part)?, "where units begin"),
        _ => return None,
    };
    let enough = if seen.found.is_some() && seen.again.is_some() { MOST_TIMES } else { ROUNDS.len() + 1 };
    (plan.places >= FEWEST_PLACES && seen.times(&plan) < enough)
        .then(|| Choice { experiment: Experiment::Slide(plan), why: why.to_owned() })
}

/// Places that lie in the middle of the interval in which units begin, and at eighths of a unit from there.
fn halve(device: &DeviceFacts, found: &Changes, known: Known, part: Span) -> Option<Slide> {
    let page = known.page?;
    let mut begins = found.begins(page, known.phase);
    if begins.len() < 2 || (begins[0] == Bytes::ZERO && known.edges) {
        return None;
    }
    // An interval may go on from the end of a unit to its start: the widest gap lies outside.
    let after = |index: usize| begins.get(index + 1).copied().unwrap_or(begins[0] + found.size);
    let gap = (0..begins.len()).max_by_key(|index| after(*index) - begins[*index]).unwrap_or(0);
    let count = begins.len();
    begins.rotate_left((gap + 1) % count);
    // Off the edge of a page, so that no read is in two units.
    let at = (begins[begins.len() / 2] + found.size).saturating_sub(page / 2).align_down(device.logical_block);
    let step = found.size / PLACES_OF_UNIT;
    let plan = descending(device, part, (step, MOST_PLACES), at);
    let units = (step * u64::from(plan.places) / found.size).max(1);
    step.is_multiple_of(device.logical_block).then(|| Slide { rounds: (READS / units).clamp(4, 48) as u32, ..plan })
}

/// The same places as two stretches whose reads take turns, each longer than a unit.
fn in_turn(plan: &Slide, unit: Bytes) -> Option<Slide> {
    /// Places left out between the stretches, which tells them apart.
    const GAP: u32 = 2;
    let places = plan.places.saturating_sub(GAP) / 2;
    let first = *plan.starts.first()?;
    let starts = vec![first, first + plan.step * u64::from(places + GAP)];
    (plan.step * u64::from(places) > unit).then(|| Slide { starts, places, ..plan.clone() })
}

/// Places this far apart, in the first half of a part of the device; `at` is one of them, or some steps away.
fn descending(device: &DeviceFacts, part: Span, (step, most): (Bytes, u64), at: Bytes) -> Slide {
    let places = (part.length.saturating_sub(step * 2) / step).min(most);
    // Behind an area at the start, and before the place where the flash of most fakes ends.
    let before = part.length.saturating_sub(step * (places + 2)) / 8;
    let first = (part.start + before).align_down(step) + step + Bytes(at.get() % step.get());
    Slide {
        block: small_block(device),
        step,
        starts: vec![first],
        places: u32::try_from(places).unwrap_or(u32::MAX),
        rounds: ROUNDS[0],
        descending: true,
    }
}
