//! How much faster reads are that may find their data at hand, and up to which size they are.
//!
//! Both kinds of reads are compared by the fastest quarter of their samples, as noise only ever adds; the scatter of such
//! figures among reads that can find nothing says what counts.

use super::low;
use crate::numbers::median;
use crate::transfer;
use flashscope_model::{Data, Observations};
use flashscope_stats::location::standard_deviation;
use flashscope_units::Bytes;
use std::collections::BTreeMap;

/// A gain that is this many times the scatter is there …
const CLEAR: f64 = 6.0;

/// … and one that is fewer times the scatter is not, where all that the flash takes would be more.
const ABSENT: f64 = 3.6;

/// A gain below this share of a read is no gain, however quiet the device.
const LEAST_SHARE: f64 = 0.02;

/// A step between sizes is one where it is at least this part of the distance between the middles of both sides …
const CLEAN_STEP: f64 = 0.3;

/// … and this many times the scatter: of the usual reads, or of the sizes on either side, where there are enough.
const CLEAR_STEP: f64 = 3.0;
/// Sizes on either side of the step from which on their own scatter counts.
const ENOUGH_SIZES: usize = 3;
/// How many times the scatter on the quieter side of a step counts as scatter, where it is all there is to go by …
const ONE_SIDED: f64 = 2.0;
/// … and rests on fewer sizes than this.
const MANY_SIZES: usize = 8;

/// From this many times the scatter on a step cannot be mistaken.
const SHARP: f64 = 6.0;

/// Gains by size, in nanoseconds: how much faster than usual.
pub(super) struct Gains {
    pub(super) block: Bytes,
    pub(super) by_size: BTreeMap<Bytes, f64>,
    pub(super) usual: f64,
    scatter: f64,
    /// The same from neighbouring sizes as well: a few usual reads may lie close together by chance alone.
    scatter_of_all: f64,
    /// More than this no gain can be: all but the shortest read there is. `None` where that was not measured.
    most: Option<f64>,
    /// What of a read the link does not take either, which is what data at hand save.
    likely: Option<f64>,
    /// Where a gain must show if there is any.
    first: First,
}

/// Which sizes gain if any does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    Smallest,
    Largest,
}

/// A step between sizes that gain and sizes that do not.
struct Step {
    /// How many of the smallest sizes gain.
    held: usize,
    /// From the least gain before it to the greatest behind it.
    gap: f64,
    /// From the middle of those before it to the middle of those behind it.
    apart: f64,
    scatter: f64,
    /// Whether there are sizes enough on either side to show a scatter of their own.
    own: bool,
}

/// Where gains end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// There is none at all.
    Nothing,
    /// They hold up to the first size and not for the second.
    Between(Bytes, Bytes),
    /// They hold as far as was tried.
    Beyond(Bytes),
    /// Neither clear nor clearly absent, or there is no one place where they end.
    Unclear,
}

impl Gains {
    /// `usual` are samples of the same kind that nothing can have at hand.
    pub(super) fn new(
        observations: &Observations,
        block: Bytes,
        times: BTreeMap<Bytes, Vec<f64>>,
        usual: Vec<Vec<f64>>,
        first: First,
    ) -> Option<Gains> {
        let lows: Vec<f64> = usual.iter().filter(|times| times.len() >= 4).filter_map(|times| low(times)).collect();
        let level = median(&lows)?;
        let off: Vec<f64> = lows.iter().map(|low| (low - level).abs()).collect();
        // The median distance from the middle, as a standard deviation of normal noise.
        let scatter = (median(&off)? * 1.483).max(level * LEAST_SHARE / CLEAR);
        let by_size: BTreeMap<Bytes, f64> =
            times.into_iter().filter_map(|(size, times)| Some((size, level - low(&times)?))).collect();
        let most = shortest(observations).next().and_then(|(_, times)| Some(level - low(&times)?));
        let likely = floor(observations, block).map(|floor| level - floor);
        // One step between sizes makes one of their differences, which no median minds.
        let gains: Vec<f64> = by_size.values().copied().collect();
        let apart = gains.windows(2).map(|pair| (pair[0] - pair[1]).abs() / 2f64.sqrt());
        let all: Vec<f64> = off.into_iter().chain(apart).collect();
        let scatter_of_all = scatter.max(median(&all)? * 1.483);
        (lows.len() >= 3 && !by_size.is_empty()).then_some(Gains {
            block,
            by_size,
            usual: level,
            scatter,
            scatter_of_all,
            most,
            likely,
            first,
        })
    }

