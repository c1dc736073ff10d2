//! What lies between a device and the clock that measures it: link jitter, a host that does other things, and a clock
//! that does not tell every nanosecond.
//!
//! `bench` is set: a quiet board around a card. `field` is fitted to seventeen published logs that repeat their align
//! tables: so that the same figure, repeated, scatters as theirs do (0.7 % in the middle; docs/fleet.md shows how, and the
//! example `field-scatter` of the fleet crate prints both). `harsh` is the noisiest of these logs (3 %), with a coarse clock.

use crate::chance::Chance;
use crate::model::{Drift, Noise, NoiseLevel};
use flashscope_units::{Instant, Nanos};

/// Figures of one level.
struct Figures {
    /// Mean of the one-sided jitter, as a share of the service time (drawn exponentially, and at most ten times this).
    share: f64,
    /// Mean of the one-sided jitter that every request has, in nanoseconds.
    floor_ns: f64,
    /// Probability that the host is away when the request is done.
    preempted: f64,
    /// How long it is then away at most (uniform), in nanoseconds.
    away_ns: f64,
    /// What the clock tells times in.
    resolution: Nanos,
}

const fn figures(level: NoiseLevel) -> Figures {
    match level {
        NoiseLevel::None => Figures { share: 0.0, floor_ns: 0.0, preempted: 0.0, away_ns: 0.0, resolution: Nanos(1) },
        NoiseLevel::Bench => {
            Figures { share: 0.002, floor_ns: 3e3, preempted: 0.001, away_ns: 300e3, resolution: Nanos(1) }
        }
        NoiseLevel::Field => {
            Figures { share: 0.065, floor_ns: 70e3, preempted: 0.01, away_ns: 3e6, resolution: Nanos::micros(1) }
        }
        NoiseLevel::Harsh => {
            Figures { share: 0.3, floor_ns: 300e3, preempted: 0.05, away_ns: 10e6, resolution: Nanos::micros(30) }
        }
    }
}

/// What a level typically adds to one request.
pub(crate) fn typical(level: NoiseLevel) -> Nanos {
    Nanos(figures(level).floor_ns as u64)
}

/// The noise around one device.
#[derive(Clone, Debug)]
pub(crate) struct NoiseSource {
    level: NoiseLevel,
    drift: Option<Drift>,
    resolution: Nanos,
    chance: Chance,
}

impl NoiseSource {
    pub(crate) fn new(noise: &Noise, seed: u64) -> NoiseSource {
        let resolution = figures(noise.level).resolution.max(noise.clock.unwrap_or(Nanos::ZERO));
        NoiseSource { level: noise.level, drift: noise.drift.clone(), resolution, chance: Chance::new(seed, "noise") }
    }

    /// What the host loses on a request that was issued then and took `service` inside.
    pub(crate) fn delay(&mut self, issued: Instant, service: Nanos) -> Nanos {
        self.drifted(issued) + self.jitter(service)
    }

    fn drifted(&self, issued: Instant) -> Nanos {
        self.drift.as_ref().filter(|drift| drift.over > Nanos::ZERO).map_or(Nanos::ZERO, |drift| {
            let phase = std::f64::consts::TAU * (issued.0 % drift.over.get()) as f64 / drift.over.as_f64();
            Nanos((drift.by.as_f64() * (1.0 - phase.cos()) / 2.0).round() as u64)
        })
    }

    fn jitter(&mut self, service: Nanos) -> Nanos {
        if self.level == NoiseLevel::None {
            return Nanos::ZERO;
        }
        let figures = figures(self.level);
        let mut ns = self.chance.exponential().min(10.0) * figures.floor_ns;
        ns += self.chance.exponential().min(10.0) * figures.share * service.as_f64();
        if self.chance.happens(figures.preempted) {
            ns += self.chance.unit() * figures.away_ns;
        }
        Nanos(ns.round() as u64)
    }

    /// A time as the clock tells it.
    pub(crate) fn read_clock(&self, time: Instant) -> Instant {
        Instant(time.0 - time.0 % self.resolution.get().max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drifting_host_swings_and_comes_back() {
        let drift = Drift { by: Nanos::micros(100), over: Nanos::micros(1_000_000) };
        let noise = Noise { level: NoiseLevel::None, drift: Some(drift), clock: Some(Nanos::micros(50)) };
        let mut source = NoiseSource::new(&noise, 1);
        let mut lost = |micros: u64| source.delay(Instant(micros * 1000), Nanos::micros(700)).get() / 1000;
        assert_eq!([lost(0), lost(250_000), lost(500_000), lost(1_000_000)], [0, 50, 100, 0]);
        assert_eq!(source.read_clock(Instant(123_456)), Instant(100_000));
    }
}
