//! The seeded choice of what to measure.
//!
//! flashbench orders its random tests with a shift register, whose successor of a block is half of
//! it or half of it plus a constant: a fixed sequence in which one block betrays the next. Ours is a
//! uniformly drawn permutation: every order of the same blocks is equally likely.

use flashscope_stats::rng::{mix, stream};
use std::collections::BTreeMap;

/// SplitMix64, of [`flashscope_stats::rng`]. The same seed gives the same sequence everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Rng {
    state: u64,
}

impl Rng {
    /// A generator for `seed` that differs by `purpose`, so that two experiments of one session that
    /// were given the same seed do not visit places in the same order.
    pub(crate) fn new(seed: u64, purpose: &str) -> Rng {
        let state = purpose.bytes().fold(seed, |state, byte| Rng { state: state ^ u64::from(byte) }.next());
        Rng { state }
    }

    pub(crate) fn next(&mut self) -> u64 {
        let word = mix(self.state);
        self.state = stream(self.state, 1);
        word
    }

    /// Uniform on `0..bound` (0 for a bound of 0), by multiplying into the high word; the bias is below `bound / 2^64`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Fisher and Yates.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// `0..n` in random order.
    pub(crate) fn permutation(&mut self, n: u64) -> Vec<u64> {
        let mut all: Vec<u64> = (0..n).collect();
        self.shuffle(&mut all);
        all
    }

    /// The first `count` of a random permutation of `0..n` (all of them where there are fewer), in memory that grows
    /// with `count` only.
    pub(crate) fn sample(&mut self, n: u64, count: u64) -> Vec<u64> {
        // Fisher and Yates from the front over an array that holds its index wherever it was not yet swapped.
        let mut swapped: BTreeMap<u64, u64> = BTreeMap::new();
        (0..count.min(n))
            .map(|i| {
                let j = i + self.below(n - i);
                let here = swapped.remove(&i).unwrap_or(i);
                if j == i { here } else { swapped.insert(j, here).unwrap_or(j) }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_hold_everything_once() {
        let mut rng = Rng::new(3, "test");
        for n in [0, 1, 2, 7, 64, 1000] {
            for mut order in [rng.permutation(n), rng.sample(n, n), rng.sample(n, n + 5)] {
                order.sort_unstable();
                assert_eq!(order, (0..n).collect::<Vec<_>>());
            }
        }
        let mut few = rng.sample(1 << 40, 1000);
        few.sort_unstable();
        few.dedup();
        assert_eq!(few.len(), 1000);
    }

    /// Each of the 24 orders of four blocks is equally likely, whichever way it is drawn.
    #[test]
    fn all_orders_are_equally_likely() {
        let mut rng = Rng::new(1, "test");
        for way in [0, 1] {
            let mut counts = BTreeMap::new();
            for _ in 0..24_000 {
                let order = if way == 0 { rng.permutation(4) } else { rng.sample(4, 4) };
                *counts.entry(order).or_insert(0u32) += 1;
            }
            assert_eq!(counts.len(), 24);
            let chi2: f64 = counts.values().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
            assert!(chi2 < 49.7, "chi square {chi2} beyond the 0.1 % point of 23 degrees of freedom");
        }
    }

    /// The artefact of a shift register: the next block is half of this one (or half plus a constant).
    #[test]
    fn the_next_block_cannot_be_told_from_this_one() {
        let order = Rng::new(5, "test").permutation(4096);
        let halves = order.windows(2).filter(|pair| pair[1] % 2048 == pair[0] / 2).count();
        assert!(halves < 12, "{halves} of 4095 steps halve; 2 are expected by chance");
        let following = order.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        assert!(following < 8, "{following} of 4095 steps go to the neighbour; 1 is expected by chance");
    }

    #[test]
    fn seeds_and_purposes_differ() {
        assert_eq!(Rng::new(1, "a").permutation(64), Rng::new(1, "a").permutation(64));
        assert_ne!(Rng::new(1, "a").permutation(64), Rng::new(2, "a").permutation(64));
        assert_ne!(Rng::new(1, "a").permutation(64), Rng::new(1, "b").permutation(64));
    }
}
