//! The table of probabilities, from a fleet of its own.

use super::{Depth, Plan, Seen, Which, draw, run};
use crate::DrawError;
use flashscope_infer::calibrated::{Case, Table, build};
use flashscope_infer::capacity::{KIND, Raw, SIZES, full, raw, shape};
use flashscope_model::capacity::Genuineness;
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
    for (depth, index) in DEPTHS.into_iter().flat_map(|depth| (0..SAMPLED).map(move |index| (depth, index))) {
        for case in cases(TABLE_SEED, index, depth)? {
            text.push_str(&format!("{index},{},{},{:.6}\n", case.question, case.regime, case.score));
        }
    }
    Ok(text)
}

/// Half of the fleet is genuine: whoever tests a device has a reason to.
fn which(index: u32) -> Which {
    if index.is_multiple_of(2) { Which::Genuine } else { Which::Fakes }
}

/// Counts what is true of this number of devices, tested in either way.
///
/// # Errors
/// As [`super::tested`].
pub fn table(seed: u64, devices: u32) -> Result<Table, DrawError> {
    let all = DEPTHS.into_iter().flat_map(|depth| (0..devices).map(move |index| (depth, index)));
    let all: Vec<(Depth, u32)> = all.collect();
    let cases: Result<Vec<Vec<Case>>, DrawError> =
        all.into_par_iter().map(|(depth, index)| cases(seed, index, depth)).collect();
    Ok(build(&cases?.concat()))
}

const DEPTHS: [Depth; 2] = [Depth::Quick, Depth::Full];

fn cases(seed: u64, index: u32, depth: Depth) -> Result<Vec<Case>, DrawError> {
    let plan = Plan { first: index, devices: 1, seed, which: which(index), depth };
    let drawn = draw::draw(plan, index)?;
    let (raw, kind, size): (Vec<Raw>, Option<Genuineness>, _) = match run(&drawn, depth)? {
        Seen::Quick(seen) => {
            let shape = shape(&seen);
            (raw(&seen), shape.kind, shape.size)
        }
        Seen::Full(seen) => {
            let shape = full::shape(&seen);
            (full::raw(&seen), shape.kind, shape.size)
        }
    };
    let size = size.is_some_and(|size| size.low <= drawn.fake.real && drawn.fake.real <= size.high);
    let answer = |question: &str| match question {
        KIND => drawn.fake.kind.word(),
        _ if size && kind == Some(drawn.fake.kind) => SIZES[0],
        _ => SIZES[1],
    };
    let case = |raw: Raw| Case {
        question: raw.question.to_owned(),
        answer: answer(raw.question).to_owned(),
        regime: raw.regime,
        score: raw.score,
    };
    Ok(raw.into_iter().map(case).collect())
}
