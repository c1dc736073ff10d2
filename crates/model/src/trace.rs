//! What a block trace shows, and what came of replaying it: the record of `trace`.

use crate::envelope::Envelope;
use flashscope_units::{Bytes, Nanos};

/// Everything about one look at a trace, or one replay.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceRecord {
    /// Who, when, where, on what.
    pub envelope: Envelope,
    /// Where the trace came from.
    pub source: TraceSource,
    /// What it shows.
    pub figures: TraceFigures,
    /// What came of replaying it; `None` where it was only looked at.
    pub replay: Option<Replay>,
}

/// Where a trace came from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceSource {
    /// The file.
    pub file: String,
    /// What it says of its origin, in a sentence.
    pub origin: String,
    /// How large the traced device was, where the trace tells.
    pub capacity: Option<Bytes>,
    /// What must be known of it, a sentence each.
    pub notes: Vec<String>,
}

/// What requests show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceFigures {
    /// How many there are.
    pub requests: u64,
    /// Events that the recorder had no room for.
    pub dropped: u64,
    /// Requests that the device failed.
    pub failed: u64,
    /// From the first issue to the last issue or end.
    pub span: Nanos,
    /// By what they asked for; what nobody asked for is left out.
    pub kinds: Vec<KindFigures>,
    /// Reads and writes by the class of their size; empty classes are left out.
    pub classes: Vec<ClassFigures>,
    /// Reads and writes by powers of two.
    pub sizes: Vec<SizeBin>,
    /// Share of reads and writes that are of 4 KiB; `None` where there are none.
    pub share_of_4k: Option<f64>,
    /// How they came; `None` of fewer than two, or where the trace has no times.
    pub arrivals: Option<Arrivals>,
    /// How many were outstanding; `None` where ends are not known.
    pub depth: Option<Depth>,
    /// How far they follow each other.
    pub streams: Streams,
    /// What was written between flushes and writes with force unit access; `None` of fewer than two of these.
    pub syncs: Option<Syncs>,
    /// How much of the device was touched.
    pub working_set: WorkingSet,
    /// Address over time.
    pub heat: HeatMap,
}

/// What a request of a trace asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TraceOp {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A flush.
    Flush,
    /// A discard.
    Discard,
}

/// Times from issue to completion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServiceTimes {
    /// How many are known.
    pub count: u64,
    /// Their mean.
    pub mean: Nanos,
    /// Half took no longer; percentiles are `None` where fewer than ten lie beyond.
    pub p50: Option<Nanos>,
    /// 99 of 100.
    pub p99: Option<Nanos>,
    /// 999 of 1000.
    pub p999: Option<Nanos>,
    /// The longest.
    pub max: Nanos,
}

/// Requests of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct KindFigures {
    /// Which.
    pub op: TraceOp,
    /// How many.
    pub requests: u64,
    /// What they moved, or discarded.
    pub bytes: Bytes,
    /// Those that somebody waited for (sync).
    pub sync: u64,
    /// Those with force unit access.
    pub fua: u64,
    /// Those of a file system's own structures.
    pub meta: u64,
    /// How long they took; `None` where that is not known.
    pub times: Option<ServiceTimes>,
}

/// The classes of sizes in which published reports of phones count requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChunkClass {
    /// Up to 8 KiB.
    Small,
    /// 16 to 64 KiB: above 8 and up to 64.
    Middle,
    /// 128 to 512 KiB: above 64 and up to 512.
    Large,
    /// Above 512 KiB.
    Huge,
}

impl ChunkClass {
    /// All of them.
    pub const ALL: [ChunkClass; 4] = [ChunkClass::Small, ChunkClass::Middle, ChunkClass::Large, ChunkClass::Huge];

    /// The class of a size.
    pub const fn of(size: Bytes) -> ChunkClass {
        match size.get() {
            0..=8192 => ChunkClass::Small,
            8193..=65_536 => ChunkClass::Middle,
            65_537..=524_288 => ChunkClass::Large,
            _ => ChunkClass::Huge,
        }
    }

    /// As the published reports name it.
    pub const fn label(self) -> &'static str {
        match self {
            ChunkClass::Small => "4/8 KiB",
            ChunkClass::Middle => "16/32/64 KiB",
            ChunkClass::Large => "128/256/512 KiB",
            ChunkClass::Huge => "above 512 KiB",
        }
    }
}

