//! A simulated memory whose inside is known: caches line by line, address translation, pages laid at random, and neighbours.
//!
//! It answers by doing: every load goes through sets and ways. Large rings are simulated for every sixteenth line, which keeps
//! every sixteenth set of each cache and so its hit rates (set sampling). Where a line has several places, or brings the other one of
//! its pair, all places of a line, or of a pair, are kept.

mod cache;
mod draw;

pub(crate) use cache::OneSet;
pub use cache::Policy;
pub use draw::draw;

use crate::course::Course;
use crate::question::{Memory, Question};
use cache::Cache;
use flashscope_model::memory::{Chase, Pages, Route};
use flashscope_stats::Rng;
use flashscope_stats::rng::mix;
use std::convert::Infallible;

/// A data cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheModel {
    /// Bytes.
    pub size: u64,
    /// Ways of a set.
    pub ways: u64,
    /// Time of a load that it serves, in nanoseconds.
    pub latency_ns: f64,
    /// Which line makes room.
    pub policy: Policy,
    /// Whether only lines that the level before it gave up are in it.
    pub is_victim: bool,
    /// Whether its sets are chosen by a hash of the address.
    pub hashed: bool,
}

/// A level of the translation buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TlbModel {
    /// Small pages.
    pub entries: u64,
    /// Huge pages.
    pub huge_entries: u64,
    /// Ways of a set.
    pub ways: u64,
    /// What a load takes longer that this level does not serve, in nanoseconds, all levels together.
    pub miss_ns: f64,
}

/// All that is known of a simulated memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Caches, the first first.
    pub caches: Vec<CacheModel>,
    /// Bytes of a line.
    pub line: u64,
    /// Translation, the first level first.
    pub tlb: Vec<TlbModel>,
    /// Time of a load that no cache serves, in nanoseconds.
    pub memory_ns: f64,
    /// Bytes of a small page.
    pub page: u64,
    /// Whether there are huge pages.
    pub huge: bool,
    /// Whether a line that is missed brings the other one of its pair into the second cache.
    pub pairs: bool,
    /// Relative noise of a stretch of loads.
    pub noise: f64,
    /// Share of stretches that something else disturbs.
    pub disturbed: f64,
    /// Chance of each load that a neighbour takes a line of the last cache.
    pub neighbours: f64,
}

/// Loads before the measured ones, and measured ones, at most.
const WARMING: u64 = 600_000;
const MEASURED: u64 = 150_000;
/// Stretches of an answer.
const STRETCHES: usize = 9;
/// Rings of at least so many bytes are simulated for every [`SAMPLED`]th line.
const LARGE: u64 = 256 << 10;
const SAMPLED: u64 = 16;
/// Bytes of a huge page.
const HUGE: u64 = 2 << 20;

/// A memory that was built by a model.
#[derive(Debug)]
pub struct Simulated {
    model: Model,
    rng: Rng,
    seed: u64,
}

impl Simulated {
    /// By this model; `seed` decides where pages lie and what is noise.
    pub fn new(model: Model, seed: u64) -> Simulated {
        Simulated { model, rng: Rng::new(seed), seed }
    }
}

/// Which places of a ring are simulated.
struct Sample {
    /// Bytes between two places of the ring that is walked.
    spacing: u64,
    /// Of that, only the first so many of [`SAMPLED`] lines are loaded.
    kept: Option<u64>,
    /// Share of the places.
    share: f64,
}

impl Simulated {
    fn sample(&self, question: &Question) -> Sample {
        let (spacing, line) = (question.spacing.get(), self.model.line);
        if !matches!(question.route, Route::Random | Route::ByPage) || question.span.get() < LARGE {
            return Sample { spacing, kept: None, share: 1.0 };
        }
        let together = if self.model.pairs { 2 } else { 1 };
        match spacing >= together * line {
            true => Sample { spacing: SAMPLED * line, kept: None, share: spacing as f64 / (SAMPLED * line) as f64 },
            false => Sample { spacing, kept: Some(together), share: together as f64 / SAMPLED as f64 },
        }
    }
}

impl Memory for Simulated {
    type Error = Infallible;

