//! The part of a comparison: what went in, what it comes to, and what else differs.

use crate::RecordError;
use crate::mirror::{Mirror, mirror, mirror_tuple, part, words};
use flashscope_model::comparison as model;
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

part! {
    /// Sides compared, figure by figure.
    ComparisonPart of model::ComparisonRecord as [Compare] {
        /// Where the figures of each side come from, the baseline first.
        sources: Vec<SideSource> = sources,
        /// What was compared: one group, or one for each factor of a table that has several.
        groups: Vec<Group> = groups,
        /// What else is not the same on all sides.
        differences: Vec<Difference> = differences,
        /// How the runs were made; null where they were there before.
        campaign: Option<Campaigned> = campaign,
    }
}

mirror! {
    /// Where the figures of one side come from.
    SideSource of model::Source {
        /// What the side is called.
        label: String = label,
        /// The files or targets, as typed.
        from: Vec<String> = from,
    }

    /// What the figures of one group come to.
    Comparison of model::Comparison {
        /// Confidence of each interval.
        confidence: f64 = confidence,
        /// A ratio between 1/margin and margin is no difference that matters.
        margin_ratio: f64 = margin,
        /// How intervals and p values were made.
        method: Method = method,
        /// Over which verdicts the error rate is kept.
        family: Family = family,
        /// How many comparisons the largest family has.
        comparisons: u32 = comparisons,
        /// One per figure and side.
        rows: Vec<Compared> = rows,
        /// The baseline against itself; null without such a design.
        control: Option<Control> = control,
        /// What the place of a run within its block did.
        order: Vec<OrderEffect> = order,
    }

    /// One figure, one side against the baseline.
    Compared of model::Compared {
        /// Which figure: its place in `metrics`, from 0.
        metric: u64 = metric,
        /// Which side: its place in `sides`, from 0.
        side: u64 = side,
        /// The verdict.
        verdict: Judged = verdict,
        /// The baseline; null where it has no such figure.
        baseline: Option<Centre> = baseline,
        /// The other side.
        other: Option<Centre> = other,
        /// Other over baseline; null where it cannot be worked out.
        ratio: Option<Ratio> = ratio,
        /// What was repeated, and so what the interval holds for; null without an interval.
        level: Option<Level> = level,
        /// Adjusted p value of "there is no difference".
        p_difference: Option<f64> = p_difference,
        /// Adjusted p value of "there is a difference that matters".
        p_equivalence: Option<f64> = p_equivalence,
        /// The smallest difference that so many runs with such a scatter could have shown, as a ratio above 1.
        least_ratio: Option<f64> = least_ratio,
    }

    /// Where the figures of one side lie.
    Centre of model::Centre {
        /// Geometric mean, in the unit of the metric.
        value: f64 = value,
        /// Its interval; null of one value, or without scatter.
        interval: Option<Ends> = interval,
        /// How often each level was repeated.
        counts: Counts = counts,
    }

    /// How often each level was repeated.
    Counts of model::Counts {
        /// Physical parts.
        parts: u32 = parts,
        /// Sessions.
        sessions: u32 = sessions,
        /// Blocks that hold both sides.
        blocks: u32 = blocks,
        /// Runs.
        runs: u32 = runs,
    }

    /// Other over baseline.
    Ratio of model::Ratio {
        /// The ratio.
        value: f64 = value,
        /// Its interval; null of too few runs.
        interval: Option<Ends> = interval,
    }

    /// The baseline against itself within the same blocks.
    Control of model::Control {
        /// Pooled over all figures.
        p_value: f64 = p_value,
        /// Blocks that it rests on.
        blocks: u32 = blocks,
        /// Below which p value all verdicts are withheld.
        level: f64 = level,
    }

    /// What the place of a run within its block did.
    OrderEffect of model::OrderEffect {
        /// Which figure: its place in `metrics`, from 0.
        metric: u64 = metric,
        /// The later of two runs of one side over the earlier one.
        ratio: f64 = ratio,
        /// p value of "the place does nothing".
        p_value: f64 = p_value,
    }

    /// Figures of runs.
    Readings of model::Readings {
        /// The sides, the baseline first.
        sides: Vec<String> = sides,
        /// What was measured.
        metrics: Vec<Metric> = metrics,
        /// One figure of one run each, in the order in which they were taken.
        rows: Vec<Reading> = rows,
        /// Figures of which only mean, standard deviation and count are known.
        summaries: Vec<SummaryRow> = summaries,
    }

    /// A figure that runs have.
    Metric of model::Metric {
        /// Its name.
        name: String = name,
        /// Its unit.
        unit: String = unit,
        /// Which direction users want.
        better: Better = better,
    }

    /// One figure of one run.
    Reading of model::Reading {
        /// Which side: its place in `sides`, from 0.
        side: u64 = side,
        /// Which figure: its place in `metrics`, from 0.
        metric: u64 = metric,
        /// The physical part; empty where a side is one part.
        part: String = part,
        /// The session; empty where nobody noted it.
        session: String = session,
        /// The block of the design; null without one.
        block: Option<u32> = block,
        /// The value, in the unit of the metric.
        value: f64 = value,
    }

    /// A figure of one side, of which only a summary is known.
    SummaryRow of model::SummaryRow {
        /// Which side: its place in `sides`, from 0.
        side: u64 = side,
        /// Which figure: its place in `metrics`, from 0.
        metric: u64 = metric,
        /// Mean.
        mean: f64 = mean,
        /// Standard deviation.
        deviation: f64 = deviation,
        /// Number of runs.
        count: u32 = count,
    }

    /// Something beside the figures that is not the same on all sides.
    Difference of model::Difference {
        /// What.
        what: String = what,
        /// Each value, and whose it is.
        values: Vec<ValueOf> = values,
        /// Whether figures mean another thing because of it; they were compared by order only.
        incomparable: bool = incomparable,
    }

    /// How a comparison made its runs.
    Campaigned of model::Campaigned {
        /// The jobs of each run, as a job file.
        job: String = job,
        /// Seed of the orders and of the jobs.
        seed: u64 = seed,
        /// Blocks that were run whole.
        blocks: u32 = blocks,
        /// Blocks that might have been run at most.
        most_blocks: u32 = most_blocks,
        /// Runs that count for nothing: of a block that was cut short.
        unused_runs: u32 = unused_runs,
        /// Why it stopped.
        end: CampaignEnd = end,
    }
}

