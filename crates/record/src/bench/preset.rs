//! What a run of load was for, on the wire.

use super::{Interval, Verdict};
use flashscope_model::preset as model;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A run by a definition.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(super) struct Preset {
    /// Name of the definition.
    name: String,
    /// What it is.
    title: String,
    /// Who defined it so.
    source: String,
    /// What was not as defined, each in words; empty where it was run as it stands.
    changed: Vec<String>,
    /// Jobs that could not run on this target.
    left_out: Vec<LeftOut>,
    /// What must be known to read the figures.
    notes: Vec<String>,
    /// The figures, in the order of the definition.
    figures: Vec<Figure>,
    /// What was seen of steadiness; null where the definition asks for no rounds.
    rounds: Option<Rounds>,
    /// Facts of host and device that bound the figures.
    bounds: Vec<Fact>,
    /// The definition (TOML).
    definition: String,
}

/// A job that could not run.
#[derive(Serialize, Deserialize, JsonSchema)]
struct LeftOut {
    /// Its name.
    job: String,
    /// Why, and what to do.
    why: String,
}

/// A fact.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Fact {
    /// Its name.
    name: String,
    /// Its value.
    value: String,
}

/// One figure.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Figure {
    /// Its name.
    name: String,
    /// Unit of its values.
    unit: Unit,
    /// What was measured, run by run.
    values: Vec<f64>,
    /// Which statistic of them counts.
    statistic: Statistic,
    /// The statistic; null where nothing was measured, or no steady state was reached.
    value: Option<f64>,
    /// Where the median of all such runs lies; null with fewer than two runs, and for other statistics.
    interval: Option<Interval>,
    /// Whose figure it is, the gravest of all runs; null where nothing was run.
    whose: Option<Verdict>,
    /// Share of the bytes that the device had moved when the clock stopped, the middle one; null where nobody counts.
    device_share_ratio: Option<f64>,
    /// The definition's limits.
    limits: Vec<Limit>,
}

/// A unit.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    /// Bytes per second.
    BytesPerS,
    /// Requests per second.
    RequestsPerS,
    /// Nanoseconds.
    Ns,
}

/// A statistic.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Statistic {
    /// The middle one.
    Median,
    /// The mean of the steady window, or of the last rounds where `steady_at` is null.
    Mean,
    /// The smallest.
    Smallest,
    /// The largest.
    Largest,
}

/// A limit.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Limit {
    /// Its name.
    name: String,
    /// In the unit of the figure.
    limit: f64,
    /// Whether the figure must be at least as large; else at most.
    at_least: bool,
    /// What the figure says to it.
    verdict: LimitVerdict,
    /// Why.
    why: String,
}

/// What a figure says to a limit.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum LimitVerdict {
    /// It keeps it.
    Met,
    /// It does not.
    Missed,
    /// It cannot be told.
    CannotTell,
}

/// Steadiness over rounds.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Rounds {
    /// Rounds that were run.
    run_count: u32,
    /// The round, counted from 1, that completed the first steady window; null where there was none.
    steady_at: Option<u32>,
    /// The figures that were followed.
    tracked: Vec<Tracked>,
    /// The conclusion in words.
    why: String,
}

/// One figure over the rounds.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Tracked {
    /// Its name.
    name: String,
    /// Unit of its values.
    unit: Unit,
    /// Its value in every round.
    values: Vec<f64>,
    /// Bytes that its job had written in all after every round; empty where it only reads.
    written_bytes: Vec<f64>,
    /// Mean of the last five; null with fewer.
    mean: Option<f64>,
    /// (largest − smallest) / mean of the last five.
    range_ratio: Option<f64>,
    /// Rise of the straight line across the last five over their mean.
    slope_ratio: Option<f64>,
}

macro_rules! both_ways {
    ($wire:ident, $($name:ident = $other:ident),*) => {
        impl $wire {
            fn from_model(value: model::$wire) -> $wire {
                match value { $(model::$wire::$other => $wire::$name),* }
            }

            fn into_model(self) -> model::$wire {
                match self { $($wire::$name => model::$wire::$other),* }
            }
        }
    };
}

