//! Epoch folding of an evenly sampled series.

use crate::StatsError;
use crate::error::check_sample;
use crate::ranking::rank;
use crate::test::{KruskalWallis, kruskal_wallis};

/// Fewest whole cycles that make a period.
const MIN_CYCLES: usize = 3;

/// Which periods are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeriodSettings {
    /// Smallest period, in samples; at least 2.
    pub min_period: usize,
    /// Largest period, in samples; capped at a third of the series.
    pub max_period: usize,
}

/// How the series depends on the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// One phase (index modulo period) stands out from all others.
    OnePhase(usize),
    /// Every phase has a level of its own.
    EveryPhase,
}

/// A period that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldedPeriod {
    /// Length in samples.
    pub period: usize,
    /// Which pattern describes it best.
    pub pattern: Pattern,
    /// Rank test over its phases; the p value is for this period alone, not for the search.
    pub rank_test: KruskalWallis,
    /// BIC of "no period" minus that of this one, the search over periods charged: above 6 is strong, above 10 very
    /// strong (Kass and Raftery 1995).
    pub gain: f64,
    /// The divisor or multiple that comes closest, and by how much its BIC is worse; `None` if none could be tried. A
    /// few units mean that the two cannot be told apart.
    pub rival: Option<(usize, f64)>,
}

/// The Kruskal–Wallis test over the phases (index modulo `period`) of a series: epoch folding (Leahy et al.,
/// Astrophysical Journal 266, 1983) with ranks in place of counts, so that a spike weighs by its order only. Needs
/// three whole cycles.
pub fn fold(series: &[f64], period: usize) -> Result<KruskalWallis, StatsError> {
    if period < 2 {
        return Err(StatsError::BadParameter("period"));
    }
    check_sample(series, period.saturating_mul(MIN_CYCLES))?;
    let mut phases = vec![Vec::new(); period];
    for (i, value) in series.iter().enumerate() {
        phases[i % period].push(*value);
    }
    kruskal_wallis(&phases)
}

/// The period that describes the ranks of the series best, or `None` if none beats "no period" by BIC once the number
/// tried is charged. Each period is tried as one phase that stands out and as a level per phase. A drifting series
/// must be detrended first. Cost: length × periods.
pub fn find_period(series: &[f64], settings: PeriodSettings) -> Result<Option<FoldedPeriod>, StatsError> {
    if settings.min_period < 2 || settings.max_period < settings.min_period {
        return Err(StatsError::BadParameter("period range"));
    }
    check_sample(series, settings.min_period.saturating_mul(MIN_CYCLES))?;
    let n = series.len();
    let longest = n / MIN_CYCLES;
    let ranks = Ranked::new(series);
    let tried = settings.min_period..=settings.max_period.min(longest);
    let search = 2.0 * (tried.clone().count() as f64).ln();
    let best = tried.map(|period| (ranks.score(period), period)).min_by(|a, b| a.0.0.total_cmp(&b.0.0));
    let Some(((bic, pattern), period)) = best else { return Ok(None) };
    let gain = ranks.unfolded() - bic - search;
    if ranks.total <= 0.0 || gain <= 0.0 {
        return Ok(None);
    }
    let rival = (2..=longest)
        .filter(|&p| p != period && (p % period == 0 || period % p == 0))
        .map(|p| (p, ranks.score(p).0 - bic))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    Ok(Some(FoldedPeriod { period, pattern, rank_test: fold(series, period)?, gain, rival }))
}

/// Centred ranks of the series.
struct Ranked {
    ranks: Vec<f64>,
    total: f64,
}

impl Ranked {
    fn new(series: &[f64]) -> Self {
        let middle = 0.5 * (series.len() as f64 + 1.0);
        let ranks: Vec<f64> = rank(series).ranks.iter().map(|r| r - middle).collect();
        let total = ranks.iter().map(|r| r * r).sum();
        Self { ranks, total }
    }

