//! What others would have said of the same runs.

use super::{Run, Said};
use flashscope_experiment::Block;
use flashscope_stats::test::{Alternative, Summary, welch_t_of};

/// Verdicts of naive readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// The best of three runs each; what is more than 1 % apart differs.
    pub best_of_three: Said,
    /// Welch's t over the requests of the first run each, at 5 %.
    pub requests: Said,
    /// Means of three runs each; more than 10 % apart differs, less is the same.
    pub band: Said,
}

/// Runs of a side that such a reader looks at.
const RUNS: usize = 3;
/// What readers of the best run call no difference.
const AS_GOOD: f64 = 0.01;
/// The band that others use.
const BAND: f64 = 0.10;

pub(super) fn read(runs: &[(Block, Vec<Run>)]) -> Read {
    let of = |side: usize| -> Vec<Run> {
        let all = runs.iter().flat_map(|(block, runs)| block.iter().zip(runs));
        all.filter(|(slot, _)| slot.side == side).map(|(_, run)| *run).take(RUNS).collect()
    };
    let (a, b) = (of(0), of(1));
    let best = |runs: &[Run]| runs.iter().map(|run| run.rate).fold(0.0, f64::max);
    let mean = |runs: &[Run]| runs.iter().map(|run| run.rate).sum::<f64>() / runs.len() as f64;
    Read {
        best_of_three: apart(best(&b) / best(&a), AS_GOOD),
        requests: of_requests(&a, &b),
        band: apart(mean(&b) / mean(&a), BAND),
    }
}

fn apart(ratio: f64, band: f64) -> Said {
    match ratio - 1.0 {
        over if over > band => Said::Higher,
        over if over < -band => Said::Lower,
        _ => Said::Same,
    }
}

fn of_requests(a: &[Run], b: &[Run]) -> Said {
    let pooled = |runs: &[Run]| -> Option<Summary> { runs.first().map(|run| run.requests) };
    let (Some(a), Some(b)) = (pooled(a), pooled(b)) else { return Said::Nothing };
    match welch_t_of(a, b, Alternative::TwoSided) {
        // Longer times of the first are a higher rate of the second.
        Ok(test) if test.p_value <= 0.05 => {
            if test.difference > 0.0 {
                Said::Higher
            } else {
                Said::Lower
            }
        }
        _ => Said::Nothing,
    }
}
