//! What a comparison says: one side's figures against the other's, each with its verdict, and what it rests on.

use crate::envelope::Envelope;

/// Everything about one comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonRecord {
    /// Who and when.
    pub envelope: Envelope,
    /// Where the figures of each side come from, in the order of the sides.
    pub sources: Vec<Source>,
    /// What was compared: one group, or one for each factor of a table that has several.
    pub groups: Vec<Group>,
    /// What else is not the same on all sides.
    pub differences: Vec<Difference>,
    /// How the runs were made, where the comparison made them.
    pub campaign: Option<Campaigned>,
}

/// Where the figures of one side come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What the side is called.
    pub label: String,
    /// The files or targets, as typed.
    pub from: Vec<String>,
}

/// Figures of one set of sides, and what they come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What was varied; `None` where the sides have no such name.
    pub factor: Option<String>,
    /// Every figure that went in.
    pub readings: Readings,
    /// What they come to.
    pub comparison: Comparison,
}

/// Something beside the figures that is not the same on all sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What (`bs`, `state`, `scheduler`).
    pub what: String,
    /// Each value, with the labels of the sides that have it.
    pub values: Vec<(String, String)>,
    /// Whether figures mean another thing because of it, so that they were compared by order only.
    pub incomparable: bool,
}

/// How a comparison made its runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Campaigned {
    /// The jobs of each run, as a job file.
    pub job: String,
    /// Seed of the orders and of the jobs.
    pub seed: u64,
    /// Blocks that were run whole.
    pub blocks: u32,
    /// Blocks that might have been run at most.
    pub most_blocks: u32,
    /// Runs that count for nothing: of a block that was cut short.
    pub unused_runs: u32,
    /// Why it stopped.
    pub end: CampaignEnd,
}

/// Why a campaign stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CampaignEnd {
    /// Every figure was decided.
    Decided,
    /// The blocks were used up.
    Blocks,
    /// The time was used up.
    Time,
    /// What may be written was used up.
    Written,
    /// The operator stopped it.
    Interrupted,
    /// A run could not be done.
    Failed,
}

/// Figures of runs: who was measured, what, and how often.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readings {
    /// The sides, the baseline first.
    pub sides: Vec<String>,
    /// What was measured of each.
    pub metrics: Vec<Metric>,
    /// One figure of one run each, in the order in which they were taken.
    pub rows: Vec<Reading>,
    /// Figures of which only mean, standard deviation and count are known.
    pub summaries: Vec<SummaryRow>,
}

/// A figure that runs have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Metric {
    /// Its name, unique within a comparison (`seq read`, `job1 write p99`).
    pub name: String,
    /// Its unit as printed (`MB/s`, `IOPS`, `µs`); may be empty.
    pub unit: String,
    /// Which direction users want.
    pub better: Better,
}

/// Which of two values of a figure users want.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Better {
    /// The higher one: rates.
    Higher,
    /// The lower one: times.
    Lower,
}

/// One figure of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Whose: an index into [`Readings::sides`].
    pub side: usize,
    /// Which figure: an index into [`Readings::metrics`].
    pub metric: usize,
    /// The physical part; empty where a side is one part.
    pub part: String,
    /// The session (power-up, mount, host state); empty where nobody noted it.
    pub session: String,
    /// The block of the design, if there was one: what the sides of one block share cancels out.
    pub block: Option<u32>,
    /// The value, in the unit of the metric.
    pub value: f64,
}

/// A figure of one side, of which only a summary is known.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryRow {
    /// An index into [`Readings::sides`].
    pub side: usize,
    /// An index into [`Readings::metrics`].
    pub metric: usize,
    /// Mean, in the unit of the metric.
    pub mean: f64,
    /// Standard deviation (divisor count − 1), in the unit of the metric.
    pub deviation: f64,
    /// Number of runs.
    pub count: u32,
}

/// The result: one row per figure and pair of sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Confidence of each interval, 0 to 1.
    pub confidence: f64,
    /// A ratio within 1/margin … margin counts as no difference that matters; above 1.
    pub margin: f64,
    /// How intervals and p values were made.
    pub method: Method,
    /// Over which verdicts the error rate is kept, and how.
    pub family: Family,
    /// How many comparisons there are in the largest family.
    pub comparisons: u32,
    /// Rows in the order of metrics, then sides.
    pub rows: Vec<Compared>,
    /// The baseline against itself, where the design has it.
    pub control: Option<Control>,
    /// What the order of runs did, where the design tells.
    pub order: Vec<OrderEffect>,
}

