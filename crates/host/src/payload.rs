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
        Fill::Tagged { generation } => fill_tags(offset / 8, scramble(u64::from(generation)), bytes),
    }
}

/// Whether `bytes`, read at `offset`, are what `fill` means there.
pub fn matches(fill: Fill, offset: u64, bytes: &[u8]) -> bool {
    match fill {
        Fill::Byte(byte) => uniform(bytes) == Some(byte),
        Fill::Tagged { generation } => {
            let key = scramble(u64::from(generation));
            // In pages: quick where the bytes differ early.
            (offset / 8..).step_by(512).zip(bytes.chunks(4096)).all(|(index, page)| are_tags(index, key, page))
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

/// Generation of bytes that nobody will ask for: none that a run counts up to.
pub(crate) const NOBODYS: u32 = 0x5eed_f1a5;

/// Whether `bytes`, read at `offset`, a multiple of 8, are nothing but what flashscope writes, of whatever run and place, or words of one
/// byte, in which nothing is kept. A file whose requests were no multiples of 8 has torn words where one request ends and the next
/// begins.
///
/// A tag follows from its place and generation, and both follow from it: neighbours that are numbered one after the other are tags,
/// wherever they were copied to. Random words pass for such once in 2^58.
pub(crate) fn is_ours(offset: u64, bytes: &[u8]) -> bool {
    let word =
        |at: usize| bytes.get(at..at + 8).and_then(|word| word.first_chunk()).map(|word| u64::from_le_bytes(*word));
    let follows = |at: usize| word(at).zip(word(at + 8)).is_some_and(|(one, next)| are_neighbours(one, next));
    let (mut at, mut after_tags) = (0, false);
    while let Some(here) = word(at) {
        let is_tag = follows(at) || (at >= 8 && follows(at - 8)) || is_of_place(here, (offset + at as u64) / 8);
        if is_tag || uniform(&here.to_le_bytes()).is_some() {
            (at, after_tags) = (at + 8, is_tag);
            continue;
        }
        // A torn word lies between tags, or ends them.
        let next = (1..16).find(|skip| follows(at + skip));
        match next.or(after_tags.then_some(8)) {
            Some(skip) => (at, after_tags) = (at + skip, false),
            None => return false,
        }
    }
    let rest = bytes.get(at..).unwrap_or_default();
    after_tags || rest.is_empty() || uniform(rest).is_some()
}

/// Whether `bytes`, read at `offset`, a multiple of 8, are tags throughout, of whatever generation and place.
pub(crate) fn is_tagged(offset: u64, bytes: &[u8]) -> bool {
    let words: Vec<u64> =
        bytes.chunks_exact(8).filter_map(|word| word.first_chunk()).map(|word| u64::from_le_bytes(*word)).collect();
    let pairs = || words.windows(2).all(|pair| are_neighbours(pair[0], pair[1]));
    let of_place = || (offset / 8..).zip(&words).all(|(index, word)| is_of_place(*word, index));
    !words.is_empty() && (pairs() || of_place())
}

/// Whether two words are tags of one generation, of places one after the other: numbers that follow each other differ in low bits only.
fn are_neighbours(one: u64, next: u64) -> bool {
    /// Low bits of a tag that hold the place.
    const PLACE_BITS: u32 = 48;
    let differ = unscramble(one) ^ unscramble(next);
    differ != 0 && (differ & differ.wrapping_add(1)) == 0 && differ >> PLACE_BITS == 0
}

/// Whether a word is the tag of this place, of whatever generation.
fn is_of_place(word: u64, index: u64) -> bool {
    unscramble(unscramble(word) ^ index) <= u64::from(u32::MAX)
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

pub(crate) fn uniform(bytes: &[u8]) -> Option<u8> {
    let byte = *bytes.first()?;
    // In chunks: quick where bytes differ early, and without a branch per byte where they do not.
    bytes.chunks(256).all(|chunk| chunk.iter().fold(0, |differs, other| differs | (byte ^ other)) == 0).then_some(byte)
}

/// Writes the tags from this place on.
#[allow(unsafe_code)]
fn fill_tags(first: u64, key: u64, bytes: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has just said that it knows the instructions that the function is compiled to.
        return unsafe { fill_tags_wide(first, key, bytes) };
    }
    fill_tags_plain(first, key, bytes);
}

/// Whether there are nothing but the tags from this place on; whole words.
#[allow(unsafe_code)]
pub(crate) fn are_tags(first: u64, key: u64, bytes: &[u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        return unsafe { are_tags_wide(first, key, bytes) };
    }
    are_tags_plain(first, key, bytes)
}

/// Four words at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_tags_wide(first: u64, key: u64, bytes: &mut [u8]) {
    fill_tags_plain(first, key, bytes);
}

/// See [`fill_tags_wide`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn are_tags_wide(first: u64, key: u64, bytes: &[u8]) -> bool {
    are_tags_plain(first, key, bytes)
}

/// Words that are worked out side by side.
const TOGETHER: usize = 8;

#[inline(always)]
fn fill_tags_plain(first: u64, key: u64, bytes: &mut [u8]) {
    let mut index = first;
    let mut blocks = bytes.chunks_exact_mut(8 * TOGETHER);
    for block in &mut blocks {
        for (number, word) in block.chunks_exact_mut(8).enumerate() {
            word.copy_from_slice(&tag(index.wrapping_add(number as u64), key).to_le_bytes());
        }
        index = index.wrapping_add(TOGETHER as u64);
    }
    for (number, word) in blocks.into_remainder().chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&tag(index.wrapping_add(number as u64), key).to_le_bytes());
    }
}

