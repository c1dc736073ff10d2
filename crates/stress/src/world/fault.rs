//! Faults, and what each of them did.

use crate::journey::JourneyPlan;
use flashscope_model::stress::Cause;
use flashscope_stats::Rng;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A kind of fault that can be planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Plant {
    /// A bit of a kept copy flips while it stands, once.
    KeptFlips,
    /// A cell under a kept copy is stuck.
    KeptStuck,
    /// A bit of the buffer flips while the device takes it, once: before or after the device read it.
    OutFlips,
    /// A cell of the buffer that is handed over is stuck.
    OutStuck,
    /// A cell of the buffer that is read into is stuck.
    BackStuck,
    /// A bit flips in a copy from memory to memory, once.
    CopyFlips,
    /// One data line fails now and then when memory is copied.
    CopyLane,
    /// A bit flips on its way from memory to the processor, once.
    SeenFlips,
    /// A place on the device gives garbage whatever is written to it.
    MediumDamaged,
    /// A place on the device keeps what stood there before.
    MediumLoses,
    /// Bits flip in what the device keeps, after they had been right.
    MediumDecays,
    /// After a power cut data lie at another place.
    MediumMisdirects,
    /// A place on the device reads wrong now and then, in the same bits.
    MediumUnsteady,
    /// A bit flips on the way back from the device, once.
    LinkBack,
    /// Bits flip on the way back, now and then.
    LinkErratic,
    /// A bit flips on the way to the device, once.
    LinkOut,
}

impl Plant {
    /// All of them.
    pub const ALL: [Plant; 16] = [
        Plant::KeptFlips,
        Plant::KeptStuck,
        Plant::OutFlips,
        Plant::OutStuck,
        Plant::BackStuck,
        Plant::CopyFlips,
        Plant::CopyLane,
        Plant::SeenFlips,
        Plant::MediumDamaged,
        Plant::MediumLoses,
        Plant::MediumDecays,
        Plant::MediumMisdirects,
        Plant::MediumUnsteady,
        Plant::LinkBack,
        Plant::LinkErratic,
        Plant::LinkOut,
    ];

    /// Whose error it is.
    pub const fn cause(self) -> Cause {
        match self {
            Plant::KeptFlips | Plant::KeptStuck | Plant::OutFlips | Plant::OutStuck | Plant::BackStuck => {
                Cause::MemoryCell
            }
            Plant::CopyFlips | Plant::CopyLane | Plant::SeenFlips => Cause::MemoryPath,
            Plant::MediumDamaged
            | Plant::MediumLoses
            | Plant::MediumDecays
            | Plant::MediumMisdirects
            | Plant::MediumUnsteady => Cause::StorageMedium,
            Plant::LinkBack | Plant::LinkErratic | Plant::LinkOut => Cause::StorageLink,
        }
    }

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Plant::KeptFlips => "a bit of a kept copy flips",
            Plant::KeptStuck => "a cell under a kept copy is stuck",
            Plant::OutFlips => "a bit flips while the device takes the buffer",
            Plant::OutStuck => "a cell of the buffer written from is stuck",
            Plant::BackStuck => "a cell of the buffer read into is stuck",
            Plant::CopyFlips => "a bit flips in a copy",
            Plant::CopyLane => "a data line of memory fails at times",
            Plant::SeenFlips => "a bit flips on the way to the processor",
            Plant::MediumDamaged => "a place gives garbage",
            Plant::MediumLoses => "a place keeps what stood there before",
            Plant::MediumDecays => "bits flip in what the device keeps",
            Plant::MediumMisdirects => "data lie elsewhere after a power cut",
            Plant::MediumUnsteady => "a place is wrong at times",
            Plant::LinkBack => "a bit flips on the way back",
            Plant::LinkErratic => "bits flip on the way back at times",
            Plant::LinkOut => "a bit flips on the way to the device",
        }
    }
}

/// A fault that was planted.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) plant: Plant,
    /// Where and when, where it has a time and place.
    pub(super) round: u32,
    pub(super) block: u32,
    /// Another place of the device, for data that go astray.
    pub(super) elsewhere: u32,
    pub(super) word: u32,
    pub(super) bits: u64,
    /// Whether a stuck cell reads one.
    pub(super) ones: bool,
    /// How often, of what happens at times.
    pub(super) rate: f64,
    /// Which of several occasions of the round it takes.
    pub(super) occasion: u32,
    pub(super) occasions: u32,
    pub(super) is_spent: bool,
    /// Words of a block in which it alone shows.
    pub(super) own: Range<u32>,
    hits: Vec<(u32, Range<u32>)>,
}

