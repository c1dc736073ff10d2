//! Measured places: for every boundary that was read around, its address and its contrast.

use crate::numbers::clock_step;
use flashscope_model::observation::{AlignEvidence, Data, Straddle, SurveyPlace};
use flashscope_model::{Direction, Observations};
use flashscope_stats::location::median;
use flashscope_units::{Bytes, Nanos};
use std::collections::BTreeMap;

/// Scatter below this share of an access is not believed: two places are never quite alike.
const LEAST_SCATTER: f64 = 0.001;

/// All places that were measured with one block size.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    /// Size of the reads.
    pub(super) block: Bytes,
    /// Typical time of a read that crosses no boundary, in nanoseconds.
    pub(super) access: f64,
    /// The places, smallest contrast first.
    pub(super) places: Vec<Place>,
    /// Typical deviation of a place from others of its kind, as a share of [`Group::access`]; the middle of all.
    pub(super) scatter: f64,
    /// Places that were left out because they answer as never-written ones do.
    pub(super) blank: usize,
}

/// One boundary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    /// Its address.
    pub(super) at: Bytes,
    /// `on − (pre + post)/2` of the shortest times, as a share of [`Group::access`].
    pub(super) share: f64,
    /// `pre − post` of the shortest times, as a share of [`Group::access`].
    pub(super) tilt: f64,
    /// Typical deviation of places that were read so often from others of their kind, as a share of [`Group::access`].
    pub(super) scale: f64,
    /// How often each of its three reads was repeated.
    rounds: usize,
    /// Mean of the minima of `pre` and `post`, in nanoseconds.
    access: f64,
}

/// All that hypotheses on boundaries are weighed by.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Places {
    /// The places by block size, smallest block first.
    pub(super) groups: Vec<Group>,
    /// Shifts of the grid under which places were chosen; always holds zero.
    pub(super) phases: Vec<Bytes>,
    /// How long the device was left alone before each read; see [`rest`].
    pub(super) rest: Option<Nanos>,
    /// Capacity of the device, where it is known.
    pub(super) capacity: Option<Bytes>,
}

impl Places {
    /// What was measured.
    pub(super) fn of(observations: &Observations) -> Places {
        let rest = rest(observations);
        let groups = read_places(observations, rest.is_some_and(|rest| rest > Nanos::ZERO));
        Places { groups, phases: phases(observations), rest, capacity: observations.capacity }
    }
}

/// All places by block size, smallest block first: of the reads that came after a rest, or of those that did not.
fn read_places(observations: &Observations, rested: bool) -> Vec<Group> {
    let mut by_block: BTreeMap<Bytes, BTreeMap<Bytes, Straddle>> = BTreeMap::new();
    for run in &observations.runs {
        match &run.data {
            Data::Boundaries(data) if (data.rest > Nanos::ZERO) == rested => {
                let places = by_block.entry(data.block).or_default();
                data.candidates.iter().flat_map(|candidate| &candidate.places).for_each(|place| merge(places, place));
            }
            Data::Align(data) if data.direction == Direction::Read && data.access == 1 => {
                let Some(block) = data.block else { continue };
                for row in &data.rows {
                    let AlignEvidence::Places(measured) = &row.evidence else { continue };
                    measured.iter().for_each(|place| merge(by_block.entry(block).or_default(), place));
                }
            }
            _ => {}
        }
    }
    let share = never_written(observations);
    by_block.into_iter().filter_map(|(block, places)| Group::new(block, places.into_values(), share)).collect()
}

/// How long the device must be left alone before each read so that none waits for what it fetches unasked behind the
/// one before; zero where nothing is gained by it, `None` where that was not tried.
pub(super) fn rest(observations: &Observations) -> Option<Nanos> {
    /// Reads that waited are slower by this factor at least.
    const WAITED: f64 = 1.1;
    let typical = |block: Bytes, with: &dyn Fn(Nanos) -> bool| {
        let runs = observations.runs.iter().filter_map(|run| match &run.data {
            Data::Boundaries(data) if data.block == block && with(data.rest) => Some(data),
            _ => None,
        });
        let places = runs.flat_map(|data| &data.candidates).flat_map(|candidate| &candidate.places);
        median(&places.filter_map(|place| Place::new(place, 0.0)).map(|place| place.access).collect::<Vec<_>>())
    };
    let (block, rest) = observations.runs.iter().find_map(|run| match &run.data {
        Data::Boundaries(data) if data.rest > Nanos::ZERO => Some((data.block, data.rest)),
        _ => None,
    })?;
    let (Some(at_once), Some(rested)) =
        (typical(block, &|rest| rest == Nanos::ZERO), typical(block, &|own| own == rest))
    else {
        return Some(rest);
    };
    Some(if at_once > WAITED * rested { rest } else { Nanos::ZERO })
}

/// Shifts of the grid under which places were chosen; always holds zero.
fn phases(observations: &Observations) -> Vec<Bytes> {
    let mut offsets: Vec<Bytes> = observations
        .runs
        .iter()
        .filter_map(|run| match &run.data {
            Data::Boundaries(data) => Some(data.offset),
            _ => None,
        })
        .chain([Bytes::ZERO])
        .collect();
    offsets.sort_unstable();
    offsets.dedup();
    offsets
}

/// Share of surveyed places that hold nothing but zeros or ones, as erased areas answer; `None` without a survey.
pub(super) fn never_written(observations: &Observations) -> Option<f64> {
    let surveyed: Vec<&SurveyPlace> = observations
        .runs
        .iter()
        .filter_map(|run| match &run.data {
            Data::Survey(survey) => Some(&survey.places),
            _ => None,
        })
        .flatten()
        .collect();
    let blank = surveyed.iter().filter(|place| matches!(place.uniform, Some(0x00 | 0xff))).count();
    (!surveyed.is_empty()).then(|| blank as f64 / surveyed.len() as f64)
}

