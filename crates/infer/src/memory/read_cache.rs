//! Read buffer and read-ahead, from re-reads and from runs in both orders.
//!
//! What is at hand is answered faster than what was not read before by all that the flash takes. Both are compared by
//! the fastest quarter of their samples; the scatter of such figures among samples of the same kind says what counts.

use super::{low, ns};
use crate::numbers::median;
use flashscope_model::finding::ReadAhead;
use flashscope_model::observation::ReadCacheData;
use flashscope_model::{Data, Estimate, Observations};
use flashscope_units::{Bytes, Nanos};
use std::collections::BTreeMap;

const METHOD: &[&str] = &["read-cache"];

/// A gain that is so many times the scatter is there; one below half of that is not.
const CLEAR: f64 = 6.0;

/// A gain below this share of a read is no gain, however quiet the device.
const LEAST_SHARE: f64 = 0.02;

/// Gains by size, in nanoseconds: how much faster than usual.
pub(super) struct Gains {
    pub(super) block: Bytes,
    pub(super) by_size: BTreeMap<Bytes, f64>,
    usual: f64,
    scatter: f64,
}

/// Where gains end.
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

/// Bytes read last that are answered without the flash.
pub(super) fn read_buffer(observations: &Observations) -> Estimate<Bytes> {
    let Some(gains) = spans(observations) else { return Estimate::unknown("nothing was read twice at a distance") };
    let (block, usual) = (gains.block, Nanos(gains.usual as u64));
    match gains.reach() {
        Reach::Nothing => {
            let evidence = format!("a block of {block} read twice in a row takes {usual} both times");
            Estimate::at_most(block, 0.97, evidence, METHOD)
        }
        Reach::Between(held, gone) if gone - held <= block => {
            let evidence = format!(
                "a block is read again {} faster than {usual} when at most {held} were read since, not after {gone}",
                Nanos(gains.best() as u64)
            );
            Estimate::known(held, 0.97, evidence, METHOD)
        }
        Reach::Between(held, gone) => {
            let evidence = format!("a block is still at hand after {held} were read, not after {gone}");
            Estimate { at_most: Some(gone), ..Estimate::at_least(held, 0.97, evidence, METHOD) }
        }
        Reach::Beyond(held) => {
            Estimate::at_least(held, 0.96, format!("a block is still at hand after {held} were read"), METHOD)
        }
        Reach::Unclear => Estimate::unknown("re-reads scatter too much, or are fast at no one range of sizes"),
    }
}

/// What is read before it is asked for.
pub(super) fn read_ahead(observations: &Observations) -> Estimate<ReadAhead> {
    let Some(runs) = runs(observations) else {
        return Estimate::unknown("no reads in a row behind a jump were observed");
    };
    let usual = Nanos(runs.usual as u64);
    match runs.reach_from_any() {
        Some(false) => {
            let evidence = format!("reads of {} in a row take {usual} in rising order as in falling order", runs.block);
            Estimate::known(ReadAhead { window: Bytes::ZERO, trigger: 0 }, 0.97, evidence, METHOD)
        }
        None => Estimate::unknown("reads in a row are hardly faster in rising order than in falling order"),
        Some(true) => {
            let best = runs.best();
            // The first read that finds something may still have to wait for some of it.
            let first = runs.by_size.iter().find(|(_, gain)| **gain > 0.3 * best).map_or(0, |(index, _)| index.get());
            let trigger = u32::try_from(first).unwrap_or(u32::MAX);
            let Some(distances) = distances(observations) else {
                return Estimate::unknown("it reads ahead, but how far was not measured");
            };
            let of = |window: Bytes| ReadAhead { window, trigger };
            let evidence = |far: String| {
                format!(
                    "read {} in a row is {} faster than {usual}, which falling order never is; {far}",
                    trigger + 1,
                    Nanos(best as u64)
                )
            };
            match distances.reach() {
                Reach::Between(held, gone) if gone - held <= distances.block => {
                    Estimate::known(of(held), 0.96, evidence(format!("{held} behind the last one are at hand")), METHOD)
                }
                Reach::Between(held, gone) => {
                    let far = format!("{held} behind the last one are at hand, {gone} are not");
                    Estimate { at_most: Some(of(gone)), ..Estimate::at_least(of(held), 0.96, evidence(far), METHOD) }
                }
                Reach::Beyond(held) => {
                    let far = format!("even {held} behind the last one are at hand");
                    Estimate::at_least(of(held), 0.95, evidence(far), METHOD)
                }
                Reach::Nothing | Reach::Unclear => {
                    Estimate::unknown("reads in rising order are faster, but nothing behind them is at hand")
                }
            }
        }
    }
}