/// Words of a sector.
const SECTOR: u32 = 64;

/// A fault of a kind, anywhere and at any time.
pub(super) fn drawn(plant: Plant, chance: &mut Rng, plan: &JourneyPlan, rounds: u32) -> Fault {
    let words = (plan.block.get() / 8) as u32;
    let below = |chance: &mut Rng, bound: u32| chance.below(bound as usize) as u32;
    let block = below(chance, plan.blocks);
    let elsewhere = (block + 1 + below(chance, plan.blocks - 1)) % plan.blocks;
    let bits = (0..1 + below(chance, 2)).fold(0, |bits, _| bits | 1 << below(chance, 64));
    Fault {
        plant,
        round: below(chance, rounds),
        block,
        elsewhere,
        word: below(chance, words / 2),
        bits,
        ones: chance.unit() < 0.5,
        // A place that is wrong at fewer readings than these is not told from one that was wrong once.
        rate: if plant == Plant::MediumUnsteady { 0.35 + 0.6 * chance.unit() } else { 0.02 + 0.38 * chance.unit() },
        occasion: below(chance, 2),
        occasions: 0,
        is_spent: false,
        own: 0..words / 2,
        hits: Vec::new(),
    }
}

impl Fault {
    /// Notes where it showed.
    pub(super) fn hit(&mut self, block: u32, words: Range<u32>) {
        self.hits.push((block, words));
    }

    /// The sectors of its own that a place of the device has.
    pub(super) fn sectors(&self) -> Range<u32> {
        let from = self.word / SECTOR * SECTOR;
        from..(from + 2 * SECTOR).min(self.own.end.next_multiple_of(SECTOR))
    }

    /// A word of its own, anywhere.
    pub(super) fn any_word(&self, chance: &mut Rng) -> u32 {
        self.own.start + chance.below(self.own.len()) as u32
    }

    /// Whether this is the one time that it happens.
    pub(super) fn is_due(&mut self, round: u32, block: u32) -> bool {
        if self.is_spent || (self.round, self.block) != (round, block) {
            return false;
        }
        self.occasions += 1;
        self.is_spent = self.occasions > self.occasion;
        self.is_spent
    }
}

/// All faults of a world.
#[derive(Debug)]
pub(super) struct Faults {
    pub(super) list: Vec<Fault>,
    pub(super) chance: Rng,
    pub(super) round: u32,
}

impl Faults {
    /// The faults of a world. Each shows in a half of every block of its own, so that what is seen comes from one of them for certain.
    pub(super) fn new(mut list: Vec<Fault>, seed: u64) -> Faults {
        for (index, fault) in list.iter_mut().enumerate() {
            let half = fault.own.end;
            let start = (index as u32 % 2) * half;
            fault.word += start;
            fault.own = start..start + half;
        }
        Faults { list, chance: Rng::new(seed), round: 0 }
    }

    pub(super) fn begin(&mut self, round: u32) {
        self.round = round;
    }

    /// Which fault wrong words of a block come from.
    pub(super) fn owner(&self, block: u32, mut words: impl Iterator<Item = u32>) -> Option<usize> {
        words.find_map(|word| {
            let is_hit = |fault: &Fault| fault.hits.iter().any(|(at, words)| *at == block && words.contains(&word));
            self.list.iter().position(is_hit)
        })
    }

    pub(super) fn cause(&self, index: usize) -> Cause {
        self.list[index].plant.cause()
    }

    /// The faults that did anything.
    pub(super) fn shown(&self) -> impl Iterator<Item = (usize, Plant)> + '_ {
        let all = self.list.iter().enumerate().filter(|(_, fault)| !fault.hits.is_empty());
        all.map(|(index, fault)| (index, fault.plant))
    }
}

pub(super) fn locked(faults: &Mutex<Faults>) -> MutexGuard<'_, Faults> {
    faults.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Flips bits of a word of a block.
pub(super) fn flip(memory: &mut [u8], word: u32, bits: u64) {
    let at = word as usize * 8;
    for (byte, bits) in memory[at..at + 8].iter_mut().zip(bits.to_le_bytes()) {
        *byte ^= bits;
    }
}
