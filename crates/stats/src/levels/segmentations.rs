//! All ways to cut n groups into a few runs.

use std::ops::Range;

/// More segmentations than this are refused.
const MAX_SEGMENTATIONS: usize = 200_000;

/// One way, with its prior probability.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Segmentation {
    /// First group of each level, ascending from 0.
    pub(super) starts: Vec<usize>,
    /// Number of groups.
    pub(super) end: usize,
    /// ln of the prior probability: each further level by the prior odds, placements equally probable given the count.
    pub(super) log_prior: f64,
}

impl Segmentation {
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let ends = self.starts.iter().skip(1).copied().chain([self.end]);
        self.starts.iter().copied().zip(ends).map(|(start, end)| start..end)
    }
}

/// Every segmentation of `groups` into 1 to `max_levels` runs of at least `min_groups` (a single run may be shorter).
/// K levels have the prior weight `odds`^(K − 1). `None` if there are too many.
pub(super) fn enumerate(groups: usize, max_levels: usize, min_groups: usize, odds: f64) -> Option<Vec<Segmentation>> {
    let mut by_count: Vec<Vec<Vec<usize>>> = vec![vec![vec![0]]];
    let mut total = 1;
    while by_count.len() < max_levels {
        let mut longer = Vec::new();
        for starts in &by_count[by_count.len() - 1] {
            let first = starts[starts.len() - 1] + min_groups;
            for next in first..(groups + 1).saturating_sub(min_groups) {
                longer.push([starts.as_slice(), &[next]].concat());
            }
            if total + longer.len() > MAX_SEGMENTATIONS {
                return None;
            }
        }
        if longer.is_empty() {
            break;
        }
        total += longer.len();
        by_count.push(longer);
    }
    let total_weight: f64 = (0..by_count.len()).map(|k| odds.powi(k as i32)).sum();
    Some(
        by_count
            .into_iter()
            .enumerate()
            .flat_map(|(steps, shapes)| {
                let log_prior = steps as f64 * odds.ln() - (total_weight * shapes.len() as f64).ln();
                shapes.into_iter().map(move |starts| Segmentation { starts, end: groups, log_prior })
            })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_binomial() {
        let check = |groups, max_levels, min_groups, want: Option<usize>| {
            let got = enumerate(groups, max_levels, min_groups, 0.3);
            assert_eq!(got.as_ref().map(Vec::len), want);
            if let Some(shapes) = got {
                let prior: f64 = shapes.iter().map(|s| s.log_prior.exp()).sum();
                assert!((prior - 1.0).abs() < 1e-9);
                assert!(shapes.iter().all(|s| s.starts.len() == 1 || s.ranges().all(|r| r.len() >= min_groups)));
            }
        };
        check(1, 4, 1, Some(1));
        check(5, 2, 1, Some(1 + 4));
        check(32, 4, 1, Some(1 + 31 + 465 + 4495));
        // Runs of two or more in six groups: 6 | 2+4 3+3 4+2 | 2+2+2.
        check(6, 4, 2, Some(1 + 3 + 1));
        check(3, 4, 5, Some(1));
        check(400, 4, 1, None);
    }
}
