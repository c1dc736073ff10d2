//! Levels over an ordered set of groups: at which candidate does the contrast step up?
//!
//! The typical question: contrasts were measured at alignments 2 KiB … 64 MiB, a dozen at each, and the allocation
//! unit is the smallest alignment on the top level. One best segmentation hides how sure that is, so [`find_levels`]
//! weighs *every* segmentation into a few levels and answers with probabilities: how many levels, where each begins,
//! which groups are outliers.
//!
//! # Model
//!
//! 1. *A group* is summarised by its Hodges–Lehmann location m, a standard error s and degrees of freedom ν (module
//!    `summary`): the scale is Qₙ, shrunk towards the groups' median scale so that five samples do not claim to know
//!    their own noise. (m − μ)/s follows Student's t.
//! 2. *A level* is one μ, uniform a priori over the observed range and some standard errors beyond. A group of it lies
//!    at μ, or with a small prior probability anywhere in the range (an outlier, which several real cards show in every
//!    run). Beyond its standard error a group may scatter about its level; candidate standard deviations of that scatter
//!    are averaged over.
//! 3. *A segmentation* into K consecutive levels has the product of its levels' evidences, each the integral of the
//!    likelihood over μ. That integral carries the usual penalty for a superfluous level (its logarithm is the BIC to
//!    first order; Kass and Raftery, Journal of the American Statistical Association 90, 1995); the prior odds of a
//!    further level come on top. Given K, every placement is equally probable a priori.
//! 4. Posterior probabilities are sums over all segmentations and scatters (Bayesian model averaging: Hoeting et al.,
//!    Statistical Science 14, 1999; the exhaustive treatment of change points follows Fearnhead, Statistics and
//!    Computing 16, 2006). With 32 groups and four levels there are 4992 per scatter.
//!
//! Probabilities are calibrated under this model (the tests simulate it: steps announced with 70 % are there 70 % of
//! the time); against a device that is not piecewise constant at all they mean "the best description by levels".

mod evidence;
mod segmentations;
mod summary;

use crate::StatsError;
use crate::error::check_unit_open;
use crate::interval::Interval;
use crate::posterior::normalise_log;
use evidence::Evidence;
use segmentations::Segmentation;
use std::ops::Range;
use summary::summarise;

/// How levels are looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelSettings {
    /// Largest number of levels, at least 1; 4 is plenty.
    pub max_levels: usize,
    /// Prior odds of one further level, above 0 and at most 1: 0.3 favours the plain description and keeps false steps
    /// rare, 1 makes every number of levels equally probable.
    pub prior_odds: f64,
    /// Smallest number of groups that make a level, at least 1. With 2, a single group that sticks out can only be an
    /// outlier.
    pub min_groups: usize,
    /// Confidence of the levels' intervals, strictly between 0 and 1.
    pub confidence: f64,
    /// Standard deviation below which a sample is not believed, in the unit of the data (the clock's resolution); 0 if
    /// unknown.
    pub noise_floor: f64,
    /// Prior probability that a group is an outlier, 0 (none) to below 0.5; 0.02 is modest.
    pub outlier_probability: f64,
    /// Standard deviations that the groups of one level may scatter by, beyond their noise, in the unit of the data;
    /// all equally probable beforehand. Empty means none.
    pub scatter: Vec<f64>,
}

/// One level of the best description.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Groups it covers.
    pub groups: Range<usize>,
    /// Posterior mean, in the unit of the data.
    pub location: f64,
    /// Credible interval of the location, in the unit of the data.
    pub interval: Interval,
}

