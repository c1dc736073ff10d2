//! The chance in a simulated device: seeded, and drawn in a fixed order.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A generator of its own for each purpose, so that more noise does not change what the card does.
#[derive(Clone, Debug)]
pub(crate) struct Chance(Xoshiro256PlusPlus);

impl Chance {
    pub(crate) fn new(seed: u64, purpose: &str) -> Chance {
        // FNV-1a of the purpose, so that purposes part ways whatever the seed.
        let salt = purpose
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Chance(Xoshiro256PlusPlus::seed_from_u64(seed ^ salt))
    }

    /// 64 bits.
    pub(crate) fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform on [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on `0..bound`; 0 for a bound of 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// True with this probability. Draws nothing where the answer is certain.
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        probability >= 1.0 || (probability > 0.0 && self.unit() < probability)
    }

    /// Exponential with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }
}
