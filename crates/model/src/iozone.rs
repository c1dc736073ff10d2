//! One run of iozone's tests: what was asked for, every pass over a file, and where memory ends.

use crate::bench::Evidence;
use crate::envelope::Envelope;
use flashscope_units::{ByteRate, Bytes, Nanos};

/// Everything about one run of `bench iozone`.
#[derive(Clone, Debug, PartialEq)]
pub struct IozoneRecord {
    /// Who, when, where, on what, and how it ended.
    pub envelope: Envelope,
    /// The unit that was asked for; figures here are always bytes and times.
    pub unit: Unit,
    /// The seed of random orders.
    pub seed: u64,
    /// What was to be measured, in the order in which it was.
    pub figures: Vec<Figure>,
    /// The record sizes of the table's columns.
    pub records: Vec<Bytes>,
    /// Every pass of the matrix, in order; empty with several workers.
    pub passes: Vec<Pass>,
    /// What was found in the matrix, one entry per figure that has passes.
    pub regions: Vec<Regions>,
    /// Passes of several workers at once (`-t`).
    pub throughput: Vec<Throughput>,
}

/// What one column of iozone's table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Figure {
    Write,
    Rewrite,
    Read,
    Reread,
    RandomRead,
    RandomWrite,
    BackwardRead,
    RecordRewrite,
    StrideRead,
    Fwrite,
    Refwrite,
    Fread,
    Refread,
    RandomMix,
    Pwrite,
    Repwrite,
    Pread,
    Repread,
    Pwritev,
    Repwritev,
    Preadv,
    Repreadv,
}

impl Figure {
    /// All of them, in the order of the tests.
    pub const ALL: [Figure; 22] = [
        Figure::Write,
        Figure::Rewrite,
        Figure::Read,
        Figure::Reread,
        Figure::RandomRead,
        Figure::RandomWrite,
        Figure::BackwardRead,
        Figure::RecordRewrite,
        Figure::StrideRead,
        Figure::Fwrite,
        Figure::Refwrite,
        Figure::Fread,
        Figure::Refread,
        Figure::RandomMix,
        Figure::Pwrite,
        Figure::Repwrite,
        Figure::Pread,
        Figure::Repread,
        Figure::Pwritev,
        Figure::Repwritev,
        Figure::Preadv,
        Figure::Repreadv,
    ];

    /// The number of its test, as `-i` takes it.
    pub const fn test(self) -> u8 {
        match self {
            Figure::Write | Figure::Rewrite => 0,
            Figure::Read | Figure::Reread => 1,
            Figure::RandomRead | Figure::RandomWrite => 2,
            Figure::BackwardRead => 3,
            Figure::RecordRewrite => 4,
            Figure::StrideRead => 5,
            Figure::Fwrite | Figure::Refwrite => 6,
            Figure::Fread | Figure::Refread => 7,
            Figure::RandomMix => 8,
            Figure::Pwrite | Figure::Repwrite => 9,
            Figure::Pread | Figure::Repread => 10,
            Figure::Pwritev | Figure::Repwritev => 11,
            Figure::Preadv | Figure::Repreadv => 12,
        }
    }

    /// Its word in machine formats.
    pub const fn word(self) -> &'static str {
        match self {
            Figure::Write => "write",
            Figure::Rewrite => "rewrite",
            Figure::Read => "read",
            Figure::Reread => "reread",
            Figure::RandomRead => "random_read",
            Figure::RandomWrite => "random_write",
            Figure::BackwardRead => "backward_read",
            Figure::RecordRewrite => "record_rewrite",
            Figure::StrideRead => "stride_read",
            Figure::Fwrite => "fwrite",
            Figure::Refwrite => "refwrite",
            Figure::Fread => "fread",
            Figure::Refread => "refread",
            Figure::RandomMix => "random_mix",
            Figure::Pwrite => "pwrite",
            Figure::Repwrite => "repwrite",
            Figure::Pread => "pread",
            Figure::Repread => "repread",
            Figure::Pwritev => "pwritev",
            Figure::Repwritev => "repwritev",
            Figure::Preadv => "preadv",
            Figure::Repreadv => "repreadv",
        }
    }

    /// Whether it does again what was done just before: `-+n` leaves these out.
    pub const fn is_again(self) -> bool {
        matches!(
            self,
            Figure::Rewrite
                | Figure::Reread
                | Figure::Refwrite
                | Figure::Refread
                | Figure::Repwrite
                | Figure::Repread
                | Figure::Repwritev
                | Figure::Repreadv
        )
    }

    /// Whether it writes, some of the time at least.
    pub const fn writes(self) -> bool {
        !matches!(
            self,
            Figure::Read
                | Figure::Reread
                | Figure::RandomRead
                | Figure::BackwardRead
                | Figure::StrideRead
                | Figure::Fread
                | Figure::Refread
                | Figure::Pread
                | Figure::Repread
                | Figure::Preadv
                | Figure::Repreadv
        )
    }

    /// Whether it reads, some of the time at least.
    pub const fn reads(self) -> bool {
        !self.writes() || matches!(self, Figure::RandomMix)
    }
}

