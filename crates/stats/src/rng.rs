//! Seeded randomness, the same on every platform and in every version. Not for cryptography.
//!
//! [`Rng`] draws; [`mix`] scatters a number without a state to keep; [`stream`] gives each worker, step or device of one
//! seed a seed of its own.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// 2^64 over the golden ratio, odd: multiples of it by consecutive numbers lie far apart, in whatever bits one looks. The
/// increment of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
pub const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;

/// The word that SplitMix64 gives from this state, a bijection of 64-bit words that looks random. Its next state is
/// `stream(state, 1)`. Written out because payloads call it for every eight bytes, and the library's is not inlined.
#[inline]
pub fn mix(state: u64) -> u64 {
    let mut word = state.wrapping_add(GOLDEN_RATIO);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A seed for the `number`-th of the streams that share `seed`; number 0 is the seed itself.
#[inline]
pub fn stream(seed: u64, number: u64) -> u64 {
    seed.wrapping_add(number.wrapping_mul(GOLDEN_RATIO))
}

/// xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47, 2021), with its
/// state filled by SplitMix64. The same seed gives the same sequence everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// A generator for `seed`; every seed is good, 0 included.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// 64 uniformly distributed bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform on [0, 1), with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on `0..bound` by multiplying into the high word; the bias is below `bound / 2^64`. A bound of 0 gives 0.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// Puts items into a random order, each as likely as any (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// Standard normal by Box and Muller's transform (one of the pair is thrown away: simplicity over speed).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::SplitMix64;

    #[test]
    fn same_seed_same_sequence() {
        let draw = |seed| {
            let mut rng = Rng::new(seed);
            (0..4).map(|_| rng.next_u64()).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        // What earlier versions drew: records name their seed, and whoever repeats one must visit the same places.
        assert_eq!(
            draw(7),
            [0x0e2c_1a00_2aae_913d, 0x2c0f_c8dd_fa4e_9e14, 0xb7b3_11b3_b0d4_5872, 0x6d5d_9f6a_6318_013c]
        );
    }

    #[test]
    fn mixing_is_a_step_of_the_librarys_generator() {
        for seed in [0, 1, 7, 1 << 63, u64::MAX] {
            let mut generator = SplitMix64::seed_from_u64(seed);
            for number in 0..5 {
                assert_eq!(mix(stream(seed, number)), generator.next_u64());
            }
        }
    }

    #[test]
    fn draws_are_uniform_enough() {
        let mut rng = Rng::new(1);
        let mut counts = [0u32; 10];
        for _ in 0..10_000 {
            counts[rng.below(10)] += 1;
        }
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi2 < 27.9, "chi square {chi2} beyond the 0.1 % point of 9 degrees of freedom");
        let mean = (0..10_000).map(|_| rng.unit()).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.012, "{mean}");
        assert_eq!(rng.below(0), 0);
    }
}
