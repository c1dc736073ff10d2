//! A simulated device fitted to a measured one: the model, where each of its figures comes from, and how well it fits.

use crate::envelope::Envelope;
use flashscope_units::Bytes;

/// Everything about one run of `twin fit`.
#[derive(Clone, Debug, PartialEq)]
pub struct TwinRecord {
    /// Who and when.
    pub envelope: Envelope,
    /// The files that it was fitted to.
    pub sources: Vec<String>,
    /// The model file, with remarks.
    pub model: String,
    /// Every parameter that was filled in, and where it comes from.
    pub parameters: Vec<Parameter>,
    /// What became of every finding.
    pub findings: Vec<Finding>,
    /// What a reader must know first.
    pub caution: Option<String>,
    /// Measured figures that no model could be asked for, and why.
    pub left_out: Vec<String>,
    /// How well it fits.
    pub goodness: Goodness,
}

/// One parameter of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its path in the model file.
    pub path: String,
    /// Its value as the file spells it.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
    /// The evidence, or why it is this default.
    pub why: String,
}

/// Where a parameter comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A conclusion of the inference.
    Found,
    /// Fitted to figures of the measurement.
    Fitted,
    /// Not in the measurement.
    Default,
}

/// One finding, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Its name, as in a record.
    pub name: String,
    /// The figure or the bound in words; `None` where it is unknown.
    pub figure: Option<String>,
    /// Probability that it is right; `None` where it is unknown.
    pub confidence: Option<f64>,
    /// What became of it.
    pub outcome: Outcome,
    /// Why the twin does not hold it, or why it is not known.
    pub why: Option<String>,
    /// The parameter that holds it, or that stands in its place.
    pub path: Option<String>,
}

/// What became of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The twin has it.
    Held,
    /// It was found, and the twin does not have it.
    NotHeld,
    /// It was not found.
    Unknown,
}

/// How well a twin fits, by the clauses of docs/twin.md.
#[derive(Clone, Debug, PartialEq)]
pub struct Goodness {
    /// Share of all figures within 15 %, contrasts left out.
    pub within: f64,
    /// Pooled by test.
    pub tests: Vec<Pool>,
    /// Clause (b), one per table and level.
    pub plateaus: Vec<Plateau>,
    /// Clause (c): rows of chance.
    pub bands: Vec<Band>,
    /// Clause (d): models that are wrong on purpose.
    pub wrong: Vec<Wrong>,
    /// Every figure that both sides have.
    pub cells: Vec<Cell>,
}

/// The figures of one test.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    /// The test.
    pub test: String,
    /// All its figures but contrasts.
    pub all: Errors,
    /// Those that clause (a) is about, and whether it is met; `None` where there is no such figure.
    pub close: Option<Held>,
}

/// Errors of some figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// How many figures.
    pub cells: usize,
    /// Share within 15 %.
    pub within: f64,
    /// Median size of the error.
    pub median: f64,
}

/// Errors, and whether they are small enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// The errors.
    pub errors: Errors,
    /// Whether clause (a) is met.
    pub holds: bool,
}

/// What straddling costs on one level of one table.
#[derive(Clone, Debug, PartialEq)]
pub struct Plateau {
    /// The table.
    pub table: String,
    /// What the boundaries are of.
    pub level: String,
    /// Mean of the measured contrasts, in nanoseconds.
    pub measured_ns: f64,
    /// Mean of the simulated ones.
    pub simulated_ns: f64,
    /// Whether clause (b) is met.
    pub holds: bool,
}

/// A row of chance.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// The figure; what is simulated is the median of the seeds.
    pub cell: Cell,
    /// Lower end of the central 95 % of the seeds.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// How far measured figures lie apart that would be equal without chance; `None` of too few.
    pub spread: Option<f64>,
    /// Whether clause (c) is met.
    pub holds: bool,
}

/// A model that is wrong on purpose.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// What is wrong with it.
    pub what: String,
    /// How far its figures are off, against the twin's.
    pub farther: f64,
    /// Whether clause (d) tells it from the twin.
    pub rejected: bool,
}

/// One measured figure and the simulated one.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The test.
    pub test: String,
    /// The command, for people.
    pub table: String,
    /// The run in the measurement, counted from 0.
    pub run: usize,
    /// Alignment or block size: what the row is called.
    pub row: Bytes,
    /// What the column is called.
    pub column: String,
    /// What the figures are.
    pub unit: Unit,
    /// As measured.
    pub measured: f64,
    /// As simulated.
    pub simulated: f64,
    /// Requests that the simulated figure is over.
    pub requests: u64,
    /// The letter of the clause that it is held to.
    pub clause: String,
}

/// Unit of a measured figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes per second.
    BytesPerSecond,
}

impl Cell {
    /// Simulated over measured, less 1.
    pub fn error(&self) -> f64 {
        self.simulated / self.measured - 1.0
    }
}
