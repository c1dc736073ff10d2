//! The flash of a card: which physical block holds which sub-unit, how many of its pages are valid, and which logical
//! pages hold data at all. Knows no time and no policy.

mod saved;

pub(super) use saved::SavedFlash;

use crate::ageing::{Ageing, Fate};
use flashscope_units::{Instant, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;

/// No block.
pub(super) const NONE: u32 = u32::MAX;

/// What a block is in use for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Use {
    Free,
    Data,
    Log,
    /// Out of use for good.
    Bad,
}

/// Which pages of a sub-unit hold data. Costs memory only where neither all nor none do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Pages {
    None,
    All,
    Some(Bits),
}

impl Pages {
    fn heap_bytes(&self) -> usize {
        match self {
            Pages::Some(bits) => bits.bytes(),
            Pages::None | Pages::All => 0,
        }
    }
}

/// A set of page numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Bits {
    words: Box<[u64]>,
}

impl Bits {
    pub(super) fn new(pages: u32) -> Bits {
        Bits { words: vec![0; pages.div_ceil(64) as usize].into() }
    }

    /// Whether it is a set of so many pages.
    pub(super) fn is_of(&self, pages: u32) -> bool {
        self.words.len() == pages.div_ceil(64) as usize && self.words.len() * 64 >= pages as usize
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.words)
    }

    pub(super) fn count(&self, range: Range<u32>) -> u32 {
        words(range).map(|(word, mask)| (self.words[word] & mask).count_ones()).sum()
    }

    /// Puts the range in or takes it out; says how many changed.
    pub(super) fn set(&mut self, range: Range<u32>, to: bool) -> u32 {
        words(range)
            .map(|(word, mask)| {
                let before = self.words[word];
                self.words[word] = if to { before | mask } else { before & !mask };
                (before ^ self.words[word]).count_ones()
            })
            .sum()
    }
}

/// The words that a range of bits touches, each with its mask.
fn words(range: Range<u32>) -> impl Iterator<Item = (usize, u64)> {
    let (start, end) = (range.start, range.end.max(range.start));
    (start / 64..end.div_ceil(64)).map(move |word| {
        let low = start.saturating_sub(word * 64).min(64);
        let high = (end - word * 64).min(64);
        let upto = |bit: u32| if bit >= 64 { u64::MAX } else { (1u64 << bit) - 1 };
        (word as usize, upto(high) & !upto(low))
    })
}

/// Blocks, each of one sub-unit.
#[derive(Clone, Debug)]
pub(super) struct Flash {
    /// Pages of a sub-unit, and so of a block.
    pub(super) pages: u32,
    /// Logical sub-unit to data block.
    map: Vec<u32>,
    present: Vec<Pages>,
    uses: Vec<Use>,
    /// Valid pages of each data or log block.
    valid: Vec<u32>,
    erases: Vec<u32>,
    free: VecDeque<u32>,
    /// Blocks that can go bad before the card cannot do its work any more.
    spare: u32,
    /// Absent where use changes nothing.
    pub(super) ageing: Option<Box<Ageing>>,
    /// When the work began that is under way: blocks that it opens are written from then on.
    pub(super) now: Instant,
    /// A block went bad that could not be done without: nothing is written any more.
    pub(super) read_only: bool,
    /// Upkeep of the controller's tables that no request has waited for yet.
    pub(super) upkeep: Nanos,
    /// Erases since it was made.
    pub(super) erased: u64,
    /// Pages programmed since it was made.
    pub(super) programmed: u64,
    /// Blocks that took the place of another since it was made.
    pub(super) switched: u64,
}

