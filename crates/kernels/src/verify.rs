//! Loops that verify memory while they use it, and single words past the caches.
//!
//! A checksum is eight sums side by side and the sums of these sums: lane *n* takes every eighth word from the *n*-th on.

/// Sums, and sums of sums, of eight lanes.
pub type Sums = ([u64; LANES], [u64; LANES]);

/// Words side by side.
const LANES: usize = 8;

/// The sums of words; their number is a multiple of eight.
///
/// # Panics
/// Where it is not, or the words do not begin at a multiple of 64 bytes; so does the other loop.
pub fn sum(words: &[u64]) -> Sums {
    check(words);
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, and the words were checked.
        return unsafe { x86::sum(words) };
    }
    portable::sum(words)
}

/// Copies words, past the caches where that can be, and gives the sums of what was read.
///
/// # Panics
/// Also where the two are not of one length.
pub fn copy_sum(to: &mut [u64], from: &[u64]) -> Sums {
    check(from);
    check(to);
    assert_eq!(to.len(), from.len(), "a copy is as long as what is copied");
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, and the words were checked.
        return unsafe { x86::copy_sum(to, from) };
    }
    portable::copy_sum(to, from)
}

fn check(words: &[u64]) {
    assert!(words.len().is_multiple_of(LANES) && words.as_ptr().addr().is_multiple_of(64), "whole lines");
}

/// Takes a word out of the caches of all processors and reads it; whether it came from memory is for [`goes_past_caches`] to say.
pub fn read_word(words: &[u64], at: usize) -> u64 {
    let word: *const u64 = &words[at];
    flush(word);
    // SAFETY: the word is borrowed, so that it can be read.
    unsafe { word.read_volatile() }
}

/// Writes a word and brings it to memory.
pub fn write_word(words: &mut [u64], at: usize, value: u64) {
    let word: *mut u64 = &mut words[at];
    // SAFETY: the word is borrowed for writing.
    unsafe { word.write_volatile(value) };
    flush(word);
}

/// Takes words out of the caches, so that who reads them next gets them from memory.
pub fn flush_words(words: &[u64]) {
    fence();
    words.chunks(LANES).for_each(|line| flush_line(line.as_ptr()));
    fence();
}

/// Whether this processor lets programs take lines out of its caches.
pub const fn goes_past_caches() -> bool {
    cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
}

/// Takes the line of a word out of the caches, behind all that was written before and ahead of all that is read after.
fn flush(word: *const u64) {
    fence();
    flush_line(word);
    fence();
}

#[cfg(target_arch = "x86_64")]
fn flush_line(word: *const u64) {
    // SAFETY: every x86-64 has CLFLUSH; flushing a line changes no content, and the callers' words are borrowed.
    unsafe { std::arch::x86_64::_mm_clflush(word.cast()) };
}

#[cfg(target_arch = "x86_64")]
fn fence() {
    // SAFETY: every x86-64 has MFENCE.
    unsafe { std::arch::x86_64::_mm_mfence() };
}

#[cfg(target_arch = "aarch64")]
fn flush_line(word: *const u64) {
    // SAFETY: Linux lets programs clean and invalidate lines of their own memory by address, which changes no content.
    unsafe { std::arch::asm!("dc civac, {0}", in(reg) word, options(nostack, preserves_flags)) }
}

