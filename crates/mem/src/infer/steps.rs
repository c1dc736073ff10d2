//! Steps in a curve of latencies: where each cache ends, how sure that is, and what is on either side.
//!
//! A curve is a sum: the time of the first level, and for each level what the next one takes longer, times the share of loads that
//! miss. How that share grows with size follows the way in which a cache makes room, which nobody tells, so that several are tried:
//! the oldest goes (nothing is found from its size on), any goes (Fill's fixed point 1 − m = exp(−m·x) of a ring that comes round),
//! a share stays, and sets that fill unevenly because pages lie at random.

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
const PER_OCTAVE: f64 = 8.0;
/// More steps than caches and translation together have.
const MOST: usize = 5;
/// Relative scatter below which nothing is believed.
const FLOOR: f64 = 0.01;
/// Relative deviation from which on a point counts less and less: something else disturbed it.
const ODD: f64 = 0.08;
/// What a further step must gain, in units of ln(points), for its place, its height and its shape.
const PRICE: f64 = 4.0;

/// How the share of misses grows with the size over that of the cache.
const SHAPES: usize = 7;

fn misses(shape: usize, ratio: f64) -> f64 {
    let ramp = |width: f64| ((ratio - 1.0) / width).clamp(0.0, 1.0);
    match shape {
        0 => ramp(0.06),
        1 => ramp(0.5),
        2 => (1.0 - 1.0 / ratio).max(0.0),
        3 => any_goes(ratio),
        4 => uneven(ratio, 4),
        5 => uneven(ratio, 8),
        _ => uneven(ratio, 16),
    }
}

/// The larger solution m of 1 − m = exp(−m·ratio).
fn any_goes(ratio: f64) -> f64 {
    if ratio <= 1.0 {
        return 0.0;
    }
    let mut share = 1.0f64;
    for _ in 0..60 {
        share = 1.0 - (-share * ratio).exp();
    }
    share
}

/// Share of lines in sets that hold more than `ways`, where lines fall into sets by chance (Poisson).
fn uneven(ratio: f64, ways: u32) -> f64 {
    let mean = ratio * f64::from(ways);
    let (mut term, mut below) = ((-mean).exp(), 0.0);
    for at in 0..ways {
        below += term;
        term *= mean / f64::from(at + 1);
    }
    (1.0 - below).clamp(0.0, 1.0)
}

/// Candidates: every size between the first point and the last, with every shape.
struct Candidates {
    sizes: Vec<f64>,
    /// `columns[size * SHAPES + shape]`: the share of misses at each point.
    columns: Vec<Vec<f64>>,
    times: Vec<f64>,
}

/// Which candidates are in, and what comes of them.
#[derive(Clone)]
struct State {
    chosen: Vec<usize>,
    /// The base, and a height for each.
    heights: Vec<f64>,
    score: f64,
}

