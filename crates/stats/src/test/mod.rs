//! Tests: is there a difference, how large is it, and is it small enough to call none?
//!
//! Decide on the effect ([`cliffs_delta`], an interval from [`crate::interval`]) as well as on p. "No effect" is never
//! the failure of a difference test: ask [`tost_log_ratio`] or [`tost_log_ratio_ranked`]. Adjust p with [`holm`] within
//! a family of questions, with [`benjamini_hochberg`] when screening.

mod effect;
mod equivalence;
mod mean;
mod multiple;
mod rank;
mod trend;

pub use effect::cliffs_delta;
pub use equivalence::{Equivalence, tost_log_ratio, tost_log_ratio_ranked};
pub use mean::{Summary, WelchT, one_sample_t, welch_t, welch_t_of};
pub use multiple::{benjamini_hochberg, holm};
pub use rank::{MannWhitney, SignedRank, mann_whitney, wilcoxon_signed_rank};
pub use trend::{Spearman, spearman, spearman_trend};

/// What the alternative to "no difference" claims about the first sample (or about the centre of one sample).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alternative {
    /// Different, in either direction.
    TwoSided,
    /// The first sample tends to be larger (or the centre is above zero).
    Greater,
    /// The first sample tends to be smaller (or the centre is below zero).
    Less,
}

impl Alternative {
    /// The p value from the probabilities of a statistic at least as high, and at least as low, as the one seen.
    fn p_value(self, at_least: f64, at_most: f64) -> f64 {
        match self {
            Self::TwoSided => (2.0 * at_least.min(at_most)).min(1.0),
            Self::Greater => at_least.min(1.0),
            Self::Less => at_most.min(1.0),
        }
    }
}
