//! How the share of loads that miss a cache grows with the size of what is visited, over that of the cache.
//!
//! It follows from two things that no machine tells: how lines fall into sets, and which line of a full set makes room. Lines of
//! neighbouring addresses fill sets evenly. Where sets are chosen by a hash, or pages lie at random, lines fall into them by chance
//! (Poisson), so that some are too full long before the cache is, and others have room long after. Within a set that is visited
//! round and round, the share that misses is worked out by doing it, once, with a set of each kind. Curves of all kinds are tried: a
//! size told by the wrong one is off by a quarter to a half.

use crate::sim::{OneSet, Policy};
use std::sync::OnceLock;

/// How lines fall into sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// As many into each.
    Even,
    /// By chance.
    Chance,
    /// Evenly, and two lines at a time: the other of a pair is fetched along, or both are one line that two places lie in.
    Pairs,
}

/// A kind of cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) fill: Fill,
    pub(super) ways: usize,
    policy: Policy,
}

const fn shape(fill: Fill, ways: usize, policy: Policy) -> Shape {
    Shape { fill, ways, policy }
}

/// Those that are tried. How many ways there are hardly matters where sets are filled evenly and the oldest line does not go.
pub(super) const SHAPES: [Shape; 14] = [
    shape(Fill::Pairs, 8, Policy::Lru),
    shape(Fill::Even, 8, Policy::Lru),
    shape(Fill::Even, 16, Policy::Lru),
    shape(Fill::Even, 8, Policy::NotRecent),
    shape(Fill::Even, 8, Policy::Random),
    shape(Fill::Chance, 4, Policy::Lru),
    shape(Fill::Chance, 8, Policy::Lru),
    shape(Fill::Chance, 8, Policy::NotRecent),
    shape(Fill::Chance, 8, Policy::Random),
    shape(Fill::Chance, 12, Policy::Lru),
    shape(Fill::Chance, 16, Policy::Lru),
    shape(Fill::Chance, 16, Policy::NotRecent),
    shape(Fill::Chance, 16, Policy::Random),
    shape(Fill::Chance, 12, Policy::Random),
];

/// Ratios of a curve: from one in [`LEAST`] to [`LEAST`] times the cache, this many in each octave. Below none misses, above all.
const PER_OCTAVE: usize = 64;
const OCTAVES: usize = 3;
const LEAST: f64 = (1 << OCTAVES) as f64;
/// Lines in a set, over its ways, from which on all are taken to miss.
const MOST: usize = 6;

/// What a shape does.
#[derive(Debug)]
struct Curve {
    /// Share of misses by ratio.
    misses: Vec<f64>,
    /// Its variance, where lines fall into a single set by chance; into many it is as many times less.
    variance: Vec<f64>,
}

/// The share of misses and, where lines fall by chance into so many sets of their own, its variance.
pub(super) fn misses(shape: usize, ratio: f64, sets: f64) -> (f64, f64) {
    static CURVES: OnceLock<Vec<Curve>> = OnceLock::new();
    let curve = &CURVES.get_or_init(|| SHAPES.iter().map(Curve::of).collect())[shape];
    let at = (ratio * LEAST).log2() * PER_OCTAVE as f64;
    if at <= 0.0 {
        return (0.0, 0.0);
    }
    let (low, part) = (at as usize, at.fract());
    let between = |values: &[f64], beyond: f64| match (values.get(low), values.get(low + 1)) {
        (Some(before), Some(after)) => before + part * (after - before),
        _ => beyond,
    };
    (between(&curve.misses, 1.0), between(&curve.variance, 0.0) / sets)
}

impl Curve {
    fn of(shape: &Shape) -> Curve {
        let set = by_lines(shape);
        let of = |lines: usize| set.get(lines).copied().unwrap_or(1.0);
        let count = 2 * OCTAVES * PER_OCTAVE + 1;
        let ratio = |at: usize| (at as f64 / PER_OCTAVE as f64).exp2() / LEAST;
        let (misses, variance) = (0..count)
            .map(|at| {
                let mean = ratio(at) * shape.ways as f64;
                match shape.fill {
                    Fill::Even => (even(mean, of), 0.0),
                    Fill::Pairs => (pairs(ratio(at)), 0.0),
                    Fill::Chance => chance(mean, of),
                }
            })
            .unzip();
        Curve { misses, variance }
    }
}

