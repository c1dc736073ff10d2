//! What lies between a device and the clock that measures it.
//!
//! Of other shapes than one expects of a quiet board: service inside is gamma (in `flash`), the host adds a gamma of its own,
//! a link with frames answers at their ticks only, and now and then everything stands still for a time that has no longest
//! (Pareto), as under thermal throttling or a refresh of cells.

use crate::chance::Chance;
use flashscope_units::{Instant, Nanos};

/// The figures of one device's surroundings.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    /// Mean of what the host adds to each request.
    pub(crate) host: Nanos,
    /// Shape of the gamma that it follows.
    pub(crate) host_shape: f64,
    /// Answers come at multiples of this.
    pub(crate) tick: Nanos,
    /// Probability of a long stall in a request.
    pub(crate) stall_chance: f64,
    /// Shortest of them.
    pub(crate) stall: Nanos,
    /// Shape of the gamma that each operation of the flash follows.
    pub(crate) flash_shape: f64,
}

/// Longest stall: whoever waits longer takes the device for dead.
const LONGEST_STALL: f64 = 2e9;

/// The same with its dice; nothing at all where a device is seen without noise.
#[derive(Clone, Debug)]
pub(crate) struct Around {
    figures: Option<Surroundings>,
    chance: Chance,
}

impl Around {
    pub(crate) fn new(figures: Option<Surroundings>, seed: u64) -> Around {
        Around { figures, chance: Chance::new(seed, 31) }
    }

    /// When the host sees an answer that the device gave at `done`.
    pub(crate) fn seen(&mut self, done: Instant) -> Instant {
        let Some(figures) = &self.figures else { return done };
        let mut added = figures.host.as_f64() * self.chance.gamma(figures.host_shape);
        if self.chance.happens(figures.stall_chance) {
            added += self.chance.pareto(figures.stall.as_f64(), 1.5).min(LONGEST_STALL);
        }
        let at = done.0 + added as u64;
        Instant(at.next_multiple_of(figures.tick.get().max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_later_and_at_ticks() {
        let figures = Surroundings {
            host: Nanos::micros(20),
            host_shape: 2.0,
            tick: Nanos::micros(125),
            stall_chance: 0.01,
            stall: Nanos::millis(5),
            flash_shape: 100.0,
        };
        let mut around = Around::new(Some(figures), 1);
        for number in 1..5000 {
            let done = Instant(number * 1_000_003);
            let seen = around.seen(done);
            assert!(seen >= done && seen.0.is_multiple_of(125_000) && seen.since(done) <= Nanos::secs(3));
        }
        assert_eq!(Around::new(None, 1).seen(Instant(7)), Instant(7));
    }
}
