//! The evidence of every possible level: the likelihood of a run of groups, integrated over their common location.

use super::Level;
use super::summary::Summary;
use crate::distribution::{student_ln_constant, student_ln_kernel};
use crate::interval::Interval;
use crate::posterior::log_sum_exp;
use std::ops::Range;

/// Nodes of the integration around each group's location, in its standard errors, mirrored. Runs of many groups have
/// narrower posteriors and bring correspondingly more nodes.
const OFFSETS: [f64; 16] = [0.125, 0.25, 0.375, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 20.0];
/// How far the prior of a level reaches beyond the outermost locations, in median standard errors.
const MARGIN: f64 = 5.0;

/// Evidences and posteriors under one assumed scatter.
#[derive(Debug)]
pub(super) struct Evidence {
    /// Where locations are tried, ascending, in the unit of the data.
    grid: Vec<f64>,
    /// ln of the trapezoid weights over the width of the prior.
    log_measure: Vec<f64>,
    /// `log_density[group][node]`, outliers mixed in.
    log_density: Vec<Vec<f64>>,
    /// ln(prior probability of an outlier × its density).
    log_outlier: f64,
    /// By `index(range)`: ln evidence and posterior mean.
    runs: Vec<(f64, f64)>,
}

impl Evidence {
    /// Evaluates all runs of the groups.
    pub(super) fn new(groups: &[Summary], scatter: f64, outlier_probability: f64) -> Self {
        let errors: Vec<f64> = groups.iter().map(|g| g.error.hypot(scatter)).collect();
        let margin = MARGIN * crate::location::median(&errors).unwrap_or(0.0);
        let low = groups.iter().map(|g| g.location).fold(f64::INFINITY, f64::min) - margin;
        let high = groups.iter().map(|g| g.location).fold(f64::NEG_INFINITY, f64::max) + margin;
        let grid = grid(groups, &errors, low, high);
        let width = high - low;
        let log_measure = (0..grid.len())
            .map(|i| {
                let (before, after) = (grid[i.saturating_sub(1)], grid[(i + 1).min(grid.len() - 1)]);
                (0.5 * (after - before) / width).ln()
            })
            .collect();
        let log_outlier = (outlier_probability / width).ln();
        let log_density = groups
            .iter()
            .zip(&errors)
            .map(|(group, error)| {
                let constant = student_ln_constant(group.freedom) - error.ln() + (1.0 - outlier_probability).ln();
                let density = |at: &f64| {
                    let own = constant + student_ln_kernel((group.location - at) / error, group.freedom);
                    log_sum_exp(&[own, log_outlier])
                };
                grid.iter().map(density).collect()
            })
            .collect();
        let mut evidence = Self { grid, log_measure, log_density, log_outlier, runs: Vec::new() };
        evidence.runs = evidence.all_runs();
        evidence
    }

    /// ln of the probability density of a run's locations under one level.
    pub(super) fn log_evidence(&self, run: &Range<usize>) -> f64 {
        self.runs[self.index(run)].0
    }

    /// Posterior mean of a run's level.
    pub(super) fn mean(&self, run: &Range<usize>) -> f64 {
        self.runs[self.index(run)].1
    }

    /// Posterior of a run's level, with the interval between its outer quantiles.
    pub(super) fn level(&self, groups: Range<usize>, confidence: f64) -> Level {
        let posterior = self.posterior(&groups);
        let tail = 0.5 * (1.0 - confidence);
        let quantile = |p: f64| {
            let mut sum = 0.0;
            let node = posterior.iter().position(|w| {
                sum += w;
                sum >= p
            });
            self.grid[node.unwrap_or(self.grid.len() - 1)]
        };
        let interval = Interval { low: quantile(tail), high: quantile(1.0 - tail), confidence };
        Level { location: self.mean(&groups), groups, interval }
    }

    /// Probability that each group of a run is an outlier of it.
    pub(super) fn outliers(&self, run: &Range<usize>) -> Vec<f64> {
        let posterior = self.posterior(run);
        let share = |density: &Vec<f64>| -> f64 {
            posterior.iter().zip(density).map(|(w, d)| w * (self.log_outlier - d).exp()).sum()
        };
        self.log_density[run.clone()].iter().map(share).collect()
    }

