//! Whether a device is as large as it says, from what a quick test wrote and read ([`Quick`]); from a full one in [`full`].
//!
//! Every fake maps the addresses that it offers to fewer places. The test writes single blocks all over the device and behind
//! them, in one stretch, the *region* at its start. Where addresses begin anew at some `w`, one of the blocks lies within
//! `w`…`w` + region as long as no gap between them is larger than the region, and there stands then what was written to the
//! region: the difference of the two addresses is a multiple of `w`, whatever `w` is. What is written beyond the true size of
//! other fakes is gone. [`shape`] tells these apart, `next` narrows the true size down, and [`verdict`] says how likely each
//! kind is, by a table of counts ([`crate::calibrated`]).

pub mod full;
mod period;
mod shape;
mod wanted;
mod words;

pub use shape::{Shape, shape};
pub use wanted::{Control, Next, next};

use crate::calibrated::Table;
use flashscope_model::capacity::{Genuineness, Quick, Verdict};
use flashscope_model::{Estimate, ExperimentName, Geometry, Observations, Reason};
use std::sync::OnceLock;

/// The questions, as the table of probabilities names them.
pub const KIND: &str = "capacity_kind";
/// See [`KIND`].
pub const SIZE: &str = "capacity_size";
/// Answers to the question of the size.
pub const SIZES: [&str; 2] = ["right", "wrong"];

/// A kind that is less likely is not claimed: the verdict decides whether a device goes back to the shop.
const CLAIMED_FROM: f64 = 0.9;
/// From this share of failed requests on nothing is said of a device that loses nothing else.
pub(crate) const MOST_FAILED: f64 = 0.05;
/// A size that is not claimed with this confidence is not given.
const SIZE_FROM: f64 = 0.5;

/// What one question came to before it is a probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Raw {
    /// The question.
    pub question: &'static str,
    /// Which kind of signal there is.
    pub regime: String,
    /// How clear it is.
    pub score: f64,
}

/// The table of probabilities that goes with this version.
///
/// # Panics
/// Where the file in the repository is damaged, which a test looks at.
pub fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| Table::parse(include_str!("table.csv")).expect("the table in the repository is well-formed"))
}

/// What the two questions came to, for those who make the table.
pub fn raw(quick: &Quick) -> Vec<Raw> {
    let shape = shape(quick);
    let Some(kind) = shape.kind else { return Vec::new() };
    let exact = match shape.size {
        Some(size) if size.is_exact() => "known to the block",
        _ => "narrowed down",
    };
    let kept = match kind {
        Genuineness::Genuine if quick.gap <= quick.region => "every wrap covered",
        Genuineness::Genuine => "not every wrap covered",
        _ => "something lost",
    };
    vec![
        Raw { question: KIND, regime: format!("{}; {kept}", kind.word()), score: shape.clarity() },
        Raw { question: SIZE, regime: format!("{}; {exact}", kind.word()), score: shape.clarity() },
    ]
}

/// What follows from a quick test.
pub fn verdict(quick: &Quick) -> Verdict {
    verdict_by(table(), quick)
}

/// The same by another table.
pub fn verdict_by(table: &Table, quick: &Quick) -> Verdict {
    let shape = shape(quick);
    let mut verdict = Verdict { evidence: words::evidence(quick, &shape), ..Verdict::default() };
    (verdict.excluded, verdict.open) = words::exclusions(quick, &shape);
    claims(table, &raw(quick), shape.may_be_claimed, &mut verdict);
    if verdict.size_confidence.is_some() {
        verdict.true_size = shape.size;
        verdict.wrap = shape.period;
        verdict.damaged = shape.damaged;
    }
    verdict
}

/// The findings of a test among other experiments.
pub(crate) fn estimate(geometry: &mut Geometry, observations: &Observations) {
    let Some(test) = &observations.capacity_test else { return };
    if !test.complete {
        geometry.genuine = Estimate::unknown(Reason::TooFew, "the test was stopped");
        geometry.true_capacity = Estimate::unknown(Reason::TooFew, "the test was stopped");
        return;
    }
    let verdict = verdict(&test.seen);
    let method = &[ExperimentName::Capacity];
    let evidence = words::of_kind(&verdict);
    let mut likely = verdict.likely.iter().copied();
    let first = likely.next();
    geometry.genuine = match (verdict.kind, first) {
        (Some(kind), Some((_, probability))) => {
            Estimate::known(kind, probability, evidence, method).with_alternatives(likely.collect())
        }
        (_, first) => Estimate::unknown(Reason::Ambiguous, evidence).with_alternatives(first.into_iter().collect()),
    };
    let evidence = words::of_size(&verdict);
    geometry.true_capacity = match verdict.true_size.zip(verdict.size_confidence) {
        Some((size, sure)) if size.is_exact() => Estimate::known(size.low, sure, evidence, method),
        Some((size, sure)) => Estimate::between(size.low, size.high, sure, evidence, method),
        None => Estimate::unknown(Reason::NeedsAnother, "nothing is claimed of what becomes of what is written"),
    };
}

/// How likely the kinds are, and the size, by a table; the kind that is claimed, and how sure its size is, where it may be given.
fn claims(table: &Table, raw: &[Raw], may_be_claimed: bool, verdict: &mut Verdict) {
    let answers: Vec<&str> = Genuineness::ALL.iter().map(|kind| kind.word()).collect();
    let shares = |question: &str, answers: &[&'static str]| {
        let raw = raw.iter().find(|raw| raw.question == question)?;
        table.shares(question, &raw.regime, raw.score, answers)
    };
    let kinds = shares(KIND, &answers).unwrap_or_default();
    verdict.likely =
        kinds.into_iter().filter_map(|(word, share)| Some((Genuineness::from_word(word)?, share))).collect();
    let likeliest = verdict.likely.first().filter(|(_, likely)| *likely >= CLAIMED_FROM && may_be_claimed);
    verdict.kind = likeliest.map(|(kind, _)| *kind);
    let sizes = shares(SIZE, &SIZES).unwrap_or_default();
    let right = sizes.into_iter().find(|(word, _)| *word == SIZES[0]).map(|(_, share)| share);
    verdict.size_confidence = right.filter(|sure| verdict.kind.is_some() && *sure >= SIZE_FROM);
}

#[cfg(test)]
mod tests;
