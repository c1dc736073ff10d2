//! Measured places: for every boundary that was read around, its address and its contrast.

use super::changes::Seen;
use super::slid::Slid;
use crate::numbers::clock_step;
use crate::pool::filled;
use flashscope_model::Data;
use flashscope_model::Observations;
use flashscope_model::observation::{Straddle, SurveyPlace};
use flashscope_stats::location::median;
use flashscope_units::{Bytes, Nanos};
use std::collections::BTreeMap;
use std::rc::Rc;

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
    /// Whether the first read in a unit takes longer than others.
    pub(super) seen: Seen,
    /// How long the device must be left alone before each read so that none waits for what it fetches unasked behind the
    /// one before; zero where nothing is gained by it, `None` where that was not tried.
    pub(super) rest: Option<Nanos>,
    /// Capacity of the device, where it is known.
    pub(super) capacity: Option<Bytes>,
    /// See [`never_written`].
    pub(super) never_written: f64,
    /// Runs across every step of two stretches.
    pub(super) slid: Rc<Slid>,
}

#[cfg(test)]
impl Places {
    /// What was measured.
    pub(super) fn of(observations: &Observations) -> crate::memo::Shared<Places> {
        super::gathering::Gathering::default().places(observations)
    }
}

/// Shifts of the grid under which places were chosen; always holds zero.
pub(super) fn phases(observations: &Observations) -> Vec<Bytes> {
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

/// Share of surveyed places that hold nothing but zeros or ones, as erased areas answer; zero without a survey, and where a
/// blank device was filled: reads stay in what was filled, and the rest does not matter any more.
pub(super) fn never_written(observations: &Observations) -> f64 {
    if filled(observations).is_some() {
        return 0.0;
    }
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
    blank as f64 / surveyed.len().max(1) as f64
}

/// All reads around one boundary.
#[derive(Debug)]
pub(super) struct Measured {
    reads: Straddle,
    /// What they say, until there are more of them.
    spread: Option<f64>,
    shares: Option<(bool, Option<Shares>)>,
}

impl Measured {
    /// Adds reads to what was measured.
    pub(super) fn merge(places: &mut BTreeMap<Bytes, Measured>, place: &Straddle) {
        let reads = || Straddle { at: place.at, pre: Vec::new(), on: Vec::new(), post: Vec::new() };
        let known = places.entry(place.at).or_insert_with(|| Measured { reads: reads(), spread: None, shares: None });
        known.reads.pre.extend(&place.pre);
        known.reads.on.extend(&place.on);
        known.reads.post.extend(&place.post);
        (known.spread, known.shares) = (None, None);
    }

    fn spread(&mut self) -> Option<f64> {
        self.spread = self.spread.or_else(|| spread(&self.reads.on));
        self.spread
    }

    fn place(&mut self, share: Share) -> Option<Place> {
        let many = matches!(share, Share::Many(_));
        let known = self.shares.filter(|(of, _)| *of == many).map(|(_, shares)| shares);
        let shares = known.unwrap_or_else(|| Shares::of(&self.reads, share));
        self.shares = Some((many, shares));
        shares.map(|shares| Place::new(self.reads.at, self.reads.on.len(), &shares))
    }
}

/// The typical times of the three reads of a place, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    pre: f64,
    on: f64,
    post: f64,
}

impl Shares {
    /// `None` where one of them was never done.
    pub(super) fn of(reads: &Straddle, share: Share) -> Option<Shares> {
        let [pre, on, post] = [&reads.pre, &reads.on, &reads.post].map(|times| share.typical(times));
        Some(Shares { pre: pre?, on: on?, post: post? })
    }

    /// Of a read that crosses no boundary.
    pub(super) fn access(&self) -> f64 {
        0.5 * (self.pre + self.post)
    }
}

/// How far the middle of some times lies above the shortest.
fn spread(times: &[Nanos]) -> Option<f64> {
    let least = times.iter().min()?.as_f64();
    Some(median(&times.iter().map(|time| time.as_f64()).collect::<Vec<_>>())? - least)
}

impl Group {
    /// Whether reads of this block can show edges of this size: a read that is larger than a page covers as many pages
    /// when it straddles an edge as when it does not.
    pub(super) fn shows(&self, size: Bytes) -> bool {
        size.get() * 2 > self.block.get()
    }

    /// `None` where no place tells anything.
    pub(super) fn new(block: Bytes, measured: &mut BTreeMap<Bytes, Measured>, never_written: f64) -> Option<Group> {
        let spreads: Vec<f64> = measured.values_mut().filter_map(Measured::spread).collect();
        let share = Share::with(&spreads, measured.values().map(|place| &place.reads.on[..]));
        let mut places: Vec<Place> = measured.values_mut().filter_map(|place| place.place(share)).collect();
        let blank = leave_out_blank(&mut places, never_written);
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
        Share::with(&places.clone().filter_map(spread).collect::<Vec<_>>(), places)
    }

    /// As [`Share::of`], where those distances are known.
    fn with<'a>(spreads: &[f64], places: impl Iterator<Item = &'a [Nanos]> + Clone) -> Share {
        /// A scatter of fewer steps than this is a coarse clock's.
        const STEPS: f64 = 5.0;
        /// As many times as are enough to tell the step of a clock.
        const ENOUGH: usize = 4096;
        let all: usize = places.clone().map(<[Nanos]>::len).sum();
        let of_every =
            |nth: usize| clock_step(places.clone().flatten().step_by(nth).map(|time| time.as_f64()).collect());
        let step = of_every(all.div_ceil(ENOUGH).max(1));
        // Where some are all alike the clock is a coarse one, and it takes all of them to see its step.
        let step = if step == 0.0 { of_every(1) } else { step };
        let spread = median(spreads).unwrap_or(0.0);
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
    /// How far it lies from where a grid begins, in bytes.
    pub(super) fn from(&self, phase: Bytes) -> u64 {
        self.at.get().abs_diff(phase.get())
    }

    fn new(at: Bytes, rounds: usize, times: &Shares) -> Place {
        let access = times.access();
        Place { at, share: times.on - access, tilt: times.pre - times.post, scale: 0.0, rounds, access }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_hardly_ever_shows_its_step_is_coarse() {
        // One time in thousands is a step less than all others, and some of them do not show it.
        let mut places = vec![vec![Nanos(500_000); 16]; 1200];
        places[7][4] = Nanos(375_000);
        assert_eq!(Share::of(places.iter().map(|times| &times[..])), Share::Many(125_000.0));
    }
}