/// What is known about the levels. Vectors over groups have one entry per group.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// The most probable segmentation with the most probable number of levels, in order of the groups, after neighbours
    /// with overlapping intervals were merged (so there may be fewer than [`Levels::count_probability`] favours).
    pub levels: Vec<Level>,
    /// Probability of 1, 2 … levels.
    pub count_probability: Vec<f64>,
    /// Probability that some level begins at each group; 1 at group 0.
    pub start_probability: Vec<f64>,
    /// Probability that the last level begins at each group; entry 0 means that there is one level only. Sums to 1.
    pub last_start_probability: Vec<f64>,
    /// Probability that the level with the highest location begins at each group; entry 0 includes "one level only".
    /// Sums to 1.
    pub highest_start_probability: Vec<f64>,
    /// For each step of the most probable number of levels, given that number: probability that it lies before each
    /// group, i.e. that the level after it begins there. Each sums to 1.
    pub step_positions: Vec<Vec<f64>>,
    /// Probability that each group is an outlier of its level.
    pub outlier_probability: Vec<f64>,
    /// Probability of each candidate scatter, in the order given (one entry of 1 if there was none).
    pub scatter_probability: Vec<f64>,
}

/// Finds levels over groups in the given order; each group holds one or more contrasts in one common unit. Refused:
/// no groups, an empty group, and settings under which there are more than 200 000 segmentations.
///
/// Cost: groups² × 33·groups evaluations per scatter (some milliseconds for 32 groups), independent of the number of
/// samples after they are summarised.
pub fn find_levels<G: AsRef<[f64]>>(groups: &[G], settings: &LevelSettings) -> Result<Levels, StatsError> {
    check_settings(settings)?;
    let summaries = summarise(groups, settings.noise_floor)?;
    let shapes = segmentations::enumerate(groups.len(), settings.max_levels, settings.min_groups, settings.prior_odds)
        .ok_or(StatsError::BadParameter("max_levels"))?;
    let no_scatter = [0.0];
    let scatter: &[f64] = if settings.scatter.is_empty() { &no_scatter } else { &settings.scatter };
    let evidences: Vec<Evidence> =
        scatter.iter().map(|&s| Evidence::new(&summaries, s, settings.outlier_probability)).collect();
    Average::new(&shapes, &evidences)?.report(settings)
}

/// All segmentations under all scatters with their probabilities.
struct Average<'a> {
    shapes: &'a [Segmentation],
    evidences: &'a [Evidence],
    /// `weights[scatter][shape]`, summing to 1 over both.
    weights: Vec<Vec<f64>>,
    groups: usize,
}

impl<'a> Average<'a> {
    fn new(shapes: &'a [Segmentation], evidences: &'a [Evidence]) -> Result<Self, StatsError> {
        let groups = shapes[0].end;
        let log_weight = |shape: &Segmentation, evidence: &Evidence| {
            shape.log_prior + shape.ranges().map(|r| evidence.log_evidence(&r)).sum::<f64>()
        };
        let flat: Vec<f64> = evidences.iter().flat_map(|e| shapes.iter().map(move |s| log_weight(s, e))).collect();
        let flat = normalise_log(&flat).ok_or(StatsError::NoFit)?;
        let weights = flat.chunks(shapes.len()).map(<[f64]>::to_vec).collect();
        Ok(Self { shapes, evidences, weights, groups })
    }

    fn report(&self, settings: &LevelSettings) -> Result<Levels, StatsError> {
        let most = self.shapes.iter().map(|s| s.starts.len()).max().unwrap_or(1);
        let mut count = vec![0.0; most];
        let mut start = vec![0.0; self.groups];
        let mut last = vec![0.0; self.groups];
        let mut highest = vec![0.0; self.groups];
        self.for_each(|weight, shape, evidence| {
            count[shape.starts.len() - 1] += weight;
            shape.starts.iter().for_each(|&s| start[s] += weight);
            last[shape.starts[shape.starts.len() - 1]] += weight;
            let top = shape.ranges().max_by(|a, b| evidence.mean(a).total_cmp(&evidence.mean(b)));
            highest[top.map_or(0, |r| r.start)] += weight;
        });
        let best_count = 1 + argmax(&count);
        Ok(Levels {
            levels: self.best_levels(best_count, settings.confidence),
            step_positions: self.step_positions(best_count, count[best_count - 1]),
            outlier_probability: self.outliers(),
            scatter_probability: self.weights.iter().map(|w| w.iter().sum()).collect(),
            count_probability: count,
            start_probability: start,
            last_start_probability: last,
            highest_start_probability: highest,
        })
    }

