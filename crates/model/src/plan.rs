//! What is to be done: experiments with their parameters, and the budget they spend from.
//!
//! An [`crate::Experiment`] says what to do, not what to think of it. The names are flashbench's where the
//! experiment is flashbench's, so that tables compare.

mod cost;
mod drive;
mod memory;
mod patterns;

pub use drive::{Cells, Fan, MapReach, Overwrite, Parallel, SlcCache, Stretch};
pub use memory::{Buffer, Burst, ReadCache, Then};
pub use patterns::{Pattern, PatternPart, Patterns};

use crate::{Direction, Order};
use flashscope_units::{Bytes, Nanos};

/// What a run may spend. Bytes to write are kept by the write grant, to the byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes that may still be written; zero means reading only.
    pub write: Bytes,
    /// Device time that may still be spent, where limited.
    pub time: Option<Nanos>,
}

/// The parameters of one experiment: what they ask for, in words and in bytes.
pub trait Plan {
    /// What will be done, in a few words.
    fn describe(&self) -> String;

    /// Bytes that it writes; zero where it only reads.
    fn bytes_written(&self) -> Bytes;
}

/// Parameters of [`crate::Experiment::Floor`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// Block that is read again and again.
    pub block: Bytes,
    /// Where it lies.
    pub at: Bytes,
    /// How many reads.
    pub count: u32,
}

/// Parameters of [`crate::Experiment::Survey`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Survey {
    /// Size of each read.
    pub block: Bytes,
    /// Number of random places, spread over the whole device.
    pub places: u32,
    /// Reads of each place, never one after the other.
    pub repeats: u32,
    /// Where the places lie; `None`: all over the device.
    pub within: Option<Span>,
}

/// Parameters of [`crate::Experiment::Align`]: flashbench `-a -b block -c tries`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Align {
    /// Reads, or the writes of write-align.
    pub direction: Direction,
    /// Block size; alignments go down to twice this.
    pub block: Bytes,
    /// Size of one access as a multiple of `block`: 1, or 2 for the published write-align log.
    pub access: u32,
    /// Tries per position of which the minimum counts (`--count`, 8).
    pub tries: u32,
    /// Positions per alignment (7; 8 in the published write-align log).
    pub places: u32,
    /// Added to every position (`--offset`).
    pub offset: Bytes,
    /// Largest alignment to try, where it is not to be derived from the capacity.
    pub largest: Option<Bytes>,
}

/// Parameters of [`crate::Experiment::Boundaries`].
#[derive(Clone, Debug, PartialEq)]
pub struct Boundaries {
    /// Size of each read.
    pub block: Bytes,
    /// Candidate sizes.
    pub candidates: Vec<Bytes>,
    /// A place of a candidate must not be a multiple of any of these, unless the candidate is one itself.
    pub exclude: Vec<Bytes>,
    /// Random multiples per candidate.
    pub places: u32,
    /// Rounds, each visiting all (candidate, place, role) triples in a random order.
    pub rounds: u32,
    /// Shift of the whole grid.
    pub offset: Bytes,
    /// Part of the device that the places are taken from; all of it where `None`.
    pub within: Option<Span>,
    /// How long the device is left alone before each read, so that what it fetches unasked behind the one before is done.
    pub rest: Nanos,
}

/// Parameters of [`crate::Experiment::Slide`].
#[derive(Clone, Debug, PartialEq)]
pub struct Slide {
    /// Size of each read; half of it lies before the place, half behind.
    pub block: Bytes,
    /// Distance of neighbouring places.
    pub step: Bytes,
    /// First place of each stretch. Of two stretches places are read in turn, so that no read follows one near it.
    pub starts: Vec<Bytes>,
    /// Places of each stretch.
    pub places: u32,
    /// Rounds, each visiting all places.
    pub rounds: u32,
    /// Whether each round goes from the last place of a stretch to its first; otherwise in a random order.
    pub descending: bool,
}

/// A part of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its start.
    pub start: Bytes,
    /// Its length.
    pub length: Bytes,
}

/// Parameters of [`crate::Experiment::OpenAu`]: flashbench `-O --open-au-nr=count [-r] -e erase -b block`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenAu {
    /// Number of units written alternately.
    pub count: u32,
    /// Order of the offsets within a unit.
    pub order: Order,
    /// Assumed unit.
    pub erase: Bytes,
    /// Smallest block; the blocks tried are `erase`, `erase`/2 … `block`.
    pub block: Bytes,
    /// Where the first unit lies (16 MiB in the original).
    pub offset: Bytes,
}

