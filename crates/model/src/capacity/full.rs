//! What a full test saw: every block written and read back, on a device or in files of a file system.

use super::{Found, Run};
use crate::finding::words;
use flashscope_units::{ByteRate, Bytes, Nanos};

/// What a full test saw. Addresses are those of the device, or count through all files in the order in which they were filled.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Full {
    /// The files that were filled; `None`: the device itself was.
    pub directory: Option<Directory>,
    /// What was to be filled.
    pub claimed: Bytes,
    /// Sizes and addresses of what was found are multiples of this, but for blocks that are damaged in part.
    pub block: Bytes,
    /// In which order.
    pub order: PassOrder,
    /// Size of a request.
    pub request: Bytes,
    /// What was written, whether it failed or not.
    pub written: Bytes,
    /// What was read, whether it failed or not.
    pub verified: Bytes,
    /// What was written a second time behind all the rest, to push that out of a cache.
    pub pushed: Bytes,
    /// What came back.
    pub totals: Totals,
    /// Time over address, in equal parts.
    pub cells: Vec<Cell>,
    /// What is not as written, by address.
    pub bad: Vec<Run>,
    /// Stretches that are not as written and not named in `bad`, for their number.
    pub bad_left_out: u64,
    /// The first address that does not hold what was written there, of what was read.
    pub first_bad: Option<Bytes>,
    /// Hashes of all that was written and read, where they were asked for.
    pub hashes: Option<Hashes>,
    /// How often it was begun: one more than it was stopped.
    pub sessions: u32,
}

impl Full {
    /// Parts that time over address is told in, at most.
    pub const MOST_CELLS: u64 = 1024;
    /// Stretches that are named, at most.
    pub const MOST_BAD: usize = 10_000;

    /// What was read and is not as written, or could not be read or written.
    pub fn bad_bytes(&self) -> Bytes {
        self.totals.bad()
    }

    /// Whether all of it was written and looked at.
    pub fn is_whole(&self) -> bool {
        self.claimed > Bytes::ZERO && self.totals.kept + self.bad_bytes() == self.claimed
    }
}

/// Files that were filled.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Directory {
    /// Where they are.
    pub path: String,
    /// How many there are.
    pub files: u32,
}

words! {
    /// The order of a pass over all blocks.
    #[derive(Default)]
    PassOrder {
        /// By address.
        #[default]
        Sequential = "sequential",
        /// In parts of many requests, the parts shuffled.
        Shuffled = "shuffled",
    }
}

/// What came back, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Totals {
    /// As written.
    pub kept: Bytes,
    /// One byte throughout, or something else.
    pub changed: Bytes,
    /// What was written to another address.
    pub elsewhere: Bytes,
    /// The write had failed.
    pub unwritten: Bytes,
    /// The read failed.
    pub unreadable: Bytes,
}

impl Totals {
    /// What is not as written, or could not be read or written.
    pub fn bad(&self) -> Bytes {
        let Totals { kept: _, changed, elsewhere, unwritten, unreadable } = *self;
        changed + elsewhere + unwritten + unreadable
    }

    /// Counts a stretch.
    pub fn add(&mut self, length: Bytes, found: Found) {
        let of = match found {
            Found::Kept => &mut self.kept,
            Found::Uniform(_) | Found::Other => &mut self.changed,
            Found::Elsewhere(_) => &mut self.elsewhere,
            Found::WriteFailed => &mut self.unwritten,
            Found::ReadFailed => &mut self.unreadable,
        };
        *of += length;
    }
}

/// A part of what was filled, and how long it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Cell {
    /// Its address.
    pub at: Bytes,
    /// Its length.
    pub length: Bytes,
    /// How long writing it took; `None` where not all of it was written.
    pub write_time: Option<Nanos>,
    /// How long reading it took; `None` where not all of it was read.
    pub read_time: Option<Nanos>,
    /// What of it was read and is not as written, or could not be read or written.
    pub bad: Bytes,
}

impl Cell {
    /// Its speed when it was written.
    pub fn write_rate(&self) -> Option<ByteRate> {
        ByteRate::of(self.length, self.write_time?)
    }

    /// Its speed when it was read.
    pub fn read_rate(&self) -> Option<ByteRate> {
        ByteRate::of(self.length, self.read_time?)
    }
}

/// What all written and all read bytes come to, in the order of their addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// How they were made.
    pub algorithm: HashAlgorithm,
    /// Of what was written, in hexadecimal digits.
    pub written: String,
    /// Of what was read; `None` where not all of it could be.
    pub read: Option<String>,
}

words! {
    /// A hash that is compared by hand.
    HashAlgorithm {
        /// MD5: no protection against a forger, but what such comparisons are published with.
        Md5 = "md5",
        /// SHA-256.
        Sha256 = "sha256",
    }
}
