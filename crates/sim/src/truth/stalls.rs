//! Waits of a card's own making: work that is owed and done when a unit is begun.

use super::Fact;
use crate::au_log::AuLogParams;
use flashscope_units::{Bytes, Nanos};
use std::fmt;

/// Stalls of long sequential writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallTruth {
    /// Shortest wait.
    pub shortest: Nanos,
    /// Longest wait.
    pub longest: Nanos,
    /// Bytes from one to the next in the long run, on average.
    pub spacing: Bytes,
}

/// Beginning a unit adds work with one probability, and waits for some with the other: in the long run no more is done than
/// comes, nor more than there is a chance for.
pub(super) fn stalls(params: &AuLogParams) -> Fact<StallTruth> {
    let keeping = &params.housekeeping;
    let share = keeping.refill.min(keeping.chance);
    if share <= 0.0 {
        let none = keeping.chance <= 0.0 || keeping.owed == 0;
        return if none { Fact::known_none() } else { Fact::hidden(None, "no work comes but what earlier use left") };
    }
    let spacing = Bytes((params.unit.as_f64() / share) as u64);
    Fact::known(StallTruth { shortest: keeping.shortest, longest: keeping.longest, spacing })
}

impl fmt::Display for StallTruth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}, one in {}", self.shortest, self.longest, self.spacing)
    }
}
