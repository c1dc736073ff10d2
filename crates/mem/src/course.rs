//! In which order a chase visits its places: rings that can be laid place by place without a table, and that no prefetcher follows.

use flashscope_model::memory::Route;

/// A permutation of `0..count` that is a single ring, worked out place by place.
///
/// A linear congruential generator modulo a power of two has its full period where the factor is one more than a multiple of four
/// and the increment odd (Hull and Dobell, SIAM Review 4, 1962). Its low bits are regular, so that the high ones are folded into
/// them, and numbers beyond the count are passed over, which leaves a single ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    count: u64,
    bits: u32,
}

impl Ring {
    /// Of so many places, at least one.
    pub fn new(count: u64) -> Ring {
        let count = count.max(1);
        Ring { count, bits: u64::BITS - (count - 1).leading_zeros() }
    }

    /// The place behind this one.
    pub fn next(&self, place: u64) -> u64 {
        const FACTOR: u64 = 0x5851_F42D_4C95_7F2D;
        const INCREMENT: u64 = 0x1405_7B7E_F767_814F;
        let mask = (1u64 << self.bits) - 1;
        // Undone by itself.
        let fold = |value: u64| value ^ (value >> self.bits.div_ceil(2).max(1));
        let mut at = place;
        loop {
            at = fold(fold(at).wrapping_mul(FACTOR).wrapping_add(INCREMENT) & mask);
            if at < self.count {
                return at;
            }
        }
    }
}

/// A chase as a ring over bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    route: Route,
    /// Places, and where each begins.
    places: u64,
    spacing: u64,
    /// Places of a page, or of a block.
    inner: u64,
    page: u64,
    outer_ring: Ring,
    inner_ring: Ring,
}

/// Bytes of the blocks of [`Route::Pairs`]: more than any cache line, so that two blocks never share one.
pub const BLOCK: u64 = 1024;
/// Bytes of a line where nobody knows; places of [`Route::PerPage`] are multiples of it, so that they spread over all sets of a
/// cache.
pub const LINE: u64 = 64;

impl Course {
    /// Over `span` bytes with places `spacing` apart. `page` is the size of a small page.
    pub fn new(route: Route, span: u64, spacing: u64, page: u64) -> Course {
        let spacing = spacing.max(8);
        let (outer, inner) = match route {
            Route::Random => (span / spacing, 1),
            Route::ByPage => (span / page, page / spacing),
            Route::PerPage => (span / page, 1),
            Route::Pairs => (span / BLOCK, 2),
        };
        let (outer, inner) = (outer.max(1), inner.max(1));
        Course {
            route,
            places: outer * inner,
            spacing,
            inner,
            page,
            outer_ring: Ring::new(outer),
            inner_ring: Ring::new(inner),
        }
    }

    /// Places that are visited before the first comes again.
    pub fn places(&self) -> u64 {
        self.places
    }

    /// The place behind this one.
    pub fn next(&self, place: u64) -> u64 {
        let (outer, inner) = (place / self.inner, place % self.inner);
        match self.inner_ring.next(inner) {
            // All of the page were visited.
            0 => self.outer_ring.next(outer) * self.inner,
            inner => outer * self.inner + inner,
        }
    }

    /// Where a place begins, in bytes from the start.
    pub fn offset(&self, place: u64) -> u64 {
        let (outer, inner) = (place / self.inner, place % self.inner);
        match self.route {
            Route::Random => outer * self.spacing,
            // Each page in another order than the one before.
            Route::ByPage => outer * self.page + (inner + 11 * outer) % self.inner * self.spacing,
            Route::PerPage => outer * self.page + outer * LINE % self.page,
            Route::Pairs => outer * BLOCK + inner * self.spacing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_ring_visits_every_place_once() {
        for count in [1, 2, 3, 5, 8, 63, 64, 100, 1000, 4096, 5000] {
            let ring = Ring::new(count);
            let (mut at, mut seen) = (0, BTreeSet::new());
            while seen.insert(at) {
                at = ring.next(at);
            }
            assert_eq!((at, seen.len() as u64), (0, count), "{count}");
        }
    }

    #[test]
    fn steps_of_a_large_ring_are_neither_short_nor_alike() {
        let ring = Ring::new(1 << 14);
        let (mut at, mut short, mut steps) = (0u64, 0, BTreeSet::new());
        for _ in 0..1000 {
            let next = ring.next(at);
            short += u32::from(next.abs_diff(at) < 8);
            steps.insert(next.wrapping_sub(at));
            at = next;
        }
        assert!(short < 10 && steps.len() > 900, "{short} {}", steps.len());
    }

    #[test]
    fn every_route_is_one_ring_over_places_of_its_own() {
        for route in [Route::Random, Route::ByPage, Route::PerPage, Route::Pairs] {
            for (span, spacing) in [(1 << 16, 64), (3 << 14, 128), (1 << 20, 32)] {
                let course = Course::new(route, span, spacing, 4096);
                let (mut at, mut seen, mut offsets) = (0, 0, BTreeSet::new());
                loop {
                    assert!(offsets.insert(course.offset(at)), "{route:?}");
                    assert!(course.offset(at) + 8 <= span, "{route:?}");
                    (at, seen) = (course.next(at), seen + 1);
                    if at == 0 {
                        break;
                    }
                }
                assert_eq!(seen, course.places(), "{route:?}");
            }
        }
    }

    #[test]
    fn by_page_stays_in_a_page_until_it_is_done() {
        let course = Course::new(Route::ByPage, 16 << 12, 64, 4096);
        let (mut at, mut changes) = (0, 0);
        for _ in 0..course.places() {
            let next = course.next(at);
            changes += u32::from(course.offset(next) / 4096 != course.offset(at) / 4096);
            at = next;
        }
        assert_eq!(changes, 16);
    }

    #[test]
    fn the_second_of_a_pair_follows_the_first() {
        let course = Course::new(Route::Pairs, 64 << 10, 32, 4096);
        let mut at = 0;
        for _ in 0..64 {
            assert_eq!(course.offset(course.next(at)), course.offset(at) + 32);
            at = course.next(course.next(at));
        }
        assert_eq!(at, 0);
    }
}
