//! What values do, alone and together: contrasts within blocks, on the log scale.
//!
//! One at a time, a value's effect is the comparison of its condition with the baseline. In a factorial it is the mean over
//! all values of the other knobs, so that every run of a block serves every knob; an interaction is what is left when the
//! effects of the values by themselves are taken away (Box, Hunter and Hunter, "Statistics for Experimenters", 2nd ed. 2005,
//! chapter 5). Each contrast of blocks is a sequence that may be looked at at any time, like those of the campaign.

use crate::judge::{Evidence, Judged, Question, family_size, judge};
use crate::settings::Settings;
use flashscope_model::comparison::{Comparison, Doubt, Ratio, Readings, Verdict};
use flashscope_model::sweep::{Condition, Effect, Knob, Layout, Term};
use flashscope_stats::sequential::NormalSequence;
use std::collections::{BTreeMap, BTreeSet};

/// All effects, those of one value first. `conditions` are the sides of the readings, in their order; `comparison` is what the
/// campaign makes of them. A condition that was given up counts for nothing.
pub fn effects(
    knobs: &[Knob],
    layout: Layout,
    conditions: &[Condition],
    readings: &Readings,
    comparison: &Comparison,
    settings: &Settings,
) -> Vec<Effect> {
    let blocks = Blocks::of(readings);
    if layout == Layout::OneAtATime || knobs.len() == 1 {
        return alone(knobs, conditions, &blocks, comparison);
    }
    let withheld = comparison.control.is_some_and(|control| control.fails());
    let (single, several): (Vec<Vec<Term>>, Vec<Vec<Term>>) =
        terms(knobs).into_iter().partition(|terms| terms.len() == 1);
    // What values do together is asked after, and pays for itself.
    let families = [single, several];
    families
        .iter()
        .flat_map(|family| judged(family, knobs, conditions, &blocks, readings, withheld, settings))
        .collect()
}

/// Effects that are comparisons with the baseline.
fn alone(knobs: &[Knob], conditions: &[Condition], blocks: &Blocks, comparison: &Comparison) -> Vec<Effect> {
    let effect = |row: &flashscope_model::comparison::Compared| {
        let condition = conditions.get(row.side)?;
        let knob = (0..knobs.len()).find(|knob| condition.values[*knob] != knobs[*knob].baseline)?;
        let is_missing = !blocks.has(row.metric, (row.side, condition));
        Some(Effect {
            terms: vec![Term { knob, value: condition.values[knob] }],
            metric: row.metric,
            ratio: row.ratio,
            blocks: row.other.map_or(0, |centre| centre.counts.blocks),
            verdict: if is_missing { Verdict::CannotTell(Doubt::Missing) } else { row.verdict },
            p_difference: row.p_difference,
            p_equivalence: row.p_equivalence,
        })
    };
    comparison.rows.iter().filter_map(effect).collect()
}

/// Every choice of knobs, each off its baseline, fewest first.
fn terms(knobs: &[Knob]) -> Vec<Vec<Term>> {
    let mut all: Vec<Vec<Term>> = vec![Vec::new()];
    for (knob, swept) in knobs.iter().enumerate() {
        for one in all.clone() {
            for value in (0..swept.values.len()).filter(|value| *value != swept.baseline) {
                all.push(one.iter().copied().chain([Term { knob, value }]).collect());
            }
        }
    }
    all.retain(|terms| !terms.is_empty());
    all.sort_by_key(|terms| (terms.len(), terms.clone()));
    all
}

/// The effects of one family, for every metric.
fn judged(
    family: &[Vec<Term>],
    knobs: &[Knob],
    conditions: &[Condition],
    blocks: &Blocks,
    readings: &Readings,
    withheld: bool,
    settings: &Settings,
) -> Vec<Effect> {
    let asked: Vec<(usize, usize)> =
        (0..readings.metrics.len()).flat_map(|metric| (0..family.len()).map(move |which| (metric, which))).collect();
    let sequences: Vec<Result<NormalSequence, Doubt>> = asked
        .iter()
        .map(|(metric, which)| blocks.sequence(*metric, &weights(*metric, &family[*which], knobs, conditions, blocks)?))
        .collect();
    let able: Vec<usize> =
        asked.iter().zip(&sequences).filter(|(_, found)| found.is_ok()).map(|((_, which), _)| *which).collect();
    let comparisons = family_size(&able, settings.family);
    let questions: Vec<Question> = asked
        .iter()
        .zip(&sequences)
        .map(|((metric, which), found)| Question {
            side: *which,
            better: readings.metrics[*metric].better,
            evidence: (*found).map(|sequence| Evidence::of_sequence(sequence, comparisons, settings)),
        })
        .collect();
    let judged = judge(&questions, settings);
    let all = asked.iter().zip(sequences).zip(questions.iter().zip(judged));
    all.map(|(((metric, which), sequence), (question, judged))| {
        let Judged { verdict, p_difference, p_equivalence } = judged;
        let evidence = question.evidence.as_ref().ok();
        Effect {
            terms: family[*which].clone(),
            metric: *metric,
            ratio: evidence.map(|evidence| Ratio {
                value: evidence.log_ratio.exp(),
                interval: evidence.interval.map(|interval| (interval.low.exp(), interval.high.exp())),
            }),
            blocks: sequence.map_or(0, |sequence| sequence.count()),
            verdict: if withheld && evidence.is_some() { Verdict::CannotTell(Doubt::Withheld) } else { verdict },
            p_difference,
            p_equivalence,
        }
    })
    .collect()
}