fn merge(places: &mut BTreeMap<Bytes, Straddle>, place: &Straddle) {
    let known = places.entry(place.at).or_insert_with(|| Straddle {
        at: place.at,
        pre: Vec::new(),
        on: Vec::new(),
        post: Vec::new(),
    });
    known.pre.extend(&place.pre);
    known.on.extend(&place.on);
    known.post.extend(&place.post);
}

impl Group {
    /// Whether reads of this block can show edges of this size: a read that is larger than a page covers as many pages
    /// when it straddles an edge as when it does not.
    pub(super) fn shows(&self, size: Bytes) -> bool {
        size.get() * 2 > self.block.get()
    }

    fn new(block: Bytes, measured: impl Iterator<Item = Straddle>, never_written: Option<f64>) -> Option<Group> {
        let measured: Vec<Straddle> = measured.collect();
        let step = clock_step(measured.iter().flat_map(times).map(Nanos::as_f64).collect());
        let mut places: Vec<Place> = measured.iter().filter_map(|place| Place::new(place, step)).collect();
        let blank = leave_out_blank(&mut places, never_written.unwrap_or(0.0));
        let access = median(&places.iter().map(|place| place.access).collect::<Vec<_>>()).filter(|time| *time > 0.0)?;
        for place in &mut places {
            place.share /= access;
            place.tilt /= access;
        }
        scale(&mut places);
        let scatter = median(&places.iter().map(|place| place.scale).collect::<Vec<_>>()).unwrap_or(LEAST_SCATTER);
        // Thousands of subsets are summarised, and sorting what is sorted costs little.
        places.sort_unstable_by(|left, right| left.share.total_cmp(&right.share));
        Some(Group { block, access, places, scatter, blank })
    }
}

impl Place {
    /// Of times to a clock of this step, which are rounded up or down at random, the shortest are taken together.
    fn new(measured: &Straddle, step: f64) -> Option<Place> {
        let least = |times: &[Nanos]| {
            let least = times.iter().min()?.as_f64();
            let shortest: Vec<f64> =
                times.iter().map(|time| time.as_f64()).filter(|time| *time <= least + 1.5 * step).collect();
            Some(shortest.iter().sum::<f64>() / shortest.len() as f64)
        };
        let (pre, on, post) = (least(&measured.pre)?, least(&measured.on)?, least(&measured.post)?);
        Some(Place {
            at: measured.at,
            share: on - 0.5 * (pre + post),
            tilt: pre - post,
            scale: 0.0,
            rounds: measured.on.len(),
            access: 0.5 * (pre + post),
        })
    }
}

fn times(place: &Straddle) -> impl Iterator<Item = Nanos> {
    [&place.pre, &place.on, &place.post].into_iter().flatten().copied()
}

/// Removes the places that are much faster than the others where a survey says that there are never-written areas,
/// and counts them. Never-written areas answer without touching the flash, so their contrasts say nothing.
fn leave_out_blank(places: &mut Vec<Place>, never_written: f64) -> usize {
    /// A written place is at least this much slower.
    const FASTER: f64 = 0.75;
    if never_written < 0.02 || places.is_empty() {
        return 0;
    }
    let mut times: Vec<f64> = places.iter().map(|place| place.access).collect();
    times.sort_unstable_by(f64::total_cmp);
    let gap = times.windows(2).min_by(|left, right| (left[0] / left[1]).total_cmp(&(right[0] / right[1])));
    let Some(limit) = gap.filter(|gap| gap[0] < FASTER * gap[1]).map(|gap| gap[1]) else { return 0 };
    let before = places.len();
    places.retain(|place| place.access >= limit);
    before - places.len()
}

/// Says of each place how far the ones that were read as often scatter: minima of more reads scatter less.
fn scale(places: &mut [Place]) {
    /// Fewer places than this say nothing of their scatter.
    const FEWEST: usize = 24;
    let mut rounds: Vec<usize> = places.iter().map(|place| place.rounds).collect();
    rounds.sort_unstable();
    let all = scatter(&places.iter().collect::<Vec<_>>());
    for rounds in rounds.chunk_by(|a, b| a == b).map(|same| same[0]) {
        let same: Vec<&Place> = places.iter().filter(|place| place.rounds == rounds).collect();
        let scatter = if same.len() < FEWEST { all } else { scatter(&same) }.max(LEAST_SCATTER);
        places.iter_mut().filter(|place| place.rounds == rounds).for_each(|place| place.scale = scatter);
    }
}

/// Typical deviation of a place from the middle of the places that have the same small factors.
fn scatter(places: &[&Place]) -> f64 {
    let mut kinds: BTreeMap<(u32, [bool; 3]), Vec<f64>> = BTreeMap::new();
    for place in places {
        let at = place.at.get();
        let kind = (at.trailing_zeros().min(27), [3, 5, 7].map(|odd| at.is_multiple_of(odd)));
        kinds.entry(kind).or_default().push(place.share);
    }
    let (mut deviations, mut used) = (Vec::new(), 0);
    for shares in kinds.values().filter(|shares| shares.len() >= 3) {
        let Some(middle) = median(shares) else { continue };
        deviations.extend(shares.iter().map(|share| (share - middle).abs()));
        used += 1;
    }
    let freedom = deviations.len().saturating_sub(used).max(1) as f64;
    let typical = median(&deviations).unwrap_or(0.01) * flashscope_stats::location::MAD_NORMAL_FACTOR;
    typical * (deviations.len().max(1) as f64 / freedom).sqrt()
}
