//! Exact order statistics of all pairwise means or differences, without forming the pairs.
//!
//! A rank is found by bisecting the *representation* of `f64` (64 halvings reach the exact value) and counting pairs
//! at or below the trial value with two pointers, so the cost is O(n) per halving and no subsampling is ever needed.

/// The `rank`-th smallest (from 1) of the n(n+1)/2 Walsh averages (xᵢ + xⱼ)/2, i ≤ j, of an ascending sample.
pub(crate) fn kth_walsh_average(sorted: &[f64], rank: u64) -> f64 {
    kth(rank, |limit| {
        // For i ascending, the largest partner j that keeps the mean at or below the limit moves down only.
        let mut count = 0u64;
        let mut end = sorted.len();
        for (i, &low) in sorted.iter().enumerate() {
            while end > i && 0.5 * low + 0.5 * sorted[end - 1] > limit {
                end -= 1;
            }
            if end <= i {
                break;
            }
            count += (end - i) as u64;
        }
        count
    })
}

/// The `rank`-th smallest (from 1) of the n·m differences xᵢ − yⱼ of two ascending samples.
pub(crate) fn kth_difference(x_sorted: &[f64], y_sorted: &[f64], rank: u64) -> f64 {
    kth(rank, |limit| {
        // For x ascending, the first y with x − y ≤ limit moves up only.
        let mut count = 0u64;
        let mut start = 0;
        for &x in x_sorted {
            while start < y_sorted.len() && x - y_sorted[start] > limit {
                start += 1;
            }
            count += (y_sorted.len() - start) as u64;
        }
        count
    })
}

/// Mean of the two middle ranks (or the middle one) among `pairs` values reached through `select`.
pub(crate) fn middle(pairs: u64, select: impl Fn(u64) -> f64) -> f64 {
    if pairs % 2 == 1 {
        select(pairs / 2 + 1)
    } else {
        let (low, high) = (select(pairs / 2), select(pairs / 2 + 1));
        0.5 * low + 0.5 * high
    }
}

/// Smallest `f64` for which `count_at_or_below` reaches `rank`.
fn kth(rank: u64, count_at_or_below: impl Fn(f64) -> u64) -> f64 {
    let (mut low, mut high) = (ordinal(f64::NEG_INFINITY), ordinal(f64::INFINITY));
    while low < high {
        let middle = low + (high - low) / 2;
        if count_at_or_below(from_ordinal(middle)) >= rank {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    from_ordinal(low)
}

/// Maps the floats monotonically onto unsigned integers (IEEE 754 total order).
fn ordinal(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | (1 << 63) }
}

fn from_ordinal(ordinal: u64) -> f64 {
    f64::from_bits(if ordinal >> 63 == 1 { ordinal & !(1 << 63) } else { !ordinal })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn every_rank_agrees_with_the_sorted_pairs() {
        let mut rng = Rng::new(3);
        // Rounded, so that ties and exact zeros occur.
        let mut draw = |n: usize| {
            let mut v: Vec<f64> = (0..n).map(|_| (rng.unit() * 20.0 - 10.0).round() / 4.0).collect();
            v.sort_by(f64::total_cmp);
            v
        };
        let (x, y) = (draw(13), draw(9));
        let mut walsh: Vec<f64> = (0..x.len())
            .flat_map(|i| (i..x.len()).map(move |j| (i, j)))
            .map(|(i, j)| 0.5 * x[i] + 0.5 * x[j])
            .collect();
        let mut differences: Vec<f64> = x.iter().flat_map(|a| y.iter().map(move |b| a - b)).collect();
        walsh.sort_by(f64::total_cmp);
        differences.sort_by(f64::total_cmp);
        for (i, want) in walsh.iter().enumerate() {
            assert_eq!(kth_walsh_average(&x, i as u64 + 1), *want);
        }
        for (i, want) in differences.iter().enumerate() {
            assert_eq!(kth_difference(&x, &y, i as u64 + 1), *want);
        }
    }
}
