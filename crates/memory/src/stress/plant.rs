//! Flips that are planted in the tested memory on purpose, to show that they are found.

use flashscope_mem::wire::{PlantKind, Planted};
use std::collections::BTreeSet;

/// Moves of a block between two flips.
const GAP: u64 = 5;

/// What is planted, and what of it was found.
#[derive(Debug, Default)]
pub(super) struct Shim {
    kind: Option<PlantKind>,
    left: u64,
    seed: u64,
    moves: u64,
    /// Words of the memory with a bit that is stuck, each with the bit and whether it is stuck at one.
    stuck: Vec<(usize, u64, bool)>,
    /// A flip on the way, to be undone: the word and its bit.
    passing: Option<(usize, u64)>,
    /// Words that hold a flip that nobody has seen yet, or held one.
    placed: BTreeSet<usize>,
    found: BTreeSet<usize>,
    again: u64,
}

impl Shim {
    pub(super) fn of(planted: Option<&Planted>, seed: u64) -> Shim {
        Shim {
            kind: planted.map(|planted| planted.kind),
            left: planted.map_or(0, |planted| planted.count),
            seed,
            ..Shim::default()
        }
    }

    /// Planted so far, and found of these.
    pub(super) fn count(&self) -> (u64, u64) {
        (self.placed.len() as u64 + self.again, self.found.len() as u64 + self.again)
    }

    /// A word that is wrong was found.
    pub(super) fn found(&mut self, word: usize) {
        if self.placed.contains(&word) {
            self.found.insert(word);
        }
    }

    /// A place of a block whose turn it is, and a bit.
    fn drawn(&mut self, from: usize, words: usize) -> (usize, u64) {
        let draw = flashscope_stress::mixed(self.seed ^ self.moves);
        let word = from + draw as usize % words;
        if self.found.remove(&word) {
            // Struck twice: what was found of the first time stays counted.
            self.again += 1;
            self.placed.remove(&word);
        }
        self.placed.insert(word);
        (word, 1 << (draw >> 58))
    }

    /// A block is about to be read: `from` is its first word.
    pub(super) fn before_reading(&mut self, memory: &mut [u64], from: usize, words: usize) {
        self.moves += 1;
        let is_due = self.left > 0 && self.moves.is_multiple_of(GAP);
        match self.kind.filter(|_| is_due) {
            Some(PlantKind::Cell) => {
                let (word, bit) = self.drawn(from, words);
                // Stuck at what does not stand there.
                self.stuck.push((word, bit, memory[word] & bit == 0));
                self.hold(memory, word, 1);
                self.left -= 1;
            }
            Some(kind @ (PlantKind::Buffer | PlantKind::Path)) => {
                let (word, bit) = self.drawn(from, words);
                memory[word] ^= bit;
                self.passing = (kind == PlantKind::Path).then_some((word, bit));
                self.left -= 1;
            }
            Some(PlantKind::Copy) | None => {}
        }
    }

    /// It was read: what only flipped on the way is as it was.
    pub(super) fn after_reading(&mut self, memory: &mut [u64]) {
        if let Some((word, bit)) = self.passing.take() {
            memory[word] ^= bit;
        }
    }

    /// A block was just copied to.
    pub(super) fn after_copying(&mut self, memory: &mut [u64], to: usize, words: usize) {
        if self.kind == Some(PlantKind::Copy) && self.left > 0 && self.moves.is_multiple_of(GAP) {
            let (word, bit) = self.drawn(to, words);
            memory[word] ^= bit;
            self.left -= 1;
        }
        self.hold(memory, to, words);
    }

    /// Words were written: cells that are stuck stay so.
    pub(super) fn hold(&self, memory: &mut [u64], from: usize, words: usize) {
        for (word, bit, is_one) in self.stuck.iter().filter(|(word, ..)| (from..from + words).contains(word)) {
            memory[*word] = if *is_one { memory[*word] | bit } else { memory[*word] & !bit };
        }
    }
}
