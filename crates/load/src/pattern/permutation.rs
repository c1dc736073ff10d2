//! Orders of places that need no memory.

use flashscope_stats::rng::mix;

/// Every number below `count` once per pass, in an order that looks random: a Feistel network of four rounds over the
/// next power of four, walked on where it leads outside (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).
#[derive(Clone, Debug)]
pub struct Permutation {
    count: u64,
    half: u32,
    seed: u64,
    next: u64,
    pass: u64,
}

impl Permutation {
    /// Of `count` numbers; another seed gives another order.
    pub fn new(count: u64, seed: u64) -> Permutation {
        let bits = 64 - count.saturating_sub(1).leading_zeros();
        Permutation { count, half: bits.div_ceil(2).max(1), seed, next: 0, pass: 0 }
    }

    /// The next one; after all of them another order begins.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        if self.next == self.count {
            self.next = 0;
            self.pass += 1;
        }
        self.next += 1;
        self.at(self.next - 1)
    }

    /// The one at this position of the pass, from 0 on, below the count.
    pub fn at(&self, position: u64) -> u64 {
        let mut at = position;
        loop {
            at = self.once(at);
            if at < self.count {
                return at;
            }
        }
    }

    fn once(&self, at: u64) -> u64 {
        let mask = (1 << self.half) - 1;
        let (mut left, mut right) = (at >> self.half, at & mask);
        for round in 0..4 {
            let key = mix(self.seed ^ (self.pass << 2 | round));
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        left << self.half | right
    }
}

/// Spreads ranks over places: neighbours in popularity are not neighbours in place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scatter {
    step: u64,
}

impl Scatter {
    /// For up to `places` places.
    pub(super) fn new(places: u64) -> Scatter {
        // The golden section, made coprime to the number of places, so that no two ranks share a place.
        let mut step = (places as f64 * 0.618_033_988_75) as u64 | 1;
        while gcd(step, places) != 1 {
            step += 2;
        }
        Scatter { step }
    }

    /// The place of a rank below `places`.
    pub(super) fn place(self, rank: u64, places: u64) -> u64 {
        ((u128::from(rank) * u128::from(self.step) + u128::from(self.step >> 1)) % u128::from(places)) as u64
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