    pub(super) fn best(&self) -> f64 {
        self.by_size.values().copied().fold(0.0, f64::max)
    }

    /// Whether there is a gain anywhere; `None` where that is not clear, or where none could be seen.
    pub(super) fn anywhere(&self) -> Option<bool> {
        match self.best() / self.scatter {
            // Usual reads that wait for what is read ahead scatter by more than those that find it.
            _ if self.best() > LEAST_SHARE * self.usual && self.has_own_step() => Some(true),
            times if times >= CLEAR => Some(true),
            _ if self.must_show() < ABSENT * self.scatter_of_all && self.could_show() => Some(false),
            _ => None,
        }
    }

    /// The gain where one must show if there is any: the best of many sizes is no small one by chance alone.
    fn must_show(&self) -> f64 {
        let gains = self.by_size.values().copied();
        let ends: Vec<f64> = match self.first {
            First::Smallest => gains.take(2).collect(),
            First::Largest => gains.rev().take(2).collect(),
        };
        ends.into_iter().fold(0.0, f64::max)
    }

    /// Whether nothing gains though the flash takes so little beside the link that a gain may be lost in the scatter.
    pub(super) fn may_be_lost(&self) -> bool {
        self.anywhere() == Some(false) && self.likely.is_some_and(|likely| likely < CLEAR * self.scatter)
    }

    /// Whether data at hand would save enough time to be seen.
    fn could_show(&self) -> bool {
        self.most.is_none_or(|most| most >= ABSENT * self.scatter)
    }

    /// Where gains that begin at the smallest size end.
    pub(super) fn reach(&self) -> Reach {
        match self.anywhere() {
            None => return Reach::Unclear,
            Some(false) => return Reach::Nothing,
            Some(true) => {}
        }
        if let Some(held) = self.step() {
            let mut sizes = self.by_size.keys().skip(held - 1);
            return match (sizes.next(), sizes.next()) {
                (Some(held), Some(gone)) => Reach::Between(*held, *gone),
                _ => Reach::Unclear,
            };
        }
        match self.by_size.last_key_value() {
            Some((last, _)) if self.all_gain() => Reach::Beyond(*last),
            _ => Reach::Unclear,
        }
    }

    /// The level half way between what is at hand and what is not, as a gain.
    pub(super) fn half_way(&self) -> f64 {
        let gains: Vec<f64> = self.by_size.values().copied().collect();
        let Some(held) = self.step() else { return self.best() / 2.0 };
        let middle = |part: &[f64]| median(part).unwrap_or(0.0);
        (middle(&gains[..held]) + middle(&gains[held..])) / 2.0
    }

    /// Whether gains end at a step that no scatter could make.
    pub(super) fn is_sharp(&self) -> bool {
        self.best_step().is_some_and(|step| step.gap >= SHARP * step.scatter)
    }

    /// How many of the sizes, from the smallest on, gain clearly more than all the others. Their own times tell, not the
    /// usual ones: a device that reads ahead behind every read makes the usual ones wait.
    fn step(&self) -> Option<usize> {
        let step = self.best_step()?;
        (step.gap >= (CLEAR_STEP * step.scatter).max(CLEAN_STEP * step.apart)).then_some(step.held)
    }

    /// Whether there is a step that the sizes on either side show by themselves.
    fn has_own_step(&self) -> bool {
        self.step().is_some() && self.best_step().is_some_and(|step| step.own)
    }

