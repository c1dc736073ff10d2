//! One-dimensional Gaussian mixtures: a fast path and a stall, cell levels, cache hits and misses.
//!
//! Work in the domain where each component is roughly symmetric, for times their logarithm. A skewed component is
//! described by two Gaussians; look at the distance of the means before calling them two mechanisms.

use crate::StatsError;
use crate::error::check_sample;
use crate::location::sorted;
use crate::posterior::log_sum_exp;

/// How a mixture is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MixtureSettings {
    /// Largest number of components tried, at least 1.
    pub max_components: usize,
    /// Smallest standard deviation a component may have, in the unit of the data; above 0. It keeps a component from
    /// shrinking onto one value, and values closer than a quarter of it are treated as equal.
    pub sd_floor: f64,
}

/// One Gaussian.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Component {
    /// Share of the values, 0..=1.
    pub weight: f64,
    /// Mean, in the unit of the data.
    pub mean: f64,
    /// Standard deviation, in the unit of the data.
    pub sd: f64,
}

/// A fitted mixture.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    /// Components in order of their means.
    pub components: Vec<Component>,
    /// Log likelihood of the data, in nats.
    pub log_likelihood: f64,
    /// Bayesian information criterion −2·log likelihood + (3K − 1) ln n.
    pub bic: f64,
    /// The criterion of the best fit with 1, 2 … components; `None` where no fit kept that many.
    pub bic_by_count: Vec<Option<f64>>,
}

impl Component {
    /// ln(weight × density).
    fn log_density(&self, value: f64) -> f64 {
        let z = (value - self.mean) / self.sd;
        self.weight.ln() - 0.5 * z * z - (self.sd * std::f64::consts::TAU.sqrt()).ln()
    }
}

/// Most iterations of one run of EM.
const MAX_ITERATIONS: usize = 300;
/// A run stops when the log likelihood per value grows by less.
const TOLERANCE: f64 = 1e-8;

/// Fits 1 to `max_components` Gaussians by expectation–maximisation (Dempster, Laird and Rubin 1977) and keeps the
/// count with the smallest BIC (Fraley and Raftery, Computer Journal 41, 1998). Each count starts from three splits of
/// the sorted data (least squares, widest gaps, equal shares), so the result is deterministic. Cost per iteration is
/// bounded by the range over `sd_floor`, not by the number of values. Two values or more.
pub fn fit_mixture(values: &[f64], settings: MixtureSettings) -> Result<Mixture, StatsError> {
    if settings.max_components == 0 {
        return Err(StatsError::BadParameter("max_components"));
    }
    if !(settings.sd_floor > 0.0 && settings.sd_floor.is_finite()) {
        return Err(StatsError::BadParameter("sd_floor"));
    }
    check_sample(values, 2)?;
    let points = compress(values, 0.25 * settings.sd_floor)?;
    let n = values.len() as f64;
    let mut best: Option<(f64, f64, Vec<Component>)> = None;
    let mut bic_by_count = Vec::new();
    for count in 1..=settings.max_components.min(points.len()) {
        let fit = [split_by_squares(&points, count), split_by_gaps(&points, count), split_by_shares(&points, count)]
            .into_iter()
            .filter_map(|cuts| expectation_maximisation(&points, &cuts, settings.sd_floor))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let bic = fit.as_ref().map(|(log_likelihood, _)| -2.0 * log_likelihood + (3 * count - 1) as f64 * n.ln());
        bic_by_count.push(bic);
        if let (Some((log_likelihood, components)), Some(bic)) = (fit, bic)
            && best.as_ref().is_none_or(|b| bic < b.0)
        {
            best = Some((bic, log_likelihood, components));
        }
    }
    let (bic, log_likelihood, mut components) = best.ok_or(StatsError::NoFit)?;
    components.sort_by(|a, b| a.mean.total_cmp(&b.mean));
    Ok(Mixture { components, log_likelihood, bic, bic_by_count })
}

/// Some values so close that they count as one.
#[derive(Debug, Clone, Copy)]
struct Point {
    value: f64,
    weight: f64,
}

fn compress(values: &[f64], resolution: f64) -> Result<Vec<Point>, StatsError> {
    let sorted = sorted(values).ok_or(StatsError::NotFinite)?;
    let mut points = Vec::new();
    let mut rest = sorted.as_slice();
    while let Some(&first) = rest.first() {
        let (near, far) = rest.split_at(rest.partition_point(|v| v - first <= resolution));
        let weight = near.len() as f64;
        points.push(Point { value: near.iter().sum::<f64>() / weight, weight });
        rest = far;
    }
    Ok(points)
}

/// One run from a hard split of the points (the indices at which a new part begins). `None` if a component dies.
fn expectation_maximisation(points: &[Point], cuts: &[usize], floor: f64) -> Option<(f64, Vec<Component>)> {
    let total: f64 = points.iter().map(|p| p.weight).sum();
    let count = cuts.len() + 1;
    // Rows of shares, one per component.
    let mut shares = vec![vec![0.0; points.len()]; count];
    for i in 0..points.len() {
        shares[cuts.partition_point(|&c| c <= i)][i] = 1.0;
    }
    let mut previous = f64::NEG_INFINITY;
    let mut components = Vec::new();
    let mut logs = vec![0.0; count];
    for _ in 0..MAX_ITERATIONS {
        components = shares.iter().map(|row| component(points, row, total, floor)).collect::<Option<Vec<_>>>()?;
        let mut log_likelihood = 0.0;
        for (i, point) in points.iter().enumerate() {
            for (log, component) in logs.iter_mut().zip(&components) {
                *log = component.log_density(point.value);
            }
            let sum = log_sum_exp(&logs);
            log_likelihood += point.weight * sum;
            for (row, log) in shares.iter_mut().zip(&logs) {
                row[i] = (log - sum).exp();
            }
        }
        if log_likelihood - previous < TOLERANCE * total {
            return Some((log_likelihood, components));
        }
        previous = log_likelihood;
    }
    Some((previous, components))
}

