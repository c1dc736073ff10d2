//! Targets that can lose their power and get it back.

use crate::{DeviceError, Target, WriteGrant};
use flashscope_units::Nanos;

/// A target whose power can be cut.
pub trait PowerSwitch: Target {
    /// Begins to cut the power. A simulated device is off when this returns. A real one may answer for a while: it is off when
    /// requests fail.
    ///
    /// # Errors
    /// The power cannot be cut; the device is as it was.
    fn cut_power(&mut self) -> Result<(), DeviceError>;

    /// Whether the power has gone since it began to be cut. Asked again and again: a real device may answer for a while.
    ///
    /// # Errors
    /// It does not go: what was to cut it failed, or took longer than it may.
    fn has_lost_power(&mut self) -> Result<bool, DeviceError>;

    /// Brings the device back and waits until it answers. It may be smaller than before, or writable no more
    /// ([`Target::facts`], [`Target::capabilities`]).
    ///
    /// # Errors
    /// [`DeviceError::Vanished`] or [`DeviceError::Hung`] where the device does not come back; others where the power cannot be
    /// switched on, or another device came back in its place.
    fn restore_power(&mut self) -> Result<Restored, DeviceError>;
}

/// A device that came back.
#[derive(Debug)]
pub struct Restored {
    /// From power on to the first answer.
    pub took: Nanos,
    /// The right to write to it, where the one from before the cut does not hold for it.
    pub grant: Option<WriteGrant>,
}