    fn posterior(&self, run: &Range<usize>) -> Vec<f64> {
        let mut logs = self.log_measure.clone();
        for density in &self.log_density[run.clone()] {
            logs.iter_mut().zip(density).for_each(|(l, d)| *l += d);
        }
        let total = log_sum_exp(&logs);
        logs.into_iter().map(|l| (l - total).exp()).collect()
    }

    fn all_runs(&self) -> Vec<(f64, f64)> {
        let n = self.log_density.len();
        let mut runs = Vec::with_capacity(n * (n + 1) / 2);
        for start in 0..n {
            let mut logs = self.log_measure.clone();
            for density in &self.log_density[start..] {
                logs.iter_mut().zip(density).for_each(|(l, d)| *l += d);
                let total = log_sum_exp(&logs);
                let mean = logs.iter().zip(&self.grid).map(|(l, at)| (l - total).exp() * at).sum();
                runs.push((total, mean));
            }
        }
        runs
    }

    /// Runs are stored by start, then by end.
    fn index(&self, run: &Range<usize>) -> usize {
        let n = self.log_density.len();
        run.start * n - run.start * run.start.saturating_sub(1) / 2 + (run.end - run.start - 1)
    }
}

fn grid(groups: &[Summary], errors: &[f64], low: f64, high: f64) -> Vec<f64> {
    let mut grid = vec![low, high];
    for (group, error) in groups.iter().zip(errors) {
        grid.push(group.location);
        for offset in OFFSETS {
            grid.extend([group.location - offset * error, group.location + offset * error]);
        }
    }
    grid.retain(|at| (low..=high).contains(at));
    grid.sort_unstable_by(f64::total_cmp);
    grid.dedup();
    grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::close;

    fn group(location: f64, error: f64) -> Summary {
        Summary { location, error, freedom: 1e6 }
    }

    #[test]
    fn integral_matches_the_closed_form_of_normal_errors() {
        // Three equal normal errors σ: ∫ Π φ = (2πσ²)⁻¹ · 3^(−½) · exp(−Σ(m − m̄)²/2σ²) over the prior width.
        let groups = [group(0.0, 0.5), group(0.4, 0.5), group(-0.1, 0.5), group(30.0, 0.5)];
        let evidence = Evidence::new(&groups, 0.0, 0.0);
        let squares = 0.01 + 0.09 + 0.04;
        let want = -(std::f64::consts::TAU * 0.25).ln() - 0.5 * 3f64.ln() - squares / 0.5 - 35.1f64.ln();
        close(evidence.log_evidence(&(0..3)), want, 0.01);
        close(evidence.mean(&(0..3)), 0.1, 0.005);
        let level = evidence.level(0..3, 0.95);
        close(level.interval.low, 0.1 - 1.96 * 0.5 / 3f64.sqrt(), 0.06);
        close(level.interval.high, 0.1 + 1.96 * 0.5 / 3f64.sqrt(), 0.06);
    }

    #[test]
    fn runs_are_stored_where_they_are_looked_up() {
        let groups: Vec<Summary> = (0..5).map(|i| group(f64::from(i), 0.3)).collect();
        let evidence = Evidence::new(&groups, 0.0, 0.01);
        let mut seen: Vec<usize> =
            (0..5).flat_map(|s| (s + 1..=5).map(move |e| s..e)).map(|r| evidence.index(&r)).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..15).collect::<Vec<_>>());
        close(evidence.mean(&(3..4)), 3.0, 0.05);
    }

    #[test]
    fn scatter_widens_and_outliers_are_told() {
        let groups = [group(0.0, 0.1), group(0.1, 0.1), group(9.0, 0.1), group(0.05, 0.1)];
        let plain = Evidence::new(&groups, 0.0, 0.02);
        let outliers = plain.outliers(&(0..4));
        assert!(outliers[2] > 0.99 && outliers[0] < 0.02, "{outliers:?}");
        let wide = Evidence::new(&groups, 1.0, 0.02);
        assert!(wide.level(0..2, 0.9).interval.width() > 3.0 * plain.level(0..2, 0.9).interval.width());
    }
}
