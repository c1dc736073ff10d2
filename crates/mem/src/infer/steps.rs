//! Steps in a curve of latencies: where each cache ends, how sure that is, and what is on either side.
//!
//! A curve is a sum: the time of the first level, and for each level what the next one takes longer, times the share of loads that
//! miss. How that share grows with size is tried by [`shapes`](super::shapes). Where small pages lie at random and a cache has few
//! sets that they can fall into, the share differs from one chase to the next: such points are weighed by how much.

use super::shapes::{Fill, SHAPES, misses};
use flashscope_stats::location::quantile;

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// Bytes.
    pub(super) size: f64,
    /// Nanoseconds.
    pub(super) time: f64,
}

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    /// Bytes up to which the level holds what is visited.
    pub(super) size: f64,
    /// What the next level takes longer, in nanoseconds.
    pub(super) rise: f64,
    /// Candidates of the size with their probabilities, ascending.
    pub(super) places: Vec<(f64, f64)>,
}

/// A curve as steps.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fit {
    /// The time before the first step.
    pub(super) base: f64,
    /// Ascending.
    pub(super) steps: Vec<Step>,
    /// Relative scatter that is left.
    pub(super) scatter: f64,
}

/// Candidates in an octave.
const PER_OCTAVE: u32 = 8;
/// More steps than caches and translation together have.
const MOST: usize = 5;
/// Relative scatter below which nothing is believed.
const FLOOR: f64 = 0.01;
/// Relative deviation from which on a point counts less and less: something else disturbed it.
const ODD: f64 = 0.08;
/// A step moves no further than this factor at once.
const REACH: f64 = 4.0;
/// Fewer sets than these that pages fall into are filled as one.
const LEAST_SETS: f64 = 1.5;
/// What a further step must gain, in units of ln(points), for its place, its height and its shape.
const PRICE: f64 = 4.0;

/// A size with a shape.
struct Candidate {
    /// Index of the size.
    size: usize,
    /// The share of misses at each point, and its variance.
    misses: Vec<(f64, f64)>,
}

/// Candidates: every size between the first point and the last, with every shape.
struct Candidates {
    sizes: Vec<f64>,
    all: Vec<Candidate>,
    times: Vec<f64>,
    /// Relative scatter from one point to the next where nothing happens, squared.
    quiet: f64,
}

/// Which candidates are in, and what comes of them.
#[derive(Clone)]
struct State {
    chosen: Vec<usize>,
    /// The base, and a height for each.
    heights: Vec<f64>,
    score: f64,
}

/// Fits as many steps as the points bear; `None` where there are too few points, or one is no time. `page` is the size of pages that
/// lie at random, where they do.
pub(super) fn fit(points: &[Point], page: Option<f64>) -> Option<Fit> {
    if points.len() < 6 || points.iter().any(|point| !(point.time > 0.0 && point.time.is_finite())) {
        return None;
    }
    let (first, last) = (points.first()?.size, points.last()?.size);
    // Sizes that caches have are among them: an octave's power of two, and an eighth of it more each.
    let octaves = (first.log2().floor() as i32)..=(last.log2().floor() as i32);
    let part = |at: u32| 1.0 + f64::from(at) / f64::from(PER_OCTAVE);
    let sizes = octaves.flat_map(|octave| (0..PER_OCTAVE).map(move |at| f64::from(octave).exp2() * part(at)));
    let sizes: Vec<f64> = sizes.filter(|size| (first..=last).contains(size)).collect();
    let candidate = |at: usize, shape: usize| {
        // Sets of their own that pages fall into: those of a page are filled alike.
        let sets = page.map_or(f64::INFINITY, |page| sizes[at] / SHAPES[shape].ways as f64 / page);
        let is_one = SHAPES[shape].fill == Fill::Chance && sets < LEAST_SETS;
        let misses = points.iter().map(|point| misses(shape, point.size / sizes[at], sets)).collect();
        (!is_one).then_some(Candidate { size: at, misses })
    };
    let all = (0..sizes.len()).flat_map(|at| (0..SHAPES.len()).map(move |shape| (at, shape)));
    let all: Vec<Candidate> = all.filter_map(|(at, shape)| candidate(at, shape)).collect();
    let times: Vec<f64> = points.iter().map(|point| point.time).collect();
    let quiet = quiet(&times).max(FLOOR).powi(2);
    let all = Candidates { sizes, all, times, quiet };
    let mut best = all.score(Vec::new())?;
    let mut state = best.clone();
    for _ in 0..MOST {
        let Some(next) = all.with_one_more(&state) else { break };
        state = all.settled(next);
        if state.score < best.score {
            best = state.clone();
        }
    }
    Some(all.told(&best))
}

