//! A table from cases.

use super::{Bin, Table};
use std::collections::BTreeMap;

/// One question about one device whose inside is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The question.
    pub question: String,
    /// What kind of signal there was.
    pub regime: String,
    /// How clear it was.
    pub score: f64,
    /// The answer that is true.
    pub answer: String,
}

/// Fewest cases of a bin: of fewer, a share tells little.
const LEAST_CASES: usize = 20;

/// Counts cases in ranges of scores. A range is cut in two where that makes the answers likelier by more than one more range
/// may by chance (the Bayesian information criterion, with the place of the cut as a parameter). Cases without a finite
/// score count nowhere.
pub fn build(cases: &[Case]) -> Table {
    let mut by_regime: BTreeMap<(String, String), Vec<&Case>> = BTreeMap::new();
    for case in cases.iter().filter(|case| case.score.is_finite()) {
        by_regime.entry((case.question.clone(), case.regime.clone())).or_default().push(case);
    }
    let bins = |mut cases: Vec<&Case>| {
        cases.sort_by(|a, b| a.score.total_cmp(&b.score));
        let mut bins = Vec::new();
        cut(&cases, &mut bins);
        bins
    };
    Table { regimes: by_regime.into_iter().map(|(key, cases)| (key, bins(cases))).collect() }
}

/// Cuts cases of rising scores for as long as it pays, and appends their bins.
fn cut(cases: &[&Case], bins: &mut Vec<Bin>) {
    let all = counted(cases);
    // One more share for each answer but one, and the place.
    let price = 0.5 * all.len() as f64 * (cases.len() as f64).ln();
    let (mut left, mut right) = (BTreeMap::new(), all.clone());
    let mut best = (price, 0);
    for (at, case) in cases.iter().enumerate() {
        let may_be_cut = at >= LEAST_CASES && at + LEAST_CASES <= cases.len() && cases[at - 1].score < case.score;
        let gain = if may_be_cut { likelihood(&left) + likelihood(&right) - likelihood(&all) } else { 0.0 };
        if gain > best.0 {
            best = (gain, at);
        }
        *left.entry(case.answer.as_str()).or_default() += 1;
        right.entry(case.answer.as_str()).and_modify(|count| *count -= 1);
    }
    match best.1 {
        0 => bins.push(Bin {
            up_to: cases.last().map_or(0.0, |case| case.score),
            counts: all.into_iter().map(|(answer, count)| (answer.to_owned(), count)).collect(),
        }),
        at => {
            cut(&cases[..at], bins);
            cut(&cases[at..], bins);
        }
    }
}

fn counted<'a>(cases: &[&'a Case]) -> BTreeMap<&'a str, u32> {
    let mut counts = BTreeMap::new();
    cases.iter().for_each(|case| *counts.entry(case.answer.as_str()).or_default() += 1);
    counts
}

/// Logarithm of how likely the answers are, given their own shares.
fn likelihood(counts: &BTreeMap<&str, u32>) -> f64 {
    let total: f64 = counts.values().copied().map(f64::from).sum();
    counts.values().filter(|count| **count > 0).map(|count| f64::from(*count) * (f64::from(*count) / total).ln()).sum()
}
