//! In which order the sides take their turns.

use flashscope_stats::Rng;

/// One run of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Whose turn it is; 0 is the baseline.
    pub side: usize,
    /// Which of the two runs of this side in the block it counts as, 0 or 1. Of the baseline they are set against each other,
    /// as if they were two sides.
    pub replica: usize,
}

/// The runs of one block, in the order in which they are to be done.
pub type Block = Vec<Slot>;

/// Draws the blocks of a campaign, each from what the seed and the blocks before it leave open.
#[derive(Clone, Debug)]
pub struct Design {
    sides: usize,
    rng: Rng,
    /// Which of the four forms the two-sided design begins with.
    phase: u32,
    drawn: u32,
}

impl Design {
    /// Of so many sides; the same seed draws the same orders.
    pub fn new(sides: usize, seed: u64) -> Design {
        let mut rng = Rng::new(seed);
        let phase = rng.below(4) as u32;
        Design { sides, rng, phase, drawn: 0 }
    }

    /// The next block. Two sides: ABBA and BAAB in turn, so that a steady drift cancels out within each block; which of the
    /// baseline's runs counts as the first changes every second block, so that over four blocks drift cancels out of the
    /// baseline against itself too. More sides: each once and the baseline twice, in an order drawn anew.
    #[expect(clippy::should_implement_trait, reason = "it never ends, so that an `Option` would say nothing")]
    pub fn next(&mut self) -> Block {
        let form = self.phase.wrapping_add(self.drawn);
        self.drawn += 1;
        if self.sides == 2 {
            let order = if form.is_multiple_of(2) { [0, 1, 1, 0] } else { [1, 0, 0, 1] };
            let swapped = (form / 2) as usize % 2;
            let mut seen = [0, 0];
            return order
                .into_iter()
                .map(|side: usize| {
                    let replica = (seen[side] + swapped) % 2;
                    seen[side] += 1;
                    Slot { side, replica }
                })
                .collect();
        }
        let mut block: Block = (0..self.sides).map(|side| Slot { side, replica: 0 }).collect();
        block.push(Slot { side: 0, replica: 1 });
        self.rng.shuffle(&mut block);
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_cancels_out() {
        let mut design = Design::new(2, 7);
        for _ in 0..3 {
            let blocks: Vec<Block> = (0..4).map(|_| design.next()).collect();
            let places = |of: &dyn Fn(&Slot) -> bool| -> usize {
                blocks
                    .iter()
                    .map(|block| {
                        block.iter().enumerate().filter(|(_, slot)| of(slot)).map(|(place, _)| place).sum::<usize>()
                    })
                    .sum()
            };
            // The sum of places is what a steady drift adds: the same for both sides, and for the baseline's two runs.
            assert_eq!(places(&|slot| slot.side == 0), places(&|slot| slot.side == 1));
            assert_eq!(
                places(&|slot| slot.side == 0 && slot.replica == 0),
                places(&|slot| slot.side == 0 && slot.replica == 1)
            );
            for block in &blocks {
                let sum = |side| {
                    block
                        .iter()
                        .enumerate()
                        .filter(|(_, slot)| slot.side == side)
                        .map(|(place, _)| place)
                        .sum::<usize>()
                };
                assert_eq!(sum(0), sum(1));
            }
        }
    }

    #[test]
    fn every_side_has_its_turn() {
        let mut design = Design::new(5, 3);
        let blocks: Vec<Block> = (0..40).map(|_| design.next()).collect();
        for block in &blocks {
            let count = |side| block.iter().filter(|slot| slot.side == side).count();
            assert_eq!((0..5).map(count).collect::<Vec<_>>(), [2, 1, 1, 1, 1]);
        }
        // No side is always in front.
        let first: std::collections::BTreeSet<usize> = blocks.iter().map(|block| block[0].side).collect();
        assert_eq!(first.len(), 5);
        assert_ne!(blocks[0], blocks[1]);
    }
}
