//! In which order what a device holds was written.
//!
//! A long read of what was written sequentially touches few rows of the flash, and as many at one place as at another. What
//! was written randomly lies in pieces all over the chips, and how many of them meet in one chip is a matter of chance: long
//! reads of one place then take longer than those of another, each time. So long reads are compared with those of a stretch that
//! was just written sequentially, and of one that was just written randomly: whether these differ says whether order shows on
//! this device at all. Where nothing was written, their scatter is compared with that of short reads. A device that takes
//! sequential writes unevenly was hardly written in order.

use super::seen::{Both, Seen};
use super::{Raw, uneven};
use flashscope_stats::location::quantile;

/// What can be true; what lies between is neither.
pub(super) const ANSWERS: [&str; 3] = [SEQUENTIAL, "spread", "neither"];
/// See [`ANSWERS`].
pub(super) const SEQUENTIAL: &str = "sequential";

pub(super) struct SeenOrder {
    pub(super) raw: Raw,
    pub(super) evidence: String,
}

/// `None` where no place is known to hold data: these might be reads of nothing.
pub(super) fn look(seen: &Seen) -> Option<SeenOrder> {
    let reads = |both: &Both| both.long.as_ref().map(|long| long.other.clone());
    let device = reads(&seen.device)?;
    let (low, high) = ends(&device)?;
    let said = format!("nine in ten long reads take {:.0} to {:.0} µs", low / 1e3, high / 1e3);
    let beside = |(low, high): (f64, f64)| format!("{:.0} to {:.0} µs", low / 1e3, high / 1e3);
    let raw = |regime: String, score: f64| Raw { question: super::ORDER, regime, score };
    // No scatter is finer than a clock shows.
    let wider = |other: (f64, f64)| ((high - low).max(STEP) / (other.1 - other.0).max(STEP)).ln();

    let Some(in_order) = seen.in_order.as_ref().and_then(reads).filter(|times| !times.is_empty()) else {
        let short = ends(&seen.device.short.other)?;
        let evidence = format!("{said}, short ones {}", beside(short));
        return Some(SeenOrder { raw: raw("compared with short reads".to_owned(), wider(short)), evidence });
    };
    let known = ends(&in_order)?;
    let evidence = format!("{said}, and {} of what was just written sequentially", beside(known));
    let writes = uneven::share(&seen.writes).map_or("few writes", uneven::word);
    let Some(shuffled) = seen.shuffled.as_ref().and_then(|reads| Some((reads, ends(reads)?))) else {
        return Some(SeenOrder {
            raw: raw(format!("compared with what was written; {writes}"), wider(known)),
            evidence,
        });
    };
    let apart = if are_apart(&in_order, shuffled.0) { "which differ" } else { "which hardly differ" };
    let nearer = (distance(&device, shuffled.0)?.max(LEAST) / distance(&device, &in_order)?.max(LEAST)).ln();
    let evidence = format!("{evidence}, {} of what was just written randomly", beside(shuffled.1));
    let regime = format!("compared with sequential and random writes; {apart}; {writes}");
    Some(SeenOrder { raw: raw(regime, nearer), evidence })
}

/// A microsecond, in nanoseconds.
const STEP: f64 = 1e3;

/// Distances below a tenth of a microsecond are none.
const LEAST: f64 = 100.0;

/// Reads of two kinds differ where they are further apart than one kind is from itself, by this: 4.5 times.
const APART: f64 = 4.5;

/// Whether sequential and random writes read differently on this device, as far as that stands out of their scatter.
fn are_apart(in_order: &[f64], shuffled: &[f64]) -> bool {
    let half = |rest: usize| -> Vec<f64> { in_order.iter().skip(rest).step_by(2).copied().collect() };
    let by_chance = distance(&half(0), &half(1)).unwrap_or(0.0).max(2.0 * LEAST);
    distance(in_order, shuffled).is_some_and(|apart| apart >= APART * by_chance)
}

/// How far two samples are apart: the mean distance of their deciles.
fn distance(one: &[f64], other: &[f64]) -> Option<f64> {
    let deciles = (1..10).map(|tenth| f64::from(tenth) / 10.0);
    let apart: Option<Vec<f64>> = deciles.map(|p| Some((quantile(one, p)? - quantile(other, p)?).abs())).collect();
    apart.map(|apart| apart.iter().sum::<f64>() / 9.0)
}

/// The tenth and the ninetieth of a hundred.
fn ends(times: &[f64]) -> Option<(f64, f64)> {
    Some((quantile(times, 0.1)?, quantile(times, 0.9)?))
}