/// Reads or writes of one class of sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassFigures {
    /// Which way: [`TraceOp::Read`] or [`TraceOp::Write`].
    pub op: TraceOp,
    /// Which sizes.
    pub class: ChunkClass,
    /// How many.
    pub requests: u64,
    /// What they moved.
    pub bytes: Bytes,
    /// How long they took; `None` where that is not known.
    pub times: Option<ServiceTimes>,
}

/// Requests of sizes above half of one, up to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeBin {
    /// The largest size.
    pub up_to: Bytes,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

/// How requests came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrivals {
    /// Requests a second over the whole span.
    pub per_s: f64,
    /// In the busiest period.
    pub peak_per_s: f64,
    /// How long such a period is.
    pub peak_period: Nanos,
    /// From one issue to the next: half are no longer; `None` of too few.
    pub gap_p50: Option<Nanos>,
    /// 99 of 100.
    pub gap_p99: Option<Nanos>,
    /// The longest time without an issue.
    pub gap_max: Nanos,
}

/// Requests outstanding, the new one included, whenever one was issued.
#[derive(Clone, Debug, PartialEq)]
pub struct Depth {
    /// On average.
    pub mean: f64,
    /// At most.
    pub max: u32,
    /// Each depth that occurred and the share of requests issued at it; the last one stands for all deeper ones as well.
    pub shares: Vec<(u32, f64)>,
}

/// Sequential streams: a request goes on with one that ends where it begins, of the same kind, among the 64 latest ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Streams {
    /// Share of reads that go on with an earlier one; `None` without reads.
    pub sequential_reads: Option<f64>,
    /// Of writes.
    pub sequential_writes: Option<f64>,
    /// Runs of two requests and more.
    pub runs: u64,
    /// What such a run moves on average; `None` without one.
    pub mean_run: Option<Bytes>,
    /// What the longest moves; `None` without one.
    pub longest_run: Option<Bytes>,
}

/// Distances between flushes and writes with force unit access.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Syncs {
    /// How many there are.
    pub count: u64,
    /// Bytes written between two, on average.
    pub mean_bytes: Bytes,
    /// Half of all have no more between them; `None` of too few.
    pub p50_bytes: Option<Bytes>,
    /// The most.
    pub max_bytes: Bytes,
    /// Time between two: half are no further apart; `None` of too few.
    pub p50_gap: Option<Nanos>,
}

/// Places that were touched at all, counted in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkingSet {
    /// The unit: 4 KiB, or more on a device so large that these would not fit memory.
    pub unit: Bytes,
    /// Units that were read.
    pub read: Bytes,
    /// Units that were written.
    pub written: Bytes,
    /// Units that were either.
    pub touched: Bytes,
    /// Where the first of them begins.
    pub first: Bytes,
    /// Where the last range ends.
    pub end: Bytes,
}

/// Reads and writes by time and address.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// How long a column is.
    pub period: Nanos,
    /// How much of the device a row is.
    pub stretch: Bytes,
    /// Cells that are not empty.
    pub cells: Vec<HeatCell>,
}

/// A cell of a heat map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeatCell {
    /// Its column, from 0.
    pub column: u32,
    /// Its row, from 0.
    pub row: u32,
    /// Reads that begin in it.
    pub reads: u64,
    /// Writes that begin in it.
    pub writes: u64,
}

/// A replay, and how near it came to the trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// In which way (`open`, `closed, depth 4`, `dependent`).
    pub mode: String,
    /// What stands between the trace and the device: filters, and what was done to addresses.
    pub changes: Vec<String>,
    /// From the first issue to the last end.
    pub total: Nanos,
    /// The same of the trace; of a trace without ends to its last issue.
    pub original: Nanos,
    /// What was issued later than it was due; `None` where nothing had a time.
    pub lateness: Option<ServiceTimes>,
    /// Largest difference of the distribution functions of depth between trace and replay; `None` where the trace's is not
    /// known.
    pub depth_distance: Option<f64>,
    /// Requests issued while one was outstanding that had ended before them in the trace; `None` where its ends are not known.
    pub order_violations: Option<u64>,
    /// What the replay showed.
    pub figures: TraceFigures,
    /// Why requests failed: each reason once, and how often.
    pub failures: Vec<(String, u64)>,
}
