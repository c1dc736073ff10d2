//! What is written where, kept as runs of equal fill: a fill from start to end is one entry, and random writes
//! of one generation melt together again when they meet.

use flashscope_device::{Content, Fill};
use flashscope_units::Bytes;
use std::collections::BTreeMap;

/// What a run of blocks holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// Never written, or discarded.
    Erased,
    /// What a write brought.
    Written(Fill),
    /// What a write brought that was addressed to another place: this many bytes further on (modulo 2^64). Never tagged
    /// bytes at their own place, and never a byte that is the same at every place.
    Shifted(Fill, u64),
    /// Bytes that nobody wrote.
    Garbage,
}

impl Held {
    /// What a write addressed to `addressed` brought, where it lies at `at`.
    pub(crate) fn brought(fill: Fill, addressed: Bytes, at: Bytes) -> Held {
        match fill {
            Fill::Tagged { .. } if addressed != at => Held::Shifted(fill, addressed.get().wrapping_sub(at.get())),
            _ => Held::Written(fill),
        }
    }

    /// The same bytes, as they are to be seen where they lie at `to` and not at `from`.
    pub(crate) fn moved(self, from: Bytes, to: Bytes) -> Held {
        match self {
            Held::Written(fill) => Held::brought(fill, from, to),
            Held::Shifted(fill, shift) => Held::brought(fill, Bytes(from.get().wrapping_add(shift)), to),
            Held::Erased | Held::Garbage => self,
        }
    }
}

/// The content of a device.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    /// Start of each run; it ends where the next one starts. Never empty: a run starts at 0.
    runs: BTreeMap<u64, Held>,
    capacity: u64,
    erased_byte: u8,
}

impl Contents {
    /// `first` from start to end.
    pub(crate) fn new(capacity: Bytes, erased_byte: u8, first: Held) -> Contents {
        Contents { runs: BTreeMap::from([(0, first)]), capacity: capacity.get(), erased_byte }
    }

    /// Sets a range.
    pub(crate) fn set(&mut self, start: Bytes, length: Bytes, held: Held) {
        if length == Bytes::ZERO {
            return;
        }
        let (start, end) = (start.get(), (start + length).get());
        // From the end backwards: the run that goes on behind the range, those that begin within it, and the one before it.
        let mut touched = self.runs.range(..=end).rev();
        let (last, behind) = touched.next().map_or((0, Held::Erased), |(&at, &held)| (at, held));
        let mut within: Vec<u64> = Vec::new();
        let mut before = (last < start).then_some(behind);
        if last >= start {
            within.extend((last < end).then_some(last));
            for (&at, &held) in touched {
                if at < start {
                    before = Some(held);
                    break;
                }
                within.push(at);
            }
        }
        let (begins, goes_on) = (before != Some(held), end < self.capacity && behind != held);
        for at in within.iter().filter(|at| **at > start || !begins) {
            self.runs.remove(at);
        }
        if begins {
            self.runs.insert(start, held);
        }
        match goes_on {
            true if last != end => _ = self.runs.insert(end, behind),
            false if last == end => _ = self.runs.remove(&end),
            _ => {}
        }
    }

    /// What a read of the range finds.
    pub(crate) fn content(&self, start: Bytes, length: Bytes) -> Content {
        let mut found = None;
        for held in self.over(start, length) {
            let byte = match held {
                Held::Erased => self.erased_byte,
                Held::Written(Fill::Byte(byte)) => byte,
                Held::Written(Fill::Tagged { .. }) | Held::Shifted(..) | Held::Garbage => return Content::Varied,
            };
            if found.is_some_and(|earlier| earlier != byte) {
                return Content::Varied;
            }
            found = Some(byte);
        }
        found.map_or(Content::Unknown, Content::Uniform)
    }

    /// Whether the whole range holds what a write of `fill` to `addressed` would have brought there.
    pub(crate) fn matches(&self, start: Bytes, length: Bytes, fill: Fill, addressed: Bytes) -> bool {
        let expected = Held::brought(fill, addressed, start);
        self.over(start, length).all(|held| match (held, fill) {
            (held, _) if held == expected => true,
            (Held::Erased, Fill::Byte(byte)) => byte == self.erased_byte,
            _ => false,
        })
    }

