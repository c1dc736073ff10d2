//! Ranks with ties shared.

/// Mid-ranks of a sample and what the ties cost.
#[derive(Debug)]
pub(crate) struct Ranks {
    /// Rank from 1 of each value, in input order; tied values share the mean of their ranks.
    pub(crate) ranks: Vec<f64>,
    /// Σ(t³ − t) over the groups of t tied values; 0 means no ties.
    pub(crate) tie_sum: f64,
}

/// Ranks finite values.
pub(crate) fn rank(values: &[f64]) -> Ranks {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut tie_sum = 0.0;
    let mut below = 0;
    // `==` and not bits: −0 and +0 are the same measurement.
    for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let t = tied.len() as f64;
        tie_sum += t * t * t - t;
        for &i in tied {
            ranks[i] = below as f64 + 0.5 * (t + 1.0);
        }
        below += tied.len();
    }
    Ranks { ranks, tie_sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_mean_rank() {
        let check = |values: &[f64], ranks: &[f64], tie_sum: f64| {
            let got = rank(values);
            assert_eq!(got.ranks, ranks);
            assert_eq!(got.tie_sum, tie_sum);
        };
        check(&[], &[], 0.0);
        check(&[3.0, 1.0, 2.0], &[3.0, 1.0, 2.0], 0.0);
        check(&[2.0, 1.0, 2.0, 2.0], &[3.0, 1.0, 3.0, 3.0], 24.0);
        check(&[0.0, -0.0], &[1.5, 1.5], 6.0);
    }
}
