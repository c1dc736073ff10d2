//! The part of a sweep: a comparison of conditions, the knobs that make them, and what each knob does.

use super::comparison::{Campaigned, Difference, Group, Judged, Ratio, SideSource};
use crate::mirror::{Mirror, mirror, words};
use crate::{RecordError, Recorded};
use flashscope_model::comparison::{ComparisonRecord, Verdict};
use flashscope_model::sweep::{self as model, KnobFinding, SweepRecord};
use flashscope_model::{Envelope, Kind};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Conditions compared, and what their knobs do.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct SweepPart {
    /// The conditions that were measured, the baseline first.
    pub sources: Vec<SideSource>,
    /// Every figure of every condition, and what it comes to.
    pub groups: Vec<Group>,
    /// What else is not the same under all conditions.
    pub differences: Vec<Difference>,
    /// How the runs were made.
    pub campaign: Option<Campaigned>,
    /// What was varied.
    pub knobs: Vec<Knob>,
    /// How the values of several knobs were put together.
    pub layout: Layout,
    /// The sides of the group in their order, then conditions that were never measured.
    pub knob_settings: Vec<Condition>,
    /// What each value does, and of a factorial what values do together.
    pub effects: Vec<Effect>,
    /// What each knob does to each figure.
    pub answers: Vec<Answer>,
}

mirror! {
    /// Something that was varied.
    Knob of model::Knob {
        /// Its name, as it was asked for.
        name: String = name,
        /// Whose setting it is.
        place: KnobPlace = place,
        /// Its values.
        values: Vec<String> = values,
        /// The value that the others are compared with: its place in `values`, from 0.
        baseline: u64 = baseline,
        /// Its value before the sweep, which it has again; null where it had none, or several.
        before: Option<String> = before,
        /// The files of the kernel that it stands for.
        paths: Vec<String> = paths,
    }

    /// One setting of all knobs.
    Condition of model::Condition {
        /// What it is called.
        label: String = label,
        /// The value of each knob: its place in `values`, from 0.
        values: Vec<u64> = values,
        /// Runs that count.
        runs: u32 = runs,
        /// Runs that do not count, each with the reason.
        void: Vec<String> = void,
        /// Why it was given up; null where it was not.
        ended: Option<String> = ended,
    }

    /// What one value does to a figure, or several together beyond what each does alone.
    Effect of model::Effect {
        /// The values; one: a main effect, several: an interaction.
        terms: Vec<Term> = terms,
        /// Which figure: its place in `metrics`, from 0.
        metric: u64 = metric,
        /// What it comes to.
        verdict: Judged = verdict,
        /// As a ratio to the baseline; of an interaction, to the product of what the values do alone.
        ratio: Option<Ratio> = ratio,
        /// Blocks that it rests on.
        blocks: u32 = blocks,
        /// Adjusted p value of "it does nothing".
        p_difference: Option<f64> = p_difference,
        /// Adjusted p value of "it does something that matters".
        p_equivalence: Option<f64> = p_equivalence,
    }

    /// One value of one knob.
    Term of model::Term {
        /// Which knob: its place in `knobs`, from 0.
        knob: u64 = knob,
        /// Which value: its place in the knob's `values`, from 0.
        value: u64 = value,
    }
}

words! {
    /// Whose setting a knob is.
    KnobPlace mirrors model::KnobPlace {
        /// The kernel's, on this machine.
        Host,
        /// The job's.
        Job,
        /// The simulated device's.
        Model,
    }
}

words! {
    /// How the values of several knobs were put together.
    Layout mirrors model::Layout {
        /// One knob at a time is off its baseline.
        OneAtATime,
        /// Every value with every other.
        Factorial,
    }
}

/// What a knob does to a figure.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Answer {
    /// Which knob: its place in `knobs`, from 0.
    pub knob: u64,
    /// Which figure: its place in `metrics`, from 0.
    pub metric: u64,
    /// `better`: a value is better than the baseline; `worse`: none is, and one is worse; `equivalent`: no value makes a
    /// difference larger than the margin.
    pub verdict: Judged,
    /// That value: its place in the knob's `values`, from 0; null where it is neither better nor worse.
    pub value: Option<u64>,
    /// That value over the baseline.
    pub ratio: Option<Ratio>,
}

impl Mirror<model::Answer> for Answer {
    fn from_model(answer: &model::Answer) -> Answer {
        let (verdict, found) = match answer.finding {
            KnobFinding::Better { value, ratio } => (Verdict::Better, Some((value, ratio))),
            KnobFinding::Worse { value, ratio } => (Verdict::Worse, Some((value, ratio))),
            KnobFinding::NoDifference => (Verdict::Equivalent, None),
            KnobFinding::CannotTell(doubt) => (Verdict::CannotTell(doubt), None),
        };
        Answer {
            knob: answer.knob as u64,
            metric: answer.metric as u64,
            verdict: Mirror::from_model(&verdict),
            value: found.map(|(value, _)| value as u64),
            ratio: found.map(|(_, ratio)| Mirror::from_model(&ratio)),
        }
    }

