//! The table of probabilities, from a fleet of its own.

use super::{Kind, Plan, Planted, seen};
use crate::DrawError;
use flashscope_infer::calibrated::{Case, Table, build};
use flashscope_integrity::verdict::{LOSS, LOSSES, NO_LOSS, Signal, signals};
use flashscope_model::integrity::FaultKind;
use rayon::prelude::*;

/// Seed of the development fleet, from which the table is made; it judges nothing.
pub const TABLE_SEED: u64 = 16_900;
/// Power cuts of each device there.
const CUTS: u32 = 60;
/// Devices of that fleet that stand for all of it where the table is looked at.
const SAMPLED: u32 = 12;

/// What the questions came to on the first devices of the development fleet, a line for each: question, regime and score.
/// Where this is not what it was when the table was made, the table is stale.
///
/// # Errors
/// As [`super::judged`].
pub fn samples() -> Result<String, DrawError> {
    let mut text = String::new();
    for index in 0..SAMPLED {
        for case in cases(TABLE_SEED, Kind::Alone, index)? {
            text.push_str(&format!("{index},{},{},{:.6}\n", case.question, case.regime, case.score));
        }
    }
    Ok(text)
}

/// Counts what is true of this number of devices with one fault, and as many with two.
///
/// # Errors
/// As [`super::judged`].
pub fn table(seed: u64, devices: u32) -> Result<Table, DrawError> {
    let all: Result<Vec<Vec<Case>>, DrawError> = (0..devices * 2)
        .into_par_iter()
        .map(|number| cases(seed, if number % 2 == 0 { Kind::Alone } else { Kind::Pairs }, number / 2))
        .collect();
    Ok(build(&all?.concat()))
}

fn cases(seed: u64, kind: Kind, index: u32) -> Result<Vec<Case>, DrawError> {
    let planted = kind.planted(index);
    let plan = Plan { first: index, devices: 1, seed, kind, cuts: CUTS };
    let (report, _) = seen(plan, index, &planted)?;
    let case = |signal: Signal| {
        let answer = answer(&signal, &planted).to_owned();
        Case { question: signal.question.to_owned(), regime: signal.regime, score: signal.score, answer }
    };
    // Of two faults that make covered data disappear, neither is the one that did.
    let is_one = |signal: &Signal| signal.question != LOSS || planted.iter().filter(|one| one.loses()).count() < 2;
    Ok(signals(&report).into_iter().filter(is_one).map(case).collect())
}

/// What is true.
fn answer(signal: &Signal, planted: &[Planted]) -> &'static str {
    let implied = |kind: FaultKind| planted.iter().any(|planted| planted.implies().contains(&kind));
    if signal.question == LOSS {
        return LOSSES.into_iter().find(|kind| implied(*kind)).map_or(NO_LOSS, FaultKind::word);
    }
    let kind = FaultKind::ALL.into_iter().find(|kind| kind.word() == signal.question);
    if kind.is_some_and(implied) { "yes" } else { "no" }
}
