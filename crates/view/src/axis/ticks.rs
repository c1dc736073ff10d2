//! Round values of an axis, its ends, and which points would print on top of each other.

/// Ticks of a linear axis at 1, 2 or 5 times a power of ten within `low..=high`: at most `count` of them.
pub fn linear_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    if !is_range(low, high) || count < 2 {
        return vec![low];
    }
    let rough = (high - low) / count as f64;
    let power = 10f64.powf(rough.log10().floor());
    let fits = |step: &f64| (high / step).floor() - (low / step).ceil() + 1.0 <= count as f64;
    let step = [1.0, 2.0, 5.0, 10.0, 20.0].map(|factor| factor * power).into_iter().find(fits).unwrap_or(20.0 * power);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|k| k as f64 * step).collect()
}

/// Ticks of a logarithmic axis of times or rates within `low..=high`: powers of ten where these are enough, with
/// 2 and 5 times them where not, and linear ticks over less than a factor of four.
pub fn log_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    if low <= 0.0 || !is_range(low, high) {
        return vec![low];
    }
    if high / low < 4.0 {
        return linear_ticks(low, high, count);
    }
    let powers = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
    let within = |factors: &[f64]| -> Vec<f64> {
        let all = powers.clone().flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
        all.filter(|tick| *tick >= low * 0.999 && *tick <= high * 1.001).collect()
    };
    let mut choices = [within(&[1.0, 2.0, 5.0]), within(&[1.0, 3.0]), within(&[1.0])].into_iter();
    let fitting = choices.clone().find(|ticks| ticks.len() <= count && ticks.len() >= 2);
    fitting.or_else(|| choices.next_back().map(|ticks| every_nth(ticks, count))).unwrap_or_default()
}

/// Ticks of a logarithmic axis of sizes at powers of two within `low..=high`, at most `count` of them.
pub fn size_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let first = low.max(1.0).log2().ceil() as i32;
    let last = high.max(1.0).log2().floor() as i32;
    let all: i32 = (last - first + 1).max(1);
    // Steps that keep ticks at round sizes: every one, every other, every fourth …
    let step = (0..6).map(|k| 1 << k).find(|step| all.div_euclid(*step) < count as i32).unwrap_or(64);
    (first..=last).filter(|power| power.rem_euclid(step) == 0).map(|power| 2f64.powi(power)).collect()
}

/// Ticks of a linear axis of positions, at round numbers of KiB, MiB or GiB.
pub fn position_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let rough = ((high - low) / count.max(1) as f64).max(1.0);
    let step = 2f64.powi(rough.log2().ceil() as i32);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last).map(|k| k as f64 * step).collect()
}

/// A range that holds all values with some room at either end; of nothing, or of values that are not finite, none.
pub fn linear_range(values: impl Iterator<Item = f64>, room: f64) -> Option<(f64, f64)> {
    let (low, high) = extremes(values)?;
    let margin = (high - low).max(high.abs() * 0.02).max(f64::MIN_POSITIVE) * room;
    Some((low - margin, high + margin))
}

/// The same for a logarithmic axis; values that are not positive are left out.
pub fn log_range(values: impl Iterator<Item = f64>, room: f64) -> Option<(f64, f64)> {
    let (low, high) = linear_range(values.filter(|value| *value > 0.0).map(f64::ln), room)?;
    Some((low.exp(), high.exp()))
}

/// The points less those that fall into a cell of a grid where one is already; order kept.
pub fn thin(points: &[(f64, f64)], (across, up): (usize, usize)) -> Vec<(f64, f64)> {
    let Some(((x_low, x_high), (y_low, y_high))) =
        extremes(points.iter().map(|point| point.0)).zip(extremes(points.iter().map(|point| point.1)))
    else {
        return Vec::new();
    };
    let cell = |value: f64, low: f64, high: f64, cells: usize| {
        if high > low { ((value - low) / (high - low) * (cells - 1) as f64).round() as usize } else { 0 }
    };
    let mut taken = vec![false; across * up];
    let mut kept = Vec::new();
    for &(x, y) in points {
        let at = cell(x, x_low, x_high, across) * up + cell(y, y_low, y_high, up);
        if !std::mem::replace(&mut taken[at], true) {
            kept.push((x, y));
        }
    }
    kept
}

