//! Where the next request goes, how large it is and whether it reads: the drawing of places.
//!
//! One [`Chooser`] serves one worker. Everything that can be worked out before the first request is; a choice costs a few
//! nanoseconds and allocates nothing. The same seed gives the same requests.

mod permutation;
mod zipf;

use crate::job::{Job, Pattern, Sizes};
use flashscope_stats::Rng;
pub use permutation::Permutation;
use permutation::Scatter;
use zipf::Zipf;

/// What the next request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Whether it reads.
    pub read: bool,
    /// Position on the target in bytes.
    pub offset: u64,
    /// Size in bytes.
    pub length: u32,
}

/// Draws requests.
#[derive(Clone, Debug)]
pub struct Chooser {
    rng: Rng,
    /// Reads are drawn below this, of 2^32; both ends are certain.
    read_below: u64,
    start: u64,
    length: u64,
    align: u64,
    walk: Walk,
    sizes: [Drawn; 2],
    cursors: [Cursor; 2],
}

#[derive(Clone, Debug)]
enum Walk {
    Sequential,
    Backward,
    Strided { stride: u64 },
    Skipping { stride: u64 },
    Random,
    Once(Permutation),
    Zipf { scatter: Scatter, tables: [Zipf; 2] },
    HotCold { hot_places: [u64; 2], hot_below: u64 },
    Pareto { scatter: Scatter, power: f64 },
    Zoned { zones: Vec<Zone> },
}

/// Where a zone ends: of draws of 2^32, and as a share of the places.
#[derive(Clone, Copy, Debug)]
struct Zone {
    below: u64,
    end: f64,
}

/// The sizes of one direction.
#[derive(Clone, Debug)]
struct Drawn {
    /// Each size, its upper bound in a draw of 2^32, and how many places there are for it.
    sizes: Vec<(u32, u64, u64)>,
    only: Option<(u32, u64)>,
}

/// How far a walk has come.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    at: u64,
    shift: u64,
}

const READ: usize = 0;
const WRITE: usize = 1;

impl Chooser {
    /// Draws the requests of `job` within `length` bytes from `start`, of which there is room for the largest request;
    /// `job` has passed [`crate::plan::resolve`].
    pub fn new(job: &Job, start: u64, length: u64, seed: u64) -> Chooser {
        let align = job.align.map_or(job.smallest().get(), |align| align.get()).max(1);
        let sizes = [Drawn::new(&job.read_sizes, length, align), Drawn::new(&job.write_sizes, length, align)];
        let mut rng = Rng::new(seed);
        let places = |direction: usize| sizes[direction].most_places();
        let walk = match job.pattern {
            Pattern::Sequential => Walk::Sequential,
            Pattern::Backward => Walk::Backward,
            Pattern::Strided { stride } => Walk::Strided { stride: stride.get() },
            Pattern::Skipping { stride } => Walk::Skipping { stride: stride.get() },
            Pattern::Random => Walk::Random,
            Pattern::RandomOnce => {
                let most = places(usize::from(!job.mix.has_reads()));
                Walk::Once(Permutation::new(most, rng.next_u64()))
            }
            Pattern::Zipf { theta } => Walk::Zipf {
                scatter: Scatter::new(places(READ).max(places(WRITE))),
                tables: [Zipf::new(places(READ), theta), Zipf::new(places(WRITE), theta)],
            },
            // A share h of the places gets what falls below 1 − h of the draws.
            Pattern::Pareto { h } => {
                Walk::Pareto { scatter: Scatter::new(places(READ).max(places(WRITE))), power: h.ln() / (1.0 - h).ln() }
            }
            Pattern::Zoned(zones) => {
                let (mut requests, mut span) = (0.0, 0.0);
                let bounds = zones.shares().iter().map(|(share, part)| {
                    (requests, span) = (requests + share, span + part);
                    Zone { below: crate::pattern::share(requests), end: span.min(1.0) }
                });
                Walk::Zoned { zones: bounds.collect() }
            }
            Pattern::HotCold { span, requests } => {
                let hot = |direction: usize| ((places(direction) as f64 * span) as u64).max(1);
                Walk::HotCold { hot_places: [hot(READ), hot(WRITE)], hot_below: share(requests) }
            }
        };
        let cursors = match job.pattern {
            Pattern::Backward => [Cursor { at: length, shift: 0 }; 2],
            _ => [Cursor::default(); 2],
        };
        Chooser { rng, read_below: share(job.mix.reads), start, length, align, walk, sizes, cursors }
    }

