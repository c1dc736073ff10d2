//! Bits per cell: pages that share their cells take different times to read, one time for each bit.
//!
//! Where the kinds follow each other in turn, rows in a fixed distance are of one kind, and the mean of them all shows
//! differences that no single place does. Where they do not, the times of single places must form clusters.

use super::parallel;
use crate::Choice;
use crate::alignment::Kinds;
use crate::numbers::{SEEN, median};
use crate::reading::readable;
use crate::situation::Situation;
use flashscope_model::observation::CellsData;
use flashscope_model::plan::{Cells, Span};
use flashscope_model::{Data, Estimate, Experiment, ExperimentName, Observations, Reason};
use flashscope_stats::mixture::{MixtureSettings, fit_mixture};
use flashscope_units::{Bytes, Nanos};

/// Places in an adaptive run.
const PLACES: u32 = 96;
/// Reads of each place in an adaptive run.
const REPEATS: u32 = 24;

/// Pages one stripe apart, once the stripe is known: each is of another row than its neighbours.
pub(crate) fn choice(now: &Situation) -> Option<Choice> {
    if now.has(|data| matches!(data, Data::Cells(_))) {
        return None;
    }
    let stripe = parallel::estimate(Some(now.device), now.observations, now.memo).stripe;
    let step = stripe.value().filter(|_| stripe.confidence().is_some_and(|sure| sure >= 0.9))?;
    let whole = Span { start: Bytes::ZERO, length: now.device.capacity };
    let span = readable(now).unwrap_or(whole);
    let start = (span.start + span.length / 3).align_down(step);
    let room = (span.start + span.length).saturating_sub(start) / step;
    let places = u32::try_from(room.min(u64::from(PLACES))).unwrap_or(PLACES);
    (places >= 24).then(|| Choice {
        experiment: Experiment::Cells(Cells { block: now.block(Bytes::kib(4)), start, step, places, repeats: REPEATS }),
        why: "whether there are kinds of pages, one for each bit of a cell".into(),
    })
}

/// Most bits that a cell holds.
const MOST_BITS: usize = 4;

/// Kinds closer than this share of a time are one.
const LEAST_APART: f64 = 0.02;

/// … and those closer than this many times their scatter.
const GAP: f64 = 5.0;

/// The share of places that the rarest kind has at the least, of an even share.
const LEAST_SHARE: f64 = 0.4;

/// The number of kinds.
pub(crate) fn estimate(observations: &Observations) -> Estimate<u32> {
    let last = observations.runs.iter().rev().find_map(|run| match &run.data {
        Data::Cells(data) => Some(data),
        _ => None,
    });
    let Some(data) = last else { return Estimate::not_measured() };
    let low: Vec<f64> = data
        .places
        .iter()
        .filter(|place| place.times.len() >= 4)
        .filter_map(|place| {
            let mut times: Vec<f64> = place.times.iter().map(|time| time.as_f64()).collect();
            times.sort_by(f64::total_cmp);
            times.truncate((times.len() / 4).max(1));
            median(&times).filter(|time| *time > 0.0).map(f64::ln)
        })
        .collect();
    if low.len() < 24 {
        return Estimate::unknown(Reason::TooFew, "too few pages could be read");
    }
    if let Some(turn) = in_turn(&low).filter(|_| low.len() == data.places.len()) {
        let evidence =
            format!("pages take {} to read in turn, on average over {} of each", in_words(&turn.means), turn.each);
        return Estimate::known(turn.means.len() as u32, SEEN, evidence, &[ExperimentName::Cells]);
    }
    clusters(&low, clock_step(data))
}

/// Adds what reads around boundaries show of kinds of pages.
pub(super) fn settle(bits: &mut Estimate<u32>, kinds: &Kinds) {
    if bits.is_unknown() && kinds.sure >= GOOD_ENOUGH {
        let evidence = format!(
            "rows of {} take turns at {} kinds of pages, the slowest of which takes {} more to read ({} edges)",
            kinds.row, kinds.count, kinds.apart, kinds.edges
        );
        *bits = Estimate::known(kinds.count, kinds.sure, evidence, &[ExperimentName::Boundaries]);
    }
}

/// A turn that is less sure than this says nothing of the cells.
const GOOD_ENOUGH: f64 = 0.9;

/// Kinds in a fixed turn.
struct Turn {
    /// Mean of the logarithms of each kind, in rising order.
    means: Vec<f64>,
    /// Places of each kind.
    each: usize,
}

/// How much less must be left unexplained than by one kind of pages, on the scale of −2 ln likelihood.
const SURELY_BETTER: f64 = 20.0;

/// Least distance of two means, in standard errors.
const ERRORS_APART: f64 = 4.0;
/// Least distance of two means, as a share of a time.
const MEANS_APART: f64 = 0.008;