impl Flash {
    /// `sub_units` logical sub-units of `pages` pages each, of which the first `written` were written sequentially and the
    /// others never; and `spare` blocks more.
    pub(super) fn new(sub_units: u32, pages: u32, spare: u32, written: u32) -> Flash {
        let (logical, blocks) = (sub_units as usize, (sub_units + spare) as usize);
        let used = written as usize;
        let mut flash = Flash {
            pages,
            map: vec![NONE; logical],
            present: vec![Pages::None; logical],
            uses: vec![Use::Free; blocks],
            valid: vec![0; blocks],
            erases: vec![0; blocks],
            free: (used as u32..blocks as u32).collect(),
            spare: 0,
            ageing: None,
            now: Instant::ORIGIN,
            read_only: false,
            upkeep: Nanos::ZERO,
            erased: 0,
            programmed: 0,
            switched: 0,
        };
        for block in 0..used {
            flash.map[block] = block as u32;
            flash.present[block] = Pages::All;
            flash.uses[block] = Use::Data;
            flash.valid[block] = pages;
        }
        flash
    }

    pub(super) fn sub_units(&self) -> u32 {
        self.map.len() as u32
    }

    /// Pages of the range that hold data.
    pub(super) fn present(&self, sub: u32, range: Range<u32>) -> u32 {
        match &self.present[sub as usize] {
            Pages::None => 0,
            Pages::All => range.end - range.start,
            Pages::Some(bits) => bits.count(range),
        }
    }

    /// From now on the range holds data, or none. Says how many pages changed.
    pub(super) fn set_present(&mut self, sub: u32, range: Range<u32>, to: bool) -> u32 {
        let pages = self.pages;
        let entry = &mut self.present[sub as usize];
        let changed = match (&mut *entry, to) {
            (Pages::All, true) | (Pages::None, false) => return 0,
            (Pages::Some(bits), _) => bits.set(range, to),
            (whole, _) => {
                let mut bits = Bits::new(pages);
                bits.set(0..pages, !to);
                let changed = bits.set(range, to);
                *whole = Pages::Some(bits);
                changed
            }
        };
        if let Pages::Some(bits) = &*entry {
            match bits.count(0..pages) {
                0 => *entry = Pages::None,
                n if n == pages => *entry = Pages::All,
                _ => {}
            }
        }
        changed
    }

    /// The data block of a sub-unit, if it has one.
    pub(super) fn data_block(&self, sub: u32) -> Option<u32> {
        let block = self.map[sub as usize];
        (block != NONE).then_some(block)
    }

    /// An erased block, the one that was freed longest ago.
    pub(super) fn allocate(&mut self) -> u32 {
        let block = self.free.pop_front().expect("the spare blocks cover every log and one merge");
        self.uses[block as usize] = Use::Log;
        if let Some(ageing) = &mut self.ageing {
            self.upkeep += ageing.open(block, self.now);
        }
        block
    }

    /// Erases a block of which nothing is valid any more.
    pub(super) fn release(&mut self, block: u32) {
        debug_assert_eq!(self.valid[block as usize], 0, "block {block} is erased with valid pages in it");
        self.uses[block as usize] = Use::Free;
        self.erases[block as usize] += 1;
        self.erased += 1;
        let erases = self.erases[block as usize];
        match self.ageing.as_mut().map_or(Fate::Usable, |ageing| ageing.erased(block, erases)) {
            Fate::Bad if self.spare > 0 => {
                self.spare -= 1;
                self.uses[block as usize] = Use::Bad;
            }
            fate => {
                self.read_only |= fate == Fate::Bad;
                self.free.push_back(block);
            }
        }
    }

    /// Makes a log block the data block of a sub-unit, and erases the one before.
    pub(super) fn switch(&mut self, sub: u32, block: u32) {
        let old = std::mem::replace(&mut self.map[sub as usize], block);
        self.uses[block as usize] = Use::Data;
        if old != NONE {
            self.switched += 1;
            self.release(old);
        }
    }

    /// The data block of a sub-unit, which gets one where it has none.
    pub(super) fn data_block_or_new(&mut self, sub: u32) -> u32 {
        if self.map[sub as usize] == NONE {
            let block = self.allocate();
            self.uses[block as usize] = Use::Data;
            self.map[sub as usize] = block;
        }
        self.map[sub as usize]
    }

    /// Takes the data block away from a sub-unit that holds nothing any more.
    pub(super) fn drop_data_block(&mut self, sub: u32) {
        let old = std::mem::replace(&mut self.map[sub as usize], NONE);
        if old != NONE {
            self.release(old);
        }
    }