/// Figures of one set of sides.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Group {
    /// What was varied; null where that has no name.
    pub factor: Option<String>,
    /// What they come to.
    pub comparison: Comparison,
    /// Every figure that went in.
    pub readings: Readings,
}

impl Mirror<model::Group> for Group {
    fn from_model(group: &model::Group) -> Group {
        Group {
            factor: group.factor.clone(),
            comparison: Mirror::from_model(&group.comparison),
            readings: Mirror::from_model(&group.readings),
        }
    }

    fn into_model(self) -> Result<model::Group, RecordError> {
        let group = model::Group {
            factor: self.factor,
            readings: self.readings.into_model()?,
            comparison: self.comparison.into_model()?,
        };
        check(&group)?;
        Ok(group)
    }
}

/// Whoever reads the record takes places in lists at their word.
fn check(group: &model::Group) -> Result<(), RecordError> {
    let model::Group { readings, comparison, .. } = group;
    let rows = readings.rows.iter().map(|row| (row.side, row.metric));
    let summaries = readings.summaries.iter().map(|row| (row.side, row.metric));
    let compared = comparison.rows.iter().map(|row| (row.side, row.metric));
    let order = comparison.order.iter().map(|effect| (0, effect.metric));
    let there = |(side, metric): (usize, usize)| side < readings.sides.len() && metric < readings.metrics.len();
    match rows.chain(summaries).chain(compared).chain(order).find(|place| !there(*place)) {
        None => Ok(()),
        Some((side, metric)) => Err(RecordError::Contradiction {
            field: "groups".to_owned(),
            what: format!("there is no side {side} with a metric {metric}"),
        }),
    }
}

mirror_tuple! {
    /// Both ends of an interval.
    Ends of (f64, f64) {
        /// The lower one.
        low: f64,
        /// The upper one.
        high: f64,
    }

    /// A value, and whose it is.
    ValueOf of (String, String) {
        /// The value.
        value: String,
        /// Labels of the sides that have it.
        sides: String,
    }
}

words! {
    /// How intervals and p values were made.
    Method mirrors model::Method {
        /// t tests on the log scale, of a number of runs that was fixed before.
        Fixed,
        /// A confidence sequence: it holds whenever the campaign stopped.
        Sequence,
    }
}