    /// Whether all sizes are much faster than the usual reads: those wait for what is fetched behind the ones before, and scatter
    /// by as much.
    fn usual_ones_wait(&self) -> bool {
        self.best() >= CLEAR * self.scatter && self.all_gain()
    }

    /// Whether no size gains much less than the best.
    fn all_gain(&self) -> bool {
        let half = self.best() / 2.0;
        self.by_size.values().all(|gain| *gain > half)
    }

    /// Where sizes that gain more and sizes that gain less are furthest apart.
    fn best_step(&self) -> Option<Step> {
        let gains: Vec<f64> = self.by_size.values().copied().collect();
        let middle = |part: &[f64]| median(part).unwrap_or(0.0);
        let gap = |held: usize| {
            let (before, after) = gains.split_at(held);
            before.iter().copied().fold(f64::INFINITY, f64::min) - after.iter().copied().fold(f64::MIN, f64::max)
        };
        let held = (1..gains.len()).max_by(|a, b| gap(*a).total_cmp(&gap(*b)))?;
        let (before, after) = gains.split_at(held);
        let apart = middle(before) - middle(after);
        let deviation = |part: &[f64]| standard_deviation(part).unwrap_or(0.0);
        let own = before.len().min(after.len()) >= ENOUGH_SIZES && apart > LEAST_SHARE * self.usual;
        let one_sided = |part: &[f64]| deviation(part) * if part.len() < MANY_SIZES { ONE_SIDED } else { 1.0 };
        let quieter = [before, after].into_iter().filter(|part| part.len() >= ENOUGH_SIZES).map(one_sided);
        let scatter = match quieter.min_by(f64::total_cmp) {
            Some(quieter) if self.usual_ones_wait() && apart > LEAST_SHARE * (self.usual - middle(after)) => {
                self.scatter.min(quieter)
            }
            _ if own => self.scatter.min(deviation(before).max(deviation(after))),
            _ => self.scatter,
        };
        Some(Step { held, gap: gap(held), apart, scatter, own })
    }
}

/// Times of the shortest reads, in nanoseconds, and their size, each time that they were measured.
fn shortest(observations: &Observations) -> impl DoubleEndedIterator<Item = (Bytes, Vec<f64>)> {
    observations.runs.iter().filter_map(|run| match &run.data {
        Data::Floor(floor) => Some((floor.block, super::ns(&floor.times))),
        _ => None,
    })
}

