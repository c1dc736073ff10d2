//! Chases: a ring of pointers, each load of which needs what the load before it has brought.

use crate::Buffer;
use std::hint::black_box;
use std::ptr::NonNull;

/// What stands in a buffer that is chased through: the address of another such word.
#[derive(Clone, Copy)]
struct Word(*const Word);

/// Loads between two looks at whether there were enough.
const UNROLLED: u64 = 32;

/// A buffer all of whose words are addresses of words of the same buffer. That holds from its making on, and so a chase cannot
/// leave it, wherever it begins and however far it goes.
pub struct Ring {
    buffer: Buffer,
    start: NonNull<Word>,
    at: *const Word,
    places: u64,
}

impl Ring {
    /// Takes a buffer for chases; every word of it is written.
    pub fn new(mut buffer: Buffer) -> Ring {
        let start: NonNull<Word> = buffer.start().cast();
        let words = buffer.len() / size_of::<Word>();
        for at in 0..words {
            // SAFETY: `at` is below the number of words of the buffer, which is mapped, writable, aligned, and ours alone.
            unsafe { start.add(at).write(Word(start.as_ptr())) };
        }
        Ring { buffer, start, at: start.as_ptr(), places: 1 }
    }

    /// Bytes that places can lie in.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Whether there is no room for places, which there always is.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The buffer that it is laid in.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Lays a ring of `places`: each at its `offset` in bytes from the start, followed by the one that `next` names. Words that
    /// are no place keep what they have, which leads back to the start.
    ///
    /// # Panics
    /// Where an offset lies outside of the buffer or is no multiple of a word's size.
    pub fn lay(&mut self, places: u64, next: impl Fn(u64) -> u64, offset: impl Fn(u64) -> usize) {
        for place in 0..places {
            let word = self.word(offset(place));
            let to = self.word(offset(next(place)));
            // SAFETY: `word` checked that both lie inside of the buffer and are aligned; the buffer is ours alone.
            unsafe { word.write(Word(to.as_ptr())) };
        }
        self.at = self.word(offset(0)).as_ptr();
        self.places = places;
    }

    /// Places of the ring that was laid last.
    pub fn places(&self) -> u64 {
        self.places
    }

    fn word(&self, offset: usize) -> NonNull<Word> {
        assert!(
            offset.is_multiple_of(size_of::<Word>()) && offset < self.buffer.len(),
            "a place outside of the buffer"
        );
        // SAFETY: it lies inside of the buffer, whose length is a multiple of a word's.
        unsafe { self.start.byte_add(offset) }
    }

    /// Follows at least `loads` of them from where the last chase ended; how many it were, a multiple of 32.
    pub fn chase(&mut self, loads: u64) -> u64 {
        let rounds = loads.div_ceil(UNROLLED);
        let mut at = self.at;
        for _ in 0..rounds {
            // As many lines as UNROLLED says.
            macro_rules! follow {
                ($($step:literal)+) => {$(
                    let _ = $step;
                    // SAFETY: every word of the buffer holds the address of an aligned word of the same buffer (`new`, `lay`).
                    at = unsafe { (*at).0 };
                )+};
            }
            follow!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
        }
        self.at = black_box(at);
        rounds * UNROLLED
    }

    /// Where the chase stands, in bytes from the start.
    pub fn position(&self) -> usize {
        self.at.addr() - self.start.as_ptr().addr()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pages;

    #[test]
    fn a_chase_visits_every_place_in_order() {
        let mut ring = Ring::new(Buffer::new(4096, Pages::Small).unwrap());
        // 64 places of one word each, five apart: a ring, as 5 has no divisor of 64.
        ring.lay(64, |place| (place + 5) % 64, |place| place as usize * 64);
        let mut expected = 0usize;
        for _ in 0..4 {
            assert_eq!(ring.chase(1), UNROLLED);
            expected = (expected + 5 * UNROLLED as usize) % 64;
            assert_eq!(ring.position(), expected * 64);
        }
        assert_eq!(ring.places(), 64);
        // A shorter ring afterwards.
        ring.lay(1, |_| 0, |_| 8);
        ring.chase(100);
        assert_eq!(ring.position(), 8);
    }

    #[test]
    fn a_next_that_is_no_place_leads_back_to_the_start() {
        let mut ring = Ring::new(Buffer::new(4096, Pages::Small).unwrap());
        ring.lay(1, |_| 7, |place| place as usize * 8);
        ring.chase(33);
        assert_eq!(ring.position() % 8, 0);
        assert!(ring.position() < 4096);
    }

    #[test]
    #[should_panic(expected = "outside of the buffer")]
    fn a_place_outside_is_refused() {
        Ring::new(Buffer::new(4096, Pages::Small).unwrap()).lay(2, |place| 1 - place, |place| place as usize * 4096);
    }
}
