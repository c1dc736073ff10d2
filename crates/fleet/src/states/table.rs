//! The table of probabilities, from a fleet of its own.

use super::{Answers, brought, diagnose, drawn, truth};
use crate::DrawError;
use flashscope_infer::calibrated::{Case, Table, build};
use flashscope_infer::state::{self, Raw};
use flashscope_model::Observations;
use rayon::prelude::*;

/// Seed of the development fleet, from which the table is made; it judges nothing.
pub const TABLE_SEED: u64 = 15_900;
/// Devices of that fleet that stand for all of it where the table is looked at.
const SAMPLED: u32 = 6;

/// What the questions came to on the first devices of the development fleet, a line for each: question, regime and score.
/// Where this is not what it was when the table was made, the table is stale.
///
/// # Errors
/// As [`super::diagnosed`].
pub fn samples() -> Result<String, DrawError> {
    let mut text = String::new();
    for index in 0..SAMPLED {
        for case in seen(TABLE_SEED, index)?.into_iter().flat_map(|seen| seen.cases(&Table::default())) {
            text.push_str(&format!("{index},{},{},{:.6}\n", case.question, case.regime, case.score));
        }
    }
    Ok(text)
}

/// Counts what is true of this number of devices, each diagnosed with and without writes.
///
/// The question that sums up goes by the probabilities of the others, so these are counted first.
///
/// # Errors
/// As [`super::diagnosed`].
pub fn table(seed: u64, devices: u32) -> Result<Table, DrawError> {
    let seen: Result<Vec<Vec<Seen>>, DrawError> = (0..devices).into_par_iter().map(|index| seen(seed, index)).collect();
    let seen = seen?.concat();
    let count = |table: &Table, of_state: bool| -> Vec<Case> {
        let cases = seen.iter().flat_map(|seen| seen.cases(table));
        cases.filter(|case| (case.question == state::STATE) == of_state).collect()
    };
    let first = count(&Table::default(), false);
    let second = count(&build(&first), true);
    Ok(build(&[first, second].concat()))
}

/// One diagnosis, and what was true.
#[derive(Clone)]
struct Seen {
    observations: Observations,
    truth: Answers,
}

/// The same device with and without writes.
fn seen(seed: u64, index: u32) -> Result<Vec<Seen>, DrawError> {
    let (device, past) = drawn(seed, index)?;
    let target = brought(&device, &device.text, past, seed, index)?;
    let truth = truth::of(&target);
    let with = |writes: bool| Seen { observations: diagnose(&mut target.clone(), device.seed, writes).1, truth };
    Ok(vec![with(true), with(false)])
}

impl Seen {
    fn cases(&self, table: &Table) -> Vec<Case> {
        let case = |(raw, part): (Raw, _)| Case {
            question: raw.question.to_owned(),
            answer: self.truth.to(raw.question, part).to_owned(),
            regime: raw.regime,
            score: raw.score,
        };
        state::raw(&self.observations, table).into_iter().map(case).collect()
    }
}
