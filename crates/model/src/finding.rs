//! What was concluded: estimates with a confidence, alternatives and evidence, or why there is none.

mod controller;
mod doubt;
mod estimate;
mod figure;
mod note;
mod reason;
mod table;

pub use controller::{BufferLimit, Collection, MappingKind, ReadAhead, SlcCache, SlcKind, WriteBuffer};
pub use doubt::Doubt;
pub use estimate::{Bound, Estimate, Support, Unknown};
pub use figure::{Cell, Field, Figure, Kind};
pub(crate) use figure::{IntoCell, figure, word};
pub use note::{Note, NoteKind, Severity};
pub use reason::Reason;
pub use table::{Basis, Change, Finding, Geometry, Source, Visit};

use crate::{Direction, Order};
use flashscope_units::{ByteRate, Bytes, Contrast, Iops, Nanos};
pub(crate) use reason::words;

/// All conclusions of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// How the device is built.
    pub geometry: Geometry,
    /// The straight line through read time against size, where measured.
    pub transfer: Option<TransferLine>,
    /// How fast it is.
    pub performance: Vec<PerformanceCell>,
    /// What to type.
    pub advice: Vec<Advice>,
    /// What else a reader must know: weak spots of this run, contradictions, hints.
    pub notes: Vec<Note>,
}

/// The largest size to which something applies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UpTo {
    /// That size.
    pub size: Bytes,
}

/// A random-order penalty at one block size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalty {
    /// In-order rate over random rate.
    pub ratio: f64,
    /// At this block size.
    pub block: Bytes,
    /// In-order rate.
    pub in_order: ByteRate,
    /// Random rate.
    pub random: ByteRate,
}

/// An area at the start of the device that behaves differently.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FastArea {
    /// Start of the area; with `end` equal it means that there is none.
    pub first: Bytes,
    /// End of the area (exclusive).
    pub end: Bytes,
    /// How it differs.
    pub kind: AreaKind,
    /// Its rate over that of its neighbours at large blocks.
    pub ratio: f64,
}

/// Units of an area at the start that are built and handled alike, side by side. Rates are those over the rates of units
/// elsewhere; absent where the experiments do not tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AreaPart {
    /// Start of the part.
    pub first: Bytes,
    /// End of the part (exclusive).
    pub end: Bytes,
    /// Rate of long sequential writes.
    pub in_order: Option<f64>,
    /// Rate of small random writes.
    pub small: Option<f64>,
    /// Whether writes in any order are taken here without the copies that they cost elsewhere.
    pub by_page: Option<bool>,
}

words! {
    /// How an area differs from its neighbours.
    AreaKind {
        /// No different area: tested, and none found.
        None = "none",
        /// Faster.
        Faster = "faster",
        /// Slower.
        Slower = "slower",
        /// Slower for large blocks and faster for small ones, or the other way round; or parts of several kinds side by side.
        Mixed = "mixed",
    }
}

/// Access time plus size over throughput: the line through minimum read times.
#[derive(Clone, Debug, PartialEq)]
pub struct TransferLine {
    /// Time at size zero; negative where the line says so.
    pub access: Contrast,
    /// Slope as a rate.
    pub rate: ByteRate,
    /// Size, minimum time, and minimum time less the line.
    pub residuals: Vec<(Bytes, Nanos, Contrast)>,
}

/// One cell of the performance table: direct I/O, one request outstanding unless stated.
#[derive(Clone, Debug, PartialEq)]
pub struct PerformanceCell {
    /// Reads or writes.
    pub direction: Direction,
    /// Sequential or random.
    pub order: Order,
    /// Block size.
    pub block: Bytes,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Requests measured.
    pub requests: u32,
    /// Median service time with its 95 % interval.
    pub service_time: Interval<Nanos>,
    /// All bytes over all the time, stalls included, once the rate had settled: what a long transfer sees.
    pub mean_rate: ByteRate,
    /// How well that is known; absent in older records.
    pub long_run: Option<LongRun>,
    /// Requests per second, of the same requests.
    pub iops: Iops,
    /// 99th percentile of the service time, where the count supports it.
    pub service_time_p99: Option<Nanos>,
    /// Longest service time.
    pub service_time_max: Nanos,
}

/// How well the rate of a cell of the performance table is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongRun {
    /// Lower end of the 95 % interval of the rate.
    pub low: ByteRate,
    /// Upper end of it.
    pub high: ByteRate,
    /// Whether the rate had settled when the last request ended.
    pub settled: bool,
    /// Requests at the start that went at another rate and count in no figure, and that rate.
    pub first: Option<(u32, ByteRate)>,
}

/// A figure with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval<T> {
    /// The figure.
    pub value: T,
    /// Lower end.
    pub low: T,
    /// Upper end.
    pub high: T,
}

/// Something to type, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What it is about (`partition`, `ext4`, `f2fs`, `FAT`, `use`).
    pub topic: String,
    /// The command or the instruction.
    pub text: String,
    /// The finding that it rests on.
    pub because: String,
}
