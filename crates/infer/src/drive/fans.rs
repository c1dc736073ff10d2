//! Which reads of a set meet in one unit, if chunks of the addresses are dealt out to units in turn, and when the last is done.

use flashscope_model::observation::ParallelData;
use flashscope_model::plan::Fan;
use flashscope_stats::rng::mix;
use flashscope_units::Bytes;
use std::ops::Range;

/// How rows of chunks, one for each unit, follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deal {
    /// Each begins with the same unit.
    InTurn,
    /// Each begins with the next of so many channels, among which neighbours in a row take turns: the dynamic allocation of
    /// Hu, Jiang, Feng, Tian, Luo and Zhang (ICS 2011), or parity that goes round.
    Turning(u32),
    /// There are none: chunks lie wherever there was room, as after writes at random.
    Anywhere,
}

/// Chunks that go to the units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// In which order.
    pub(super) deal: Deal,
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
/// The same where chance deals: few would be chance themselves.
const FIRST_PLACES_ANYWHERE: u64 = 24;

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
    /// Whether some order says which unit a chunk is in.
    pub(super) fn is_dealt(self) -> bool {
        self.deal != Deal::Anywhere
    }

    /// A chunk for each unit.
    pub(super) fn row(self) -> Bytes {
        self.chunk * u64::from(self.units)
    }

    /// After this many bytes the same unit comes again for certain.
    pub(super) fn period(self) -> Bytes {
        match self.deal {
            Deal::InTurn | Deal::Anywhere => self.row(),
            Deal::Turning(channels) => self.row() * u64::from(channels),
        }
    }

    /// The unit of the chunk of this number, which is the chunk after so many others of its set.
    fn unit(self, chunk: u32, set: u64, others: u32) -> usize {
        let (row, column) = (chunk / self.units, chunk % self.units);
        let unit = match self.deal {
            Deal::InTurn => column,
            Deal::Turning(channels) => column / channels * channels + (column + row) % channels,
            Deal::Anywhere => (mix(set << 32 | u64::from(others)) % u64::from(self.units)) as u32,
        };
        unit as usize
    }

    /// Which reads of a set meet in one unit.
    pub(super) fn meetings(self, fan: Fan) -> Meetings {
        // Places repeat with the stripe and with what is kept of a read.
        let period = self.line.map_or(self.period(), |line| self.period() * (line.get() / common(line, self.period())));
        let choices = (period.get() / fan.align.get().max(1)).max(1);
        let places = if self.deal == Deal::Anywhere { FIRST_PLACES_ANYWHERE } else { choices.min(FIRST_PLACES) };
        // A step that shares nothing with sizes of powers of two spreads them over all that a place can be in a chunk.
        let step = if choices > places { (choices as f64 * GOLDEN) as u64 | 1 } else { 1 };
        let (chunks, lines) = (Pieces::of(self.chunk), self.line.map(Pieces::of));
        let mut last = vec![None; self.units as usize];
        let mut changes = 0;
        let mut met = Meetings { waits: Vec::with_capacity(2 * fan.reads as usize), sets: Vec::new(), changes: None };
        for place in 0..places {
            last.fill(None);
            let first = fan.align.get() * (place * step % choices);
            let from = met.waits.len();
            let (mut kept, mut before, mut others) = (None, chunks.number(first), 0);
            for read in 0..u64::from(fan.reads) {
                let at = first + fan.stride.get() * read;
                let (line, chunk) = (lines.map(|lines| lines.number(at)), chunks.number(at));
                others += u32::from(chunk != before);
                before = chunk;
                if line.is_none() || line != kept {
                    let unit = self.unit(chunk, place, others);
                    met.waits.push(last[unit].replace((met.waits.len() - from) as u32));
                }
                kept = line;
            }
            changes += others;
            met.count(from);
        }
        // Where there are several units, what a chunk is has them wait, and nothing else.
        met.changes = (self.units == 1).then(|| f64::from(changes) / places as f64);
        met
    }
}

/// Pieces of one size, of which addresses are made up; a division for every read of every layout takes long.
#[derive(Clone, Copy)]
struct Pieces {
    shift: u32,
    odd: u64,
}

impl Pieces {
    fn of(size: Bytes) -> Pieces {
        let shift = size.get().trailing_zeros();
        Pieces { shift, odd: size.get() >> shift }
    }

    /// Which of them an address lies in.
    fn number(self, at: u64) -> u32 {
        let number = at >> self.shift;
        let number = match self.odd {
            1 => number,
            3 => number / 3,
            odd => number / odd,
        };
        number as u32
    }
}

/// Each way that the reads of a set meet, and at how many places of the first read they meet so.
pub(super) struct Meetings {
    /// The reads that go to units, each with the one before it in its unit, way after way.
    waits: Vec<Option<u32>>,
    /// Which of them are those of one way, and at how many places.
    sets: Vec<(Range<usize>, u32)>,
    /// Where there is one unit: how often a set goes on in another of its chunks, on average.
    changes: Option<f64>,
}

