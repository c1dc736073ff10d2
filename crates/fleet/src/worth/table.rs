//! The table that [`flashscope_infer::worth`] goes by.

use super::{Device, wanted};
use crate::DrawError;
use flashscope_device::Target;
use flashscope_infer::worth::table::{STEPS, Table};
use flashscope_infer::{Memo, Question, Want, infer_with, next_of_plan};
use flashscope_model::{Finding, Observations};
use flashscope_probe::{Context, Report, Unobserved};
use flashscope_session::seed_of_run;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Seeds of the fleets that it is counted on, in equal parts: seeds that serve development and judge nothing.
pub const TABLE_SEEDS: [u64; 6] = [97_001, 97_002, 97_003, 97_004, 5_203, 5_204];

/// No run takes more experiments.
const MOST_STEPS: u32 = 400;

/// What experiments settled on this many devices.
///
/// # Errors
/// When no device can be drawn, because the catalogue's models have changed.
pub fn table(devices: u32) -> Result<Table, DrawError> {
    let each = devices / TABLE_SEEDS.len() as u32;
    let all: Vec<(u64, u32)> =
        TABLE_SEEDS.into_iter().flat_map(|seed| (0..each).map(move |index| (seed, index))).collect();
    let cases: Result<Vec<Vec<Case>>, DrawError> =
        all.into_par_iter().with_max_len(1).map(|(seed, index)| cases(seed, index)).collect();
    let mut table = Table::default();
    for Case { question, done, left, settled } in cases?.into_iter().flatten() {
        table.add(question, done, left, settled);
    }
    Ok(table)
}

/// A question of which so many experiments were done.
struct Case {
    question: &'static str,
    done: u32,
    left: u32,
    settled: [u32; 3],
}

/// An experiment: its question, how many of that were done before, and what was right then, where that was worked out.
struct Step {
    question: Question,
    done: u32,
    before: Option<BTreeSet<Finding>>,
}

fn cases(seed: u64, index: u32) -> Result<Vec<Case>, DrawError> {
    let device = Device::draw(seed, index)?;
    let (mut target, mut grant) = device.open()?;
    let facts = target.facts().clone();
    let mut observations = Observations { capacity: Some(facts.capacity), ..Observations::default() };
    let (memo, run_seed) = (Memo::default(), device.drawn.seed);
    let mut steps: Vec<Step> = Vec::new();
    let right = |observations: &Observations| device.right(&infer_with(Some(&facts), observations, &memo).geometry);
    for number in 0..MOST_STEPS {
        let chosen = next_of_plan(&facts, &observations, &memo, grant.left(), run_seed ^ u64::from(number));
        let Some((question, choice)) = chosen else { break };
        let done = steps.iter().filter(|step| step.question.key == question.key).count() as u32;
        let is_next = steps.last().is_some_and(|step| step.question.key == question.key);
        // What is right takes longer to work out than a device's requests: only where a row begins, or a question.
        let before = (!is_next || STEPS.contains(&done)).then(|| right(&observations));
        steps.push(Step { question, done, before });
        let mut context = Context {
            grant: Some(&mut grant),
            seed: seed_of_run(run_seed, number + 1),
            observer: &mut Unobserved,
            report: Report::default(),
        };
        // A device that is lost on the way has shown what it showed.
        let Ok(run) = flashscope_probe::run(&choice.experiment, &mut target, &mut context) else { break };
        observations.runs.push(run);
    }
    let end = right(&observations);
    let case = |(at, step): (usize, &Step)| {
        let of_it = |other: &&Step| other.question.key == step.question.key;
        let before = step.before.as_ref().filter(|_| STEPS.contains(&step.done))?;
        let left = steps[at..].iter().filter(of_it).count();
        let behind = steps.iter().rposition(|other| of_it(&other)).and_then(|last| steps.get(last + 1));
        let after = behind.and_then(|next| next.before.as_ref()).unwrap_or(&end);
        let settled = after.difference(before).filter(|finding| step.question.settles.contains(finding));
        let settled: BTreeSet<Finding> = settled.copied().collect();
        let settled = Want::ALL.map(|want| wanted(want, &settled));
        Some(Case { question: step.question.key, done: step.done, left: left as u32, settled })
    };
    Ok(steps.iter().enumerate().filter_map(case).collect())
}