/// Fits as many steps as the points bear; `None` where there are too few points, or one is no time.
pub(super) fn fit(points: &[Point]) -> Option<Fit> {
    if points.len() < 6 || points.iter().any(|point| !(point.time > 0.0 && point.time.is_finite())) {
        return None;
    }
    let (first, last) = (points.first()?.size, points.last()?.size);
    let count = ((last / first).log2() * PER_OCTAVE).floor() as usize;
    let sizes: Vec<f64> = (0..=count).map(|at| first * (at as f64 / PER_OCTAVE).exp2()).collect();
    let column = |size: f64, shape: usize| points.iter().map(|point| misses(shape, point.size / size)).collect();
    let columns = sizes.iter().flat_map(|size| (0..SHAPES).map(|shape| column(*size, shape))).collect();
    let all = Candidates { sizes, columns, times: points.iter().map(|point| point.time).collect() };
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

impl Candidates {
    /// Heights by weighted least squares, and −2 log likelihood with the price of the steps; `None` where a height is negative.
    fn score(&self, chosen: Vec<usize>) -> Option<State> {
        let unknowns = chosen.len() + 1;
        let value = |row: usize, column: usize| if column == 0 { 1.0 } else { self.columns[chosen[column - 1]][row] };
        let mut matrix = vec![vec![0.0; unknowns + 1]; unknowns];
        for (row, time) in self.times.iter().enumerate() {
            let weight = 1.0 / (time * time);
            for (at, line) in matrix.iter_mut().enumerate() {
                let left = value(row, at) * weight;
                for (other, cell) in line.iter_mut().take(unknowns).enumerate() {
                    *cell += left * value(row, other);
                }
                line[unknowns] += left * time;
            }
        }
        let heights = solved(matrix)?;
        if heights.iter().any(|height| *height < 0.0) {
            return None;
        }
        let loss: f64 = (0..self.times.len())
            .map(|row| {
                let fitted: f64 = heights.iter().enumerate().map(|(at, height)| height * value(row, at)).sum();
                let odd = (fitted - self.times[row]) / self.times[row];
                ODD * ODD * (1.0 + odd * odd / (ODD * ODD)).ln()
            })
            .sum();
        let points = self.times.len() as f64;
        let score = points * (loss / points + FLOOR * FLOOR).ln() + PRICE * chosen.len() as f64 * points.ln();
        Some(State { chosen, heights, score })
    }

    fn with_one_more(&self, state: &State) -> Option<State> {
        let with = |candidate: usize| self.score(state.chosen.iter().copied().chain([candidate]).collect());
        (0..self.columns.len()).filter_map(with).min_by(|a, b| a.score.total_cmp(&b.score))
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

    /// All states in which one step is another candidate.
    fn moved(&self, state: &State, at: usize) -> Vec<State> {
        let with = |candidate: usize| {
            let mut chosen = state.chosen.clone();
            chosen[at] = candidate;
            self.score(chosen)
        };
        (0..self.columns.len()).filter_map(with).collect()
    }

    fn told(&self, state: &State) -> Fit {
        let mut steps: Vec<Step> = (0..state.chosen.len())
            .map(|at| Step {
                size: self.sizes[state.chosen[at] / SHAPES],
                rise: state.heights[at + 1],
                places: self.places(state, at),
            })
            .collect();
        steps.sort_by(|a, b| a.size.total_cmp(&b.size));
        let points = self.times.len() as f64;
        let free = state.score - PRICE * state.chosen.len() as f64 * points.ln();
        Fit { base: state.heights[0], steps, scatter: (free / points).exp().sqrt() }
    }

    /// Probabilities of the sizes of one step, the others staying where they are.
    fn places(&self, state: &State, at: usize) -> Vec<(f64, f64)> {
        let mut best = vec![f64::INFINITY; self.sizes.len()];
        for other in self.moved(state, at) {
            let size = other.chosen[at] / SHAPES;
            best[size] = best[size].min(other.score);
        }
        let weight = |(size, score): (&f64, &f64)| prior(*size) * (-0.5 * (score - state.score)).exp();
        let weights: Vec<f64> = self.sizes.iter().zip(&best).map(weight).collect();
        let all: f64 = weights.iter().sum();
        self.sizes.iter().zip(weights).map(|(size, weight)| (*size, weight / all.max(f64::MIN_POSITIVE))).collect()
    }
}

/// Caches are powers of two more often than one and a half times that, and that more often than anything else.
fn prior(size: f64) -> f64 {
    let part = size.log2().rem_euclid(1.0);
    let near = |wanted: f64| (part - wanted.log2()).abs() < 0.04 || (part - 1.0 - wanted.log2()).abs() < 0.04;
    if near(1.0) {
        4.0
    } else if near(1.5) {
        2.0
    } else {
        1.0
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
                + levels.iter().zip(next).map(|((at, own), next)| (next - own) * misses(shape, size / at)).sum::<f64>()
        };
        sizes.map(|size| Point { size, time: time(size) }).collect()
    }

    #[test]
    fn steps_are_found_whatever_goes() {
        let kib = 1024.0;
        for shape in 0..SHAPES {
            let fit = fit(&curve(&[(32.0 * kib, 1.0), (512.0 * kib, 4.0), (8192.0 * kib, 15.0)], 90.0, shape)).unwrap();
            let sizes: Vec<f64> = fit.steps.iter().map(|step| (step.size / kib).log2().round()).collect();
            assert_eq!(sizes, [5.0, 9.0, 13.0], "shape {shape}: {:?}", fit.steps);
        }
    }

    #[test]
    fn a_flat_curve_has_no_step() {
        let points = curve(&[(1e9, 5.0)], 5.0, 0);
        assert_eq!(fit(&points).unwrap().steps, []);
        assert!(fit(&points[..3]).is_none());
    }
}
