//! Long writes after rests, as series in which the rate may fall.

use crate::numbers::median;
use crate::survey;
use flashscope_model::observation::SlcCacheData;
use flashscope_model::plan::{Purpose, Span};
use flashscope_model::{Data, Direction, Observations};
use flashscope_stats::change::{ChangeSettings, Penalty, biweight_changes, difference_noise};
use flashscope_units::{Bytes, Nanos};

/// A rate has fallen where writes take longer by this factor.
pub(super) const FALL: f64 = 1.15;

/// This many writes after a fall make it one.
pub(super) const LEAST_AFTER: usize = 8;

/// How far writes without a fall say that there is none: one near their end would have too few writes behind it to be seen.
pub(super) const fn seen_by(writes: u64) -> u64 {
    (writes * 16 / 17).saturating_sub(LEAST_AFTER as u64)
}

/// How many say so for this many: [`seen_by`] the other way round.
pub(super) const fn writes_to_see(so_many: u64) -> u64 {
    ((so_many + LEAST_AFTER as u64) * 17).div_ceil(16)
}

/// Noise of log times below which nothing is believed to be exact.
pub(super) const LEAST_NOISE: f64 = 0.02;

/// What was written after one rest.
pub(crate) struct Series {
    /// Share of the device that held data before, as far as is known.
    pub(crate) fill: Option<f64>,
    pub(crate) idle: Nanos,
    pub(crate) span: Span,
    /// Size of each write.
    pub(crate) block: Bytes,
    /// Seconds of each, in their order.
    pub(crate) seconds: Vec<f64>,
}

/// Where the rate fell.
#[derive(Clone, Copy)]
pub(super) struct Fall {
    /// Writes before it.
    pub(super) before: usize,
    /// Median seconds of a write before and after.
    pub(super) fast: f64,
    pub(super) slow: f64,
    /// Share of the writes on either side that are on the right side of the middle between the two.
    pub(super) clean: f64,
}

impl Fall {
    /// Whether more was taken than another time, by more than where it is seen is off.
    pub(super) fn is_longer_than(&self, other: &Fall) -> bool {
        self.before as f64 > SAME * other.before as f64 + 1.0
    }

    pub(super) fn is_as_long_as(&self, other: &Fall) -> bool {
        !self.is_longer_than(other) && !other.is_longer_than(self)
    }
}

/// Largest factor between two sizes that are the same.
pub(super) const SAME: f64 = 1.1;

/// Share of the device that must be written for it to be full enough.
pub(super) const FULL: f64 = 0.95;

/// Share of the device by which it must be fuller than before, so that a cache of free blocks must be smaller.
pub(super) const FULLER: f64 = 0.3;

/// The bursts until the device was filled further, and those behind.
pub(super) fn split_at_fuller(all: &[Series]) -> (&[Series], &[Series]) {
    let full = all.iter().position(|stretch| is_fuller(stretch, &all[0])).unwrap_or(all.len());
    all.split_at(full)
}

fn is_fuller(one: &Series, other: &Series) -> bool {
    one.fill.zip(other.fill).is_some_and(|(one, other)| one >= other + FULLER)
}

/// The bursts, those that went on without a rest in one piece.
pub(crate) fn stretches(observations: &Observations) -> Vec<Series> {
    let mut stretches: Vec<Series> = Vec::new();
    let mut fill = None;
    for run in &observations.runs {
        fill = fill_behind(fill, &run.data, observations.capacity);
        let Data::SlcCache(SlcCacheData { block, bursts }) = &run.data else { continue };
        for burst in bursts {
            let seconds = burst.times.iter().map(|time| time.as_secs_f64());
            match stretches.last_mut() {
                Some(last) if burst.burst.idle == Nanos::ZERO && last.block == *block => {
                    last.seconds.extend(seconds);
                    last.span.length += burst.burst.span.length;
                }
                _ => stretches.push(Series {
                    fill,
                    idle: burst.burst.idle,
                    span: burst.burst.span,
                    block: *block,
                    seconds: seconds.collect(),
                }),
            }
        }
    }
    stretches
}

/// The share of the device that holds data behind a run: what the survey saw, and what fills added. Other writes are few, or
/// fall on what was written before.
pub(super) fn fill_behind(before: Option<f64>, data: &Data, capacity: Option<Bytes>) -> Option<f64> {
    let capacity = capacity.filter(|capacity| *capacity > Bytes::ZERO)?.as_f64();
    match data {
        Data::Survey(data) if survey::answered(data).next().is_some() => {
            let places = survey::answered(data).count() as f64;
            Some(survey::answered(data).filter(|place| !survey::is_blank(place)).count() as f64 / places)
        }
        Data::Throughput(data) if (data.purpose, data.direction) == (Purpose::Fill, Direction::Write) => {
            before.map(|before| (before + data.length.as_f64() / capacity).min(1.0))
        }
        Data::Overwrite(data) if !data.in_order.is_empty() => {
            let written = data.block.as_f64() * f64::from(data.window) * data.in_order.len() as f64;
            Some(before.unwrap_or(0.0).max((written / capacity).min(1.0)))
        }
        _ => before,
    }
}

pub(super) fn fill_at_end(observations: &Observations) -> Option<f64> {
    observations.runs.iter().fold(None, |fill, run| fill_behind(fill, &run.data, observations.capacity))
}

/// The first lasting fall of the rate.
pub(super) fn fall(stretch: &Series) -> Option<Fall> {
    let logs: Vec<f64> = stretch.seconds.iter().filter(|s| **s > 0.0).map(|seconds| seconds.ln()).collect();
    if logs.len() < 2 * LEAST_AFTER {
        return None;
    }
    let noise = difference_noise(&logs).unwrap_or(0.0).max(LEAST_NOISE);
    let price = Penalty::PerChange(4.0 * (logs.len() as f64).ln());
    let changes = biweight_changes(&logs, ChangeSettings { penalty: price, noise_sd: Some(noise) }).ok()?;
    changes.starts.iter().copied().filter(|&start| start > 0).find_map(|start| {
        let (before, after) = logs.split_at(start);
        let least_after = LEAST_AFTER.max(start / 16);
        let (fast, slow) = (median(before)?, median(after)?);
        let middle = (fast + slow) / 2.0;
        let wrong =
            before.iter().filter(|log| **log > middle).count() + after.iter().filter(|log| **log < middle).count();
        let clean = 1.0 - wrong as f64 / logs.len() as f64;
        let fallen = after.len() >= least_after && slow - fast >= FALL.ln() && clean >= LEAST_CLEAN;
        fallen.then(|| Fall { before: start, fast: fast.exp(), slow: slow.exp(), clean })
    })
}

/// Where more writes than this are on the wrong side, there is no one fall.
pub(super) const LEAST_CLEAN: f64 = 0.8;

/// Whether all of a burst is nearer to the slower of two times of a write.
pub(super) fn is_slow(stretch: &Series, fast: f64, slow: f64) -> bool {
    let middle = (fast * slow).sqrt();
    let slow = stretch.seconds.iter().filter(|time| **time > middle).count();
    stretch.seconds.len() >= 2 * LEAST_AFTER && slow as f64 >= LEAST_CLEAN * stretch.seconds.len() as f64
}