    fn unfolded(&self) -> f64 {
        self.bic(0.0, 1.0)
    }

    /// The smaller BIC of the two patterns.
    fn score(&self, period: usize) -> (f64, Pattern) {
        let n = self.ranks.len() as f64;
        let mut sums = vec![(0.0, 0.0); period];
        for (i, rank) in self.ranks.iter().enumerate() {
            sums[i % period].0 += rank;
            sums[i % period].1 += 1.0;
        }
        let every = sums.iter().map(|(sum, count)| sum * sum / count).sum();
        let every = self.bic(every, period as f64);
        // Ranks are centred, so the other phases together have the opposite sum.
        let one = sums.iter().map(|(sum, count)| sum * sum / count + sum * sum / (n - count)).enumerate();
        let (phase, explained) = one.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0));
        // Two levels, and a choice among as many phases as the period has.
        let single = self.bic(explained, 2.0) + 2.0 * (period as f64).ln();
        if single <= every { (single, Pattern::OnePhase(phase)) } else { (every, Pattern::EveryPhase) }
    }

    fn bic(&self, explained: f64, levels: f64) -> f64 {
        let n = self.ranks.len() as f64;
        // Ranks are whole numbers: what is left never counts as less than their rounding, 1/12 each.
        let rest = (self.total - explained).max(n / 12.0);
        n * (rest / n).ln() + levels * n.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::simulate::{normal, normals};

    const SETTINGS: PeriodSettings = PeriodSettings { min_period: 2, max_period: 100 };

    fn spiked(rng: &mut Rng, n: usize, period: usize, phase: usize, height: f64) -> Vec<f64> {
        (0..n).map(|i| normal(rng) + if i % period == phase { height } else { 0.0 }).collect()
    }

    #[test]
    fn finds_the_period_and_not_its_divisors_or_multiples() {
        let mut rng = Rng::new(161);
        for (n, period, phase, height) in [(400, 8, 3, 4.0), (600, 12, 0, 3.0), (900, 30, 29, 8.0), (60, 4, 1, 5.0)] {
            for _ in 0..5 {
                let series = spiked(&mut rng, n, period, phase, height);
                let found = find_period(&series, SETTINGS).unwrap().unwrap();
                assert_eq!(found.period, period, "{found:?}");
                // In 60 samples the noise of three quiet phases can pass for a shape.
                assert!(n == 60 || found.pattern == Pattern::OnePhase(phase), "{found:?}");
                assert!(found.gain > 6.0 && found.rival.unwrap().1 > 3.0, "{found:?}");
                assert!(found.rank_test.p_value < 0.01);
            }
        }
    }

    #[test]
    fn a_shape_over_all_phases_is_found_too() {
        let mut rng = Rng::new(162);
        let shape = [0.0, 3.0, 1.0, 5.0, 2.0];
        let series: Vec<f64> = (0..300).map(|i| shape[i % 5] + 0.7 * normal(&mut rng)).collect();
        let found = find_period(&series, SETTINGS).unwrap().unwrap();
        assert_eq!((found.period, found.pattern), (5, Pattern::EveryPhase));
    }

    #[test]
    fn noise_has_no_period() {
        let mut rng = Rng::new(163);
        let found = (0..40).filter(|_| {
            let series = normals(&mut rng, 300, 0.0, 1.0);
            find_period(&series, SETTINGS).unwrap().is_some_and(|p| p.gain > 2.0)
        });
        assert!(found.count() <= 3);
        assert_eq!(find_period(&[1.0; 60], SETTINGS), Ok(None));
    }

    #[test]
    fn refuses_too_short_a_series() {
        assert!(fold(&[1.0; 10], 4).is_err() && fold(&[1.0; 10], 1).is_err());
        assert!(find_period(&[1.0; 5], SETTINGS).is_err());
        assert!(find_period(&[1.0; 50], PeriodSettings { min_period: 9, max_period: 8 }).is_err());
    }
}