    fn step_positions(&self, count: usize, probability: f64) -> Vec<Vec<f64>> {
        let mut positions = vec![vec![0.0; self.groups]; count - 1];
        self.for_each(|weight, shape, _| {
            if shape.starts.len() == count {
                for (row, &start) in positions.iter_mut().zip(&shape.starts[1..]) {
                    row[start] += weight / probability;
                }
            }
        });
        positions
    }

    fn outliers(&self) -> Vec<f64> {
        let mut probability = vec![0.0; self.groups];
        for (weights, evidence) in self.weights.iter().zip(self.evidences) {
            // Many segmentations share a level: collect each level's probability first.
            let mut mass = vec![0.0; self.groups * (self.groups + 1)];
            for (weight, shape) in weights.iter().zip(self.shapes) {
                shape.ranges().for_each(|r| mass[r.start * (self.groups + 1) + r.end] += weight);
            }
            for (i, mass) in mass.into_iter().enumerate().filter(|(_, m)| *m > 1e-6) {
                let range = i / (self.groups + 1)..i % (self.groups + 1);
                for (group, outlier) in range.clone().zip(evidence.outliers(&range)) {
                    probability[group] += mass * outlier;
                }
            }
        }
        probability
    }

    /// The heaviest segmentation of `count` levels, with neighbours merged while their intervals overlap.
    fn best_levels(&self, count: usize, confidence: f64) -> Vec<Level> {
        let (mut most, mut best) = (-1.0, None);
        self.for_each(|weight, shape, evidence| {
            if shape.starts.len() == count && weight > most {
                most = weight;
                best = Some((shape, evidence));
            }
        });
        let Some((shape, evidence)) = best else { return Vec::new() };
        let mut levels: Vec<Level> = Vec::new();
        for range in shape.ranges() {
            let mut level = evidence.level(range, confidence);
            while let Some(before) = levels.pop_if(|l| l.interval.overlaps(&level.interval)) {
                level = evidence.level(before.groups.start..level.groups.end, confidence);
            }
            levels.push(level);
        }
        levels
    }

    fn for_each(&self, mut visit: impl FnMut(f64, &'a Segmentation, &'a Evidence)) {
        for (weights, evidence) in self.weights.iter().zip(self.evidences) {
            for (&weight, shape) in weights.iter().zip(self.shapes) {
                visit(weight, shape, evidence);
            }
        }
    }
}

fn check_settings(settings: &LevelSettings) -> Result<(), StatsError> {
    check_unit_open(settings.confidence, "confidence")?;
    let bad = |name| Err(StatsError::BadParameter(name));
    if settings.max_levels == 0 {
        return bad("max_levels");
    }
    if !(settings.prior_odds > 0.0 && settings.prior_odds <= 1.0) {
        return bad("prior_odds");
    }
    if settings.min_groups == 0 {
        return bad("min_groups");
    }
    if !(settings.noise_floor >= 0.0 && settings.noise_floor.is_finite()) {
        return bad("noise_floor");
    }
    if !(0.0..0.5).contains(&settings.outlier_probability) {
        return bad("outlier_probability");
    }
    if settings.scatter.iter().any(|s| !(*s >= 0.0 && s.is_finite())) {
        return bad("scatter");
    }
    Ok(())
}

fn argmax(values: &[f64]) -> usize {
    (0..values.len()).max_by(|&a, &b| values[a].total_cmp(&values[b]).then(b.cmp(&a))).unwrap_or(0)
}

#[cfg(test)]
mod tests;