/// Times of a read, to `apart`, that a single unit takes to change its chunk: the map of another stretch is fetched.
const CHANGE: f64 = 4.0;

impl Meetings {
    /// Counts the way that begins here.
    fn count(&mut self, from: usize) {
        let Meetings { waits, sets, .. } = self;
        let way = &waits[from..];
        match sets.iter_mut().find(|(known, _)| waits[known.clone()] == *way) {
            Some((_, places)) => {
                *places += 1;
                waits.truncate(from);
            }
            None => sets.push((from..waits.len(), 1)),
        }
    }

    /// When the last read is done, in units of what one takes in its unit, if they reach the units this far apart, for each of these;
    /// the mean over the places.
    pub(super) fn done<const N: usize>(&self, apart: [f64; N]) -> [f64; N] {
        let mut ends: Vec<[f64; N]> = Vec::new();
        let (mut sum, mut places) = ([0.0; N], 0);
        for (way, of_places) in &self.sets {
            ends.clear();
            let mut last = [0.0; N];
            for (read, before) in self.waits[way.clone()].iter().enumerate() {
                let free = before.map_or([0.0; N], |before| ends[before as usize]);
                let read = if self.changes.is_some() { 0.0 } else { read as f64 };
                let end = std::array::from_fn(|at| f64::max(free[at], apart[at] * read) + 1.0);
                last = std::array::from_fn(|at| f64::max(last[at], end[at]));
                ends.push(end);
            }
            sum = std::array::from_fn(|at| sum[at] + f64::from(*of_places) * last[at]);
            places += of_places;
        }
        let changes = CHANGE * self.changes.unwrap_or(0.0);
        std::array::from_fn(|at| sum[at] / f64::from(places) + changes * apart[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_stripe_apart_meet_and_reads_a_chunk_apart_do_not() {
        let layout = Layout { deal: Deal::InTurn, chunk: Bytes::kib(16), units: 8, line: None };
        let load = |stride: u64, align: u64| {
            layout.meetings(Fan { reads: 8, stride: Bytes::kib(stride), align: Bytes::kib(align) }).done([0.0])[0]
        };
        assert_eq!(layout.row(), Bytes::kib(128));
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
    fn rows_that_turn_meet_after_as_many_rows_as_there_are_channels() {
        let layout = |deal: Deal| Layout { deal, chunk: Bytes::kib(16), units: 8, line: None };
        let load = |deal: Deal, stride: u64| {
            let fan = Fan { reads: 8, stride: Bytes::kib(stride), align: Bytes::kib(16) };
            layout(deal).meetings(fan).done([0.0])[0]
        };
        assert_eq!([load(Deal::InTurn, 16), load(Deal::InTurn, 128)], [1.0, 8.0]);
        assert_eq!([load(Deal::Turning(4), 128), load(Deal::Turning(4), 512)], [2.0, 8.0]);
        // By chance two or three of eight meet, however far apart they lie; and all of them in one chunk.
        assert!((2.2..3.0).contains(&load(Deal::Anywhere, 128)));
        assert_eq!(load(Deal::Anywhere, 128), load(Deal::Anywhere, 512));
        assert_eq!(load(Deal::Anywhere, 2), 8.0);
    }

    #[test]
    fn one_unit_that_fetches_a_map_takes_longer_where_reads_lie_in_other_stretches() {
        let layout = Layout { deal: Deal::InTurn, chunk: Bytes::mib(4), units: 1, line: Some(Bytes::kib(16)) };
        let load = |stride: Bytes| layout.meetings(Fan { reads: 8, stride, align: Bytes::kib(4) }).done([0.25])[0];
        assert!((load(Bytes::kib(64)) - 8.0).abs() < 1.0);
        assert_eq!(load(Bytes::mib(4)), 8.0 + 7.0);
        assert!(load(Bytes::kib(4)) < 4.0);
    }

    #[test]
    fn reads_of_what_is_kept_wait_for_no_unit() {
        let layout = Layout { deal: Deal::InTurn, chunk: Bytes::kib(32), units: 4, line: Some(Bytes::kib(16)) };
        let load = |stride: u64, align: u64| {
            layout.meetings(Fan { reads: 8, stride: Bytes::kib(stride), align: Bytes::kib(align) }).done([0.0])[0]
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
        let layout = Layout { deal: Deal::InTurn, chunk: Bytes::kib(64), units: 4, line: None };
        let meetings =
            |stride: u64| layout.meetings(Fan { reads: 8, stride: Bytes::kib(stride), align: Bytes::kib(4) });
        // Two in each unit: the second round comes when the first is done.
        assert_eq!(meetings(64).done([0.5])[0], 4.5);
        // All in one: nothing is gained.
        assert_eq!(meetings(256).done([0.5])[0], 8.0);
    }
}