/// What each condition counts in a contrast: the knobs of `terms` from baseline to value, as a difference of differences, and the
/// mean over those values of the other knobs for which all of that was measured.
///
/// # Errors
/// There are none such.
fn weights(
    metric: usize,
    terms: &[Term],
    knobs: &[Knob],
    conditions: &[Condition],
    blocks: &Blocks,
) -> Result<BTreeMap<usize, f64>, Doubt> {
    let mut corners: BTreeMap<Vec<usize>, Vec<(usize, f64)>> = BTreeMap::new();
    for (side, condition) in conditions.iter().enumerate().filter(|side| blocks.has(metric, *side)) {
        let sign = terms.iter().map(|term| match condition.values[term.knob] {
            value if value == term.value => 1.0,
            value if value == knobs[term.knob].baseline => -1.0,
            _ => 0.0,
        });
        let sign: f64 = sign.product();
        if sign != 0.0 {
            let is_other = |(knob, _): &(usize, &usize)| !terms.iter().any(|term| term.knob == *knob);
            let others = condition.values.iter().enumerate().filter(is_other).map(|(_, value)| *value).collect();
            corners.entry(others).or_default().push((side, sign));
        }
    }
    corners.retain(|_, corner| corner.len() == 1 << terms.len());
    let count = corners.len() as f64;
    let weights: BTreeMap<usize, f64> =
        corners.into_values().flatten().map(|(side, sign)| (side, sign / count)).collect();
    if weights.is_empty() { Err(Doubt::Missing) } else { Ok(weights) }
}

/// The mean logarithm of each condition in each block, by metric; only of those with all their runs.
struct Blocks {
    /// Of each metric and block: what there is of each side; `None` where a value has no logarithm.
    logs: BTreeMap<(usize, u32), BTreeMap<usize, Option<f64>>>,
    /// Sides with a run of any figure, and of this metric.
    seen: (BTreeSet<usize>, BTreeSet<(usize, usize)>),
}

impl Blocks {
    fn of(readings: &Readings) -> Blocks {
        let mut runs: BTreeMap<(usize, u32, usize), Vec<f64>> = BTreeMap::new();
        for row in &readings.rows {
            if let Some(block) = row.block {
                runs.entry((row.metric, block, row.side)).or_default().push(row.value.ln());
            }
        }
        // As many as a side ever has in a block is what the design gives it.
        let mut whole: BTreeMap<usize, usize> = BTreeMap::new();
        for ((_, _, side), logs) in &runs {
            let most = whole.entry(*side).or_default();
            *most = logs.len().max(*most);
        }
        let mut found: BTreeMap<(usize, u32), BTreeMap<usize, Option<f64>>> = BTreeMap::new();
        for ((metric, block, side), logs) in runs {
            if logs.len() == whole[&side] {
                let mean = logs.iter().sum::<f64>() / logs.len() as f64;
                found.entry((metric, block)).or_default().insert(side, Some(mean).filter(|mean| mean.is_finite()));
            }
        }
        let sides = readings.rows.iter().map(|row| row.side).collect();
        Blocks { logs: found, seen: (sides, readings.rows.iter().map(|row| (row.metric, row.side)).collect()) }
    }

    /// Whether a condition has, or can still get, values of a metric: it was not given up, and none of its runs came without.
    fn has(&self, metric: usize, (side, condition): (usize, &Condition)) -> bool {
        let came_without = self.seen.0.contains(&side) && !self.seen.1.contains(&(metric, side));
        condition.ended.is_none() && !came_without
    }

    /// One value of the contrast per block that has all it needs.
    fn sequence(&self, metric: usize, weights: &BTreeMap<usize, f64>) -> Result<NormalSequence, Doubt> {
        let mut sequence = NormalSequence::default();
        for (_, sides) in self.logs.range((metric, 0)..=(metric, u32::MAX)) {
            let mut sum = Some(0.0);
            for (side, weight) in weights {
                match sides.get(side) {
                    Some(Some(log)) => sum = sum.map(|sum| sum + weight * log),
                    Some(None) => return Err(Doubt::NotPositive),
                    None => sum = None,
                }
            }
            if let Some(sum) = sum {
                // Finite, as every logarithm is.
                let _ = sequence.push(sum);
            }
        }
        match sequence.deviation() {
            None => Err(Doubt::TooFew),
            Some(0.0) => Err(Doubt::NoScatter),
            Some(_) => Ok(sequence),
        }
    }
}
