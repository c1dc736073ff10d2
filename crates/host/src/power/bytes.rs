//! A device with a switch that carries other people's bytes: what a relay serves them from.

use super::switched::SwitchedTarget;
use crate::HostTarget;
use crate::buffer::AlignedBuffer;
use flashscope_device::{DeviceError, PowerSwitch, PoweredBytes, Target, WriteGrant};
use flashscope_model::DeviceFacts;
use flashscope_units::{Bytes, Instant, Nanos};

/// A [`SwitchedTarget`] with the right to write to it.
#[derive(Debug)]
pub struct SwitchedBytes {
    target: SwitchedTarget,
    grant: WriteGrant,
    /// Requests past every cache must lie aligned in memory, and what they are given does not.
    buffer: AlignedBuffer,
}

impl SwitchedBytes {
    /// A target whose dry cut is behind it, and the right to write that came of it.
    pub fn new(target: SwitchedTarget, grant: WriteGrant) -> SwitchedBytes {
        SwitchedBytes { target, grant, buffer: AlignedBuffer::new(1 << 20) }
    }
}

impl PoweredBytes for SwitchedBytes {
    fn facts(&self) -> &DeviceFacts {
        self.target.facts()
    }

    fn can_write(&self) -> bool {
        self.target.capabilities().write
    }

    fn now(&self) -> Instant {
        self.target.now()
    }

    fn read_bytes(&mut self, at: Bytes, into: &mut [u8]) -> Result<bool, DeviceError> {
        self.buffer.reserve(into.len());
        let part = self.buffer.part_mut(0, into.len());
        let is_read = self.target.powered()?.read_bytes(at, part)?;
        into.copy_from_slice(part);
        Ok(is_read)
    }

    fn write_bytes(&mut self, at: Bytes, bytes: &[u8]) -> Result<(), DeviceError> {
        self.buffer.reserve(bytes.len());
        let part = self.buffer.part_mut(0, bytes.len());
        part.copy_from_slice(bytes);
        self.target.powered()?.write_bytes(&mut self.grant, at, part)
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        self.target.powered()?.settle_bytes()
    }

    fn wait(&mut self, _: Nanos) {}

    fn begin_cut(&mut self, _: f64) -> Result<(), DeviceError> {
        self.target.cut_power()
    }

    fn has_lost_power(&mut self) -> Result<bool, DeviceError> {
        self.target.has_lost_power()
    }

    fn restore_power(&mut self) -> Result<Nanos, DeviceError> {
        let restored = self.target.restore_power()?;
        if let Some(grant) = restored.grant {
            self.grant = grant;
        }
        Ok(restored.took)
    }
}

/// A target without a switch that carries other people's bytes: its power stays on. Memory that lies as direct I/O asks for goes to the
/// device as it is, with no copy in between.
#[derive(Debug)]
pub struct PlainBytes {
    target: HostTarget,
    grant: WriteGrant,
    buffer: AlignedBuffer,
}

impl PlainBytes {
    /// A target and the right to write to it.
    pub fn new(target: HostTarget, grant: WriteGrant) -> PlainBytes {
        PlainBytes { target, grant, buffer: AlignedBuffer::new(1 << 20) }
    }

    /// The target.
    pub fn target(&self) -> &HostTarget {
        &self.target
    }

    fn lies_aligned(memory: &[u8]) -> bool {
        memory.as_ptr().addr().is_multiple_of(AlignedBuffer::ALIGNMENT)
    }
}

impl PoweredBytes for PlainBytes {
    fn facts(&self) -> &DeviceFacts {
        self.target.facts()
    }

    fn can_write(&self) -> bool {
        self.target.capabilities().write
    }

    fn now(&self) -> Instant {
        self.target.now()
    }

    fn read_bytes(&mut self, at: Bytes, into: &mut [u8]) -> Result<bool, DeviceError> {
        if PlainBytes::lies_aligned(into) {
            return self.target.read_bytes(at, into);
        }
        self.buffer.reserve(into.len());
        let part = self.buffer.part_mut(0, into.len());
        let is_read = self.target.read_bytes(at, part)?;
        into.copy_from_slice(part);
        Ok(is_read)
    }

    fn write_bytes(&mut self, at: Bytes, bytes: &[u8]) -> Result<(), DeviceError> {
        if PlainBytes::lies_aligned(bytes) {
            return self.target.write_bytes(&mut self.grant, at, bytes);
        }
        self.buffer.reserve(bytes.len());
        let part = self.buffer.part_mut(0, bytes.len());
        part.copy_from_slice(bytes);
        self.target.write_bytes(&mut self.grant, at, part)
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        self.target.settle_bytes()
    }

    fn wait(&mut self, _: Nanos) {}

    fn begin_cut(&mut self, _: f64) -> Result<(), DeviceError> {
        Err(DeviceError::Invalid("the power of this device cannot be cut from here".to_owned()))
    }

    fn has_lost_power(&mut self) -> Result<bool, DeviceError> {
        Ok(false)
    }

    fn restore_power(&mut self) -> Result<Nanos, DeviceError> {
        Ok(Nanos::ZERO)
    }
}
