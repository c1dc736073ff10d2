//! What others would have said of the same runs: readers of three runs of each side, who know no "not shown".

use flashscope_model::comparison::Better;
use flashscope_stats::test::{Alternative, Summary, welch_t_of};

/// Whether the candidate may replace, as naive readers have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// The best of three runs each lies within the limit, in every requirement.
    pub best_of_three: bool,
    /// The means of three runs each lie no further apart than the limit, in every requirement.
    pub band: bool,
    /// No requirement is significantly worse, by Welch's t over three runs each at 5 %.
    pub welch: bool,
}

/// Runs of a side that such a reader looks at.
pub(super) const RUNS: usize = 3;
/// The level at which they call a difference significant.
const LEVEL: f64 = 0.05;

/// Which direction is better, and the figures of the reference and of the candidate.
pub(super) type Figures = (Better, [Vec<f64>; 2]);

/// Reads the figures of the reference and of the candidate, for each requirement.
pub(super) fn read(all: &[Figures], limit: f64) -> Read {
    Read {
        best_of_three: each(all, |better, a, b| is_within(better, best(better, b) / best(better, a), limit)),
        band: each(all, |better, a, b| is_within(better, mean(b) / mean(a), limit)),
        welch: each(all, |better, a, b| !is_worse(better, a, b)),
    }
}

/// Whether this holds for every requirement.
fn each(all: &[Figures], holds: impl Fn(Better, &[f64], &[f64]) -> bool) -> bool {
    all.iter().all(|(better, [a, b])| holds(*better, a, b))
}

fn best(better: Better, figures: &[f64]) -> f64 {
    match better {
        Better::Higher => figures.iter().copied().fold(0.0, f64::max),
        Better::Lower => figures.iter().copied().fold(f64::INFINITY, f64::min),
    }
}

fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / figures.len() as f64
}

fn is_within(better: Better, ratio: f64, limit: f64) -> bool {
    match better {
        Better::Higher => ratio >= 1.0 - limit,
        Better::Lower => ratio <= 1.0 + limit,
    }
}

fn is_worse(better: Better, a: &[f64], b: &[f64]) -> bool {
    let (Ok(a), Ok(b)) = (Summary::of(a), Summary::of(b)) else { return false };
    match welch_t_of(a, b, Alternative::TwoSided) {
        // The test's difference is first less second.
        Ok(test) => test.p_value <= LEVEL && ((test.difference > 0.0) == (better == Better::Higher)),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(a: [f64; 3], b: [f64; 3]) -> Read {
        read(&[(Better::Higher, [a.to_vec(), b.to_vec()])], 0.05)
    }

    #[test]
    fn readers_read() {
        let alike = said([100.0, 101.0, 99.0], [99.0, 100.0, 98.0]);
        assert_eq!(alike, Read { best_of_three: true, band: true, welch: true });
        // One good run hides two bad ones from who takes the best.
        let lucky = said([100.0, 101.0, 99.0], [80.0, 100.0, 81.0]);
        assert!(lucky.best_of_three && !lucky.band);
        // Who takes "not significant" for "the same" lets a fifth less pass where runs scatter.
        let noisy = said([100.0, 120.0, 80.0], [80.0, 96.0, 64.0]);
        assert!(noisy.welch && !noisy.best_of_three && !noisy.band);
        let worse = said([100.0, 101.0, 99.0], [90.0, 91.0, 89.0]);
        assert_eq!(worse, Read { best_of_three: false, band: false, welch: false });
        // A time is good where it is low.
        let times = read(&[(Better::Lower, [vec![1.0, 1.01, 0.99], vec![1.2, 1.21, 1.19]])], 0.05);
        assert_eq!(times, Read { best_of_three: false, band: false, welch: false });
    }
}
