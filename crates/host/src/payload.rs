//! The bytes that writes carry, and what reads found.
//!
//! A tagged payload depends on the position on the device and on a generation only, never on how it was cut
//! into requests: a 4 MiB write can be checked by 4 KiB reads. It is incompressible, so that a controller
//! that compresses or deduplicates gains nothing.

use flashscope_device::{Content, Fill};
use flashscope_stats::rng::{mix, stream};

/// Writes into `bytes` what `fill` means at position `offset` of the device; `offset` and the length are
/// multiples of 8.
pub fn fill(fill: Fill, offset: u64, bytes: &mut [u8]) {
    match fill {
        Fill::Byte(byte) => bytes.fill(byte),
        Fill::Tagged { generation } => {
            let key = scramble(u64::from(generation));
            for (index, word) in (offset / 8..).zip(bytes.chunks_exact_mut(8)) {
                word.copy_from_slice(&tag(index, key).to_le_bytes());
            }
        }
    }
}

/// Whether `bytes`, read at `offset`, are what `fill` means there.
pub fn matches(fill: Fill, offset: u64, bytes: &[u8]) -> bool {
    match fill {
        Fill::Byte(byte) => uniform(bytes) == Some(byte),
        Fill::Tagged { generation } => {
            let key = scramble(u64::from(generation));
            (offset / 8..).zip(bytes.chunks_exact(8)).all(|(index, word)| word == tag(index, key).to_le_bytes())
        }
    }
}

/// Where `bytes`, read at `offset`, first differ from what `fill` means there, counted from their start, and what
/// stands there instead, in words: an earlier generation, what belongs to another place, one byte throughout, or neither.
pub fn difference(fill: Fill, offset: u64, bytes: &[u8]) -> (u64, String) {
    let mut right = vec![0; bytes.len()];
    self::fill(fill, offset, &mut right);
    let at = right.iter().zip(bytes).position(|(right, found)| right != found).unwrap_or(0);
    let word = at / 8 * 8;
    let rest = bytes.get(word..).unwrap_or_default();
    (at as u64, describe(fill, offset + word as u64, rest))
}

/// Generations before the expected one that are tried.
const EARLIER: u32 = 4096;

fn describe(expected: Fill, position: u64, bytes: &[u8]) -> String {
    if let Some(byte) = uniform(bytes) {
        return format!("0x{byte:02x} throughout");
    }
    let Some(first) = bytes.first_chunk::<8>() else { return "other bytes".to_owned() };
    let word = u64::from_le_bytes(*first);
    if let Fill::Tagged { generation } = expected {
        // What a tag says of its place, were it of this generation or an earlier one.
        let place = |generation: u32| unscramble(word) ^ scramble(u64::from(generation));
        let tried = generation.saturating_sub(EARLIER)..=generation.saturating_add(1);
        if let Some(earlier) = tried.clone().rev().find(|tried| place(*tried) == position / 8) {
            return format!("generation {earlier} of this place");
        }
        // A random word names a place within 2^50 bytes by chance once in 2^17 words and generations.
        if let Some(other) = [generation].into_iter().find(|tried| place(*tried) < 1 << 47) {
            return format!("generation {other} of position {}", place(other) * 8);
        }
    }
    format!("bytes that this tool did not write ({word:016x} …)")
}

/// What a read found.
pub fn content(bytes: &[u8]) -> Content {
    match uniform(bytes) {
        Some(byte) => Content::Uniform(byte),
        None if bytes.is_empty() => Content::Unknown,
        None => Content::Varied,
    }
}

fn uniform(bytes: &[u8]) -> Option<u8> {
    let byte = *bytes.first()?;
    // In chunks: quick where bytes differ early, and without a branch per byte where they do not.
    bytes.chunks(256).all(|chunk| chunk.iter().fold(0, |differs, other| differs | (byte ^ other)) == 0).then_some(byte)
}

/// One word of payload.
fn tag(index: u64, key: u64) -> u64 {
    scramble(index ^ key)
}

