//! Where reads become slower, by the ranks of all their times.
//!
//! Where a read waits for the link far more than for the flash, what is at hand saves little of it, and the fastest of a few
//! reads lie too close together to tell. All of them tell: the more reads on either side, the smaller a step shows.

use flashscope_stats::interval::shift_interval;
use flashscope_stats::location::median;
use flashscope_stats::test::{Alternative, mann_whitney};
use flashscope_units::Bytes;
use std::collections::BTreeMap;

/// A step is there where chance makes one as clear less often than this, wherever it may lie …
const CHANCE_OF_STEP: f64 = 1e-6;
/// … and it is this share of a read.
const LEAST_STEP: f64 = 0.015;
/// So many times the chance of the best split makes another one unlikely beside it.
const RIVAL: f64 = 1e3;
/// A size lies on one side of the step where chance takes it for one of the other side less often than this.
const CHANCE_OF_SIDE: f64 = 2e-3;

/// Reads up to the first size are fast, and from the second on slow; what lies between is not clear. `None` where no step shows.
pub(super) fn step(times: &BTreeMap<Bytes, Vec<f64>>) -> Option<(Bytes, Bytes)> {
    let sizes: Vec<(Bytes, &[f64])> = times.iter().map(|(size, times)| (*size, times.as_slice())).collect();
    let splits: Vec<Split> = (1..sizes.len()).filter_map(|at| Split::at(&sizes, at)).collect();
    let best = splits.iter().min_by(|a, b| a.chance.total_cmp(&b.chance))?;
    // Where the step is no surer elsewhere, it may be there as well.
    let mut rivals = splits.iter().filter(|split| split.chance <= best.chance * RIVAL).map(|split| split.at);
    let first = rivals.next()?;
    let last = rivals.next_back().unwrap_or(first);
    let held = sizes[..first].iter().rev().find(|(_, times)| are_slower(&best.slow, times))?;
    let gone = sizes[last..].iter().find(|(_, times)| are_slower(times, &best.fast))?;
    Some((held.0, gone.0))
}

/// All reads up to a size, and all behind it.
struct Split {
    at: usize,
    fast: Vec<f64>,
    slow: Vec<f64>,
    /// How likely chance makes the latter look as much slower.
    chance: f64,
}

impl Split {
    /// The split behind so many sizes; `None` where it is no step.
    fn at(sizes: &[(Bytes, &[f64])], at: usize) -> Option<Split> {
        let pool =
            |part: &[(Bytes, &[f64])]| part.iter().flat_map(|(_, times)| times.iter().copied()).collect::<Vec<f64>>();
        let (fast, slow) = (pool(&sizes[..at]), pool(&sizes[at..]));
        clearly_slower(&slow, &fast).map(|chance| Split { at, fast, slow, chance })
    }
}

/// How likely chance makes some reads look as much slower than others, where they clearly are.
pub(super) fn clearly_slower(slow: &[f64], fast: &[f64]) -> Option<f64> {
    let share = median(slow)? / median(fast)? - 1.0;
    Some(slower_by_chance(slow, fast)).filter(|chance| share >= LEAST_STEP && *chance <= CHANCE_OF_STEP)
}

/// The most by which some reads may take less than others, at a confidence of [`SURE`].
pub(super) fn most_gain(usual: &[f64], faster: &[f64]) -> Option<f64> {
    Some(shift_interval(usual, faster, SURE).ok()?.high)
}

/// That no gain is there is said with this confidence, to either side.
const SURE: f64 = 0.998;

/// Whether the former are slower than the latter beyond what chance makes of one size.
pub(super) fn are_slower(slow: &[f64], fast: &[f64]) -> bool {
    slower_by_chance(slow, fast) < CHANCE_OF_SIDE
}

/// How likely chance makes the former look as much slower than the latter as they do.
fn slower_by_chance(slow: &[f64], fast: &[f64]) -> f64 {
    mann_whitney(slow, fast, Alternative::Greater).map_or(1.0, |test| test.p_value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_stats::rng::Rng;

    /// So many reads up to each of these sizes, in µs: 2,300 and noise of 100, and more from the fifth size on.
    fn reads(seed: u64, rounds: usize, more: f64) -> BTreeMap<Bytes, Vec<f64>> {
        let mut rng = Rng::new(seed);
        let mut noise = || rng.normal();
        let sizes = (1..=8).map(|size| Bytes::kib(16) * size);
        let slow = |size: Bytes| if size > Bytes::kib(64) { more } else { 0.0 };
        sizes.map(|size| (size, (0..rounds).map(|_| 2300.0 + slow(size) + 100.0 * noise()).collect())).collect()
    }

    #[test]
    fn a_step_far_below_the_scatter_of_a_read_shows_in_many_and_none_is_made_up() {
        let (mut found, mut right) = (0, 0);
        for seed in 0..200 {
            assert_eq!(step(&reads(seed, 48, 0.0)), None, "{seed}");
            let Some((held, gone)) = step(&reads(seed, 48, 80.0)) else { continue };
            found += 1;
            right += i32::from(held <= Bytes::kib(64) && gone > Bytes::kib(64));
        }
        assert!(found >= 190 && right >= found - 2, "{found} found, {right} right");
    }

    #[test]
    fn a_size_of_few_reads_beside_the_step_is_left_open() {
        let mut open = 0;
        for seed in 0..100 {
            let mut times = reads(seed, 48, 120.0);
            times.get_mut(&Bytes::kib(80)).unwrap().truncate(4);
            let Some((held, gone)) = step(&times) else { continue };
            assert!(held <= Bytes::kib(64) && gone > Bytes::kib(64), "{seed}: {held} to {gone}");
            open += i32::from(gone - held > Bytes::kib(16));
        }
        assert!(open >= 50, "{open} left open");
    }

    #[test]
    fn what_is_saved_is_hardly_ever_beyond_the_bound_and_many_reads_bring_it_close() {
        let pool = |seed, more| reads(seed, 24, more).into_values().skip(4).flatten().collect::<Vec<f64>>();
        let saved = |seed: u64, more| most_gain(&pool(seed, more), &pool(seed + 1000, 0.0)).unwrap();
        let close = (0..200).filter(|seed| (0.0..80.0).contains(&saved(*seed, 0.0))).count();
        let beyond = (0..200).filter(|seed| saved(*seed, 80.0) < 80.0).count();
        assert!(close >= 197 && beyond <= 3, "{close} close, {beyond} beyond");
    }
}