/// How many times smaller than the largest of its group a maximum can be and still share its axis: smaller ones would lie
/// flat along the bottom.
const SHARED_WITHIN: f64 = 4.0;

/// Where axes of the same quantity end, so that plots that are compared have equal ones: for each maximum, the largest one
/// of its group.
pub fn shared_tops(maxima: &[f64]) -> Vec<f64> {
    let mut sorted = maxima.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut heads: Vec<f64> = Vec::new();
    for top in sorted {
        if heads.last().is_none_or(|head| top * SHARED_WITHIN < *head) {
            heads.push(top);
        }
    }
    let head = |top: &f64| heads.iter().copied().rfind(|head| head >= top).unwrap_or(*top);
    maxima.iter().map(head).collect()
}

fn is_range(low: f64, high: f64) -> bool {
    low.is_finite() && high.is_finite() && low < high
}

fn extremes(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((f64::min(low, value), f64::max(high, value))),
    })
}

fn every_nth(ticks: Vec<f64>, count: usize) -> Vec<f64> {
    let step = ticks.len().div_ceil(count.max(1)).max(1);
    ticks.into_iter().step_by(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_not_too_many() {
        assert_eq!(linear_ticks(0.0, 260.0, 6), [0.0, 50.0, 100.0, 150.0, 200.0, 250.0]);
        assert_eq!(log_ticks(30.0, 2000.0, 3), [100.0, 1000.0]);
        assert_eq!(log_ticks(80.0, 2000.0, 8), [100.0, 200.0, 500.0, 1000.0, 2000.0]);
        assert_eq!(log_ticks(500.0, 700.0, 5), [500.0, 550.0, 600.0, 650.0, 700.0]);
        assert_eq!(size_ticks(4096.0, 32768.0, 8), [4096.0, 8192.0, 16384.0, 32768.0]);
        assert_eq!(
            size_ticks(4096.0, 16777216.0, 8),
            [4096.0, 16384.0, 65536.0, 262144.0, 1048576.0, 4194304.0, 16777216.0]
        );
        assert_eq!(position_ticks(0.0, 17.0, 4), [0.0, 8.0, 16.0]);
    }

    #[test]
    fn maxima_that_are_near_each_other_share_an_axis() {
        assert_eq!(shared_tops(&[10.0, 16.0, 3.0, 1.0, 0.9]), [16.0, 16.0, 3.0, 3.0, 3.0]);
        assert_eq!(shared_tops(&[]), []);
        assert_eq!(shared_tops(&[0.0]), [0.0]);
    }

    #[test]
    fn odd_ranges_do_not_hang_or_panic() {
        for (low, high) in [(0.0, 0.0), (1.0, 1.0), (-3.0, -3.0), (0.0, 1e300), (f64::NAN, 1.0), (5.0, 2.0)] {
            for ticks in [linear_ticks(low, high, 5), log_ticks(low, high, 5), size_ticks(low, high, 5)] {
                assert!(ticks.len() <= 400, "{low} {high}: {}", ticks.len());
            }
        }
        assert_eq!(linear_range([f64::NAN].into_iter(), 0.1), None);
        assert_eq!(log_range([0.0, -1.0].into_iter(), 0.1), None);
    }

    #[test]
    fn thinning_keeps_the_shape() {
        let line: Vec<(f64, f64)> = (0..10_000).map(|k| (f64::from(k), f64::from(k % 2))).collect();
        let kept = thin(&line, (100, 50));
        assert!(kept.len() <= 200 && kept.len() > 150, "{}", kept.len());
        assert_eq!(thin(&[(1.0, 1.0); 3], (10, 10)), [(1.0, 1.0)]);
        assert_eq!(thin(&[], (10, 10)), []);
    }
}