/// Share of misses in a set that so many lines are visited in, round after round, by their number.
fn by_lines(shape: &Shape) -> Vec<f64> {
    /// Rounds before the counted ones, and these.
    const ROUNDS: [usize; 2] = [30, 200];
    let of = |lines: usize| {
        if lines <= shape.ways || shape.policy == Policy::Lru {
            return f64::from(u8::from(lines > shape.ways));
        }
        let mut set = OneSet::new(shape.ways, shape.policy);
        let mut missed = |_| (0..lines).filter(|line| !set.visit(*line as u64)).count();
        let rounds: Vec<usize> = (0..ROUNDS[0] + ROUNDS[1]).map(&mut missed).collect();
        let missed: usize = rounds[ROUNDS[0]..].iter().sum();
        missed as f64 / (ROUNDS[1] * lines) as f64
    };
    (0..=MOST * shape.ways).map(of).collect()
}

/// With `mean` lines in each set: some have one more than others.
fn even(mean: f64, misses: impl Fn(usize) -> f64) -> f64 {
    let (low, part) = (mean.floor(), mean.fract());
    let of = |lines: f64| lines * misses(lines as usize);
    ((1.0 - part) * of(low) + part * of(low + 1.0)) / mean
}

/// Where a line that is loaded brings the other one of its pair, and the oldest goes. Of `r` times as many lines as there is room for,
/// a pair is visited at two places of the round, a part `u` of it apart, in which a share 2u − u² of the pairs were visited: it is
/// still there where that is less than 1/r.
fn pairs(ratio: f64) -> f64 {
    (1.0 - 1.0 / ratio.max(1.0)).sqrt()
}

/// With Poisson's chances, and the variance of a single set's share. How many lines there are in all is known, which takes out what
/// the number of misses has in common with the number of lines.
fn chance(mean: f64, misses: impl Fn(usize) -> f64) -> (f64, f64) {
    let most = (mean + 10.0 * mean.sqrt() + 10.0) as usize;
    let mut share = (-mean).exp();
    let (mut first, mut second, mut both) = (0.0, 0.0, 0.0);
    for lines in 0..=most {
        let missed = lines as f64 * misses(lines);
        first += share * missed;
        second += share * missed * missed;
        both += share * missed * lines as f64;
        share *= mean / (lines + 1) as f64;
    }
    let common = both - first * mean;
    let variance = (second - first * first - common * common / mean).max(0.0);
    (first / mean, variance / (mean * mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misses_grow_from_none_to_all() {
        for (at, shape) in SHAPES.iter().enumerate() {
            let of = |ratio| misses(at, ratio, 1.0).0;
            assert!(of(0.1) < 1e-3 && of(0.2) < 0.02 && of(7.9) > 0.93 && of(100.0) == 1.0, "{shape:?}");
            let shares: Vec<f64> = (0..80).map(|step| of(f64::from(step) * 0.1)).collect();
            assert!(shares.windows(2).all(|pair| pair[1] >= pair[0] - 0.02), "{shape:?}: {shares:?}");
            assert_eq!(of(1.0) < 0.01, shape.fill != Fill::Chance, "{shape:?}");
        }
    }

    #[test]
    fn where_any_line_goes_what_is_found_is_a_fixed_point() {
        let at = SHAPES.iter().position(|shape| *shape == super::shape(Fill::Even, 8, Policy::Random)).unwrap();
        for ratio in [1.5, 2.0, 3.0] {
            // 1 − m = exp(−m·ratio) of a large set, that of eight ways is near it.
            let share = (0..60).fold(1.0f64, |share, _| 1.0 - (-share * ratio).exp());
            assert!((misses(at, ratio, 1.0).0 - share).abs() < 0.06, "{ratio}: {share} {:?}", misses(at, ratio, 1.0));
        }
    }

    #[test]
    fn the_variance_is_that_of_pages_thrown_at_sets() {
        let at = SHAPES.iter().position(|shape| *shape == super::shape(Fill::Chance, 8, Policy::Lru)).unwrap();
        let (sets, pages) = (16usize, 128usize);
        let mut rng = flashscope_stats::Rng::new(3);
        let shares: Vec<f64> = (0..4000)
            .map(|_| {
                let mut held = [0usize; 16];
                (0..pages).for_each(|_| held[rng.below(sets)] += 1);
                held.iter().filter(|held| **held > 8).sum::<usize>() as f64 / pages as f64
            })
            .collect();
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / shares.len() as f64;
        let (share, expected) = misses(at, 1.0, sets as f64);
        assert!((share - mean).abs() < 0.02, "{share} {mean}");
        assert!((0.8..1.25).contains(&(expected / variance)), "{expected} {variance}");
    }
}
