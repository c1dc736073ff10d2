//! Counting: how often an answer was given, and how often it was right.

use super::Outcome;
use super::truth::Answers;
use crate::calibration;
use crate::differences::Share;
use flashscope_model::state::DataShare;
use flashscope_model::{Estimate, Geometry};

/// A question of a diagnosis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// How much holds data.
    Holds,
    /// In which order it was written.
    Order,
    /// The state that sums this up.
    State,
}

/// What was found of one question.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Which.
    pub question: Question,
    /// Answers that are right.
    pub right: Share,
    /// Devices of which it can be told, as a diagnosis without noise tells it, that were answered.
    pub answered: Share,
    /// Devices of which it can be told.
    pub can_be_told: Share,
    /// Expected calibration error; `None` where nothing was answered.
    pub calibration_error: Option<f64>,
    /// Devices that the readers by content and by times name rightly; of the state alone.
    pub readers: [Share; 2],
}

impl Question {
    /// All of them.
    pub const ALL: [Question; 3] = [Question::Holds, Question::Order, Question::State];

    /// In a few words.
    pub const fn words(self) -> &'static str {
        match self {
            Question::Holds => "how much holds data",
            Question::Order => "in which order it was written",
            Question::State => "the state",
        }
    }

    /// How sure an answer is, and whether it is right; `None` where there is none.
    fn claim(self, found: &Geometry, truth: &Answers) -> Option<(f64, bool)> {
        match self {
            Question::Holds => claim(&found.holds_data, |share| holds(share, truth)),
            Question::Order => claim(&found.data_order, |order| order.word() == truth.order),
            Question::State => claim(&found.state, |state| state.word() == truth.state),
        }
    }
}

fn claim<T>(estimate: &Estimate<T>, is_right: impl Fn(&T) -> bool) -> Option<(f64, bool)> {
    Some((estimate.confidence()?, is_right(estimate.figure()?)))
}

/// All and nothing are exact; of a part its interval must hold the truth.
fn holds(found: &DataShare, truth: &Answers) -> bool {
    match found.share {
        1.0 => truth.holds == "all",
        0.0 => truth.holds == "none",
        _ => truth.holds == "part" && (found.low..=found.high).contains(&truth.share),
    }
}

impl Figures {
    /// Counts.
    pub fn of(question: Question, outcomes: &[Outcome]) -> Figures {
        let claims: Vec<Option<(f64, bool)>> =
            outcomes.iter().map(|outcome| question.claim(&outcome.found, &outcome.truth)).collect();
        let told = |outcome: &Outcome| question.claim(&outcome.quiet, &outcome.truth).is_some_and(|(_, right)| right);
        let share = |of: &mut dyn Iterator<Item = bool>| {
            of.fold(Share::default(), |share, yes| Share { count: share.count + u32::from(yes), all: share.all + 1 })
        };
        let given = || claims.iter().flatten().copied();
        let reader = |said: fn(&Outcome) -> &'static str| match question {
            Question::State => share(&mut outcomes.iter().map(|outcome| said(outcome) == outcome.truth.state)),
            _ => Share::default(),
        };
        Figures {
            question,
            right: share(&mut given().map(|(_, right)| right)),
            answered: share(
                &mut outcomes
                    .iter()
                    .zip(&claims)
                    .filter(|(outcome, _)| told(outcome))
                    .map(|(_, claim)| claim.is_some()),
            ),
            can_be_told: share(&mut outcomes.iter().map(told)),
            calibration_error: calibration(given()).expected_error,
            readers: [reader(|outcome| outcome.readers.content), reader(|outcome| outcome.readers.times)],
        }
    }
}
