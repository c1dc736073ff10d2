//! One thread: blocks that are filled, moved about and inverted, each verified whenever it is read and right after it was written.

use super::physical::Addresses;
use super::plant::Shim;
use flashscope_kernels::Buffer;
use flashscope_kernels::verify::{self, copy_sum};
use flashscope_model::stress::{Persistence, WrongWord};
use flashscope_stress::{Pattern, Reader, Sum, examined, mixed};
use flashscope_units::Bytes;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Length of a block in bytes.
pub(super) const BLOCK: usize = 1 << 20;
/// The same in words.
const WORDS: usize = BLOCK / 8;
/// Times that all blocks are moved between two inversions or patterns.
const MOVES: u32 = 6;
/// Wrong words that a thread keeps one by one.
const MOST_WORDS: usize = 1000;

/// What a block holds.
#[derive(Clone, Copy, Debug)]
struct Content {
    round: u64,
    /// Place of its first word when it was made, over all threads.
    origin: u64,
    inverted: bool,
    sum: Sum,
}

/// What a thread has to tell.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) passes: u64,
    pub(super) wrong: u64,
    pub(super) words: Vec<WrongWord>,
    pub(super) planted: u64,
    pub(super) planted_found: u64,
}

/// A thread's memory.
pub(super) struct Worker<'a> {
    buffer: Buffer,
    /// What each block holds; `None` of the one that is empty.
    contents: Vec<Option<Content>>,
    /// Place of the first word over all threads.
    base: u64,
    seed: u64,
    round: u64,
    verified: u64,
    shim: Shim,
    addresses: &'a Addresses,
    told: Told,
}

