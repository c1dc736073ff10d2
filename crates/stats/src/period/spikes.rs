//! The period of events at known positions.

use crate::StatsError;
use crate::error::check_sample;
use crate::line::ordinary_least_squares;
use crate::location::{mad, median};

/// Share of events assumed to be off the comb.
const STRAY: f64 = 0.05;
/// Events looked at; more would only cost time.
const MAX_EVENTS: usize = 300;
/// Neighbours up to this far apart propose periods, divided by up to as much.
const REACH: usize = 4;

/// What counts as a period.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpikeSettings {
    /// Smallest period, in the unit of the positions; above 0.
    pub min_period: f64,
    /// Largest period, in the unit of the positions.
    pub max_period: f64,
    /// Smallest standard deviation of an event about its tooth, in the unit of the positions; above 0. Half a sample
    /// step for positions that are indices.
    pub jitter_floor: f64,
}

/// A comb through the events.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpikePeriod {
    /// Distance of the teeth, in the unit of the positions.
    pub period: f64,
    /// Position of the tooth at the first event.
    pub offset: f64,
    /// Standard deviation of the events about the teeth, not below the floor.
    pub jitter: f64,
    /// Share of the teeth within the span that have an event.
    pub filled: f64,
    /// BIC of "anywhere in the span" minus that of this comb, the search charged: above 6 is strong, above 10 very
    /// strong.
    pub gain: f64,
    /// The best comb at a divisor or multiple and by how much its BIC is worse; `None` if none was in range.
    pub rival: Option<(f64, f64)>,
}

/// The comb that explains the events best, `None` if none beats a uniform scatter over the span by BIC. An event is
/// normal about one of the teeth, each equally probable, or stray with 5 %: events may be missing (their teeth stay
/// empty) and a few may be extra. Positions ascending or not; five or more. Only the first 300 are used.
pub fn spike_period(positions: &[f64], settings: SpikeSettings) -> Result<Option<SpikePeriod>, StatsError> {
    check_sample(positions, 5)?;
    if !(settings.min_period > 0.0 && settings.max_period >= settings.min_period && settings.max_period.is_finite()) {
        return Err(StatsError::BadParameter("period range"));
    }
    if !(settings.jitter_floor > 0.0 && settings.jitter_floor.is_finite()) {
        return Err(StatsError::BadParameter("jitter_floor"));
    }
    let mut events = positions.to_vec();
    events.sort_unstable_by(f64::total_cmp);
    events.truncate(MAX_EVENTS);
    let n = events.len() as f64;
    // Widened by one mean gap, so that the ends are not known exactly for free.
    let span = (events[events.len() - 1] - events[0]) * n / (n - 1.0);
    if span <= 0.0 {
        return Err(StatsError::NoSpread);
    }
    let candidates = candidates(&events, &settings);
    let search = 2.0 * (candidates.len().max(1) as f64).ln();
    let combs = candidates.iter().filter_map(|&p| Comb::fit(&events, p, span, &settings));
    let Some(best) = combs.min_by(|a, b| a.bic.total_cmp(&b.bic)) else { return Ok(None) };
    let gain = 2.0 * n * span.ln() - best.bic - search;
    if gain <= 0.0 {
        return Ok(None);
    }
    let in_range = |p: &f64| (settings.min_period..=settings.max_period).contains(p);
    let rival = (2..=6)
        .flat_map(|k| [best.period / f64::from(k), best.period * f64::from(k)])
        .filter(in_range)
        .filter_map(|p| Comb::fit(&events, p, span, &settings))
        .map(|comb| (comb.period, comb.bic - best.bic))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let Comb { period, offset, jitter, filled, .. } = best;
    Ok(Some(SpikePeriod { period, offset, jitter, filled, gain, rival }))
}

/// Gaps between near neighbours over small whole numbers, those that agree within the jitter once only.
fn candidates(events: &[f64], settings: &SpikeSettings) -> Vec<f64> {
    let mut periods: Vec<f64> = (1..=REACH)
        .flat_map(|lag| events.windows(lag + 1).map(move |w| w[lag] - w[0]))
        .flat_map(|gap| (1..=REACH).map(move |k| gap / k as f64))
        .filter(|p| (settings.min_period..=settings.max_period).contains(p))
        .collect();
    periods.sort_unstable_by(f64::total_cmp);
    let mut last = f64::NEG_INFINITY;
    periods.retain(|&p| {
        let keep = p - last >= 0.25 * settings.jitter_floor;
        if keep {
            last = p;
        }
        keep
    });
    periods
}