both_ways!(Unit, BytesPerS = BytesPerSecond, RequestsPerS = PerSecond, Ns = Nanoseconds);
both_ways!(Statistic, Median = Median, Mean = Mean, Smallest = Smallest, Largest = Largest);
both_ways!(LimitVerdict, Met = Met, Missed = Missed, CannotTell = CannotTell);

impl Preset {
    pub(super) fn from_model(preset: &model::PresetRun) -> Preset {
        let left_out = |(job, why): &(String, String)| LeftOut { job: job.clone(), why: why.clone() };
        let fact = |(name, value): &(String, String)| Fact { name: name.clone(), value: value.clone() };
        Preset {
            name: preset.name.clone(),
            title: preset.title.clone(),
            source: preset.source.clone(),
            changed: preset.changed.clone(),
            left_out: preset.left_out.iter().map(left_out).collect(),
            notes: preset.notes.clone(),
            figures: preset.figures.iter().map(Figure::from_model).collect(),
            rounds: preset.rounds.as_ref().map(Rounds::from_model),
            bounds: preset.bounds.iter().map(fact).collect(),
            definition: preset.definition.clone(),
        }
    }

    pub(super) fn into_model(self) -> model::PresetRun {
        model::PresetRun {
            name: self.name,
            title: self.title,
            source: self.source,
            changed: self.changed,
            left_out: self.left_out.into_iter().map(|left_out| (left_out.job, left_out.why)).collect(),
            notes: self.notes,
            figures: self.figures.into_iter().map(Figure::into_model).collect(),
            rounds: self.rounds.map(Rounds::into_model),
            bounds: self.bounds.into_iter().map(|fact| (fact.name, fact.value)).collect(),
            definition: self.definition,
        }
    }
}

impl Figure {
    fn from_model(figure: &model::Figure) -> Figure {
        let limit = |judged: &model::Judged| Limit {
            name: judged.name.clone(),
            limit: judged.limit,
            at_least: judged.at_least,
            verdict: LimitVerdict::from_model(judged.verdict),
            why: judged.why.clone(),
        };
        Figure {
            name: figure.name.clone(),
            unit: Unit::from_model(figure.unit),
            values: figure.values.clone(),
            statistic: Statistic::from_model(figure.statistic),
            value: figure.value,
            interval: figure.interval.map(Interval::from_model),
            whose: figure.whose.map(Verdict::from_model),
            device_share_ratio: figure.device_share,
            limits: figure.limits.iter().map(limit).collect(),
        }
    }

    fn into_model(self) -> model::Figure {
        let judged = |limit: Limit| model::Judged {
            name: limit.name,
            limit: limit.limit,
            at_least: limit.at_least,
            verdict: limit.verdict.into_model(),
            why: limit.why,
        };
        model::Figure {
            name: self.name,
            unit: self.unit.into_model(),
            values: self.values,
            statistic: self.statistic.into_model(),
            value: self.value,
            interval: self.interval.map(Interval::into_model),
            whose: self.whose.map(Verdict::into_model),
            device_share: self.device_share_ratio,
            limits: self.limits.into_iter().map(judged).collect(),
        }
    }
}

impl Rounds {
    fn from_model(rounds: &model::Rounds) -> Rounds {
        let tracked = |tracked: &model::Tracked| Tracked {
            name: tracked.name.clone(),
            unit: Unit::from_model(tracked.unit),
            values: tracked.values.clone(),
            written_bytes: tracked.written.clone(),
            mean: tracked.mean,
            range_ratio: tracked.range_ratio,
            slope_ratio: tracked.slope_ratio,
        };
        Rounds {
            run_count: rounds.run,
            steady_at: rounds.steady_at,
            tracked: rounds.tracked.iter().map(tracked).collect(),
            why: rounds.why.clone(),
        }
    }

    fn into_model(self) -> model::Rounds {
        let tracked = |tracked: Tracked| model::Tracked {
            name: tracked.name,
            unit: tracked.unit.into_model(),
            values: tracked.values,
            written: tracked.written_bytes,
            mean: tracked.mean,
            range_ratio: tracked.range_ratio,
            slope_ratio: tracked.slope_ratio,
        };
        model::Rounds {
            run: self.run_count,
            steady_at: self.steady_at,
            tracked: self.tracked.into_iter().map(tracked).collect(),
            why: self.why,
        }
    }
}