    /// The next request.
    #[inline]
    pub fn draw_request(&mut self) -> Choice {
        let read = match self.read_below {
            ALWAYS => true,
            0 => false,
            below => self.draw() < below,
        };
        let direction = usize::from(!read);
        let (length, places) = match self.sizes[direction].only {
            Some(only) => only,
            None => self.draw_size(direction),
        };
        let at = match self.walk {
            Walk::Random => self.below(places) * self.align,
            Walk::Sequential => self.sequential(direction, length),
            _ => self.other(direction, length, places),
        };
        Choice { read, offset: self.start + at, length }
    }

    #[inline]
    fn sequential(&mut self, direction: usize, length: u32) -> u64 {
        let end = self.length;
        let cursor = &mut self.cursors[direction];
        if cursor.at + u64::from(length) > end {
            cursor.at = 0;
        }
        let at = cursor.at;
        cursor.at += u64::from(length);
        at
    }

    #[inline(never)]
    fn other(&mut self, direction: usize, length: u32, places: u64) -> u64 {
        let (end, align) = (self.length, self.align);
        match &mut self.walk {
            Walk::Backward => {
                let cursor = &mut self.cursors[direction];
                if cursor.at < u64::from(length) {
                    cursor.at = end;
                }
                cursor.at -= u64::from(length);
                cursor.at
            }
            Walk::Strided { stride } => strided(&mut self.cursors[direction], u64::from(length), *stride, end),
            Walk::Skipping { stride } => {
                let cursor = &mut self.cursors[direction];
                if cursor.at + u64::from(length) > end {
                    cursor.at = 0;
                }
                let at = cursor.at;
                cursor.at += *stride;
                at
            }
            Walk::Once(permutation) => permutation.next() * align,
            Walk::Zipf { scatter, tables } => {
                let rank = tables[direction].draw(&mut self.rng);
                scatter.place(rank, places) * align
            }
            Walk::HotCold { hot_places, hot_below } => {
                let (hot, below) = (hot_places[direction].min(places), *hot_below);
                let place = if hot == places || self.rng.next_u64() >> 32 < below {
                    below_bound(&mut self.rng, hot)
                } else {
                    hot + below_bound(&mut self.rng, places - hot)
                };
                place * align
            }
            Walk::Pareto { scatter, power } => {
                let rank = (self.rng.unit().powf(*power) * places as f64) as u64;
                scatter.place(rank.min(places - 1), places) * align
            }
            Walk::Zoned { zones } => {
                let draw = self.rng.next_u64() >> 32;
                let zone = zones.partition_point(|zone| zone.below <= draw).min(zones.len() - 1);
                let at = |share: f64| (share * places as f64) as u64;
                let start = if zone == 0 { 0 } else { at(zones[zone - 1].end) };
                let end = at(zones[zone].end).clamp(start + 1, places.max(start + 1));
                (start + below_bound(&mut self.rng, end - start)).min(places - 1) * align
            }
            Walk::Random | Walk::Sequential => unreachable!("handled by the caller"),
        }
    }

    fn draw_size(&mut self, direction: usize) -> (u32, u64) {
        let draw = self.draw();
        let sizes = &self.sizes[direction].sizes;
        let found = sizes.get(sizes.partition_point(|(_, below, _)| *below <= draw)).or(sizes.last());
        found.map_or((0, 0), |(size, _, places)| (*size, *places))
    }

    #[inline]
    fn below(&mut self, bound: u64) -> u64 {
        below_bound(&mut self.rng, bound)
    }

    /// 32 random bits.
    #[inline]
    fn draw(&mut self) -> u64 {
        self.rng.next_u64() >> 32
    }
}

const ALWAYS: u64 = 1 << 32;

fn share(part: f64) -> u64 {
    (part.clamp(0.0, 1.0) * ALWAYS as f64).round() as u64
}

#[inline]
fn below_bound(rng: &mut Rng, bound: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(bound)) >> 64) as u64
}

