//! What memory is filled with.

use flashscope_stats::rng::mix;

/// A way to fill memory: each word is a function of its place, of the round, and of a seed, so that what stands anywhere can be
/// verified without remembering anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Each word is its own address and the round: shows addresses that lead to the same place.
    AddressTag,
    /// A single one that walks through the data lines.
    WalkingOnes,
    /// A single zero that walks.
    WalkingZeros,
    /// Addresses and inverted addresses in turn: address lines that are stuck, with all data lines moving.
    StuckAddress,
    /// Random words.
    Random,
    /// All ones beside all zeroes, and the other way round in the next round: every line switches at once.
    Inversions,
    /// A checkerboard, and the other way round in the next round: every line is unlike its neighbours.
    Checkerboard,
    /// Bytes that move by one place from word to word, as blocks are moved over memory.
    Moving,
}

impl Pattern {
    /// All of them, in the order in which rounds take them.
    pub const ALL: [Pattern; 8] = [
        Pattern::AddressTag,
        Pattern::WalkingOnes,
        Pattern::WalkingZeros,
        Pattern::StuckAddress,
        Pattern::Random,
        Pattern::Inversions,
        Pattern::Checkerboard,
        Pattern::Moving,
    ];

    /// The pattern of a round: all in turn.
    pub const fn of_round(round: u64) -> Pattern {
        Pattern::ALL[(round % Pattern::ALL.len() as u64) as usize]
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Pattern::AddressTag => "address tags",
            Pattern::WalkingOnes => "walking ones",
            Pattern::WalkingZeros => "walking zeroes",
            Pattern::StuckAddress => "stuck address",
            Pattern::Random => "random",
            Pattern::Inversions => "inversions",
            Pattern::Checkerboard => "checkerboard",
            Pattern::Moving => "moving",
        }
    }

    /// The word at a place (counted in words) in a round.
    #[inline]
    pub fn word(self, place: u64, round: u64, seed: u64) -> u64 {
        let turns = round / Pattern::ALL.len() as u64;
        let turned = if turns % 2 == 1 { u64::MAX } else { 0 };
        let plain = match self {
            // Of rounds that are not inverted differently, so that no line always has the same value.
            Pattern::AddressTag => (place << 3) ^ ((turns / 2) << 48),
            Pattern::WalkingOnes => 1 << (place % 64),
            Pattern::WalkingZeros => !(1 << (place % 64)),
            Pattern::StuckAddress if place.is_multiple_of(2) => place << 3,
            Pattern::StuckAddress => !(place << 3),
            Pattern::Random => mix(seed ^ place ^ (round << 40)),
            Pattern::Inversions if place.is_multiple_of(2) => u64::MAX,
            Pattern::Inversions => 0,
            Pattern::Checkerboard if place.is_multiple_of(2) => 0xAAAA_AAAA_AAAA_AAAA,
            Pattern::Checkerboard => 0x5555_5555_5555_5555,
            Pattern::Moving => 0x8040_2010_0804_0201_u64.rotate_left((place % 64) as u32),
        };
        plain ^ turned
    }

    /// Fills words that begin at a place.
    pub fn fill(self, place: u64, round: u64, seed: u64, words: &mut [u64]) {
        for (word, at) in words.iter_mut().zip(place..) {
            *word = self.word(at, round, seed);
        }
    }

    /// Fills words that begin at a place, and gives the checksum of what they should be: made piece by piece in a piece of memory that stays in
    /// the nearest cache, and copied from there, so that the memory under test has no part in it.
    pub fn fill_summed(self, place: u64, round: u64, seed: u64, words: &mut [u64]) -> Sum {
        let (mut piece, mut sum) = ([0; PIECE], Sum::default());
        for (number, words) in words.chunks_mut(PIECE).enumerate() {
            let piece = &mut piece[..words.len()];
            self.fill(place + (number * PIECE) as u64, round, seed, piece);
            sum.add(piece);
            words.copy_from_slice(piece);
        }
        sum
    }

    /// What [`Sum::of`] gives for such words, worked out piece by piece in a piece of memory that stays in the nearest cache: the memory
    /// under test has no part in it.
    pub fn sum(self, place: u64, round: u64, seed: u64, words: usize) -> Sum {
        let mut piece = [0; PIECE];
        let mut sum = Sum::default();
        for begun in (0..words).step_by(PIECE) {
            let piece = &mut piece[..PIECE.min(words - begun)];
            self.fill(place + begun as u64, round, seed, piece);
            sum.add(piece);
        }
        sum
    }
}

