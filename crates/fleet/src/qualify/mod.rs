//! How often a qualification is right: pairs of simulated devices where it follows from the models whether one may
//! replace the other.
//!
//! A pair is a drawn device and the same with one parameter changed, such that the true figure of one requirement lies
//! at a stated distance from its limit (`pair.rs`; what the requirements do: `work.rs`), or the same with something
//! wrong with it that no benchmark shows (`functional.rs`). Runs scatter as in [`crate::differences`], and the plan's
//! judge decides while they come. Beside its verdict stands what others would have said of the same runs
//! (`readers.rs`).

mod campaign;
mod functional;
mod pair;
mod plan;
mod readers;
mod rows;
mod score;
mod work;

pub use readers::Read;
pub use rows::rows;
pub use score::Figures;

use crate::DrawError;
use crate::differences::{NOISY, QUIET};
use flashscope_model::qualification::Answer;
use flashscope_stats::Rng;
use flashscope_stats::rng::stream;
use pair::Pair;
use rayon::prelude::*;
use work::MEASURED;

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Number of the first pair.
    pub first: u32,
    /// How many pairs.
    pub pairs: u32,
    /// The same seed draws the same pairs and the same noise.
    pub seed: u64,
    /// What the host adds, and what the plan asks.
    pub setting: Setting,
}

/// How quiet the host is, and how narrow the plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Scatter of a run about its session, as the standard deviation of its logarithm.
    pub scatter: f64,
    /// Limits of the plan: a rate may be lower than the reference's by this part of it, a time longer. One margin.
    pub limit: f64,
    /// Blocks that a workload has at most.
    pub most_blocks: u32,
}

/// A quiet host and a noisy one, each with a limit that runs of seconds can tell there within the blocks that a plan
/// has where it does not say.
pub const SETTINGS: [Setting; 2] = [
    Setting { scatter: QUIET, limit: 0.05, most_blocks: 30 },
    Setting { scatter: NOISY, limit: 0.10, most_blocks: 30 },
];

impl Setting {
    /// For people.
    pub fn words(self) -> String {
        format!("scatter {}, limit {} %", self.scatter, 100.0 * self.limit)
    }
}

/// What came of one pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How the candidate differs.
    pub case: Case,
    /// Whether it may really replace the reference.
    pub may_replace: bool,
    /// The smallest distance of a true figure within its limit, in margins; below 0 it is beyond.
    pub nearest: f64,
    /// The verdict.
    pub answer: Answer,
    /// Blocks that each measured workload took.
    pub blocks: [u32; MEASURED.len()],
    /// Requirements that were said to be missed, and those of them that are really met.
    pub failed: u32,
    /// See `failed`.
    pub falsely_failed: u32,
    /// Whether the requirement that was moved beyond its limit is among those that decide; `None` where there is none,
    /// or it may replace.
    pub names_moved: Option<bool>,
    /// Whether a result was withheld because the reference differed from itself.
    pub withheld: bool,
    /// What others would have said of the same runs.
    pub readers: Read,
}

/// How the candidate differs from the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Case {
    /// Not at all: every limit of 5 % is one margin away.
    Equal,
    /// Quicker throughout.
    Better,
    /// In one parameter, such that one requirement's figure lies at so many margins within its limit; below 0 it is
    /// beyond. The others stay at one margin, or nearly.
    Apart(f64),
    /// Quicker in all but one requirement, whose figure lies beyond its limit by so many margins.
    Traded(f64),
    /// It is smaller than it says.
    Fake,
    /// It forgets at power cuts what it had promised to keep.
    LosesData,
    /// Its registers claim what it does not do.
    RegistersLie,
}

/// Every case, in the order in which pairs take turns.
pub const CASES: [Case; 16] = [
    Case::Equal,
    Case::Apart(-1.0),
    Case::Apart(0.5),
    Case::Fake,
    Case::Equal,
    Case::Apart(-0.5),
    Case::Apart(-2.0),
    Case::LosesData,
    Case::Better,
    Case::Apart(-3.0),
    Case::Traded(-1.0),
    Case::Apart(2.0),
    Case::RegistersLie,
    Case::Apart(-HAIR),
    Case::Traded(-2.0),
    Case::Apart(3.0),
];

/// A figure that lies a hair beyond its limit, in margins, where a false "may replace" is likeliest: as near as the
/// truth itself is known.
const HAIR: f64 = 0.1;

/// Draws the pairs, qualifies each candidate and reads the runs in every way; in the order of the pairs.
///
/// # Errors
/// Where no pair of devices can be drawn: the catalogue and the drawing no longer agree.
pub fn qualified(plan: Plan) -> Result<Vec<Outcome>, DrawError> {
    let all = (plan.first..plan.first.saturating_add(plan.pairs)).into_par_iter().with_max_len(1);
    all.map(|index| outcome(plan, index)).collect()
}

fn outcome(plan: Plan, index: u32) -> Result<Outcome, DrawError> {
    let case = CASES[index as usize % CASES.len()];
    let mut rng = Rng::new(stream(plan.seed, u64::from(index)));
    let pair = Pair::draw(plan.seed, index, case, plan.setting.limit, &mut rng)?;
    campaign::qualified(&pair, case, plan.setting, &mut rng)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_lie_where_they_are_said_to() {
        let cases = [
            (Case::Apart(-1.0), -1.0, false),
            (Case::Apart(0.5), 0.5, true),
            (Case::Apart(2.0), 2.0, true),
            (Case::Traded(-2.0), -2.0, false),
        ];
        for (index, (case, margins, may_replace)) in (0..).zip(cases) {
            let pair = Pair::draw(3, index, case, 0.05, &mut Rng::new(u64::from(index))).expect("it draws");
            let moved = pair.moved.expect("a figure was moved");
            assert!((pair.distances[moved] - margins).abs() < 0.05, "{case:?}: {:?}", pair.distances);
            assert_eq!(pair.may_replace(), may_replace, "{case:?}: {:?}", pair.distances);
            assert_ne!(pair.texts[0], pair.texts[1]);
        }
    }

    #[test]
    fn what_is_planted_is_found_and_nothing_else() {
        for (index, case) in (0..).zip([Case::Equal, Case::Fake, Case::LosesData, Case::RegistersLie, Case::Equal]) {
            let pair = Pair::draw(4, index, case, 0.05, &mut Rng::new(u64::from(index))).expect("it draws");
            let tested = pair.functional.tested(&pair.texts[1], pair.seed).expect("it is tested");
            let breaks = tested.iter().any(|(.., shown)| *shown == functional::Shown::Breaks);
            assert_eq!(breaks, case != Case::Equal, "{case:?}: {tested:?}");
            assert_eq!(pair.may_replace(), case == Case::Equal);
        }
    }
}
