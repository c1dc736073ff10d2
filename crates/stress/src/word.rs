//! A wrong word, read again and written again.

use flashscope_model::stress::{Persistence, WrongWord};
use flashscope_units::Bytes;

/// How often a wrong word is read again, and written again.
const TIMES: u32 = 8;

/// Reads and writes single words past the caches.
pub trait Reader {
    /// What stands at this word, from the memory itself.
    fn read(&mut self, word: u64) -> u64;
    /// Writes it, through to the memory.
    fn write(&mut self, word: u64, value: u64);
    /// Its physical address, where that is known.
    fn physical(&self, word: u64) -> Option<u64>;
}

/// Looks at a word that was read as `found` and should be `expected`: it is read again several times, then written and read, and
/// holds `expected` at the end where it can. `was_right`: it had been read right since it was last written.
pub fn examined(reader: &mut dyn Reader, word: u64, (expected, found): (u64, u64), was_right: bool) -> WrongWord {
    let again: Vec<u64> = (0..TIMES).map(|_| reader.read(word)).collect();
    let right = again.iter().filter(|value| **value == expected).count() as u32;
    let same = again.iter().filter(|value| **value == found).count() as u32;
    let persistence = match (right, same) {
        (TIMES, _) => Persistence::Transient,
        (_, TIMES) if holds(reader, word, expected) => Persistence::Changed,
        (_, TIMES) => Persistence::Stuck,
        _ => Persistence::Unsteady,
    };
    reader.write(word, expected);
    WrongWord {
        at: Bytes(word * 8),
        physical: reader.physical(word),
        expected,
        found,
        persistence,
        again: TIMES,
        again_right: right,
        was_right,
    }
}

/// Whether the word keeps what is written to it, the other value of every bit in between.
fn holds(reader: &mut dyn Reader, word: u64, expected: u64) -> bool {
    (0..TIMES).all(|_| {
        [!expected, expected].into_iter().all(|value| {
            reader.write(word, value);
            reader.read(word) == value
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A word of memory with a fault.
    struct Faulty {
        stands: u64,
        /// Bits that are always one.
        stuck: u64,
        /// What readings differ in, each in turn.
        noise: Vec<u64>,
    }

    impl Reader for Faulty {
        fn read(&mut self, _: u64) -> u64 {
            let turn = self.noise.len().min(1);
            self.noise.rotate_left(turn);
            self.stands ^ self.noise.last().copied().unwrap_or(0)
        }
        fn write(&mut self, _: u64, value: u64) {
            self.stands = value | self.stuck;
        }
        fn physical(&self, _: u64) -> Option<u64> {
            None
        }
    }

    #[test]
    fn what_becomes_of_a_wrong_word_is_told() {
        let check = |stands, stuck, noise: &[u64], expect: Persistence| {
            let mut reader = Faulty { stands, stuck, noise: noise.to_vec() };
            let word = examined(&mut reader, 5, (0x10, 0x30), true);
            assert_eq!((word.persistence, word.bits(), word.at), (expect, 0x20, Bytes(40)));
        };
        check(0x10, 0, &[], Persistence::Transient);
        check(0x30, 0, &[], Persistence::Changed);
        check(0x30, 0x20, &[], Persistence::Stuck);
        check(0x30, 0, &[0, 0x20, 4], Persistence::Unsteady);
    }
}
