//! What is true of the questions of a diagnosis, in the words of its answers.

use flashscope_model::state::DataShare;
use flashscope_sim::SimTarget;
use flashscope_sim::truth::{StateTruth, state_of};

/// From this share on all of a device holds data, and below its complement nothing does: reads at two hundred places do not
/// see less.
const ALL: f64 = 0.985;
/// Neighbours that lie side by side, from this share on: sequential. …
const SEQUENTIAL: f64 = 0.98;
/// … and up to this one: spread. What lies between is neither.
const SPREAD: f64 = 0.9;
/// A device is dirty where as much of its closed units is invalid, …
const INVALID: f64 = 0.03;
/// … as evenly as this.
const EVENLY: f64 = 0.3;

/// The answers that are true.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answers {
    /// How much holds data.
    pub share: f64,
    /// `all`, `part` or `none`.
    pub holds: &'static str,
    /// `sequential`, `spread` or `neither`.
    pub order: &'static str,
    /// `clean`, `full`, `sequential`, `dirty` or `other`.
    pub state: &'static str,
}

/// The truth of a device now.
pub(super) fn of(target: &SimTarget) -> Answers {
    answers(&state_of(target))
}

fn answers(truth: &StateTruth) -> Answers {
    let share = truth.mapped_ratio;
    let holds = match share {
        share if share >= ALL => "all",
        share if share <= 1.0 - ALL => "none",
        _ => "part",
    };
    let order = match truth.in_order_ratio {
        Some(ratio) if ratio <= SPREAD => "spread",
        Some(ratio) if ratio < SEQUENTIAL => "neither",
        _ => "sequential",
    };
    let dirt = (truth.invalid_ratio.unwrap_or(0.0), truth.invalid_spread.unwrap_or(0.0));
    let is_dirty = dirt.0 >= INVALID && dirt.1 >= EVENLY;
    let state = match (holds, order) {
        ("none", _) => "clean",
        ("part", _) => "full",
        (_, "sequential") if !is_dirty => "sequential",
        (_, "spread" | "neither") if is_dirty => "dirty",
        _ => "other",
    };
    Answers { share, holds, order, state }
}

impl Answers {
    /// The true answer to a question of the table, where a part is claimed with this interval.
    pub(super) fn to(&self, question: &str, part: Option<DataShare>) -> &'static str {
        match question {
            flashscope_infer::state::HOLDS => match part {
                // A part is claimed with its share; an interval that does not hold the truth is a wrong answer.
                Some(part) if self.holds == "part" && !(part.low..=part.high).contains(&self.share) => "another part",
                _ => self.holds,
            },
            flashscope_infer::state::ORDER => self.order,
            _ => self.state,
        }
    }
}