/// Re-reads by what was read since.
pub(super) fn spans(observations: &Observations) -> Option<Gains> {
    let mut again: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    let mut fresh: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    let mut block = None;
    for data in all(observations) {
        block = block.or(Some(data.block));
        for reread in &data.spans {
            again.entry(reread.span).or_default().extend(ns(&reread.again));
            fresh.entry(reread.span).or_default().extend(ns(&reread.fresh));
        }
    }
    Gains::new(block?, again, fresh.into_values().collect())
}

/// Reads ahead by their end.
pub(super) fn distances(observations: &Observations) -> Option<Gains> {
    let mut times: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    let mut block = None;
    for data in all(observations) {
        block = block.or(Some(data.block));
        for ahead in &data.ahead {
            times.entry(ahead.distance + data.block).or_default().extend(ns(&ahead.times));
        }
    }
    Gains::new(block?, times, falling(observations))
}

/// Rising runs by index.
fn runs(observations: &Observations) -> Option<Gains> {
    let mut times: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    let mut block = None;
    for data in all(observations) {
        block = block.or(Some(data.block));
        for run in &data.rising {
            for (index, time) in run.iter().enumerate().skip(1) {
                times.entry(Bytes(index as u64)).or_default().push(time.as_f64());
            }
        }
    }
    Gains::new(block?, times, falling(observations))
}

/// Falling runs by index, the jump left out.
fn falling(observations: &Observations) -> Vec<Vec<f64>> {
    let mut by_index: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for run in all(observations).flat_map(|data| &data.falling) {
        for (index, time) in run.iter().enumerate().skip(1) {
            by_index.entry(index).or_default().push(time.as_f64());
        }
    }
    by_index.into_values().collect()
}

fn all(observations: &Observations) -> impl Iterator<Item = &ReadCacheData> {
    observations.runs.iter().filter_map(|run| match &run.data {
        Data::ReadCache(data) => Some(data),
        _ => None,
    })
}

impl Gains {
    /// `usual` are samples of the same kind that nothing can have at hand.
    fn new(block: Bytes, times: BTreeMap<Bytes, Vec<f64>>, usual: Vec<Vec<f64>>) -> Option<Gains> {
        let lows: Vec<f64> = usual.iter().filter(|times| times.len() >= 4).filter_map(|times| low(times)).collect();
        let level = median(&lows)?;
        let off: Vec<f64> = lows.iter().map(|low| (low - level).abs()).collect();
        // The median distance from the middle, as a standard deviation of normal noise.
        let scatter = (median(&off)? * 1.483).max(level * LEAST_SHARE / CLEAR);
        let by_size: BTreeMap<Bytes, f64> =
            times.into_iter().filter_map(|(size, times)| Some((size, level - low(&times)?))).collect();
        (lows.len() >= 3 && !by_size.is_empty()).then_some(Gains { block, by_size, usual: level, scatter })
    }

    fn best(&self) -> f64 {
        self.by_size.values().copied().fold(0.0, f64::max)
    }

    /// Where gains that begin at the smallest size end.
    pub(super) fn reach(&self) -> Reach {
        let gains: Vec<(Bytes, f64)> = self.by_size.iter().map(|(size, gain)| (*size, *gain)).collect();
        let best = self.best();
        if best <= 0.0 {
            return Reach::Nothing;
        }
        if gains[0].1 <= best / 2.0 || best < CLEAR * self.scatter {
            return if best < 0.6 * CLEAR * self.scatter { Reach::Nothing } else { Reach::Unclear };
        }
        let held = gains.iter().take_while(|(_, gain)| *gain > best / 2.0).count();
        match (gains[held - 1].0, gains.get(held)) {
            (last, None) => Reach::Beyond(last),
            (last, Some((next, _))) if gains[held..].iter().all(|(_, gain)| *gain < best / 2.0) => {
                Reach::Between(last, *next)
            }
            _ => Reach::Unclear,
        }
    }

    /// Whether there is a gain anywhere; `None` where that is not clear.
    fn reach_from_any(&self) -> Option<bool> {
        let best = self.best();
        match best / self.scatter {
            times if times >= CLEAR => Some(true),
            times if times < 0.6 * CLEAR => Some(false),
            _ => None,
        }
    }
}
