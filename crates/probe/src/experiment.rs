//! What every experiment can do.

use crate::error::PlanError;
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::AreaState;
use flashscope_model::{DeviceFacts, Direction};
use flashscope_units::Bytes;

/// What an experiment moves, known before its first request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Bytes that it reads.
    pub read: Bytes,
    /// Bytes that it writes.
    pub written: Bytes,
    /// Requests that it makes.
    pub requests: u64,
}

impl Cost {
    /// `requests` requests of the same length and direction.
    pub(crate) fn of(direction: Direction, requests: u64, length: Bytes) -> Cost {
        match direction {
            Direction::Read => Cost { read: length * requests, written: Bytes::ZERO, requests },
            Direction::Write => Cost { read: Bytes::ZERO, written: length * requests, requests },
        }
    }

    pub(crate) fn plus(self, other: Cost) -> Cost {
        Cost {
            read: self.read + other.read,
            written: self.written + other.written,
            requests: self.requests + other.requests,
        }
    }
}

/// An experiment's three faces. `cost` and `measure` may rely on `validate` having found nothing.
pub(crate) trait Probe {
    /// Whether it makes sense on this device.
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError>;

    /// Exactly what it moves.
    fn cost(&self, facts: &DeviceFacts) -> Cost;

    /// What state it leaves the touched area in, where it writes all of it; else unknown.
    fn state(&self) -> AreaState {
        AreaState::Unknown
    }

    /// Does it. The figures come back whatever happens.
    fn measure<T: Target + ?Sized>(
        &self,
        facts: &DeviceFacts,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>);
}
