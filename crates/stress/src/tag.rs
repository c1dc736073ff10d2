//! The data of a journey: a function of the place on the device, of the generation and of a seed, so that data of another place or an older
//! generation are known for what they are.

use crate::pattern::Pattern;
use flashscope_stats::rng::mix;

/// Words of a sector.
pub(crate) const SECTOR: usize = 64;

/// Data that are older by so many generations are not known any more.
const OLDEST: u32 = 64;

/// What tells the data of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tags {
    pub(crate) seed: u64,
}

impl Tags {
    /// The word at a place, counted in words from the start of the device. The first word of a sector names its place, the second one the
    /// place and the generation, so that no wrong bit makes another's tag of it; all others are of one pattern, sector by sector another.
    pub(crate) fn word(self, place: u64, generation: u32) -> u64 {
        let sector = place / SECTOR as u64;
        match place % SECTOR as u64 {
            0 => mix(self.seed) ^ sector,
            1 => mix(mix(self.seed ^ sector) ^ u64::from(generation)),
            _ => {
                let pattern = Pattern::of_round(sector + u64::from(generation));
                pattern.word(place, u64::from(generation), self.seed)
            }
        }
    }

    /// Fills words that begin at a place.
    pub(crate) fn fill(self, place: u64, generation: u32, words: &mut [u64]) {
        for (word, at) in words.iter_mut().zip(place..) {
            *word = self.word(at, generation);
        }
    }

    /// Whose data a whole sector holds: the place of its first word and the generation; `None` where it is nobody's of this run.
    pub(crate) fn owner(self, sector: &[u64], newest: u32) -> Option<(u64, u32)> {
        let place = (sector.first()? ^ mix(self.seed)).checked_mul(SECTOR as u64)?;
        let generation = (newest.saturating_sub(OLDEST)..=newest)
            .find(|generation| sector.get(1) == Some(&self.word(place + 1, *generation)))?;
        let is_whole = sector.iter().zip(place..).all(|(word, at)| *word == self.word(at, generation));
        is_whole.then_some((place, generation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_names_its_place_and_generation_unless_a_bit_is_wrong() {
        let tags = Tags { seed: 11 };
        let mut sector = [0; SECTOR];
        tags.fill(640, 3, &mut sector);
        assert_eq!(tags.owner(&sector, 5), Some((640, 3)));
        assert_eq!(tags.owner(&sector, 2), None, "a generation that nobody has written yet");
        for (word, bit) in [(0, 0), (0, 5), (1, 0), (1, 40), (40, 3)] {
            sector[word] ^= 1 << bit;
            assert_eq!(tags.owner(&sector, 5), None);
            sector[word] ^= 1 << bit;
        }
        assert_eq!(tags.owner(&[0; SECTOR], 5), None);
    }
}