    fn chase(&mut self, question: &Question) -> Result<Chase, Infallible> {
        let Question { route, span, spacing, pages } = *question;
        let sample = self.sample(question);
        let course = Course::new(route, span.get(), sample.spacing, self.model.page);
        let huge = pages == Pages::Huge && self.model.huge;
        let mut inside = Inside::new(&self.model, huge, self.rng.unit());
        // Of a page that is visited whole, fewer loads are simulated for each translation.
        let weight = if route == Route::ByPage { sample.share } else { 1.0 };
        let real = Course::new(route, span.get(), spacing.get(), self.model.page);
        let places = (real.places() as f64 * sample.share) as u64;
        let warming = (2 * places).min(WARMING);
        let measured = places.clamp(4096, MEASURED);
        let (mut place, mut total, mut number) = (0, 0.0, 0);
        while number < warming + measured {
            let at = course.offset(place);
            place = course.next(place);
            if sample.kept.is_some_and(|kept| at / self.model.line % SAMPLED >= kept) {
                continue;
            }
            let took = inside.load(at, weight, self.seed, &mut self.rng);
            if number >= warming {
                total += took;
            }
            number += 1;
        }
        let mean = total / measured as f64;
        let stretch = |_| {
            let noise = 1.0 + self.model.noise * self.rng.normal();
            let other = if self.rng.unit() < self.model.disturbed { 1.0 + self.rng.unit() } else { 1.0 };
            mean * noise.max(0.5) * other
        };
        let times_ns = (0..STRETCHES).map(stretch).collect();
        Ok(Chase { route, span, spacing, places: real.places(), pages, huge: f64::from(u8::from(huge)), times_ns })
    }
}

/// The state of one chase.
struct Inside<'a> {
    model: &'a Model,
    caches: Vec<Cache>,
    tlb: Vec<Cache>,
    huge: bool,
    /// Decides which frames this chase has.
    frames: u64,
}

