//! Random figures of the shapes that flash and hosts have.

use flashscope_stats::Rng;
use flashscope_stats::rng::{mix, stream};

/// A source of chance of its own for each use, so that one more draw in one place changes nothing in another.
#[derive(Clone, Debug)]
pub(crate) struct Chance(Rng);

impl Chance {
    pub(crate) fn new(seed: u64, purpose: u64) -> Chance {
        Chance(Rng::new(mix(stream(seed, purpose))))
    }

    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        self.0.unit() < probability
    }

    /// Uniform on `0..bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// Uniform on `low..=high`.
    pub(crate) fn whole(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below((high - low + 1) as usize) as u64
    }

    /// Between two positive figures, each ratio as likely as any other.
    pub(crate) fn log_between(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + self.0.unit() * (high.ln() - low.ln())).exp()
    }

    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.0.below(all.len())]
    }

    /// Gamma of this shape (at least 1) with a mean of 1 (Marsaglia and Tsang, "A simple method for generating gamma
    /// variables", ACM TOMS 26, 2000).
    pub(crate) fn gamma(&mut self, shape: f64) -> f64 {
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.0.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && (1.0 - self.0.unit()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v / shape;
            }
        }
    }

    /// Pareto from `least` on, with this exponent: most are short, and there is no longest.
    pub(crate) fn pareto(&mut self, least: f64, exponent: f64) -> f64 {
        least * (1.0 - self.0.unit()).powf(-1.0 / exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_has_its_mean_and_its_spread() {
        let mut chance = Chance::new(1, 1);
        for shape in [1.0, 4.0, 100.0] {
            let all: Vec<f64> = (0..20_000).map(|_| chance.gamma(shape)).collect();
            let mean = all.iter().sum::<f64>() / 20_000.0;
            let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0;
            assert!((mean - 1.0).abs() < 0.03 && (variance * shape - 1.0).abs() < 0.1, "{shape}: {mean} {variance}");
        }
    }

    #[test]
    fn one_draw_more_for_one_purpose_changes_no_other() {
        let draws = |more: bool| {
            let (mut one, mut other) = (Chance::new(5, 1), Chance::new(5, 2));
            if more {
                one.below(2);
            }
            (0..5).map(|_| other.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(draws(false), draws(true));
        assert_ne!(Chance::new(5, 1).below(1 << 40), Chance::new(5, 2).below(1 << 40));
    }
}
