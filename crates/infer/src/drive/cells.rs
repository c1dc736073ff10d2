//! Bits per cell: pages that share their cells take different times to read, one time for each bit.

use super::{NOT_ASKED, parallel};
use crate::Choice;
use crate::numbers::median;
use crate::reading::readable;
use crate::situation::Situation;
use flashscope_model::plan::{Cells, Span};
use flashscope_model::{Data, Estimate, Experiment, Observations};
use flashscope_stats::mixture::{MixtureSettings, fit_mixture};
use flashscope_units::{Bytes, Nanos};

/// Places and reads of each in an adaptive run.
const PLACES: u32 = 72;
const REPEATS: u32 = 16;

/// Pages one stripe apart, once the stripe is known: each is of another row than its neighbours.
pub(crate) fn choice(now: &Situation) -> Option<Choice> {
    if now.has(|data| matches!(data, Data::Cells(_))) {
        return None;
    }
    let (stripe, _) = parallel::estimate(Some(now.device), now.observations, now.memo);
    let step = stripe.value.filter(|_| stripe.confidence.is_some_and(|sure| sure >= 0.9))?;
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

/// The share of places that the rarest kind has at the least, of an even share.
const LEAST_SHARE: f64 = 0.4;

/// The number of kinds.
pub(crate) fn estimate(observations: &Observations) -> Estimate<u32> {
    let last = observations.runs.iter().rev().find_map(|run| match &run.data {
        Data::Cells(data) => Some(data),
        _ => None,
    });
    let Some(data) = last else { return Estimate::unknown(NOT_ASKED) };
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
        return Estimate::unknown("too few pages could be read");
    }
    let settings = MixtureSettings { max_components: MOST_BITS, sd_floor: 0.003 };
    let Ok(mixture) = fit_mixture(&low, settings) else { return Estimate::unknown("the times fit no kinds of pages") };
    let kinds = &mixture.components;
    let even = 1.0 / kinds.len() as f64;
    let apart =
        kinds.windows(2).all(|pair| pair[1].mean - pair[0].mean >= LEAST_APART.max(3.0 * pair[0].sd.max(pair[1].sd)));
    let shared = kinds.iter().all(|kind| kind.weight >= LEAST_SHARE * even);
    let times: Vec<String> = kinds.iter().map(|kind| Nanos(kind.mean.exp() as u64).to_string()).collect();
    match kinds.len() {
        1 => {
            Estimate::unknown("all pages take the same time to read: one bit per cell, or the difference does not show")
        }
        _ if !apart || !shared => Estimate::unknown("the times of pages differ, but in no clear number of kinds"),
        count => Estimate::known(
            count as u32,
            0.95,
            format!("pages take {} to read, each kind about as often", times.join(", ")),
            &["cells"],
        ),
    }
}