    pub(super) fn add_valid(&mut self, block: u32, pages: u32) {
        self.valid[block as usize] += pages;
    }

    pub(super) fn remove_valid(&mut self, block: u32, pages: u32) {
        self.valid[block as usize] -= pages;
    }

    pub(super) fn valid(&self, block: u32) -> u32 {
        self.valid[block as usize]
    }

    /// From now on its blocks age, and so many may go bad.
    pub(super) fn age(&mut self, ageing: Ageing, spare: u32) {
        (self.ageing, self.spare) = (Some(Box::new(ageing)), spare);
    }

    /// Blocks that may still go bad, replacements included.
    pub(super) fn spare(&self) -> u64 {
        u64::from(self.spare) + self.ageing.as_ref().map_or(0, |ageing| ageing.reserve().0)
    }

    pub(super) fn erases(&self, block: u32) -> u32 {
        self.erases[block as usize]
    }

    /// All blocks.
    pub(super) fn blocks(&self) -> u32 {
        self.uses.len() as u32
    }

    /// Erases of the block that was erased most often.
    pub(super) fn most_erases(&self) -> u32 {
        self.erases.iter().copied().max().unwrap_or(0)
    }

    /// Bytes of memory that it takes, the sets of pages included.
    pub(super) fn state_bytes(&self) -> usize {
        let sets: usize = self.present.iter().map(Pages::heap_bytes).sum();
        let aged = self.ageing.as_ref().map_or(0, |ageing| ageing.bytes());
        let per_sub = size_of::<u32>() + size_of::<Pages>();
        let per_block = size_of::<Use>() + 2 * size_of::<u32>();
        self.map.len() * per_sub + self.uses.len() * per_block + self.free.capacity() * size_of::<u32>() + sets + aged
    }

    /// Counts erases and programs from now on.
    pub(super) fn forget_wear(&mut self) {
        self.erases.fill(0);
        self.erased = 0;
        self.programmed = 0;
    }

    /// Blocks by use: free, data, log, bad.
    pub(super) fn census(&self) -> [usize; 4] {
        let count = |wanted: Use| self.uses.iter().filter(|use_| **use_ == wanted).count();
        [count(Use::Free), count(Use::Data), count(Use::Log), count(Use::Bad)]
    }

    /// Free blocks in the list, all blocks, the sum of all erase counts, and valid pages in all blocks.
    pub(super) fn totals(&self) -> (usize, usize, u64, u64) {
        let erases = self.erases.iter().map(|&count| u64::from(count)).sum();
        let valid = self.valid.iter().map(|&count| u64::from(count)).sum();
        (self.free.len(), self.uses.len(), erases, valid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_count_and_change_across_words() {
        let mut bits = Bits::new(200);
        assert_eq!(bits.set(10..140, true), 130);
        assert_eq!(bits.set(60..70, true), 0);
        assert_eq!(bits.set(60..70, false), 10);
        assert_eq!(bits.count(0..200), 120);
        assert_eq!(bits.count(64..64), 0);
        assert_eq!(bits.count(59..71), 2);
        assert_eq!(bits.count(139..141), 1);
    }

    /// At most 8 bytes a page: far less, as only sub-units and blocks are kept, and a set where it is needed.
    #[test]
    fn state_is_small() {
        let mut flash = Flash::new(1000, 128, 50, 0);
        for sub in 0..1000 {
            flash.set_present(sub, 3..77, true);
        }
        assert!(flash.state_bytes() < 128_000, "{} bytes for 128 000 pages", flash.state_bytes());
    }

    #[test]
    fn presence_melts_into_all_or_none() {
        let mut flash = Flash::new(2, 128, 2, 0);
        assert_eq!(flash.set_present(0, 0..100, true), 100);
        assert_eq!(flash.set_present(0, 50..128, true), 28);
        assert_eq!(flash.present[0], Pages::All);
        assert_eq!(flash.set_present(0, 0..128, false), 128);
        assert_eq!(flash.present[0], Pages::None);
    }
}