impl<'a> Worker<'a> {
    /// `first` is how many blocks the threads before it have.
    pub(super) fn new(buffer: Buffer, first: u64, seed: u64, shim: Shim, addresses: &'a Addresses) -> Worker<'a> {
        let contents = vec![None; buffer.len() / BLOCK];
        let base = first * WORDS as u64;
        Worker { buffer, contents, base, seed, round: 0, verified: 0, shim, addresses, told: Told::default() }
    }

    /// Fills all blocks but the last with the pattern of a round.
    pub(super) fn fill(&mut self, round: u64, over: &AtomicBool) {
        self.round = round;
        let pattern = Pattern::of_round(round);
        self.contents.fill(None);
        for block in 0..self.contents.len() - 1 {
            if over.load(Ordering::Acquire) {
                return;
            }
            let (from, origin) = (block * WORDS, self.base + (block * WORDS) as u64);
            let sum = pattern.fill_summed(origin, round, self.seed, &mut self.buffer.words_mut()[from..from + WORDS]);
            self.contents[block] = Some(Content { round, origin, inverted: false, sum });
            self.shim.hold(self.buffer.words_mut(), from, WORDS);
            self.check(block, false);
        }
    }

    /// Goes on until the time is over, and verifies everything once more.
    pub(super) fn run(mut self, over: &AtomicBool, moved: &AtomicU64) -> Told {
        while !over.load(Ordering::Acquire) {
            for inverts in [false, true] {
                for _ in 0..MOVES {
                    self.each(over, moved, 3, Worker::shift);
                }
                if !inverts {
                    self.each(over, moved, 4, Worker::invert);
                }
            }
            if !over.load(Ordering::Acquire) {
                self.fill(self.round + 1, &AtomicBool::new(false));
                moved.fetch_add(2 * (self.buffer.len() - BLOCK) as u64, Ordering::AcqRel);
            }
        }
        for block in 0..self.contents.len() {
            self.check(block, true);
        }
        self.told.passes = self.verified / (self.contents.len() - 1) as u64;
        (self.told.planted, self.told.planted_found) = self.shim.count();
        self.told
    }

    /// Does something to every block, from anywhere on; `times` is how often it reads or writes a block.
    fn each(&mut self, over: &AtomicBool, moved: &AtomicU64, times: u64, act: fn(&mut Self, usize)) {
        let blocks = self.contents.len();
        let start = mixed(self.seed ^ self.verified) as usize % blocks;
        for at in 0..blocks {
            let block = (start + at) % blocks;
            if over.load(Ordering::Acquire) {
                return;
            }
            if self.contents[block].is_some() {
                act(self, block);
                moved.fetch_add(times * BLOCK as u64, Ordering::AcqRel);
            }
        }
    }

    /// Moves a block to the empty one.
    fn shift(&mut self, block: usize) {
        let empty = self.contents.iter().position(Option::is_none).expect("one block is always empty");
        let Some(content) = self.contents[block] else { return };
        let (from, to) = (block * WORDS, empty * WORDS);
        let memory = self.buffer.words_mut();
        self.shim.before_reading(memory, from, WORDS);
        let sum = {
            let (low, high) = memory.split_at_mut(from.max(to));
            let (one, two) = (&mut low[from.min(to)..][..WORDS], &mut high[..WORDS]);
            if to < from { copy_sum(one, two) } else { copy_sum(two, one) }
        };
        self.shim.after_reading(memory);
        self.contents[empty] = Some(content);
        if summed(sum) != content.sum {
            self.source_differs(block, empty, content, summed(sum));
        }
        self.contents[block] = None;
        self.verified += 1;
        self.shim.after_copying(self.buffer.words_mut(), to, WORDS);
        self.check(empty, false);
    }

    /// Turns every bit of a block where it is.
    fn invert(&mut self, block: usize) {
        self.check(block, true);
        let Some(content) = &mut self.contents[block] else { return };
        let from = block * WORDS;
        self.buffer.words_mut()[from..from + WORDS].iter_mut().for_each(|word| *word = !*word);
        (content.inverted, content.sum) = (!content.inverted, content.sum.inverted(WORDS));
        self.shim.hold(self.buffer.words_mut(), from, WORDS);
        // It was written through the caches, which are not what is tested.
        verify::flush_words(&self.buffer.words()[from..from + WORDS]);
        self.check(block, false);
    }

    /// Holds a block against what it should hold. `was_right`: it had been, since it was written.
    fn check(&mut self, block: usize, was_right: bool) {
        let Some(content) = self.contents[block] else { return };
        let from = block * WORDS;
        let sum = summed(verify::sum(&self.buffer.words()[from..from + WORDS]));
        self.verified += u64::from(was_right);
        if sum != content.sum && !self.examine(block, content, was_right) {
            self.tell(passing(block, content.sum, sum, was_right));
        }
    }

    /// What was read for a copy was not what should stand there: either it stands there, or it was read so.
    fn source_differs(&mut self, block: usize, copy: usize, content: Content, sum: Sum) {
        let stands = self.examine(block, content, true);
        // The copy holds what was read, wherever the source holds what it should.
        let wrong = self.wrong(copy, content);
        for (word, expected, found) in &wrong {
            self.reader().write(*word as u64, *expected);
            let source = word - copy * WORDS + block * WORDS;
            let again = (0..8).map(|_| self.reader().read(source as u64));
            let again_right = again.filter(|value| value == expected).count() as u32;
            if !stands {
                let physical = self.reader().physical(source as u64);
                self.tell(WrongWord {
                    at: Bytes(source as u64 * 8),
                    physical,
                    expected: *expected,
                    found: *found,
                    persistence: if again_right == 8 { Persistence::Transient } else { Persistence::Unsteady },
                    again: 8,
                    again_right,
                    was_right: true,
                });
            }
        }
        if !stands && wrong.is_empty() {
            self.tell(passing(block, content.sum, sum, true));
        }
    }

    /// Looks at every word of a block that stands wrong; whether there are any.
    fn examine(&mut self, block: usize, content: Content, was_right: bool) -> bool {
        let wrong = self.wrong(block, content);
        for (word, expected, found) in &wrong {
            let examined = examined(&mut self.reader(), *word as u64, (*expected, *found), was_right);
            self.tell(examined);
        }
        !wrong.is_empty()
    }

    /// Words of a block that are wrong in memory: place, what should stand there, what does.
    fn wrong(&self, block: usize, content: Content) -> Vec<(usize, u64, u64)> {
        let from = block * WORDS;
        let words = &self.buffer.words()[from..from + WORDS];
        verify::flush_words(words);
        let (pattern, turn) = (Pattern::of_round(content.round), if content.inverted { u64::MAX } else { 0 });
        let expected = |at: usize| pattern.word(content.origin + at as u64, content.round, self.seed) ^ turn;
        let differs = words.iter().enumerate().map(|(at, found)| (from + at, expected(at), *found));
        differs.filter(|(_, expected, found)| expected != found).collect()
    }

    fn reader(&mut self) -> Words<'_> {
        Words { buffer: &mut self.buffer, shim: &self.shim, addresses: self.addresses }
    }

