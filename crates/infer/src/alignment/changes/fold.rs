//! Reads of a stretch folded by a size: which interval of it stands out.

use flashscope_model::observation::{ScatterPlace, SlideData};
use flashscope_stats::location::{MAD_NORMAL_FACTOR, mad_raw, median};
use flashscope_units::Bytes;

/// Fewest steps in a unit: the edge of a shorter one would lie in half of all intervals.
const FEWEST_OF_UNIT: u64 = 4;

/// Neighbours on each side that a place is compared with.
const NEIGHBOURS: usize = 4;

/// Standard deviations above its neighbours from which on a place counts as no further: one slow read is no edge.
const CLIPPED: f64 = 4.0;

/// Least that the logarithm of the odds of a size and phase comes to.
pub(super) const LEAST: f64 = -60.0;

/// What speaks for each interval in which units of one size may begin, as a log likelihood.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fold {
    pub(super) size: Bytes,
    /// Before the first interval.
    pub(super) first: Bytes,
    /// Length of the intervals.
    pub(super) step: Bytes,
    pub(super) ln: Vec<f64>,
    pub(super) top: f64,
}

/// Reads of one stretch: how far each place but the last stands above its neighbours, in nanoseconds. The last of a stretch
/// is read first, behind one that is far away.
pub(super) struct Stretch {
    pub(super) first: Bytes,
    pub(super) step: Bytes,
    pub(super) above: Vec<f64>,
    /// The same, where a host that was away for once counts as little.
    pub(super) clipped: Vec<f64>,
    pub(super) deviation: f64,
}

impl Fold {
    /// Of a stretch, given what speaks for `count` reads of this mean.
    pub(super) fn of(stretch: &Stretch, size: Bytes, ln: impl Fn(f64, usize) -> f64) -> Option<Fold> {
        if !size.is_multiple_of(stretch.step) || size < stretch.step * FEWEST_OF_UNIT {
            return None;
        }
        let intervals = (size / stretch.step) as usize;
        let mut sums = vec![0.0; intervals];
        for unit in stretch.clipped.chunks(intervals) {
            sums.iter_mut().zip(unit).for_each(|(sum, place)| *sum += place);
        }
        let (units, rest) = (stretch.clipped.len() / intervals, stretch.clipped.len() % intervals);
        let of = |(index, sum): (usize, f64)| {
            let count = units + usize::from(index < rest);
            ln(sum / count.max(1) as f64, count)
        };
        let ln: Vec<f64> = sums.into_iter().enumerate().map(of).collect();
        let top = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(Fold { size, first: Bytes(stretch.first.get() % size.get()), step: stretch.step, ln, top })
    }

    /// Whether one interval stands out. Where units begin right at the places, the reads there are in two units, and two
    /// intervals do.
    pub(super) fn is_clear(&self) -> bool {
        self.ln.iter().filter(|ln| **ln > 0.5 * self.top).count() == 1
    }

    /// Whether no interval stands out but the best one and those right beside it: units that are no multiples of the steps
    /// show at several of a multiple of theirs.
    pub(super) fn stands_alone(&self) -> bool {
        let best = self.ln.iter().position(|ln| *ln == self.top).unwrap_or(0);
        let apart = |index: usize| index.abs_diff(best).min(self.ln.len() - index.abs_diff(best));
        self.ln.iter().enumerate().all(|(index, ln)| apart(index) <= 1 || *ln <= 0.5 * self.top)
    }

    /// What speaks for units that begin at this phase.
    pub(super) fn ln_at(&self, phase: Bytes) -> f64 {
        let size = self.size.get();
        let behind = (phase.get() % size + 2 * size - self.first.get() - 1) % size;
        self.ln.get((behind / self.step.get()) as usize).copied().unwrap_or(LEAST)
    }
}

/// What speaks for units of a size, where it is known what the first read in one takes more.
pub(super) fn given_cost(stretch: &Stretch, size: Bytes, cost: f64) -> Option<Fold> {
    let variance = stretch.deviation.powi(2);
    Fold::of(stretch, size, |mean, count| count as f64 * cost * (mean - 0.5 * cost) / variance)
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

pub(super) fn pieces(data: &SlideData) -> Vec<&[ScatterPlace]> {
    data.places.chunk_by(|place, next| next.at <= place.at + data.step).collect()
}

pub(super) fn stretches(run: &SlideData) -> Vec<Stretch> {
    pieces(run).into_iter().filter_map(|piece| stretch(piece, run.step)).collect()
}

/// Mean of the shorter half. The single shortest time, though it scatters less, is now and then far above the others, and
/// chance would look like a change.
pub(super) fn typical(place: &ScatterPlace) -> Option<f64> {
    let mut times = place.times.clone();
    times.sort_unstable();
    times.truncate(times.len().div_ceil(2));
    (!times.is_empty()).then(|| mean(&times.iter().map(|time| time.as_f64()).collect::<Vec<_>>()))
}

/// Compares each place with its neighbours, so that neither a drifting host nor a slower part of the device counts.
pub(super) fn stretch(places: &[ScatterPlace], step: Bytes) -> Option<Stretch> {
    let times: Vec<f64> = places.iter().map(typical).collect::<Option<_>>()?;
    let others = |index: usize| {
        let around = index.saturating_sub(NEIGHBOURS)..(index + NEIGHBOURS + 1).min(times.len());
        median(&around.filter(|other| *other != index).map(|other| times[other]).collect::<Vec<_>>())
    };
    let last = times.len().checked_sub(1)?;
    let above: Vec<f64> = (0..last).map(|index| Some(times[index] - others(index)?)).collect::<Option<_>>()?;
    let deviation = mad_raw(&above)? * MAD_NORMAL_FACTOR;
    let most = CLIPPED * deviation;
    let clipped = above.iter().map(|above| above.clamp(-most, most)).collect();
    (deviation > 0.0).then(|| Stretch { first: places[0].at, step, above, clipped, deviation })
}
