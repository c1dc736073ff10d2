//! How large arrays are, and how much memory a run may take.

use crate::question::Question;
use flashscope_model::memory::{Pages, Route};
use flashscope_units::Bytes;
use std::fmt;

/// An array is so many times as long as the last cache at least, so that hardly any of it is still there when its turn comes
/// again (STREAM's rule).
pub const TIMES_LAST_CACHE: u64 = 4;
/// The last cache that is reckoned with where the machine tells of none.
pub const UNTOLD_LAST_CACHE: Bytes = Bytes::mib(16);
/// The shortest array: a pass over it takes long against the calls around it.
pub const SHORTEST_ARRAY: Bytes = Bytes::mib(32);
/// Share of the available memory that a run takes at most, so that nothing else has to go to swap space.
const MOST_OF_AVAILABLE: f64 = 0.5;
/// Lengths of arrays are multiples of this: a huge page.
pub const GRAIN: Bytes = Bytes::mib(2);

/// Empty steps between two lines that a thread reads beside the chase, from full load to hardly any.
pub const DELAYS: [u32; 19] =
    [0, 2, 8, 15, 50, 100, 200, 300, 400, 500, 700, 1000, 1300, 1700, 2500, 3500, 5000, 9000, 20000];

/// More memory is needed than may be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLittle {
    /// What for.
    pub what: String,
    /// What is needed.
    pub needed: Bytes,
    /// What may be taken.
    pub may: Bytes,
}

impl fmt::Display for TooLittle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "not enough memory: {} need {}, and {} may be taken of what is available\nhint: --size with a smaller size; \
             what fits in a cache is then measured there",
            self.what, self.needed, self.may
        )
    }
}

impl std::error::Error for TooLittle {}

/// Sizes of chases in each octave.
pub const PER_OCTAVE: u32 = 4;
/// The same in small pages visited one after the other: as pages lie at random, what misses differs from one chase to the next, and
/// more of them tell more.
pub const PER_OCTAVE_BY_PAGE: u32 = 8;
/// Bytes between two places of a chase: a line almost everywhere.
pub const SPACING: u64 = 64;
/// The smallest size of a chase.
pub const SMALLEST: Bytes = Bytes::kib(4);
/// The smallest size that says something of memory rather than of caches.
pub const SMALLEST_LARGEST: Bytes = Bytes::mib(8);
/// A chase over memory is so many times as long as the last cache, so that what that still serves hardly shows.
const TIMES_OF_CHASE: u64 = 8;
/// The largest size that is chosen unasked, as laying a ring takes its time.
const LARGEST_UNASKED: Bytes = Bytes::mib(512);

/// The largest size of chases.
///
/// # Errors
/// [`TooLittle`].
pub fn largest(asked: Option<Bytes>, last_cache: Option<Bytes>, may: Bytes) -> Result<Bytes, TooLittle> {
    let by_cache = Bytes(last_cache.unwrap_or(UNTOLD_LAST_CACHE).get().saturating_mul(TIMES_OF_CHASE));
    let least = asked.unwrap_or(SMALLEST_LARGEST);
    if least > may {
        return Err(TooLittle { what: format!("chases over {least}"), needed: least, may });
    }
    let wanted = asked.unwrap_or(by_cache.max(Bytes::mib(64)).min(LARGEST_UNASKED));
    Ok(wanted.min(may).max(SMALLEST))
}

/// Sizes from the smallest up to `most`, [`PER_OCTAVE`] in each octave, multiples of `grain`.
pub fn sizes(least: Bytes, most: Bytes, grain: u64) -> Vec<Bytes> {
    finer(least, most, grain, PER_OCTAVE)
}

/// The same with so many in each octave.
pub fn finer(least: Bytes, most: Bytes, grain: u64, per_octave: u32) -> Vec<Bytes> {
    let step = |at: u32| least.as_f64() * (f64::from(at) / f64::from(per_octave)).exp2();
    let rounded = |size: f64| ((size / grain as f64).round() as u64).max(1) * grain;
    let mut sizes: Vec<Bytes> =
        (0..).map(step).take_while(|size| *size <= most.as_f64() * 1.001).map(rounded).map(Bytes).collect();
    sizes.dedup();
    sizes
}

