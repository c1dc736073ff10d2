//! Random multiples of one size that are not multiples of others, and how many of them there are.

use crate::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Up to this many multiples are simply gone through.
const ENUMERABLE: u64 = 1 << 16;

/// The multiples of `size` inside a range that are not multiples of any of `excluded`.
#[derive(Debug)]
pub(crate) struct Multiples {
    size: u64,
    excluded: Vec<u64>,
    /// Those of the excluded sizes that exclude all that any of them does.
    enough: Vec<u64>,
    /// The quotients: `size` times any of these lies inside the range.
    quotients: RangeInclusive<u64>,
}

impl Multiples {
    /// Those of `size` within `range`; zero, which is a multiple of everything, is not one of them. An excluded size
    /// that divides `size` excludes nothing, for then every multiple of `size` is one of it.
    pub(crate) fn new(size: u64, excluded: &[u64], range: RangeInclusive<u64>) -> Multiples {
        let excluded: Vec<u64> =
            excluded.iter().copied().filter(|&other| other > 0 && !size.is_multiple_of(other)).collect();
        // What is a multiple of `size` and of a larger one is often one of a smaller one as well.
        let mut rising = excluded.clone();
        rising.sort_unstable();
        let mut enough: Vec<u64> = Vec::new();
        for other in rising {
            let common = least_common_multiple(size, other);
            if !common.is_some_and(|common| enough.iter().any(|&smaller| common.is_multiple_of(smaller))) {
                enough.push(other);
            }
        }
        let quotients = range.start().div_ceil(size).max(1)..=range.end() / size;
        Multiples { size, excluded, enough, quotients }
    }

    /// The sizes that do exclude something.
    pub(crate) fn excluded(&self) -> &[u64] {
        &self.excluded
    }

    /// How many there are, by inclusion and exclusion over least common multiples; those beyond the range count for
    /// nothing and are dropped, and equal ones are merged, which keeps the sum short.
    pub(crate) fn count(&self) -> u64 {
        let (Some(first), Some(last)) = (
            self.quotients.start().checked_sub(1).and_then(|before| before.checked_mul(self.size)),
            self.quotients.end().checked_mul(self.size),
        ) else {
            return 0;
        };
        let mut terms: BTreeMap<u64, i64> = BTreeMap::from([(self.size, 1)]);
        for &other in &self.enough {
            for (multiple, sign) in terms.clone() {
                if let Some(common) = least_common_multiple(multiple, other).filter(|&common| common <= last) {
                    *terms.entry(common).or_default() -= sign;
                }
            }
            terms.retain(|_, &mut sign| sign != 0);
        }
        let count: i128 = terms
            .iter()
            .map(|(multiple, &sign)| i128::from(sign) * (i128::from(last / multiple) - i128::from(first / multiple)))
            .sum();
        u64::try_from(count).unwrap_or(0)
    }

    /// `wanted` of them (or all, where there are fewer), chosen at random, in rising order.
    pub(crate) fn draw(&self, wanted: u64, rng: &mut Rng) -> Vec<u64> {
        let count = self.count();
        let candidates = self.quotients.end().saturating_sub(*self.quotients.start()).saturating_add(1);
        let mut drawn: Vec<u64> = if candidates <= ENUMERABLE || count / 4 < wanted {
            let all: Vec<u64> = self.quotients.clone().map(|k| k * self.size).filter(|&at| self.contains(at)).collect();
            rng.sample(all.len() as u64, wanted).into_iter().map(|index| all[index as usize]).collect()
        } else {
            // At least three of four draws that pass the test are new, so this ends soon.
            let mut found = BTreeSet::new();
            while (found.len() as u64) < wanted {
                let at = (self.quotients.start() + rng.below(candidates)) * self.size;
                if self.contains(at) {
                    found.insert(at);
                }
            }
            found.into_iter().collect()
        };
        drawn.sort_unstable();
        drawn
    }

    fn contains(&self, multiple: u64) -> bool {
        self.enough.iter().all(|&other| !multiple.is_multiple_of(other))
    }
}

fn least_common_multiple(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn naive(size: u64, excluded: &[u64], range: RangeInclusive<u64>) -> Vec<u64> {
        range
            .filter(|&at| at > 0 && at.is_multiple_of(size))
            .filter(|at| excluded.iter().all(|&other| size.is_multiple_of(other) || !at.is_multiple_of(other)))
            .collect()
    }

    #[test]
    fn counts_and_draws_agree_with_going_through_all() {
        let mut rng = Rng::new(1, "test");
        let check = |size, excluded: &[u64], range: RangeInclusive<u64>, rng: &mut Rng| {
            let expect = naive(size, excluded, range.clone());
            let multiples = Multiples::new(size, excluded, range);
            assert_eq!(multiples.count(), expect.len() as u64, "{multiples:?}");
            assert_eq!(multiples.draw(u64::MAX, rng), expect, "{multiples:?}");
            let few = multiples.draw(3, rng);
            assert!(few.len() == expect.len().min(3) && few.iter().all(|at| expect.contains(at)), "{multiples:?}");
        };
        check(8, &[24], 0..=1000, &mut rng);
        check(8, &[16, 24, 40, 56, 200], 8..=992, &mut rng);
        check(6, &[4, 9, 10, 12, 3], 1..=2000, &mut rng);
        check(7, &[14, 28, 21, 7], 100..=500, &mut rng);
        check(24, &[8, 16], 0..=1000, &mut rng);
        check(5, &[], 0..=4, &mut rng);
        check(5, &[10, 15, 25, 5], 0..=0, &mut rng);
        check(12, &[], 13..=23, &mut rng);
    }

    #[test]
    fn large_ranges_are_sampled() {
        let mut rng = Rng::new(1, "test");
        let sizes: Vec<u64> = (0..20).flat_map(|k| [4096 << k, 3 * (4096 << k), 5 * (4096 << k)]).collect();
        let multiples = Multiples::new(4096, &sizes, 0..=256 << 30);
        let drawn = multiples.draw(40, &mut rng);
        assert_eq!(drawn.len(), 40);
        assert!(drawn.iter().all(|at| at % 4096 == 0 && at % 8192 != 0 && at % (3 * 4096) != 0));
        // One half is odd, two thirds of those are no multiples of three, four fifths of those none of five.
        let all = (256u64 << 30) / 4096;
        assert!(multiples.count().abs_diff(all * 8 / 30) <= 2, "{}", multiples.count());
    }

    #[test]
    fn eight_but_not_twenty_four() {
        let mut rng = Rng::new(9, "test");
        let drawn = Multiples::new(8 * MIB, &[16 * MIB, 24 * MIB], MIB..=(4 << 30)).draw(30, &mut rng);
        assert_eq!(drawn.len(), 30);
        assert!(drawn.iter().all(|at| at % (8 * MIB) == 0 && at % (16 * MIB) != 0 && at % (24 * MIB) != 0));
    }
}
