//! How many of a set of reads meet in one unit, if chunks of the addresses are dealt out to units in turn.

use flashscope_model::plan::Fan;
use flashscope_units::Bytes;

/// Chunks that go to the units in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Length of a chunk.
    pub(super) chunk: Bytes,
    /// Number of units.
    pub(super) units: u32,
}

/// Places of the first read that the mean is taken over, spread evenly over what they can be.
const FIRST_PLACES: u64 = 16;

impl Layout {
    /// After so many bytes the same unit comes again.
    pub(super) fn stripe(self) -> Bytes {
        self.chunk * u64::from(self.units)
    }

    /// How many reads of a set meet in one unit.
    pub(super) fn meetings(self, fan: Fan) -> Meetings {
        let stripe = self.stripe();
        // Places repeat with the stripe; steps that share little with it spread them.
        let choices = (stripe.get() / fan.align.get().max(1)).max(1);
        let places = choices.min(FIRST_PLACES);
        let mut counts = vec![0u32; self.units as usize];
        let most = (0..places).map(|place| {
            counts.fill(0);
            let first = fan.align * (choices * place / places);
            for read in 0..u64::from(fan.reads) {
                let at = first + fan.stride * read;
                counts[((at / self.chunk) % u64::from(self.units)) as usize] += 1;
            }
            counts.iter().copied().max().unwrap_or(0)
        });
        Meetings(most.collect())
    }
}

/// Most reads of a set that meet in one unit, for each place where the first one may lie.
pub(super) struct Meetings(Vec<u32>);

impl Meetings {
    /// The mean over the places, from 1 to the number of reads; no less than `least`, which is what something else than
    /// the units takes at any rate.
    pub(super) fn load(&self, least: f64) -> f64 {
        self.0.iter().map(|most| f64::from(*most).max(least)).sum::<f64>() / self.0.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_stripe_apart_meet_and_reads_a_chunk_apart_do_not() {
        let layout = Layout { chunk: Bytes::kib(16), units: 8 };
        let load = |stride: u64, align: u64| {
            layout.meetings(Fan { reads: 8, stride: Bytes::kib(stride), align: Bytes::kib(align) }).load(1.0)
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
}
