//! Counting: how often each verdict was false, and how often it came at all.

use super::{Distance, Ended, MARGINS, Outcome, Said, fixed};
use flashscope_model::comparison::{Compared, Doubt, Verdict};

/// A share of cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Those that are counted.
    pub count: u32,
    /// All of them.
    pub all: u32,
}

impl Share {
    pub(crate) fn of<T>(outcomes: impl IntoIterator<Item = T>, counted: impl Fn(T) -> Option<bool>) -> Share {
        let mut share = Share::default();
        for outcome in outcomes {
            if let Some(yes) = counted(outcome) {
                share.all += 1;
                share.count += u32::from(yes);
            }
        }
        share
    }

    /// 0 to 1; `None` of nothing.
    pub fn value(self) -> Option<f64> {
        (self.all > 0).then(|| f64::from(self.count) / f64::from(self.all))
    }
}

/// What is wanted of a comparison, found on many pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// True nulls that were called better or worse, by a campaign with a margin of 5 %.
    pub false_difference: Share,
    /// Pairs whose true ratio lies outside the margin and that were called equivalent, by margin (5 %, 10 %).
    pub false_equivalence: [Share; 2],
    /// Differences of 5 % and of 10 % that were found (margin 5 %).
    pub found: [Share; 2],
    /// Those that were found with the wrong sign.
    pub wrong_sign: Share,
    /// True nulls that were called equivalent, by margin.
    pub nulls_equivalent: [Share; 2],
    /// Intervals of a fixed number of blocks that hold the truth.
    pub fixed_holds: Share,
    /// Intervals of campaigns when they stopped (margin 5 %) that hold the truth.
    pub stopped_holds: Share,
    /// Campaigns whose verdicts were withheld because the baseline differed from itself.
    pub withheld: Share,
    /// Mean number of blocks until a difference of 5 % is shown, and of a fixed number with the same false alarms and power:
    /// of the same blocks of four runs, and of the simplest ones of two.
    pub blocks: Option<Blocks>,
    /// What others said: false differences on true nulls by the best of three, by requests, by the band.
    pub readers_false: [Share; 3],
    /// Pairs more than 5 % apart that they did not find.
    pub readers_missed: [Share; 3],
    /// Pairs more than 5 % apart that they called the same.
    pub readers_same: [Share; 3],
}

/// What stopping early saves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blocks {
    /// Mean number of blocks of campaigns until they show a difference; the most where they never do.
    pub ours: f64,
    /// Fixed number of blocks of the same form; `None` where the most are not enough.
    pub fixed: Option<u32>,
    /// Fixed number of blocks of one run each side; `None` where the most are not enough.
    pub fixed_pairs: Option<u32>,
    /// False alarms at which both are held against each other, and share found.
    pub alpha: f64,
    /// See `alpha`.
    pub power: f64,
}

/// A true ratio so near to 1 counts as none: 0.2 %.
const NULL: f64 = 0.002;

/// What the campaign's row came to.
pub(super) fn of(row: &Compared, truth: f64, blocks: u32) -> Ended {
    let above = row.ratio.is_some_and(|ratio| ratio.value > 1.0);
    let verdict = match row.verdict {
        Verdict::Equivalent => Said::Same,
        Verdict::Better | Verdict::Worse => {
            if above {
                Said::Higher
            } else {
                Said::Lower
            }
        }
        Verdict::CannotTell(Doubt::Withheld) => Said::Withheld,
        Verdict::CannotTell(_) => Said::Nothing,
    };
    let holds = row.ratio.and_then(|ratio| ratio.interval).map(|(low, high)| low.ln() <= truth && truth <= high.ln());
    Ended { verdict, blocks, holds, difference_after: None }
}

