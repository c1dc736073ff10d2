//! Targets that can lose their power and get it back.

use crate::{DeviceError, Target, WriteGrant};
use flashscope_model::DeviceFacts;
use flashscope_units::{Bytes, Instant, Nanos};

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

/// A device whose bytes are other people's (a file system's), and whose power can be cut: what stands below a relay. It holds the right to
/// write by itself, since those who write through a relay know of none.
pub trait PoweredBytes: Send {
    /// What is known of it now: it may come back smaller.
    fn facts(&self) -> &DeviceFacts;

    /// Whether it takes writes.
    fn can_write(&self) -> bool;

    /// Now, on its clock.
    fn now(&self) -> Instant;

    /// Reads bytes; whole logical blocks. `false` where they cannot be read.
    ///
    /// # Errors
    /// The device is gone.
    fn read_bytes(&mut self, at: Bytes, into: &mut [u8]) -> Result<bool, DeviceError>;

    /// Writes bytes; whole logical blocks.
    ///
    /// # Errors
    /// [`DeviceError::Invalid`] where the budget is spent; any other where the device does not take them.
    fn write_bytes(&mut self, at: Bytes, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Flushes what was written.
    ///
    /// # Errors
    /// The device says no, or is gone.
    fn flush(&mut self) -> Result<(), DeviceError>;

    /// Lets time pass on the clock of a simulated device; a real one's passes by itself.
    fn wait(&mut self, time: Nanos);

    /// Begins to cut the power. Of a simulated device it goes in the middle of the next write or flush, after this part of its time (0 to
    /// 1), of a real one as soon as what cuts it takes effect.
    ///
    /// # Errors
    /// The power cannot be cut; the device is as it was.
    fn begin_cut(&mut self, part: f64) -> Result<(), DeviceError>;

    /// Whether the power has gone since it began to be cut, as [`PowerSwitch::has_lost_power`]. Asked before there was a next request, a
    /// simulated device loses it now.
    ///
    /// # Errors
    /// It does not go.
    fn has_lost_power(&mut self) -> Result<bool, DeviceError>;

    /// Brings the device back and waits until it answers; says how long that took.
    ///
    /// # Errors
    /// As [`PowerSwitch::restore_power`].
    fn restore_power(&mut self) -> Result<Nanos, DeviceError>;
}
