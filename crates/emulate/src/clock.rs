//! How real time and the device's virtual time go together.

use crate::options::Speed;
use flashscope_host::MonotonicClock;
use flashscope_units::Instant;

/// Real time, counted from the start of the emulation, and the virtual time that belongs to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacedClock {
    clock: MonotonicClock,
    /// Virtual time at the origin of the real clock.
    origin: Instant,
    speed: Speed,
}

impl PacedClock {
    /// From now on; virtual time goes on from `origin`.
    pub(crate) fn start(origin: Instant, speed: Speed) -> PacedClock {
        PacedClock { clock: MonotonicClock::start(), origin, speed }
    }

    /// Real time.
    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// When the emulation began, as the kernel's tracing has it.
    pub(crate) fn began(&self) -> Instant {
        self.clock.monotonic(Instant::ORIGIN)
    }

    /// The virtual time that belongs to a real one; `None` where virtual time only goes on with the device's work.
    pub(crate) fn virtual_at(&self, real: Instant) -> Option<Instant> {
        match self.speed {
            Speed::Times(factor) => Some(Instant(self.origin.0 + (real.0 as f64 * factor) as u64)),
            Speed::Unpaced => None,
        }
    }

    /// The real time that belongs to a virtual one: the past, where nothing is paced.
    pub(crate) fn real_at(&self, virtual_time: Instant) -> Instant {
        match self.speed {
            Speed::Times(factor) => Instant((virtual_time.0.saturating_sub(self.origin.0) as f64 / factor) as u64),
            Speed::Unpaced => Instant::ORIGIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let check = |origin, factor, real, virtual_time| {
            let clock = PacedClock::start(Instant(origin), Speed::Times(factor));
            assert_eq!(clock.virtual_at(Instant(real)), Some(Instant(virtual_time)));
            assert_eq!(clock.real_at(Instant(virtual_time)), Instant(real));
        };
        check(0, 1.0, 5_000, 5_000);
        check(7_000_000, 1.0, 5_000, 7_005_000);
        check(1_000, 10.0, 5_000, 51_000);
        check(1_000, 0.5, 5_000, 3_500);
    }

    #[test]
    fn nothing_is_due_in_future_where_nothing_is_paced() {
        let clock = PacedClock::start(Instant(9), Speed::Unpaced);
        assert_eq!((clock.virtual_at(Instant(3)), clock.real_at(Instant(1 << 40))), (None, Instant::ORIGIN));
    }
}