/// How intervals and p values were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Student's and Welch's t on the log scale, of a number of runs that was fixed before.
    Fixed,
    /// A confidence sequence on the log scale: it holds whenever the campaign stopped.
    Sequence,
}

/// Over which comparisons the chance of a false verdict is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// All figures of all sides against the baseline, by Holm's method.
    All,
    /// The figures of one side against the baseline, by Holm's method, each side a family of its own.
    Side,
    /// Each verdict by itself; the chance of a false one among many is larger, which is said.
    Each,
    /// The share of false ones among the verdicts, by Benjamini and Hochberg: for screening many.
    Screen,
}

/// One figure, one side against the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// An index into [`Readings::metrics`].
    pub metric: usize,
    /// The side that is compared with the baseline (side 0).
    pub side: usize,
    /// The baseline's centre; `None` where it has no such figure.
    pub baseline: Option<Centre>,
    /// The other side's.
    pub other: Option<Centre>,
    /// Other over baseline; `None` where it cannot be worked out.
    pub ratio: Option<Ratio>,
    /// What it comes to.
    pub verdict: Verdict,
    /// What the scatter was taken from, so what the interval covers.
    pub level: Option<Level>,
    /// p value of "there is no difference", adjusted for the family.
    pub p_difference: Option<f64>,
    /// p value of "there is a difference that matters", adjusted for the family.
    pub p_equivalence: Option<f64>,
    /// Smallest difference (as a ratio above 1) that so many runs with such a scatter could have shown at this confidence.
    pub least_ratio: Option<f64>,
}

/// Where the figures of one side lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Centre {
    /// Geometric mean, in the unit of the metric.
    pub value: f64,
    /// Its interval by itself; `None` where there is one value or no scatter.
    pub interval: Option<(f64, f64)>,
    /// How many parts, sessions and runs it is made of.
    pub counts: Counts,
}

/// How often each level was repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Physical parts.
    pub parts: u32,
    /// Sessions.
    pub sessions: u32,
    /// Blocks that hold both sides; 0 without a design.
    pub blocks: u32,
    /// Runs.
    pub runs: u32,
}

/// A ratio and where it can plausibly be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Other over baseline.
    pub value: f64,
    /// Lower end of the interval; `None`, with the upper one, where the runs are too few for any.
    pub interval: Option<(f64, f64)>,
}

/// What was repeated, and so what an interval generalises over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Runs within one session: holds for this session of these parts.
    Run,
    /// Blocks that hold both sides: holds for these parts, over sessions like those of the blocks.
    Block,
    /// Sessions: holds for these parts.
    Session,
    /// Several parts of each side: holds for the models.
    Part,
}

/// What a comparison of one figure comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The other side is better than the baseline.
    Better,
    /// The other side is worse.
    Worse,
    /// The ratio lies within the margin, both ends of its interval included.
    Equivalent,
    /// Neither is shown.
    CannotTell(Doubt),
}

/// Why a comparison cannot tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Doubt {
    /// The interval is too wide; this many more blocks (or runs a side, without a design) would probably do.
    Open {
        /// `None` where the scatter gives no number worth naming.
        more: Option<u32>,
    },
    /// A side has fewer than two runs, or a design fewer than two blocks.
    TooFew,
    /// One side does not have the figure.
    Missing,
    /// A value is zero or negative: a ratio needs positive ones.
    NotPositive,
    /// The runs do not scatter at all, so that nothing tells what chance does.
    NoScatter,
    /// The baseline differs from itself: the host or the order of runs is at work.
    Withheld,
}

/// The baseline against itself within the same blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// Pooled p value over all figures, valid whenever it is looked at.
    pub p_value: f64,
    /// Blocks that it rests on.
    pub blocks: u32,
    /// Below which p value all verdicts are withheld.
    pub level: f64,
}

impl Control {
    /// Whether the baseline differs from itself.
    pub fn fails(&self) -> bool {
        self.p_value < self.level
    }
}

/// What the place of a run within its block did to a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrderEffect {
    /// An index into [`Readings::metrics`].
    pub metric: usize,
    /// The later of two runs of one side over the earlier one.
    pub ratio: f64,
    /// p value of "the place does nothing".
    pub p_value: f64,
}