impl<'a> Inside<'a> {
    fn new(model: &'a Model, huge: bool, chance: f64) -> Inside<'a> {
        let cache = |cache: &CacheModel| Cache::new(cache.size / model.line, cache.ways, cache.policy, cache.hashed);
        let tlb = |tlb: &TlbModel| {
            let entries = if huge { tlb.huge_entries } else { tlb.entries };
            Cache::new(entries, tlb.ways.min(entries), Policy::Lru, false)
        };
        Inside {
            model,
            caches: model.caches.iter().map(cache).collect(),
            tlb: model.tlb.iter().map(tlb).collect(),
            huge,
            frames: chance.to_bits(),
        }
    }

    /// The time of a load at this address.
    fn load(&mut self, address: u64, translation: f64, seed: u64, rng: &mut Rng) -> f64 {
        let page = if self.huge { HUGE } else { self.model.page };
        let number = address / page;
        let frame = mix(number ^ seed ^ self.frames) >> 36;
        let line = (frame * page + address % page) / self.model.line;
        let mut took = self.translate(number) * translation;
        took += self.serve(line, rng);
        if self.model.neighbours > 0.0 && rng.unit() < self.model.neighbours {
            self.caches.last_mut().expect("there is a cache").forget(rng);
        }
        took
    }

    fn translate(&mut self, page: u64) -> f64 {
        let mut late = 0.0;
        let mut served = self.tlb.len();
        for (level, tlb) in self.tlb.iter_mut().enumerate() {
            if tlb.touch(page) {
                served = level;
                break;
            }
            late = self.model.tlb[level].miss_ns;
        }
        for tlb in &mut self.tlb[..served] {
            tlb.put(page, &mut Rng::new(page));
        }
        late
    }

    fn serve(&mut self, line: u64, rng: &mut Rng) -> f64 {
        let served = self.caches.iter_mut().position(|cache| cache.touch(line));
        let levels = self.caches.len();
        let to = served.unwrap_or(levels);
        if to == 0 {
            return self.model.caches[0].latency_ns;
        }
        if served == Some(levels - 1) && self.model.caches[levels - 1].is_victim {
            self.caches[levels - 1].take(line);
        }
        self.bring(line, to, rng);
        if self.model.pairs && to > 1 {
            let other = line ^ 1;
            let known = self.caches.get_mut(1).is_some_and(|cache| cache.touch(other));
            if !known && levels > 1 {
                self.caches[1].put(other, rng);
            }
        }
        served.map_or(self.model.memory_ns, |level| self.model.caches[level].latency_ns)
    }

    /// Brings a line into all caches before `to`; what a victim cache's forerunner gives up goes there.
    fn bring(&mut self, line: u64, to: usize, rng: &mut Rng) {
        let levels = self.caches.len();
        for level in 0..to {
            let is_victim = level > 0 && self.model.caches[level].is_victim;
            if is_victim {
                continue;
            }
            let gone = self.caches[level].put(line, rng);
            let next_is_victim = level + 1 == levels - 1 && self.model.caches[levels - 1].is_victim;
            if let (Some(gone), true) = (gone, next_is_victim) {
                self.caches[levels - 1].put(gone, rng);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_units::Bytes;

    fn model() -> Model {
        let cache = |size, ways, latency_ns| CacheModel {
            size,
            ways,
            latency_ns,
            policy: Policy::Lru,
            is_victim: false,
            hashed: false,
        };
        Model {
            caches: vec![cache(32 << 10, 8, 1.0), cache(512 << 10, 8, 4.0)],
            line: 64,
            tlb: vec![
                TlbModel { entries: 64, huge_entries: 32, ways: 64, miss_ns: 2.0 },
                TlbModel { entries: 1024, huge_entries: 1024, ways: 8, miss_ns: 12.0 },
            ],
            memory_ns: 90.0,
            page: 4096,
            huge: true,
            pairs: false,
            noise: 0.0,
            disturbed: 0.0,
            neighbours: 0.0,
        }
    }

    fn time(route: Route, span: u64, spacing: u64, pages: Pages) -> f64 {
        let question = Question { route, span: Bytes(span), spacing: Bytes(spacing), pages };
        Simulated::new(model(), 1).chase(&question).unwrap().times_ns[0]
    }

    #[test]
    fn loads_take_what_the_level_takes_that_holds_them() {
        let at = |span| time(Route::Random, span, 64, Pages::Huge);
        assert_eq!([at(16 << 10), at(32 << 10)], [1.0, 1.0]);
        // An order that comes round again and a cache that forgets the oldest: nothing is found.
        assert_eq!([at(64 << 10), at(256 << 10), at(512 << 10)], [4.0, 4.0, 4.0]);
        assert_eq!(at(4 << 20), 90.0);
    }

    #[test]
    fn translation_shows_with_one_place_a_page() {
        let at = |pages: u64| time(Route::PerPage, pages << 12, 64, Pages::Small);
        assert_eq!(at(64), 1.0);
        assert_eq!(at(256), 3.0);
        let beyond = at(2048);
        assert!((13.0..17.5).contains(&beyond), "{beyond}");
    }

    #[test]
    fn the_second_of_a_pair_is_in_the_same_line() {
        let at = |distance| time(Route::Pairs, 128 << 10, distance, Pages::Huge);
        assert_eq!([at(8), at(32), at(64), at(512)], [2.5, 2.5, 4.0, 4.0]);
    }

    #[test]
    fn caches_are_as_large_whatever_a_line_has() {
        for (line, pairs, hashed) in [(32, false, true), (64, true, false), (64, true, true), (128, false, true)] {
            let mut model = Model { line, pairs, ..model() };
            model.caches[1] = CacheModel { size: 4 << 20, ways: 16, hashed, ..model.caches[1] };
            let at = |span: u64, spacing: u64| {
                let question =
                    Question { route: Route::Random, span: Bytes(span), spacing: Bytes(spacing), pages: Pages::Huge };
                Simulated::new(model.clone(), 1).chase(&question).unwrap().times_ns[0]
            };
            let spacing = line.max(64);
            assert!(at(2 << 20, spacing) < 8.0, "line {line}: {}", at(2 << 20, spacing));
            assert!(at(16 << 20, spacing) > 60.0, "line {line}: {}", at(16 << 20, spacing));
            // Two places of a line: the second one is found at times.
            assert!(at(8 << 20, 64) <= at(8 << 20, spacing) + 2.0, "line {line}");
        }
    }

    #[test]
    fn small_pages_lie_anywhere_so_that_a_cache_fills_unevenly() {
        let small = time(Route::ByPage, 512 << 10, 64, Pages::Small);
        assert!((5.0..80.0).contains(&small), "{small}");
    }
}