struct Comb {
    period: f64,
    offset: f64,
    jitter: f64,
    filled: f64,
    bic: f64,
}

impl Comb {
    /// Numbers the events by counting periods from neighbour to neighbour (a wrong period then does not add up over the
    /// span), fits a line through them twice, the second time without the stray ones, and takes the likelihood.
    fn fit(events: &[f64], period: f64, span: f64, settings: &SpikeSettings) -> Option<Self> {
        let mut number = 0.0;
        let mut numbers = vec![0.0];
        for gap in events.windows(2).map(|w| w[1] - w[0]) {
            number += (gap / period).round();
            numbers.push(number);
        }
        let first = ordinary_least_squares(&numbers, events).ok()?;
        let (near, at): (Vec<f64>, Vec<f64>) = numbers
            .iter()
            .zip(events)
            .zip(&first.residuals)
            .filter(|(_, r)| r.abs() < 0.25 * period)
            .map(|((k, e), _)| (*k, *e))
            .unzip();
        let line = ordinary_least_squares(&near, &at).ok().filter(|l| l.slope > 0.0)?;
        let (period, start) = (line.slope, line.intercept);
        let residuals: Vec<f64> = events.iter().map(|e| e - start - ((e - start) / period).round() * period).collect();
        let offset = start + median(&residuals)?;
        let jitter = mad(&residuals)?.max(settings.jitter_floor);
        let teeth = (span / period).max(1.0);
        let constant = (1.0 - STRAY) / teeth / (jitter * std::f64::consts::TAU.sqrt());
        let density = |e: &f64| {
            let from_tooth = (e - offset) - ((e - offset) / period).round() * period;
            (constant * (-0.5 * (from_tooth / jitter).powi(2)).exp() + STRAY / span).ln()
        };
        let log_likelihood: f64 = events.iter().map(density).sum();
        let mut hit: Vec<f64> = events.iter().map(|e| ((e - offset) / period).round()).collect();
        hit.dedup();
        let reached = hit[hit.len() - 1] - hit[0] + 1.0;
        // Period, offset and jitter are fitted.
        let bic = -2.0 * log_likelihood + 3.0 * (events.len() as f64).ln();
        Some(Self { period, offset, jitter, filled: hit.len() as f64 / reached, bic })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::simulate::{close, normal};

    const SETTINGS: SpikeSettings = SpikeSettings { min_period: 2.0, max_period: 500.0, jitter_floor: 0.5 };

    #[test]
    fn finds_the_comb_despite_gaps_jitter_and_strays() {
        let mut rng = Rng::new(171);
        let mut right = 0;
        for _ in 0..30 {
            let mut events: Vec<f64> = (0..60)
                .filter(|_| rng.unit() < 0.8)
                .collect::<Vec<i32>>()
                .into_iter()
                .map(|k| 7.0 + 37.0 * f64::from(k) + normal(&mut rng))
                .collect();
            events.extend([500.0 + 10.0 * rng.unit(), 1200.0 + 10.0 * rng.unit()]);
            let found = spike_period(&events, SETTINGS).unwrap().unwrap();
            if (found.period - 37.0).abs() < 0.2 {
                right += 1;
                assert!(found.gain > 10.0 && found.rival.unwrap().1 > 6.0, "{found:?}");
                close(found.jitter, 1.0, 0.6);
                close(found.filled, 0.8, 0.2);
            }
        }
        assert!(right >= 28, "{right} of 30");
    }

    #[test]
    fn random_events_have_no_comb() {
        let mut rng = Rng::new(172);
        let false_alarms = (0..40).filter(|_| {
            let events: Vec<f64> = (0..30).map(|_| 2000.0 * rng.unit()).collect();
            spike_period(&events, SETTINGS).unwrap().is_some_and(|p| p.gain > 6.0)
        });
        assert!(false_alarms.count() <= 2);
    }

    #[test]
    fn exact_and_degenerate_positions() {
        let exact: Vec<f64> = (0..12).map(|k| 64.0 * f64::from(k)).collect();
        let found = spike_period(&exact, SETTINGS).unwrap().unwrap();
        close(found.period, 64.0, 1e-9);
        close(found.filled, 1.0, 1e-12);
        assert_eq!(spike_period(&[3.0; 6], SETTINGS), Err(StatsError::NoSpread));
        assert!(spike_period(&[1.0, 2.0], SETTINGS).is_err());
        assert!(spike_period(&exact, SpikeSettings { jitter_floor: 0.0, ..SETTINGS }).is_err());
    }
}
