//! What a run of load was for: a definition, figures taken from the jobs' results, and what limits say of them.

use crate::app::{AppFigures, AppPlace, AppPlan, AppRun};
use crate::bench::CacheVerdict;

/// A run by a definition: one of the presets, or a file.
#[derive(Clone, Debug, PartialEq)]
pub struct PresetRun {
    /// Name of the definition.
    pub name: String,
    /// What it is, in one line.
    pub title: String,
    /// Who defined it so.
    pub source: String,
    /// What was not as defined, each in words (`--quick: runtime 5s → 500ms`); empty where it was run as it stands.
    pub changed: Vec<String>,
    /// Jobs that could not run on this target, each with the reason and a hint.
    pub left_out: Vec<(String, String)>,
    /// What must be known to read the figures.
    pub notes: Vec<String>,
    /// The figures, in the order of the definition.
    pub figures: Vec<Figure>,
    /// What was seen of steadiness, where the definition asks for rounds.
    pub rounds: Option<Rounds>,
    /// Facts of host and device that bound the figures, each a name and a value.
    pub bounds: Vec<(String, String)>,
    /// The applications that the definition asks for; `None` where it asks for none, or none could be played.
    pub played: Option<Played>,
    /// The definition as it was run, in its own words (TOML).
    pub definition: String,
}

/// Applications played for a definition, after its jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// What was to be played.
    pub plan: AppPlan,
    /// Where.
    pub place: AppPlace,
    /// Every run, in order.
    pub runs: Vec<AppRun>,
    /// What they come to.
    pub figures: Vec<AppFigures>,
}

/// One figure of a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// What was measured, run by run and in order; none is left out.
    pub values: Vec<f64>,
    /// Which statistic of them counts.
    pub statistic: Statistic,
    /// The statistic; `None` where nothing was measured.
    pub value: Option<f64>,
    /// Where the median of all such runs lies: low, high and the confidence of it; `None` for fewer than two runs, and for
    /// a longest or slowest value.
    pub interval: Option<(f64, f64, f64)>,
    /// Whose figure it is, by the evidence around its runs: the gravest of them; `None` where nothing was run.
    pub whose: Option<CacheVerdict>,
    /// Share of the bytes that the device had moved when the clock stopped, the middle one of all runs; `None` where nobody
    /// counts.
    pub device_share: Option<f64>,
    /// Limits that the definition sets, easiest first as it has them.
    pub limits: Vec<Judged>,
}

/// Unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes per second.
    BytesPerSecond,
    /// Requests per second.
    PerSecond,
    /// Transactions of a database per second.
    TransactionsPerSecond,
    /// Nanoseconds.
    Nanoseconds,
}

/// How runs become one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The middle one.
    Median,
    /// The mean, over the rounds of the steady window, or of the last one where there is none.
    Mean,
    /// The smallest one.
    Smallest,
    /// The largest one.
    Largest,
}

/// A limit and what the figure says to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// What it is called (`A1`, `class 10`).
    pub name: String,
    /// The limit, in the figure's unit.
    pub limit: f64,
    /// Whether the figure must be at least as large (a rate) rather than at most (a time).
    pub at_least: bool,
    /// The verdict.
    pub verdict: LimitVerdict,
    /// Why, in words: figure, interval, and what stands in the way of telling.
    pub why: String,
}

/// What a figure says to a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitVerdict {
    /// The whole interval is on the right side.
    Met,
    /// The whole interval is on the wrong side.
    Missed,
    /// The interval holds the limit, the figure is not the device's, or there is none.
    CannotTell,
}

/// What was seen of steadiness over the rounds of a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounds {
    /// Rounds that were run.
    pub run: u32,
    /// The round (counted from 1) that completed the first window in which every figure was steady; `None`: not reached.
    pub steady_at: Option<u32>,
    /// The figures that were followed.
    pub tracked: Vec<Tracked>,
    /// The conclusion in words.
    pub why: String,
}

/// One figure over the rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracked {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// Its value in every round.
    pub values: Vec<f64>,
    /// Bytes that the tracked job had written in all at the end of every round; empty where it only reads.
    pub written: Vec<f64>,
    /// Mean of the last five rounds; `None` with fewer.
    pub mean: Option<f64>,
    /// (largest − smallest) / mean of the last five.
    pub range_ratio: Option<f64>,
    /// Rise of the least-squares line across the last five, as a share of their mean; negative where it falls.
    pub slope_ratio: Option<f64>,
}
