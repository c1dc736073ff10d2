//! What a number of blocks that was fixed before can do on the same runs.

use super::{Outcome, Run};
use flashscope_experiment::{Block, Settings, compare};
use flashscope_model::comparison::{Better, Metric, Reading, Readings};
use flashscope_stats::test::{Alternative, one_sample_t};

/// Whether the interval of [`compare`] over the first `blocks` holds the truth; `None` where there is none.
pub(super) fn holds(runs: &[(Block, Vec<Run>)], blocks: u32, truth: f64) -> Option<bool> {
    let rows = (0..blocks).zip(runs).flat_map(|(number, (block, runs))| {
        block.iter().zip(runs).map(move |(slot, run)| Reading {
            side: slot.side,
            metric: 0,
            part: String::new(),
            session: String::new(),
            block: Some(number),
            value: run.rate,
        })
    });
    let readings = Readings {
        sides: vec!["A".to_owned(), "B".to_owned()],
        metrics: vec![Metric { name: "rate".to_owned(), unit: "IOPS".to_owned(), better: Better::Higher }],
        rows: rows.collect(),
        summaries: Vec::new(),
    };
    let (low, high) = compare(&readings, &Settings::default()).rows[0].ratio?.interval?;
    Some(low.ln() <= truth && truth <= high.ln())
}

/// The contrast of each block: mean of the second side's logarithms less that of the first side's.
pub(super) fn of_blocks(runs: &[(Block, Vec<Run>)]) -> Vec<f64> {
    let mean = |block: &Block, runs: &[Run], side: usize| {
        let own: Vec<f64> =
            block.iter().zip(runs).filter(|(slot, _)| slot.side == side).map(|(_, run)| run.rate.ln()).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    runs.iter().map(|(block, runs)| mean(block, runs, 1) - mean(block, runs, 0)).collect()
}

/// The contrast of the first two runs of each block, which are one of each side: the simplest design, of two runs a block.
pub(super) fn of_pairs(runs: &[(Block, Vec<Run>)]) -> Vec<f64> {
    runs.iter()
        .map(|(block, runs)| {
            let over = (runs[1].rate / runs[0].rate).ln();
            if block[0].side == 0 { over } else { -over }
        })
        .collect()
}

/// The smallest number of blocks, fixed before, at which a t test of level `alpha` finds the share `power` of `others`; which of the contrasts is given by `design` (0: blocks of four runs, 1: of two). `None`
/// where as many as there are do not.
pub(super) fn number(others: &[&Outcome], design: usize, alpha: f64, power: f64) -> Option<u32> {
    let most = others.first()?.contrasts[design].len();
    (3..=most).find_map(|n| {
        let p = |outcome: &&Outcome| {
            one_sample_t(&outcome.contrasts[design][..n], Alternative::TwoSided).map_or(1.0, |test| test.p_value)
        };
        let found = others.iter().filter(|outcome| p(outcome) <= alpha).count();
        (found as f64 >= power * others.len() as f64).then_some(n as u32)
    })
}