words! {
    /// Over which verdicts the error rate is kept.
    Family mirrors model::Family {
        /// All, by Holm.
        All,
        /// Those of one side, by Holm.
        Side,
        /// Each by itself.
        Each,
        /// The share of false ones, by Benjamini and Hochberg.
        Screen,
    }
}

words! {
    /// What was repeated.
    Level mirrors model::Level {
        /// Runs in one session of these parts.
        Run,
        /// Blocks that hold both sides, of these parts.
        Block,
        /// Sessions of these parts.
        Session,
        /// Several parts of each side.
        Part,
    }
}

words! {
    /// Which of two values users want.
    Better mirrors model::Better {
        /// The higher one.
        Higher,
        /// The lower one.
        Lower,
    }
}

words! {
    /// Why a campaign stopped.
    CampaignEnd mirrors model::CampaignEnd {
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
}

/// A verdict.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Judged {
    /// In one word.
    pub word: VerdictWord,
    /// Why it cannot tell; null otherwise.
    pub doubt: Option<Doubt>,
    /// How many more blocks (or runs a side) would probably do; null where nobody knows.
    pub more: Option<u32>,
}

/// What a comparison of one figure comes to.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum VerdictWord {
    /// Better than the baseline.
    Better,
    /// Worse.
    Worse,
    /// Within the margin, both ends of the interval included.
    Equivalent,
    /// Neither is shown.
    CannotTell,
}

/// Why a comparison cannot tell.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// The interval is too wide.
    Open,
    /// A side has fewer than two runs, or the design fewer than two blocks.
    TooFew,
    /// One side does not have the figure.
    Missing,
    /// A value is zero or negative.
    NotPositive,
    /// The runs do not scatter at all.
    NoScatter,
    /// The baseline differs from itself.
    Withheld,
}

impl From<model::Doubt> for Doubt {
    fn from(doubt: model::Doubt) -> Doubt {
        match doubt {
            model::Doubt::Open { .. } => Doubt::Open,
            model::Doubt::TooFew => Doubt::TooFew,
            model::Doubt::Missing => Doubt::Missing,
            model::Doubt::NotPositive => Doubt::NotPositive,
            model::Doubt::NoScatter => Doubt::NoScatter,
            model::Doubt::Withheld => Doubt::Withheld,
        }
    }
}

impl Doubt {
    /// The same in the model, with the number of further repetitions that would probably do.
    pub(crate) fn with(self, more: Option<u32>) -> model::Doubt {
        match self {
            Doubt::Open => model::Doubt::Open { more },
            Doubt::TooFew => model::Doubt::TooFew,
            Doubt::Missing => model::Doubt::Missing,
            Doubt::NotPositive => model::Doubt::NotPositive,
            Doubt::NoScatter => model::Doubt::NoScatter,
            Doubt::Withheld => model::Doubt::Withheld,
        }
    }
}

impl Mirror<model::Verdict> for Judged {
    fn from_model(verdict: &model::Verdict) -> Judged {
        let (word, doubt) = match verdict {
            model::Verdict::Better => (VerdictWord::Better, None),
            model::Verdict::Worse => (VerdictWord::Worse, None),
            model::Verdict::Equivalent => (VerdictWord::Equivalent, None),
            model::Verdict::CannotTell(doubt) => (VerdictWord::CannotTell, Some(doubt)),
        };
        let more = doubt.and_then(|doubt| match doubt {
            model::Doubt::Open { more } => *more,
            _ => None,
        });
        let doubt = doubt.map(|doubt| Doubt::from(*doubt));
        Judged { word, doubt, more }
    }

    fn into_model(self) -> Result<model::Verdict, RecordError> {
        Ok(match (self.word, self.doubt) {
            (VerdictWord::Better, None) => model::Verdict::Better,
            (VerdictWord::Worse, None) => model::Verdict::Worse,
            (VerdictWord::Equivalent, None) => model::Verdict::Equivalent,
            (VerdictWord::CannotTell, Some(doubt)) => model::Verdict::CannotTell(doubt.with(self.more)),
            _ => {
                return Err(RecordError::Contradiction {
                    field: "verdict".to_owned(),
                    what: "a doubt belongs to `cannot_tell`, and to nothing else".to_owned(),
                });
            }
        })
    }
}
