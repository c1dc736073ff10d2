//! From what the runs say of each figure to verdicts that hold together.

use crate::settings::Settings;
use flashscope_model::comparison::{Better, Doubt, Family, Verdict};
use flashscope_stats::Interval;
use flashscope_stats::sequential::NormalSequence;
use flashscope_stats::test::{WelchT, benjamini_hochberg, holm};

/// No number of runs above this is worth naming as what would settle a question.
const MOST_MORE: u32 = 1000;

/// What the runs say of one figure: the log of the ratio other/baseline.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    pub(crate) log_ratio: f64,
    /// At the confidence of the settings.
    pub(crate) interval: Option<Interval>,
    pub(crate) p_difference: f64,
    pub(crate) p_equivalence: f64,
    /// Half the width of the interval at the confidence that the whole family asks of one figure, after so many repetitions.
    half_widths: HalfWidths,
}

#[derive(Clone, Debug)]
enum HalfWidths {
    /// Of a t interval: the width now, which shrinks with the root of the number.
    Fixed {
        now: f64,
        repetitions: u32,
    },
    Sequence {
        sequence: NormalSequence,
        confidence: f64,
    },
}

impl Evidence {
    /// From a t test on logarithms of `repetitions` (a side, or pairs), one of `comparisons`.
    pub(crate) fn of_t(test: &WelchT, repetitions: u32, comparisons: usize, settings: &Settings) -> Evidence {
        let bound = settings.margin().ln();
        let inside = test.difference.abs() < bound;
        // Two one-sided tests at half of alpha each, so that "equivalent" is "the interval shown lies within the margin".
        let p_equivalence = if inside { test.p_value_against(bound).max(test.p_value_against(-bound)) } else { 1.0 };
        let strict = 1.0 - settings.alpha() / comparisons.max(1) as f64;
        let now = test.interval(strict).map_or(f64::INFINITY, |interval| 0.5 * interval.width());
        Evidence {
            log_ratio: test.difference,
            interval: test.interval(settings.confidence()).ok(),
            p_difference: test.p_value,
            p_equivalence,
            half_widths: HalfWidths::Fixed { now, repetitions },
        }
    }

    /// From the contrasts of blocks, whenever that is looked at.
    pub(crate) fn of_sequence(sequence: NormalSequence, comparisons: usize, settings: &Settings) -> Evidence {
        let bound = settings.margin().ln();
        let inside = sequence.mean().abs() < bound;
        let p_equivalence = if inside { sequence.p_value(bound).max(sequence.p_value(-bound)) } else { 1.0 };
        let confidence = 1.0 - settings.alpha() / comparisons.max(1) as f64;
        Evidence {
            log_ratio: sequence.mean(),
            interval: sequence.interval(settings.confidence()),
            p_difference: sequence.p_value(0.0),
            p_equivalence,
            half_widths: HalfWidths::Sequence { sequence, confidence },
        }
    }

    /// The smallest difference, as a ratio above 1, that this number of runs with this scatter could have shown.
    pub(crate) fn least_ratio(&self) -> Option<f64> {
        let half = match &self.half_widths {
            HalfWidths::Fixed { now, .. } => Some(*now),
            HalfWidths::Sequence { sequence, confidence } => sequence.half_width_after(sequence.count(), *confidence),
        };
        half.filter(|half| half.is_finite()).map(f64::exp)
    }

    /// How many more repetitions would probably settle it: until the interval is narrow enough either to leave out 1 or to
    /// lie within the margin, whichever is nearer to what was seen.
    fn more(&self, settings: &Settings) -> Option<u32> {
        let goal = self.log_ratio.abs().max(settings.margin().ln() - self.log_ratio.abs());
        let (have, needed) = match &self.half_widths {
            HalfWidths::Fixed { now, repetitions } => {
                let needed = f64::from(*repetitions) * (now / goal).powi(2);
                (*repetitions, (needed < f64::from(u32::MAX)).then(|| needed.ceil() as u32)?)
            }
            HalfWidths::Sequence { sequence, confidence } => {
                let have = sequence.count();
                let enough = |n: &u32| sequence.half_width_after(*n, *confidence).is_some_and(|half| half < goal);
                (have, (have + 1..=have + MOST_MORE).find(enough)?)
            }
        };
        Some(needed.saturating_sub(have).max(1)).filter(|more| *more <= MOST_MORE)
    }
}

