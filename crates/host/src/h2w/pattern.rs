//! What is in a sector of a `.h2w` file.
//!
//! Sectors are 512 bytes, numbers are little-endian words of 64 bits. The first word is the place of the sector: its offset in the
//! space that all files make, of which file *N* is the *N*th GiB. Each further word is the one before it times 4294967311, plus 17.
//! (Read off files that f3write 8.0 wrote, whose documentation says that H2testw's files are the same.)

use crate::payload::uniform;
use flashscope_device::{Holds, Stretch, stretch};
use flashscope_units::Bytes;

/// Bytes of a sector.
pub(super) const SECTOR: usize = 512;
const FACTOR: u64 = 4_294_967_311;
const STEP: u64 = 17;

/// Writes into `bytes` what belongs at `offset` of the space; both are whole sectors.
pub(super) fn fill(offset: u64, bytes: &mut [u8]) {
    for (at, sector) in (offset..).step_by(SECTOR).zip(bytes.chunks_exact_mut(SECTOR)) {
        for (value, word) in words(at).zip(sector.chunks_exact_mut(8)) {
            word.copy_from_slice(&value.to_le_bytes());
        }
    }
}

/// What `bytes`, read at `offset` of the space, hold: what was written for a place is tagged with this generation, as the
/// format has none of its own.
pub(super) fn stretches(generation: u32, offset: u64, bytes: &[u8]) -> Vec<Stretch> {
    let mut list = Vec::new();
    for (at, sector) in (offset..).step_by(SECTOR).zip(bytes.chunks(SECTOR)) {
        let holds = match addressed(sector, at) {
            Some(addressed) => Holds::Tagged { generation, addressed: Bytes(addressed) },
            None => uniform(sector).map_or(Holds::Foreign, Holds::Uniform),
        };
        stretch::append(&mut list, Stretch { length: Bytes(sector.len() as u64), holds });
    }
    list
}

/// Where a sector was written to, if it is one of ours: its own place first, so that the usual case is one comparison a word.
fn addressed(sector: &[u8], at: u64) -> Option<u64> {
    let first = u64::from_le_bytes(*sector.first_chunk()?);
    // No file system is as large: an address beyond is chance.
    let is_place = first == at || (first.is_multiple_of(SECTOR as u64) && first < 1 << 60);
    let follows = || words(first).zip(sector.chunks_exact(8)).all(|(word, found)| found == word.to_le_bytes());
    (is_place && sector.len() == SECTOR && follows()).then_some(first)
}

fn words(first: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(first), |word| Some(word.wrapping_mul(FACTOR).wrapping_add(STEP)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tagged(sectors: u64, addressed: u64) -> Stretch {
        Stretch {
            length: Bytes(sectors * SECTOR as u64),
            holds: Holds::Tagged { generation: 7, addressed: Bytes(addressed) },
        }
    }

    /// First words of the first two sectors of a file that f3write 8.0 wrote.
    #[test]
    fn the_words_are_those_of_f3write() {
        let mut bytes = vec![0; 2 * SECTOR];
        fill(0, &mut bytes);
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!([word(0), word(8), word(16), word(24)], [0, 0x11, 0x0011_0000_0110, 0x020f_0000_1001]);
        assert_eq!([word(512), word(520)], [0x200, 0x0200_0000_1e11]);
    }

    #[test]
    fn a_place_is_told_from_another_and_from_what_nobody_wrote() {
        let offset = 3 << 30;
        let mut bytes = vec![0; 8 * SECTOR];
        fill(offset, &mut bytes);
        assert_eq!(stretches(7, offset, &bytes), [tagged(8, offset)]);
        fill(5 << 30, &mut bytes[2 * SECTOR..4 * SECTOR]);
        bytes[4 * SECTOR..5 * SECTOR].fill(0xff);
        bytes[6 * SECTOR + 100] ^= 1;
        let other = |holds| Stretch { length: Bytes(SECTOR as u64), holds };
        let expect = [
            tagged(2, offset),
            tagged(2, 5 << 30),
            other(Holds::Uniform(0xff)),
            tagged(1, offset + 5 * SECTOR as u64),
            other(Holds::Foreign),
            tagged(1, offset + 7 * SECTOR as u64),
        ];
        assert_eq!(stretches(7, offset, &bytes), expect);
    }

    /// Zeros are the first word of the space: only the words behind it tell it from an empty sector.
    #[test]
    fn an_empty_sector_at_the_start_is_not_taken_for_written() {
        let holds = Holds::Uniform(0);
        assert_eq!(stretches(7, 0, &[0; SECTOR]), [Stretch { length: Bytes(SECTOR as u64), holds }]);
    }
}
