//! Stalls of collection: long sequential writes over unit after unit, of which a few take far longer than those around them.
//!
//! What was open before has to be closed when the first units of a stretch are begun, and closing copies: as many units as can be
//! open say nothing of collection.

use crate::drive::slc_cache;
use crate::numbers::{digits, median};
use flashscope_model::finding::Collection;
use flashscope_model::{Estimate, ExperimentName, Observations, Reason};
use flashscope_units::{Bytes, Nanos};

/// A write is stalled that takes this many times the median of its surroundings …
const FAR_OFF: f64 = 3.0;

/// … and this many seconds more than it.
const LEAST_STALL: f64 = 10e-3;

/// Writes on either side that are its surroundings: where a cache is full all are slower, and none of them stalls.
const AROUND: usize = 16;

/// Fewer stalls say nothing of their spacing.
const LEAST_STALLS: usize = 3;

/// Stalls in more than one of this many units are no collection that comes now and then.
const LEAST_SPACING: u64 = 2;

/// How long stalls are, and how far apart. `unit` is the allocation unit, `open` how many of them can be open for sequential writes.
pub(super) fn estimate(
    observations: &Observations,
    unit: &Estimate<Bytes>,
    open: &Estimate<u32>,
) -> Estimate<Collection> {
    let stretches = slc_cache::stretches(observations);
    if stretches.is_empty() {
        return Estimate::unknown(Reason::NotMeasured, "nothing long was written sequentially");
    }
    let (Some(unit), Some(open)) = (unit.value(), open.value().or(open.least())) else {
        return Estimate::unknown(
            Reason::NeedsAnother,
            "without an allocation unit, or a number of open ones, closing a unit looks like collection",
        );
    };
    let mut stalls: Vec<f64> = Vec::new();
    let mut written = Bytes::ZERO;
    for stretch in &stretches {
        let opening = ((unit * u64::from(open)).get().div_ceil(stretch.block.get())) as usize;
        let counted = stretch.seconds.len().saturating_sub(opening);
        written += stretch.block * counted as u64;
        stalls.extend(beyond_surroundings(&stretch.seconds).skip(opening).flatten());
    }
    if stalls.len() < LEAST_STALLS {
        let seen = if stalls.is_empty() { "no".to_owned() } else { stalls.len().to_string() };
        return Estimate::unknown(
            Reason::TooFew,
            format!(
                "{seen} stalls in {written} written sequentially behind the first {open} units: too few to tell their spacing"
            ),
        );
    }
    let spacing = written / stalls.len() as u64;
    if spacing < unit * LEAST_SPACING {
        return Estimate::unknown(
            Reason::Ambiguous,
            format!(
                "{} stalls in {written} written sequentially: nearly as many as units were begun, so that closing others may be why",
                stalls.len()
            ),
        );
    }
    stalls.sort_by(f64::total_cmp);
    let time = |seconds: f64| Nanos((seconds * 1e9) as u64);
    let stall = time(median(&stalls).unwrap_or_default());
    let found = Collection { stall, shortest: time(stalls[0]), longest: time(stalls[stalls.len() - 1]), spacing };
    let evidence = format!(
        "{} stalls of {} to {} in {written} written sequentially behind the first {open} units, {} times the usual write or more",
        stalls.len(),
        found.shortest,
        found.longest,
        digits(FAR_OFF)
    );
    Estimate::known(found, within_twice(stalls.len()), evidence, &[ExperimentName::SlcCache])
}

/// By how much each write that stalls takes longer than those around it.
fn beyond_surroundings(seconds: &[f64]) -> impl Iterator<Item = Option<f64>> {
    (0..seconds.len()).map(|at| {
        let around = &seconds[at.saturating_sub(AROUND)..(at + AROUND + 1).min(seconds.len())];
        let usual = median(around)?;
        let over = seconds[at] - usual;
        (over > LEAST_STALL && over > (FAR_OFF - 1.0) * usual).then_some(over)
    })
}

/// Probability that the spacing is right within a factor of two, with stalls that come at random: of a mean that n of them
/// leave open, e^−λ λ^(n−½) (the posterior of a Poisson mean under Jeffreys's prior), the share between half of n and twice n.
fn within_twice(stalls: usize) -> f64 {
    let n = stalls as f64;
    let density = |mean: f64| (-mean + (n - 0.5) * mean.ln() - ((n - 0.5) * n.ln() - n)).exp();
    let area = |low: f64, high: f64| -> f64 {
        /// Steps of the sum (midpoint rule).
        const STEPS: u32 = 400;
        let width = (high - low) / f64::from(STEPS);
        (0..STEPS).map(|step| density(low + (f64::from(step) + 0.5) * width) * width).sum()
    };
    area(n / 2.0, n * 2.0) / area(0.0, n * 4.0 + 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spacing_of_more_stalls_is_surer() {
        let check = |stalls, low: f64, high: f64| {
            let sure = within_twice(stalls);
            assert!((low..high).contains(&sure), "{stalls}: {sure}");
        };
        // By the incomplete gamma function: 0.84, 0.92, 0.98.
        check(3, 0.78, 0.88);
        check(5, 0.88, 0.95);
        check(10, 0.96, 0.995);
    }

    #[test]
    fn a_lasting_fall_is_no_stall() {
        let mut seconds = vec![0.02; 60];
        seconds.extend([0.1; 60]);
        assert_eq!(beyond_surroundings(&seconds).flatten().count(), 0);
        seconds[30] = 0.5;
        seconds[100] = 0.9;
        let stalls: Vec<f64> = beyond_surroundings(&seconds).flatten().collect();
        assert_eq!(stalls.len(), 2);
        assert!((stalls[0] - 0.48).abs() < 1e-9 && (stalls[1] - 0.8).abs() < 1e-9, "{stalls:?}");
    }
}