#[inline(always)]
fn are_tags_plain(first: u64, key: u64, bytes: &[u8]) -> bool {
    let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    let mut index = first;
    let mut differs = [0; TOGETHER];
    let blocks = bytes.chunks_exact(8 * TOGETHER);
    let rest = blocks.remainder();
    for block in blocks {
        for (number, (differs, bytes)) in differs.iter_mut().zip(block.chunks_exact(8)).enumerate() {
            *differs |= word(bytes) ^ tag(index.wrapping_add(number as u64), key);
        }
        index = index.wrapping_add(TOGETHER as u64);
    }
    let rest = rest.chunks_exact(8).enumerate();
    differs.iter().all(|differs| *differs == 0)
        && rest
            .fold(0, |differs, (number, bytes)| differs | (word(bytes) ^ tag(index.wrapping_add(number as u64), key)))
            == 0
}

/// One word of payload, of the place with this number and the generation that `key` is the scrambled number of.
#[inline(always)]
pub(crate) fn tag(index: u64, key: u64) -> u64 {
    scramble(index ^ key)
}

/// The key of a tag, where it is that of the place `index`; and the place of a tag, where `index` is its key.
pub(crate) fn place_key(word: u64, index: u64) -> u64 {
    unscramble(word) ^ index
}

/// A bijection of 64-bit words that looks random.
#[inline(always)]
pub(crate) fn scramble(number: u64) -> u64 {
    mix(stream(0, number))
}

/// Undoes [`scramble`]: each of its steps is a bijection.
pub(crate) fn unscramble(mixed: u64) -> u64 {
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

    #[test]
    fn what_flashscope_wrote_is_known_wherever_it_lies() {
        let ours = |bytes: &[u8]| is_ours(1 << 20, bytes);
        assert!(ours(&made(FIRST, 1 << 20, 4096)) && ours(&made(FIRST, 512, 4096)), "a copy elsewhere, too");
        assert!(ours(&[0; 4096]) && ours(&[0xff; 4096]) && ours(&[]));
        let mixed =
            [made(FIRST, 1 << 20, 512), vec![0; 512], made(Fill::Tagged { generation: NOBODYS }, 0, 512)].concat();
        assert!(ours(&mixed));
        // Requests of 100 bytes, each from the beginning of a buffer; then nothing.
        let torn: Vec<u8> = made(Fill::Tagged { generation: NOBODYS }, 0, 104)[..100].repeat(20);
        assert!(ours(&torn) && ours(&[torn, vec![0; 100]].concat()));
    }

    #[test]
    fn what_others_wrote_is_not_taken_for_ours() {
        let text = b"to whom it may concern: this is the only copy of my thesis\n".repeat(40);
        assert!(!is_ours(0, &text));
        let mut sparse = vec![0; 4096];
        sparse[2048..2050].copy_from_slice(&[0x53, 0xef]);
        assert!(!is_ours(0, &sparse), "a mark among zeros");
        let counted: Vec<u8> = (0_u64..512).flat_map(u64::to_le_bytes).collect();
        assert!(!is_ours(0, &counted));
        let mut behind = made(FIRST, 0, 4096);
        behind[1024..1324].copy_from_slice(&text[..300]);
        assert!(!is_ours(0, &behind), "text among tags");
    }

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
