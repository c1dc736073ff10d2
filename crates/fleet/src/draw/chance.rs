//! Chance with the distributions that drawing needs.

use flashscope_stats::rng::{GOLDEN_RATIO, Rng};
use flashscope_units::{Bytes, Nanos};

/// A stream of its own for each device of a fleet.
pub(super) struct Chance {
    rng: Rng,
}

impl Chance {
    pub(super) fn new(seed: u64, index: u32) -> Chance {
        let mix = seed.wrapping_mul(GOLDEN_RATIO) ^ (u64::from(index) + 1).wrapping_mul(0xd1b5_4a32_d192_ed03);
        Chance { rng: Rng::new(mix) }
    }

    /// Uniform below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> u64 {
        self.rng.below(bound) as u64
    }

    /// Uniform over `low ..= high`.
    pub(super) fn whole(&mut self, low: u32, high: u32) -> u32 {
        low + self.rng.below((high - low) as usize + 1) as u32
    }

    pub(super) fn happens(&mut self, probability: f64) -> bool {
        self.rng.unit() < probability
    }

    /// Uniform between two figures.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.rng.unit()
    }

    /// Uniform in the logarithm: as likely between 1 and 2 as between 10 and 20.
    pub(super) fn ratio(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    /// The same for a count, both ends included.
    pub(super) fn count(&mut self, low: u32, high: u32) -> u32 {
        (self.ratio(f64::from(low), f64::from(high) + 1.0) as u32).clamp(low, high)
    }

    /// A time, uniform in the logarithm, to a tenth of a microsecond.
    pub(super) fn micros(&mut self, low: f64, high: f64) -> Nanos {
        micros(self.ratio(low, high))
    }

    /// One of several, as likely as its weight says.
    pub(super) fn weighted<T: Copy>(&mut self, choices: &[(f64, T)]) -> T {
        let total: f64 = choices.iter().map(|(weight, _)| weight).sum();
        let mut left = self.rng.unit() * total;
        for (weight, choice) in choices {
            left -= weight;
            if left < 0.0 {
                return *choice;
            }
        }
        choices[choices.len() - 1].1
    }

    /// One of several, all alike.
    pub(super) fn any<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.rng.below(choices.len())]
    }

    /// A size, uniform in the logarithm, in whole `unit`s.
    pub(super) fn size(&mut self, low: Bytes, high: Bytes, unit: Bytes) -> Bytes {
        Bytes(self.ratio(low.as_f64(), high.as_f64()) as u64).align_down(unit).max(unit)
    }
}

/// A time in microseconds, to a tenth.
pub(super) fn micros(us: f64) -> Nanos {
    Nanos((us * 10.0).round() as u64 * 100)
}
