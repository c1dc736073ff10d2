//! Counting: how often each verdict was wrong, and how often there was none.

use super::{Case, HAIR, Outcome};
use crate::differences::Share;
use flashscope_model::qualification::Answer;

/// What is wanted of verdicts, found on many pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Pairs at a margin or more from every limit, or with something wrong that no benchmark shows.
    pub clear: Verdicts,
    /// Pairs at half a margin, on either side.
    pub half: Verdicts,
    /// Pairs a hair beyond a limit.
    pub hair: Verdicts,
    /// By how the candidate differs, in words.
    pub cases: Vec<(String, Verdicts)>,
    /// Requirements said to be missed that are met, of those said to be missed.
    pub falsely_failed: Share,
    /// Verdicts "may not" of pairs with one figure moved beyond its limit that name this figure.
    pub names_moved: Share,
    /// Qualifications in which a result was withheld because the reference differed from itself.
    pub withheld: Share,
    /// Mean number of blocks of a workload: of equal devices, of those at one margin beyond, of those at three.
    pub blocks: [Option<f64>; 3],
    /// What naive readers said of pairs whose figures alone decide, at a margin or more and at half of one.
    pub readers: [[Verdicts; 2]; 3],
}

/// How verdicts came out over some pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// "May replace" of those that may not.
    pub wrong_may: Share,
    /// "May not" of those that may.
    pub wrong_may_not: Share,
    /// Neither.
    pub undecided: Share,
}

impl Verdicts {
    fn of<'a>(outcomes: impl Iterator<Item = &'a Outcome> + Clone, answer: impl Fn(&Outcome) -> Answer) -> Verdicts {
        let share = |may: Option<bool>, counted: Answer| {
            Share::of(outcomes.clone(), |outcome| {
                may.is_none_or(|may| outcome.may_replace == may).then(|| answer(outcome) == counted)
            })
        };
        Verdicts {
            wrong_may: share(Some(false), Answer::MayReplace),
            wrong_may_not: share(Some(true), Answer::MayNot),
            undecided: share(None, Answer::NotShown),
        }
    }
}

impl Outcome {
    fn is_half(&self) -> bool {
        matches!(self.case, Case::Apart(margins) if margins.abs() == 0.5)
    }

    fn is_hair(&self) -> bool {
        matches!(self.case, Case::Apart(margins) if margins.abs() <= HAIR)
    }

    fn is_clear(&self) -> bool {
        !self.is_half() && !self.is_hair()
    }

    /// Whether figures alone decide, which is all that naive readers look at.
    fn is_measured(&self) -> bool {
        !matches!(self.case, Case::Fake | Case::LosesData | Case::RegistersLie)
    }
}

impl Case {
    /// For people.
    pub fn words(self) -> String {
        let side = |margins: f64| if margins < 0.0 { "beyond" } else { "within" };
        match self {
            Case::Equal => "equal".to_owned(),
            Case::Better => "better throughout".to_owned(),
            Case::Apart(margins) => format!("one figure {} margins {} its limit", margins.abs(), side(margins)),
            Case::Traded(margins) => {
                format!("better in all but one, which is {} margins {} its limit", margins.abs(), side(margins))
            }
            Case::Fake => "smaller than it says".to_owned(),
            Case::LosesData => "loses data at power cuts".to_owned(),
            Case::RegistersLie => "registers lie".to_owned(),
        }
    }
}

impl Figures {
    /// Counts.
    pub fn of(outcomes: &[Outcome]) -> Figures {
        let those = |of: fn(&Outcome) -> bool| outcomes.iter().filter(move |outcome| of(outcome));
        let ours = |outcome: &Outcome| outcome.answer;
        let mut cases: Vec<Case> = Vec::new();
        for case in super::CASES {
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
        let of_case = |case: Case| outcomes.iter().filter(move |outcome| outcome.case == case);
        let read = |of: fn(&Outcome) -> bool| {
            let read = |reader: usize| {
                Verdicts::of(outcomes.iter().filter(move |outcome| outcome.is_measured() && of(outcome)), |outcome| {
                    let read = outcome.readers;
                    match [read.best_of_three, read.band, read.welch][reader] {
                        true => Answer::MayReplace,
                        false => Answer::MayNot,
                    }
                })
            };
            [0, 1, 2].map(read)
        };
        let (clear, half) = (read(Outcome::is_clear), read(Outcome::is_half));
        Figures {
            clear: Verdicts::of(those(Outcome::is_clear), ours),
            half: Verdicts::of(those(Outcome::is_half), ours),
            hair: Verdicts::of(those(Outcome::is_hair), ours),
            falsely_failed: Share {
                count: outcomes.iter().map(|outcome| outcome.falsely_failed).sum(),
                all: outcomes.iter().map(|outcome| outcome.failed).sum(),
            },
            names_moved: Share::of(outcomes, |outcome| outcome.names_moved),
            withheld: Share::of(outcomes, |outcome| Some(outcome.withheld)),
            blocks: [Case::Equal, Case::Apart(-1.0), Case::Apart(-3.0)].map(|case| blocks(of_case(case))),
            cases: cases.into_iter().map(|case| (case.words(), Verdicts::of(of_case(case), ours))).collect(),
            readers: [0, 1, 2].map(|reader| [clear[reader], half[reader]]),
        }
    }
}

/// Mean over all workloads.
fn blocks<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> Option<f64> {
    let all: Vec<u32> = outcomes.flat_map(|outcome| outcome.blocks).collect();
    (!all.is_empty()).then(|| f64::from(all.iter().sum::<u32>()) / all.len() as f64)
}
