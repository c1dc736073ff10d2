//! What was concluded: estimates with a confidence, alternatives and evidence, or why there is none.

mod memory;

pub use memory::{BufferLimit, Collection, Memory, ReadAhead, WriteBuffer};

use crate::{Direction, DriveFindings, Order};
use flashscope_units::{ByteRate, Bytes, Contrast, Iops, Nanos};

/// An inferred figure. Exactly one of three: a `value`; a bound (`at_least` and/or `at_most`, `value` absent);
/// or unknown (`reason_unknown` set, all else absent).
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate<T> {
    /// The figure.
    pub value: Option<T>,
    /// Probability that the value, or the bound, is right; absent where unknown.
    pub confidence: Option<f64>,
    /// The experiment ended too early to see more: the figure is not below this.
    pub at_least: Option<T>,
    /// The figure is not above this.
    pub at_most: Option<T>,
    /// Other values with their probabilities, likeliest first.
    pub alternatives: Vec<(T, f64)>,
    /// One sentence that a person can check against the figures.
    pub evidence: String,
    /// Names of the experiments that it rests on.
    pub method: Vec<&'static str>,
    /// Why there is neither a value nor a bound.
    pub reason_unknown: Option<String>,
}

impl<T> Estimate<T> {
    /// A figure with its probability.
    pub fn known(value: T, confidence: f64, evidence: impl Into<String>, method: &[&'static str]) -> Self {
        Estimate {
            value: Some(value),
            confidence: Some(confidence),
            at_least: None,
            at_most: None,
            alternatives: Vec::new(),
            evidence: evidence.into(),
            method: method.to_vec(),
            reason_unknown: None,
        }
    }

    /// A lower bound with its probability.
    pub fn at_least(bound: T, confidence: f64, evidence: impl Into<String>, method: &[&'static str]) -> Self {
        Estimate {
            value: None,
            confidence: Some(confidence),
            at_least: Some(bound),
            at_most: None,
            alternatives: Vec::new(),
            evidence: evidence.into(),
            method: method.to_vec(),
            reason_unknown: None,
        }
    }

    /// No answer, and why.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Estimate {
            value: None,
            confidence: None,
            at_least: None,
            at_most: None,
            alternatives: Vec::new(),
            evidence: String::new(),
            method: Vec::new(),
            reason_unknown: Some(reason.into()),
        }
    }

    /// The same with other values beside it, likeliest first.
    pub fn with_alternatives(mut self, alternatives: Vec<(T, f64)>) -> Self {
        self.alternatives = alternatives;
        self
    }

    /// An upper bound with its probability.
    pub fn at_most(bound: T, confidence: f64, evidence: impl Into<String>, method: &[&'static str]) -> Self {
        let at_least = Estimate::at_least(bound, confidence, evidence, method);
        Estimate { at_most: at_least.at_least, at_least: None, ..at_least }
    }

    /// Whether there is neither a value nor a bound.
    pub fn is_unknown(&self) -> bool {
        self.reason_unknown.is_some()
    }
}

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

/// How a device is built.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// What the controller erases, maps and collects as one.
    pub allocation_unit: Estimate<Bytes>,
    /// Where the first unit begins: 0 on a device whose units are multiples of their size.
    pub boundary_offset: Estimate<Bytes>,
    /// Effective page: read or programmed at once.
    pub page: Estimate<Bytes>,
    /// A page level inside the effective page, where one shows.
    pub page_inner: Estimate<Bytes>,
    /// Units that can be half-written at once when each is written in order.
    pub open_units_linear: Estimate<u32>,
    /// The same when each is written at random.
    pub open_units_random: Estimate<u32>,
    /// In-order rate over random rate within one unit.
    pub random_order_penalty: Estimate<Penalty>,
    /// Small writes that take another way through the controller.
    pub small_write_path: Estimate<Bytes>,
    /// Units at the start that behave differently.
    pub fast_area: Estimate<FastArea>,
    /// The stretches of such an area that are built or handled alike, in the order of their addresses.
    pub fast_area_parts: Estimate<Vec<AreaPart>>,
    /// Share of the device that answers without touching the flash, 0…1.
    pub never_written: Estimate<f64>,
    /// Buffers, read-ahead and stalls.
    pub memory: Memory,
    /// The inside of the controller beyond units and pages.
    pub drive: DriveFindings,
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
    /// Rate of long writes in order.
    pub in_order: Option<f64>,
    /// Rate of small writes at random.
    pub small: Option<f64>,
    /// Whether writes in any order are taken here without the copies that they cost elsewhere.
    pub by_page: Option<bool>,
}

/// How an area differs from its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AreaKind {
    /// No different area: tested, and none found.
    None,
    /// Faster.
    Faster,
    /// Slower.
    Slower,
    /// Slower for large blocks and faster for small ones, or the other way round; or parts of several kinds side by side.
    Mixed,
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
    /// In order or at random.
    pub order: Order,
    /// Block size.
    pub block: Bytes,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Requests measured.
    pub requests: u32,
    /// Median service time with its 95 % interval.
    pub service_time: Interval<Nanos>,
    /// All bytes over all the time: what a long transfer sees, stalls included.
    pub mean_rate: ByteRate,
    /// Requests per second over all the time.
    pub iops: Iops,
    /// 99th percentile of the service time, where the count supports it.
    pub service_time_p99: Option<Nanos>,
    /// Longest service time.
    pub service_time_max: Nanos,
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

/// A remark on the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How grave.
    pub severity: Severity,
    /// The remark.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// How grave a note is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know.
    Info,
    /// Weakens an answer.
    Warning,
}
