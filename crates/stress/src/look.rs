//! Memory held against what it should be, and one look held against another.

use std::collections::BTreeMap;

/// Which words differ from what they should be, in order, each with its wrong bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    wrong: Vec<(u32, u64)>,
}

impl Difference {
    /// Notes a word; none may come twice, and places must rise.
    pub(crate) fn push(&mut self, word: usize, bits: u64) {
        self.wrong.push((word as u32, bits));
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.wrong.is_empty()
    }

    /// Words that differ.
    pub fn len(&self) -> usize {
        self.wrong.len()
    }

    /// The words that differ, each with its wrong bits.
    pub fn words(&self) -> &[(u32, u64)] {
        &self.wrong
    }

    /// All bits that are wrong in any word.
    pub fn bits(&self) -> u64 {
        self.wrong.iter().fold(0, |all, (_, bits)| all | bits)
    }

    /// Whether this word differs.
    pub(crate) fn has(&self, word: u32) -> bool {
        self.wrong.binary_search_by_key(&word, |(at, _)| *at).is_ok()
    }

    /// The wrong bits of a word, 0 where it is right.
    fn at(&self, word: u32) -> u64 {
        self.wrong.binary_search_by_key(&word, |(at, _)| *at).map_or(0, |place| self.wrong[place].1)
    }

    /// What is wrong here and not in the other one, word by word.
    pub(crate) fn without(&self, other: &Difference) -> Difference {
        Difference { wrong: self.wrong.iter().filter(|(word, _)| !other.has(*word)).copied().collect() }
    }

    /// What is wrong in either.
    pub(crate) fn joined(&self, other: &Difference) -> Difference {
        let mut wrong = self.wrong.clone();
        wrong.extend(other.without(self).wrong);
        wrong.sort_unstable();
        Difference { wrong }
    }
}

/// How several further looks compare with the first one, which was wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// As it should be.
    pub right: u32,
    /// Wrong in exactly the same bits.
    pub same: u32,
    /// Wrong in some of the words, but otherwise.
    pub near: u32,
    /// Of all these: how often words were wrong that were right at first.
    pub strangers: u32,
}

impl Looks {
    /// Holds looks against a part of what was wrong at first.
    pub(crate) fn of(part: &Difference, first: &Difference, looks: &[Difference]) -> Looks {
        let mut sum = Looks::default();
        for look in looks {
            let wrong = part.wrong.iter().filter(|(word, _)| look.at(*word) != 0).count();
            let is_same = part.wrong.iter().all(|(word, bits)| look.at(*word) == *bits);
            *(match wrong {
                0 => &mut sum.right,
                _ if is_same => &mut sum.same,
                _ => &mut sum.near,
            }) += 1;
            sum.strangers += u32::from(!look.without(first).is_empty());
        }
        sum
    }

    /// Looks in all.
    pub const fn count(self) -> u32 {
        self.right + self.wrong()
    }

    /// Looks that were wrong.
    pub const fn wrong(self) -> u32 {
        self.same + self.near
    }
}

/// What was wrong in any of these looks, and not at first.
pub(crate) fn strangers(first: &Difference, looks: &[Difference]) -> Difference {
    looks.iter().fold(Difference::default(), |all, look| all.joined(&look.without(first)))
}

/// Those words that were wrong in exactly one of the looks, and the others.
pub(crate) fn once(words: &Difference, looks: &[Difference]) -> (Difference, Difference) {
    let is_once = |word: &u32| looks.iter().filter(|look| look.has(*word)).count() == 1;
    let wrong = words.wrong.iter().copied();
    let (once, others) = wrong.partition(|(word, _)| is_once(word));
    (Difference { wrong: once }, Difference { wrong: others })
}

/// Parts a difference into words that behaved alike over all series of looks: always right, always wrong in the same bits, or neither. Two
/// faults of different kinds in one block are two parts.
pub(crate) fn parts(first: &Difference, series: &[&[Difference]]) -> Vec<Difference> {
    let mut parts: BTreeMap<Vec<u8>, Difference> = BTreeMap::new();
    for (word, bits) in &first.wrong {
        let behaviour = |looks: &&[Difference]| match () {
            () if looks.iter().all(|look| look.at(*word) == 0) => 0,
            () if looks.iter().all(|look| look.at(*word) == *bits) => 1,
            () => 2,
        };
        let key = series.iter().map(behaviour).collect();
        parts.entry(key).or_default().wrong.push((*word, *bits));
    }
    parts.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(words: &[(u32, u64)]) -> Difference {
        Difference { wrong: words.to_vec() }
    }

    #[test]
    fn looks_are_held_against_the_first_one() {
        let first = difference(&[(3, 1), (9, 6)]);
        let check = |now: &[(u32, u64)], expect: [u32; 4]| {
            let looks = Looks::of(&first, &first, &[difference(now)]);
            assert_eq!([looks.right, looks.same, looks.near, looks.strangers], expect, "{now:?}");
        };
        check(&[], [1, 0, 0, 0]);
        check(&[(3, 1), (9, 6)], [0, 1, 0, 0]);
        check(&[(9, 2)], [0, 0, 1, 0]);
        check(&[(4, 1)], [1, 0, 0, 1]);
    }

    #[test]
    fn words_that_behave_alike_are_one_part() {
        let first = difference(&[(1, 1), (5, 2), (6, 8)]);
        let looks = [difference(&[(5, 2), (6, 8)]), difference(&[(5, 2), (6, 8), (7, 1)])];
        assert_eq!(parts(&first, &[&looks]), [difference(&[(1, 1)]), difference(&[(5, 2), (6, 8)])]);
        assert_eq!(parts(&first, &[&looks, &[difference(&[(6, 8)])]]).len(), 3);
    }

    #[test]
    fn what_is_known_is_taken_off() {
        let (one, two) = (difference(&[(1, 1), (5, 2)]), difference(&[(5, 4), (7, 1)]));
        assert_eq!(one.without(&two), difference(&[(1, 1)]));
        assert_eq!(one.joined(&two), difference(&[(1, 1), (5, 2), (7, 1)]));
    }
}
