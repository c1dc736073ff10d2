//! In which order what a device holds was written.
//!
//! A long read of what was written sequentially touches few rows of the flash, and as many at one place as at another. What
//! was written randomly lies in pieces all over the chips, and how many of them meet in one chip is a matter of chance: long
//! reads of one place then take longer than those of another, each time. So how far long reads differ from place to place is
//! compared with the same of a stretch that was just written sequentially, or, where nothing was written, with the same of
//! short reads. A device that takes those writes unevenly was hardly written in order.

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
    let (low, high) = ends(&reads(&seen.device)?)?;
    let said = format!("nine in ten long reads take {:.0} to {:.0} µs", low / 1e3, high / 1e3);
    let raw = |regime: &str, other: (f64, f64)| Raw {
        question: super::ORDER,
        regime: regime.to_owned(),
        // No scatter is finer than a clock shows.
        score: ((high - low).max(STEP) / (other.1 - other.0).max(STEP)).ln(),
    };
    match seen.in_order.as_ref().and_then(|both| ends(&reads(both)?)) {
        Some(known) => {
            let beside = format!("{:.0} to {:.0} µs", known.0 / 1e3, known.1 / 1e3);
            let evidence = format!("{said}, and {beside} of what was just written sequentially");
            let writes = uneven::share(&seen.writes).map_or("few writes", uneven::word);
            Some(SeenOrder { raw: raw(&format!("compared with what was written; {writes}"), known), evidence })
        }
        None => {
            let short = ends(&seen.device.short.other)?;
            let evidence = format!("{said}, short ones {:.0} to {:.0} µs", short.0 / 1e3, short.1 / 1e3);
            Some(SeenOrder { raw: raw("compared with short reads", short), evidence })
        }
    }
}

/// A microsecond, in nanoseconds.
const STEP: f64 = 1e3;

/// The tenth and the ninetieth of a hundred.
fn ends(times: &[f64]) -> Option<(f64, f64)> {
    Some((quantile(times, 0.1)?, quantile(times, 0.9)?))
}
