//! When a thing that serves one at a time (a channel, a direction of the link) is taken.

use flashscope_units::{Instant, Nanos};
use std::collections::VecDeque;

/// Reserved intervals: sorted, disjoint, neighbours joined. A reservation takes the first gap that is long enough, so a
/// transfer planned for later does not keep an earlier one waiting.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline {
    busy: VecDeque<(Instant, Instant)>,
}

impl Timeline {
    /// Takes the first `length` that is free from `at` on; says where it starts and ends.
    pub(super) fn reserve(&mut self, at: Instant, length: Nanos) -> (Instant, Instant) {
        if length == Nanos::ZERO {
            return (at, at);
        }
        let mut index = match self.busy.back() {
            Some(&(_, end)) if end > at => self.busy.partition_point(|&(_, end)| end <= at),
            _ => self.busy.len(),
        };
        let mut start = at;
        while let Some(&(taken, until)) = self.busy.get(index)
            && start + length > taken
        {
            start = start.max(until);
            index += 1;
        }
        self.insert(index, start, start + length);
        (start, start + length)
    }

    /// Forgets what ended by `floor`: nobody will ask for a time before it.
    pub(super) fn forget(&mut self, floor: Instant) {
        while self.busy.front().is_some_and(|&(_, end)| end <= floor) {
            self.busy.pop_front();
        }
    }

    /// Whether the intervals are in order and disjoint.
    pub(super) fn is_sound(&self) -> bool {
        let each = self.busy.iter().all(|(start, end)| start < end);
        each && self.busy.iter().zip(self.busy.iter().skip(1)).all(|(a, b)| a.1 < b.0)
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.busy.capacity() * size_of::<(Instant, Instant)>()
    }

    /// Puts `start .. end` before `index`, joined with neighbours that it touches.
    fn insert(&mut self, index: usize, start: Instant, end: Instant) {
        let before = index > 0 && self.busy[index - 1].1 == start;
        let after = self.busy.get(index).is_some_and(|next| next.0 == end);
        match (before, after) {
            (true, true) => {
                self.busy[index - 1].1 = self.busy[index].1;
                self.busy.remove(index);
            }
            (true, false) => self.busy[index - 1].1 = end,
            (false, true) => self.busy[index].0 = start,
            (false, false) => self.busy.insert(index, (start, end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_later_reservation_leaves_the_time_before_it_free() {
        let mut line = Timeline::default();
        assert_eq!(line.reserve(Instant(100), Nanos(10)), (Instant(100), Instant(110)));
        assert_eq!(line.reserve(Instant(0), Nanos(100)), (Instant(0), Instant(100)));
        assert_eq!(line.reserve(Instant(50), Nanos(1)), (Instant(110), Instant(111)));
        assert_eq!(line.busy.len(), 1);
        line.forget(Instant(111));
        assert_eq!(line.busy.len(), 0);
    }

    proptest! {
        #[test]
        fn nothing_is_taken_twice(wishes in prop::collection::vec((0u64..500, 0u64..20), 0..100)) {
            let mut line = Timeline::default();
            let mut taken = [false; 4000];
            for (at, length) in wishes {
                let (start, end) = line.reserve(Instant(at), Nanos(length));
                prop_assert!(start >= Instant(at) && end == start + Nanos(length));
                // The first gap: no earlier start would have been free.
                for earlier in at..start.0 {
                    prop_assert!((earlier..earlier + length).any(|t| taken[t as usize]));
                }
                for t in start.0..end.0 {
                    prop_assert!(!taken[t as usize]);
                    taken[t as usize] = true;
                }
                prop_assert!(line.is_sound());
            }
        }
    }
}
