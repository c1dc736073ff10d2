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
    /// `on − (pre + post)/2` of the shortest times of each, as a share of [`Group::access`].
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
        median(&places.filter_map(|place| Place::new(place, Share::Few)).map(|place| place.access).collect::<Vec<_>>())
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
        let share = Share::of(measured.iter().map(|place| &place.on[..]));
        let mut places: Vec<Place> = measured.iter().filter_map(|place| Place::new(place, share)).collect();
        let blank = leave_out_blank(&mut places, never_written.unwrap_or(0.0));
        let access = median(&places.iter().map(|place| place.access).collect::<Vec<_>>()).filter(|time| *time > 0.0)?;
        for place in &mut places {
            place.share /= access;
            place.tilt /= access;
        }
        scale(&mut places, share, access);
        let scatter = median(&places.iter().map(|place| place.scale).collect::<Vec<_>>()).unwrap_or(LEAST_SCATTER);
        // Thousands of subsets are summarised, and sorting what is sorted costs little.
        places.sort_unstable_by(|left, right| left.share.total_cmp(&right.share));
        Some(Group { block, access, places, scatter, blank })
    }
}

/// How many of the times of a place are taken together, shortest first. What a host or a link adds is never negative, so
/// that long times say least of the device; but the single shortest one says no more than a clock does that rounds it, and
/// nothing of how far a drifting host was away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Share {
    /// An eighth: the clock is fine.
    Few,
    /// A quarter: times are rounded to steps (this many nanoseconds) that are not small against their scatter, up or down
    /// at random, which only evens out over some.
    Many(f64),
}

impl Share {
    /// By the step of the clock against the middle distance of a place's median from its shortest time.
    pub(super) fn of<'a>(places: impl Iterator<Item = &'a [Nanos]> + Clone) -> Share {
        /// A scatter of fewer steps than this is a coarse clock's.
        const STEPS: f64 = 5.0;
        /// As many times as are enough to tell the step of a clock.
        const ENOUGH: usize = 4096;
        let all: usize = places.clone().map(<[Nanos]>::len).sum();
        let some = places.clone().flatten().step_by(all.div_ceil(ENOUGH).max(1));
        let step = clock_step(some.map(|time| time.as_f64()).collect());
        let spread = |times: &[Nanos]| {
            let least = times.iter().min()?.as_f64();
            Some(median(&times.iter().map(|time| time.as_f64()).collect::<Vec<_>>())? - least)
        };
        let spread = median(&places.filter_map(spread).collect::<Vec<_>>()).unwrap_or(0.0);
        if step * STEPS > spread { Share::Many(step) } else { Share::Few }
    }

    fn count(self, times: usize) -> usize {
        let part = match self {
            Share::Few => 8,
            Share::Many(_) => 4,
        };
        ((times + part / 2) / part).max(1)
    }

    /// Mean of the shortest times; `None` of none.
    pub(super) fn typical(self, times: &[Nanos]) -> Option<f64> {
        let count = self.count(times.len());
        let mut times = times.to_vec();
        if count < times.len() {
            times.select_nth_unstable(count - 1);
        }
        let shortest = times.get(..count)?;
        Some(shortest.iter().map(|time| time.as_f64()).sum::<f64>() / count as f64)
    }
}

impl Place {
    fn new(measured: &Straddle, share: Share) -> Option<Place> {
        let [pre, on, post] = [&measured.pre, &measured.on, &measured.post].map(|times| share.typical(times));
        let (pre, on, post) = (pre?, on?, post?);
        let access = 0.5 * (pre + post);
        let (at, rounds) = (measured.at, measured.on.len());
        Some(Place { at, share: on - access, tilt: pre - post, scale: 0.0, rounds, access })
    }
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

/// Says of each place how far the ones that were read about as often scatter: more reads scatter less. Never less than a
/// coarse clock does, however many places happen to agree.
fn scale(places: &mut [Place], share: Share, access: f64) {
    /// Fewer places than this say nothing of their scatter.
    const FEWEST: usize = 24;
    // Half as often again or two thirds as often is about as often.
    let about = |rounds: usize| ((rounds.max(1) as f64).ln() / 1.5f64.ln()).round() as i32;
    let mut kinds: BTreeMap<i32, Vec<&Place>> = BTreeMap::new();
    places.iter().for_each(|place| kinds.entry(about(place.rounds)).or_default().push(place));
    let known: Vec<(f64, f64)> = kinds
        .values()
        .filter(|kind| kind.len() >= FEWEST)
        .map(|kind| (kind.iter().map(|place| place.rounds as f64).sum::<f64>() / kind.len() as f64, scatter(kind)))
        .collect();
    let all = scatter(&places.iter().collect::<Vec<_>>());
    // Where too few were read as often, those that were read most nearly as often tell, by the root of the ratio.
    let nearest = |rounds: f64| {
        let by_distance = |(other, _): &&(f64, f64)| (other / rounds).ln().abs();
        let found = known.iter().min_by(|a, b| by_distance(a).total_cmp(&by_distance(b)));
        found.map_or(all, |(other, scatter)| scatter * (other / rounds).sqrt())
    };
    // Uniform over one step, in three reads of which two are halved.
    let step = if let Share::Many(step) = share { step / access } else { 0.0 };
    let rounded = |rounds: usize| step * (1.5f64 / 12.0).sqrt() / (share.count(rounds) as f64).sqrt();
    for place in places {
        let rounds = place.rounds.max(1);
        place.scale = nearest(rounds as f64).max(rounded(rounds)).max(LEAST_SCATTER);
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