/// A bijection of 64-bit words that looks random.
#[inline]
fn scramble(number: u64) -> u64 {
    mix(stream(0, number))
}

/// Undoes [`scramble`]: each of its steps is a bijection.
fn unscramble(mixed: u64) -> u64 {
    let mut word = mixed ^ (mixed >> 31) ^ (mixed >> 62);
    word = word.wrapping_mul(0x3196_42b2_d24d_8ec3);
    word = word ^ (word >> 27) ^ (word >> 54);
    word = word.wrapping_mul(0x96de_1b17_3f11_9089);
    word = word ^ (word >> 30) ^ (word >> 60);
    word.wrapping_mul(0xf1de_83e1_9937_733d).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixing_can_be_undone() {
        for number in [0, 1, 12345, u64::MAX, 1 << 40] {
            assert_eq!(unscramble(scramble(number)), number);
        }
    }

    #[test]
    fn what_stands_in_the_wrong_place_is_named() {
        let expected = Fill::Tagged { generation: 5 };
        let check = |bytes: Vec<u8>, at: u64, words: &str| {
            assert_eq!(difference(expected, 8192, &bytes), (at, words.to_owned()));
        };
        check(made(Fill::Tagged { generation: 4 }, 8192, 512), 0, "generation 4 of this place");
        check(made(expected, 1 << 30, 512), 0, "generation 5 of position 1073741824");
        check(vec![0; 512], 0, "0x00 throughout");
        let mut torn = made(expected, 8192, 512);
        torn[256..].copy_from_slice(&made(Fill::Tagged { generation: 2 }, 8192 + 256, 256));
        check(torn, 256, "generation 2 of this place");
        let mut flipped = made(expected, 8192, 512);
        flipped[100] ^= 4;
        let (at, words) = difference(expected, 8192, &flipped);
        assert_eq!(at, 100);
        assert!(words.starts_with("bytes that this tool did not write"), "{words}");
    }

    const FIRST: Fill = Fill::Tagged { generation: 1 };

    fn made(kind: Fill, offset: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        fill(kind, offset, &mut bytes);
        bytes
    }

    #[test]
    fn a_tag_knows_its_place_and_its_generation() {
        let bytes = made(FIRST, 8192, 4096);
        assert!(matches(FIRST, 8192, &bytes));
        assert!(!matches(FIRST, 4096, &bytes));
        assert!(!matches(Fill::Tagged { generation: 2 }, 8192, &bytes));
        let mut torn = bytes.clone();
        torn[4095] ^= 1;
        assert!(!matches(FIRST, 8192, &torn));
    }

    #[test]
    fn a_tag_does_not_depend_on_how_it_was_cut() {
        let whole = made(FIRST, 1 << 20, 8192);
        let parts = [made(FIRST, 1 << 20, 512), made(FIRST, (1 << 20) + 512, 7680)].concat();
        assert_eq!(whole, parts);
    }

    #[test]
    fn tagged_bytes_look_random() {
        let bytes = made(FIRST, 0, 1 << 16);
        let mut counts = [0u32; 256];
        bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        // 256 of each expected, standard deviation 16: six of them either way.
        assert!(counts.iter().all(|count| (160..352).contains(count)), "{counts:?}");
    }

    #[test]
    fn tells_uniform_from_varied() {
        let check = |bytes: &[u8], expect| assert_eq!(content(bytes), expect);
        check(&[0xff; 4096], Content::Uniform(0xff));
        check(&[0; 512], Content::Uniform(0));
        check(&made(FIRST, 0, 512), Content::Varied);
        check(&[], Content::Unknown);
        let mut last_differs = vec![0; 4096];
        last_differs[4095] = 1;
        check(&last_differs, Content::Varied);
        assert!(matches(Fill::Byte(0xff), 0, &[0xff; 512]));
        assert!(!matches(Fill::Byte(0), 0, &[0xff; 512]));
    }
}
