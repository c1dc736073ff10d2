//! Which generation of each place was written last, so that every read of a run can be checked.

use crate::plan::PlanError;

/// One number per block of the span.
#[derive(Clone, Debug)]
pub struct Generations {
    start: u64,
    block: u32,
    last: Vec<u32>,
}

/// What is known of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// This run has not written it.
    Untouched,
    /// It was written last with this generation.
    Generation(u32),
    /// A write of it failed: nobody knows what it holds.
    Nothing,
}

/// Blocks that are kept track of at most: 256 MiB of notes.
pub const MOST_BLOCKS: u64 = 1 << 26;
const LOST: u32 = u32::MAX;

impl Generations {
    /// For blocks of `block` bytes in `length` bytes from `start`.
    pub fn new(start: u64, length: u64, block: u32) -> Result<Generations, PlanError> {
        let blocks = length / u64::from(block);
        if blocks > MOST_BLOCKS {
            return Err(PlanError::TooMuchToVerify { blocks, most: MOST_BLOCKS });
        }
        Ok(Generations { start, block, last: vec![0; blocks as usize] })
    }

    /// What the block at `offset` should hold.
    pub fn known(&self, offset: u64) -> Known {
        match self.last[self.index(offset)] {
            0 => Known::Untouched,
            LOST => Known::Nothing,
            generation => Known::Generation(generation),
        }
    }

    /// The block at `offset` is about to be written: with which generation.
    pub fn write(&mut self, offset: u64) -> u32 {
        let index = self.index(offset);
        let last = &mut self.last[index];
        *last = if *last >= LOST - 1 { 1 } else { *last + 1 };
        *last
    }

    /// A write of the block at `offset` failed.
    pub fn lose(&mut self, offset: u64) {
        let index = self.index(offset);
        self.last[index] = LOST;
    }

    /// The first block from the `from`-th on that was written: its number, position and generation.
    pub fn next_written(&self, from: usize) -> Option<(usize, u64, u32)> {
        let found = self.last.iter().enumerate().skip(from).find(|(_, last)| !matches!(**last, 0 | LOST));
        found.map(|(index, last)| (index, self.start + index as u64 * u64::from(self.block), *last))
    }

    /// Size of a block.
    pub fn block(&self) -> u32 {
        self.block
    }

    fn index(&self, offset: u64) -> usize {
        ((offset - self.start) / u64::from(self.block)) as usize
    }
}
