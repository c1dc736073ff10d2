//! Steps of the mean by pruned exact linear time.

use super::{ChangeSettings, Changes, Penalty, noise_for};
use crate::StatsError;
use crate::error::check_sample;

/// The segmentation that minimises squared error over noise variance plus the penalty, with segments of at least
/// `min_segment` values: PELT (Killick, Fearnhead and Eckley, Journal of the American Statistical Association 107,
/// 2012). Exact; near linear in the length when there are many changes, quadratic when there are none. A value far off
/// forms a segment of its own if `min_segment` lets it.
///
/// ```
/// use flashscope_stats::change::{ChangeSettings, Penalty, pelt};
///
/// // MB/s against GiB written, by its logarithm: an SLC cache ends after the fifth.
/// let rates = [412.0, 405.0, 410.0, 399.0, 408.0, 96.0, 101.0, 98.0, 99.0, 97.0];
/// let series: Vec<f64> = rates.iter().map(|rate: &f64| rate.ln()).collect();
/// let found = pelt(&series, 2, ChangeSettings { penalty: Penalty::Mbic, noise_sd: None }).unwrap();
/// assert_eq!(found.starts, [0, 5]);
/// let segments = found.segments(&rates).unwrap();
/// assert_eq!((segments[0].location, segments[1].location), (408.0, 98.0));
/// ```
pub fn pelt(series: &[f64], min_segment: usize, settings: ChangeSettings) -> Result<Changes, StatsError> {
    if min_segment == 0 {
        return Err(StatsError::BadParameter("min_segment"));
    }
    check_sample(series, min_segment.max(3))?;
    let n = series.len();
    let per_change = settings.penalty.per_change(n)?;
    let Some(noise_sd) = noise_for(series, &settings)? else {
        return Ok(Changes { starts: vec![0], len: n, noise_sd: 0.0 });
    };
    let cost = SegmentCost::new(series, noise_sd, settings.penalty == Penalty::Mbic);
    let mut best = vec![f64::INFINITY; n + 1];
    let mut best_start = vec![0; n + 1];
    best[0] = -per_change;
    // A start, and the end from which on another start is never worse.
    let mut candidates: Vec<(usize, usize)> = Vec::new();
    for end in min_segment..=n {
        candidates.push((end - min_segment, usize::MAX));
        candidates.retain(|&(_, until)| end < until);
        for &(start, _) in &candidates {
            let total = best[start] + cost.of(start, end) + per_change;
            if total < best[end] {
                best[end] = total;
                best_start[end] = start;
            }
        }
        // Splitting a segment never costs more than the penalty, so a start beaten by more than that stays beaten, as
        // soon as a segment beginning here is long enough.
        for (start, until) in &mut candidates {
            if *until == usize::MAX && best[*start] + cost.of(*start, end) >= best[end] {
                *until = end + min_segment;
            }
        }
    }
    Ok(Changes::from_predecessors(&best_start, noise_sd))
}

/// Squared error of any segment in constant time from running sums.
struct SegmentCost {
    sums: Vec<f64>,
    squares: Vec<f64>,
    length_term: Option<f64>,
}

impl SegmentCost {
    fn new(series: &[f64], noise_sd: f64, length_term: bool) -> Self {
        // Centring keeps the difference of squares from cancelling.
        let mean = series.iter().sum::<f64>() / series.len() as f64;
        let (mut sum, mut square) = (0.0, 0.0);
        let (mut sums, mut squares) = (vec![0.0], vec![0.0]);
        for value in series {
            let z = (value - mean) / noise_sd;
            sum += z;
            square += z * z;
            sums.push(sum);
            squares.push(square);
        }
        Self { sums, squares, length_term: length_term.then_some(series.len() as f64) }
    }

    fn of(&self, start: usize, end: usize) -> f64 {
        let length = (end - start) as f64;
        let sum = self.sums[end] - self.sums[start];
        let error = (self.squares[end] - self.squares[start] - sum * sum / length).max(0.0);
        error + self.length_term.map_or(0.0, |n| (length / n).ln())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::simulate::normals;

    const BIC: ChangeSettings = ChangeSettings { penalty: Penalty::Bic, noise_sd: None };

    fn planted(rng: &mut Rng, pieces: &[(usize, f64)]) -> Vec<f64> {
        pieces.iter().flat_map(|&(n, level)| normals(rng, n, level, 1.0)).collect()
    }

    #[test]
    fn finds_planted_steps_and_none_in_noise() {
        let mut rng = Rng::new(111);
        let (mut right, mut false_alarms) = (0, 0);
        for _ in 0..60 {
            let series = planted(&mut rng, &[(80, 0.0), (60, 3.0), (100, -1.0)]);
            let found = pelt(&series, 2, BIC).unwrap();
            right += u32::from(
                found.starts.len() == 3 && found.starts[1].abs_diff(80) <= 3 && found.starts[2].abs_diff(140) <= 3,
            );
            let settings = ChangeSettings { penalty: Penalty::Mbic, noise_sd: None };
            let none = pelt(&planted(&mut rng, &[(200, 5.0)]), 2, settings).unwrap();
            false_alarms += u32::from(none.starts.len() > 1);
        }
        assert!(right >= 54, "{right} of 60");
        assert!(false_alarms <= 4, "{false_alarms} of 60");
    }

    #[test]
    fn pruning_loses_nothing() {
        let mut rng = Rng::new(112);
        for penalty in [Penalty::Bic, Penalty::Mbic, Penalty::PerChange(2.0)] {
            for min_segment in [1, 3, 5] {
                let series = planted(&mut rng, &[(12, 0.0), (7, 2.0), (15, 0.5), (6, 4.0)]);
                let settings = ChangeSettings { penalty, noise_sd: Some(1.0) };
                let got = pelt(&series, min_segment, settings).unwrap();
                assert_eq!(got.starts, without_pruning(&series, min_segment, penalty));
            }
        }
    }

    fn without_pruning(series: &[f64], min_segment: usize, penalty: Penalty) -> Vec<usize> {
        let n = series.len();
        let cost = SegmentCost::new(series, 1.0, penalty == Penalty::Mbic);
        let per_change = penalty.per_change(n).unwrap();
        let mut best = vec![f64::INFINITY; n + 1];
        let mut from = vec![0; n + 1];
        best[0] = -per_change;
        for end in 1..=n {
            for start in 0..end.saturating_sub(min_segment - 1) {
                let total = best[start] + cost.of(start, end) + per_change;
                if total < best[end] {
                    (best[end], from[end]) = (total, start);
                }
            }
        }
        Changes::from_predecessors(&from, 1.0).starts
    }

    #[test]
    fn constant_and_noiseless_series() {
        assert_eq!(pelt(&[4.0; 20], 1, BIC).unwrap().starts, [0]);
        let mut series = vec![1.0; 30];
        series.extend(vec![2.0; 30]);
        let found = pelt(&series, 1, BIC).unwrap();
        assert_eq!(found.starts, [0, 30]);
        let segments = found.segments(&series).unwrap();
        assert_eq!((segments[1].range.clone(), segments[1].location, segments[1].spread), (30..60, 2.0, 0.0));
        assert!(pelt(&series, 0, BIC).is_err());
        assert!(pelt(&[1.0, f64::NAN, 2.0], 1, BIC).is_err());
    }
}
