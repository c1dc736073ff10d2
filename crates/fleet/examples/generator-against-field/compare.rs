//! Whether one sample looks like another, in a word.

use flashscope_stats::Rng;
use flashscope_stats::location::quantile;
use flashscope_stats::test::{Alternative, mann_whitney};

/// Fewer values than this on either side say nothing.
const LEAST: usize = 5;
/// Below this p, chance is no explanation.
const ALPHA: f64 = 0.01;
/// The middle of the generator that the logs are held against: from the one quantile to the other.
const MIDDLE: [f64; 2] = [0.05, 0.95];
/// Shuffles behind a p: its least is 1/2000.
const SHUFFLES: usize = 1999;

pub(crate) struct Comparison {
    /// Values, and their quartiles.
    pub(crate) field: (usize, [f64; 3]),
    pub(crate) generator: (usize, [f64; 3]),
    /// Kolmogorov–Smirnov distance, and how often chance gives as much.
    pub(crate) distance: f64,
    pub(crate) distance_p: f64,
    /// Mann–Whitney, two-sided.
    pub(crate) rank_p: f64,
    /// Logs outside the middle of the generator.
    pub(crate) outside: usize,
    pub(crate) verdict: &'static str,
}

/// `None` where either sample is too small.
pub(crate) fn compare(field: &[f64], generator: &[f64]) -> Option<Comparison> {
    if field.len().min(generator.len()) < LEAST {
        return None;
    }
    let ranks = mann_whitney(field, generator, Alternative::TwoSided).ok()?;
    let (distance, distance_p) = kolmogorov_smirnov(field, generator);
    let (low, high) = (quantile(generator, MIDDLE[0])?, quantile(generator, MIDDLE[1])?);
    let outside = field.iter().filter(|value| !(low..=high).contains(*value)).count();
    // A tenth is to be expected: too narrow is what chance does not make of a tenth.
    let narrow = at_least(outside, field.len(), 1.0 - (MIDDLE[1] - MIDDLE[0])) < ALPHA;
    let field_lower = 2.0 * ranks.u < (field.len() * generator.len()) as f64;
    let (field, generator) = ((field.len(), quartiles(field)?), (generator.len(), quartiles(generator)?));
    let wider = generator.1[2] - generator.1[0] > field.1[2] - field.1[0];
    let verdict = match (ranks.p_value < ALPHA, narrow) {
        (true, true) if field_lower => "**shifted up, too narrow**",
        (true, true) => "**shifted down, too narrow**",
        (true, false) if field_lower => "**shifted up**",
        (true, false) => "**shifted down**",
        (false, true) => "**too narrow**",
        (false, false) if distance_p >= ALPHA => "covers",
        (false, false) if wider => "covers, wider",
        (false, false) => "covers, other shape",
    };
    Some(Comparison { field, generator, distance, distance_p, rank_p: ranks.p_value, outside, verdict })
}

fn quartiles(values: &[f64]) -> Option<[f64; 3]> {
    Some([quantile(values, 0.25)?, quantile(values, 0.5)?, quantile(values, 0.75)?])
}

/// Binomial: the probability of `least` or more of `trials`, each with probability `share`.
fn at_least(least: usize, trials: usize, share: f64) -> f64 {
    let mut term = (1.0 - share).powi(trials as i32);
    let mut fewer = 0.0;
    for count in 0..least {
        fewer += term;
        term *= (trials - count) as f64 / (count + 1) as f64 * share / (1.0 - share);
    }
    1.0 - fewer
}

/// The largest distance between both distribution functions, and the share of shuffled labels that give as much: unlike
/// Kolmogorov's distribution, that holds for few values and for ties as well.
fn kolmogorov_smirnov(x: &[f64], y: &[f64]) -> (f64, f64) {
    let mut joint: Vec<(f64, bool)> = x.iter().map(|x| (*x, true)).chain(y.iter().map(|y| (*y, false))).collect();
    joint.sort_by(|a, b| a.0.total_cmp(&b.0));
    let values: Vec<f64> = joint.iter().map(|one| one.0).collect();
    let mut labels: Vec<bool> = joint.iter().map(|one| one.1).collect();
    let observed = distance(&values, &labels, x.len());
    let mut rng = Rng::new(1);
    let as_far = (0..SHUFFLES).filter(|_| {
        for i in (1..labels.len()).rev() {
            labels.swap(i, rng.below(i + 1));
        }
        distance(&values, &labels, x.len()) >= observed - 1e-12
    });
    (observed, (as_far.count() + 1) as f64 / (SHUFFLES + 1) as f64)
}

/// `values` are sorted; `of_x` says which of them are of the first sample.
fn distance(values: &[f64], of_x: &[bool], size: usize) -> f64 {
    let steps = [1.0 / size as f64, -1.0 / (values.len() - size) as f64];
    let (mut gap, mut most) = (0.0_f64, 0.0_f64);
    for (i, of_x) in of_x.iter().enumerate() {
        gap += steps[usize::from(!of_x)];
        // Equal values are one step of both functions.
        if values.get(i + 1) != Some(&values[i]) {
            most = most.max(gap.abs());
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evenly spread from `low` to `high`.
    fn spread(n: usize, low: f64, high: f64) -> Vec<f64> {
        (0..n).map(|i| low + (high - low) * (i as f64 + 0.5) / n as f64).collect()
    }

    fn verdict(field: &[f64], generator: &[f64]) -> &'static str {
        compare(field, generator).expect("enough values").verdict
    }

    #[test]
    fn the_verdict_tells_how_two_samples_differ() {
        let field = spread(18, 100.0, 200.0);
        assert_eq!(verdict(&field, &spread(200, 100.0, 200.0)), "covers");
        assert_eq!(verdict(&field, &spread(200, 140.0, 160.0)), "**too narrow**");
        assert_eq!(verdict(&field, &spread(200, 110.0, 260.0)), "**shifted up**");
        assert_eq!(verdict(&field, &spread(200, 40.0, 190.0)), "**shifted down**");
        assert_eq!(verdict(&field, &spread(200, 300.0, 400.0)), "**shifted up, too narrow**");
        assert_eq!(verdict(&field, &spread(200, -100.0, 400.0)), "covers, wider");
        assert!(compare(&field[..4], &field).is_none());
    }

    #[test]
    fn the_distance_is_that_of_the_distribution_functions() {
        assert!((kolmogorov_smirnov(&[1.0, 2.0, 3.0, 4.0], &[3.0, 4.0, 5.0, 6.0]).0 - 0.5).abs() < 1e-12);
        let (distance, p) = kolmogorov_smirnov(&[1.0; 9], &[1.0; 30]);
        assert!(distance < 1e-12 && p > 0.99, "ties are no distance: {distance}, {p}");
        // 1 − 0.9⁴ − 4 · 0.1 · 0.9³.
        assert!((at_least(2, 4, 0.1) - 0.0523).abs() < 1e-9);
        // Both orders of separated samples: 2 of the 8! / (4! 4!) = 70 ways, 1/35.
        let (distance, p) = kolmogorov_smirnov(&spread(4, 0.0, 1.0), &spread(4, 2.0, 3.0));
        assert!((distance - 1.0).abs() < 1e-12 && (p - 1.0 / 35.0).abs() < 0.012, "{p}");
    }
}