/// The turn in which kinds of pages follow each other, if they do.
fn in_turn(low: &[f64]) -> Option<Turn> {
    let fits = (1..=MOST_BITS).map(|kinds| fold(low, kinds)).collect::<Vec<_>>();
    let count = low.len() as f64;
    let bic = |(means, rest): &(Vec<f64>, f64)| count * (rest / count).max(1e-8).ln() + means.len() as f64 * count.ln();
    let (means, rest) = fits.iter().min_by(|a, b| bic(a).total_cmp(&bic(b)))?;
    let kinds = means.len();
    if kinds < 2 || bic(&fits[0]) - bic(&fits[kinds - 1]) < SURELY_BETTER {
        return None;
    }
    let mut means = means.clone();
    means.sort_by(f64::total_cmp);
    let error = (rest / (count - kinds as f64) * 2.0 * kinds as f64 / count).sqrt();
    let apart = means.windows(2).all(|pair| pair[1] - pair[0] >= MEANS_APART.max(ERRORS_APART * error));
    apart.then(|| Turn { means, each: low.len() / kinds })
}

/// Means of every so-many-th place, and the sum of the squares that they leave over.
fn fold(low: &[f64], kinds: usize) -> (Vec<f64>, f64) {
    let of = |kind: usize| low.iter().skip(kind).step_by(kinds).copied();
    let means: Vec<f64> = (0..kinds).map(|kind| of(kind).sum::<f64>() / of(kind).count() as f64).collect();
    let rest = (0..kinds).flat_map(|kind| of(kind).map(move |time| (kind, time)));
    let rest = rest.map(|(kind, time)| (time - means[kind]).powi(2)).sum();
    (means, rest)
}

fn in_words(logs: &[f64]) -> String {
    let times: Vec<String> = logs.iter().map(|log| Nanos(log.exp() as u64).to_string()).collect();
    times.join(", ")
}

/// What the clock tells times in, as far as they show it: the least that two of them differ by, in nanoseconds.
fn clock_step(data: &CellsData) -> f64 {
    let mut all: Vec<u64> = data.places.iter().flat_map(|place| &place.times).map(|time| time.get()).collect();
    all.sort_unstable();
    all.dedup();
    all.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(0) as f64
}

/// The number of clusters that the times of single places form. Kinds that are no further apart than the clock's steps are
/// the clock's: its times lie in clusters whatever the pages do.
fn clusters(low: &[f64], clock_step: f64) -> Estimate<u32> {
    let settings = MixtureSettings { max_components: MOST_BITS, sd_floor: 0.003 };
    let Ok(mixture) = fit_mixture(low, settings) else {
        return Estimate::unknown(Reason::Ambiguous, "the times fit no kinds of pages");
    };
    let kinds = &mixture.components;
    let even = 1.0 / kinds.len() as f64;
    let apart = kinds.windows(2).all(|pair| {
        let by_clock = pair[1].mean.exp() - pair[0].mean.exp() < 1.5 * clock_step;
        !by_clock && pair[1].mean - pair[0].mean >= LEAST_APART.max(GAP * pair[0].sd.max(pair[1].sd))
    });
    let shared = kinds.iter().all(|kind| kind.weight >= LEAST_SHARE * even);
    let means: Vec<f64> = kinds.iter().map(|kind| kind.mean).collect();
    match kinds.len() {
        1 => Estimate::unknown(
            Reason::NothingShows,
            "all pages take the same time to read: one bit per cell, or the difference does not show",
        ),
        _ if !apart || !shared => {
            Estimate::unknown(Reason::Ambiguous, "the times of pages differ, but in no clear number of kinds")
        }
        count => Estimate::known(
            count as u32,
            SEEN,
            format!("pages take {} to read, each kind about as often", in_words(&means)),
            &[ExperimentName::Cells],
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This many places whose kinds follow each other in turn, each with a scatter as large as what kinds differ by.
    fn kinds(of: &[f64]) -> Option<usize> {
        let scatter = |place: usize| 0.05 * ((place as f64 * 0.618).fract() - 0.5);
        let low: Vec<f64> = (0..96).map(|place| 5.0 + of[place % of.len()] + scatter(place)).collect();
        in_turn(&low).map(|turn| turn.means.len())
    }

    #[test]
    fn steps_of_a_coarse_clock_are_no_kinds_of_pages() {
        let low = |step: f64| (0..96).map(|place| (130e3 + step * f64::from(place % 3)).ln()).collect::<Vec<f64>>();
        assert_eq!(clusters(&low(8e3), 1e3).value(), Some(3));
        assert!(clusters(&low(8e3), 8e3).is_unknown(), "a step of the clock each");
        assert!(clusters(&low(5e3), 10e3).is_unknown(), "half a step, as medians of even numbers have");
    }

    #[test]
    fn a_turn_shows_where_no_single_place_does() {
        assert_eq!(kinds(&[0.0]), None);
        assert_eq!(kinds(&[0.0, 0.05]), Some(2));
        assert_eq!(kinds(&[0.0, 0.04, 0.08]), Some(3));
        assert_eq!(kinds(&[0.0, 0.04, 0.08, 0.12]), Some(4));
        // Less than noise: as good as one kind.
        assert_eq!(kinds(&[0.0, 0.002]), None);
    }
}
