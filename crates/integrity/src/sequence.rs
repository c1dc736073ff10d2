//! What is asked of the device before a cut: drawn from the seed of the cut, whatever the device.

use flashscope_model::integrity::Moment;
use flashscope_stats::Rng;
use flashscope_units::{Bytes, Nanos};

/// Sizes of writes, with their shares of 20: as file systems and databases write, most of them small.
const SIZES: [(usize, Bytes); 6] = [
    (3, Bytes::SECTOR),
    (7, Bytes::kib(4)),
    (2, Bytes::kib(8)),
    (3, Bytes::kib(16)),
    (3, Bytes::kib(64)),
    (2, Bytes::kib(128)),
];
/// How often each moment is chosen, of 20.
const MOMENTS: [(usize, Moment); 5] =
    [(7, Moment::Writing), (3, Moment::Flushing), (4, Moment::AfterFlush), (3, Moment::AfterWrites), (3, Moment::Busy)];
/// Places that were written lately, of which half of all writes overwrite one.
const HOT: usize = 8;
/// Most writes that are under way at once.
const DEEPEST: usize = 4;

/// A write to be issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) at: Bytes,
    pub(crate) length: Bytes,
    pub(crate) durable: bool,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Writes that are under way together.
    Writes(Vec<Draft>),
    Flush,
    Pause(Nanos),
}

/// Draws one step after the other.
#[derive(Debug)]
pub(crate) struct Sequence {
    rng: Rng,
    start: Bytes,
    length: Bytes,
    sector: Bytes,
    hot: Vec<Bytes>,
}

impl Sequence {
    pub(crate) fn new(seed: u64, start: Bytes, length: Bytes, sector: Bytes) -> Sequence {
        Sequence { rng: Rng::new(seed), start, length, sector, hot: Vec::new() }
    }

    /// When the power shall go.
    pub(crate) fn moment(&mut self) -> Moment {
        one_of(&mut self.rng, &MOMENTS)
    }

    /// Some fifteen groups of writes, with flushes and pauses among them.
    pub(crate) fn body(&mut self) -> Vec<Step> {
        let count = 6 + self.rng.below(12);
        (0..count)
            .map(|_| match self.rng.below(20) {
                0..=3 => Step::Flush,
                4..=5 => Step::Pause(self.pause(Nanos::millis(1), Nanos::millis(800))),
                _ => Step::Writes(self.group()),
            })
            .collect()
    }

    /// Writes that are under way together.
    pub(crate) fn group(&mut self) -> Vec<Draft> {
        let count = 1 + self.rng.below(DEEPEST);
        (0..count).map(|_| self.write()).collect()
    }

    pub(crate) fn write(&mut self) -> Draft {
        let length = one_of(&mut self.rng, &SIZES).max(self.sector).min(self.length);
        let unit = length.min(Bytes::kib(4)).max(self.sector);
        let places = (self.length - length) / unit + 1;
        let anew = self.start + unit * self.rng.below(places as usize) as u64;
        let again = if self.rng.below(2) == 0 { self.hot.get(self.rng.below(HOT)).copied() } else { None };
        let at = again.map_or(anew, |hot| hot.min(self.start + self.length - length));
        if self.hot.len() == HOT {
            self.hot.remove(0);
        }
        self.hot.push(at);
        Draft { at, length, durable: self.rng.below(7) == 0 }
    }

    /// Any time between two, each order of magnitude as likely as another.
    pub(crate) fn pause(&mut self, least: Nanos, most: Nanos) -> Nanos {
        let span = (most.as_f64() / least.as_f64()).ln();
        Nanos((least.as_f64() * (self.rng.unit() * span).exp()) as u64)
    }

    /// A part of a time.
    pub(crate) fn part(&mut self, of: Nanos) -> Nanos {
        Nanos((of.as_f64() * self.rng.unit()) as u64)
    }
}

/// One of these, as often as its share says.
pub(crate) fn one_of<T: Copy>(rng: &mut Rng, all: &[(usize, T)]) -> T {
    let mut ticket = rng.below(all.iter().map(|(share, _)| share).sum());
    for (share, one) in all {
        match ticket.checked_sub(*share) {
            None => return *one,
            Some(left) => ticket = left,
        }
    }
    all[0].1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_whole_sectors_inside_and_come_again() {
        for sector in [Bytes::SECTOR, Bytes::kib(4)] {
            let (start, length) = (Bytes::mib(8), Bytes::mib(2));
            let mut sequence = Sequence::new(7, start, length, sector);
            let mut places = std::collections::BTreeSet::new();
            let drawn: Vec<Draft> = (0..2000).map(|_| sequence.write()).collect();
            for write in &drawn {
                assert!(write.at >= start && write.at + write.length <= start + length, "{write:?}");
                assert!(write.at.is_multiple_of(sector) && write.length.is_multiple_of(sector), "{write:?}");
                places.insert(write.at);
            }
            assert!(places.len() < 1400, "{} places", places.len());
        }
    }

    #[test]
    fn the_same_seed_draws_the_same() {
        let drawn = |seed| {
            let mut sequence = Sequence::new(seed, Bytes::ZERO, Bytes::mib(1), Bytes::SECTOR);
            (sequence.moment(), sequence.body())
        };
        assert_eq!(drawn(3), drawn(3));
        assert_ne!(drawn(3), drawn(4));
    }
}