impl Drawn {
    fn new(sizes: &Sizes, length: u64, align: u64) -> Drawn {
        let total: u64 = sizes.0.iter().map(|(_, weight)| u64::from(*weight)).sum();
        let places = |size: u64| length.checked_sub(size).map_or(0, |room| room / align + 1);
        let mut sum = 0;
        let drawn = sizes.0.iter().map(|(size, weight)| {
            sum += u64::from(*weight);
            (
                size.get() as u32,
                (u128::from(sum) * u128::from(ALWAYS) / u128::from(total.max(1))) as u64,
                places(size.get()),
            )
        });
        let sizes: Vec<_> = drawn.collect();
        let only = if let [(size, _, places)] = sizes[..] { Some((size, places)) } else { None };
        Drawn { sizes, only }
    }

    fn most_places(&self) -> u64 {
        self.sizes.iter().map(|(_, _, places)| *places).max().unwrap_or(0).max(1)
    }
}

fn strided(cursor: &mut Cursor, length: u64, stride: u64, end: u64) -> u64 {
    if cursor.at + length > end {
        cursor.shift += length;
        if cursor.shift >= stride || cursor.shift + length > end {
            cursor.shift = 0;
        }
        cursor.at = cursor.shift;
    }
    let at = cursor.at;
    cursor.at += stride;
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Job, Mix, Pattern, Zones};
    use flashscope_units::Bytes;
    use std::collections::HashSet;

    const PLACES: u64 = 1000;
    const SPAN: u64 = PLACES * 4096;

    fn chooser(pattern: Pattern, change: impl FnOnce(&mut Job)) -> Chooser {
        let mut job = Job::new("test");
        job.pattern = pattern;
        change(&mut job);
        Chooser::new(&job, 8192, SPAN, 7)
    }

    fn places(pattern: Pattern, count: usize) -> Vec<u64> {
        let mut chooser = chooser(pattern, |_| {});
        (0..count).map(|_| (chooser.draw_request().offset - 8192) / 4096).collect()
    }

    #[test]
    fn walks_go_where_they_say() {
        let check = |pattern, expect: &[u64]| assert_eq!(places(pattern, expect.len()), expect, "{pattern:?}");
        check(Pattern::Sequential, &[0, 1, 2, 3]);
        check(Pattern::Backward, &[999, 998, 997]);
        check(Pattern::Strided { stride: Bytes(4096 * 400) }, &[0, 400, 800, 1, 401, 801, 2]);
        check(Pattern::Skipping { stride: Bytes(4096 * 400) }, &[0, 400, 800, 0, 400]);
        assert_eq!(places(Pattern::Sequential, 1001)[1000], 0);
        assert_eq!(places(Pattern::Backward, 1001)[1000], 999);
    }

    #[test]
    fn every_walk_stays_within_the_span() {
        for pattern in [
            Pattern::Sequential,
            Pattern::Backward,
            Pattern::Strided { stride: Bytes(12345 * 512) },
            Pattern::Skipping { stride: Bytes(12345 * 512) },
            Pattern::Random,
            Pattern::Zipf { theta: 0.99 },
            Pattern::HotCold { span: 0.1, requests: 0.9 },
            Pattern::Pareto { h: 0.2 },
            Pattern::Zoned(Zones::new(&[(0.5, 0.05), (0.3, 0.15), (0.2, 0.8)]).unwrap()),
        ] {
            let mut chooser = chooser(pattern, |job| {
                job.mix = Mix { reads: 0.5 };
                job.read_sizes = Sizes(vec![(Bytes(512), 1), (Bytes(65536), 3)]);
            });
            for _ in 0..20_000 {
                let choice = chooser.draw_request();
                assert!(choice.offset >= 8192, "{pattern:?} {choice:?}");
                assert!(choice.offset + u64::from(choice.length) <= 8192 + SPAN, "{pattern:?} {choice:?}");
                assert!((choice.offset - 8192).is_multiple_of(512), "{pattern:?} {choice:?}");
            }
        }
    }

    #[test]
    fn strided_passes_reach_every_block() {
        let seen: HashSet<u64> = places(Pattern::Strided { stride: Bytes(4096 * 10) }, 1000).into_iter().collect();
        assert_eq!(seen.len(), 1000);
    }

    #[test]
    fn once_means_once_and_another_order_every_pass() {
        let drawn = places(Pattern::RandomOnce, 2000);
        let (first, second) = drawn.split_at(1000);
        for pass in [first, second] {
            assert_eq!(pass.iter().collect::<HashSet<_>>().len(), 1000);
        }
        assert_ne!(first, second);
        let in_order = first.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        assert!(in_order < 10, "{in_order} neighbours in order are no random order");
    }

    #[test]
    fn random_is_uniform_and_hot_is_hot() {
        let mut counts = vec![0u32; PLACES as usize];
        places(Pattern::Random, 100_000).iter().for_each(|place| counts[*place as usize] += 1);
        let chi2: f64 = counts.iter().map(|&count| (f64::from(count) - 100.0).powi(2) / 100.0).sum();
        assert!((820.0..1200.0).contains(&chi2), "999 degrees of freedom, standard deviation 45: {chi2}");
        let hot = places(Pattern::HotCold { span: 0.1, requests: 0.8 }, 100_000);
        let share = hot.iter().filter(|place| **place < 100).count() as f64 / 1e5;
        assert!((share - 0.8).abs() < 0.006, "{share}");
    }

    #[test]
    fn zones_get_their_shares_and_pareto_keeps_its_rule() {
        let zones = Zones::new(&[(0.5, 0.05), (0.3, 0.15), (0.2, 0.8)]).unwrap();
        let drawn = places(Pattern::Zoned(zones), 100_000);
        let share = |from: u64, to: u64| drawn.iter().filter(|place| (from..to).contains(*place)).count() as f64 / 1e5;
        for (from, to, expect) in [(0, 50, 0.5), (50, 200, 0.3), (200, 1000, 0.2)] {
            assert!((share(from, to) - expect).abs() < 0.006, "{from}..{to}: {}", share(from, to));
        }
        assert_eq!(Zones::new(&[(0.5, 0.5), (0.6, 0.5)]), None);
        assert_eq!(Zones::new(&[(0.5, 0.5), (0.5, 0.6)]), None);
        let mut counts = vec![0u32; PLACES as usize];
        places(Pattern::Pareto { h: 0.2 }, 100_000).iter().for_each(|place| counts[*place as usize] += 1);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let top = counts[..200].iter().map(|count| f64::from(*count)).sum::<f64>() / 1e5;
        assert!((top - 0.8).abs() < 0.01, "a fifth of the places gets {top}");
    }

    #[test]
    fn shares_and_weights_are_kept() {
        let mut chooser = chooser(Pattern::Random, |job| {
            job.mix = Mix { reads: 0.7 };
            job.write_sizes = Sizes(vec![(Bytes(4096), 3), (Bytes(8192), 1)]);
        });
        let drawn: Vec<Choice> = (0..100_000).map(|_| chooser.draw_request()).collect();
        let reads = drawn.iter().filter(|choice| choice.read).count() as f64 / 1e5;
        assert!((reads - 0.7).abs() < 0.006, "{reads}");
        let writes: Vec<_> = drawn.iter().filter(|choice| !choice.read).collect();
        let large = writes.iter().filter(|choice| choice.length == 8192).count() as f64 / writes.len() as f64;
        assert!((large - 0.25).abs() < 0.012, "{large}");
    }

    #[test]
    fn zipf_follows_its_law() {
        let mut counts = vec![0u32; PLACES as usize];
        places(Pattern::Zipf { theta: 0.99 }, 200_000).iter().for_each(|place| counts[*place as usize] += 1);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let harmonic: f64 = (1..=PLACES).map(|rank| (rank as f64).powf(-0.99)).sum();
        for rank in [1usize, 2, 10, 100] {
            let expect = (rank as f64).powf(-0.99) / harmonic * 200_000.0;
            let got = f64::from(counts[rank - 1]);
            assert!((got - expect).abs() < 6.0 * expect.sqrt() + 0.03 * expect, "rank {rank}: {got}, not {expect}");
        }
    }

    #[test]
    fn the_same_seed_draws_the_same() {
        assert_eq!(places(Pattern::Random, 100), places(Pattern::Random, 100));
    }
}
