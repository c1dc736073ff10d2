//! The table of probabilities, from a fleet of its own.

use super::{Plan, Which, draw, run};
use crate::DrawError;
use flashscope_infer::calibrated::{Case, Table, build};
use flashscope_infer::capacity::{KIND, SIZES, raw, shape};
use rayon::prelude::*;

/// Seed of the development fleet, from which the table is made; it judges nothing.
pub const TABLE_SEED: u64 = 16_900;
/// Devices of that fleet that stand for all of it where the table is looked at.
const SAMPLED: u32 = 12;

/// What the questions came to on the first devices of the development fleet, a line for each: question, regime and score.
/// Where this is not what it was when the table was made, the table is stale.
///
/// # Errors
/// As [`super::tested`].
pub fn samples() -> Result<String, DrawError> {
    let mut text = String::new();
    for index in 0..SAMPLED {
        for case in cases(TABLE_SEED, index, which(index))? {
            text.push_str(&format!("{index},{},{},{:.6}\n", case.question, case.regime, case.score));
        }
    }
    Ok(text)
}

/// Half of the fleet is genuine: whoever tests a device has a reason to.
fn which(index: u32) -> Which {
    if index.is_multiple_of(2) { Which::Genuine } else { Which::Fakes }
}

/// Counts what is true of this number of devices.
///
/// # Errors
/// As [`super::tested`].
pub fn table(seed: u64, devices: u32) -> Result<Table, DrawError> {
    let cases: Result<Vec<Vec<Case>>, DrawError> =
        (0..devices).into_par_iter().map(|index| cases(seed, index, which(index))).collect();
    Ok(build(&cases?.concat()))
}

fn cases(seed: u64, index: u32, which: Which) -> Result<Vec<Case>, DrawError> {
    let plan = Plan { first: index, devices: 1, seed, which };
    let drawn = draw::draw(plan.seed, index, plan.which)?;
    let seen = run(&drawn)?;
    let found = shape(&seen);
    let size = found.size.is_some_and(|size| size.low <= drawn.fake.real && drawn.fake.real <= size.high);
    let answer = |question: &str| match question {
        KIND => drawn.fake.kind.word(),
        _ if size && found.kind == Some(drawn.fake.kind) => SIZES[0],
        _ => SIZES[1],
    };
    let case = |raw: flashscope_infer::capacity::Raw| Case {
        question: raw.question.to_owned(),
        answer: answer(raw.question).to_owned(),
        regime: raw.regime,
        score: raw.score,
    };
    Ok(raw(&seen).into_iter().map(case).collect())
}
