//! Memory under stress, alone or together with a storage device: what differed from what had been written, and whose error that is.

use crate::finding::words;
use flashscope_units::{Bytes, Nanos};

words! {
    /// Whose error it is.
    Cause {
        /// A place in memory does not hold what was written to it.
        MemoryCell = "memory_cell",
        /// Memory holds the right bits, and other ones arrive on the way to or from it.
        MemoryPath = "memory_path",
        /// The device keeps, or gives back, other data than it was given.
        StorageMedium = "storage_medium",
        /// The device has the right data, and other ones arrive on the way from or to it.
        StorageLink = "storage_link",
        /// What was seen does not exclude all causes but one.
        CannotTell = "cannot_tell",
    }
}

impl Cause {
    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::MemoryCell => "memory cell",
            Cause::MemoryPath => "memory path",
            Cause::StorageMedium => "storage medium",
            Cause::StorageLink => "storage link",
            Cause::CannotTell => "cannot tell",
        }
    }
}

words! {
    /// What became of a wrong word when it was read again and written again.
    Persistence {
        /// Read again, it is right.
        Transient = "transient",
        /// It reads the same wrong until it is written again, and then holds.
        Changed = "changed",
        /// Written again, it is wrong again.
        Stuck = "stuck",
        /// Read again, it is wrong in other bits.
        Unsteady = "unsteady",
    }
}

words! {
    /// Where on its way a block of data was found to be wrong.
    Border {
        /// In memory that nothing but the stress test uses.
        Stressed = "stressed_memory",
        /// The copy that is kept in memory, right after it was made.
        Born = "kept_copy_made",
        /// The buffer that the kept copy was copied to, before it was handed to the device.
        Copied = "buffer_copied",
        /// The same buffer, after the device had taken it.
        Handed = "buffer_handed",
        /// The kept copy, after it had stood.
        Kept = "kept_copy_stood",
        /// What was read from the device right after it had been written.
        ReadBack = "read_back",
        /// What was read from the device later on.
        ReadLater = "read_later",
    }
}

/// One word of memory that did not hold what it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongWord {
    /// Its place in the memory that was tested, in bytes.
    pub at: Bytes,
    /// Its physical address, where the kernel tells.
    pub physical: Option<u64>,
    /// What it should hold.
    pub expected: u64,
    /// What was read first.
    pub found: u64,
    /// What became of it.
    pub persistence: Persistence,
    /// How often it was read again.
    pub again: u32,
    /// How often of these it was right.
    pub again_right: u32,
    /// Whether it had been read right since it was last written.
    pub was_right: bool,
}

impl WrongWord {
    /// The bits that are wrong.
    pub const fn bits(&self) -> u64 {
        self.expected ^ self.found
    }
}

words! {
    /// What wrong words have in common.
    GroupKind {
        /// The same bits of the same word, once or more.
        OneWord = "one_word",
        /// The same data line in many places.
        OneLane = "one_lane",
        /// Many places within a stretch as long as a row of a memory chip.
        OneRow = "one_row",
        /// Nothing of these.
        Scattered = "scattered",
    }
}

/// Wrong words that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What they have in common.
    pub kind: GroupKind,
    /// How many they are.
    pub words: u64,
    /// All bits that are wrong in any of them. Bit *n* of a word is data line *n* of a bus of 64.
    pub bits: u64,
    /// The first place, in bytes.
    pub from: Bytes,
    /// The last place, in bytes.
    pub to: Bytes,
}

/// An error whose cause was looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Attributed {
    /// Whose it is.
    pub cause: Cause,
    /// How likely that is right; `None` where nothing is claimed, or nothing was counted.
    pub probability: Option<f64>,
    /// Whose it may be, where it cannot be told.
    pub leaning: Vec<Cause>,
    /// What it rests on: the word of a rule.
    pub rule: String,
    /// Where it was seen.
    pub border: Border,
    /// Place on the device, or in the tested memory.
    pub at: Bytes,
    /// Words of 8 bytes that were wrong.
    pub words: u64,
    /// The bits that were wrong in any of them.
    pub bits: u64,
    /// What excludes the other causes, in one sentence.
    pub evidence: String,
}

/// What was tested, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StressPlan {
    /// Memory that was held and tested.
    pub memory: Bytes,
    /// What was available to this program before, limits of control groups included.
    pub available: Bytes,
    /// What was left to others.
    pub left: Bytes,
    /// Threads, each on a processor of its own where there are enough.
    pub threads: u32,
    /// For how long it was asked for.
    pub time: Nanos,
    /// What all patterns follow from.
    pub seed: u64,
    /// What the surroundings did not allow, and what that means; a sentence each.
    pub notes: Vec<String>,
}

/// What went over a storage device meanwhile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StorageSide {
    /// Bytes from the start of the range that was written.
    pub offset: Bytes,
    /// Length of that range.
    pub length: Bytes,
    /// Rounds over it.
    pub rounds: u32,
    /// Times the power was cut between a write and the last look at it.
    pub power_cuts: u32,
    /// Written in all.
    pub written: Bytes,
    /// Read in all, re-reading included.
    pub read: Bytes,
    /// Blocks that were held against what they should hold.
    pub blocks: u64,
    /// Reads and writes that the device itself said had failed.
    pub failed: u64,
}

/// What a run of stress came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stress {
    /// What was tested.
    pub plan: StressPlan,
    /// For how long, on the clock.
    pub took: Nanos,
    /// Bytes that were read from and written to the tested memory, both counted.
    pub moved: Bytes,
    /// Times that all of the tested memory was held against what it should hold.
    pub passes: u64,
    /// Flips that were planted on purpose.
    pub planted: Option<u64>,
    /// Of these, how many were found; `None` where none were planted.
    pub planted_found: Option<u64>,
    /// Wrong words in all.
    pub wrong: u64,
    /// The first of them.
    pub words: Vec<WrongWord>,
    /// What they have in common.
    pub groups: Vec<Group>,
    /// What went over a storage device meanwhile.
    pub storage: Option<StorageSide>,
    /// Every error, and whose it is.
    pub errors: Vec<Attributed>,
}

impl Stress {
    /// Whether anything was wrong.
    pub fn has_errors(&self) -> bool {
        self.wrong > 0 || !self.errors.is_empty()
    }
}