    fn into_model(self) -> Result<model::Answer, RecordError> {
        let ratio = self.ratio.into_model()?;
        let value = self.value.map(|value| value as usize);
        let finding = match (self.verdict.into_model()?, value, ratio) {
            (Verdict::Better, Some(value), Some(ratio)) => KnobFinding::Better { value, ratio },
            (Verdict::Worse, Some(value), Some(ratio)) => KnobFinding::Worse { value, ratio },
            (Verdict::Equivalent, None, None) => KnobFinding::NoDifference,
            (Verdict::CannotTell(doubt), None, None) => KnobFinding::CannotTell(doubt),
            _ => {
                return Err(contradiction(
                    "answers",
                    "a value and its ratio belong to `better` and `worse`, both or none",
                ));
            }
        };
        Ok(model::Answer { knob: self.knob as usize, metric: self.metric as usize, finding })
    }
}

impl Recorded for SweepRecord {
    type Part = SweepPart;

    const KINDS: &'static [Kind] = &[Kind::Sweep];

    fn envelope(&self) -> &Envelope {
        &self.comparison.envelope
    }

    fn part(&self) -> SweepPart {
        let (comparison, sweep) = (&self.comparison, &self.sweep);
        SweepPart {
            sources: Mirror::from_model(&comparison.sources),
            groups: Mirror::from_model(&comparison.groups),
            differences: Mirror::from_model(&comparison.differences),
            campaign: Mirror::from_model(&comparison.campaign),
            knobs: Mirror::from_model(&sweep.knobs),
            layout: Mirror::from_model(&sweep.layout),
            knob_settings: Mirror::from_model(&sweep.conditions),
            effects: Mirror::from_model(&sweep.effects),
            answers: Mirror::from_model(&sweep.answers),
        }
    }

    fn of(envelope: Envelope, part: SweepPart) -> Result<SweepRecord, RecordError> {
        let record = SweepRecord {
            comparison: ComparisonRecord {
                envelope,
                sources: part.sources.into_model()?,
                groups: part.groups.into_model()?,
                differences: part.differences.into_model()?,
                campaign: part.campaign.into_model()?,
            },
            sweep: model::Sweep {
                knobs: part.knobs.into_model()?,
                layout: part.layout.into_model()?,
                conditions: part.knob_settings.into_model()?,
                effects: part.effects.into_model()?,
                answers: part.answers.into_model()?,
            },
        };
        check(&record)?;
        Ok(record)
    }
}

/// Whoever reads the record takes places in lists at their word.
fn check(record: &SweepRecord) -> Result<(), RecordError> {
    let sweep = &record.sweep;
    let [group] = &record.comparison.groups[..] else {
        return Err(contradiction("groups", "a sweep has one"));
    };
    let has_value = |knob: usize, value: usize| sweep.knobs.get(knob).is_some_and(|knob| value < knob.values.len());
    let metrics = group.readings.metrics.len();
    if !sweep.knobs.iter().all(|knob| knob.baseline < knob.values.len()) {
        return Err(contradiction("knobs", "a baseline is none of the values"));
    }
    let fits = |condition: &model::Condition| {
        condition.values.len() == sweep.knobs.len()
            && condition.values.iter().enumerate().all(|(knob, value)| has_value(knob, *value))
    };
    if sweep.conditions.len() < group.readings.sides.len() || !sweep.conditions.iter().all(fits) {
        return Err(contradiction("knob_settings", "each side has one, and each of them a value for every knob"));
    }
    let mut terms = sweep.effects.iter().flat_map(|effect| &effect.terms);
    let is_lost = |metric: usize| metric >= metrics;
    if terms.any(|term| !has_value(term.knob, term.value))
        || sweep.effects.iter().any(|effect| is_lost(effect.metric) || effect.terms.is_empty())
    {
        return Err(contradiction("effects", "one is of a knob, a value or a metric that there is not"));
    }
    let value = |answer: &model::Answer| match answer.finding {
        KnobFinding::Better { value, .. } | KnobFinding::Worse { value, .. } => value,
        KnobFinding::NoDifference | KnobFinding::CannotTell(_) => 0,
    };
    if sweep.answers.iter().any(|answer| is_lost(answer.metric) || !has_value(answer.knob, value(answer))) {
        return Err(contradiction("answers", "one is of a knob, a value or a metric that there is not"));
    }
    Ok(())
}

fn contradiction(field: &str, what: &str) -> RecordError {
    RecordError::Contradiction { field: field.to_owned(), what: what.to_owned() }
}