/// Relative scatter of points against the middle of their neighbours, where that is least: a step is none of it.
fn quiet(times: &[f64]) -> f64 {
    let off: Vec<f64> =
        times.windows(3).map(|three| (three[1] * three[1] / (three[0] * three[2])).ln().abs() / 2.0).collect();
    // The quarter that is least, of normal scatter: 0.32 of its standard deviation, times that of 1 against 2 halves.
    quantile(&off, 0.25).unwrap_or(0.0) / 0.32 / 1.5f64.sqrt()
}

impl Candidates {
    /// Heights by weighted least squares, and −2 log likelihood with the price of the steps; `None` where a height is negative.
    fn score(&self, chosen: Vec<usize>) -> Option<State> {
        let mut heights = self.heights(&chosen, &vec![1.0; self.times.len()])?;
        let mut loose = self.looseness(&chosen, &heights);
        if loose.iter().any(|loose| *loose > 1.1) {
            heights = self.heights(&chosen, &loose)?;
            loose = self.looseness(&chosen, &heights);
        }
        if heights.iter().any(|height| *height < 0.0) {
            return None;
        }
        let (mut loss, mut spread) = (0.0, 0.0);
        for (row, time) in self.times.iter().enumerate() {
            let fitted = heights[0]
                + chosen
                    .iter()
                    .zip(&heights[1..])
                    .map(|(at, height)| height * self.all[*at].misses[row].0)
                    .sum::<f64>();
            let odd = (fitted - time) / time;
            loss += ODD * ODD * (odd * odd / (ODD * ODD * loose[row])).ln_1p();
            spread += if loose[row] > 1.0 { loose[row].ln() } else { 0.0 };
        }
        let points = self.times.len() as f64;
        let likelihood = points * (loss / points + FLOOR * FLOOR).ln() + spread;
        let score = likelihood + PRICE * chosen.len() as f64 * points.ln();
        Some(State { chosen, heights, score })
    }

    /// How many times the variance of each point is that of a quiet one, as pages lie at random.
    fn looseness(&self, chosen: &[usize], heights: &[f64]) -> Vec<f64> {
        let of = |(row, time): (usize, &f64)| {
            let each = |(at, height): (&usize, &f64)| (height / time).powi(2) * self.all[*at].misses[row].1;
            1.0 + chosen.iter().zip(&heights[1..]).map(each).sum::<f64>() / self.quiet
        };
        self.times.iter().enumerate().map(of).collect()
    }

    fn heights(&self, chosen: &[usize], loose: &[f64]) -> Option<Vec<f64>> {
        let unknowns = chosen.len() + 1;
        let mut matrix = vec![vec![0.0; unknowns + 1]; unknowns];
        let mut values = vec![1.0; unknowns];
        for (row, time) in self.times.iter().enumerate() {
            let weight = 1.0 / (time * time * loose[row]);
            values[1..].iter_mut().zip(chosen).for_each(|(value, at)| *value = self.all[*at].misses[row].0);
            for (line, left) in matrix.iter_mut().zip(&values) {
                let left = left * weight;
                line.iter_mut().zip(&values).for_each(|(cell, right)| *cell += left * right);
                line[unknowns] += left * time;
            }
        }
        solved(matrix)
    }

    fn with_one_more(&self, state: &State) -> Option<State> {
        let with = |candidate: usize| self.score(state.chosen.iter().copied().chain([candidate]).collect());
        (0..self.all.len()).filter_map(with).min_by(|a, b| a.score.total_cmp(&b.score))
    }

    /// Moves one step after the other to where it fits best, until none moves.
    fn settled(&self, mut state: State) -> State {
        for _ in 0..4 {
            let before = state.score;
            for at in 0..state.chosen.len() {
                if let Some(better) = self.moved(&state, at).into_iter().min_by(|a, b| a.score.total_cmp(&b.score))
                    && better.score < state.score
                {
                    state = better;
                }
            }
            if before - state.score < 0.1 {
                break;
            }
        }
        state
    }