#[cfg(target_arch = "aarch64")]
fn fence() {
    // SAFETY: waits for memory, and does nothing else.
    unsafe { std::arch::asm!("dsb sy", options(nostack, preserves_flags)) }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn flush_line(_: *const u64) {}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn fence() {}

mod portable {
    use super::{LANES, Sums};

    pub(super) fn sum(words: &[u64]) -> Sums {
        let (mut first, mut second) = ([0u64; LANES], [0u64; LANES]);
        for row in words.as_chunks::<LANES>().0 {
            add(&mut first, &mut second, row);
        }
        (first, second)
    }

    pub(super) fn copy_sum(to: &mut [u64], from: &[u64]) -> Sums {
        let (mut first, mut second) = ([0u64; LANES], [0u64; LANES]);
        for (to, row) in to.as_chunks_mut::<LANES>().0.iter_mut().zip(from.as_chunks::<LANES>().0) {
            add(&mut first, &mut second, row);
            *to = *row;
        }
        (first, second)
    }

    fn add(first: &mut [u64; LANES], second: &mut [u64; LANES], row: &[u64; LANES]) {
        for ((first, second), word) in first.iter_mut().zip(second).zip(row) {
            *first = first.wrapping_add(*word);
            *second = second.wrapping_add(*first);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{LANES, Sums};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2")]
    pub(super) fn sum(words: &[u64]) -> Sums {
        let (mut first, mut second) = ([_mm256_setzero_si256(); 2], [_mm256_setzero_si256(); 2]);
        for row in words.as_chunks::<LANES>().0 {
            for half in 0..2 {
                // SAFETY: a row has room for two vectors, and begins where one may (`check`).
                let vector = unsafe { _mm256_load_si256(row.as_ptr().add(4 * half).cast()) };
                first[half] = _mm256_add_epi64(first[half], vector);
                second[half] = _mm256_add_epi64(second[half], first[half]);
            }
        }
        (lanes(first), lanes(second))
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn copy_sum(to: &mut [u64], from: &[u64]) -> Sums {
        let (mut first, mut second) = ([_mm256_setzero_si256(); 2], [_mm256_setzero_si256(); 2]);
        for (to, row) in to.as_chunks_mut::<LANES>().0.iter_mut().zip(from.as_chunks::<LANES>().0) {
            for half in 0..2 {
                // SAFETY: as in `sum`, of both rows.
                unsafe {
                    let vector = _mm256_load_si256(row.as_ptr().add(4 * half).cast());
                    _mm256_stream_si256(to.as_mut_ptr().add(4 * half).cast(), vector);
                    first[half] = _mm256_add_epi64(first[half], vector);
                    second[half] = _mm256_add_epi64(second[half], first[half]);
                }
            }
        }
        // Stores past the caches are not ordered with others; whoever reads after this sees them.
        // SAFETY: it touches no memory by itself; newer versions of Rust call it safe.
        #[allow(unused_unsafe)]
        unsafe {
            _mm_sfence();
        }
        (lanes(first), lanes(second))
    }

    #[target_feature(enable = "avx2")]
    fn lanes(vectors: [__m256i; 2]) -> [u64; LANES] {
        let mut lanes = [0; LANES];
        for (half, vector) in vectors.iter().enumerate() {
            // SAFETY: there is room for two vectors; this store asks for no alignment.
            unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().add(4 * half).cast(), *vector) };
        }
        lanes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buffer, Pages};

    #[test]
    fn all_loops_give_the_same_sums_and_the_copy() {
        let [mut from, mut to] = [0, 1].map(|_| Buffer::new(8192, Pages::Small).unwrap());
        for (at, word) in from.words_mut().iter_mut().enumerate() {
            *word = (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        let expect = portable::sum(from.words());
        assert_eq!(sum(from.words()), expect);
        for copy in [copy_sum, portable::copy_sum] {
            to.words_mut().fill(0);
            assert_eq!(copy(to.words_mut(), from.words()), expect);
            assert_eq!(to.words(), from.words());
        }
        from.words_mut()[77] ^= 1 << 60;
        assert_ne!(sum(from.words()), expect);
    }

    #[test]
    fn single_words_are_read_and_written() {
        let mut buffer = Buffer::new(4096, Pages::Small).unwrap();
        write_word(buffer.words_mut(), 9, 7);
        flush_words(buffer.words());
        assert_eq!((read_word(buffer.words(), 9), buffer.words()[9], buffer.words()[10]), (7, 7, 0));
    }
}