/// Words that are worked out at once: 4 KiB.
const PIECE: usize = 512;

/// A checksum of words in [`Sum::LANES`] lanes, made so that it costs little beside reading: sums, and sums of sums (Fletcher, *An
/// arithmetic checksum for serial transmissions*, 1982), which know the order of words. Any change of a single word shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Sum of the words of each lane.
    pub first: [u64; Sum::LANES],
    /// Sum of the sums after each word.
    pub second: [u64; Sum::LANES],
}

impl Sum {
    /// Words side by side: two registers of 32 bytes.
    pub const LANES: usize = 8;

    /// The checksum of these.
    pub fn of(words: &[u64]) -> Sum {
        let mut sum = Sum::default();
        sum.add(words);
        sum
    }

    /// The checksum of the same words with every bit turned, of which there are so many.
    pub fn inverted(self, words: usize) -> Sum {
        let rows = (words / Sum::LANES) as u64;
        let (all, triangle) = (rows, rows * (rows + 1) / 2);
        // The inverse of a word is -1 less the word, in each of `rows` sums, and in as many sums of sums.
        Sum {
            first: self.first.map(|sum| all.wrapping_neg().wrapping_sub(sum)),
            second: self.second.map(|sum| triangle.wrapping_neg().wrapping_sub(sum)),
        }
    }

    /// Goes on with more words; only the last call may be given a number of words that is no multiple of [`Sum::LANES`].
    pub fn add(&mut self, words: &[u64]) {
        let Sum { first, second } = self;
        let mut rows = words.chunks_exact(Sum::LANES);
        for row in &mut rows {
            for ((first, second), word) in first.iter_mut().zip(second.iter_mut()).zip(row) {
                *first = first.wrapping_add(*word);
                *second = second.wrapping_add(*first);
            }
        }
        for ((first, second), word) in first.iter_mut().zip(second.iter_mut()).zip(rows.remainder()) {
            *first = first.wrapping_add(*word);
            *second = second.wrapping_add(*first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_takes_both_values_in_every_pattern() {
        for pattern in Pattern::ALL {
            let (mut ones, mut zeros) = (0, 0);
            for round in [0, 8] {
                for place in 0..1 << 12 {
                    let word = pattern.word(place, round, 0);
                    (ones, zeros) = (ones | word, zeros | !word);
                }
            }
            assert_eq!((ones, zeros), (u64::MAX, u64::MAX), "{}", pattern.name());
        }
    }

    #[test]
    fn tags_differ_wherever_an_address_line_does() {
        for pattern in [Pattern::AddressTag, Pattern::StuckAddress, Pattern::Random] {
            for line in 0..36 {
                let (here, there) = (5, 5 ^ (1 << line));
                assert_ne!(pattern.word(here, 3, 9), pattern.word(there, 3, 9), "{} line {line}", pattern.name());
            }
        }
    }

    #[test]
    fn a_sum_shows_every_single_flip_and_words_that_changed_places() {
        let mut words = vec![0; 1030];
        Pattern::Random.fill(77, 2, 5, &mut words);
        let right = Pattern::Random.sum(77, 2, 5, words.len());
        assert_eq!(Sum::of(&words), right);
        for bit in 0..64 {
            words[bit * 16] ^= 1 << bit;
            assert_ne!(Sum::of(&words), right);
            words[bit * 16] ^= 1 << bit;
        }
        words.swap(3, 3 + Sum::LANES);
        assert_ne!(Sum::of(&words), right);
        words.truncate(1024);
        let plain = Sum::of(&words);
        words.iter_mut().for_each(|word| *word = !*word);
        assert_eq!(Sum::of(&words), plain.inverted(1024));
    }
}