/// One figure of one side before its verdict.
pub(crate) struct Question {
    pub(crate) side: usize,
    pub(crate) better: Better,
    pub(crate) evidence: Result<Evidence, Doubt>,
}

/// The verdict on one question, with its p values adjusted for the family.
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    pub(crate) p_difference: Option<f64>,
    pub(crate) p_equivalence: Option<f64>,
}

/// How many comparisons the largest family has, of those whose sides are given; one where each stands by itself.
pub(crate) fn family_size(sides: &[usize], family: Family) -> usize {
    let of = |side: usize| sides.iter().filter(|other| **other == side).count();
    match family {
        Family::Each => 1,
        Family::Side => sides.iter().map(|side| of(*side)).max().unwrap_or(0),
        Family::All | Family::Screen => sides.len(),
    }
}

/// Verdicts over all questions, in their order.
pub(crate) fn judge(questions: &[Question], settings: &Settings) -> Vec<Judged> {
    let difference = adjusted(questions, settings.family, |evidence| evidence.p_difference);
    let equivalence = adjusted(questions, settings.family, |evidence| evidence.p_equivalence);
    let all = questions.iter().zip(difference).zip(equivalence);
    all.map(|((question, p_difference), p_equivalence)| {
        let verdict = match &question.evidence {
            Err(doubt) => Verdict::CannotTell(*doubt),
            Ok(evidence) => verdict(evidence, question.better, p_difference, p_equivalence, settings),
        };
        Judged { verdict, p_difference, p_equivalence }
    })
    .collect()
}

fn verdict(
    evidence: &Evidence,
    better: Better,
    p_difference: Option<f64>,
    p_equivalence: Option<f64>,
    settings: &Settings,
) -> Verdict {
    let shown = |p: Option<f64>| p.is_some_and(|p| p <= settings.alpha());
    // A difference that is there and smaller than the margin is one that does not matter.
    if shown(p_equivalence) {
        return Verdict::Equivalent;
    }
    if !shown(p_difference) {
        return Verdict::CannotTell(Doubt::Open { more: evidence.more(settings) });
    }
    if (evidence.log_ratio > 0.0) == (better == Better::Higher) { Verdict::Better } else { Verdict::Worse }
}

/// Adjusted p values, in the order of the questions.
fn adjusted(questions: &[Question], family: Family, p: impl Fn(&Evidence) -> f64) -> Vec<Option<f64>> {
    let mut found: Vec<Option<f64>> = vec![None; questions.len()];
    let mut sides: Vec<usize> = questions.iter().map(|question| question.side).collect();
    sides.sort_unstable();
    sides.dedup();
    let families = if family == Family::Side { sides.into_iter().map(Some).collect() } else { vec![None] };
    for one in families {
        let members = (0..questions.len()).filter(|i| one.is_none_or(|side| questions[*i].side == side));
        let known: Vec<(usize, f64)> =
            members.filter_map(|i| questions[i].evidence.as_ref().ok().map(|evidence| (i, p(evidence)))).collect();
        let values: Vec<f64> = known.iter().map(|(_, p)| *p).collect();
        let adjusted = match family {
            Family::All | Family::Side => holm(&values),
            Family::Screen => benjamini_hochberg(&values),
            Family::Each => Ok(values.clone()),
        };
        // A p value is refused only where it is none (NaN), and then nothing is shown.
        let adjusted = adjusted.unwrap_or_else(|_| vec![1.0; values.len()]);
        for ((i, _), p) in known.into_iter().zip(adjusted) {
            found[i] = Some(p);
        }
    }
    found
}
