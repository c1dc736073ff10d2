//! A simulated device with real bytes in it and no file system around it: asked by calls, in virtual time, its power cut in the middle of
//! a request.

use crate::disk::{Disk, Promise, RequestError};
use crate::emulator::in_memory;
use flashscope_device::{DeviceError, PoweredBytes, Target};
use flashscope_model::DeviceFacts;
use flashscope_sim::SimTarget;
use flashscope_units::{Bytes, Instant, Nanos};

/// A simulated device that carries other people's bytes.
pub struct DirectDisk {
    disk: Disk,
    facts: DeviceFacts,
    now: Instant,
    /// The power goes in the next write or flush, after this part of its time.
    pending: Option<f64>,
    is_off: bool,
}

impl DirectDisk {
    /// A device in memory. One without a `[fault]` section cannot lose its power.
    pub fn new(target: SimTarget) -> DirectDisk {
        let facts = target.facts().clone();
        let disk = in_memory(target);
        let now = disk.begun();
        DirectDisk { disk, facts, now, pending: None, is_off: false }
    }

    /// Lets a request take its time, unless the power goes meanwhile.
    fn pass(&mut self, promise: &Promise) -> Result<(), DeviceError> {
        self.now = promise.due;
        match self.disk.gate.pass(promise.promised(), promise.result) {
            Ok(()) => Ok(()),
            Err(RequestError::Gone) => Err(DeviceError::Vanished("it has no power, or went away".to_owned())),
            Err(RequestError::Invalid) => Err(DeviceError::Invalid("outside the device".to_owned())),
            Err(RequestError::Failed | RequestError::NoRoom) => {
                Err(DeviceError::System("the device says that it failed".to_owned()))
            }
        }
    }

    /// The same of a write or a flush, in which the power may go.
    fn pass_or_cut(&mut self, begun: Instant, promise: &Promise) -> Result<(), DeviceError> {
        if let Some(part) = self.pending.take() {
            let time = promise.due.since(begun).as_f64() * part.clamp(0.0, 1.0);
            self.cut(begun + Nanos(time as u64))?;
        }
        self.pass(promise)
    }

    fn cut(&mut self, at: Instant) -> Result<(), DeviceError> {
        let done = self.disk.cut_power(Some(at)).map_err(|error| DeviceError::System(error.to_string()))?;
        if !done {
            return Err(DeviceError::System("nobody keeps track of what is safe on this model".to_owned()));
        }
        (self.is_off, self.now) = (true, at);
        Ok(())
    }
}

impl PoweredBytes for DirectDisk {
    fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    fn can_write(&self) -> bool {
        true
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn read_bytes(&mut self, at: Bytes, into: &mut [u8]) -> Result<bool, DeviceError> {
        let promise = self.disk.read(Some(self.now), at.get(), into.len() as u64);
        match self.pass(&promise) {
            Err(DeviceError::System(_)) => return Ok(false),
            other => other?,
        }
        let read = self.disk.bytes(&promise.found, into);
        read.map(|()| true).map_err(|error| DeviceError::System(error.to_string()))
    }

    fn write_bytes(&mut self, at: Bytes, bytes: &[u8]) -> Result<(), DeviceError> {
        let begun = self.now;
        let promise = self.disk.write(Some(begun), at.get(), bytes, false);
        self.pass_or_cut(begun, &promise)
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        let begun = self.now;
        let promise = self.disk.flush(Some(begun));
        self.pass_or_cut(begun, &promise)
    }

    fn wait(&mut self, time: Nanos) {
        self.now += time;
    }

    fn begin_cut(&mut self, part: f64) -> Result<(), DeviceError> {
        self.pending = Some(part);
        Ok(())
    }

    fn has_lost_power(&mut self) -> Result<bool, DeviceError> {
        if self.pending.take().is_some() {
            self.cut(self.now)?;
        }
        Ok(self.is_off)
    }

    fn restore_power(&mut self) -> Result<Nanos, DeviceError> {
        let begun = self.now;
        self.disk.power_on(Some(begun)).map_err(|error| DeviceError::System(error.to_string()))?;
        (self.is_off, self.facts.capacity) = (false, Bytes(self.disk.size()));
        // Whatever it needs to start, the first answer comes after it.
        let mut first = vec![0; self.facts.logical_block.get() as usize];
        self.read_bytes(Bytes::ZERO, &mut first)?;
        Ok(self.now.since(begun))
    }
}
