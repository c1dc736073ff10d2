//! Changes to a text that is made of words and numbers. The same seed makes the same changes.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256StarStar;

/// Numbers at which arithmetic breaks, in the spellings that occur.
const NUMBERS: [&str; 28] = [
    "0",
    "-0",
    "1",
    "-1",
    "0.5",
    "1e-300",
    "1e300",
    "-1e300",
    "NaN",
    "inf",
    "255",
    "256",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "281474976710656",
    "9007199254740992",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "8192TiB",
    "2048TiB",
    "100000h",
    "8760h",
    "1ns",
    "512",
];

/// What ends, opens or escapes something in one of the formats, or is no text at all.
const PIECES: [&[u8]; 26] = [
    b"\n",
    b"\r\n",
    b"\"",
    b"'",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b"=",
    b",",
    b":",
    b"%",
    b"$",
    b"#",
    b"\0",
    b"\x1b[2J",
    b"\xff",
    b"\xc3",
    "µ".as_bytes(),
    "\u{202e}".as_bytes(),
    "\u{9b}".as_bytes(),
    b"null",
    b"[job]\n",
    b"include ",
    b"[[job]]\n",
];

/// A source of changed texts.
pub struct Mutator {
    random: Xoshiro256StarStar,
}

impl Mutator {
    /// One whose changes follow from `seed`.
    pub fn new(seed: u64) -> Mutator {
        Mutator { random: Xoshiro256StarStar::seed_from_u64(seed) }
    }

    /// One text of the corpus with one to eight changes.
    pub fn next(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut text = self.pick(corpus).clone();
        // Most texts have few changes, so that they get past the first check.
        let changes = 1 + (0..7).take_while(|_| self.random.random_bool(0.4)).count();
        for _ in 0..changes {
            self.change(&mut text, corpus);
        }
        text
    }

    fn change(&mut self, text: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let at = self.below(text.len() + 1);
        match self.below(9) {
            // Half of all changes are to numbers, which is where parsers that accept a text go wrong later.
            0..=3 => self.number(text, at),
            4 => splice(text, at, at, PIECES[self.below(PIECES.len())]),
            5 if !text.is_empty() => {
                let at = at.min(text.len() - 1);
                text[at] ^= 1 << self.below(8);
            }
            6 => {
                let end = at + self.below(64.min(text.len() - at) + 1);
                text.drain(at..end);
            }
            7 => {
                let (from, to) = line_at(text, at);
                let line = text[from..to].to_vec();
                splice(text, to, to, &line);
            }
            _ => {
                let other = self.pick(corpus).clone();
                let from = self.below(other.len() + 1);
                let end = from + self.below(256.min(other.len() - from) + 1);
                splice(text, at, at, &other[from..end]);
            }
        }
    }

    /// Replaces the number that comes next behind a place.
    fn number(&mut self, text: &mut Vec<u8>, at: usize) {
        let digit = |byte: &u8| byte.is_ascii_digit();
        let Some(from) = text[at..].iter().position(digit).map(|found| at + found) else { return };
        let end =
            text[from..].iter().position(|byte| !digit(byte) && *byte != b'.').map_or(text.len(), |found| from + found);
        splice(text, from, end, NUMBERS[self.below(NUMBERS.len())].as_bytes());
    }

    fn pick<'c>(&mut self, corpus: &'c [Vec<u8>]) -> &'c Vec<u8> {
        &corpus[self.below(corpus.len())]
    }

    fn below(&mut self, end: usize) -> usize {
        self.random.random_range(0..end)
    }
}

fn splice(text: &mut Vec<u8>, from: usize, to: usize, piece: &[u8]) {
    text.splice(from..to, piece.iter().copied());
}

/// The line around a place, its end included.
fn line_at(text: &[u8], at: usize) -> (usize, usize) {
    let from = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |found| found + 1);
    let to = text[at..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |found| at + found + 1);
    (from, to)
}
