//! Whether it is better to look for an end than to sleep until it comes: learnt from how long both took of late.

use flashscope_units::Nanos;

/// Looks before sleeping: some 40 µs.
pub(super) const LOOKS: u32 = 256;
/// Number of waits of which one tries the other way of waiting.
const TRY_EVERY: u32 = 64;

/// How long waits took, by their way.
#[derive(Debug)]
pub(super) struct Looks {
    /// A wait by looking is to be shorter than this share of one asleep.
    worth: f64,
    waits: u32,
    looked_ns: u64,
    slept_ns: u64,
}

impl Looks {
    /// For a queue of this depth. Of a full queue something ends soon, and any gain is worth it; with a single request
    /// outstanding a third of the time must be gained, for looking takes a processor that others could use.
    pub(super) fn new(depth: u32) -> Looks {
        Looks { worth: if depth > 1 { 1.0 } else { 2.0 / 3.0 }, waits: 0, looked_ns: 0, slept_ns: 0 }
    }

    /// Whether to look now.
    #[inline]
    pub(super) fn are_due(&mut self) -> bool {
        self.waits = self.waits.wrapping_add(1);
        // Each once, before there is anything to compare.
        if self.looked_ns == 0 || self.slept_ns == 0 {
            return self.looked_ns == 0;
        }
        let better = (self.looked_ns as f64) < self.slept_ns as f64 * self.worth;
        better != self.waits.is_multiple_of(TRY_EVERY)
    }

    /// Takes note of how long a wait took.
    #[inline]
    pub(super) fn learn(&mut self, looked: bool, time: Nanos) {
        let average = if looked { &mut self.looked_ns } else { &mut self.slept_ns };
        if *average == 0 {
            *average = time.get().max(1);
            return;
        }
        // One that was disturbed says little.
        let time = time.get().min(*average * 2);
        *average = (*average - *average / 8 + time / 8).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of a thousand waits look, where looking and sleeping take these times.
    fn looking(looked_ns: u64, slept_ns: u64) -> u32 {
        let mut looks = Looks::new(1);
        let wait = |_| {
            let looked = looks.are_due();
            looks.learn(looked, Nanos(if looked { looked_ns } else { slept_ns }));
            u32::from(looked)
        };
        (0..1000).map(wait).sum()
    }

    #[test]
    fn it_looks_where_that_is_much_quicker() {
        assert!(looking(12_000, 30_000) > 970);
        assert!(looking(900, 4_000) > 970);
        assert!(looking(8_700, 11_000) < 30, "little is gained");
        assert!(looking(120_000, 100_000) < 30, "a slow device");
    }

    #[test]
    fn it_learns_when_things_change() {
        let mut looks = Looks::new(1);
        let mut look = |looked_ns: u64, slept_ns: u64, waits: u32| {
            (0..waits)
                .filter(|_| {
                    let looked = looks.are_due();
                    looks.learn(looked, Nanos(if looked { looked_ns } else { slept_ns }));
                    looked
                })
                .count()
        };
        assert!(look(1_000, 20_000, 1000) > 900);
        assert!(look(200_000, 150_000, 1000) < 100, "slow from now on");
        assert!(look(1_000, 20_000, 4000) > 2000, "and quick again");
    }
}