impl Figures {
    /// Counts.
    pub fn of(outcomes: &[Outcome]) -> Figures {
        let is_null = |outcome: &Outcome| outcome.truth.abs() <= NULL;
        let is = |said: Said| matches!(said, Said::Higher | Said::Lower);
        let of_null = |counted: &dyn Fn(&Outcome) -> bool| {
            Share::of(outcomes, |outcome| is_null(outcome).then(|| counted(outcome)))
        };
        let of_distance = |distance: Distance, counted: &dyn Fn(&Outcome) -> bool| {
            Share::of(outcomes, |outcome| (outcome.distance == distance).then(|| counted(outcome)))
        };
        let right =
            |outcome: &Outcome, said: Said| said == if outcome.truth > 0.0 { Said::Higher } else { Said::Lower };
        let by_margin = |counted: &dyn Fn(&Outcome, usize) -> Option<bool>| {
            [0, 1].map(|margin| Share::of(outcomes, |outcome| counted(outcome, margin)))
        };
        let apart = |outcome: &Outcome| outcome.truth.abs() > MARGINS[0].ln();
        let read = |of: &dyn Fn(&Outcome, Said) -> Option<bool>| {
            [0, 1, 2].map(|reader| {
                Share::of(outcomes, |outcome| {
                    let read = outcome.readers;
                    of(outcome, [read.best_of_three, read.requests, read.band][reader])
                })
            })
        };
        Figures {
            false_difference: of_null(&|outcome| is(outcome.campaigns[0].verdict)),
            false_equivalence: by_margin(&|outcome, margin| {
                let outside = outcome.truth.abs() > MARGINS[margin].ln();
                outside.then(|| outcome.campaigns[margin].verdict == Said::Same)
            }),
            found: [Distance::Five, Distance::Ten]
                .map(|distance| of_distance(distance, &|outcome| right(outcome, outcome.campaigns[0].verdict))),
            wrong_sign: Share::of(outcomes, |outcome| {
                let said = outcome.campaigns[0].verdict;
                (!is_null(outcome) && is(said)).then(|| !right(outcome, said))
            }),
            nulls_equivalent: by_margin(&|outcome, margin| {
                is_null(outcome).then(|| outcome.campaigns[margin].verdict == Said::Same)
            }),
            fixed_holds: Share::of(outcomes, |outcome| outcome.fixed_holds),
            stopped_holds: Share::of(outcomes, |outcome| outcome.campaigns[0].holds),
            withheld: Share::of(outcomes, |outcome| Some(outcome.campaigns[0].verdict == Said::Withheld)),
            blocks: blocks(outcomes, &is_null),
            readers_false: read(&|outcome, said| is_null(outcome).then(|| is(said))),
            readers_missed: read(&|outcome, said| apart(outcome).then(|| !right(outcome, said))),
            readers_same: read(&|outcome, said| apart(outcome).then(|| said == Said::Same)),
        }
    }
}

fn blocks(outcomes: &[Outcome], is_null: &dyn Fn(&Outcome) -> bool) -> Option<Blocks> {
    let nulls: Vec<&Outcome> = outcomes.iter().filter(|outcome| is_null(outcome)).collect();
    let fives: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.distance == Distance::Five).collect();
    if nulls.is_empty() || fives.is_empty() {
        return None;
    }
    let share = |of: &[&Outcome]| {
        let shown = of.iter().filter(|outcome| outcome.campaigns[0].difference_after.is_some()).count();
        shown as f64 / of.len() as f64
    };
    // Of few false alarms the share says little, and none at all would ask the impossible of the fixed number: Laplace's rule.
    let false_alarms = share(&nulls) * nulls.len() as f64;
    let alpha = (false_alarms + 1.0) / (nulls.len() as f64 + 2.0);
    let power = share(&fives);
    let until = |outcome: &&Outcome| {
        f64::from(outcome.campaigns[0].difference_after.unwrap_or(outcome.contrasts[0].len() as u32))
    };
    Some(Blocks {
        ours: fives.iter().map(until).sum::<f64>() / fives.len() as f64,
        fixed: fixed::number(&fives, 0, alpha, power),
        fixed_pairs: fixed::number(&fives, 1, alpha, power),
        alpha,
        power,
    })
}
