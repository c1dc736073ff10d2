//! Flips that are planted on purpose in a real journey, to show that they are found.

use crate::journey::Seen;
use crate::mixed;
use crate::seam::{Seam, Slot};

/// Where flips are planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// In a kept copy, while it stands.
    Cell,
    /// On the way from the buffer to the processor.
    Path,
    /// In the buffer, while the device takes it.
    Buffer,
    /// In the copy to the buffer, as it is made.
    Copy,
}

/// A seam at which flips are planted, around another one.
#[derive(Debug)]
pub struct Planting<S> {
    inner: S,
    spot: Option<Spot>,
    left: u64,
    seed: u64,
    /// Occasions so far.
    turn: u64,
    placed: Vec<(u32, u32)>,
}

/// Occasions between two flips.
const GAP: u64 = 3;

impl<S: Seam> Planting<S> {
    /// So many flips, or none.
    pub fn new(inner: S, planted: Option<(Spot, u64)>, seed: u64) -> Planting<S> {
        let (spot, left) = planted.map_or((None, 0), |(spot, count)| (Some(spot), count));
        Planting { inner, spot, left, seed, turn: 0, placed: Vec::new() }
    }

    /// Flips so far, and how many of them were seen.
    pub fn count(&self, seen: &[Seen]) -> (u64, u64) {
        let is_seen = |(block, word): &&(u32, u32)| {
            let in_memory = seen.iter().filter(|seen| seen.storage.is_none() && seen.block == *block);
            in_memory.into_iter().any(|seen| seen.difference.words().iter().any(|(at, _)| at == word))
        };
        (self.placed.len() as u64, self.placed.iter().filter(is_seen).count() as u64)
    }

    /// The word to flip and its bit, where it is time. One place is struck once.
    fn due(&mut self, spot: Spot, block: u32, words: usize) -> Option<(usize, u64)> {
        if self.spot != Some(spot) || self.left == 0 {
            return None;
        }
        self.turn += 1;
        let draw = mixed(self.seed ^ self.turn);
        let place = (block, (draw % words as u64) as u32);
        if !self.turn.is_multiple_of(GAP) || self.placed.contains(&place) {
            return None;
        }
        self.left -= 1;
        self.placed.push(place);
        Some((place.1 as usize, 1 << (draw >> 58)))
    }

    fn strike(&mut self, spot: Spot, block: u32, memory: &mut [u8]) {
        if let Some((word, bit)) = self.due(spot, block, memory.len() / 8) {
            for (byte, bits) in memory[word * 8..word * 8 + 8].iter_mut().zip(bit.to_le_bytes()) {
                *byte ^= bits;
            }
        }
    }
}

impl<S: Seam> Seam for Planting<S> {
    fn written(&mut self, slot: Slot, block: u32, memory: &mut [u8]) {
        self.inner.written(slot, block, memory);
        if slot == Slot::Out {
            self.strike(Spot::Copy, block, memory);
        }
    }

    fn stood(&mut self, slot: Slot, block: u32, memory: &mut [u8]) {
        self.inner.stood(slot, block, memory);
        match slot {
            Slot::Kept => self.strike(Spot::Cell, block, memory),
            Slot::Out => self.strike(Spot::Buffer, block, memory),
            Slot::Back | Slot::Other => {}
        }
    }

    fn seen(&mut self, slot: Slot, block: u32, first: usize, words: &mut [u64]) {
        self.inner.seen(slot, block, first, words);
        // Once for each look: at the first piece of a block.
        if slot == Slot::Out
            && first == 0
            && let Some((word, bit)) = self.due(Spot::Path, block, words.len())
        {
            words[word] ^= bit;
        }
    }

    fn past_caches(&mut self) {
        self.inner.past_caches();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seam::NoSeam;

    #[test]
    fn as_many_as_asked_for_are_planted_where_they_were_asked_for() {
        let mut seam = Planting::new(NoSeam, Some((Spot::Copy, 2)), 5);
        let mut memory = vec![0u8; 64];
        for _ in 0..20 {
            seam.stood(Slot::Out, 1, &mut memory);
            seam.written(Slot::Kept, 1, &mut memory);
        }
        assert!(memory.iter().all(|byte| *byte == 0));
        for _ in 0..20 {
            seam.written(Slot::Out, 1, &mut memory);
        }
        assert_eq!(memory.iter().map(|byte| byte.count_ones()).sum::<u32>(), 2);
        assert_eq!(seam.count(&[]), (2, 0));
    }
}