    /// The runs of a range, each with its length.
    pub(crate) fn runs(&self, start: Bytes, length: Bytes) -> impl Iterator<Item = (Bytes, Held)> {
        let (start, end) = (start.get(), (start + length).get());
        let inner = self.runs.range(start + 1..end.max(start + 1)).map(|(&at, _)| at);
        let starts: Vec<u64> = std::iter::once(start).chain(inner).chain([end]).collect();
        (1..starts.len()).map(move |i| (Bytes(starts[i] - starts[i - 1]), self.at(starts[i - 1])))
    }

    /// All runs, each with its length; a copy of [`Contents`] is made of them by setting one after the other.
    pub(crate) fn all(&self) -> Vec<(u64, Held)> {
        let ends = self.runs.keys().skip(1).copied().chain([self.capacity]);
        self.runs.iter().zip(ends).map(|((start, held), end)| (end - start, *held)).collect()
    }

    /// How far it reaches.
    pub(crate) fn capacity(&self) -> Bytes {
        Bytes(self.capacity)
    }

    /// What an erased place reads as.
    pub(crate) fn erased_byte(&self) -> u8 {
        self.erased_byte
    }

    fn over(&self, start: Bytes, length: Bytes) -> impl Iterator<Item = Held> {
        let end = (start + length).get();
        let first = self.at(start.get());
        std::iter::once(first).chain(self.runs.range(start.get() + 1..end.max(start.get() + 1)).map(|(_, &held)| held))
    }

    fn at(&self, position: u64) -> Held {
        self.runs.range(..=position).next_back().map_or(Held::Erased, |(_, &held)| held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Held = Held::Written(Fill::Tagged { generation: 1 });
    const B: Held = Held::Written(Fill::Byte(0x5a));

    #[test]
    fn equal_neighbours_melt_together() {
        let mut contents = Contents::new(Bytes(100), 0xff, Held::Erased);
        contents.set(Bytes(0), Bytes(10), A);
        contents.set(Bytes(20), Bytes(10), A);
        assert_eq!(contents.runs.len(), 4);
        contents.set(Bytes(10), Bytes(10), A);
        assert_eq!(contents.runs.len(), 2);
        contents.set(Bytes(30), Bytes(70), A);
        assert_eq!(contents.runs.len(), 1);
    }

    #[test]
    fn what_is_set_anywhere_is_as_if_each_place_were_kept() {
        let mut rng = flashscope_stats::Rng::new(5);
        let mut contents = Contents::new(Bytes(40), 0xff, Held::Erased);
        let mut each = [Held::Erased; 40];
        for _ in 0..3000 {
            let start = rng.below(40);
            let length = 1 + rng.below(40 - start);
            let held = [A, B, Held::Erased][rng.below(3)];
            contents.set(Bytes(start as u64), Bytes(length as u64), held);
            each[start..start + length].fill(held);
            assert!((0..40).all(|at| contents.at(at as u64) == each[at]));
            // Neighbours differ, or they would be one run.
            assert_eq!(contents.runs.len(), 1 + each.windows(2).filter(|pair| pair[0] != pair[1]).count());
        }
    }

    #[test]
    fn tells_what_it_holds() {
        let mut contents = Contents::new(Bytes(100), 0xff, Held::Erased);
        contents.set(Bytes(40), Bytes(20), B);
        assert_eq!(contents.content(Bytes(0), Bytes(40)), Content::Uniform(0xff));
        assert_eq!(contents.content(Bytes(40), Bytes(20)), Content::Uniform(0x5a));
        assert_eq!(contents.content(Bytes(39), Bytes(2)), Content::Varied);
        assert!(contents.matches(Bytes(45), Bytes(5), Fill::Byte(0x5a), Bytes(45)));
        assert!(!contents.matches(Bytes(45), Bytes(16), Fill::Byte(0x5a), Bytes(45)));
        contents.set(Bytes(45), Bytes(5), A);
        assert_eq!(contents.content(Bytes(44), Bytes(3)), Content::Varied);
        assert!(contents.matches(Bytes(50), Bytes(10), Fill::Byte(0x5a), Bytes(50)));
        assert!(contents.matches(Bytes(45), Bytes(5), Fill::Tagged { generation: 1 }, Bytes(45)));
        assert!(!contents.matches(Bytes(45), Bytes(5), Fill::Tagged { generation: 2 }, Bytes(45)));
    }
}
