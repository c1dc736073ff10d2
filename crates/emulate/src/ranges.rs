//! A set of byte ranges.

use std::collections::BTreeMap;
use std::ops::Range;

/// A set of byte ranges, melted together where they touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges {
    /// Start of each to its end.
    ends: BTreeMap<u64, u64>,
}

impl Ranges {
    /// Puts a range in.
    pub(crate) fn insert(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let (mut start, mut end) = (range.start, range.end);
        while let Some((&near, &near_end)) =
            self.ends.range(..=end).next_back().filter(|(_, near_end)| **near_end >= start)
        {
            self.ends.remove(&near);
            (start, end) = (start.min(near), end.max(near_end));
        }
        self.ends.insert(start, end);
    }

    /// Takes a range out.
    pub(crate) fn remove(&mut self, range: Range<u64>) {
        while let Some((&start, &end)) = self.ends.range(..range.end).next_back().filter(|(_, end)| **end > range.start)
        {
            self.ends.remove(&start);
            if start < range.start {
                self.ends.insert(start, range.start);
            }
            if end > range.end {
                self.ends.insert(range.end, end);
            }
        }
    }

    /// The parts of `range` that are in the set, in order.
    pub(crate) fn within(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let first = self.ends.range(..range.start).next_back();
        let rest = self.ends.range(range.start..range.end);
        let cut = move |(&start, &end): (&u64, &u64)| start.max(range.start)..end.min(range.end);
        first.into_iter().chain(rest).map(cut).filter(|part| !part.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_row_of_bits() {
        let mut ranges = Ranges::default();
        let mut bits = [false; 200];
        let mut seed = 5u64;
        for step in 0..2_000u64 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step);
            let (start, length) = ((seed >> 33) % 180, (seed >> 50) % 20);
            let range = start..start + length;
            let into = seed >> 20 & 1 == 1;
            if into {
                ranges.insert(range.clone())
            } else {
                ranges.remove(range.clone())
            }
            bits[start as usize..(start + length) as usize].fill(into);
            let mut found = [false; 200];
            ranges.within(0..200).for_each(|part| found[part.start as usize..part.end as usize].fill(true));
            assert_eq!(found, bits);
        }
    }

    #[test]
    fn neighbours_melt_together() {
        let mut ranges = Ranges::default();
        [0..4, 8..12, 4..8].into_iter().for_each(|range| ranges.insert(range));
        assert_eq!(ranges.ends.len(), 1);
        assert_eq!(ranges.within(2..6).next(), Some(2..6));
    }
}