    fn tell(&mut self, mut word: WrongWord) {
        self.shim.found((word.at.get() / 8) as usize);
        self.told.wrong += 1;
        // Its place over all threads.
        word.at += Bytes(self.base * 8);
        if self.told.words.len() < MOST_WORDS {
            self.told.words.push(word);
        }
    }
}

fn summed((first, second): verify::Sums) -> Sum {
    Sum { first, second }
}

/// A sum was wrong and no word is when it is read again: what was read is known by its difference in the first lane that has one, its place to
/// the lane.
fn passing(block: usize, expected: Sum, found: Sum, was_right: bool) -> WrongWord {
    let differs = |lane: &usize| expected.first[*lane] != found.first[*lane];
    let lane = (0..Sum::LANES).find(differs).unwrap_or(0);
    WrongWord {
        at: Bytes((block * BLOCK + lane * 8) as u64),
        physical: None,
        expected: 0,
        found: expected.first[lane].abs_diff(found.first[lane]),
        persistence: Persistence::Transient,
        again: 1,
        again_right: 1,
        was_right,
    }
}

/// Single words, past the caches.
struct Words<'a> {
    buffer: &'a mut Buffer,
    shim: &'a Shim,
    addresses: &'a Addresses,
}

impl Reader for Words<'_> {
    fn read(&mut self, word: u64) -> u64 {
        verify::read_word(self.buffer.words(), word as usize)
    }

    fn write(&mut self, word: u64, value: u64) {
        verify::write_word(self.buffer.words_mut(), word as usize, value);
        self.shim.hold(self.buffer.words_mut(), word as usize, 1);
    }

    fn physical(&self, word: u64) -> Option<u64> {
        self.addresses.of(self.buffer.address() as u64 + word * 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_kernels::Pages;
    use flashscope_mem::wire::{PlantKind, Planted};
    use flashscope_model::stress::Cause;
    use flashscope_stress::from_words;

    /// A thread that moves all its blocks some times.
    fn told(plant: Option<Planted>) -> Told {
        let (addresses, over, moved) = (Addresses::open(), AtomicBool::new(false), AtomicU64::new(0));
        let buffer = Buffer::new(6 * BLOCK, Pages::Small).unwrap();
        let mut worker = Worker::new(buffer, 6, 11, Shim::of(plant.as_ref(), 3), &addresses);
        for round in 0..2 {
            worker.fill(round, &over);
            for _ in 0..6 {
                worker.each(&over, &moved, 3, Worker::shift);
                worker.each(&over, &moved, 3, Worker::invert);
            }
        }
        over.store(true, Ordering::Release);
        worker.run(&over, &moved)
    }

    #[test]
    fn nothing_is_wrong_where_nothing_is_planted() {
        let told = told(None);
        assert_eq!((told.wrong, told.planted), (0, 0));
        assert!(told.passes >= 20, "{}", told.passes);
    }

    #[test]
    fn every_planted_flip_is_found_and_named() {
        for (kind, cause) in [
            (PlantKind::Cell, Cause::MemoryCell),
            (PlantKind::Buffer, Cause::MemoryCell),
            (PlantKind::Path, Cause::MemoryPath),
            (PlantKind::Copy, Cause::MemoryPath),
        ] {
            let told = told(Some(Planted { kind, count: 7 }));
            assert_eq!((told.planted, told.planted_found), (7, 7), "{kind:?}");
            assert!(told.words.iter().all(|word| from_words(word).cause == cause), "{kind:?} {:?}", told.words);
            let fewest = if kind == PlantKind::Cell { told.wrong >= 7 } else { told.wrong == 7 };
            assert!(fewest, "{kind:?} {}", told.wrong);
        }
    }
}