/// What a request of this size takes that needs no flash, in nanoseconds: the shortest read of late, and the link for what is
/// longer than that. Reads of the flash are no faster than the link, so that this is no less than true.
pub(super) fn floor(observations: &Observations, block: Bytes) -> Option<f64> {
    let (measured, times) = shortest(observations).next_back()?;
    let longer = block.as_f64() - measured.as_f64();
    let each = transfer::estimate(observations).map_or(0.0, |line| 1e9 / line.rate.0);
    Some(median(&times)? + longer.max(0.0) * each)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gains(by_size: &[(u64, f64)], most: Option<f64>) -> Gains {
        let by_size = by_size.iter().map(|(kib, gain)| (Bytes::kib(*kib), *gain)).collect();
        Gains {
            block: Bytes::kib(4),
            by_size,
            usual: 1000.0,
            scatter: 10.0,
            scatter_of_all: 10.0,
            most,
            likely: None,
            first: First::Smallest,
        }
    }

    #[test]
    fn the_scatter_is_that_of_neighbouring_sizes_where_usual_reads_agree_by_chance() {
        let reads = |us: f64| vec![us * 1e3; 8];
        let usual = [500.0, 500.1, 499.9, 500.0].map(reads).to_vec();
        let scatter_of = |us: [f64; 8]| {
            let sizes = us.iter().enumerate().map(|(at, us)| (Bytes::kib(4) * (at as u64 + 1), reads(*us))).collect();
            let block = Bytes::kib(4);
            Gains::new(&Observations::default(), block, sizes, usual.clone(), First::Smallest).unwrap().scatter_of_all
        };
        let scatter = scatter_of([497.0, 503.0, 496.0, 502.0, 498.0, 503.0, 497.0, 502.0]);
        assert!((3000.0..9000.0).contains(&scatter), "{scatter}");
        // One step is no scatter: what is left is that no figure is trusted beyond its fiftieth part.
        assert!(scatter_of([300.0, 300.0, 300.0, 300.0, 500.0, 500.0, 500.0, 500.0]) < 2000.0);
    }

    #[test]
    fn gains_end_at_a_clean_step() {
        let check = |by_size: &[(u64, f64)], most: Option<f64>, expect: Reach| {
            assert_eq!(gains(by_size, most).reach(), expect, "{by_size:?}");
        };
        let (four, eight, sixteen) = (Bytes::kib(4), Bytes::kib(8), Bytes::kib(16));
        check(&[(4, 400.0), (8, 390.0), (16, 5.0)], None, Reach::Between(eight, sixteen));
        check(&[(4, 400.0), (8, -20.0), (16, 5.0)], None, Reach::Between(four, eight));
        check(&[(4, 400.0), (8, 390.0), (16, 410.0)], None, Reach::Beyond(sixteen));
        // All is faster than usual, and some of it by more.
        check(&[(4, 400.0), (8, 390.0), (16, 250.0)], None, Reach::Between(eight, sixteen));
        check(&[(4, 10.0), (8, -12.0), (16, 5.0)], None, Reach::Nothing);
        check(&[(4, 45.0), (8, -12.0), (16, 5.0)], None, Reach::Unclear);
        // Usual reads that lie close together by chance, beside sizes that differ by more from one to the next.
        let by_size = [(4, 45.0), (8, -12.0), (16, 5.0)];
        let quiet = gains(&by_size, None);
        assert_eq!(Gains { scatter_of_all: 14.0, ..quiet }.reach(), Reach::Nothing);
        // What is at hand far off only is not at hand.
        check(&[(4, 10.0), (8, -12.0), (16, 45.0)], None, Reach::Nothing);
        // The usual reads scatter by more than the step; both sides of it do not.
        let small = [(4, 40.0), (8, 41.0), (16, 40.5), (32, 25.0), (64, 24.0), (128, 25.5)];
        check(&small, None, Reach::Unclear);
        let quick = small.map(|(size, gain)| (size, gain * 4.0 + 300.0));
        assert_eq!(Gains { scatter: 150.0, ..gains(&quick, None) }.reach(), Reach::Between(sixteen, Bytes::kib(32)));
        // All are far faster than the usual reads, which wait for what is fetched; two sizes behind the step are enough.
        let waits = [(4, 890.0), (8, 889.0), (16, 891.0), (32, 890.0), (64, 870.0), (128, 871.0)];
        assert_eq!(
            Gains { scatter: 100.0, ..gains(&waits, None) }.reach(),
            Reach::Between(Bytes::kib(32), Bytes::kib(64))
        );
        // Eight sizes that are at hand, and those behind them of two kinds: their scatter is known.
        let at_hand = [889.0, 890.0, 891.0, 890.0, 889.0, 891.0, 890.0, 890.0].map(|gain| gain - 1.0);
        let many: Vec<(u64, f64)> = at_hand
            .into_iter()
            .chain([884.2, 881.0, 884.0, 881.2, 884.1])
            .zip(1..)
            .map(|(gain, size)| (size, gain))
            .collect();
        assert_eq!(
            Gains { scatter: 100.0, ..gains(&many, None) }.reach(),
            Reach::Between(Bytes::kib(8), Bytes::kib(9))
        );
        let level = waits.map(|(size, gain)| (size, gain.max(889.0)));
        assert_eq!(Gains { scatter: 100.0, ..gains(&level, None) }.reach(), Reach::Beyond(Bytes::kib(128)));
        // What is not at hand takes hardly longer here: that nothing shows says nothing.
        check(&[(4, 10.0), (8, -12.0), (16, 5.0)], Some(30.0), Reach::Unclear);
    }
}