/// Parameters of [`crate::Experiment::OpenUnits`].
#[derive(Clone, Debug, PartialEq)]
pub struct OpenUnits {
    /// Order of the offsets within each unit.
    pub order: Order,
    /// Assumed unit.
    pub unit: Bytes,
    /// Block size.
    pub block: Bytes,
    /// Rounds: writes to each unit.
    pub rounds: u32,
    /// Start of each unit that is written; their number is the n under test.
    pub units: Vec<Bytes>,
    /// First offset within each unit, so that a unit can go on where an earlier trial stopped.
    pub first_offset: Bytes,
    /// When fewer rounds are enough; all of them are done where `None`.
    pub enough: Option<Enough>,
}

impl OpenUnits {
    /// Writes that, slow without an exception, end a round behind the first before its end: half of them, and twelve. Where logs
    /// of two kinds change hands, or any unit is closed for another, the first of a round may be slow and the others fast.
    pub fn plain_within_a_round(&self) -> u64 {
        (self.units.len() as u64 / 2).max(12)
    }
}

/// When an experiment of rounds has seen enough before its last one: what is plainly slow need not be seen so slow as often
/// as what is fast, where one round in which something else was in the way would make a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enough {
    /// A request that takes this long is plainly slow; a round is where its requests take so long on average.
    pub slow: Nanos,
    /// No further round is begun once so many were done and each of the last three was slow, …
    pub rounds: u32,
    /// … or once every request of the rounds behind the first was slow, and there were this many of them, …
    pub requests: u64,
    /// … or once this many rounds in a row had no slow request.
    pub fast_rounds: Option<u32>,
}

/// Parameters of [`crate::Experiment::Fat`]: flashbench `-f --fat-nr=count [-r]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fat {
    /// Number of units from the start of the device.
    pub count: u32,
    /// Order of the offsets within a unit.
    pub order: Order,
    /// Assumed unit.
    pub erase: Bytes,
    /// Smallest block.
    pub block: Bytes,
    /// Where the first unit lies.
    pub offset: Bytes,
}

/// Parameters of [`crate::Experiment::FastArea`].
#[derive(Clone, Debug, PartialEq)]
pub struct FastArea {
    /// Assumed unit.
    pub unit: Bytes,
    /// How much of each is used, from its start: all of it, but where the piece in front of the first whole unit is under
    /// suspicion.
    pub reach: Bytes,
    /// Starts of the units under suspicion, at the start of the device.
    pub suspects: Vec<Bytes>,
    /// Starts of the control units.
    pub controls: Vec<Bytes>,
    /// Size of the writes or reads.
    pub block: Bytes,
    /// Reads or writes.
    pub direction: Direction,
    /// Order of the offsets within each unit.
    pub order: Order,
    /// Requests to each unit.
    pub requests: u32,
    /// When fewer of them are enough, a round being one request to each unit; all of them are made where `None`.
    pub enough: Option<Enough>,
}

/// Parameters of [`crate::Experiment::Scatter`]: flashbench `-s --scatter-order --scatter-span -b`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// There are 2^order positions, one every `block` bytes.
    pub order: u32,
    /// Blocks read at each position.
    pub span: u32,
    /// Block size.
    pub block: Bytes,
    /// Passes of which the minimum counts.
    pub tries: u32,
    /// Added to every position.
    pub offset: Bytes,
}

/// Parameters of [`crate::Experiment::Interval`]: flashbench `-i --interval-order`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Sizes are 512 · 2^k for k below this.
    pub order: u32,
    /// Places per size, nine times the size apart (8).
    pub places: u32,
    /// Added to every position.
    pub offset: Bytes,
}

/// Parameters of [`crate::Experiment::Program`]: flashbench `-p`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Program {
    /// Region that is written (4 MiB).
    pub region: Bytes,
    /// Where it lies (16 MiB).
    pub offset: Bytes,
    /// Largest block (2 MiB).
    pub largest: Bytes,
    /// Smallest block (512 B, never below the logical block).
    pub smallest: Bytes,
}

/// Parameters of [`crate::Experiment::Throughput`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throughput {
    /// Reads or writes.
    pub direction: Direction,
    /// Order of the blocks within the region.
    pub order: Order,
    /// Block size.
    pub block: Bytes,
    /// Start of the region.
    pub start: Bytes,
    /// Length of the region.
    pub length: Bytes,
    /// Number of requests at most; the region is visited again from its start when it is used up.
    pub requests: u32,
    /// After this much device time no further request is made: a slow device is measured as well by fewer of them.
    pub most_time: Option<Nanos>,
    /// What the figure is for.
    pub purpose: Purpose,
}

/// What a throughput figure is for: the same requests mean different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A cell of the performance table.
    Performance,
    /// One unit, in order against random: the random-order penalty and the small-write path.
    OneUnit,
    /// Bringing an area into the state that a later experiment assumes.
    Fill,
    /// Something to compare with: what was written in a known order.
    Reference,
}
