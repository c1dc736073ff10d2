//! Which reads of a set meet in one unit, if chunks of the addresses are dealt out to units in turn, and when the last is done.

use flashscope_model::observation::ParallelData;
use flashscope_model::plan::Fan;
use flashscope_units::Bytes;

/// Chunks that go to the units in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Length of a chunk.
    pub(super) chunk: Bytes,
    /// Number of units.
    pub(super) units: u32,
    /// What the controller keeps of one read for those that come next: they wait for it, and for no unit.
    pub(super) line: Option<Bytes>,
}

/// Whether sets of reads are those of [`channels`](super::channels).
pub(super) fn is_pairs(data: &ParallelData) -> bool {
    let farthest = data.fans.iter().map(|fan| fan.fan.stride).max();
    data.fans.iter().all(|fan| fan.fan.reads <= 2 && Some(fan.fan.align) == farthest)
}

/// Places of the first read that the mean is taken over, spread evenly over what they can be.
const FIRST_PLACES: u64 = 10;

/// Multiples of this share of a range fall evenly over it.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// Greatest common divisor of two sizes.
fn common(one: Bytes, other: Bytes) -> u64 {
    let (mut one, mut other) = (one.get(), other.get());
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one.max(1)
}

impl Layout {
    /// After this many bytes the same unit comes again.
    pub(super) fn stripe(self) -> Bytes {
        self.chunk * u64::from(self.units)
    }

    /// Which reads of a set meet in one unit.
    pub(super) fn meetings(self, fan: Fan) -> Meetings {
        // Places repeat with the stripe and with what is kept of a read.
        let period = self.line.map_or(self.stripe(), |line| self.stripe() * (line.get() / common(line, self.stripe())));
        let choices = (period.get() / fan.align.get().max(1)).max(1);
        let places = choices.min(FIRST_PLACES);
        // A step that shares nothing with sizes of powers of two spreads them over all that a place can be in a chunk.
        let step = if choices > places { (choices as f64 * GOLDEN) as u64 | 1 } else { 1 };
        let mut last = vec![None; self.units as usize];
        let sets = (0..places).map(|place| {
            last.fill(None);
            let first = fan.align * (place * step % choices);
            let mut waits = Vec::with_capacity(fan.reads as usize);
            let mut kept = None;
            for read in 0..u64::from(fan.reads) {
                let at = first + fan.stride * read;
                let line = self.line.map(|line| at / line);
                if line.is_none() || line != kept {
                    let unit = ((at / self.chunk) % u64::from(self.units)) as usize;
                    waits.push(last[unit].replace(waits.len()));
                }
                kept = line;
            }
            waits
        });
        Meetings(sets.collect())
    }
}

/// For each place where the first read of a set may lie, the reads that go to units, each with the one before it in its unit.
pub(super) struct Meetings(Vec<Vec<Option<usize>>>);

impl Meetings {
    /// When the last read is done, in units of what one takes in its unit, if they reach the units this far apart; the mean
    /// over the places.
    pub(super) fn done(&self, apart: f64) -> f64 {
        let mut ends: Vec<f64> = Vec::new();
        let mut of = |waits: &Vec<Option<usize>>| {
            ends.clear();
            for (read, before) in waits.iter().enumerate() {
                let free = before.map_or(0.0, |before| ends[before]);
                ends.push(free.max(apart * read as f64) + 1.0);
            }
            ends.iter().copied().fold(0.0, f64::max)
        };
        self.0.iter().map(&mut of).sum::<f64>() / self.0.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_stripe_apart_meet_and_reads_a_chunk_apart_do_not() {
        let layout = Layout { chunk: Bytes::kib(16), units: 8, line: None };
        let load = |stride: u64, align: u64| {
            layout.meetings(Fan { reads: 8, stride: Bytes::kib(stride), align: Bytes::kib(align) }).done(0.0)
        };
        assert_eq!(layout.stripe(), Bytes::kib(128));
        assert_eq!(load(128, 4), 8.0);
        assert_eq!(load(384, 4), 8.0);
        assert_eq!(load(64, 4), 4.0);
        assert_eq!(load(16, 4), 1.0);
        assert_eq!(load(48, 4), 1.0);
        // All in one chunk where it begins at a chunk.
        assert_eq!(load(2, 16), 8.0);
        assert!(load(8, 4) >= 2.0);
    }

    #[test]
    fn reads_of_what_is_kept_wait_for_no_unit() {
        let layout = Layout { chunk: Bytes::kib(32), units: 4, line: Some(Bytes::kib(16)) };
        let load = |stride: u64, align: u64| {
            layout.meetings(Fan { reads: 8, stride: Bytes::kib(stride), align: Bytes::kib(align) }).done(0.0)
        };
        // Eight reads within two lines of one chunk …
        assert_eq!(load(4, 32), 2.0);
        // … one in each line, so that two meet in each unit …
        assert_eq!(load(16, 32), 2.0);
        // … and a stripe apart all of them.
        assert_eq!(load(128, 4), 8.0);
    }

    #[test]
    fn reads_that_come_one_after_another_wait_less() {
        let layout = Layout { chunk: Bytes::kib(64), units: 4, line: None };
        let meetings =
            |stride: u64| layout.meetings(Fan { reads: 8, stride: Bytes::kib(stride), align: Bytes::kib(4) });
        // Two in each unit: the second round comes when the first is done.
        assert_eq!(meetings(64).done(0.5), 4.5);
        // All in one: nothing is gained.
        assert_eq!(meetings(256).done(0.5), 8.0);
    }
}