/// In which unit tables are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Units of 1024 bytes per second, as iozone does.
    KbPerSecond,
    /// Records per second (`-O`).
    OpsPerSecond,
    /// Microseconds per record (`-N`).
    MicrosPerOp,
}

/// One pass over a file of one size in records of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// What it did.
    pub figure: Figure,
    /// Size of the file.
    pub file: Bytes,
    /// Size of a record.
    pub record: Bytes,
    /// Records that went well.
    pub records: u64,
    /// Bytes that they moved.
    pub moved: Bytes,
    /// How long they took, with flush and close where that was asked for.
    pub elapsed: Nanos,
    /// Records that came back with other bytes than were written.
    pub mismatched: u64,
    /// Why it ended before all records were moved.
    pub failure: Option<PassFailure>,
    /// Where its bytes went.
    pub evidence: Evidence,
}

impl Pass {
    /// Bytes per second; `None` where it did not come to its end, or took no time.
    pub fn rate(&self) -> Option<ByteRate> {
        if self.failure.is_some() { None } else { ByteRate::of(self.moved, self.elapsed) }
    }
}

/// Why a pass ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassFailure {
    /// Where in the file.
    pub offset: Bytes,
    /// What the system said (`ENOSPC: no space left`), or `stopped`.
    pub reason: String,
}

/// One figure of several workers, each with a file of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Throughput {
    /// What they did.
    pub figure: Figure,
    /// Size of each file.
    pub file: Bytes,
    /// Size of a record.
    pub record: Bytes,
    /// What each moved, and in what time.
    pub children: Vec<Child>,
    /// From the moment at which all were let go to the end of the last.
    pub elapsed: Nanos,
    /// Where the bytes went.
    pub evidence: Evidence,
}

/// What one worker did.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// Records that went well.
    pub records: u64,
    /// Bytes that they moved.
    pub moved: Bytes,
    /// How long it took.
    pub elapsed: Nanos,
    /// Records that came back with other bytes than were written.
    pub mismatched: u64,
    /// Why it ended before all records were moved; being stopped because another was done is no failure.
    pub failure: Option<PassFailure>,
}

/// Whose speed it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Whose {
    /// The counters say that memory served it.
    Memory,
    /// Partly memory, partly the device.
    Mixed,
    /// The counters say that the device served it.
    Device,
    /// Nobody can tell.
    Unknown,
}

/// What was found over the file sizes of one figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Regions {
    /// The figure.
    pub figure: Figure,
    /// Whose speed each file size shows, by the counters alone, in ascending order.
    pub sizes: Vec<(Bytes, Whose)>,
    /// Speed of each file size beside that of the fastest, records of different size made comparable; in the order of `sizes`.
    pub relative: Vec<Option<f64>>,
    /// Falls of the speed from one file size to the next, largest first.
    pub falls: Vec<Fall>,
    /// Where the file outgrows memory, where that was seen.
    pub cliff: Option<Cliff>,
    /// All of it as a sentence.
    pub sentence: String,
}

/// A fall of the speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fall {
    /// Largest file before it.
    pub above: Bytes,
    /// Smallest file after it.
    pub below: Bytes,
    /// Speed before over speed after.
    pub ratio: f64,
    /// Probability that there is a step here.
    pub probability: f64,
}

/// Where the file outgrows memory: the counters change sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cliff {
    /// Largest file that was memory's.
    pub memory_up_to: Bytes,
    /// Smallest file that was the device's, in part at least.
    pub device_from: Bytes,
    /// Median speed on either side.
    pub rates: (ByteRate, ByteRate),
    /// Whether the speed falls at the same place.
    pub speed_falls: bool,
}