    /// All states in which one step is another candidate within [`REACH`] of it.
    fn moved(&self, state: &State, at: usize) -> Vec<State> {
        let from = self.sizes[self.all[state.chosen[at]].size];
        let with = |candidate: usize| {
            let ratio = self.sizes[self.all[candidate].size] / from;
            if !(1.0 / REACH..=REACH).contains(&ratio) {
                return None;
            }
            let mut chosen = state.chosen.clone();
            chosen[at] = candidate;
            self.score(chosen)
        };
        (0..self.all.len()).filter_map(with).collect()
    }

    fn told(&self, state: &State) -> Fit {
        let mut steps: Vec<Step> = (0..state.chosen.len())
            .map(|at| Step {
                size: self.sizes[self.all[state.chosen[at]].size],
                rise: state.heights[at + 1],
                places: self.places(state, at),
            })
            .collect();
        steps.sort_by(|a, b| a.size.total_cmp(&b.size));
        let points = self.times.len() as f64;
        let free = state.score - PRICE * state.chosen.len() as f64 * points.ln();
        Fit { base: state.heights[0], steps, scatter: (free / points).exp().sqrt() }
    }

    /// Probabilities of the sizes of one step, whatever its shape is, the others staying where they are.
    fn places(&self, state: &State, at: usize) -> Vec<(f64, f64)> {
        let mut weights = vec![0.0; self.sizes.len()];
        for other in self.moved(state, at) {
            let size = self.all[other.chosen[at]].size;
            weights[size] += prior(self.sizes[size]) * (-0.5 * (other.score - state.score)).exp();
        }
        let all: f64 = weights.iter().sum();
        self.sizes.iter().zip(weights).map(|(size, weight)| (*size, weight / all.max(f64::MIN_POSITIVE))).collect()
    }
}

/// Caches are powers of two more often than one and a half times that, and that more often than a quarter more or less; other eighths
/// are rare. Weights, not probabilities.
fn prior(size: f64) -> f64 {
    let eighths = (size / size.log2().floor().exp2() - 1.0) * f64::from(PER_OCTAVE);
    match eighths.round() as u32 {
        0 | 8 => 4.0,
        4 => 2.0,
        2 | 6 => 1.0,
        _ => 0.5,
    }
}

/// Gauss with pivots; `None` where the columns depend on each other.
fn solved(mut matrix: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let count = matrix.len();
    for column in 0..count {
        let pivot = (column..count).max_by(|a, b| matrix[*a][column].abs().total_cmp(&matrix[*b][column].abs()))?;
        matrix.swap(column, pivot);
        if matrix[column][column].abs() < 1e-12 {
            return None;
        }
        let top = matrix[column].clone();
        for row in matrix.iter_mut().skip(column + 1) {
            let factor = row[column] / top[column];
            row.iter_mut().zip(&top).for_each(|(cell, above)| *cell -= factor * above);
        }
    }
    let mut found = vec![0.0; count];
    for row in (0..count).rev() {
        let known: f64 = (row + 1..count).map(|at| matrix[row][at] * found[at]).sum();
        found[row] = (matrix[row][count] - known) / matrix[row][row];
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(levels: &[(f64, f64)], memory: f64, shape: usize) -> Vec<Point> {
        let sizes = (0..64).map(|at| 4096.0 * (f64::from(at) / 4.0).exp2());
        let time = |size: f64| {
            let next = levels.iter().skip(1).map(|level| level.1).chain([memory]);
            levels[0].1
                + levels
                    .iter()
                    .zip(next)
                    .map(|((at, own), next)| (next - own) * misses(shape, size / at, 1.0).0)
                    .sum::<f64>()
        };
        sizes.map(|size| Point { size, time: time(size) }).collect()
    }

    #[test]
    fn steps_are_found_whatever_goes() {
        let kib = 1024.0;
        for shape in 0..SHAPES.len() {
            let fit =
                fit(&curve(&[(32.0 * kib, 1.0), (512.0 * kib, 4.0), (8192.0 * kib, 15.0)], 90.0, shape), None).unwrap();
            let sizes: Vec<f64> = fit.steps.iter().map(|step| (step.size / kib).log2().round()).collect();
            assert_eq!(sizes, [5.0, 9.0, 13.0], "shape {shape}: {:?}", fit.steps);
        }
    }

    #[test]
    fn a_flat_curve_has_no_step() {
        let points = curve(&[(1e9, 5.0)], 5.0, 0);
        assert_eq!(fit(&points, None).unwrap().steps, []);
        assert!(fit(&points[..3], None).is_none());
    }
}