fn component(points: &[Point], shares: &[f64], total: f64, floor: f64) -> Option<Component> {
    let weighted =
        |f: &dyn Fn(f64) -> f64| points.iter().zip(shares).map(|(p, s)| p.weight * s * f(p.value)).sum::<f64>();
    let mass = weighted(&|_| 1.0);
    // Less than half a value is not a component.
    if mass < 0.5 {
        return None;
    }
    let mean = weighted(&|v| v) / mass;
    let variance = weighted(&|v| (v - mean).powi(2)) / mass;
    Some(Component { weight: mass / total, mean, sd: variance.sqrt().max(floor) })
}

/// Cuts one part after the other where it lowers the squared error most.
fn split_by_squares(points: &[Point], count: usize) -> Vec<usize> {
    // Running (weight, Σ, Σ²) about the first point.
    let origin = points[0].value;
    let mut sums = vec![(0.0, 0.0, 0.0)];
    for p in points {
        let (w, s, q) = sums[sums.len() - 1];
        let v = p.value - origin;
        sums.push((w + p.weight, s + p.weight * v, q + p.weight * v * v));
    }
    let error = |start: usize, end: usize| {
        let (a, b) = (sums[start], sums[end]);
        let (weight, sum) = (b.0 - a.0, b.1 - a.1);
        b.2 - a.2 - sum * sum / weight
    };
    let mut cuts: Vec<usize> = Vec::new();
    while cuts.len() + 1 < count {
        let edges: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).chain([points.len()]).collect();
        let best = edges
            .windows(2)
            .flat_map(|w| (w[0] + 1..w[1]).map(move |cut| (w[0], cut, w[1])))
            .map(|(start, cut, end)| (error(start, end) - error(start, cut) - error(cut, end), cut))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, cut)) = best else { break };
        cuts.push(cut);
        cuts.sort_unstable();
    }
    cuts
}

/// Cuts at the widest gaps.
fn split_by_gaps(points: &[Point], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (1..points.len()).collect();
    order.sort_by(|&a, &b| {
        let gap = |i: usize| points[i].value - points[i - 1].value;
        gap(b).total_cmp(&gap(a))
    });
    order.truncate(count - 1);
    order.sort_unstable();
    order
}

/// Cuts into parts of equal numbers of points.
fn split_by_shares(points: &[Point], count: usize) -> Vec<usize> {
    (1..count).map(|k| k * points.len() / count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::simulate::{close, normals};

    const SETTINGS: MixtureSettings = MixtureSettings { max_components: 4, sd_floor: 0.02 };

    #[test]
    fn recovers_the_planted_count() {
        let mut rng = Rng::new(131);
        let planted: [&[(usize, f64, f64)]; 4] = [
            &[(300, 1.0, 0.2)],
            &[(270, 1.0, 0.1), (30, 4.0, 0.3)],
            // One stall in two hundred.
            &[(398, 0.0, 0.05), (2, 3.5, 0.05)],
            &[(100, 0.0, 0.1), (100, 0.7, 0.1), (100, 1.4, 0.1)],
        ];
        for parts in planted {
            let mut right = 0;
            for _ in 0..10 {
                let values: Vec<f64> = parts.iter().flat_map(|&(n, mean, sd)| normals(&mut rng, n, mean, sd)).collect();
                let fit = fit_mixture(&values, SETTINGS).unwrap();
                if fit.components.len() != parts.len() {
                    continue;
                }
                right += 1;
                for (component, &(n, mean, sd)) in fit.components.iter().zip(parts) {
                    close(component.mean, mean, 5.0 * sd / (n as f64).sqrt());
                    close(component.weight, n as f64 / values.len() as f64, 0.05);
                }
                close(fit.components.iter().map(|c| c.weight).sum(), 1.0, 1e-9);
            }
            assert!(right >= 8, "{right} of 10 for {parts:?}");
        }
    }

    #[test]
    fn eight_averages_with_and_without_a_stall() {
        // Milliseconds as in a published write-align log: some averages hold a collection of about 100 ms.
        let logs: Vec<f64> = [7.4f64, 7.5, 7.6, 7.5, 98.0, 7.4, 110.0, 7.5].iter().map(|v| v.ln()).collect();
        let fit = fit_mixture(&logs, SETTINGS).unwrap();
        assert_eq!(fit.components.len(), 2, "{fit:?}");
        close(fit.components[0].mean.exp(), 7.5, 0.1);
        close(fit.components[1].weight, 0.25, 1e-6);
    }

    #[test]
    fn degenerate_input() {
        let constant = fit_mixture(&[2.0; 50], SETTINGS).unwrap();
        assert_eq!(constant.components, [Component { weight: 1.0, mean: 2.0, sd: 0.02 }]);
        assert!(fit_mixture(&[1.0], SETTINGS).is_err());
        assert!(fit_mixture(&[1.0, f64::NAN], SETTINGS).is_err());
        assert!(fit_mixture(&[1.0, 2.0], MixtureSettings { max_components: 0, ..SETTINGS }).is_err());
        assert!(fit_mixture(&[1.0, 2.0], MixtureSettings { sd_floor: 0.0, ..SETTINGS }).is_err());
    }
}