/// The chases of a sweep over sizes. Every other one on the way up, the rest on the way down: what drifts meanwhile shows as
/// scatter between neighbours, and not as a step. Places are `spacing` bytes apart.
pub fn sweep(route: Route, pages: Pages, sizes: &[Bytes], spacing: u64) -> Vec<Question> {
    let up = sizes.iter().step_by(2);
    let down = sizes.iter().skip(1).step_by(2).rev();
    up.chain(down).map(|span| Question { route, span: *span, spacing: Bytes(spacing), pages }).collect()
}

/// Bytes that a run may take: half of what is available, or what was allowed where that is less.
pub fn may_take(available: Bytes, allowed: Option<Bytes>) -> Bytes {
    let half = Bytes((available.as_f64() * MOST_OF_AVAILABLE) as u64);
    allowed.map_or(half, |allowed| allowed.min(half))
}

/// Length of each of `arrays`, all threads together.
///
/// # Errors
/// [`TooLittle`].
pub fn array(
    asked: Option<Bytes>,
    last_cache: Option<Bytes>,
    arrays: u32,
    threads: u32,
    may: Bytes,
) -> Result<Bytes, TooLittle> {
    let by_cache = Bytes(last_cache.unwrap_or(UNTOLD_LAST_CACHE).get().saturating_mul(TIMES_LAST_CACHE));
    let wanted = asked.unwrap_or(by_cache.max(SHORTEST_ARRAY));
    let grain = GRAIN.get() * u64::from(threads.max(1));
    let length = Bytes(wanted.get().div_ceil(grain).saturating_mul(grain));
    let needed = Bytes(length.get().saturating_mul(u64::from(arrays)));
    if needed > may {
        let what = format!("{arrays} arrays of {length}");
        return Err(TooLittle { what, needed, may });
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_four_times_the_last_cache() {
        let mib = Bytes::mib;
        let of = |asked, cache, may| array(asked, cache, 3, 2, may);
        assert_eq!(of(None, Some(mib(32)), mib(1000)), Ok(mib(128)));
        assert_eq!(of(None, None, mib(1000)), Ok(mib(64)));
        assert_eq!(of(None, Some(Bytes::kib(512)), mib(1000)), Ok(mib(32)));
        assert_eq!(of(Some(mib(5)), Some(mib(32)), mib(1000)), Ok(mib(8)));
        let refused = of(None, Some(mib(32)), mib(383)).unwrap_err();
        assert_eq!((refused.needed, refused.may), (mib(384), mib(383)));
        assert!(refused.to_string().contains("3 arrays of 128 MiB need 384 MiB"), "{refused}");
        assert!(of(Some(Bytes(u64::MAX)), None, mib(383)).is_err());
    }

    #[test]
    fn a_sweep_goes_up_and_down_again() {
        let sizes = sizes(SMALLEST, Bytes::kib(16), 64);
        assert_eq!(sizes[0], Bytes::kib(4));
        assert_eq!((sizes.len(), sizes[4], sizes[8]), (9, Bytes::kib(8), Bytes::kib(16)));
        let spans: Vec<Bytes> =
            sweep(Route::Random, Pages::Huge, &sizes, SPACING).iter().map(|question| question.span).collect();
        assert!(spans[..5].is_sorted() && spans[5..].iter().rev().is_sorted() && spans.len() == 9);
    }

    #[test]
    fn chases_reach_far_beyond_the_last_cache() {
        let mib = Bytes::mib;
        assert_eq!(largest(None, Some(mib(32)), mib(1000)), Ok(mib(256)));
        assert_eq!(largest(None, Some(mib(32)), mib(100)), Ok(mib(100)));
        assert_eq!(largest(Some(mib(600)), None, mib(1000)), Ok(mib(600)));
        assert!(largest(Some(mib(600)), None, mib(500)).is_err() && largest(None, None, mib(7)).is_err());
    }

    #[test]
    fn a_run_leaves_half_of_what_is_available() {
        assert_eq!(may_take(Bytes::mib(100), None), Bytes::mib(50));
        assert_eq!(may_take(Bytes::mib(100), Some(Bytes::mib(80))), Bytes::mib(50));
        assert_eq!(may_take(Bytes::mib(100), Some(Bytes::mib(10))), Bytes::mib(10));
    }
}
